//! Numbers, dates and names of a statement against what was shown before it.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::shown::{self, Sentence};
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{self, BySentence, Shape, Token};
use crate::offline::units;
use crate::offline::values::{self, Date, Found, Unit, Value};

/// A sentence of tool output that speaks of what the statement speaks of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) sentence: usize,
    /// Weight of the shared words.
    pub(super) score: f64,
    /// Shared words in the sentence itself.
    pub(super) shared: usize,
}

/// Sentences that share words with the statement, and the weight of all its words together.
/// Words near `focus` (a byte offset) count double.
pub(super) fn candidates(case: &Case<'_>, statement: &Statement, focus: Option<usize>) -> (Vec<Candidate>, f64) {
    let mut scores: BySentence<(f64, usize)> = BySentence::default();
    let mut total = 0.0;
    let mut stems: Vec<(u64, f64)> = Vec::new();
    for token in statement.content() {
        let near = focus.is_some_and(|focus| token.start.abs_diff(focus) <= NEAR);
        let weight = case.shown.weight(token.stem) * if near { 2.0 } else { 1.0 };
        match stems.iter_mut().find(|(stem, _)| *stem == token.stem) {
            Some((_, old)) => *old = old.max(weight),
            None => stems.push((token.stem, weight)),
        }
    }
    for (stem, weight) in &stems {
        total += weight;
        for place in case.shown.with_stem(*stem, statement.seen) {
            let entry = scores.entry(*place).or_default();
            entry.0 += weight;
            entry.1 += 1;
        }
    }
    let mut out: Vec<Candidate> = scores
        .into_iter()
        .map(|(sentence, (score, shared))| {
            let sentence = sentence as usize;
            let title = case.shown.title_of(sentence);
            let own = case
                .shown
                .sentences
                .get(sentence)
                .map_or(&[][..], |found| found.stems.as_slice());
            let bonus: f64 = stems
                .iter()
                .filter(|(stem, _)| title.contains(stem) && !own.contains(stem))
                .map(|(_, weight)| weight * 0.5)
                .sum();
            Candidate {
                sentence,
                score: score + bonus,
                shared,
            }
        })
        .collect();
    out.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.sentence.cmp(&b.sentence)));
    (out, total)
}

/// Bytes around a value within which a word is about it.
const NEAR: usize = 40;

/// True when the value can be looked up at all: not a small count, not an order.
fn checkable(found: &Found) -> bool {
    match found.value {
        Value::Date(_) | Value::Year(_) => true,
        Value::Number(number, Unit::Ordinal) => number > 2.0,
        Value::Number(number, Unit::Percent) => number != 0.0 && number != 100.0,
        Value::Number(number, Unit::Of(_)) => number > 1.0,
        Value::Number(number, Unit::None) => !found.spelled && (number > 12.0 || number.fract() != 0.0),
    }
}

fn same(case: &Case<'_>, found: &Found, statement: &Statement) -> Vec<u32> {
    let exact = case.shown.with_value(found.value, statement.seen);
    if !exact.is_empty() {
        return exact.to_vec();
    }
    if let Some(other) = values::other_reading(case.slice(statement.span, found.start, found.end)) {
        return case
            .shown
            .with_value(Value::Number(other, Unit::None), statement.seen)
            .to_vec();
    }
    let Value::Date(date) = found.value else {
        return Vec::new();
    };
    // `6/4` may be the other way round, and a shown date may leave out its year.
    let turned = Date {
        day: date.month,
        month: date.day,
        ..date
    };
    if date.day != 0 && date.day <= 12 {
        let turned = case.shown.with_value(Value::Date(turned), statement.seen);
        if !turned.is_empty()
            && case
                .slice(statement.span, found.start, found.end)
                .contains(['/', '.', '-'])
        {
            return turned.to_vec();
        }
    }
    let yearless = Value::Date(Date { year: 0, ..date });
    case.shown
        .with_value(yearless, statement.seen)
        .iter()
        .copied()
        .filter(|place| {
            case.shown.sentences.get(*place as usize).is_some_and(|sentence| {
                sentence.values.iter().any(|shown| match shown.value {
                    Value::Date(shown) => shown.month == date.month && shown.day == date.day && shown.year == 0,
                    _ => false,
                })
            })
        })
        .collect()
}

