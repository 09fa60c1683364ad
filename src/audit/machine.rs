//! The audit of one run as a state machine that does no IO.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use super::keeper::{self, Read};
use super::paper::{self, StepRules};
use super::{
    Answer, Ask, AskId, BareQuestion, Cause, CauseKind, Found, KeeperQuestion, Method, Previous, Question, Report,
    RunView, SeekerQuestion, TracerQuestion, UserKnows, Verdict, findings, seeker, tracer,
};
use crate::evidence::{Index, Packet, PacketLimits};
use crate::ledger::{Ledger, Reason, SupportRecord, Trace};
use crate::reply::StageReply;
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// How often a request that overflowed the judge's window is made smaller before the stage fails.
const MAX_SHRINKS: u8 = 2;

/// What an audit needs to know beside the run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Method.
    pub method: Method,
    /// Output tokens allowed a reply.
    pub max_output: u32,
    /// What the user knows of the run.
    pub user: UserKnows,
    /// Sizes of chunks and packet.
    pub limits: PacketLimits,
    /// Most Unicode scalar values of the packet of `drift`.
    pub packet_chars: usize,
    /// 0-based index of the run in the input.
    pub input: u64,
    /// Which judge is asked.
    pub judge: u8,
    /// Which repeat of the audit this is.
    pub repeat: u32,
}

impl Settings {
    /// The defaults: 4096 output tokens, the published chunk and packet sizes.
    #[must_use]
    pub fn new(method: Method) -> Self {
        let limits = PacketLimits::default();
        let packet_chars = limits.chars();
        Self {
            method,
            max_output: 4096,
            user: UserKnows::default(),
            limits,
            packet_chars,
            input: 0,
            judge: 0,
            repeat: 0,
        }
    }
}

/// One audit. It holds the run and the answers so far, and works out from them what can be asked
/// and what is settled, so that resuming is pouring the old answers in.
///
/// Call [`Audit::poll_asks`] until [`Audit::poll_report`] gives the report; answer each question
/// with [`Audit::handle_answer`], in any order, from any source.
pub struct Audit {
    run: Arc<Trajectory>,
    settings: Settings,
    index: OnceLock<Index>,
    answers: BTreeMap<AskId, Answer>,
    handed_out: BTreeSet<AskId>,
}

/// What can be said of an audit now.
enum Progress {
    Waiting(Box<Ask>),
    Over(Box<Report>),
}

/// What can be said of one stage now.
enum Step<T> {
    Waiting(Box<Ask>),
    Done(T),
    Stopped(Verdict),
}

/// How much smaller the next request must be, in thousandths of what is there; `None` for whole.
type Fit = Option<u32>;

/// A reply with what is known about how it was had.
struct Replied {
    reply: StageReply,
    notes: Vec<Warning>,
    fit: Fit,
}

impl Audit {
    /// Begins the audit of a run.
    #[must_use]
    pub fn new(run: Arc<Trajectory>, settings: Settings) -> Self {
        Self {
            run,
            settings,
            index: OnceLock::new(),
            answers: BTreeMap::new(),
            handed_out: BTreeSet::new(),
        }
    }

    /// The run under audit.
    #[must_use]
    pub fn run(&self) -> &Arc<Trajectory> {
        &self.run
    }

    /// Questions that can be asked now and were not handed out or answered before.
    #[must_use]
    pub fn poll_asks(&mut self) -> Vec<Ask> {
        match self.progress() {
            Progress::Waiting(ask) if self.handed_out.insert(ask.id.clone()) => vec![*ask],
            Progress::Waiting(_) | Progress::Over(_) => Vec::new(),
        }
    }

    /// Takes an answer from any source: network, cache, journal, offline judge. The first answer to
    /// a question stands. Answers to questions not asked yet are kept until they are.
    pub fn handle_answer(&mut self, id: AskId, answer: Answer) {
        self.handed_out.insert(id.clone());
        self.answers.entry(id).or_insert(answer);
    }

