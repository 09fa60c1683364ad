//! Values of a sentence in normal form: numbers with their units, dates, names, quoted strings.
//! `1,419` is 1419, `12 May 1931` is 1931-05-12, `3,5` is 3.5 where the digits after the comma
//! cannot be thousands.

use super::text::{Shape, Token, stem};

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

const MONTHS: &[(&str, u8)] = &[
    ("january", 1),
    ("jan", 1),
    ("enero", 1),
    ("januar", 1),
    ("janvier", 1),
    ("february", 2),
    ("feb", 2),
    ("febrero", 2),
    ("februar", 2),
    ("février", 2),
    ("march", 3),
    ("mar", 3),
    ("marzo", 3),
    ("märz", 3),
    ("mars", 3),
    ("april", 4),
    ("apr", 4),
    ("abril", 4),
    ("avril", 4),
    ("may", 5),
    ("mayo", 5),
    ("mai", 5),
    ("june", 6),
    ("jun", 6),
    ("junio", 6),
    ("juni", 6),
    ("juin", 6),
    ("july", 7),
    ("jul", 7),
    ("julio", 7),
    ("juli", 7),
    ("juillet", 7),
    ("august", 8),
    ("aug", 8),
    ("agosto", 8),
    ("août", 8),
    ("september", 9),
    ("sep", 9),
    ("sept", 9),
    ("septiembre", 9),
    ("septembre", 9),
    ("october", 10),
    ("oct", 10),
    ("octubre", 10),
    ("oktober", 10),
    ("octobre", 10),
    ("november", 11),
    ("nov", 11),
    ("noviembre", 11),
    ("novembre", 11),
    ("december", 12),
    ("dec", 12),
    ("diciembre", 12),
    ("dezember", 12),
    ("décembre", 12),
];

/// True for the name of a month.
pub(super) fn is_month(word: &str) -> bool {
    month(word).is_some()
}

fn month(word: &str) -> Option<u8> {
    if word.len() > 12 || word.len() < 3 {
        return None;
    }
    let lower = word.to_lowercase();
    MONTHS
        .iter()
        .find(|(name, _)| *name == lower)
        .map(|(_, number)| *number)
}

const UNITS_SPELLED: &[(&str, f64)] = &[
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
    ("dos", 2.0),
    ("tres", 3.0),
    ("cuatro", 4.0),
    ("cinco", 5.0),
    ("diez", 10.0),
    ("veinte", 20.0),
    ("zwei", 2.0),
    ("drei", 3.0),
    ("vier", 4.0),
    ("fünf", 5.0),
    ("zehn", 10.0),
    ("zwanzig", 20.0),
    ("deux", 2.0),
    ("trois", 3.0),
    ("quatre", 4.0),
    ("cinq", 5.0),
    ("dix", 10.0),
    ("vingt", 20.0),
];

/// The number a word spells. Not every small word of the table is a number in every tongue, so
/// spelled numbers are used only where arithmetic or counting is spoken of.
fn spelled(word: &str) -> Option<f64> {
    if word.len() > 9 || word.len() < 3 {
        return None;
    }
    let lower = word.to_lowercase();
    UNITS_SPELLED
        .iter()
        .find(|(name, _)| *name == lower)
        .map(|(_, value)| *value)
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
        if let Some(month) = month(first)
            && let Some(done) = month_first(text, tokens, at, month, token)
        {
            return done;
        }
        if spell && spelled(first).is_some() {
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
    let (name, token) = word(text, tokens, next)?;
    let month = (token.shape == Shape::Capital || next > at)
        .then(|| month(name))
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
        let scale = match next.to_lowercase().as_str() {
            "thousand" | "tausend" | "mil" | "mille" => Some(1e3),
            "million" | "millions" | "millionen" | "millones" => Some(1e6),
            "billion" | "billions" | "milliarden" => Some(1e9),
            _ => None,
        };
        if close.trim().is_empty() || close == "-" {
            if let Some(scale) = scale {
                value *= scale;
                used = 2;
            } else if matches!(next, "percent" | "per") {
                unit = Unit::Percent;
            } else if following.shape == Shape::Plain && !super::lexicon::is_stop(following.stem) {
                unit = Unit::Of(normal_unit(next, following.stem));
            }
        }
    }
    if used == 1
        && let Some(year) = year(text, tokens, at)
        && !matches!(unit, Unit::Of(stem) if measures(stem))
    {
        return found(Value::Year(year), tokens, at, 1);
    }
    found(Value::Number(value, unit), tokens, at, used)
}