/// True when a shown number is this one in another unit, or this one before rounding.
fn derived(case: &Case<'_>, found: &Found, statement: &Statement, near: &[Candidate]) -> bool {
    let Value::Number(number, unit) = found.value else {
        return false;
    };
    let rounded = statement.cues.has(Cue::Rounded);
    near.iter()
        .take(200)
        .filter_map(|candidate| case.shown.sentences.get(candidate.sentence))
        .any(|sentence| {
            sentence.values.iter().any(|shown| {
                let Value::Number(exact, shown_unit) = shown.value else {
                    return false;
                };
                units::converts(number, unit, exact, shown_unit)
                    || (rounded && (values::rounds_to(number, exact) || values::close(number, exact, 0.05)))
                    || (exact.fract() != 0.0 && values::rounds_to(number, exact) && number > 1.0)
            })
        })
}

/// True when the number is worked out from numbers said in the same span or the one before; whether
/// rightly is the arithmetic check's business.
fn computed(case: &Case<'_>, index: usize, found: &Found) -> bool {
    let Some(statement) = case.statements.get(index) else {
        return false;
    };
    let Some(number) = values::as_number(found.value) else {
        return false;
    };
    let operands: Vec<f64> = case
        .statements
        .get(index.saturating_sub(4)..=index)
        .unwrap_or_default()
        .iter()
        .filter(|other| other.span == statement.span)
        .flat_map(|other| other.values.iter())
        .filter_map(|value| match value.value {
            Value::Date(date) if date.year != 0 => Some(f64::from(date.year)),
            other => values::as_number(other),
        })
        .filter(|operand| *operand != number)
        .take(12)
        .collect();
    // A sum or difference said to be one, right or wrong, is for the arithmetic check.
    let arithmetic = statement.cues.has(Cue::Sum) || statement.cues.has(Cue::Difference);
    if arithmetic && operands.len() >= 2 {
        return true;
    }
    operands.iter().enumerate().any(|(at, a)| {
        operands.iter().skip(at + 1).any(|b| {
            let results = [
                a + b,
                (a - b).abs(),
                a * b,
                if *b == 0.0 { f64::NAN } else { a / b },
                (a + b) / 2.0,
            ];
            results.iter().any(|result| (result - number).abs() < 1e-9)
        })
    })
}

/// A shown value of the same kind that could have stood in this one's place.
fn rival(sentence: &Sentence, found: &Found, statement: &Statement) -> Option<Found> {
    sentence
        .values
        .iter()
        .find(|shown| {
            let kind = match (found.value, shown.value) {
                (Value::Year(a), Value::Year(b)) => a != b,
                (Value::Year(a), Value::Date(b)) => b.year != 0 && a != b.year,
                (Value::Date(a), Value::Date(b)) => !a.agrees(b) && !b.agrees(a),
                (Value::Number(a, Unit::Of(u)), Value::Number(b, Unit::Of(v))) => a != b && u == v,
                (Value::Number(a, Unit::Percent), Value::Number(b, Unit::Percent))
                | (Value::Number(a, Unit::Ordinal), Value::Number(b, Unit::Ordinal)) => a != b,
                (Value::Number(a, Unit::Of(_) | Unit::None), Value::Number(b, Unit::None)) => {
                    a != b && comparable(a, b)
                }
                (Value::Number(a, Unit::None), Value::Number(b, Unit::Of(_))) => a != b && comparable(a, b),
                _ => false,
            };
            kind && !statement.values.iter().any(|own| equal(own.value, shown.value))
        })
        .copied()
}

/// Numbers of the same order of magnitude may be readings of one thing.
fn comparable(a: f64, b: f64) -> bool {
    a > 0.0 && b > 0.0 && a / b < 30.0 && b / a < 30.0
}

fn equal(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Date(a), Value::Date(b)) => a.agrees(b) || b.agrees(a),
        (Value::Year(a), Value::Date(b)) | (Value::Date(b), Value::Year(a)) => a == b.year,
        _ => values::as_number(a) == values::as_number(b),
    }
}

/// Every settled statement's values.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    for (index, statement) in case.statements.iter().enumerate() {
        if statement.standing != Standing::Settled || statement.seen == 0 || statement.cues.has(Cue::GiveUp) {
            continue;
        }
        let defect = statement
            .values
            .iter()
            .filter(|found| checkable(found) && !case.given.has(found.value) && !quoted_away(case, statement, found))
            .filter(|found| !labels_a_thing(case, statement, found))
            .find_map(|found| value(case, index, statement, found))
            .or_else(|| names(case, index, statement));
        out.extend(defect);
    }
}

