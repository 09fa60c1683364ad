//! Conditions of the task that a rule can test on the final answer.

use std::sync::LazyLock;

use regex::Regex;

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{self, Shape, Token};

/// What the answer must be like.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    DigitsOnly,
    FourDigits,
    /// So many items.
    Items(usize),
    /// So many words.
    Words(usize),
    SurnameFirst,
    /// Not this, which the question rules out.
    Not(Vec<u64>),
    Continent,
    YesNo,
    Month,
    Weekday,
    IsoDate,
    UpperCase,
    LowerCase,
    /// So many digits after the decimal mark.
    Decimals(usize),
    /// This unit and none of its kind.
    Unit(String),
    Alphabetical,
    /// A name in full: two words or more.
    FullName,
    /// No digits.
    InWords,
    Roman,
    /// A month and a year.
    MonthYear,
    /// A multiple of this.
    Nearest(f64),
}

/// A rule and the words of the question that set it.
struct Condition {
    rule: Rule,
    words: String,
}

/// A pattern of a question and the rule it sets.
type Pattern = (Option<Regex>, fn(&str) -> Option<Rule>);

fn count(word: &str) -> Option<usize> {
    const COUNTS: &[&str] = &[
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    COUNTS
        .iter()
        .position(|name| name.eq_ignore_ascii_case(word))
        .map(|at| at + 1)
        .or_else(|| word.parse().ok().filter(|count| (1..=20).contains(count)))
}

fn nearest(word: &str) -> Option<Rule> {
    let steps = [("ten", 10.0), ("hundred", 100.0), ("thousand", 1e3), ("million", 1e6)];
    steps
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word))
        .map(|(_, step)| Rule::Nearest(*step))
}

const NUMBER: &str = "(one|two|three|four|five|six|seven|eight|nine|ten|[0-9]{1,2})";

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let row = |pattern: &str, rule: fn(&str) -> Option<Rule>| (Regex::new(&pattern.replace("{n}", NUMBER)).ok(), rule);
    vec![
        row(
            r"(?i)\b(digits? (alone|only)|only (the )?digits|(the )?number (alone|only)|(just|only) (the|a) number|no words)\b",
            |_| Some(Rule::DigitsOnly),
        ),
        row(r"(?i)\b(four digits|four-digit|4 digits|4-digit|yyyy format)\b", |_| {
            Some(Rule::FourDigits)
        }),
        row(
            r"(?i)\b(?:name|list|give|state|provide|mention|any) (?:exactly |any |the names of |at least )?{n}\b(?: of (?:them|these|those)\b|(?: \w+){0,2})",
            |word| count(word).map(Rule::Items),
        ),
        row(
            r"(?i)\b(?:in|with|using) (?:a |exactly |just |only )?(one|single|two|three) words?\b",
            |word| count(word).or(Some(1)).map(Rule::Words),
        ),
        row(
            r"(?i)\b((surname|last name|family name) first|surname, (first|given) name|last name, first name)\b",
            |_| Some(Rule::SurnameFirst),
        ),
        row(r"(?i)\b(?:with|give|name|state) the (continent)\b", |_| {
            Some(Rule::Continent)
        }),
        row(
            r"(?i)\b((answer|reply|respond)( only)? (with )?(yes or no|yes/no)|yes or no only)\b",
            |_| Some(Rule::YesNo),
        ),
        row(
            r"(?i)\b(?:only|just|with|give|state) the (month)\b(?: only| alone|,|\.)",
            |_| Some(Rule::Month),
        ),
        row(
            r"(?i)\b(?:give|with|state|only|just) the (weekday|day of the week)\b",
            |_| Some(Rule::Weekday),
        ),
        row(r"(?i)\b(yyyy-mm-dd|iso 8601|iso format|iso date)", |_| {
            Some(Rule::IsoDate)
        }),
        row(
            r"(?i)\b(?:in|all|use) (capital letters|capitals|upper ?case|all caps|block letters)\b",
            |_| Some(Rule::UpperCase),
        ),
        row(r"(?i)\b(?:in|all|use) (lower ?case|small letters)\b", |_| {
            Some(Rule::LowerCase)
        }),
        row(r"(?i)\b{n} decimal (?:places?|digits?)\b", |word| {
            count(word).map(Rule::Decimals)
        }),
        row(
            r"(?i)\b(?:answer|reply|give|state|express(?:ed)?|convert(?:ed)?|distance|length|height|weight|area)\b[^.?!]{0,40}\bin (kilomet(?:re|er)s|miles|met(?:re|er)s|feet|kilograms|pounds|hectares|acres)\b",
            |word| Some(Rule::Unit(word.to_lowercase())),
        ),
        row(
            r"(?i)\b(?:only|just) (?:the |his |her |their )?(surname|last name|family name|first name|given name)\b",
            |_| Some(Rule::Words(1)),
        ),
        row(
            r"(?i)\b(?:surname|last name|family name|first name|given name) (only|alone)\b",
            |_| Some(Rule::Words(1)),
        ),
        row(
            r"(?i)\b(?:give|state|write|use|provide|with) (?:the |his |her |their )?(full names?|first and last names?)\b",
            |_| Some(Rule::FullName),
        ),
        row(
            r"(?i)\b(written out in words|spelled out|spelt out|in words, not|in words rather)\b",
            |_| Some(Rule::InWords),
        ),
        row(r"(?i)\b(roman numerals?)\b", |_| Some(Rule::Roman)),
        row(
            r"(?i)\b(?:give|state|with|write) the (month and(?: the)? year)\b",
            |_| Some(Rule::MonthYear),
        ),
        row(
            r"(?i)\b(?:to|rounded to) the nearest (ten|hundred|thousand|million)\b",
            nearest,
        ),
        row(r"(?i)\b(?:name|give|list|state) (both)\b", |_| Some(Rule::Items(2))),
        row(r"(?i)\b(?:the )?(year) (?:only|alone)\b", |_| Some(Rule::FourDigits)),
        row(r"(?i)\b(?:no more than|at most|up to|maximum of) {n} words\b", |word| {
            count(word).map(Rule::Words)
        }),
        row(r"(?i)\bin (alphabetical order)\b", |_| Some(Rule::Alphabetical)),
    ]
});

static EXCEPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:aside from|apart from|other than|besides|except(?: for)?|excluding|not counting|but not) (?:the |a |an )?([^,.?;]{2,60})").ok()
});

fn read(question: &str) -> Vec<Condition> {
    let mut out: Vec<Condition> = Vec::new();
    for (pattern, rule) in PATTERNS.iter() {
        let Some(found) = pattern.as_ref().and_then(|pattern| pattern.captures(question)) else {
            continue;
        };
        let (Some(whole), Some(part)) = (found.get(0), found.get(1)) else {
            continue;
        };
        if let Some(rule) = rule(part.as_str()) {
            out.push(Condition {
                rule,
                words: whole.as_str().trim().to_owned(),
            });
        }
    }
    if let Some(found) = EXCEPT.as_ref().and_then(|pattern| pattern.captures(question))
        && let (Some(whole), Some(part)) = (found.get(0), found.get(1))
    {
        let named = names(part.as_str());
        if !named.is_empty() {
            out.push(Condition {
                rule: Rule::Not(named),
                words: whole.as_str().trim().to_owned(),
            });
        }
    }
    out
}

/// The run of capitalised words with which an exception begins.
fn names(part: &str) -> Vec<u64> {
    let mut tokens = Vec::new();
    text::tokens(part, 0, part.len(), false, &mut tokens);
    tokens
        .iter()
        .take_while(|token| token.shape != Shape::Plain)
        .map(|token| token.stem)
        .collect()
}

/// The conditions of a question, in its own words.
pub(super) fn conditions(question: &str) -> Vec<String> {
    read(question).into_iter().map(|condition| condition.words).collect()
}

/// The final answer against the conditions.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    let Some(index) = case.answer() else { return };
    let Some(statement) = case.statements.get(index) else {
        return;
    };
    if statement.cues.has(Cue::GiveUp) || statement.standing != Standing::Settled {
        return;
    }
    let answer = answer_text(case, statement);
    let broken = read(case.run.question())
        .into_iter()
        .find(|condition| !meets(answer, &condition.rule));
    if let Some(condition) = broken {
        let first = settled_first(case, index, answer);
        let statement = case.statements.get(first).unwrap_or(statement);
        out.push(Defect {
            check: Check::Constraint,
            statement: first,
            place: Place {
                span: statement.span,
                start: statement.start,
                end: statement.end,
            },
            focus: statement.start,
            against: None,
            support: SupportStatus::Conflicting,
            why: format!(
                "the task says \"{}\", and \"{}\" is not that",
                condition.words,
                answer.chars().take(80).collect::<String>()
            ),
            counted: 3,
            trail: Trail {
                names: content(answer).iter().map(|token| token.stem).collect(),
                ..Trail::default()
            },
        });
    }
}

/// The answer itself: what stands in the tag, or after the words that announce it.
fn answer_text<'run>(case: &Case<'run>, statement: &Statement) -> &'run str {
    let text = case.slice(statement.span, statement.start, statement.end);
    if statement.answer {
        return text.trim();
    }
    let lower = text.to_lowercase();
    let after = [
        "final answer:",
        "answer:",
        "the answer is",
        "answer is",
        "答案是",
        "答案：",
        "respuesta:",
        "antwort:",
        "réponse:",
        "réponse :",
    ]
    .iter()
    .filter_map(|words| lower.rfind(words).map(|at| at + words.len()))
    .max();
    after
        .and_then(|at| text.get(at..))
        .unwrap_or(text)
        .trim()
        .trim_end_matches('.')
}