    /// The report, once nothing is left to ask.
    #[must_use]
    pub fn poll_report(&self) -> Option<Report> {
        match self.progress() {
            Progress::Waiting(_) => None,
            Progress::Over(report) => Some(*report),
        }
    }

    fn progress(&self) -> Progress {
        match self.settings.method {
            Method::Bare => self.bare(),
            Method::Paper | Method::Drift => self.three_stages(),
        }
    }

    fn bare(&self) -> Progress {
        let mut report = Draft::default();
        let step = self.stage(Stage::Bare, |fit| {
            let view = self.view(fit);
            Question::Bare(BareQuestion {
                run: self.run.clone(),
                view,
                user: self.settings.user.clone(),
            })
        });
        let replied = match step {
            Step::Waiting(ask) => return Progress::Waiting(ask),
            Step::Stopped(verdict) => return report.over(verdict),
            Step::Done(replied) => replied,
        };
        report.warnings.extend(self.omitted_of_view(replied.fit, Stage::Bare));
        report.warnings.extend(replied.notes);
        let StageReply::Bare(reply) = replied.reply else {
            return report.over(wrong_shape(Stage::Bare));
        };
        let trace = report.take(tracer::bare(&self.run, &reply));
        let spans = trace.error_span_ids.clone();
        report.conclude(&self.run, spans, trace)
    }

    fn three_stages(&self) -> Progress {
        let mut report = Draft::default();
        let kept = self.stage(Stage::Keeper, |fit| {
            let view = self.view(fit);
            Question::Keeper(KeeperQuestion {
                run: self.run.clone(),
                view,
                user: self.settings.user.clone(),
            })
        });
        let kept = match kept {
            Step::Waiting(ask) => return Progress::Waiting(ask),
            Step::Stopped(verdict) => return report.over(verdict),
            Step::Done(replied) => replied,
        };
        report.warnings.extend(self.omitted_of_view(kept.fit, Stage::Keeper));
        report.warnings.extend(kept.notes);
        let ledger = match kept.reply {
            StageReply::Keeper(reply) => report.take(keeper::ledger(&self.run, &reply)),
            StageReply::Published(reply) => match paper::claim_ledger(&reply, &self.run) {
                Ok(ledger) => ledger,
                Err(error) => return report.over(unfit(Stage::Keeper, &error)),
            },
            _ => return report.over(wrong_shape(Stage::Keeper)),
        };
        let ledger = Arc::new(ledger);
        report.ledger = Some(ledger.clone());
        self.seek(report, &ledger)
    }

    fn seek(&self, mut report: Draft, ledger: &Arc<Ledger>) -> Progress {
        let sought = self.stage(Stage::Seeker, |fit| {
            let packet = self.packet(ledger, fit);
            let (run, user, ledger) = (self.run.clone(), self.settings.user.clone(), ledger.clone());
            Question::Seeker(SeekerQuestion {
                run,
                user,
                ledger,
                packet,
            })
        });
        let sought = match sought {
            Step::Waiting(ask) => return Progress::Waiting(ask),
            Step::Stopped(verdict) => {
                report.packet = Some(self.packet(ledger, None));
                return report.over(verdict);
            }
            Step::Done(replied) => replied,
        };
        let packet = self.packet(ledger, sought.fit);
        report.packet = Some(packet.clone());
        report.warnings.extend(self.omitted_of_packet(&packet));
        report.warnings.extend(sought.notes);
        let support = match sought.reply {
            StageReply::Seeker(reply) => report.take(seeker::support(&self.run, ledger, &reply)),
            StageReply::Published(reply) => match paper::support_records(&reply, &self.run, ledger) {
                Ok(mut support) => {
                    paper::restrict_support_records(&mut support, &fetched(&self.run, &packet));
                    support
                }
                Err(error) => return report.over(unfit(Stage::Seeker, &error)),
            },
            _ => return report.over(wrong_shape(Stage::Seeker)),
        };
        let support = Arc::new(support);
        report.support = Some(support.clone());
        self.trace(report, ledger, &support, sought.fit)
    }

