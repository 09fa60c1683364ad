//! The source says it the other way round: `from A to B` where it has `from B to A`, values paired
//! with each other's names, a denial of what it asserts, an opposite in the same words.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::checks::values::candidates;
use crate::offline::lexicon::{self, Cue};
use crate::offline::shown::Sentence;
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{self, Shape, Token};
use crate::offline::units;

/// Every settled statement.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    for (index, statement) in case.statements.iter().enumerate() {
        if statement.standing != Standing::Settled
            || statement.seen == 0
            || statement.answer
            || statement.cues.has(Cue::GiveUp)
        {
            continue;
        }
        let found = turned_round(case, statement)
            .or_else(|| crossed(case, statement))
            .or_else(|| denied(case, statement))
            .or_else(|| opposite(case, statement));
        if let Some((sentence, focus, why, counted)) = found {
            let words = statement
                .content()
                .map(|token| token.stem)
                .filter(|stem| !case.given.stems.contains(stem))
                .collect();
            out.push(Defect {
                check: Check::Reversed,
                statement: index,
                place: Place {
                    span: statement.span,
                    start: statement.start,
                    end: statement.end,
                },
                focus,
                against: Some(Place {
                    span: sentence.span,
                    start: sentence.start,
                    end: sentence.end,
                }),
                support: SupportStatus::Conflicting,
                why,
                counted,
                trail: Trail {
                    words,
                    ..Trail::default()
                },
            });
        }
    }
}

type Hit<'case> = (&'case Sentence, usize, String, usize);

/// A sentence's words, read again: the index keeps only their stems.
fn words(case: &Case<'_>, sentence: &Sentence) -> Vec<Token> {
    let mut tokens = Vec::new();
    let text = case
        .run
        .spans()
        .get(sentence.span)
        .map_or("", |span| span.text.as_str());
    text::tokens(text, sentence.start, sentence.end, true, &mut tokens);
    tokens
}

/// Where something goes from and to: the words of either end.
struct FromTo {
    from: Vec<u64>,
    to: Vec<u64>,
    at: usize,
}

fn from_to(case: &Case<'_>, span: usize, tokens: &[Token]) -> Vec<FromTo> {
    let word = |token: &Token| case.slice(span, token.start, token.end).to_lowercase();
    let mut out = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(word(token).as_str(), "from" | "von" | "de" | "desde") {
            continue;
        }
        let rest = tokens.get(at + 1..(at + 9).min(tokens.len())).unwrap_or_default();
        let Some(turn) = rest
            .iter()
            .position(|token| matches!(word(token).as_str(), "to" | "into" | "zu" | "nach" | "a" | "à"))
        else {
            continue;
        };
        let content = |part: &[Token]| -> Vec<u64> {
            part.iter()
                .filter(|token| token.shape == Shape::Plain && !lexicon::is_stop(token.stem))
                .map(|token| token.stem)
                .collect()
        };
        let from = content(rest.get(..turn).unwrap_or_default());
        let to = content(rest.get(turn + 1..(turn + 4).min(rest.len())).unwrap_or_default());
        if !from.is_empty() && !to.is_empty() {
            out.push(FromTo {
                from,
                to,
                at: token.start,
            });
        }
    }
    out
}

fn turned_round<'case>(case: &'case Case<'_>, statement: &Statement) -> Option<Hit<'case>> {
    from_to(case, statement.span, &statement.tokens).into_iter().find_map(|said| {
        let (a, b) = (*said.from.first()?, *said.to.first()?);
        let mut other: Option<&Sentence> = None;
        for place in case.shown.with_stem(a, statement.seen) {
            let sentence = case.shown.sentences.get(*place as usize)?;
            if a == b || !sentence.stems.contains(&b) {
                continue;
            }
            for shown in from_to(case, sentence.span, &words(case, sentence)) {
                if shown.from.contains(&a) || shown.to.contains(&b) {
                    return None;
                }
                if shown.from.contains(&b) && shown.to.contains(&a) {
                    other = other.or(Some(sentence));
                }
            }
        }
        let why = "has it the wrong way round: what it says goes from the one to the other goes from the other to the one in the source";
        other.map(|sentence| (sentence, said.at, why.to_owned(), 3))
    })
}

/// A name of the statement and a number near it.
fn pairs(tokens: &[Token], case: &Case<'_>, span: usize) -> Vec<(u64, u64, usize)> {
    // Each number belongs to the nearest name before it.
    let mut out = Vec::new();
    let mut name: Option<&Token> = None;
    for token in tokens {
        match token.shape {
            Shape::Capital
                if !lexicon::is_stop(token.stem)
                    && token.end - token.start >= 4
                    && units::month(token.stem).is_none() =>
            {
                name = Some(token);
            }
            Shape::Number => {
                let digits = case.slice(span, token.start, token.end).len();
                if let Some(name) = name.filter(|name| token.start - name.end <= 40 && digits >= 2) {
                    out.push((name.stem, token.stem, token.start));
                }
            }
            _ => {}
        }
    }
    out
}

