//! Files to runs: rows of spans (TELBench and the shapes of the released DRIFT code) and the logs
//! of agent frameworks, as JSON or JSONL.
//!
//! The suffix of a file says nothing; its content does. What counts as a record:
//!
//! - A line that is one JSON value is a record (JSONL). Lines are read one at a time, so memory
//!   follows the longest line, not the file. Blank lines are skipped.
//! - A value that runs over several lines (pretty-printed) is one document; several documents
//!   may follow each other, on their own lines or on one.
//! - A list, or an object with `items`, holds a record an element.
//! - A line that was cut is a failed record of its own: the lines after it that stand alone are
//!   read as usual. Of a document that was cut, the whole elements are kept and the rest is one
//!   failed record.
//! - A file without any record is one failed record, so that nothing is passed over in silence.
//! - A record without spans is a log: its format is told by its content, its turns are cut into
//!   spans. Formats that write an event a line make one run of the file; a corrupt line among
//!   them is left out with a warning. Of a log document that was cut, everything up to the last
//!   whole value is kept, with a warning.

mod agentchat;
mod agentrx;
mod anthropic;
mod atif;
mod build;
mod captain_agent;
mod claude_code;
mod codex;
mod detect;
mod generic;
pub(crate) mod image;
mod lines;
mod log;
mod logs;
mod magentic_one;
mod miroflow;
mod openai_chat;
mod openai_responses;
mod openhands;
mod python;
mod reader;
mod redact;
mod repair;
mod row;
mod shape;
mod smolagents;
mod swe_agent;
mod tau_bench;
mod text;

use std::io::BufRead;

pub(crate) use log::named;
pub use reader::{LogSpan, LogTail, Part, Parts};

use super::segment::Segmenter;
use super::{Source, Trajectory, Warning};

/// How to read files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The question of every run read, whatever the record says.
    pub question: Option<String>,
    /// Name of the log format, one of [`formats()`]; `None` tells it by the content. Rows that already
    /// are spans are read as such either way.
    pub from: Option<String>,
    /// How turns of logs become spans.
    pub segmenter: Segmenter,
    /// Cut rows that already are spans anew, each span being one turn.
    pub resegment: bool,
    /// Mask mail addresses, keys, tokens and home folders in all text.
    pub redact: bool,
}

/// Names of the log formats and what they are, in a fixed order.
#[must_use]
pub fn formats() -> Vec<(&'static str, &'static str)> {
    detect::FORMATS
        .iter()
        .map(|format| (format.name(), format.about()))
        .collect()
}

/// One record of a file: a run, or why it cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// File and line.
    pub source: Source,
    /// The run with its warnings, or the error.
    pub outcome: Result<Loaded, InputError>,
}

/// A run that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The run.
    pub run: Trajectory,
    /// What was odd in the record; each names file, line and span.
    pub warnings: Vec<Warning>,
    /// How the log was read; `None` for a row that was spans already.
    pub log: Option<LogInfo>,
}

/// How a log was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogInfo {
    /// The format's name.
    pub format: String,
    /// Turns found.
    pub turns: usize,
}

/// A record that cannot be read. The message names file and line, says what is wrong and what
/// would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// File and line.
    pub source: Source,
    /// The record's id, when it could be read.
    pub case_id: Option<String>,
    /// The message.
    pub message: String,
}

// Written out because thiserror would take the field `source` for an underlying error.
impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

/// The records of one file, read as they are asked for.
pub struct Records<R>(Parts<R>);

impl<R: BufRead> Records<R> {
    /// Reads `reader`; `file` is its name for messages (`-` for standard input) and names runs
    /// that have no id.
    pub fn new(reader: R, file: &str, options: ReadOptions) -> Self {
        Self(Parts::new(reader, file, options))
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let mut pieces = Vec::new();
        loop {
            match self.0.next()? {
                Part::Record(record) => return Some(*record),
                Part::Piece(piece) => pieces.push(piece.0),
                Part::End(end) => {
                    return Some(Record {
                        source: end.0.source.clone(),
                        outcome: Ok(logs::loaded(end.0, pieces)),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod tests;
