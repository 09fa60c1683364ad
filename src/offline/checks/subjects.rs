//! Something said of one subject that was shown of another.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::shown::Shown;
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{BySentence, Shape, Token};

/// A clause with a named subject.
struct Clause<'st> {
    subject: Vec<&'st Token>,
    /// What is said of it: content words that some tool output has.
    said: Vec<&'st Token>,
}

/// Least weight share of the predicate that one passage about another subject must have.
const ELSEWHERE: f64 = 0.65;
/// Least weight share of the words that stand nowhere in what is about the subject, three of them at
/// least.
const FOREIGN: f64 = 0.5;
/// Passages looked at for one clause, best first.
const LOOKED_AT: usize = 24;

/// Every settled statement with a subject that the run has documents about.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    for (index, statement) in case.statements.iter().enumerate() {
        let skip = statement.standing != Standing::Settled || statement.seen == 0 || statement.answer;
        if skip || statement.cues.has(Cue::GiveUp) || compares(case, statement) {
            continue;
        }
        let found = clauses(case, statement).into_iter().find_map(|clause| {
            misattributed(case, index, statement, &clause).or_else(|| asked_word(case, index, statement, &clause))
        });
        out.extend(found);
    }
}

/// `older than`: says something of two subjects at once.
fn compares(case: &Case<'_>, statement: &Statement) -> bool {
    let than = ["than", "als", "que", "比"];
    statement.cues.has(Cue::Difference)
        && statement
            .tokens
            .iter()
            .any(|token| than.contains(&case.slice(statement.span, token.start, token.end)))
}

/// Words that begin a clause with a subject of its own.
const TURNS: &[&str] = &[
    "whereas", "while", "but", "whilst", "während", "aber", "mientras", "pero", "tandis", "mais",
];

