//! Values of a sentence in normal form: numbers with their units, dates, names, quoted strings.
//! `1,419` is 1419, `12 May 1931` is 1931-05-12, `3,5` is 3.5 where the digits after the comma
//! cannot be thousands.

use super::text::{Shape, Token};
use super::units;

/// A calendar date; 0 stands for a part that is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Date {
    pub(super) year: i32,
    pub(super) month: u8,
    pub(super) day: u8,
}

impl Date {
    /// True when every part that both dates say is the same, and they share the finest part of
    /// `self`.
    pub(super) fn agrees(self, shown: Self) -> bool {
        let same = |a: i32, b: i32| a == 0 || b == 0 || a == b;
        same(self.year, shown.year)
            && same(i32::from(self.month), i32::from(shown.month))
            && same(i32::from(self.day), i32::from(shown.day))
            && (self.day == 0 || shown.day != 0)
            && (self.month == 0 || shown.month != 0)
            && (self.month != 0 || shown.year != 0)
    }
}

/// What a number counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing said.
    None,
    /// A unit or a noun, by stem.
    Of(u64),
    /// `18th`: a place in an order.
    Ordinal,
    /// Per cent.
    Percent,
}

/// A value in normal form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// A date with at least a month; a lone year is `Year`.
    Date(Date),
    /// Four digits without separator or unit, from 1000 to 2100.
    Year(i32),
    /// A number.
    Number(f64, Unit),
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    /// First byte in the span's text.
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
    /// True for a number written as a word.
    pub(super) spelled: bool,
}

/// A number literal. `1,419` and `1.419.000` have thousands; `3,5` and `3.75` have decimals.
pub(super) fn literal(text: &str) -> Option<f64> {
    let groups = |mark: char| {
        let mut parts = text.split(mark);
        let head = parts
            .next()
            .is_some_and(|head| (1..=3).contains(&head.len()) && head != "0");
        head && parts.clone().count() > 0
            && parts.all(|part| part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let commas = text.matches(',').count();
    let dots = text.matches('.').count();
    let plain = match (commas, dots) {
        (0, 0 | 1) => text.to_owned(),
        (0, _) if groups('.') => text.replace('.', ""),
        (_, 0) if groups(',') => text.replace(',', ""),
        (1, 0) => text.replace(',', "."),
        // Both marks: the last one is the decimal mark.
        (_, 1) if text.rfind('.') > text.rfind(',') => text.replace(',', ""),
        (1, _) => text.replace('.', "").replace(',', "."),
        _ => return None,
    };
    plain.parse().ok()
}

/// The other reading of a literal such as `12.480`: with a point for thousands, as it is written in
/// much of Europe.
pub(super) fn other_reading(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.')?;
    let grouped = (1..=3).contains(&whole.len()) && !whole.starts_with('0') && part.len() == 3;
    (grouped && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        .then(|| text.replace('.', "").parse().ok())
        .flatten()
}

/// The values of a sentence. `spell` also reads numbers written as words.
pub(super) fn values(text: &str, tokens: &[Token], spell: bool) -> Vec<Found> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (found, used) = read(text, tokens, at, spell);
        out.extend(found);
        at += used.max(1);
    }
    out
}

fn word<'t>(text: &'t str, tokens: &[Token], at: usize) -> Option<(&'t str, Token)> {
    let token = *tokens.get(at)?;
    Some((text.get(token.start..token.end)?, token))
}

fn gap<'t>(text: &'t str, tokens: &[Token], at: usize) -> &'t str {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(left), Some(right)) => text.get(left.end..right.start).unwrap_or(""),
        _ => "",
    }
}

/// Reads at most one value at `at`; the number of tokens it took.
fn read(text: &str, tokens: &[Token], at: usize, spell: bool) -> (Option<Found>, usize) {
    let Some((first, token)) = word(text, tokens, at) else {
        return (None, 1);
    };
    if token.shape == Shape::Number {
        if let Some(done) = numeric_date(text, tokens, at).or_else(|| day_first(text, tokens, at)) {
            return done;
        }
        return number(text, tokens, at, first, token);
    }
    if token.shape == Shape::Capital || first.chars().next().is_some_and(char::is_lowercase) {
        if let Some(month) = units::month(token.stem)
            && let Some(done) = month_first(text, tokens, at, month, token)
        {
            return done;
        }
        if spell && units::spelled(token.stem).is_some() {
            return spelled_number(text, tokens, at);
        }
    }
    (None, 1)
}

