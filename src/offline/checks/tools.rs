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
    let answer = case.answer();
    let mut noticed = None;
    let mut flagged = None;
    for (index, statement) in case.statements.iter().enumerate() {
        let Some(last) = statement
            .events
            .checked_sub(1)
            .and_then(|last| case.shown.events.get(last))
        else {
            continue;
        };
        // Evidence grows exactly when a call brings something, so its size names the stretch.
        let stretch = Some(statement.seen);
        if last.outcome == Outcome::Brought || flagged == stretch {
            continue;
        }
        if statement.cues.has(Cue::Noticed) || statement.cues.has(Cue::GiveUp) {
            noticed = stretch;
        }
        if noticed == stretch || statement.standing != Standing::Settled {
            continue;
        }
        let nothing_yet = statement.seen == 0;
        let reports = reports(case, statement);
        let speaks = if nothing_yet {
            reports || answer == Some(index)
        } else {
            reports && new_words(case, statement)
        };
        if speaks {
            flagged = stretch;
            out.push(finding(case, index, statement, last, nothing_yet));
        }
    }
}

/// Some clause of it says that a source has something: `the page lists both, the other does not`.
fn reports(case: &Case<'_>, statement: &Statement) -> bool {
    let text = statement.text(case.run).to_lowercase();
    let source = statement.cues.has(Cue::Cite) || statement.cues.has(Cue::Deictic);
    source
        && text.split([',', ';', ':']).any(|clause| {
            let cues = lexicon::cues(clause);
            let affirms = cues.has(Cue::Asserts) || cues.has(Cue::Deictic) || cues.has(Cue::Conclude);
            affirms && (cues.has(Cue::Cite) || cues.has(Cue::Deictic)) && !cues.has(Cue::Negation)
        })
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
