//! Giving up although the run shows what was asked for.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::shown::Sentence;
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{self, Shape};
use crate::offline::values::Value;

/// Least share of the question's words, by weight, that the passage must have.
const ON_THE_POINT: f64 = 0.6;
/// Least number of the question's words in it.
const WORDS: usize = 3;

/// What the question asks for, as its words tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A person, a place, a thing: some name that the question does not have.
    Name,
    /// A date or year.
    Time,
    /// A number.
    Number,
    /// Which of the things it names: they suffice.
    Choice,
}

/// A run that ends without an answer.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    let Some(last) = case.statements.last() else { return };
    let end = case
        .answer()
        .and_then(|index| case.statements.get(index))
        .unwrap_or(last);
    if end.seen == 0 || !ends_without(end) || end.standing == Standing::Open {
        return;
    }
    // The first statement since the last call that says so.
    let Some((index, statement)) = case
        .statements
        .iter()
        .enumerate()
        .find(|(_, statement)| statement.events == end.events && gives_up(case, statement))
    else {
        return;
    };
    if let Some((sentence, words)) = shown_after_all(case, end.seen) {
        out.push(Defect {
            check: Check::GaveUp,
            statement: index,
            place: Place {
                span: statement.span,
                start: statement.start,
                end: statement.end,
            },
            focus: statement.start,
            against: Some(Place {
                span: sentence.span,
                start: sentence.start,
                end: sentence.end,
            }),
            support: SupportStatus::Conflicting,
            why: format!("gives up, though a passage with {words} words of the question has what it asks for"),
            counted: words,
            trail: Trail {
                all: true,
                ..Trail::default()
            },
        });
    }
}

fn ends_without(end: &Statement) -> bool {
    let short = end.tokens.len() <= 14;
    end.cues.has(Cue::GiveUp) || (short && end.cues.has(Cue::Negation) && end.cues.has(Cue::Finding))
}

/// Says that the thing asked for was not found. A sentence that states something first and denies
/// something after a comma is a finding, not a failure.
fn gives_up(case: &Case<'_>, statement: &Statement) -> bool {
    if statement.cues.has(Cue::Plan) || statement.cues.has(Cue::Correction) {
        return false;
    }
    if statement.cues.has(Cue::GiveUp) {
        return true;
    }
    if !(statement.cues.has(Cue::Negation) && statement.cues.has(Cue::Finding)) {
        return false;
    }
    let text = statement.text(case.run).to_lowercase();
    let first = text.split([',', ':']).next().unwrap_or("");
    let opens = [
        "which", "what", "who", "when", "where", "how", "as for", "although", "though", "while", "of ", "in ", "on ",
        "for ", "after", "with ",
    ];
    first.len() == text.len()
        || lexicon::cues(first).has(Cue::Negation)
        || opens.iter().any(|word| first.trim_start().starts_with(word))
}

fn wanted(question: &str) -> Wanted {
    let lower = question.to_lowercase();
    let has = |words: &[&str]| {
        words.iter().any(|word| {
            lower
                .match_indices(word)
                .any(|(at, _)| lexicon::at_boundaries(&lower, at, at + word.len()))
        })
    };
    if has(&[
        "when",
        "what year",
        "which year",
        "what date",
        "what years",
        "wann",
        "cuándo",
        "quand",
    ]) || lower.contains("哪年")
        || lower.contains("什么时候")
    {
        Wanted::Time
    } else if has(&[
        "how many",
        "how much",
        "how long",
        "how old",
        "how far",
        "number",
        "index",
        "population",
        "wie viele",
        "cuántos",
        "combien",
    ]) || lower.contains("多少")
    {
        Wanted::Number
    } else if has(&["type of", "kind of", "sort of", "what type", "what kind"])
        || (lower.contains(" or ") && has(&["which", "who", "what"]))
    {
        Wanted::Choice
    } else {
        Wanted::Name
    }
}

/// The passage that has the question's words and something of the kind it asks for.
fn shown_after_all<'case>(case: &'case Case<'_>, seen: usize) -> Option<(&'case Sentence, usize)> {
    let wanted = wanted(case.run.question());
    let mut words: Vec<(u64, f64)> = case
        .given
        .question
        .iter()
        .map(|stem| (*stem, case.shown.weight(*stem)))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    words.sort_by_key(|(stem, _)| *stem);
    words.dedup_by_key(|(stem, _)| *stem);
    let total: f64 = words.iter().map(|(_, weight)| weight).sum();
    let mut best: Option<(f64, usize, usize)> = None;
    for (at, sentence) in case.shown.sentences.iter().take(seen).enumerate() {
        let title = case.shown.title_of(at);
        let before = at
            .checked_sub(1)
            .and_then(|before| case.shown.sentences.get(before))
            .filter(|before| before.doc == sentence.doc);
        let hits = words.iter().filter(|(stem, _)| {
            sentence.stems.contains(stem)
                || title.contains(stem)
                || before.is_some_and(|before| before.stems.contains(stem))
        });
        let (score, count) = hits.fold((0.0, 0), |(score, count), (_, weight)| (score + weight, count + 1));
        if best.is_none_or(|(old, _, _)| score > old) && answers(case, sentence, wanted) {
            best = Some((score, at, count));
        }
    }
    let (score, at, count) = best?;
    let enough = total > 0.0 && score >= ON_THE_POINT * total && count >= WORDS;
    enough
        .then(|| case.shown.sentences.get(at).map(|sentence| (sentence, count)))
        .flatten()
}

fn answers(case: &Case<'_>, sentence: &Sentence, wanted: Wanted) -> bool {
    let new_value = |time: bool| {
        sentence.values.iter().any(|found| {
            let kind = matches!(found.value, Value::Date(_) | Value::Year(_)) == time;
            kind && !case.given.has(found.value)
        })
    };
    match wanted {
        Wanted::Time => new_value(true),
        Wanted::Number => new_value(false),
        Wanted::Choice => true,
        Wanted::Name => {
            let mut tokens = Vec::new();
            let text = case
                .run
                .spans()
                .get(sentence.span)
                .map_or("", |span| span.text.as_str());
            text::tokens(text, sentence.start, sentence.end, true, &mut tokens);
            tokens.iter().skip(1).any(|token| {
                token.end - token.start >= 3 && token.shape == Shape::Capital && !case.given.stems.contains(&token.stem)
            })
        }
    }
}