    fn trace(&self, mut report: Draft, ledger: &Arc<Ledger>, support: &Arc<Vec<SupportRecord>>, fit: Fit) -> Progress {
        let traced = self.stage(Stage::Tracer, |smaller| {
            let packet = self.packet(ledger, smaller.or(fit));
            let (run, user) = (self.run.clone(), self.settings.user.clone());
            Question::Tracer(TracerQuestion {
                run,
                user,
                ledger: ledger.clone(),
                support: support.clone(),
                packet,
            })
        });
        let traced = match traced {
            Step::Waiting(ask) => return Progress::Waiting(ask),
            Step::Stopped(verdict) => return report.over(verdict),
            Step::Done(replied) => replied,
        };
        let packet = self.packet(ledger, traced.fit.or(fit));
        report.packet = Some(packet.clone());
        report.warnings.extend(traced.notes);
        let available = fetched(&self.run, &packet);
        let trace = match traced.reply {
            StageReply::Tracer(reply) => report.take(tracer::trace(&self.run, &reply)),
            StageReply::Published(reply) => match paper::dependency_trace(&reply, &self.run) {
                Ok(mut trace) => {
                    paper::restrict_trace(&mut trace, &available);
                    trace
                }
                Err(error) => return report.over(unfit(Stage::Tracer, &error)),
            },
            _ => return report.over(wrong_shape(Stage::Tracer)),
        };
        let rules = StepRules::of(self.settings.method);
        let mut prediction = paper::trace_to_prediction(&trace, &self.run);
        paper::add_completions(&mut prediction, &self.run, ledger, support, &rules);
        if self.settings.method == Method::Paper {
            paper::restrict_prediction(&mut prediction, &available);
        } else {
            report.warnings.extend(outside_packet(&trace, &available));
        }
        report.conclude(&self.run, prediction.error_span_ids, trace)
    }

    /// Asks a stage until it has a reply or cannot have one. A reply that does not read is asked for
    /// once more with its error, a cut one once more with twice the room, and a request that does not
    /// fit the window is made smaller at most [`MAX_SHRINKS`] times.
    fn stage(&self, stage: Stage, question: impl Fn(Fit) -> Question) -> Step<Replied> {
        let may_ask_again = self.settings.method != Method::Paper;
        let (mut asked_again, mut shrinks, mut fit) = (false, 0, None);
        let (mut previous, mut max_output) = (None, self.settings.max_output);
        let mut attempt = 0;
        loop {
            let id = self.ask_id(stage, attempt);
            let Some(answer) = self.answers.get(&id) else {
                return Step::Waiting(Box::new(Ask {
                    id,
                    question: question(fit),
                    previous,
                    max_output,
                }));
            };
            match answer {
                Answer::Reply { reply, notes } => {
                    return Step::Done(Replied {
                        reply: reply.clone(),
                        notes: notes.clone(),
                        fit,
                    });
                }
                Answer::Unreadable { text, error } if may_ask_again && !asked_again => {
                    asked_again = true;
                    previous = Some(Previous {
                        text: text.clone(),
                        error: error.clone(),
                    });
                }
                Answer::Truncated { .. } if may_ask_again && !asked_again => {
                    asked_again = true;
                    previous = None;
                    max_output = max_output.saturating_mul(2);
                }
                Answer::Overflow { limit, needed } if may_ask_again && shrinks < MAX_SHRINKS => {
                    shrinks += 1;
                    fit = Some(smaller(fit, *limit, *needed));
                }
                failed => return Step::Stopped(stopped(stage, failed, u32::from(attempt) + 1)),
            }
            attempt += 1;
        }
    }

