//! Repeats of an audit and two judges: where they agree, and the verdict that is left.
//!
//! Pure: reports in, report out. A repeat without a verdict is counted and never votes for clean.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draft::verdict_of;
use super::{Cause, Finding, Report, Role, Verdict};
use crate::eval::{cohen_kappa, fleiss_kappa};
use crate::trajectory::{Trajectory, Warning, WarningCode};

/// A repeat that has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRepeat {
    /// Which, from 0.
    pub repeat: u32,
    /// True when the judge or its provider declined.
    pub refused: bool,
    /// Why.
    pub cause: Cause,
}

/// What the repeats of an audit say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Audits asked for.
    pub asked: u32,
    /// Those with a verdict. More than half of those asked for are needed for a verdict.
    pub ok: u32,
    /// Those without.
    pub failed: Vec<FailedRepeat>,
    /// For each repeat with a verdict, in order: its first harmful span, `null` for a clean run.
    pub firsts: Vec<Option<String>>,
    /// Share of the repeats with a verdict that agree with most of them on the first harmful span (none is
    /// one answer too); `null` without any.
    pub same_first: Option<f64>,
}

/// Repeats of one audit as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The verdict of the majority, with the reasons and findings of the repeat that is nearest to it.
    pub report: Report,
    /// How many repeats' judges name each span harmful themselves; spans that none names are not listed, nor
    /// does a span count that only the completion step added.
    pub votes: BTreeMap<String, u32>,
    /// Fleiss' κ of the repeats with a verdict over the spans of the run (named or not); `None` with fewer
    /// than two, or when all name all spans or none names any.
    pub fleiss_kappa: Option<f64>,
    /// The account of the repeats.
    pub repeats: Repeats,
}

fn spans(report: &Report) -> Option<&[String]> {
    match &report.verdict {
        Verdict::Found(found) => Some(&found.spans),
        Verdict::Clean => Some(&[]),
        Verdict::Failed(_) | Verdict::Refused(_) => None,
    }
}

/// The spans that the judge of a report with a verdict named itself, each once, in trajectory order: what
/// its spread is measured on. The completion step is code and spreads only with the ledger.
fn named<'run>(run: &'run Trajectory, report: &Report) -> Vec<&'run str> {
    let Some(own) = spans(report) else { return Vec::new() };
    let own = report
        .trace
        .as_ref()
        .map_or(own, |trace| trace.error_span_ids.as_slice());
    let ids = run.spans().iter().map(|span| span.id.as_str());
    ids.filter(|id| own.iter().any(|named| named == id)).collect()
}

fn first(report: &Report) -> Option<&String> {
    spans(report).and_then(<[String]>::first)
}

/// The majority of the repeats of one audit of a run, given in order. A span is harmful when it stands in the
/// verdicts of more than half of the repeats asked for; there is a verdict when more than half of them have one.
/// `None` without repeats.
#[must_use]
pub fn decide(run: &Trajectory, reports: Vec<Report>) -> Option<Decided> {
    let asked = u32::try_from(reports.len()).unwrap_or(u32::MAX);
    let mut votes: BTreeMap<String, u32> = BTreeMap::new();
    let mut predicted: BTreeMap<String, u32> = BTreeMap::new();
    let mut failed = Vec::new();
    let mut firsts = Vec::new();
    for (repeat, report) in (0..).zip(&reports) {
        match &report.verdict {
            Verdict::Failed(cause) => failed.push(FailedRepeat {
                repeat,
                refused: false,
                cause: cause.clone(),
            }),
            Verdict::Refused(cause) => failed.push(FailedRepeat {
                repeat,
                refused: true,
                cause: cause.clone(),
            }),
            Verdict::Found(_) | Verdict::Clean => firsts.push(first(report).cloned()),
        }
        for span in named(run, report) {
            *votes.entry(span.to_owned()).or_default() += 1;
        }
        for span in spans(report).unwrap_or_default() {
            *predicted.entry(span.clone()).or_default() += 1;
        }
    }
    let ok = u32::try_from(firsts.len()).unwrap_or(u32::MAX);
    let most = firsts
        .iter()
        .map(|first| firsts.iter().filter(|other| *other == first).count())
        .max();
    let per_span = run.spans().iter().map(|span| votes.get(&span.id).copied().unwrap_or(0));
    let kappa = if ok > 1 { fleiss_kappa(ok, per_span) } else { None };
    let same_first = most.map(|most| most as f64 / firsts.len() as f64);
    let repeats = Repeats {
        asked,
        ok,
        failed,
        firsts,
        same_first,
    };
    let report = if is_majority(ok, asked) {
        majority(run, reports, &predicted, asked)?
    } else {
        without_majority(reports, &repeats)?
    };
    Some(Decided {
        report,
        votes,
        fleiss_kappa: kappa,
        repeats,
    })
}

fn is_majority(votes: u32, of: u32) -> bool {
    u64::from(votes) * 2 > u64::from(of)
}

