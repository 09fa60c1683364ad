//! The final answer against what the run showed and settled.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{self, Shape, Token};

/// An answer that was shown nowhere, or that is not what the agent had settled on.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    let Some(index) = case.answer() else { return };
    let Some(statement) = case.statements.get(index) else {
        return;
    };
    if !statement.answer || statement.cues.has(Cue::GiveUp) || statement.cues.has(Cue::Negation) {
        return;
    }
    let marks = marks(case, statement);
    if marks.is_empty() {
        return;
    }
    out.extend(differs(case, index, statement, &marks).or_else(|| nowhere(case, index, statement, &marks)));
}

/// Names and numbers of the answer that the task does not have.
fn marks<'st>(case: &Case<'_>, statement: &'st Statement) -> Vec<&'st Token> {
    statement
        .tokens
        .iter()
        .filter(|token| token.shape != Shape::Plain && !lexicon::is_stop(token.stem))
        .filter(|token| token.end - token.start >= 3 && !case.given.stems.contains(&token.stem))
        .filter(|token| case.slice(statement.span, token.start, token.end).is_ascii())
        .collect()
}

fn place(statement: &Statement) -> Place {
    Place {
        span: statement.span,
        start: statement.start,
        end: statement.end,
    }
}

/// A name of two words or more, or all the names and numbers there are, that stand in no tool output.
fn nowhere(case: &Case<'_>, index: usize, statement: &Statement, marks: &[&Token]) -> Option<Defect> {
    let unknown = |token: &Token| !case.shown.has_stem(token.stem, statement.seen);
    let run: Vec<&Token> = marks
        .chunk_by(|left, right| case.slice(statement.span, left.end, right.start) == " ")
        .find(|run| run.len() >= 2 && run.iter().all(|token| unknown(token) && token.shape == Shape::Capital))
        .map_or_else(Vec::new, <[&Token]>::to_vec);
    let all = marks.len() >= 2
        && marks.iter().all(|token| unknown(token))
        && marks.iter().any(|token| token.shape == Shape::Capital);
    let missing = if all { marks.to_vec() } else { run };
    // `Severe Acute Respiratory Syndrome` is shown where `SARS` is.
    let initials: String = missing
        .iter()
        .filter_map(|token| case.slice(statement.span, token.start, token.end).chars().next())
        .collect();
    let acronym = statement
        .initials(case.run)
        .into_iter()
        .chain([text::stem(&initials)])
        .any(|stem| case.shown.has_stem(stem, statement.seen));
    if statement.seen == 0 || acronym || missing.is_empty() {
        return None;
    }
    Some(Defect {
        check: Check::Absent,
        statement: index,
        place: place(statement),
        focus: missing.first().map_or(statement.start, |token| token.start),
        against: None,
        support: SupportStatus::Missing,
        why: format!(
            "{} names of the answer stand in none of the {} tool outputs",
            missing.len(),
            statement.events
        ),
        counted: missing.len(),
        trail: Trail {
            names: missing.iter().map(|token| token.stem).collect(),
            ..Trail::default()
        },
    })
}

/// The last answer that was called the answer since the last call, in other names and without a word
/// of doubt between.
fn differs(case: &Case<'_>, index: usize, statement: &Statement, marks: &[&Token]) -> Option<Defect> {
    let before = case.statements.get(..index)?;
    let (at, settled) = before.iter().enumerate().rev().find(|(_, other)| {
        other.standing == Standing::Settled
            && other.cues.has(Cue::Answer)
            && other.events == statement.events
            && !other.cues.has(Cue::Negation)
    })?;
    let names: Vec<u64> = settled
        .tokens
        .iter()
        .skip(1)
        .filter(|token| {
            token.shape != Shape::Plain && !lexicon::is_stop(token.stem) && !case.given.stems.contains(&token.stem)
        })
        .map(|token| token.stem)
        .collect();
    let shared = settled
        .tokens
        .iter()
        .any(|token| marks.iter().any(|mark| mark.stem == token.stem));
    let doubt = before.get(at + 1..).unwrap_or_default().iter().any(|other| {
        other.standing != Standing::Settled
            || marks
                .iter()
                .any(|mark| other.tokens.iter().any(|token| token.stem == mark.stem))
    });
    if names.is_empty() || shared || doubt {
        return None;
    }
    Some(Defect {
        check: Check::AnswerDiffers,
        statement: index,
        place: place(statement),
        focus: statement.start,
        against: Some(place(settled)),
        support: SupportStatus::Conflicting,
        why: "is not the answer that was settled on, and nothing between says why".to_owned(),
        counted: 2,
        trail: Trail {
            names: marks.iter().map(|token| token.stem).collect(),
            ..Trail::default()
        },
    })
}