/// Words before a number that make it the name of a thing, not a quantity of something.
const LABELS: [&str; 15] = [
    "number", "numbers", "no", "nr", "page", "chapter", "issue", "volume", "vol", "figure", "table", "section", "step",
    "item", "line",
];

/// `number 23 of the newsletter`: a name that was shown before says nothing that another number could contradict.
fn labels_a_thing(case: &Case<'_>, statement: &Statement, found: &Found) -> bool {
    let before = case.slice(statement.span, statement.start, found.start);
    let word = before.split_whitespace().next_back().unwrap_or("");
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    LABELS.contains(&word.as_str()) && !same(case, found, statement).is_empty()
}

/// A value inside quotation marks beside a negation is mentioned, not claimed.
fn quoted_away(case: &Case<'_>, statement: &Statement, found: &Found) -> bool {
    let before = case.slice(statement.span, statement.start, found.start);
    let quoted = before.matches(['"', '\u{201c}', '\u{201d}']).count() % 2 == 1;
    quoted && statement.cues.has(Cue::Negation)
}

fn value(case: &Case<'_>, index: usize, statement: &Statement, found: &Found) -> Option<Defect> {
    let (near, total) = candidates(case, statement, Some(found.start));
    if is_count(found) {
        return miscounted(case, index, statement, found, &near, total);
    }
    let places = same(case, found, statement);
    let best_same = near
        .iter()
        .filter(|candidate| places.iter().any(|place| *place as usize == candidate.sentence))
        .map(|candidate| candidate.score)
        .fold(0.0, f64::max);
    let other = near.iter().take(60).find_map(|candidate| {
        let sentence = case.shown.sentences.get(candidate.sentence)?;
        if places.contains(&u32::try_from(candidate.sentence).ok()?) {
            return None;
        }
        let rival = rival(sentence, found, statement)?;
        Some((*candidate, rival))
    });
    if places.is_empty() {
        if derived(case, found, statement, &near) || computed(case, index, found) {
            return None;
        }
        if let Some((candidate, rival)) = other
            && candidate.shared >= 2
            && (candidate.score >= 0.45 * total || statement.cites() || half_date(found, &rival))
            && (candidate.shared >= 3 || !bare(found))
        {
            return Some(contradicted(case, index, statement, found, candidate, &rival));
        }
        return statement
            .cites()
            .then(|| absent(case, index, statement, found.start, found.end, trail_of(found)));
    }
    let (candidate, rival) = other?;
    let strong = !statement.cues.has(Cue::Difference)
        && candidate.shared >= 3
        && candidate.score >= 0.6 * total
        && candidate.score >= 2.5 * best_same;
    strong.then(|| contradicted(case, index, statement, found, candidate, &rival))
}

/// A small number of things: `four members`.
fn is_count(found: &Found) -> bool {
    match found.value {
        Value::Number(number, Unit::Of(_)) => number.fract() == 0.0 && number <= 12.0,
        Value::Number(_, Unit::Ordinal) => true,
        _ => false,
    }
}

/// Another number of the same things in the passage that says the rest, and this number nowhere on the
/// subject. Small numbers stand everywhere, so their mere absence shows nothing.
fn miscounted(
    case: &Case<'_>,
    index: usize,
    statement: &Statement,
    found: &Found,
    near: &[Candidate],
    total: f64,
) -> Option<Defect> {
    let read = |candidate: &Candidate| {
        let sentence = case.shown.sentences.get(candidate.sentence)?;
        let text = case.run.spans().get(sentence.span)?.text.as_str();
        let mut tokens = Vec::new();
        text::tokens(text, sentence.start, sentence.end, true, &mut tokens);
        Some(values::values(text, &tokens, true))
    };
    let Value::Number(number, unit) = found.value else {
        return None;
    };
    let readings: Vec<(Candidate, Vec<Found>)> = near
        .iter()
        .take(12)
        .filter(|candidate| candidate.shared >= 3)
        .filter_map(|candidate| Some((*candidate, read(candidate)?)))
        .collect();
    let of_kind = |value: &Found| matches!(value.value, Value::Number(_, other) if other == unit);
    let same = readings
        .iter()
        .flat_map(|(_, values)| values)
        .any(|value| values::as_number(value.value) == Some(number));
    let (candidate, rival) = readings.iter().find_map(|(candidate, values)| {
        let rival = values
            .iter()
            .find(|value| of_kind(value) && !statement.values.iter().any(|own| equal(own.value, value.value)))?;
        (candidate.score >= 0.5 * total).then_some((*candidate, *rival))
    })?;
    let computed = computed(case, index, found) || statement.cues.has(Cue::Rounded);
    (!same && !computed).then(|| contradicted(case, index, statement, found, candidate, &rival))
}