fn small(text: &str, tokens: &[Token], at: usize, most: u8) -> Option<u8> {
    let (digits, token) = word(text, tokens, at)?;
    let fits = token.shape == Shape::Number && digits.len() <= 2;
    digits
        .parse::<u8>()
        .ok()
        .filter(|value| fits && (1..=most).contains(value))
}

fn year(text: &str, tokens: &[Token], at: usize) -> Option<i32> {
    let (digits, token) = word(text, tokens, at)?;
    let fits = token.shape == Shape::Number && digits.len() == 4;
    digits
        .parse::<i32>()
        .ok()
        .filter(|value| fits && (1000..=2100).contains(value))
}

fn found(value: Value, tokens: &[Token], at: usize, used: usize) -> (Option<Found>, usize) {
    let start = tokens.get(at).map_or(0, |token| token.start);
    let end = tokens.get(at + used - 1).map_or(start, |token| token.end);
    let spelled = false;
    (
        Some(Found {
            value,
            start,
            end,
            spelled,
        }),
        used,
    )
}

/// `1971-07-10`, `6/4/1926`, `2014年8月12日`.
fn numeric_date(text: &str, tokens: &[Token], at: usize) -> Option<(Option<Found>, usize)> {
    let (between, then) = (gap(text, tokens, at), gap(text, tokens, at + 1));
    if between == "年"
        && let (Some(year), Some(month)) = (year(text, tokens, at), small(text, tokens, at + 1, 12))
    {
        let day = if then == "月" {
            small(text, tokens, at + 2, 31)
        } else {
            None
        };
        let date = Date {
            year,
            month,
            day: day.unwrap_or(0),
        };
        return Some(found(Value::Date(date), tokens, at, if day.is_some() { 3 } else { 2 }));
    }
    if between != then || !matches!(between, "-" | "/" | ".") {
        return None;
    }
    if let (Some(year), Some(month), Some(day)) = (
        year(text, tokens, at),
        small(text, tokens, at + 1, 12),
        small(text, tokens, at + 2, 31),
    ) {
        return Some(found(Value::Date(Date { year, month, day }), tokens, at, 3));
    }
    let year = year(text, tokens, at + 2)?;
    let (a, b) = (small(text, tokens, at, 31)?, small(text, tokens, at + 1, 31)?);
    // Day first unless that cannot be; which of the two was meant is left open by `candidates`.
    let (day, month) = if b > 12 { (b, a) } else { (a, b) };
    Some(found(Value::Date(Date { year, month, day }), tokens, at, 3))
}

/// `13 August 1898`, `1st of May`.
fn day_first(text: &str, tokens: &[Token], at: usize) -> Option<(Option<Found>, usize)> {
    let day = small(text, tokens, at, 31)?;
    let mut next = at + 1;
    while let Some((filler, _)) = word(text, tokens, next)
        && matches!(filler, "st" | "nd" | "rd" | "th" | "of" | "de")
        && next < at + 3
    {
        next += 1;
    }
    let (_, token) = word(text, tokens, next)?;
    let month = (token.shape == Shape::Capital || next > at)
        .then(|| units::month(token.stem))
        .flatten()?;
    if word(text, tokens, next + 1).is_some_and(|(filler, _)| matches!(filler, "de" | "of"))
        && year(text, tokens, next + 2).is_some()
    {
        let year = year(text, tokens, next + 2)?;
        return Some(found(Value::Date(Date { year, month, day }), tokens, at, next + 3 - at));
    }
    let year = year(text, tokens, next + 1);
    let used = next + 1 - at + usize::from(year.is_some());
    let date = Date {
        year: year.unwrap_or(0),
        month,
        day,
    };
    Some(found(Value::Date(date), tokens, at, used))
}

