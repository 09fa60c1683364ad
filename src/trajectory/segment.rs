//! Turns to semantic spans: one local objective a span.
//!
//! The rules look at who speaks, which tools are called and what the texts share; they know no
//! data set and no language. A cut falls between units only.

use std::collections::HashSet;

use super::formats::image::Omitted;
use super::turns::{Role, Turn};
use super::{LocalFields, Span};

/// How turns become spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmenter {
    /// By the rules of this module.
    #[default]
    Rules,
    /// One span a unit (a raw step of the log).
    PerTurn,
}

/// A span longer than this many bytes takes no further unit.
const SPAN_LIMIT: usize = 120_000;
/// A single unit longer than this many bytes is cut at a line's end.
const UNIT_LIMIT: usize = 400_000;

/// Takes units one at a time and hands out spans as they close.
pub(crate) struct Cutter {
    segmenter: Segmenter,
    /// Units of the open span.
    open: Vec<Vec<Turn>>,
    bytes: usize,
    state: rules::State,
    spans: usize,
}

impl Cutter {
    pub(crate) fn new(segmenter: Segmenter) -> Self {
        Self {
            segmenter,
            open: Vec::new(),
            bytes: 0,
            state: rules::State::default(),
            spans: 0,
        }
    }

    /// Adds a unit; the spans that are closed by it.
    pub(crate) fn push(&mut self, unit: Vec<Turn>) -> Vec<(Span, Vec<Omitted>)> {
        if unit.is_empty() {
            return Vec::new();
        }
        let cut = match self.segmenter {
            Segmenter::PerTurn => true,
            Segmenter::Rules => self.state.cuts_before(&unit) || self.bytes > SPAN_LIMIT,
        };
        let mut closed = Vec::new();
        if cut && !self.open.is_empty() {
            closed = self.close();
        }
        self.bytes += unit.iter().map(|turn| turn.text.len()).sum::<usize>();
        self.open.push(unit);
        closed
    }

    /// The spans that are left.
    pub(crate) fn finish(mut self) -> Vec<(Span, Vec<Omitted>)> {
        let last = match self.segmenter {
            Segmenter::Rules => self.state.last_report(&self.open),
            Segmenter::PerTurn => None,
        };
        let tail = last.map(|at| self.open.split_off(at)).unwrap_or_default();
        let mut spans = self.close();
        if !tail.is_empty() {
            self.open = tail;
            spans.append(&mut self.close());
        }
        spans
    }

    fn close(&mut self) -> Vec<(Span, Vec<Omitted>)> {
        self.bytes = 0;
        let turns: Vec<Turn> = self.open.drain(..).flatten().collect();
        let parts = parts(turns);
        let first = self.spans;
        self.spans += parts.len();
        let numbered = parts.into_iter().enumerate();
        numbered
            .map(|(at, mut turns)| {
                let omitted = turns
                    .iter_mut()
                    .flat_map(|turn| std::mem::take(&mut turn.omitted))
                    .collect();
                (span(&turns, first + at + 1), omitted)
            })
            .collect()
    }
}

/// A span's turns, cut at line ends where they exceed the limit.
fn parts(turns: Vec<Turn>) -> Vec<Vec<Turn>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut size = 0;
    for turn in turns {
        let mut rest = turn;
        while size + rest.text.len() > UNIT_LIMIT && rest.text.len() > UNIT_LIMIT / 2 {
            let mut at = rest.text.floor_char_boundary(UNIT_LIMIT.saturating_sub(size).max(1));
            at = rest
                .text
                .get(..at)
                .and_then(|head| head.rfind('\n'))
                .map_or(at, |line| line + 1);
            if at == 0 {
                break;
            }
            let tail = rest.text.split_off(at);
            let next = Turn {
                text: tail,
                omitted: Vec::new(),
                ..rest.clone()
            };
            part.push(std::mem::replace(&mut rest, next));
            parts.push(std::mem::take(&mut part));
            size = 0;
        }
        size += rest.text.len();
        part.push(rest);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

fn span(turns: &[Turn], number: usize) -> Span {
    let texts: Vec<String> = turns.iter().map(Turn::rendered).collect();
    let agents: HashSet<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
    let steps = || turns.iter().map(|turn| turn.step as i64);
    Span {
        id: format!("s{number:03}"),
        text: texts.join("\n\n"),
        raw_start_step: steps().min(),
        raw_end_step: steps().max(),
        local: LocalFields {
            agent: agents
                .iter()
                .next()
                .filter(|_| agents.len() == 1)
                .map(|&agent| agent.to_owned()),
            observation: Some(turns.iter().all(|turn| turn.role.is_observation())),
            other: serde_json::Map::new(),
        },
    }
}

/// Turns by unit.
pub(crate) fn units(turns: Vec<Turn>) -> Vec<Vec<Turn>> {
    let mut units: Vec<Vec<Turn>> = Vec::new();
    for turn in turns {
        match units.last_mut() {
            Some(unit) if unit.last().is_some_and(|last| last.unit == turn.unit) => unit.push(turn),
            _ => units.push(vec![turn]),
        }
    }
    units
}

mod rules {
    //! The rules, on features of units.

    use super::*;

    #[derive(Default)]
    pub(super) struct State {
        seen: usize,
    }

    impl State {
        pub(super) fn cuts_before(&mut self, unit: &[Turn]) -> bool {
            self.seen += 1;
            unit.iter().any(|turn| turn.role == Role::User)
        }
        pub(super) fn last_report(&self, open: &[Vec<Turn>]) -> Option<usize> {
            (open.len() > 1).then(|| open.len() - 1)
        }
    }
}
