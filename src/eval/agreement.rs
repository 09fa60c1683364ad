//! Agreement of judges, and how right they are where they agree.

use serde::Serialize;

use super::cases::{Case, CaseSet, Mark};
use super::predictions::{Answer, Prediction, Status};
use super::score::{BothEmpty, Outcome, Rate};

/// Agreement of two judges on the runs that both answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairAgreement {
    /// First judge.
    pub a: String,
    /// Second judge.
    pub b: String,
    /// Spans that both judged: those of the runs that both answered and whose spans are known.
    pub spans: u64,
    /// Cohen's κ over those spans (marked or not); null when it is undefined (both always say the same one thing).
    pub cohen_kappa: Option<f64>,
    /// Runs where both name the same first span, or both name none.
    pub same_first: Rate,
}

/// The runs where at least so many judges name the same first span (or none).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgreementLevel {
    /// Least number of judges with the same first span.
    pub at_least: usize,
    /// How many of all runs that holds for.
    pub coverage: Rate,
    /// On how many of those the first span they agree on is right.
    pub first_right: Rate,
    /// How many spans, over all runs, at least so many judges marked, and how many of these are gold.
    pub marked_spans_right: Rate,
}

/// Agreement of all judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Number of judges.
    pub judges: usize,
    /// Runs that all of them answered and whose spans are known.
    pub runs: u64,
    /// Spans of those runs.
    pub spans: u64,
    /// Fleiss' κ over those spans (marked or not); null when undefined.
    pub fleiss_kappa: Option<f64>,
    /// Every pair of judges.
    pub pairs: Vec<PairAgreement>,
    /// Risk against coverage, from full agreement down to one judge.
    pub levels: Vec<AgreementLevel>,
}

/// Cohen's κ of two raters from the counts (both yes, only the first, only the second, both no);
/// `None` without items or when chance agreement is total.
#[must_use]
pub fn cohen_kappa(both: u64, only_a: u64, only_b: u64, neither: u64) -> Option<f64> {
    let n = (both + only_a + only_b + neither) as f64;
    let observed = (both + neither) as f64 / n;
    let (yes_a, yes_b) = ((both + only_a) as f64 / n, (both + only_b) as f64 / n);
    kappa(observed, yes_a * yes_b + (1.0 - yes_a) * (1.0 - yes_b))
}

/// Fleiss' κ of `raters` raters who each say yes or no to every item, from the number of yes votes
/// per item; `None` without items, with fewer than two raters, or when chance agreement is total.
#[must_use]
pub fn fleiss_kappa(raters: u32, votes: impl Iterator<Item = u32>) -> Option<f64> {
    let raters = f64::from(raters);
    let (mut items, mut yes, mut agreement) = (0.0, 0.0, 0.0);
    for vote in votes {
        let vote = f64::from(vote);
        let no = raters - vote;
        items += 1.0;
        yes += vote;
        agreement += (vote * (vote - 1.0) + no * (no - 1.0)) / (raters * (raters - 1.0));
    }
    let share = yes / (items * raters);
    kappa(agreement / items, share * share + (1.0 - share) * (1.0 - share))
}

fn kappa(observed: f64, chance: f64) -> Option<f64> {
    let value = (observed - chance) / (1.0 - chance);
    (chance < 1.0 && value.is_finite()).then_some(value)
}

/// Agreement of the judges; `None` for fewer than two.
#[must_use]
pub fn agreement(cases: &CaseSet, predictions: &[Prediction], both_empty: BothEmpty) -> Option<Agreement> {
    if predictions.len() < 2 {
        return None;
    }
    let mut pairs = Vec::new();
    for (at, a) in predictions.iter().enumerate() {
        for b in predictions.iter().skip(at + 1) {
            pairs.push(pair(cases, a, b));
        }
    }
    let mut votes: Vec<u32> = Vec::new();
    let mut runs = 0;
    for (number, case) in cases.cases().iter().enumerate() {
        let answers = answered(predictions, number);
        if answers.len() == predictions.len() && case.span_count().is_some() {
            runs += 1;
            votes.extend(span_votes(case, &answers));
        }
    }
    let raters = u32::try_from(predictions.len()).unwrap_or(u32::MAX);
    Some(Agreement {
        judges: predictions.len(),
        runs,
        spans: votes.len() as u64,
        fleiss_kappa: fleiss_kappa(raters, votes.into_iter()),
        pairs,
        levels: levels(cases, predictions, both_empty),
    })
}

