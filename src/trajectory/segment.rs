//! Turns to semantic spans: one local objective a span.
//!
//! The rules look at who speaks, which tools are called and what the texts share; they know no
//! data set and no language. A cut falls between units only.

mod rules;
mod words;

use std::collections::HashSet;

use super::formats::image::Omitted;
use super::formats::named;
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
    /// Units of the span before, held back until it is sure that nothing joins it.
    held: Vec<Vec<Turn>>,
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
            held: Vec::new(),
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
            Segmenter::Rules => {
                let full = self.bytes > SPAN_LIMIT;
                self.state.cuts_before(&unit, full)
            }
        };
        let mut closed = Vec::new();
        if cut && !self.open.is_empty() {
            closed = self.release();
            self.held = std::mem::take(&mut self.open);
            self.bytes = 0;
        }
        self.bytes += unit.iter().map(|turn| turn.text.len()).sum::<usize>();
        self.open.push(unit);
        closed
    }

    /// The spans that are left.
    pub(crate) fn finish(mut self) -> Vec<(Span, Vec<Omitted>)> {
        if self.segmenter == Segmenter::Rules && rules::State::is_closing(&self.open) && !self.held.is_empty() {
            // The user's goodbye goes with what it answers.
            self.open.splice(0..0, std::mem::take(&mut self.held));
        }
        let mut spans = self.release();
        let last = match self.segmenter {
            Segmenter::Rules => self.state.last_report(&self.open),
            Segmenter::PerTurn => None,
        };
        let tail = last.map(|at| self.open.split_off(at)).unwrap_or_default();
        for units in [std::mem::take(&mut self.open), tail] {
            self.held = units;
            spans.append(&mut self.release());
        }
        spans
    }

    /// Makes spans of the units held back.
    fn release(&mut self) -> Vec<(Span, Vec<Omitted>)> {
        let turns: Vec<Turn> = self.held.drain(..).flatten().collect();
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
    Span {
        id: format!("s{number:03}"),
        text: texts.join("\n\n"),
        raw_start_step: turns.iter().map(|turn| turn.step as i64).min(),
        raw_end_step: turns.iter().map(|turn| turn.last_step as i64).max(),
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

/// Cuts spans anew, each of them being one turn; their text is kept as it is.
pub(crate) fn anew(spans: Vec<Span>, segmenter: Segmenter) -> Vec<Span> {
    let mut cutter = Cutter::new(segmenter);
    let mut cut = Vec::new();
    for (unit, span) in spans.into_iter().enumerate() {
        cut.append(&mut cutter.push(vec![turn_of(span, unit)]));
    }
    cut.append(&mut cutter.finish());
    cut.into_iter().map(|(span, _)| span).collect()
}

fn turn_of(span: Span, unit: usize) -> Turn {
    // A head line in brackets names the speaker, when no field does.
    let head = span.text.split_once('\n').map(|(line, _)| line.trim_end());
    let head = head
        .and_then(|line| line.strip_prefix('[')?.strip_suffix(']'))
        .map(str::to_owned);
    let name = span.local.agent.clone().or_else(|| head.clone()).unwrap_or_default();
    let (role, agent) = named(&name);
    let role = match (role, span.local.observation) {
        (Role::Agent, Some(true)) => Role::ToolResult,
        (role, _) => role,
    };
    let tool = span
        .text
        .split_once(CALL)
        .and_then(|(_, call)| Some(call.split_once('(')?.0.to_owned()));
    let role = if role == Role::Agent && tool.is_some() {
        Role::ToolCall
    } else {
        role
    };
    let (head, text) = match head {
        Some(head) => {
            let (head, text) = span.text.split_at(span.text.find('\n').map_or(head.len(), |at| at + 1));
            (head.to_owned(), text.to_owned())
        }
        None => (String::new(), span.text),
    };
    let step = span
        .raw_start_step
        .and_then(|step| usize::try_from(step).ok())
        .unwrap_or(unit);
    let last = span
        .raw_end_step
        .and_then(|step| usize::try_from(step).ok())
        .unwrap_or(step);
    Turn {
        role,
        agent,
        tool: tool.filter(|_| role == Role::ToolCall),
        time: None,
        step,
        last_step: last,
        unit,
        depth: 0,
        head: Some(head),
        text,
        omitted: Vec::new(),
    }
}

/// How rows of spans write a tool call down: `<tool_call name(arguments)>`.
const CALL: &str = "<tool_call ";

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

#[cfg(test)]
mod tests;
