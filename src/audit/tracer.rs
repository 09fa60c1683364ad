//! Dependency Tracer and `bare`: a reply becomes a set of harmful spans.
//!
//! One rule decides when fields of a reply contradict each other: the set is the union of all fields
//! that name harmful spans, and the first of it is the earliest by position. A disagreement is
//! noted as `inconsistent_verdict`, never resolved silently.

use std::collections::BTreeSet;

use super::ids::Ids;
use super::keeper::Read;
use crate::ledger::{Reason, Trace};
use crate::reply::{BareReply, TracerReply};
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// Reads the tracer's reply against the run.
pub(super) fn trace(run: &Trajectory, reply: &TracerReply) -> Read<Trace> {
    let mut ids = Ids::new(run, Stage::Tracer);
    let listed = positions(&mut ids, reply.error_span_ids.iter());
    let linked = positions(&mut ids, reply.linked_error_span_ids.iter());
    let first = reply.first_error_span.as_deref().and_then(|id| ids.position(id));
    let earliest = reply
        .earliest_harmful_span_id
        .as_deref()
        .and_then(|id| ids.position(id));
    let union: BTreeSet<usize> = listed
        .iter()
        .chain(&linked)
        .copied()
        .chain(first)
        .chain(earliest)
        .collect();
    let non_errors = positions(&mut ids, reply.non_errors.iter());
    let reasons = reasons(&mut ids, &reply.reasons);

    let mut doubts = Vec::new();
    let begins = union.first().copied();
    for (field, named) in [("first_error_span", first), ("earliest_harmful_span_id", earliest)] {
        if named.is_some() && named != begins {
            doubts.push(format!(
                "{field} is {}, the earliest span named harmful is {}",
                shown(run, named),
                shown(run, begins)
            ));
        }
    }
    if !listed.is_empty() && union != listed {
        doubts.push(format!("error_span_ids lacks {}", list(run, union.difference(&listed))));
    }
    let both: Vec<&usize> = union.intersection(&non_errors).collect();
    if !both.is_empty() {
        doubts.push(format!("{} named harmful and harmless", list(run, both)));
    }
    let (rejected, mut warnings) = ids.finish();
    warnings.extend(disagreement(&doubts, Stage::Tracer));
    let value = Trace {
        first_error_span: begins.map(|position| run.id_at(position).to_owned()),
        linked_error_span_ids: union
            .iter()
            .skip(1)
            .map(|position| run.id_at(*position).to_owned())
            .collect(),
        non_errors: non_errors
            .difference(&union)
            .map(|position| run.id_at(*position).to_owned())
            .collect(),
        reason: reply.reason.clone(),
        error_span_ids: union.iter().map(|position| run.id_at(*position).to_owned()).collect(),
        earliest_harmful_span_id: begins.map(|position| run.id_at(position).to_owned()),
        reasons,
    };
    Read {
        value,
        rejected,
        warnings,
    }
}

/// Reads the reply of `bare` against the run, as a trace without dependencies.
pub(super) fn bare(run: &Trajectory, reply: &BareReply) -> Read<Trace> {
    let mut ids = Ids::new(run, Stage::Bare);
    let listed = positions(&mut ids, reply.error_span_ids.iter());
    let earliest = reply
        .earliest_harmful_span_id
        .as_deref()
        .and_then(|id| ids.position(id));
    let union: BTreeSet<usize> = listed.iter().copied().chain(earliest).collect();
    let reasons = reasons(&mut ids, &reply.reasons);
    let begins = union.first().copied();
    let mut doubts = Vec::new();
    if earliest.is_some() && earliest != begins {
        doubts.push(format!(
            "earliest_harmful_span_id is {}, the earliest span named harmful is {}",
            shown(run, earliest),
            shown(run, begins)
        ));
    }
    if !listed.is_empty() && union != listed {
        doubts.push(format!("error_span_ids lacks {}", list(run, union.difference(&listed))));
    }
    let (rejected, mut warnings) = ids.finish();
    warnings.extend(disagreement(&doubts, Stage::Bare));
    let error_span_ids: Vec<String> = union.iter().map(|position| run.id_at(*position).to_owned()).collect();
    let value = Trace {
        first_error_span: error_span_ids.first().cloned(),
        linked_error_span_ids: error_span_ids.iter().skip(1).cloned().collect(),
        earliest_harmful_span_id: error_span_ids.first().cloned(),
        error_span_ids,
        reasons,
        ..Trace::default()
    };
    Read {
        value,
        rejected,
        warnings,
    }
}

fn positions<'a>(ids: &mut Ids<'_>, raw: impl Iterator<Item = &'a String>) -> BTreeSet<usize> {
    raw.filter_map(|id| ids.position(id)).collect()
}

fn reasons(ids: &mut Ids<'_>, raw: &[Reason]) -> Vec<Reason> {
    let mut kept: Vec<Reason> = Vec::new();
    for reason in raw {
        if let Some(span_id) = ids.id(&reason.span_id)
            && !kept.iter().any(|seen| seen.span_id == span_id)
        {
            kept.push(Reason {
                span_id,
                ..reason.clone()
            });
        }
    }
    kept
}

fn disagreement(doubts: &[String], stage: Stage) -> Option<Warning> {
    if doubts.is_empty() {
        return None;
    }
    let message = format!(
        "the reply contradicts itself ({}); all spans it names harmful were kept",
        doubts.join("; ")
    );
    Some(Warning::new(WarningCode::InconsistentVerdict, message).in_stage(stage))
}

fn shown(run: &Trajectory, position: Option<usize>) -> &str {
    position.map_or("none", |position| run.id_at(position))
}

fn list<'a>(run: &Trajectory, positions: impl IntoIterator<Item = &'a usize>) -> String {
    positions
        .into_iter()
        .map(|position| run.id_at(*position))
        .collect::<Vec<_>>()
        .join(", ")
}
