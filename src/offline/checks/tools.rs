//! Calls that failed or came back empty, and a run that goes on as if they had worked.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::shown::{Event, Outcome};
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::Shape;

/// One finding for each stretch of failed calls.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    let mut noticed = 0;
    let mut flagged = 0;
    for (index, statement) in case.statements.iter().enumerate() {
        let events = case.shown.events.get(..statement.events).unwrap_or_default();
        let Some(last) = events.last() else { continue };
        if last.outcome == Outcome::Brought || flagged == stretch(events) {
            continue;
        }
        if statement.cues.has(Cue::Noticed) || statement.cues.has(Cue::GiveUp) {
            noticed = stretch(events);
        }
        if noticed == stretch(events) || statement.standing != Standing::Settled || unfinished(statement) {
            continue;
        }
        let nothing_yet = statement.seen == 0;
        let speaks = if nothing_yet {
            statement.cues.has(Cue::Cite) || statement.cues.has(Cue::Deictic) || answers(case, index)
        } else {
            statement.cues.has(Cue::Deictic) && new_words(case, statement)
        };
        if speaks {
            flagged = stretch(events);
            out.push(finding(case, index, statement, last, nothing_yet));
        }
    }
}

/// Number of the run of failed calls that `events` ends in: one more than the calls that brought
/// something.
fn stretch(events: &[Event]) -> usize {
    1 + events.iter().filter(|event| event.outcome == Outcome::Brought).count()
}

/// Says that something was *not* found: that is what a failed call shows.
fn unfinished(statement: &Statement) -> bool {
    statement.cues.has(Cue::Negation) && statement.cues.has(Cue::Finding) && !statement.answer
}

fn answers(case: &Case<'_>, index: usize) -> bool {
    case.answer() == Some(index)
}

/// Names or numbers that nothing shown or given has.
fn new_words(case: &Case<'_>, statement: &Statement) -> bool {
    statement.tokens.iter().skip(1).any(|token| {
        let mark = token.shape != Shape::Plain;
        mark && !lexicon::is_stop(token.stem)
            && !case.given.stems.contains(&token.stem)
            && !case.shown.has_stem(token.stem, statement.seen)
    })
}

fn finding(case: &Case<'_>, index: usize, statement: &Statement, last: &Event, nothing_yet: bool) -> Defect {
    let output = case.slice(last.span, last.start, last.end);
    let ended = if last.outcome == Outcome::Failed {
        "failed"
    } else {
        "came back empty"
    };
    let before = if nothing_yet {
        "; no call before it brought anything"
    } else {
        ""
    };
    let (start, end) = core(output);
    Defect {
        check: Check::FailedCall,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: statement.start,
        against: (end > start).then_some(Place {
            span: last.span,
            start: last.start + start,
            end: last.start + end,
        }),
        support: SupportStatus::Conflicting,
        why: format!("speaks of a result although the call {ended}{before}"),
        counted: if nothing_yet { 4 } else { 2 },
        trail: Trail {
            all: true,
            ..Trail::default()
        },
    }
}

/// The last line of an output with something in it, at most 160 characters of it.
fn core(output: &str) -> (usize, usize) {
    let trimmed = output.trim_end();
    let line = trimmed.rfind('\n').map_or(0, |newline| newline + 1);
    let last = trimmed.get(line..).unwrap_or("");
    let start = line + last.len() - last.trim_start().len();
    let end = last
        .trim_start()
        .char_indices()
        .nth(160)
        .map_or(trimmed.len(), |(at, _)| start + at);
    (start, end)
}
