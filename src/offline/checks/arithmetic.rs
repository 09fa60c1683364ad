//! Sums, differences and spans of time that do not come out.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::Cue;
use crate::offline::shown;
use crate::offline::statements::{Standing, Statement};
use crate::offline::units;
use crate::offline::values::{self, Date, Found, Unit, Value};

/// Statements before the one that names the result, in the same span, in which its operands may stand.
const BACK: usize = 2;

/// A result that was worked out, what it was worked out from, and what comes out.
struct Sum {
    result: Found,
    right: String,
    right_numbers: Vec<f64>,
    operands: usize,
}

/// Every settled statement that names a result.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    for (index, statement) in case.statements.iter().enumerate() {
        if statement.standing != Standing::Settled || statement.values.is_empty() {
            continue;
        }
        let wrong = equation(case, statement)
            .or_else(|| bracketed_years(case, statement))
            .or_else(|| total(case, index, statement))
            .or_else(|| difference(case, index, statement));
        if let Some(sum) = wrong {
            out.push(finding(case, index, statement, &sum));
        }
    }
}

fn finding(case: &Case<'_>, index: usize, statement: &Statement, sum: &Sum) -> Defect {
    let said = case.slice(statement.span, sum.result.start, sum.result.end);
    let mut trail = Trail {
        numbers: values::as_number(sum.result.value)
            .map(shown::bits)
            .into_iter()
            .collect(),
        instead: sum.right_numbers.iter().copied().map(shown::bits).collect(),
        ..Trail::default()
    };
    // `nearly thirteen years` repeats `twelve years and ten months`.
    if let Value::Number(years, Unit::Of(unit)) = sum.result.value
        && units::is_year(unit)
    {
        trail.numbers.push(shown::bits(years + 1.0));
    }
    Defect {
        check: Check::Arithmetic,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: sum.result.start,
        against: None,
        support: SupportStatus::Conflicting,
        why: format!("says {said}, but {}", sum.right),
        counted: sum.operands + 2,
        trail,
    }
}

/// `a + b = c` and its kind, in signs or words.
fn equation(case: &Case<'_>, statement: &Statement) -> Option<Sum> {
    statement.values.windows(3).find_map(|three| {
        let [left, right, result] = three else { return None };
        let gap = |from: &Found, to: &Found| case.slice(statement.span, from.end, to.start).to_lowercase();
        let (first, second) = (gap(left, right), gap(right, result));
        let equals = [
            "=",
            " is ",
            " gives ",
            " makes ",
            " equals ",
            " comes to ",
            " come to ",
            " yields ",
            " ergibt ",
            " da ",
            " donne ",
            "等于",
        ];
        let says = equals.iter().any(|word| second.contains(word)) && second.chars().count() <= 24;
        if !says || first.chars().count() > 24 {
            return None;
        }
        let (a, b, c) = (number(left)?, number(right)?, number(result)?);
        let has = |words: &[&str]| words.iter().any(|word| first.contains(word));
        let (sign, comes) = if has(&["+", " plus "]) {
            ("+", a + b)
        } else if has(&[" minus ", "\u{2212}", " - "]) {
            ("-", a - b)
        } else if has(&["×", " times ", " * ", "*", " x "]) {
            ("×", a * b)
        } else if has(&["÷", " divided by ", " / "]) && b != 0.0 {
            ("÷", a / b)
        } else {
            return None;
        };
        let right = values::close(comes, c, 1e-9)
            || values::rounds_to(c, comes) && (comes.fract() != 0.0 || statement.cues.has(Cue::Rounded));
        // A longer sum than two terms is not read here.
        let longer = statement.values.iter().any(|other| {
            other.end <= left.start
                && case
                    .slice(statement.span, other.end, left.start)
                    .contains(['+', '-', '*', '/', '×'])
        });
        (!right && !longer).then(|| Sum {
            result: *result,
            right: format!("{a} {sign} {b} = {}", shown_number(comes)),
            right_numbers: vec![comes],
            operands: 2,
        })
    })
}

fn shown_number(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    format!("{rounded}")
}

fn number(found: &Found) -> Option<f64> {
    values::as_number(found.value)
}