    fn ask_id(&self, stage: Stage, attempt: u8) -> AskId {
        AskId {
            input: self.settings.input,
            case_id: self.run.case_id().to_owned(),
            method: self.settings.method,
            judge: self.settings.judge,
            stage,
            part: 0,
            attempt,
            repeat: self.settings.repeat,
        }
    }

    fn run_chars(&self) -> usize {
        self.run.spans().iter().map(|span| span.text.chars().count()).sum()
    }

    fn view(&self, fit: Fit) -> RunView {
        match fit {
            None => RunView::whole(&self.run),
            Some(thousandths) => RunView::fitted(&self.run, part_of(self.run_chars(), thousandths)),
        }
    }

    fn packet(&self, ledger: &Ledger, fit: Fit) -> Arc<Packet> {
        let index = self.index.get_or_init(|| Index::new(&self.run, &self.settings.limits));
        let budget = fit.map_or(self.settings.packet_chars, |thousandths| {
            part_of(self.settings.packet_chars, thousandths)
        });
        let rules = StepRules::of(self.settings.method);
        let rows = paper::auto_context_requests(ledger, &rules);
        let rows = paper::settle_context_requests(rows, &self.run, ledger, &rules);
        let requests = paper::to_fetch(&rows, &self.run);
        let seeds = paper::claim_seed_spans(ledger, &self.run);
        Arc::new(match self.settings.method {
            Method::Paper => index.published(&self.run, &seeds, &requests),
            Method::Drift | Method::Bare => index.drift(&self.run, &seeds, &requests, &ledger.hard_constraints, budget),
        })
    }

    fn omitted_of_view(&self, fit: Fit, stage: Stage) -> Option<Warning> {
        fit?;
        let (shown, all) = self.view(fit).shown_of(&self.run);
        let message = format!("the run did not fit the judge's window: {shown} of its {all} characters were shown");
        Some(Warning::new(WarningCode::TextOmitted, message).in_stage(stage))
    }

    fn omitted_of_packet(&self, packet: &Packet) -> Option<Warning> {
        let (shown, all) = (packet.chars(), self.run_chars());
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

fn part_of(whole: usize, thousandths: u32) -> usize {
    whole.saturating_mul(thousandths as usize) / 1000
}

/// The next size to try: what the two numbers say with a tenth to spare, else half; never the same again.
fn smaller(fit: Fit, limit: Option<u64>, needed: Option<u64>) -> u32 {
    let now = fit.unwrap_or(1000);
    match (limit, needed) {
        (Some(limit), Some(needed)) if limit < needed => {
            let ratio = u32::try_from(limit.saturating_mul(900) / needed.max(1)).unwrap_or(500);
            (now * ratio / 1000).min(now.saturating_sub(1))
        }
        _ => now / 2,
    }
}

fn stopped(stage: Stage, answer: &Answer, attempts: u32) -> Verdict {
    let cause = |kind, message: String| Cause {
        stage: Some(stage),
        attempts: Some(attempts),
        ..Cause::new(kind, message)
    };
    match answer {
        Answer::Reply { .. } => wrong_shape(stage),
        Answer::Unreadable { text, error } if text.trim().is_empty() => Verdict::Failed(cause(
            CauseKind::Empty,
            format!("the judge's reply had no text ({error})"),
        )),
        Answer::Unreadable { error, .. } => Verdict::Failed(cause(
            CauseKind::BadReply,
            format!("the judge's reply could not be read: {error}"),
        )),
        Answer::Truncated { limit } => {
            let message = format!(
                "the reply was cut at the output limit of {limit} tokens; allow more with --max-output, or take a model that reasons less"
            );
            Verdict::Failed(Cause {
                limit: Some(u64::from(*limit)),
                ..cause(CauseKind::Truncated, message)
            })
        }
        Answer::Overflow { limit, needed } => {
            let say = |number: &Option<u64>| number.map_or("an unstated number of".to_owned(), |n| n.to_string());
            let message = format!(
                "the request needs {} tokens and the judge's window holds {}; take a judge with a larger window",
                say(needed),
                say(limit)
            );
            Verdict::Failed(Cause {
                limit: *limit,
                needed: *needed,
                ..cause(CauseKind::ContextOverflow, message)
            })
        }
        Answer::Refused { code } => Verdict::Refused(cause(CauseKind::Refused, format!("the judge declined: {code}"))),
        Answer::GaveUp(cause) => Verdict::Failed(Cause {
            stage: cause.stage.or(Some(stage)),
            ..cause.clone()
        }),
    }
}

fn wrong_shape(stage: Stage) -> Verdict {
    let message = format!("the judge answered the {stage} with another stage's reply; please report this");
    Verdict::Failed(Cause {
        stage: Some(stage),
        ..Cause::new(CauseKind::Internal, message)
    })
}

fn unfit(stage: Stage, error: &paper::ReadError) -> Verdict {
    let message = format!("the judge's reply could not be read: {error}");
    Verdict::Failed(Cause {
        stage: Some(stage),
        ..Cause::new(CauseKind::BadReply, message)
    })
}

/// Ids of the spans the packet holds something of.
fn fetched<'run>(run: &'run Trajectory, packet: &Packet) -> HashSet<&'run str> {
    packet.chunks.iter().map(|chunk| run.id_at(chunk.span)).collect()
}

