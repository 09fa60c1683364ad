//! Something said of one subject that was shown of another.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::statements::{Standing, Statement};
use crate::offline::text::{Shape, Token};

/// A clause with a named subject.
struct Clause<'st> {
    subject: Vec<&'st Token>,
    /// What is said of it: content words that some tool output has.
    said: Vec<&'st Token>,
}

/// Least weight share of the predicate that one passage about another subject must have.
const ELSEWHERE: f64 = 0.7;
/// Most weight share that passages about the subject itself may have.
const OF_IT: f64 = 0.45;

/// Every settled statement with a subject that the run has documents about.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    for (index, statement) in case.statements.iter().enumerate() {
        let skip = statement.standing != Standing::Settled || statement.seen == 0 || statement.answer;
        if skip || statement.cues.has(Cue::Negation) || statement.cues.has(Cue::GiveUp) {
            continue;
        }
        let defect = clauses(case, statement)
            .into_iter()
            .find_map(|clause| misattributed(case, index, statement, &clause));
        out.extend(defect);
    }
}

/// Words that begin a clause with a subject of its own.
const TURNS: &[&str] = &[
    "whereas", "while", "but", "whilst", "during", "während", "aber", "mientras", "pero", "tandis", "mais",
];

fn clauses<'st>(case: &Case<'_>, statement: &'st Statement) -> Vec<Clause<'st>> {
    let mut parts: Vec<Vec<&Token>> = vec![Vec::new()];
    for token in &statement.tokens {
        let word = case.slice(statement.span, token.start, token.end).to_lowercase();
        if TURNS.contains(&word.as_str()) {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token);
        }
    }
    parts
        .into_iter()
        .filter_map(|part| clause(case, statement, &part))
        .collect()
}

/// Subject: the first names of the clause that head a document. The rest is what is said.
fn clause<'st>(case: &Case<'_>, statement: &Statement, part: &[&'st Token]) -> Option<Clause<'st>> {
    let mut subject: Vec<&Token> = Vec::new();
    let mut end = 0;
    for (at, token) in part.iter().enumerate() {
        let name = token.shape == Shape::Capital || (token.shape == Shape::Number && !subject.is_empty());
        let useful = name && !lexicon::is_stop(token.stem) && (heads(case, token.stem) || token.shape == Shape::Number);
        if useful {
            subject.push(token);
            end = at;
        } else if !subject.is_empty() {
            let word = case.slice(statement.span, token.start, token.end);
            // `In the Realm of the Hackers`: small words inside a title.
            let inside = matches!(
                word,
                "of" | "the" | "and" | "in" | "de" | "la" | "st" | "nd" | "rd" | "th"
            );
            if !inside || part.get(at + 1).is_none_or(|next| next.shape == Shape::Plain) {
                break;
            }
        }
    }
    let rest = part.get(end + 1..).unwrap_or_default();
    let said: Vec<&Token> = rest
        .iter()
        .copied()
        .filter(|token| {
            token.end - token.start >= 3
                && !lexicon::is_stop(token.stem)
                && !subject.iter().any(|name| name.stem == token.stem)
        })
        .filter(|token| case.shown.weight(token.stem) > 0.0)
        .collect();
    (!subject.is_empty() && said.len() >= 3).then_some(Clause { subject, said })
}

fn heads(case: &Case<'_>, stem: u64) -> bool {
    case.shown.docs.iter().any(|doc| doc.title.contains(&stem))
}

fn misattributed(case: &Case<'_>, index: usize, statement: &Statement, clause: &Clause<'_>) -> Option<Defect> {
    let total: f64 = clause.said.iter().map(|token| case.shown.weight(token.stem)).sum();
    let is_subject = |stems: &[u64]| clause.subject.iter().any(|name| stems.contains(&name.stem));
    let mut of_it: f64 = 0.0;
    let mut best: Option<(f64, usize, usize)> = None;
    let mut subject_known = false;
    for doc in &case.shown.docs {
        let (first, last) = doc.sentences;
        if first >= statement.seen {
            break;
        }
        let about = is_subject(&doc.title);
        subject_known |= about;
        let sentences = case.shown.sentences.get(first..last).unwrap_or_default();
        let mentioned = sentences.iter().any(|sentence| is_subject(&sentence.stems));
        let has = |from: usize, to: usize, stem: u64| {
            sentences
                .get(from..to)
                .unwrap_or_default()
                .iter()
                .any(|s| s.stems.contains(&stem))
                || doc.title.contains(&stem)
        };
        let whole: f64 = clause
            .said
            .iter()
            .filter(|token| has(0, sentences.len(), token.stem))
            .map(|token| case.shown.weight(token.stem))
            .sum();
        if about || mentioned {
            of_it = of_it.max(whole / total);
        }
        if about || mentioned || whole < ELSEWHERE * total || doc.title.is_empty() {
            continue;
        }
        for at in 0..sentences.len() {
            let hits: Vec<&&Token> = clause.said.iter().filter(|token| has(at, at + 2, token.stem)).collect();
            let share = hits.iter().map(|token| case.shown.weight(token.stem)).sum::<f64>() / total;
            if share >= ELSEWHERE && best.is_none_or(|(old, _, _)| share > old) {
                best = Some((share, first + at, hits.len()));
            }
        }
    }
    let (_, sentence, hits) = best?;
    if !subject_known || of_it > OF_IT || hits < 3 {
        return None;
    }
    let against = case.shown.sentences.get(sentence)?;
    let subject = case.slice(
        statement.span,
        clause.subject.first()?.start,
        clause.subject.last()?.end,
    );
    Some(Defect {
        check: Check::Misattributed,
        statement: index,
        place: Place {
            span: statement.span,
            start: statement.start,
            end: statement.end,
        },
        focus: clause.subject.first()?.start,
        against: Some(Place {
            span: against.span,
            start: against.start,
            end: against.end,
        }),
        support: SupportStatus::Conflicting,
        why: format!(
            "says of {subject} what the run shows of another subject: {hits} of its words stand there together, and not in what is about {subject}"
        ),
        counted: hits,
        trail: Trail {
            words: clause
                .said
                .iter()
                .chain(&clause.subject)
                .map(|token| token.stem)
                .collect(),
            ..Trail::default()
        },
    })
}
