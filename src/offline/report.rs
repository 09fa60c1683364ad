//! The whole reading of a run: findings, what stands, and what could be checked.

use super::case::Case;
use super::checks::{self, Defect, Place};
use super::lexicon::{self, Cue};
use super::shown::Outcome;
use super::statements::{Standing, Statement};
use super::text::Shape;
use super::trace::{self, Chain};
use crate::trajectory::Trajectory;

/// A defect and where it went.
pub(super) struct Finding {
    pub(super) defect: Defect,
    pub(super) chain: Chain,
}

/// A settled statement whose names and numbers stand together in what was shown.
pub(super) struct Supported {
    pub(super) place: Place,
    pub(super) by: Place,
    pub(super) is_answer: bool,
}

/// Counts for the coverage note.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coverage {
    spans: usize,
    statements: usize,
    settled: usize,
    with_values: usize,
    outputs: usize,
    failed: usize,
    empty: usize,
}

/// A run, judged.
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    pub(super) supported: Vec<Supported>,
    pub(super) coverage: Coverage,
}

/// Claims in a ledger, as METHOD's keeper keeps them.
const CLAIMS: usize = 8;

/// Reads and judges a run.
pub(super) fn report(run: &Trajectory) -> Report {
    let case = Case::read(run);
    let findings = findings(&case);
    let supported = supported(&case, &findings);
    Report {
        findings,
        supported,
        coverage: coverage(&case),
    }
}

/// Defects that are followed at most; a run with more is wrong from the first ones on, and following
/// every one would make the work grow with the square of the run.
const FOLLOWED: usize = 48;

/// The defects that were not taken back, each with its chain. A later one in a span that an earlier
/// one's chain already holds is that chain's, not a second root.
fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for defect in checks::all(case).into_iter().take(FOLLOWED) {
        let chain = trace::follow(case, &defect);
        if chain.repaired {
            continue;
        }
        let span = defect.place.span;
        if let Some(root) = out.iter_mut().find(|root| root.defect.place.span == span) {
            // Said in the same breath: what builds on either builds on the span.
            root.chain.finalized |= chain.finalized;
            for place in chain.uses {
                if !root.chain.uses.iter().any(|known| known.span == place.span) {
                    root.chain.uses.push(place);
                }
            }
            root.chain.uses.sort_by_key(|place| place.span);
            continue;
        }
        let held = out
            .iter()
            .any(|root| root.chain.uses.iter().any(|place| place.span == span));
        if !held && out.len() < CLAIMS - 2 {
            out.push(Finding { defect, chain });
        }
    }
    out
}

/// The last settled statements, the answer first, whose names and numbers all stand in one passage.
fn supported(case: &Case<'_>, findings: &[Finding]) -> Vec<Supported> {
    let answer = case.answer();
    let mut out: Vec<Supported> = Vec::new();
    let order = answer
        .into_iter()
        .chain((0..case.statements.len()).rev().filter(|index| Some(*index) != answer));
    for index in order {
        if out.len() + findings.len() >= CLAIMS || out.len() >= 3 {
            break;
        }
        let Some(statement) = case.statements.get(index) else {
            continue;
        };
        let blamed = findings.iter().any(|finding| {
            finding.defect.place.span == statement.span
                || finding.chain.uses.iter().any(|place| place.span == statement.span)
        });
        if blamed
            || statement.standing != Standing::Settled
            || (out.iter().any(|other| other.place.span == statement.span))
        {
            continue;
        }
        if let Some(by) = passage(case, statement) {
            let place = Place {
                span: statement.span,
                start: statement.start,
                end: statement.end,
            };
            out.push(Supported {
                place,
                by,
                is_answer: Some(index) == answer,
            });
        }
    }
    out
}

/// The passage that has every name and number of the statement, if it has any that the task has not.
pub(super) fn passage(case: &Case<'_>, statement: &Statement) -> Option<Place> {
    let marks: Vec<u64> = statement
        .tokens
        .iter()
        .filter(|token| token.shape != Shape::Plain && !lexicon::is_stop(token.stem))
        .map(|token| token.stem)
        .collect();
    let fresh = marks.iter().any(|stem| !case.given.stems.contains(stem));
    let rarest = marks
        .iter()
        .copied()
        .min_by_key(|stem| case.shown.with_stem(*stem, statement.seen).len())?;
    if !fresh || statement.cues.has(Cue::Negation) {
        return None;
    }
    case.shown.with_stem(rarest, statement.seen).iter().find_map(|place| {
        let sentence = case.shown.sentences.get(*place as usize)?;
        let title = case.shown.title_of(*place as usize);
        marks
            .iter()
            .all(|stem| sentence.stems.contains(stem) || title.contains(stem))
            .then_some(Place {
                span: sentence.span,
                start: sentence.start,
                end: sentence.end,
            })
    })
}

fn coverage(case: &Case<'_>) -> Coverage {
    let settled = |statement: &&Statement| statement.standing == Standing::Settled;
    let count = |outcome: Outcome| {
        case.shown
            .events
            .iter()
            .filter(|event| event.outcome == outcome)
            .count()
    };
    let mut spans: Vec<usize> = case.statements.iter().map(|statement| statement.span).collect();
    spans.dedup();
    Coverage {
        spans: spans.len(),
        statements: case.statements.len(),
        settled: case.statements.iter().filter(settled).count(),
        with_values: case
            .statements
            .iter()
            .filter(settled)
            .filter(|statement| !statement.values.is_empty())
            .count(),
        outputs: case.shown.events.len(),
        failed: count(Outcome::Failed),
        empty: count(Outcome::Empty),
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "offline evidence check: {} sentences of the agent in {} spans, {} of them stated as settled, {} of those with a number or date; {} tool outputs, {} failed, {} empty.",
            self.statements, self.spans, self.settled, self.with_values, self.outputs, self.failed, self.empty
        )?;
        if self.outputs == 0 {
            f.write_str(" Nothing was fetched in this record, so no statement could be checked against a source; only arithmetic and conditions of the task could.")?;
        } else {
            f.write_str(" Checkable: numbers, dates and cited names against what was shown before, failed calls, arithmetic, conditions of the task that a rule can test, giving up.")?;
        }
        f.write_str(" Not checkable: whether a source is right, whether the task was understood, what was not said.")
    }
}