fn clauses<'st>(case: &Case<'_>, statement: &'st Statement) -> Vec<Clause<'st>> {
    let mut parts: Vec<Vec<&Token>> = vec![Vec::new()];
    let mut last = statement.start;
    for (at, token) in statement.tokens.iter().enumerate() {
        let word = case.slice(statement.span, token.start, token.end).to_lowercase();
        let gap = case.slice(statement.span, last, token.start);
        // `…, Zurracapote is …`: a comma, a name that heads a document, and no second name.
        let verb = statement
            .tokens
            .get(at + 1)
            .is_some_and(|next| next.shape == Shape::Plain && next.end - next.start <= 4);
        let new_subject =
            gap.trim_start().starts_with(',') && gap.trim().len() == 1 && heads(&case.shown, token) && verb;
        last = token.end;
        if TURNS.contains(&word.as_str()) {
            parts.push(Vec::new());
            continue;
        }
        if new_subject {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts
        .into_iter()
        .filter_map(|part| clause(case, statement, &part))
        .collect()
}

fn heads(shown: &Shown, token: &Token) -> bool {
    token.shape == Shape::Capital && !lexicon::is_stop(token.stem) && !shown.titled(token.stem).is_empty()
}

/// Small words inside a title, and the endings of `18th`.
const INSIDE: &[&str] = &[
    "of", "the", "and", "in", "de", "la", "st", "nd", "rd", "th", "von", "van", "du", "del",
];

/// Subject: the first names of the clause that head a document. The rest is what is said.
fn clause<'st>(case: &Case<'_>, statement: &Statement, part: &[&'st Token]) -> Option<Clause<'st>> {
    let mut subject: Vec<&Token> = Vec::new();
    let mut end = 0;
    for (at, token) in part.iter().enumerate() {
        let ordinal = token.shape == Shape::Number
            && part
                .get(at + 1)
                .is_some_and(|next| INSIDE.contains(&case.slice(statement.span, next.start, next.end)));
        if heads(&case.shown, token) || (ordinal && case.shown.has_stem(token.stem, statement.seen)) {
            subject.push(token);
            end = at;
        } else if !subject.is_empty() {
            let inside = INSIDE.contains(&case.slice(statement.span, token.start, token.end));
            let next_is_name = part.get(at + 1).is_some_and(|next| next.shape != Shape::Plain);
            let two_on = part.get(at + 2).is_some_and(|next| next.shape == Shape::Capital);
            if !inside || !(next_is_name || two_on) {
                break;
            }
        }
    }
    let rest = part.get(end + 1..).unwrap_or_default();
    let mut said: Vec<&Token> = Vec::new();
    for token in rest {
        let content =
            token.end - token.start >= 3 && !lexicon::is_stop(token.stem) && case.shown.weight(token.stem) > 0.0;
        let new = !subject.iter().chain(&said).any(|known| known.stem == token.stem);
        if content && new {
            said.push(token);
        }
    }
    (!subject.is_empty() && !said.is_empty()).then_some(Clause { subject, said })
}

/// Weight of the clause's words sentence by sentence.
struct Cover {
    sentences: Vec<(usize, f64)>,
    total: f64,
}

fn cover(shown: &Shown, said: &[&Token], seen: usize) -> Cover {
    let mut sentences: BySentence<f64> = BySentence::default();
    let mut total = 0.0;
    for token in said {
        let weight = shown.weight(token.stem);
        total += weight;
        for place in shown.with_stem(token.stem, seen) {
            *sentences.entry(*place).or_default() += weight;
        }
    }
    let mut sentences: Vec<(usize, f64)> = sentences
        .into_iter()
        .map(|(place, weight)| (place as usize, weight))
        .collect();
    sentences.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Cover { sentences, total }
}

/// The subject's rarest name: the word that tells it from its neighbours.
fn mark(shown: &Shown, clause: &Clause<'_>) -> Option<u64> {
    clause
        .subject
        .iter()
        .map(|name| (shown.weight(name.stem), name.stem))
        .filter(|(weight, _)| *weight > 0.0)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, stem)| stem)
}

/// Sentences that hold the subject's mark, with their neighbours in the same document.
fn near_subject(shown: &Shown, mark: u64, at: usize) -> bool {
    let has = |at: usize| {
        shown
            .sentences
            .get(at)
            .is_some_and(|sentence| sentence.stems.contains(&mark))
    };
    let same = |other: usize| {
        shown.sentences.get(other).map(|sentence| sentence.doc) == shown.sentences.get(at).map(|sentence| sentence.doc)
    };
    has(at) || (same(at + 1) && has(at + 1)) || at.checked_sub(1).is_some_and(|before| same(before) && has(before))
}

/// True when the word stands in a document or beside a mention of the subject.
fn of_subject(shown: &Shown, mark: u64, word: u64, seen: usize) -> bool {
    let about = shown.titled(mark);
    shown.with_stem(word, seen).iter().any(|at| {
        let doc = shown.sentences.get(*at as usize).map(|sentence| sentence.doc);
        near_subject(shown, mark, *at as usize)
            || doc.is_some_and(|doc| about.iter().any(|known| *known as usize == doc))
    })
}

fn misattributed(case: &Case<'_>, index: usize, statement: &Statement, clause: &Clause<'_>) -> Option<Defect> {
    let shown = &case.shown;
    if clause.said.len() < 3 || statement.cues.has(Cue::Negation) {
        return None;
    }
    let mark = mark(shown, clause)?;
    let about = shown.titled(mark);
    let cover = cover(shown, &clause.said, statement.seen);
    if about.is_empty() {
        return None;
    }
    let (at, hits) = cover.sentences.iter().take(LOOKED_AT).find_map(|(at, _)| {
        let sentence = shown.sentences.get(*at)?;
        let title = shown.title_of(*at);
        let next = shown.sentences.get(at + 1).filter(|next| next.doc == sentence.doc);
        let has = |stem: u64| {
            sentence.stems.contains(&stem)
                || title.contains(&stem)
                || next.is_some_and(|next| next.stems.contains(&stem))
        };
        let hits: Vec<&&Token> = clause.said.iter().filter(|token| has(token.stem)).collect();
        let share: f64 = hits.iter().map(|token| shown.weight(token.stem)).sum();
        // Where the clause names the other subject too, it may be right about that one.
        let named = clause
            .said
            .iter()
            .filter(|token| token.shape == Shape::Capital && title.contains(&token.stem))
            .count();
        let other = !title.is_empty() && !title.contains(&mark) && !sentence.stems.contains(&mark) && named == 0;
        if !other || hits.len() < 3 || share < ELSEWHERE * cover.total {
            return None;
        }
        let foreign: Vec<&&&Token> = hits
            .iter()
            .filter(|token| !of_subject(shown, mark, token.stem, statement.seen))
            .collect();
        let weight: f64 = foreign.iter().map(|token| shown.weight(token.stem)).sum();
        (foreign.len() >= 3 && weight >= FOREIGN * cover.total).then_some((*at, foreign.len()))
    })?;
    let against = shown.sentences.get(at)?;
    let subject = case.slice(
        statement.span,
        clause.subject.first()?.start,
        clause.subject.last()?.end,
    );
    let why = format!(
        "says of {subject} what the run shows of another subject: {hits} of its words stand there together, and not in what is about {subject}"
    );
    let place = Place {
        span: against.span,
        start: against.start,
        end: against.end,
    };
    Some(defect(index, statement, clause, place, why, hits))
}

/// A word that the question turns on, said of a subject by its own source, where nothing about the
/// subject has it and something about another does.
fn asked_word(case: &Case<'_>, index: usize, statement: &Statement, clause: &Clause<'_>) -> Option<Defect> {
    let shown = &case.shown;
    if !statement.cites() || statement.cues.has(Cue::Negation) {
        return None;
    }
    let mark = mark(shown, clause)?;
    let about = shown.titled(mark);
    let word = clause.said.iter().find(|token| {
        let asked = case.given.question.contains(&token.stem) && token.shape == Shape::Plain;
        let places = shown.with_stem(token.stem, statement.seen);
        let elsewhere = places.iter().any(|at| !shown.title_of(*at as usize).is_empty());
        asked && elsewhere && !of_subject(shown, mark, token.stem, statement.seen)
    })?;
    let at = *shown.with_stem(word.stem, statement.seen).first()? as usize;
    let against = shown.sentences.get(at)?;
    let named = case.slice(statement.span, word.start, word.end);
    let subject = case.slice(
        statement.span,
        clause.subject.first()?.start,
        clause.subject.last()?.end,
    );
    let why = format!("cites a source on {subject} for \"{named}\", which nothing shown about {subject} has");
    let place = Place {
        span: against.span,
        start: against.start,
        end: against.end,
    };
    (about.len() >= 2).then(|| defect(index, statement, clause, place, why, 2))
}

fn defect(
    index: usize,
    statement: &Statement,
    clause: &Clause<'_>,
    against: Place,
    why: String,
    counted: usize,
) -> Defect {
    Defect {
        check: Check::Misattributed,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: clause.subject.first().map_or(statement.start, |name| name.start),
        against: Some(against),
        support: SupportStatus::Conflicting,
        why,
        counted,
        trail: Trail {
            words: clause
                .said
                .iter()
                .chain(&clause.subject)
                .map(|token| token.stem)
                .collect(),
            ..Trail::default()
        },
    }
}
