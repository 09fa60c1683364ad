//! The stages one after another: what each is asked, and what is made of its replies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::draft::{Draft, fetched, outside_packet, unfit, wrong_shape};
use super::keeper::{self, Read};
use super::machine::{Kept, Progress, Sought};
use super::paper::{self, StepRules};
use super::room::Window;
use super::stage::{ReadRun, Replied, Step};
use super::window::Coverage;
use super::{
    Audit, BareQuestion, KeeperQuestion, Method, Question, Report, SeekerQuestion, TracerQuestion, merge, seeker,
    sizing, tracer,
};
use crate::evidence::{Index, Packet, default_budget};
use crate::ledger::{Ledger, Reason, SupportRecord, Trace};
use crate::reply::StageReply;
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// One part in so many of a prompt is kept for the support records when the packet is fetched.
const SUPPORT_PART: usize = 6;
/// One part in so many of a prompt may go to the ledger, and to the support records.
const LEDGER_PART: usize = 3;
/// Times a packet that is too large is fetched again with a smaller budget.
const MOST_FETCHES: u32 = 8;
/// Spans named in a warning; the others are counted.
const NAMED: usize = 20;

impl Audit {
    pub(super) fn bare(&self) -> Progress {
        let read = self.read_run(Stage::Bare, &|view, window| {
            let (run, user) = (self.asked_about(window), self.settings.user.clone());
            Question::Bare(BareQuestion { run, view, user })
        });
        let mut draft = Draft::default();
        let read = match read {
            Step::Waiting(asks) => return Progress::Waiting(asks),
            Step::Stopped(verdict) => return over(draft.over(*verdict)),
            Step::Done(read) => read,
        };
        draft.warnings.extend(self.omitted_of_views(&read, Stage::Bare));
        let mut traces = Vec::new();
        for Replied { reply, notes, .. } in read.replies {
            draft.warnings.extend(notes);
            let StageReply::Bare(reply) = reply else {
                return over(draft.over(wrong_shape(Stage::Bare)));
            };
            traces.push(draft.take(tracer::bare(&self.run, &reply)));
        }
        let trace = united(&self.run, traces);
        let spans = trace.error_span_ids.clone();
        over(draft.conclude(&self.run, spans, trace))
    }

    pub(super) fn three_stages(&self) -> Progress {
        let kept = match self.worked.kept.get() {
            Some(kept) => kept,
            None => match self.keep() {
                Step::Waiting(asks) => return Progress::Waiting(asks),
                Step::Stopped(verdict) => return over(Draft::default().over(*verdict)),
                Step::Done(Err(report)) => return over(*report),
                Step::Done(Ok(kept)) => self.worked.kept.get_or_init(|| kept),
            },
        };
        let sought = match self.worked.sought.get() {
            Some(sought) => sought,
            None => match self.seek(kept) {
                Step::Waiting(asks) => return Progress::Waiting(asks),
                Step::Stopped(verdict) => {
                    let mut draft = kept.draft.clone();
                    draft.packet = Some(self.packet(&kept.ledger, kept.window, 0));
                    return over(draft.over(*verdict));
                }
                Step::Done(Err(report)) => return over(*report),
                Step::Done(Ok(sought)) => self.worked.sought.get_or_init(|| sought),
            },
        };
        self.trace(kept, sought)
    }

    fn keep(&self) -> Step<Result<Kept, Box<Report>>> {
        let read = self.read_run(Stage::Keeper, &|view, window| {
            let (run, user) = (self.asked_about(window), self.settings.user.clone());
            Question::Keeper(KeeperQuestion { run, view, user })
        });
        let read = match read {
            Step::Waiting(asks) => return Step::Waiting(asks),
            Step::Stopped(verdict) => return Step::Stopped(verdict),
            Step::Done(read) => read,
        };
        let mut draft = Draft::default();
        draft.warnings.extend(self.omitted_of_views(&read, Stage::Keeper));
        let mut ledgers = Vec::new();
        let window = read.window;
        for Replied { reply, notes, .. } in read.replies {
            draft.warnings.extend(notes);
            ledgers.push(match reply {
                StageReply::Keeper(reply) => draft.take(keeper::ledger(&self.run, &reply)),
                StageReply::Published(reply) => match paper::claim_ledger(&reply, &self.run) {
                    Ok(ledger) => ledger,
                    Err(error) => return Step::Done(Err(Box::new(draft.over(unfit(Stage::Keeper, &error))))),
                },
                _ => return Step::Done(Err(Box::new(draft.over(wrong_shape(Stage::Keeper))))),
            });
        }
        let Read { value, warnings, .. } = merge::ledgers(&self.run, ledgers);
        draft.warnings.extend(warnings);
        let ledger = Arc::new(value);
        draft.ledger = Some(ledger.clone());
        Step::Done(Ok(Kept { draft, ledger, window }))
    }