/// `1974–1984 (10 years)`.
fn bracketed_years(case: &Case<'_>, statement: &Statement) -> Option<Sum> {
    statement.values.windows(3).find_map(|three| {
        let [from, to, length] = three else { return None };
        let (Value::Year(first), Value::Year(last)) = (from.value, to.value) else {
            return None;
        };
        let Value::Number(years, Unit::Of(unit)) = length.value else {
            return None;
        };
        let bracket = case.slice(statement.span, to.end, length.start).contains('(');
        if !units::is_year(unit) || !bracket || last < first {
            return None;
        }
        let span = f64::from(last - first);
        let right = (years - span).abs() <= 1.0 || statement.cues.has(Cue::Rounded);
        (!right).then(|| Sum {
            result: *length,
            right: format!("{first} to {last} is {span} years"),
            right_numbers: vec![span],
            operands: 2,
        })
    })
}

/// Values of the statement and of up to two before it in the same span.
fn around<'case>(case: &'case Case<'_>, index: usize, statement: &Statement) -> Vec<&'case Found> {
    case.statements
        .get(index.saturating_sub(BACK)..=index)
        .unwrap_or_default()
        .iter()
        .filter(|other| other.span == statement.span)
        .flat_map(|other| other.values.iter())
        .collect()
}

fn unit_of(found: &Found) -> Option<u64> {
    match found.value {
        Value::Number(_, Unit::Of(unit)) => Some(unit),
        _ => None,
    }
}

/// True when the tool output itself has the number with its unit, or beside two words of the statement:
/// then it was read, not worked out.
fn read_off(case: &Case<'_>, statement: &Statement, result: &Found) -> bool {
    let content: Vec<u64> = statement.content().map(|token| token.stem).collect();
    case.shown.with_value(result.value, statement.seen).iter().any(|place| {
        case.shown.sentences.get(*place as usize).is_some_and(|sentence| {
            let unit = sentence
                .values
                .iter()
                .any(|shown| shown.value == result.value && unit_of(shown).is_some());
            unit || content.iter().filter(|stem| sentence.stems.contains(stem)).count() >= 2
        })
    })
}

/// A total of what stands around it.
fn total(case: &Case<'_>, index: usize, statement: &Statement) -> Option<Sum> {
    if !statement.cues.has(Cue::Sum) {
        return None;
    }
    let result = statement.values.iter().rev().find(|found| unit_of(found).is_some())?;
    let unit = unit_of(result)?;
    let mut operands: Vec<f64> = Vec::new();
    for found in around(case, index, statement) {
        let own = found.start == result.start && found.end == result.end;
        if let (Some(value), true, false) = (number(found), unit_of(found) == Some(unit), own)
            && found.start < result.start
        {
            operands.push(value);
        }
    }
    operands.dedup();
    let said = number(result)?;
    if !(2..=6).contains(&operands.len()) || read_off(case, statement, result) {
        return None;
    }
    let all: f64 = operands.iter().sum();
    let matches = |value: f64| {
        values::close(value, said, 1e-9) || (statement.cues.has(Cue::Rounded) && values::close(value, said, 0.05))
    };
    let pairs = operands.iter().enumerate().any(|(at, a)| {
        operands
            .iter()
            .skip(at + 1)
            .any(|b| matches(a + b) || matches((a - b).abs()))
    });
    if matches(all) || pairs || operands.contains(&said) {
        return None;
    }
    let terms: Vec<String> = operands.iter().map(|value| shown_number(*value)).collect();
    Some(Sum {
        result: *result,
        right: format!("{} = {}", terms.join(" + "), shown_number(all)),
        right_numbers: vec![all],
        operands: operands.len(),
    })
}

/// Phrases that name a difference by themselves, as against comparatives that may be about anything.
const PLAIN_DIFFERENCE: &[&str] = &[
    "difference",
    "differ by",
    "between them",
    "apart",
    "gap",
    "subtract",
    "minus",
    "from the first",
    "age of",
    "aged",
    "elapsed",
    "years old",
    "lie between",
    "diferencia",
    "restando",
    "a la edad de",
    "differenz",
    "unterschied",
    "im alter von",
    "différence",
    "à l'âge de",
    "écart",
    "相差",
    "享年",
];

