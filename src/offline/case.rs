//! One run, read once: what was said, what was shown, what was given.

use std::collections::HashSet;

use super::lexicon::{self, Cue};
use super::roles::{self, Role, Segment};
use super::shown::{self, Shown};
use super::statements::{self, Statement};
use super::text::{self, Shape, Stems};
use super::values::{self, Date, Value};
use crate::trajectory::Trajectory;

/// What the task and the user say.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) stems: Stems,
    numbers: HashSet<u64>,
    dates: HashSet<Date>,
    /// Content stems of the question, in order.
    pub(super) question: Vec<u64>,
}

impl Given {
    fn add(&mut self, text: &str, start: usize, end: usize) {
        let mut tokens = Vec::new();
        text::tokens(text, start, end, false, &mut tokens);
        for found in values::values(text, &tokens, true) {
            match found.value {
                Value::Date(date) => {
                    self.dates.insert(date);
                }
                other => {
                    self.numbers.extend(values::as_number(other).map(shown::bits));
                }
            }
        }
        for token in tokens {
            if token.shape == Shape::Number {
                let number = text.get(token.start..token.end).and_then(values::literal);
                self.numbers.extend(number.map(shown::bits));
            }
            self.stems.insert(token.stem);
        }
    }

    /// True when the task or the user says this number, given as a table key.
    pub(super) fn has_number(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }

    /// True when the task or the user says this value.
    pub(super) fn has(&self, value: Value) -> bool {
        match value {
            Value::Date(date) => self.dates.iter().any(|given| date.agrees(*given)),
            other => values::as_number(other).is_some_and(|number| self.numbers.contains(&shown::bits(number))),
        }
    }
}

/// A run, read.
pub(super) struct Case<'run> {
    pub(super) run: &'run Trajectory,
    pub(super) segments: Vec<Segment>,
    pub(super) statements: Vec<Statement>,
    pub(super) shown: Shown,
    pub(super) given: Given,
}

impl<'run> Case<'run> {
    /// Reads a run: linear in its length.
    pub(super) fn read(run: &'run Trajectory) -> Self {
        let segments = roles::segments(run);
        let mut statements = statements::statements(run, &segments);
        let mut given = Given::default();
        let question = run.question();
        given.add(question, 0, question.len());
        let mut tokens = Vec::new();
        text::tokens(question, 0, question.len(), false, &mut tokens);
        given.question = tokens
            .iter()
            .filter(|token| token.end - token.start >= 3 && !lexicon::is_stop(token.stem))
            .map(|token| token.stem)
            .collect();
        for segment in segments.iter().filter(|segment| segment.role == Role::User) {
            if let Some(span) = run.spans().get(segment.span) {
                given.add(&span.text, segment.start, segment.end);
            }
        }
        let mut wanted: Stems = given.question.iter().copied().collect();
        for statement in &statements {
            wanted.extend(statement.tokens.iter().map(|token| token.stem));
            wanted.extend(statement.initials(run));
        }
        let shown = Shown::read(run, &segments, &wanted);
        statements::place(&mut statements, &shown.events);
        Self {
            run,
            segments,
            statements,
            shown,
            given,
        }
    }

    /// The statement that gives the run's answer: the last one inside an answer tag, else the last
    /// one that names an answer.
    pub(super) fn answer(&self) -> Option<usize> {
        let named = |statement: &Statement| statement.answer;
        let called = |statement: &Statement| {
            statement.standing == statements::Standing::Settled && statement.cues.has(Cue::Answer)
        };
        self.statements
            .iter()
            .rposition(named)
            .or_else(|| self.statements.iter().rposition(called))
    }

    /// Words of the run.
    pub(super) fn slice(&self, span: usize, start: usize, end: usize) -> &'run str {
        self.run
            .spans()
            .get(span)
            .and_then(|span| span.text.get(start..end))
            .unwrap_or("")
    }
}