fn content(answer: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    text::tokens(answer, 0, answer.len(), false, &mut tokens);
    tokens.retain(|token| !lexicon::is_stop(token.stem));
    tokens
}

/// The first statement since the last call that settles on this answer and lets the condition go.
fn settled_first(case: &Case<'_>, index: usize, answer: &str) -> usize {
    let names = content(answer);
    let Some(end) = case.statements.get(index) else {
        return index;
    };
    let says = |statement: &Statement| {
        names
            .iter()
            .any(|name| statement.tokens.iter().any(|token| token.stem == name.stem))
    };
    case.statements
        .iter()
        .position(|statement| {
            let commits = statement.cues.has(Cue::Answer) || statement.cues.has(Cue::Relax);
            statement.events == end.events && commits && says(statement) && statement.standing == Standing::Settled
        })
        .unwrap_or(index)
        .min(index)
}

const CONTINENTS: &[&str] = &[
    "africa",
    "america",
    "asia",
    "europe",
    "australia",
    "oceania",
    "antarctica",
    "eurasia",
];
const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

static ISO: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b\d{4}-\d{2}-\d{2}\b").ok());
static ROMAN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[IVXLCDM]+\b").ok());
static YEAR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b\d{4}\b").ok());

fn meets(answer: &str, rule: &Rule) -> bool {
    let lower = answer.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let matches = |pattern: &Option<Regex>| pattern.as_ref().is_none_or(|pattern| pattern.is_match(answer));
    match rule {
        Rule::DigitsOnly => !answer.chars().any(char::is_alphabetic),
        Rule::FourDigits => matches(&YEAR),
        Rule::Items(count) => items(answer).len() >= *count || *count == 1,
        Rule::Words(count) => answer.split_whitespace().count() <= *count,
        Rule::SurnameFirst => answer.contains([',', '，']),
        Rule::Not(stems) => {
            let said = content(answer);
            said.is_empty() || !said.iter().all(|token| stems.contains(&token.stem))
        }
        Rule::Continent => any(CONTINENTS),
        Rule::YesNo => lower.starts_with("yes") || lower.starts_with("no"),
        Rule::Month => any(MONTHS),
        Rule::Weekday => any(WEEKDAYS),
        Rule::IsoDate => matches(&ISO),
        Rule::UpperCase => !answer.chars().any(char::is_lowercase),
        Rule::LowerCase => !answer.chars().any(char::is_uppercase),
        Rule::Decimals(count) => decimals(answer).is_none_or(|digits| digits == *count),
        Rule::Unit(unit) => !other_unit(&lower, unit),
        Rule::FullName => answer.split_whitespace().count() >= 2,
        Rule::InWords => !answer.chars().any(|c| c.is_ascii_digit()),
        Rule::Roman => matches(&ROMAN),
        Rule::MonthYear => any(MONTHS) && matches(&YEAR),
        Rule::Nearest(step) => answer
            .split(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')))
            .filter_map(|part| crate::offline::values::literal(part.trim_matches([',', '.'])))
            .all(|number| number % step == 0.0),
        Rule::Alphabetical => {
            let items: Vec<String> = items(answer).iter().map(|item| item.to_lowercase()).collect();
            items.is_sorted()
        }
    }
}

fn items(answer: &str) -> Vec<&str> {
    answer
        .split([',', ';', '\n', '、', '/', '&'])
        .flat_map(|part| part.split(" and "))
        .map(str::trim)
        .filter(|part| part.chars().any(char::is_alphanumeric))
        .collect()
}

fn decimals(answer: &str) -> Option<usize> {
    let dot = answer.rfind('.').filter(|at| {
        answer
            .get(..*at)
            .is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()))
    });
    let has_number = answer.chars().any(|c| c.is_ascii_digit());
    match dot {
        Some(at) => Some(
            answer
                .get(at + 1..)
                .unwrap_or("")
                .chars()
                .take_while(char::is_ascii_digit)
                .count(),
        ),
        None => has_number.then_some(0),
    }
}

/// Names a unit of the same quantity, and not the one asked for.
fn other_unit(lower: &str, unit: &str) -> bool {
    const KINDS: &[&[&str]] = &[
        &["kilometre", "kilometer", "km"],
        &["mile", "mi"],
        &["metre", "meter", "m"],
        &["feet", "foot", "ft"],
        &["kilogram", "kg"],
        &["pound", "lb", "lbs"],
        &["hectare", "ha"],
        &["acre"],
    ];
    let names = |kind: &[&str]| {
        lower.split(|c: char| !c.is_alphabetic()).any(|word| {
            kind.iter()
                .any(|name| word == *name || word.strip_suffix('s') == Some(*name))
        })
    };
    let asked = KINDS.iter().find(|kind| {
        kind.iter()
            .any(|name| unit.trim_end_matches('s') == *name || unit == *name)
    });
    let Some(asked) = asked else { return false };
    !names(asked) && KINDS.iter().any(|kind| kind != asked && names(kind))
}