/// A number that nothing is said about.
fn bare(found: &Found) -> bool {
    matches!(found.value, Value::Number(_, Unit::None))
}

/// Day and month agree and the year does not, or the other way round.
fn half_date(found: &Found, rival: &Found) -> bool {
    match (found.value, rival.value) {
        (Value::Date(a), Value::Date(b)) => a.month == b.month && (a.day == b.day || a.year == b.year),
        _ => false,
    }
}

pub(super) fn trail_of(found: &Found) -> Trail {
    let mut trail = Trail::default();
    match found.value {
        Value::Date(date) => {
            trail.dates.push(date);
            if date.year != 0 {
                trail.numbers.push(shown::bits(f64::from(date.year)));
            }
        }
        other => trail.numbers.extend(values::as_number(other).map(shown::bits)),
    }
    trail
}

fn contradicted(
    case: &Case<'_>,
    index: usize,
    statement: &Statement,
    found: &Found,
    candidate: Candidate,
    rival: &Found,
) -> Defect {
    let mut trail = trail_of(found);
    trail.numbers.retain(|number| !case.given.has_number(*number));
    // A year that the shown date shares is no mark of the wrong one.
    if let (Value::Date(wrong), Value::Date(right)) = (found.value, rival.value)
        && wrong.year == right.year
    {
        trail.numbers.clear();
    }
    trail.instead = trail_of(rival).numbers;
    let against = case.shown.sentences.get(candidate.sentence);
    let shown = against.map_or("", |sentence| case.slice(sentence.span, rival.start, rival.end));
    let said = case.slice(statement.span, found.start, found.end);
    Defect {
        check: Check::Contradicted,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: found.start,
        against: against.map(|sentence| Place {
            span: sentence.span,
            start: sentence.start,
            end: sentence.end,
        }),
        support: SupportStatus::Conflicting,
        why: format!(
            "says {said} where the run shows {shown} beside {} of the same words",
            candidate.shared
        ),
        counted: candidate.shared,
        trail,
    }
}

fn absent(case: &Case<'_>, index: usize, statement: &Statement, start: usize, end: usize, trail: Trail) -> Defect {
    let said = case.slice(statement.span, start, end);
    let outputs = case.shown.events.get(..statement.events).map_or(0, <[_]>::len);
    Defect {
        check: Check::Absent,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: start,
        against: None,
        support: SupportStatus::Missing,
        why: format!("says that a source has \"{said}\", which stands in none of the {outputs} tool outputs before it"),
        counted: 1 + outputs.min(3),
        trail,
    }
}

/// German writes every noun with a capital, so a capital is no mark of a name there.
fn nouns_are_capital(case: &Case<'_>, statement: &Statement) -> bool {
    let german = [
        "der", "das", "dem", "den", "und", "ist", "hat", "laut", "nicht", "wurde", "eine", "im",
    ];
    statement.tokens.iter().any(|token| {
        german.contains(
            &case
                .slice(statement.span, token.start, token.end)
                .to_lowercase()
                .as_str(),
        )
    })
}

/// Names that a source is said to have and that stand nowhere.
fn names(case: &Case<'_>, index: usize, statement: &Statement) -> Option<Defect> {
    if !statement.cites() || statement.cues.has(Cue::Negation) || nouns_are_capital(case, statement) {
        return None;
    }
    let unknown: Vec<&Token> = statement
        .tokens
        .iter()
        .skip(1)
        .filter(|token| {
            token.shape == Shape::Capital
                && token.end - token.start >= 4
                && !lexicon::is_stop(token.stem)
                && !case.given.stems.contains(&token.stem)
                && !case.shown.has_stem(token.stem, statement.seen)
                && case.slice(statement.span, token.start, token.end).is_ascii()
        })
        .collect();
    let first = unknown.first()?;
    let trail = Trail {
        names: unknown.iter().map(|token| token.stem).collect(),
        ..Trail::default()
    };
    Some(absent(case, index, statement, first.start, first.end, trail))
}