fn spelled_number(text: &str, tokens: &[Token], at: usize) -> (Option<Found>, usize) {
    let (mut total, mut used) = (0.0, 0);
    while let Some(value) = word(text, tokens, at + used).and_then(|(name, _)| spelled(name)) {
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
        Some((next, token)) if token.shape == Shape::Plain && !super::lexicon::is_stop(token.stem) => {
            Unit::Of(normal_unit(next, token.stem))
        }
        _ => Unit::None,
    };
    let (read, used) = found(Value::Number(total, unit), tokens, at, used.max(1));
    (read.map(|read| Found { spelled: true, ..read }), used)
}

/// Abbreviated units and the word they stand for.
const SHORT_UNITS: &[(&str, &str)] = &[
    ("km", "kilometre"),
    ("kilometer", "kilometre"),
    ("kilometers", "kilometre"),
    ("m", "metre"),
    ("meter", "metre"),
    ("meters", "metre"),
    ("mi", "mile"),
    ("ft", "foot"),
    ("feet", "foot"),
    ("lb", "pound"),
    ("lbs", "pound"),
    ("kg", "kilogram"),
    ("kilo", "kilogram"),
    ("kilos", "kilogram"),
    ("yr", "year"),
    ("yrs", "year"),
    ("min", "minute"),
    ("mins", "minute"),
    ("hr", "hour"),
    ("hrs", "hour"),
    ("cm", "centimetre"),
    ("mm", "millimetre"),
    ("in", "inch"),
    ("inches", "inch"),
    ("ha", "hectare"),
    ("yd", "yard"),
    ("pages", "pages"),
    ("jahre", "year"),
    ("años", "year"),
    ("ans", "year"),
    ("年", "year"),
    ("公里", "kilometre"),
    ("kilometer", "kilometre"),
    ("kilómetros", "kilometre"),
    ("kilomètres", "kilometre"),
    ("inhabitants", "people"),
    ("residents", "people"),
    ("persons", "people"),
    ("copy", "copies"),
];

fn normal_unit(word: &str, plain: u64) -> u64 {
    let lower = word.to_lowercase();
    SHORT_UNITS
        .iter()
        .find(|(short, _)| *short == lower)
        .map_or(plain, |(_, long)| stem(long))
}

const MEASURES: &[&str] = &[
    "kilometre",
    "metre",
    "mile",
    "foot",
    "pound",
    "kilogram",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "centimetre",
    "millimetre",
    "inch",
    "hectare",
    "acre",
    "yard",
    "people",
    "copies",
    "dollar",
    "euro",
    "square",
    "degree",
    "tonne",
    "ton",
    "litre",
    "gallon",
    "point",
    "vote",
    "seat",
    "soldier",
    "goal",
    "ton",
    "pages",
    "student",
    "employee",
    "member",
    "unit",
    "share",
    "item",
    "book",
];

/// True for a unit of measure or a thing that is counted, so that a four-digit number before it is no
/// year.
pub(super) fn measures(unit: u64) -> bool {
    MEASURES.iter().any(|name| stem(name) == unit)
}

/// Units of one quantity: name, and how many of the base unit it is. Exact by definition, except
/// the gallon and the ton, which differ between countries and are the United States' here.
const CONVERSIONS: &[&[(&str, f64)]] = &[
    &[
        ("metre", 1.0),
        ("kilometre", 1000.0),
        ("mile", 1609.344),
        ("foot", 0.3048),
        ("yard", 0.9144),
        ("centimetre", 0.01),
        ("millimetre", 0.001),
        ("inch", 0.0254),
    ],
    &[
        ("kilogram", 1.0),
        ("pound", 0.453_592_37),
        ("tonne", 1000.0),
        ("ton", 907.184_74),
        ("gram", 0.001),
        ("ounce", 0.028_349_523),
    ],
    &[("hectare", 10_000.0), ("acre", 4_046.856_422_4)],
    &[
        ("second", 1.0),
        ("minute", 60.0),
        ("hour", 3600.0),
        ("day", 86_400.0),
        ("week", 604_800.0),
    ],
    &[("month", 1.0), ("year", 12.0), ("decade", 120.0), ("century", 1200.0)],
    &[("litre", 1.0), ("gallon", 3.785_411_784)],
];

/// True when `a` of one unit is `b` of another within 2 %: a conversion with its usual rounding.
pub(super) fn converts(a: f64, unit_a: Unit, b: f64, unit_b: Unit) -> bool {
    let (Unit::Of(unit_a), Unit::Of(unit_b)) = (unit_a, unit_b) else {
        return false;
    };
    if unit_a == unit_b {
        return false;
    }
    CONVERSIONS.iter().any(|family| {
        let size = |unit: u64| {
            family
                .iter()
                .find(|(name, _)| stem(name) == unit)
                .map(|(_, size)| *size)
        };
        match (size(unit_a), size(unit_b)) {
            (Some(size_a), Some(size_b)) => close(a * size_a, b * size_b, 0.02),
            _ => false,
        }
    })
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
