//! Words that are values: months, numbers, units and what they convert to. Tables by stem, each row
//! one word or one quantity; another language is more words.

use std::sync::LazyLock;

use super::text::{ByStem, Stems, stem};
use super::values::{Unit, close};

/// Names of the months in five languages, January first.
const MONTHS: &[&str] = &[
    "january|jan|enero|januar|janvier",
    "february|feb|febrero|februar|février",
    "march|mar|marzo|märz|mars",
    "april|apr|abril|avril",
    "may|mayo|mai",
    "june|jun|junio|juni|juin",
    "july|jul|julio|juli|juillet",
    "august|aug|agosto|août",
    "september|sep|sept|septiembre|septembre",
    "october|oct|octubre|oktober|octobre",
    "november|nov|noviembre|novembre",
    "december|dec|diciembre|dezember|décembre",
];

/// Numbers written as words: `word=value`. Not every small word is a number in every tongue, so they
/// are read only in the agent's own sentences.
const SPELLED: &str = "two=2.0|three=3.0|four=4.0|five=5.0|six=6.0|seven=7.0|eight=8.0|nine=9.0|ten=10.0|eleven=11.0|\
     twelve=12.0|thirteen=13.0|fourteen=14.0|fifteen=15.0|sixteen=16.0|seventeen=17.0|eighteen=18.0|\
     nineteen=19.0|twenty=20.0|thirty=30.0|forty=40.0|fifty=50.0|sixty=60.0|seventy=70.0|eighty=80.0|\
     ninety=90.0|hundred=100.0|thousand=1000|million=1000000|billion=1000000000|dos=2.0|tres=3.0|cuatro=4.0|\
     cinco=5.0|diez=10.0|veinte=20.0|zwei=2.0|drei=3.0|vier=4.0|fünf=5.0|zehn=10.0|zwanzig=20.0|deux=2.0|\
     trois=3.0|quatre=4.0|cinq=5.0|dix=10.0|vingt=20.0";

/// Words that multiply the number before them: `word=factor`.
const SCALES: &str = "thousand=1000|tausend=1000|mil=1000|mille=1000|million=1000000|millionen=1000000|millones=1000000|\
     billion=1000000000|milliarden=1000000000";

/// Abbreviated or foreign units and the word they stand for: `short=long`.
const SHORT_UNITS: &str = "km=kilometre|kilometer=kilometre|kilometers=kilometre|m=metre|meter=metre|meters=metre|mi=mile|\
     ft=foot|feet=foot|lb=pound|lbs=pound|kg=kilogram|kilo=kilogram|kilos=kilogram|yr=year|yrs=year|\
     min=minute|mins=minute|hr=hour|hrs=hour|cm=centimetre|mm=millimetre|inches=inch|ha=hectare|yd=yard|\
     jahre=year|años=year|ans=year|年=year|公里=kilometre|kilómetros=kilometre|kilomètres=kilometre|\
     inhabitants=people|residents=people|persons=people|copy=copies";

/// Units of measure and things that are counted.
const MEASURES: &str = "kilometre|metre|mile|foot|pound|kilogram|year|month|day|hour|minute|second|centimetre|millimetre|\
     inch|hectare|acre|yard|people|copies|dollar|euro|square|degree|tonne|ton|litre|gallon|point|vote|\
     seat|soldier|goal|pages|student|employee|member|unit|share|item|book";

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

static MONTH: LazyLock<ByStem<u8>> = LazyLock::new(|| {
    let rows = (1_u8..).zip(MONTHS.iter());
    rows.flat_map(|(number, names)| names.split('|').map(move |name| (stem(name), number)))
        .collect()
});
static NUMBER: LazyLock<ByStem<f64>> = LazyLock::new(|| numbers(SPELLED));
static SCALE: LazyLock<ByStem<f64>> = LazyLock::new(|| numbers(SCALES));
static SHORT: LazyLock<ByStem<u64>> = LazyLock::new(|| {
    SHORT_UNITS
        .split('|')
        .filter_map(|row| row.split_once('='))
        .map(|(short, long)| (stem(short), stem(long)))
        .collect()
});
static MEASURE: LazyLock<Stems> = LazyLock::new(|| MEASURES.split('|').map(stem).collect());
/// Family and size of each convertible unit.
static SIZE: LazyLock<ByStem<(usize, f64)>> = LazyLock::new(|| {
    let families = CONVERSIONS.iter().enumerate();
    families
        .flat_map(|(family, units)| units.iter().map(move |(name, size)| (stem(name), (family, *size))))
        .collect()
});
static YEAR: LazyLock<u64> = LazyLock::new(|| stem("year"));

fn numbers(table: &str) -> ByStem<f64> {
    let rows = table.split('|').filter_map(|row| row.split_once('='));
    rows.filter_map(|(word, value)| value.parse().ok().map(|value| (stem(word), value)))
        .collect()
}

/// The month a word names, by stem.
pub(super) fn month(word: u64) -> Option<u8> {
    MONTH.get(&word).copied()
}

/// The number a word spells, by stem.
pub(super) fn spelled(word: u64) -> Option<f64> {
    NUMBER.get(&word).copied()
}

/// What a word multiplies the number before it by, by stem.
pub(super) fn scale(word: u64) -> Option<f64> {
    SCALE.get(&word).copied()
}

/// The unit in its long English form, by stem; another word as it is.
pub(super) fn normal(unit: u64) -> u64 {
    SHORT.get(&unit).copied().unwrap_or(unit)
}

/// True for a unit of measure or a thing that is counted, so that a four-digit number before it is no
/// year.
pub(super) fn measures(unit: u64) -> bool {
    MEASURE.contains(&unit)
}

/// True for years.
pub(super) fn is_year(unit: u64) -> bool {
    unit == *YEAR
}

/// True when `a` of one unit is `b` of another within 2 %: a conversion with its usual rounding.
pub(super) fn converts(a: f64, unit_a: Unit, b: f64, unit_b: Unit) -> bool {
    let (Unit::Of(unit_a), Unit::Of(unit_b)) = (unit_a, unit_b) else {
        return false;
    };
    match (SIZE.get(&unit_a), SIZE.get(&unit_b)) {
        (Some((family_a, size_a)), Some((family_b, size_b))) => {
            unit_a != unit_b && family_a == family_b && close(a * size_a, b * size_b, 0.02)
        }
        _ => false,
    }
}