/// `August 13, 1898`, `August 13`, `August 1898`.
fn month_first(text: &str, tokens: &[Token], at: usize, month: u8, token: Token) -> Option<(Option<Found>, usize)> {
    if token.shape != Shape::Capital {
        return None;
    }
    if let Some(year) = year(text, tokens, at + 1) {
        return Some(found(Value::Date(Date { year, month, day: 0 }), tokens, at, 2));
    }
    let day = small(text, tokens, at + 1, 31)?;
    let ordinal = word(text, tokens, at + 2).is_some_and(|(mark, _)| matches!(mark, "st" | "nd" | "rd" | "th"));
    let next = at + 2 + usize::from(ordinal);
    let year = year(text, tokens, next).filter(|_| gap(text, tokens, next - 1).len() <= 2);
    let used = next - at + usize::from(year.is_some());
    let date = Date {
        year: year.unwrap_or(0),
        month,
        day,
    };
    Some(found(Value::Date(date), tokens, at, used))
}

fn number(text: &str, tokens: &[Token], at: usize, digits: &str, token: Token) -> (Option<Found>, usize) {
    let Some(mut value) = literal(digits) else {
        return (None, 1);
    };
    let mut used = 1;
    let glued = text.get(token.end..).and_then(|rest| rest.chars().next());
    if glued == Some('%') {
        return found(Value::Number(value, Unit::Percent), tokens, at, 1);
    }
    let mut unit = Unit::None;
    if let Some((next, following)) = word(text, tokens, at + 1) {
        let close = gap(text, tokens, at);
        if close.is_empty() && matches!(next, "st" | "nd" | "rd" | "th") {
            return found(Value::Number(value, Unit::Ordinal), tokens, at, 2);
        }
        if close.is_empty() && next == "s" {
            // `the 1960s` names ten years and is compared with none.
            return (None, 2);
        }
        let scale = units::scale(following.stem);
        if close.trim().is_empty() || close == "-" {
            if let Some(scale) = scale {
                value *= scale;
                used = 2;
            } else if matches!(next, "percent" | "per") {
                unit = Unit::Percent;
            } else if following.shape == Shape::Plain && !super::lexicon::is_stop(following.stem) {
                unit = Unit::Of(units::normal(following.stem));
            }
        }
    }
    if used == 1
        && let Some(year) = year(text, tokens, at)
        && !matches!(unit, Unit::Of(stem) if units::measures(stem))
    {
        return found(Value::Year(year), tokens, at, 1);
    }
    found(Value::Number(value, unit), tokens, at, used)
}

fn spelled_number(text: &str, tokens: &[Token], at: usize) -> (Option<Found>, usize) {
    let (mut total, mut used) = (0.0, 0);
    while let Some(value) = word(text, tokens, at + used).and_then(|(_, token)| units::spelled(token.stem)) {
        let joined = used == 0 || matches!(gap(text, tokens, at + used - 1), " " | "-");
        if !joined {
            break;
        }
        if value >= 100.0 {
            total = if total == 0.0 { value } else { total * value };
        } else if used > 0 && !((total % 100.0) >= 20.0 && value < 10.0) && total % 100.0 != 0.0 {
            break;
        } else {
            total += value;
        }
        used += 1;
    }
    let unit = match word(text, tokens, at + used) {
        Some((_, token)) if token.shape == Shape::Plain && !super::lexicon::is_stop(token.stem) => {
            Unit::Of(units::normal(token.stem))
        }
        _ => Unit::None,
    };
    let (read, used) = found(Value::Number(total, unit), tokens, at, used.max(1));
    (read.map(|read| Found { spelled: true, ..read }), used)
}

/// True when the numbers differ by no more than `share` of the larger one.
pub(super) fn close(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// True when `rough` is `exact` rounded to the digits that `rough` shows.
pub(super) fn rounds_to(rough: f64, exact: f64) -> bool {
    if rough == 0.0 || !rough.is_finite() || !exact.is_finite() {
        return false;
    }
    let mut step = 1.0_f64;
    while rough % (step * 10.0) == 0.0 && step < 1e15 {
        step *= 10.0;
    }
    (rough - exact).abs() < step
}

/// The number in a value, where it is one.
pub(super) fn as_number(value: Value) -> Option<f64> {
    match value {
        Value::Number(number, _) => Some(number),
        Value::Year(year) => Some(f64::from(year)),
        Value::Date(_) => None,
    }
}
