//! What the agent says: its sentences, and how it stands to each of them.

use super::lexicon::{self, Cue, Cues};
use super::roles::{Role, Segment};
use super::shown::Event;
use super::text::{self, Shape, Token};
use super::values::{self, Found};
use crate::trajectory::Trajectory;

/// How the agent stands to a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Stated as so.
    Settled,
    /// Held as possible, planned, asked, or thought aloud.
    Open,
    /// Named in order to be rejected, or taken back.
    Rejected,
    /// Speaks of the task.
    Task,
}

/// A sentence of the agent.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) span: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) standing: Standing,
    pub(super) cues: Cues,
    /// Inside an answer tag.
    pub(super) answer: bool,
    pub(super) tokens: Vec<Token>,
    pub(super) values: Vec<Found>,
    /// Number of evidence sentences shown before it.
    pub(super) seen: usize,
    /// Index of the last tool output before it, plus one; 0 when there was none.
    pub(super) events: usize,
}

impl Statement {
    /// The sentence.
    pub(super) fn text<'run>(&self, run: &'run Trajectory) -> &'run str {
        run.spans()
            .get(self.span)
            .and_then(|span| span.text.get(self.start..self.end))
            .unwrap_or("")
    }

    /// True when the sentence reports what a source has.
    pub(super) fn cites(&self) -> bool {
        self.cues.has(Cue::Cite) && self.cues.has(Cue::Asserts)
    }

    /// The stem of its capitalised words' initials, when it is the answer: `Severe Acute Respiratory
    /// Syndrome` is shown where `SARS` is.
    pub(super) fn initials(&self, run: &Trajectory) -> Option<u64> {
        let text = run.spans().get(self.span)?.text.as_str();
        let capitals = self.tokens.iter().filter(|token| token.shape == Shape::Capital);
        let letters: String = capitals
            .filter_map(|token| text.get(token.start..)?.chars().next())
            .collect();
        (self.answer && letters.chars().count() >= 2).then(|| text::stem(&letters))
    }

    /// Stems that say what it is about: no numbers, no stop words.
    pub(super) fn content(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| {
            token.shape != Shape::Number && token.end - token.start >= 3 && !lexicon::is_stop(token.stem)
        })
    }
}

/// The agent's sentences in order. `seen` and `events` are filled in by [`place`].
pub(super) fn statements(run: &Trajectory, segments: &[Segment]) -> Vec<Statement> {
    let mut out = Vec::new();
    for segment in segments {
        if !matches!(segment.role, Role::Agent | Role::Answer | Role::Thinking) {
            continue;
        }
        let Some(text) = run.spans().get(segment.span).map(|span| span.text.as_str()) else {
            continue;
        };
        for (start, end) in text::sentences(text, segment.start, segment.end, false) {
            out.push(statement(text, segment, start, end));
        }
    }
    out
}

fn statement(text: &str, segment: &Segment, start: usize, end: usize) -> Statement {
    let sentence = text.get(start..end).unwrap_or("");
    let lower = sentence.to_lowercase();
    let cues = lexicon::cues(&lower);
    let mut tokens = Vec::new();
    text::tokens(text, start, end, false, &mut tokens);
    let values = values::values(text, &tokens, true);
    let values = without_list_mark(text, start, values);
    Statement {
        span: segment.span,
        start,
        end,
        standing: standing(segment.role, sentence, cues),
        cues,
        answer: segment.role == Role::Answer,
        tokens,
        values,
        seen: 0,
        events: 0,
    }
}

/// `1. …` and `2) …` number a list.
fn without_list_mark(text: &str, start: usize, mut values: Vec<Found>) -> Vec<Found> {
    if let Some(first) = values.first()
        && first.start == start
        && text
            .get(first.end..)
            .is_some_and(|rest| rest.starts_with(['.', ')', ':']))
    {
        values.remove(0);
    }
    values
}

fn standing(role: Role, sentence: &str, cues: Cues) -> Standing {
    if role == Role::Thinking {
        return Standing::Open;
    }
    if role == Role::Answer {
        return Standing::Settled;
    }
    let trimmed = sentence.trim_end_matches(['"', '*', ')', '\u{201d}']);
    if trimmed.ends_with(['?', '？']) {
        return Standing::Open;
    }
    if cues.has(Cue::Correction) || (cues.has(Cue::Reject) && !cues.has(Cue::Answer)) {
        return Standing::Rejected;
    }
    if cues.has(Cue::Task) && !cues.has(Cue::Answer) && !cues.has(Cue::Conclude) {
        return Standing::Task;
    }
    let conditional = first_word(sentence).eq_ignore_ascii_case("if");
    if cues.has(Cue::Hedge) || cues.has(Cue::Plan) || conditional || is_heading(trimmed) || is_imperative(sentence) {
        return Standing::Open;
    }
    Standing::Settled
}

fn first_word(sentence: &str) -> &str {
    let rest = sentence.trim_start_matches(|c: char| !c.is_alphabetic());
    rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or("")
}

/// `## Steps`, `Updated ledger:`: a line that says what comes, not what is so.
fn is_heading(sentence: &str) -> bool {
    let short = sentence.split_whitespace().count() <= 8;
    sentence.starts_with('#') || (short && sentence.ends_with([':', '：']))
}

/// Verbs that open an instruction. A sentence that begins with one asks for something.
const INSTRUCTIONS: &[&str] = &[
    "perform",
    "ensure",
    "use",
    "verify",
    "check",
    "generate",
    "extract",
    "identify",
    "provide",
    "proceed",
    "consider",
    "run",
    "search",
    "find",
    "look",
    "visit",
    "open",
    "click",
    "scroll",
    "review",
    "confirm",
    "calculate",
    "compute",
    "determine",
    "please",
    "try",
    "go",
    "navigate",
    "return",
    "seek",
    "collect",
    "gather",
    "obtain",
    "print",
    "import",
    "define",
    "load",
    "save",
    "create",
    "write",
    "read",
    "make",
    "suggest",
    "compare",
    "analyze",
];

fn is_imperative(sentence: &str) -> bool {
    let first = first_word(sentence);
    INSTRUCTIONS.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}

/// Says of every statement what had been shown before it.
pub(super) fn place(statements: &mut [Statement], events: &[Event]) {
    let mut next = 0;
    let mut seen = 0;
    for statement in statements {
        while let Some(event) = events.get(next)
            && (event.span, event.start) < (statement.span, statement.start)
        {
            seen = event.seen;
            next += 1;
        }
        statement.seen = seen;
        statement.events = next;
    }
}