    fn seek(&self, kept: &Kept) -> Step<Result<Sought, Box<Report>>> {
        let sought = self.ask_part(Stage::Seeker, 0, kept.window, &|window| {
            let (run, user) = (self.asked_about(window), self.settings.user.clone());
            let packet = self.packet(&kept.ledger, window, 0);
            Question::Seeker(SeekerQuestion {
                run,
                user,
                ledger: self.shown_ledger(&kept.ledger, window),
                packet,
            })
        });
        let sought = match sought {
            Step::Waiting(asks) => return Step::Waiting(asks),
            Step::Stopped(verdict) => return Step::Stopped(verdict),
            Step::Done(replied) => replied,
        };
        let (mut draft, ledger) = (kept.draft.clone(), &kept.ledger);
        let packet = self.packet(ledger, sought.window, 0);
        draft.packet = Some(packet.clone());
        draft.warnings.extend(self.omitted_of_packet(&packet));
        draft.warnings.extend(sought.notes);
        let support = match sought.reply {
            StageReply::Seeker(reply) => draft.take(seeker::support(&self.run, ledger, &reply)),
            StageReply::Published(reply) => match paper::support_records(&reply, &self.run, ledger) {
                Ok(mut support) => {
                    paper::restrict_support_records(&mut support, &fetched(&self.run, &packet));
                    support
                }
                Err(error) => return Step::Done(Err(Box::new(draft.over(unfit(Stage::Seeker, &error))))),
            },
            _ => return Step::Done(Err(Box::new(draft.over(wrong_shape(Stage::Seeker))))),
        };
        let support = Arc::new(support);
        draft.support = Some(support.clone());
        Step::Done(Ok(Sought {
            draft,
            support,
            window: sought.window,
        }))
    }

    fn trace(&self, kept: &Kept, sought: &Sought) -> Progress {
        let (ledger, support) = (&kept.ledger, &sought.support);
        let packet_for = |window| self.packet(ledger, window, sizing::support(&self.shown_support(support, window)));
        let traced = self.ask_part(Stage::Tracer, 0, sought.window, &|window| {
            let (run, user) = (self.asked_about(window), self.settings.user.clone());
            let (ledger, support) = (self.shown_ledger(ledger, window), self.shown_support(support, window));
            Question::Tracer(TracerQuestion {
                run,
                user,
                ledger,
                support,
                packet: packet_for(window),
            })
        });
        let mut draft = sought.draft.clone();
        let traced = match traced {
            Step::Waiting(asks) => return Progress::Waiting(asks),
            Step::Stopped(verdict) => return over(draft.over(*verdict)),
            Step::Done(replied) => replied,
        };
        let packet = packet_for(traced.window);
        draft.packet = Some(packet.clone());
        draft.warnings.extend(traced.notes);
        let available = fetched(&self.run, &packet);
        let trace = match traced.reply {
            StageReply::Tracer(reply) => draft.take(tracer::trace(&self.run, &reply)),
            StageReply::Published(reply) => match paper::dependency_trace(&reply, &self.run) {
                Ok(mut trace) => {
                    paper::restrict_trace(&mut trace, &available);
                    trace
                }
                Err(error) => return over(draft.over(unfit(Stage::Tracer, &error))),
            },
            _ => return over(draft.over(wrong_shape(Stage::Tracer))),
        };
        let rules = StepRules::of(self.settings.method);
        let mut prediction = paper::trace_to_prediction(&trace, &self.run);
        paper::add_completions(&mut prediction, &self.run, ledger, support, &rules);
        if self.settings.method == Method::Paper {
            paper::restrict_prediction(&mut prediction, &available);
            return over(draft.conclude_published(&self.run, prediction, trace));
        }
        draft.warnings.extend(outside_packet(&trace, &available));
        over(draft.conclude(&self.run, prediction.error_span_ids, trace))
    }

    /// The ledger as it is shown: with fewer quotes where it would take too much of the window.
    fn shown_ledger(&self, ledger: &Arc<Ledger>, window: Window) -> Arc<Ledger> {
        match window.room().map(|room| room / LEDGER_PART) {
            Some(most) if sizing::ledger(ledger) > most => Arc::new(sizing::slim_ledger(ledger, most)),
            _ => ledger.clone(),
        }
    }

    fn shown_support(&self, support: &Arc<Vec<SupportRecord>>, window: Window) -> Arc<Vec<SupportRecord>> {
        match window.room().map(|room| room / LEDGER_PART) {
            Some(most) if sizing::support(support) > most => Arc::new(sizing::slim_support(support, most)),
            _ => support.clone(),
        }
    }