fn answered(predictions: &[Prediction], number: usize) -> Vec<&Answer> {
    let answers = predictions
        .iter()
        .filter_map(|prediction| prediction.answers.get(number));
    answers.filter(|answer| answer.status == Status::Ok).collect()
}

/// Votes for each span of the run.
fn span_votes(case: &Case, answers: &[&Answer]) -> Vec<u32> {
    let mut votes = vec![0; case.span_count().unwrap_or(0) as usize];
    for mark in answers.iter().flat_map(|answer| answer.marks.iter()) {
        if let Some(vote) = votes.get_mut(*mark as usize) {
            *vote += 1;
        }
    }
    votes
}

fn pair(cases: &CaseSet, a: &Prediction, b: &Prediction) -> PairAgreement {
    let (mut both, mut only_a, mut only_b, mut spans) = (0, 0, 0, 0);
    let (mut same, mut runs) = (0, 0);
    for ((case, a), b) in cases.cases().iter().zip(&a.answers).zip(&b.answers) {
        if a.status != Status::Ok || b.status != Status::Ok {
            continue;
        }
        runs += 1;
        same += u64::from(case.first(&a.marks) == case.first(&b.marks));
        let Some(count) = case.span_count() else {
            continue;
        };
        spans += u64::from(count);
        let known = |marks: &[Mark]| marks.iter().filter(|mark| case.is_span(**mark)).count() as u64;
        let shared = a
            .marks
            .iter()
            .filter(|mark| case.is_span(**mark) && b.marks.contains(mark))
            .count() as u64;
        both += shared;
        only_a += known(&a.marks) - shared;
        only_b += known(&b.marks) - shared;
    }
    PairAgreement {
        a: a.name.clone(),
        b: b.name.clone(),
        spans,
        cohen_kappa: cohen_kappa(both, only_a, only_b, spans - both - only_a - only_b),
        same_first: Rate::new(same, runs),
    }
}

fn levels(cases: &CaseSet, predictions: &[Prediction], both_empty: BothEmpty) -> Vec<AgreementLevel> {
    #[derive(Clone, Copy, Default)]
    struct Count {
        runs: u64,
        right: u64,
        marked: u64,
        gold: u64,
    }
    let mut counts = vec![Count::default(); predictions.len() + 1];
    for (number, case) in cases.cases().iter().enumerate() {
        let answers = answered(predictions, number);
        if let Some((first, votes)) = plurality(case, &answers) {
            let marks: Vec<Mark> = first.into_iter().collect();
            let right = Outcome::of_marks(case, Some(&marks), both_empty).first_right;
            for count in counts.iter_mut().take(votes + 1) {
                count.runs += 1;
                count.right += u64::from(right);
            }
        }
        for (votes, mark) in span_votes(case, &answers).into_iter().zip(0..) {
            let gold = case.gold.contains(&mark);
            for count in counts.iter_mut().take(votes as usize + 1) {
                count.marked += 1;
                count.gold += u64::from(gold);
            }
        }
    }
    let all = cases.cases().len() as u64;
    let level = |(at_least, count): (usize, &Count)| AgreementLevel {
        at_least,
        coverage: Rate::new(count.runs, all),
        first_right: Rate::new(count.right, count.runs),
        marked_spans_right: Rate::new(count.gold, count.marked),
    };
    counts.iter().enumerate().skip(1).rev().map(level).collect()
}

/// The first span that most judges name (none being an answer too) and how many do; the earliest
/// judge's among several.
fn plurality(case: &Case, answers: &[&Answer]) -> Option<(Option<Mark>, usize)> {
    let firsts: Vec<Option<Mark>> = answers.iter().map(|answer| case.first(&answer.marks)).collect();
    let mut best: Option<(Option<Mark>, usize)> = None;
    for first in &firsts {
        let votes = firsts.iter().filter(|other| *other == first).count();
        if best.is_none_or(|(_, most)| votes > most) {
            best = Some((*first, votes));
        }
    }
    best
}

#[cfg(test)]
#[path = "agreement/tests.rs"]
mod tests;