fn outside_packet(trace: &Trace, available: &HashSet<&str>) -> Vec<Warning> {
    let outside = trace
        .error_span_ids
        .iter()
        .filter(|id| !available.contains(id.as_str()));
    outside
        .map(|id| {
            let message = format!("{id} was named harmful although the tracer did not have it in its evidence packet");
            Warning::new(WarningCode::OutsidePacket, message)
                .at_span(id)
                .in_stage(Stage::Tracer)
        })
        .collect()
}

/// A report in the making.
#[derive(Default)]
struct Draft {
    ledger: Option<Arc<Ledger>>,
    support: Option<Arc<Vec<SupportRecord>>>,
    packet: Option<Arc<Packet>>,
    rejected: Vec<String>,
    warnings: Vec<Warning>,
}

impl Draft {
    fn take<T>(&mut self, read: Read<T>) -> T {
        for id in read.rejected {
            if !self.rejected.contains(&id) {
                self.rejected.push(id);
            }
        }
        self.warnings.extend(read.warnings);
        read.value
    }

    fn over(self, verdict: Verdict) -> Progress {
        self.finish(verdict, None, Vec::new())
    }

    /// Ends with the harmful spans given, in trajectory order; with none, clean.
    fn conclude(mut self, run: &Trajectory, spans: Vec<String>, trace: Trace) -> Progress {
        let ledger = self.ledger.clone().unwrap_or_default();
        let support = self.support.clone().unwrap_or_default();
        let findings = findings::findings(run, &spans, &trace, &ledger, &support, &mut self.warnings);
        let verdict = match spans.first() {
            None => Verdict::Clean,
            Some(first) => {
                let reasons = findings.iter().map(|finding| Reason {
                    span_id: finding.span_id.clone(),
                    reason: finding.reason.clone(),
                    quote: None,
                });
                Verdict::Found(Found {
                    first: first.clone(),
                    reasons: reasons.collect(),
                    spans,
                })
            }
        };
        self.finish(verdict, Some(trace), findings)
    }

    fn finish(self, verdict: Verdict, trace: Option<Trace>, findings: Vec<super::Finding>) -> Progress {
        Progress::Over(Box::new(Report {
            verdict,
            ledger: self.ledger,
            support: self.support,
            trace,
            packet: self.packet,
            findings,
            rejected_span_ids: self.rejected,
            warnings: self.warnings,
        }))
    }
}