/// The repeat nearest to the majority (most spans in common for all that either names; the earliest of
/// equals), with the majority's spans. A finding it does not have comes from the first repeat that has it.
fn majority(run: &Trajectory, reports: Vec<Report>, votes: &BTreeMap<String, u32>, asked: u32) -> Option<Report> {
    let named = run.spans().iter().map(|span| &span.id);
    let chosen: Vec<String> = named
        .filter(|id| votes.get(*id).is_some_and(|votes| is_majority(*votes, asked)))
        .cloned()
        .collect();
    let distance = |report: &Report| {
        let own = spans(report)?;
        let shared = own.iter().filter(|id| chosen.contains(id)).count();
        Some(own.len() + chosen.len() - 2 * shared)
    };
    let nearest = reports
        .iter()
        .filter_map(|report| Some((distance(report)?, report)))
        .min_by_key(|(distance, _)| *distance);
    let mut report = nearest.map(|(_, report)| report.clone())?;
    let findings = chosen.iter().filter_map(|id| {
        let own = |report: &Report| report.findings.iter().find(|finding| finding.span_id == *id).cloned();
        own(&report).or_else(|| {
            let borrowed = reports.iter().find_map(own)?;
            // Its claims are of another ledger.
            Some(Finding {
                claim_ids: Vec::new(),
                ..borrowed
            })
        })
    });
    report.findings = with_roles(findings.collect());
    report.verdict = verdict_of(chosen, &report.findings);
    Some(report)
}

/// The first repeat without a verdict, its cause with the count.
fn without_majority(reports: Vec<Report>, repeats: &Repeats) -> Option<Report> {
    let mut report = reports.into_iter().find(|report| spans(report).is_none())?;
    if let Verdict::Failed(cause) | Verdict::Refused(cause) = &mut report.verdict
        && repeats.asked > 1
    {
        cause.message = format!(
            "{} of {} repeats have a verdict, which is no majority: {}",
            repeats.ok, repeats.asked, cause.message
        );
    }
    Some(report)
}

fn with_roles(mut findings: Vec<Finding>) -> Vec<Finding> {
    for (nth, finding) in findings.iter_mut().enumerate() {
        finding.role = if nth == 0 { Role::First } else { Role::Linked };
    }
    findings
}

/// Where two judges of one run agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// Both name the same first harmful span, or both find none.
    pub same_first: bool,
    /// Spans that both name, in trajectory order.
    pub both: Vec<String>,
    /// Spans that only the first judge names.
    pub only_first: Vec<String>,
    /// Spans that only the second judge names.
    pub only_second: Vec<String>,
    /// Cohen's κ over the spans of the run (named or not); `null` when both say the same of every span
    /// and it is always the same.
    pub kappa: Option<f64>,
}

/// Agreement of two judges; `None` unless both have a verdict.
#[must_use]
pub fn agreement(run: &Trajectory, a: &Report, b: &Report) -> Option<Agreement> {
    let (in_a, in_b) = (spans(a)?, spans(b)?);
    let of = |wanted: &dyn Fn(&String) -> bool| -> Vec<String> {
        run.spans()
            .iter()
            .map(|span| &span.id)
            .filter(|id| wanted(id))
            .cloned()
            .collect()
    };
    let both = of(&|id| in_a.contains(id) && in_b.contains(id));
    let only_first = of(&|id| in_a.contains(id) && !in_b.contains(id));
    let only_second = of(&|id| !in_a.contains(id) && in_b.contains(id));
    let marked = both.len() + only_first.len() + only_second.len();
    let neither = run.spans().len().saturating_sub(marked);
    let kappa = cohen_kappa(
        both.len() as u64,
        only_first.len() as u64,
        only_second.len() as u64,
        neither as u64,
    );
    Some(Agreement {
        same_first: first(a) == first(b),
        both,
        only_first,
        only_second,
        kappa,
    })
}

/// The first judge's report with only the spans that the second names too. Without a verdict of both
/// there is none; what either named alone is told in a warning.
#[must_use]
pub fn agreed(run: &Trajectory, a: &Report, b: &Report) -> Report {
    let mut report = a.clone();
    let Some(Agreement {
        both,
        only_first,
        only_second,
        ..
    }) = agreement(run, a, b)
    else {
        if spans(a).is_some() {
            report.verdict = without_second(&b.verdict);
            report.findings.clear();
        }
        return report;
    };
    report.findings.retain(|finding| both.contains(&finding.span_id));
    report.findings = with_roles(report.findings);
    if !only_first.is_empty() || !only_second.is_empty() {
        let list = |ids: &[String]| {
            if ids.is_empty() {
                "none".to_owned()
            } else {
                ids.join(", ")
            }
        };
        let what = if both.is_empty() {
            "the two judges agree on no harmful span"
        } else {
            "only spans that both judges name are reported"
        };
        let message = format!(
            "{what}; left out: {} of the first judge, {} of the second",
            list(&only_first),
            list(&only_second)
        );
        report
            .warnings
            .push(Warning::new(WarningCode::InconsistentVerdict, message));
    }
    report.verdict = verdict_of(both, &report.findings);
    report
}

fn without_second(verdict: &Verdict) -> Verdict {
    let of_second = |cause: &Cause| Cause {
        message: format!("the second judge has no verdict: {}", cause.message),
        ..cause.clone()
    };
    match verdict {
        Verdict::Refused(cause) => Verdict::Refused(of_second(cause)),
        Verdict::Failed(cause) => Verdict::Failed(of_second(cause)),
        other => other.clone(),
    }
}

#[cfg(test)]
#[path = "votes/tests.rs"]
mod tests;
