//! Following a defect through the run: who repeats it, who builds on it, and whether it was taken back.

use super::case::Case;
use super::checks::{Check, Defect, Place};
use super::lexicon::Cue;
use super::shown::{self, Outcome};
use super::statements::{Standing, Statement};
use super::text::Shape;
use super::values::{self, Value};

/// Where a defect went.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Later places that repeat or use it, the first of each span.
    pub(super) uses: Vec<Place>,
    /// The earliest place that has the defective value, settled or not.
    pub(super) introduced: Option<usize>,
    /// It reached the final answer.
    pub(super) finalized: bool,
    /// The agent took it back: no harm was done.
    pub(super) repaired: bool,
}

/// Follows one defect.
pub(super) fn follow(case: &Case<'_>, defect: &Defect) -> Chain {
    let mut chain = Chain::default();
    let later = case.statements.iter().enumerate().skip(defect.statement + 1);
    let answer = case.answer();
    let mut concluded = false;
    for (index, statement) in later {
        match repairs(case, defect, statement) {
            Repair::InWords => {
                return Chain {
                    repaired: true,
                    ..Chain::default()
                };
            }
            Repair::ByValue => {
                chain.repaired = true;
                chain.uses.clear();
                continue;
            }
            Repair::None => {}
        }
        if defect.trail.all && brought_since(case, defect, statement) {
            break;
        }
        let repeats = defect.trail.all || repeats(case, defect, statement);
        let uses = repeats && !matches!(statement.standing, Standing::Rejected | Standing::Task);
        if uses {
            chain.repaired = false;
        }
        concluded |= uses
            && (statement.cues.has(Cue::Conclude) || statement.cues.has(Cue::Answer))
            && leads_to(case, statement, answer);
        let finalizes = answer == Some(index) && (uses || concluded || defect.check == Check::Constraint);
        chain.finalized |= finalizes;
        let new =
            statement.span != defect.place.span && chain.uses.last().is_none_or(|last| last.span != statement.span);
        if (uses || finalizes) && new {
            chain.uses.push(Place {
                span: statement.span,
                start: statement.start,
                end: statement.end,
            });
        }
    }
    chain.finalized |= answer.is_some_and(|answer| answer == defect.statement);
    chain.introduced = case
        .statements
        .get(..defect.statement)
        .unwrap_or_default()
        .iter()
        .find(|statement| {
            !defect.trail.all && statement.standing == Standing::Open && repeats_value(case, defect, statement)
        })
        .map(|statement| statement.span);
    chain
}

/// A call has brought something between the defect and this statement.
fn brought_since(case: &Case<'_>, defect: &Defect, statement: &Statement) -> bool {
    let before = case.statements.get(defect.statement).map_or(0, |own| own.events);
    defect.check == Check::FailedCall
        && case
            .shown
            .events
            .get(before..statement.events)
            .is_some_and(|events| events.iter().any(|event| event.outcome == Outcome::Brought))
}

/// How a statement takes a defect back.
enum Repair {
    None,
    /// In so many words.
    InWords,
    /// By stating what the run shows instead.
    ByValue,
}

fn repairs(case: &Case<'_>, defect: &Defect, statement: &Statement) -> Repair {
    let corrects = statement.cues.has(Cue::Correction) && statement.standing == Standing::Rejected;
    let instead = !defect.trail.instead.is_empty() && has_number(case, statement, &defect.trail.instead);
    if corrects {
        // A correction of something else leaves the defect standing.
        let own = case.statements.get(defect.statement);
        let near = own.is_some_and(|own| {
            let shares = statement
                .content()
                .any(|token| own.content().any(|said| said.stem == token.stem));
            shares || instead || statement.events == own.events
        });
        let about_world = defect.check != Check::Constraint && defect.check != Check::GaveUp;
        return if near && about_world {
            Repair::InWords
        } else {
            Repair::None
        };
    }
    if instead && !repeats_value(case, defect, statement) && statement.standing == Standing::Settled {
        return Repair::ByValue;
    }
    Repair::None
}

fn has_number(case: &Case<'_>, statement: &Statement, numbers: &[u64]) -> bool {
    let literal = statement
        .tokens
        .iter()
        .filter(|token| token.shape == Shape::Number)
        .filter_map(|token| values::literal(case.slice(statement.span, token.start, token.end)))
        .any(|number| numbers.contains(&shown::bits(number)));
    literal
        || statement
            .values
            .iter()
            .filter_map(|found| values::as_number(found.value))
            .any(|number| numbers.contains(&shown::bits(number)))
}

fn repeats_value(case: &Case<'_>, defect: &Defect, statement: &Statement) -> bool {
    let dates = statement.values.iter().any(|found| match found.value {
        Value::Date(date) => defect
            .trail
            .dates
            .iter()
            .any(|wrong| date.agrees(*wrong) || wrong.agrees(date)),
        _ => false,
    });
    dates
        || has_number(case, statement, &defect.trail.numbers)
        || statement
            .tokens
            .iter()
            .any(|token| defect.trail.names.contains(&token.stem))
        || spelled_again(case, defect, statement)
}

/// The number written out, or in digits where it was written out.
fn spelled_again(case: &Case<'_>, defect: &Defect, statement: &Statement) -> bool {
    let Some(text) = case.run.spans().get(statement.span).map(|span| span.text.as_str()) else {
        return false;
    };
    !defect.trail.numbers.is_empty()
        && defect.check == Check::Arithmetic
        && values::values(text, &statement.tokens, true)
            .iter()
            .filter_map(|found| values::as_number(found.value))
            .any(|number| defect.trail.numbers.contains(&shown::bits(number)))
}

fn repeats(case: &Case<'_>, defect: &Defect, statement: &Statement) -> bool {
    if repeats_value(case, defect, statement) {
        return true;
    }
    let shared = statement
        .content()
        .filter(|token| defect.trail.words.contains(&token.stem))
        .count();
    shared >= 2 || (shared == 1 && (statement.cues.has(Cue::Conclude) || statement.cues.has(Cue::Answer)))
}

/// The statement names what the answer then gives, or the answer names nothing (yes, no).
fn leads_to(case: &Case<'_>, statement: &Statement, answer: Option<usize>) -> bool {
    let Some(answer) = answer.and_then(|index| case.statements.get(index)) else {
        return false;
    };
    let mut words = answer.content().peekable();
    if words
        .peek()
        .is_none_or(|_| answer.tokens.len() == 1 && !answer.tokens.iter().any(|token| token.shape == Shape::Number))
    {
        let named = statement
            .tokens
            .iter()
            .any(|token| answer.tokens.iter().any(|own| own.stem == token.stem));
        return named || answer.tokens.first().is_some_and(|token| token.end - token.start <= 3);
    }
    words.any(|word| statement.tokens.iter().any(|token| token.stem == word.stem))
}