/// A difference of what stands around it: of numbers in one unit, or of two dates in years.
fn difference(case: &Case<'_>, index: usize, statement: &Statement) -> Option<Sum> {
    if !statement.cues.has(Cue::Difference) {
        return None;
    }
    let lower = statement.text(case.run).to_lowercase();
    let plain = PLAIN_DIFFERENCE.iter().any(|phrase| lower.contains(phrase));
    let around = around(case, index, statement);
    let aged = ["age of", "aged", "alter von", "edad de", "l'âge de", "享年"]
        .iter()
        .find_map(|phrase| lower.find(phrase));
    if let Some(at) = aged {
        let at = statement.start + at;
        let result = statement
            .values
            .iter()
            .find(|found| found.start > at && matches!(found.value, Value::Number(..)))?;
        return years_between(case, statement, &around, result);
    }
    let years = |found: &&Found| unit_of(found).is_some_and(units::is_year);
    let measured = |found: &&Found| unit_of(found).is_some();
    let in_years = statement.values.iter().find(years);
    let result = in_years.or_else(|| statement.values.iter().rev().find(measured))?;
    if in_years.is_some() {
        let dates = statement.values.iter().filter(|found| date(found).is_some()).count();
        if plain || dates == 2 {
            return years_between(case, statement, &around, result);
        }
        return None;
    }
    if !plain {
        return None;
    }
    let said = number(result)?;
    let operands: Vec<f64> = around
        .iter()
        .filter(|found| unit_of(found) == unit_of(result) && found.start < result.start)
        .filter_map(|found| number(found))
        .collect();
    let [a, b] = operands.as_slice() else { return None };
    let comes = (a - b).abs();
    let right =
        values::close(comes, said, 1e-9) || (statement.cues.has(Cue::Rounded) && values::close(comes, said, 0.05));
    (!right && !operands.contains(&said) && !read_off(case, statement, result)).then(|| Sum {
        result: *result,
        right: format!(
            "{} - {} = {}",
            shown_number(a.max(*b)),
            shown_number(a.min(*b)),
            shown_number(comes)
        ),
        right_numbers: vec![comes],
        operands: 2,
    })
}

fn date(found: &Found) -> Option<Date> {
    match found.value {
        Value::Date(date) if date.year != 0 => Some(date),
        Value::Year(year) => Some(Date { year, month: 0, day: 0 }),
        _ => None,
    }
}

/// True when some two dates around lie that many years apart, counted by years begun or completed.
fn years_between(case: &Case<'_>, statement: &Statement, around: &[&Found], result: &Found) -> Option<Sum> {
    let said = number(result)?;
    let dates: Vec<Date> = around.iter().filter_map(|found| date(found)).collect();
    let gaps: Vec<(Date, Date, i32)> = dates
        .iter()
        .enumerate()
        .flat_map(|(at, a)| dates.iter().skip(at + 1).map(move |b| (*a.min(b), *a.max(b))))
        .filter(|(a, b)| a.year != b.year)
        .map(|(a, b)| (a, b, b.year - a.year))
        .collect();
    let slack = if statement.cues.has(Cue::Rounded) { 1.5 } else { 0.0 };
    let fits = |gap: i32| {
        let gap = f64::from(gap);
        said >= gap - 1.0 - slack && said <= gap + slack
    };
    let exact = gaps.iter().any(|(_, _, gap)| fits(*gap));
    // Full dates give the widest gap worth naming; the first pair said is what the reader looks for.
    let (first, last, gap) = gaps
        .iter()
        .max_by_key(|(a, b, _)| (a.month != 0) as u8 + (b.month != 0) as u8)
        .copied()?;
    if exact || !matches!(result.value, Value::Number(..)) || read_off(case, statement, result) {
        return None;
    }
    let completed = if (last.month, last.day) < (first.month, first.day) {
        gap - 1
    } else {
        gap
    };
    Some(Sum {
        result: *result,
        right: format!("from {} to {} are {completed} years", first.year, last.year),
        right_numbers: vec![f64::from(completed), f64::from(gap)],
        operands: 2,
    })
}