/// A number that the source pairs with another of the statement's names, though it has both.
fn crossed<'case>(case: &'case Case<'_>, statement: &Statement) -> Option<Hit<'case>> {
    let said = pairs(&statement.tokens, case, statement.span);
    let names: Vec<u64> = statement
        .tokens
        .iter()
        .filter(|token| token.shape == Shape::Capital)
        .map(|token| token.stem)
        .collect();
    let several = said
        .iter()
        .any(|(name, number, _)| said.iter().any(|(other, one, _)| other != name && one != number));
    if !several {
        return None;
    }
    said.iter().find_map(|(name, number, at)| {
        let own: Vec<u64> = said
            .iter()
            .filter(|(_, other, _)| other == number)
            .map(|(name, _, _)| *name)
            .collect();
        let mut crossing = None;
        for place in case.shown.with_stem(*number, statement.seen).iter().take(16) {
            let sentence = case.shown.sentences.get(*place as usize)?;
            let shown = pairs(&words(case, sentence), case, sentence.span);
            let mates: Vec<u64> = shown
                .iter()
                .filter(|(_, mate, _)| mate == number)
                .map(|(mate, _, _)| *mate)
                .collect();
            if mates.iter().any(|mate| own.contains(mate)) || mates.is_empty() {
                return None;
            }
            let all = mates.iter().all(|mate| names.contains(mate));
            if all && sentence.stems.contains(name) {
                crossing = crossing.or(Some(sentence));
            }
        }
        let value = case.slice(statement.span, *at, *at + 4);
        crossing.map(|sentence| {
            (
                sentence,
                *at,
                format!("pairs {value} with a name that the source has beside other numbers"),
                3,
            )
        })
    })
}

/// A cited source denied: words in a row that it has without any denial.
fn denied<'case>(case: &'case Case<'_>, statement: &Statement) -> Option<Hit<'case>> {
    let denies = statement.cues.has(Cue::Negation) && statement.cues.has(Cue::Cite);
    if !denies {
        return None;
    }
    let text = statement.text(case.run).to_lowercase();
    // `names no X`, `nothing about X` report a gap, which is for the giving-up check.
    let about_gap = [
        "no word",
        "no mention",
        "nothing about",
        "does not say",
        "does not name",
        "do not name",
        "not mention",
        "no statement",
        "not state",
        "does not give",
        "not list",
        "none of",
    ];
    if about_gap.iter().any(|phrase| text.contains(phrase)) {
        return None;
    }
    let at = ["no part", "not ", "never ", "no longer", "without ", "n't ", " no "]
        .iter()
        .filter_map(|word| text.find(word))
        .min()?;
    let denied: Vec<&Token> = statement
        .content()
        .filter(|token| token.start >= statement.start + at)
        .collect();
    let before: Vec<&Token> = statement
        .content()
        .filter(|token| token.start < statement.start + at)
        .collect();
    denied.windows(2).find_map(|pair| {
        let [a, b] = pair else { return None };
        case.shown.with_stem(a.stem, statement.seen).iter().find_map(|place| {
            let sentence = case.shown.sentences.get(*place as usize)?;
            let shown = words(case, sentence);
            let row = shown
                .windows(2)
                .any(|two| matches!(two, [x, y] if x.stem == a.stem && y.stem == b.stem));
            let title = case.shown.title_of(*place as usize);
            let same_subject = before
                .iter()
                .any(|token| title.contains(&token.stem) || sentence.stems.contains(&token.stem));
            let plain = case.slice(sentence.span, sentence.start, sentence.end).to_lowercase();
            let denial = lexicon::cues(&plain).has(Cue::Negation);
            (row && same_subject && !denial).then(|| {
                (
                    sentence,
                    a.start,
                    "denies what the source that it names says".to_owned(),
                    3,
                )
            })
        })
    })
}

/// Words and their opposites.
const OPPOSITES: &[(&str, &str)] = &[
    ("north", "south"),
    ("east", "west"),
    ("northern", "southern"),
    ("eastern", "western"),
    ("older", "younger"),
    ("elder", "younger"),
    ("oldest", "youngest"),
    ("largest", "smallest"),
    ("highest", "lowest"),
    ("longest", "shortest"),
    ("earliest", "latest"),
    ("increase", "decrease"),
    ("rose", "fell"),
    ("won", "lost"),
    ("before", "after"),
    ("above", "below"),
    ("more", "less"),
    ("daily", "weekly"),
    ("father", "son"),
    ("mother", "daughter"),
    ("husband", "wife"),
    ("male", "female"),
    ("upper", "lower"),
    ("left", "right"),
    ("first", "last"),
    ("accepted", "rejected"),
    ("opened", "closed"),
    ("import", "export"),
    ("victory", "defeat"),
    ("ascending", "descending"),
    ("maximum", "minimum"),
    ("buyer", "seller"),
    ("predecessor", "successor"),
    ("preceded", "followed"),
];

/// A sentence with the statement's other words and the opposite of one of them.
fn opposite<'case>(case: &'case Case<'_>, statement: &Statement) -> Option<Hit<'case>> {
    let (token, against) = statement.tokens.iter().find_map(|token| {
        let word = case.slice(statement.span, token.start, token.end).to_lowercase();
        OPPOSITES.iter().find_map(|(a, b)| {
            if word == *a {
                Some((token, *b))
            } else {
                (word == *b).then_some((token, *a))
            }
        })
    })?;
    if statement.cues.has(Cue::Negation) {
        return None;
    }
    let (near, total) = candidates(case, statement, Some(token.start));
    let same = near
        .iter()
        .take(20)
        .filter_map(|candidate| case.shown.sentences.get(candidate.sentence))
        .any(|sentence| sentence.stems.contains(&token.stem));
    let best = near
        .first()
        .filter(|best| best.shared >= 4 && best.score >= 0.6 * total)?;
    let sentence = case.shown.sentences.get(best.sentence)?;
    let lower = case.slice(sentence.span, sentence.start, sentence.end).to_lowercase();
    let has = lower
        .match_indices(against)
        .any(|(at, _)| lexicon::at_boundaries(&lower, at, at + against.len()));
    (has && !same).then(|| {
        (
            sentence,
            token.start,
            format!(
                "says the opposite of {against}, which the run shows beside {} of the same words",
                best.shared
            ),
            best.shared,
        )
    })
}
