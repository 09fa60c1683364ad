//! A report in the making, and the verdicts of a stage that has none.

use std::collections::HashSet;
use std::sync::Arc;

use super::keeper::Read;
use super::paper::{Prediction, ReadError};
use super::{Answer, Cause, CauseKind, Finding, Found, Report, Verdict, findings};
use crate::evidence::Packet;
use crate::ledger::{Ledger, Reason, SupportRecord, Trace};
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// What was established so far.
#[derive(Clone, Default)]
pub(super) struct Draft {
    pub(super) ledger: Option<Arc<Ledger>>,
    pub(super) support: Option<Arc<Vec<SupportRecord>>>,
    pub(super) packet: Option<Arc<Packet>>,
    rejected: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

impl Draft {
    pub(super) fn take<T>(&mut self, read: Read<T>) -> T {
        for id in read.rejected {
            if !self.rejected.contains(&id) {
                self.rejected.push(id);
            }
        }
        for warning in read.warnings {
            // Overlapping windows are told of the same thing twice.
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        read.value
    }

    pub(super) fn over(self, verdict: Verdict) -> Report {
        self.finish(verdict, None, Vec::new())
    }

    /// Ends with the harmful spans given, in trajectory order; with none, clean.
    pub(super) fn conclude(mut self, run: &Trajectory, spans: Vec<String>, trace: Trace) -> Report {
        let ledger = self.ledger.clone().unwrap_or_default();
        let support = self.support.clone().unwrap_or_default();
        let findings = findings::findings(run, &spans, &trace, &ledger, &support, &mut self.warnings);
        let verdict = verdict_of(spans, &findings);
        self.finish(verdict, Some(trace), findings)
    }

    /// The same with the published prediction, whose reasons are the trace's alone: spans that were
    /// completed have none.
    pub(super) fn conclude_published(self, run: &Trajectory, prediction: Prediction, trace: Trace) -> Report {
        let mut report = self.conclude(run, prediction.error_span_ids, trace);
        if let Verdict::Found(found) = &mut report.verdict {
            found.reasons = prediction.reasons;
        }
        report
    }

    fn finish(self, verdict: Verdict, trace: Option<Trace>, findings: Vec<Finding>) -> Report {
        Report {
            verdict,
            ledger: self.ledger,
            support: self.support,
            trace,
            packet: self.packet,
            findings,
            rejected_span_ids: self.rejected,
            warnings: self.warnings,
        }
    }
}

/// The verdict that names these spans, in trajectory order, with the reasons of their findings.
pub(super) fn verdict_of(spans: Vec<String>, findings: &[Finding]) -> Verdict {
    let Some(first) = spans.first().cloned() else {
        return Verdict::Clean;
    };
    let reasons = findings.iter().map(|finding| Reason {
        span_id: finding.span_id.clone(),
        reason: finding.reason.clone(),
        quote: None,
    });
    Verdict::Found(Found {
        first,
        reasons: reasons.collect(),
        spans,
    })
}

/// The verdict of a stage whose last answer is no reply.
pub(super) fn stopped(stage: Stage, answer: &Answer, attempts: u32) -> Verdict {
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

/// The verdict of a stage that was answered with another stage's reply.
pub(super) fn wrong_shape(stage: Stage) -> Verdict {
    let message = format!("the judge answered the {stage} with another stage's reply; please report this");
    Verdict::Failed(Cause {
        stage: Some(stage),
        ..Cause::new(CauseKind::Internal, message)
    })
}

/// The verdict of a published stage that cannot read its reply.
pub(super) fn unfit(stage: Stage, error: &ReadError) -> Verdict {
    let message = format!("the judge's reply could not be read: {error}");
    Verdict::Failed(Cause {
        stage: Some(stage),
        ..Cause::new(CauseKind::BadReply, message)
    })
}

/// Ids of the spans the packet holds something of.
pub(super) fn fetched<'run>(run: &'run Trajectory, packet: &Packet) -> HashSet<&'run str> {
    packet.chunks.iter().map(|chunk| run.id_at(chunk.span)).collect()
}

/// A warning for each span that was named harmful without standing in the packet.
pub(super) fn outside_packet(trace: &Trace, available: &HashSet<&str>) -> Vec<Warning> {
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