    /// The packet for this window beside support records of so many tokens. Room for records is kept
    /// from the beginning, so that the seeker and the tracer read the same packet.
    fn packet(&self, ledger: &Arc<Ledger>, window: Window, support: usize) -> Arc<Packet> {
        let mut budget = self.settings.packet_chars.unwrap_or_else(|| default_budget(&self.run));
        if self.settings.method == Method::Paper {
            return self.fetch(ledger, budget);
        }
        let Some(room) = window.room() else {
            return self.fetch(ledger, budget);
        };
        let shown = self.shown_ledger(ledger, window);
        let others = self.beside(window) + sizing::ledger(&shown) + support.max(room / SUPPORT_PART);
        let room = window.room_beside(others).unwrap_or(room);
        // A token has at most three characters by our count.
        budget = budget.min(room.saturating_mul(3));
        let mut packet = self.fetch(ledger, budget);
        for _ in 0..MOST_FETCHES {
            let size = sizing::packet(&self.run, &packet);
            if size <= room {
                break;
            }
            budget = (budget as u128 * room as u128 * 9 / (size as u128 * 10)) as usize;
            packet = self.fetch(ledger, budget);
        }
        packet
    }

    fn fetch(&self, ledger: &Ledger, budget: usize) -> Arc<Packet> {
        self.worked.packets.get_or_make(budget, || {
            let index = self
                .worked
                .index
                .get_or_init(|| Index::new(&self.run, &self.settings.limits));
            let rules = StepRules::of(self.settings.method);
            let rows = paper::auto_context_requests(ledger, &rules);
            let rows = paper::settle_context_requests(rows, &self.run, ledger, &rules);
            let requests = paper::to_fetch(&rows, &self.run);
            let seeds = paper::claim_seed_spans(ledger, &self.run);
            match self.settings.method {
                Method::Paper => index.published(&self.run, &seeds, &requests),
                Method::Drift | Method::Bare => {
                    index.drift(&self.run, &seeds, &requests, &ledger.hard_constraints, budget)
                }
            }
        })
    }

    /// What no request about the run as a whole showed, with numbers.
    fn omitted_of_views(&self, read: &ReadRun, stage: Stage) -> Vec<Warning> {
        let mut messages = Vec::new();
        let coverage = Coverage::of(&self.run, &read.views);
        let window = read
            .window
            .size()
            .map_or(String::new(), |size| format!(" of about {size} tokens"));
        let Coverage {
            shown,
            all,
            absent,
            partial,
        } = &coverage;
        if read.views.len() > 1 || shown < all {
            let windows = match read.views.len() {
                1 => "one request".to_owned(),
                n => format!("{n} overlapping windows"),
            };
            let how = if shown < all {
                format!("{shown} of its {all} characters")
            } else {
                format!("all {all} characters")
            };
            messages.push(format!(
                "the run does not fit the judge's window{window}: {windows} showed {how}"
            ));
        }
        for (spans, what) in [(partial, "shown in part"), (absent, "not shown")] {
            if !spans.is_empty() {
                let names: Vec<&str> = spans.iter().take(NAMED).map(|at| self.run.id_at(*at)).collect();
                let more = spans.len().saturating_sub(NAMED);
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                let (count, names) = (spans.len(), names.join(", "));
                messages.push(format!(
                    "{count} of {} spans were {what}: {names}{more}",
                    self.run.spans().len()
                ));
            }
        }
        let task = self.asked_about(read.window);
        if task.question() != self.run.question() {
            let all = self.run.question().chars().count();
            messages.push(format!("the task has {all} characters; its two ends were shown"));
        }
        messages
            .into_iter()
            .map(|message| Warning::new(WarningCode::TextOmitted, message).in_stage(stage))
            .collect()
    }

    fn omitted_of_packet(&self, packet: &Packet) -> Option<Warning> {
        let all: usize = self.run.spans().iter().map(|span| span.text.chars().count()).sum();
        let shown = packet.chars();
        let spans = packet.spans().len();
        if shown >= all {
            return None;
        }
        let message = format!(
            "the evidence packet holds {shown} characters from {spans} of {} spans; the run has {all}",
            self.run.spans().len()
        );
        Some(Warning::new(WarningCode::TextOmitted, message).in_stage(Stage::Seeker))
    }
}

fn over(report: Report) -> Progress {
    Progress::Over(Box::new(report))
}

/// The traces of `bare` over windows as one: every span that any of them names, and for each the first
/// reason given.
fn united(run: &Trajectory, traces: Vec<Trace>) -> Trace {
    let named = traces.iter().flat_map(|trace| &trace.error_span_ids);
    let positions: BTreeSet<usize> = named.filter_map(|id| run.position(id)).collect();
    let error_span_ids: Vec<String> = positions
        .into_iter()
        .map(|position| run.id_at(position).to_owned())
        .collect();
    let mut reasons: Vec<Reason> = Vec::new();
    for reason in traces.into_iter().flat_map(|trace| trace.reasons) {
        if !reasons.iter().any(|known| known.span_id == reason.span_id) {
            reasons.push(reason);
        }
    }
    Trace {
        first_error_span: error_span_ids.first().cloned(),
        linked_error_span_ids: error_span_ids.iter().skip(1).cloned().collect(),
        earliest_harmful_span_id: error_span_ids.first().cloned(),
        error_span_ids,
        reasons,
        ..Trace::default()
    }
}
