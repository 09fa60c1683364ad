//! Files to runs: TELBench rows and the shapes of the released DRIFT code, as JSON or JSONL.
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

mod build;
mod image;
mod lines;
mod repair;
mod row;
mod text;

use std::collections::VecDeque;
use std::io::BufRead;

use build::Context;
use lines::{Joined, Lines};
use row::{Doc, RawRow};

use super::{Source, Trajectory, Warning};

/// How to read files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The question of every run read, whatever the record says.
    pub question: Option<String>,
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
pub struct Records<R> {
    lines: Lines<R>,
    file: String,
    options: ReadOptions,
    queue: VecDeque<Record>,
    buffer: Vec<u8>,
    /// Records handed out or queued so far.
    seen: u64,
    /// Inside the remains of a broken document: stray brackets are no records.
    broken: bool,
    done: bool,
}

impl<R: BufRead> Records<R> {
    /// Reads `reader`; `file` is its name for messages (`-` for standard input) and names runs
    /// that have no id.
    pub fn new(reader: R, file: &str, options: ReadOptions) -> Self {
        Self {
            lines: Lines::new(reader),
            file: file.to_owned(),
            options,
            queue: VecDeque::new(),
            buffer: Vec::new(),
            seen: 0,
            broken: false,
            done: false,
        }
    }

    /// Reads the next line or document into the queue.
    fn fill(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let more = match self.lines.next(&mut buffer) {
            Ok(more) => more,
            Err(error) => {
                self.stop(&format!("cannot read on: {error}"));
                return;
            }
        };
        if !more {
            if self.seen == 0 {
                self.stop("the file is empty; expected a run as JSON, or one run a line");
            }
            self.done = true;
            return;
        }
        if self.seen == 0
            && let Some(problem) = foreign(&buffer)
        {
            self.stop(problem);
            return;
        }
        if !(self.broken && (lines::is_closing(&buffer) || !buffer.starts_with(b"{") && !buffer.starts_with(b"["))) {
            self.chunk(&mut buffer);
        }
        self.buffer = buffer;
    }

    /// Queues one last failed record.
    fn stop(&mut self, problem: &str) {
        let line = self.lines.number().max(1);
        self.fail(line, None, problem);
        self.done = true;
    }

    fn fail(&mut self, line: u64, case_id: Option<String>, problem: &str) {
        let source = self.source(Some(line));
        let message = format!("{source}: {problem}");
        self.push(Record {
            source: source.clone(),
            outcome: Err(InputError {
                source,
                case_id,
                message,
            }),
        });
    }

    fn push(&mut self, record: Record) {
        self.seen += 1;
        self.queue.push_back(record);
    }

    fn source(&self, line: Option<u64>) -> Source {
        Source {
            file: self.file.clone(),
            line,
        }
    }

    /// Reads one line, joining more to it when it is the head of a document.
    fn chunk(&mut self, buffer: &mut Vec<u8>) {
        let first_line = self.lines.number();
        let whole =
            std::str::from_utf8(lines::strip_marks(buffer)).is_ok_and(|text| self.text(text, first_line, None, false));
        if whole {
            self.broken = false;
            return;
        }
        let start = first_line;
        let joined = match lines::join(&mut self.lines, buffer) {
            Ok(joined) => joined,
            Err(error) => {
                self.stop(&format!("cannot read on: {error}"));
                return;
            }
        };
        let repaired = repair::repair(lines::strip_marks(buffer));
        let text = repaired.text.trim_end();
        let text = if self.broken { text.trim_end_matches(',') } else { text };
        let read = joined == Joined::Whole && self.text(text, start, Some(repaired.stand_in), false);
        if !read {
            self.broken = opens_document(buffer);
            self.salvage(text, start, repaired.stand_in, joined);
        }
    }

    /// Queues the records of a text that holds whole JSON values; `false`, and nothing queued,
    /// when it does not.
    fn text(&mut self, text: &str, line: u64, stand_in: Option<char>, part: bool) -> bool {
        let values: Result<Vec<Doc<'_>>, serde_json::Error> = serde_json::Deserializer::from_str(text)
            .into_iter::<Doc<'_>>()
            .collect();
        let Ok(values) = values else { return false };
        if values.is_empty() {
            return false;
        }
        let alone = self.seen == 0 && values.len() == 1 && !part && self.lines.at_end().unwrap_or(true);
        for value in values {
            self.value(value, line, alone, stand_in);
        }
        true
    }

    fn value(&mut self, value: Doc<'_>, line: u64, alone: bool, stand_in: Option<char>) {
        match value {
            Doc::Object(mut row) => match row.items.take() {
                Some(items) if !row.is_run() => self.list(items, line, alone, stand_in),
                _ => self.row(*row, line, alone, None, stand_in),
            },
            Doc::List(items) => self.list(items, line, alone, stand_in),
            Doc::Scalar(kind) => {
                let problem = format!("{kind} is no run; expected an object with `id`, `question` and `spans`");
                self.fail(line, None, &problem);
            }
        }
    }

    fn list(&mut self, items: Vec<Option<RawRow<'_>>>, line: u64, alone: bool, stand_in: Option<char>) {
        if items.is_empty() {
            self.fail(line, None, "the list holds no runs");
            return;
        }
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Some(row) => self.row(row, line, alone, Some(index + 1), stand_in),
                None => {
                    let problem = format!(
                        "item {} of the list is no object; expected a run with `spans`",
                        index + 1
                    );
                    self.fail(line, None, &problem);
                }
            }
        }
    }

    fn row(&mut self, row: RawRow<'_>, line: u64, alone: bool, item: Option<usize>, stand_in: Option<char>) {
        let stem = stem(&self.file);
        let one_document = alone && !has_line_suffix(&self.file);
        let context = Context {
            source: self.source((!one_document).then_some(line)),
            place: item.map(|item| format!(", item {item}")).unwrap_or_default(),
            fallback_id: match item {
                Some(item) if alone => format!("{stem}:{item}"),
                Some(item) => format!("{stem}:{line}:{item}"),
                None if alone => stem.to_owned(),
                None => format!("{stem}:{line}"),
            },
            stand_in,
            options: &self.options,
        };
        let outcome = build::run(row, &context);
        let source = context.source;
        self.push(Record { source, outcome });
    }

    /// Keeps the whole elements of a list that is cut or broken. Each broken element is a failed
    /// record, and so is what follows the last whole one.
    fn salvage(&mut self, text: &str, line: u64, stand_in: char, joined: Joined) {
        let why = serde_json::from_str::<serde::de::IgnoredAny>(text).err();
        let cut = joined == Joined::Cut && why.as_ref().is_none_or(serde_json::Error::is_eof);
        let why = why.map_or_else(|| "no end".to_owned(), |error| located(&error, line));
        let mut kept = 0_usize;
        let mut named = false;
        for (index, element) in elements(text).into_iter().enumerate() {
            if self.text(element, line, Some(stand_in), true) {
                kept += 1;
            } else {
                named = true;
                self.fail(
                    line,
                    None,
                    &format!("item {} of the list is not JSON: {why}", index + 1),
                );
            }
        }
        if named && joined == Joined::Whole {
            return;
        }
        let what = if cut { "the text is cut short" } else { "not JSON" };
        let rest = match kept {
            0 => String::new(),
            1 => "; the one whole run before that is kept".to_owned(),
            n => format!("; the {n} whole runs before that are kept"),
        };
        self.fail(
            line,
            None,
            &format!("{what}: {why}{rest}. Write one JSON object a line, or one JSON document"),
        );
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while self.queue.is_empty() && !self.done {
            self.fill();
        }
        self.queue.pop_front()
    }
}

/// Is this failed text (part of) a document over several lines, rather than one cut line?
fn opens_document(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    memchr::memchr(b'\n', text).is_some() || matches!(text.last(), Some(b'[' | b'{'))
}

/// The JSON error with its line counted in the file.
fn located(error: &serde_json::Error, first_line: u64) -> String {
    let text = error.to_string();
    let plain = text.split(" at line ").next().unwrap_or(&text);
    let line = first_line + (error.line() as u64).saturating_sub(1);
    format!("{plain} (line {line}, column {})", error.column())
}

/// The elements of a list, or of the list under `items`, by their brackets alone.
fn elements(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let list = text.strip_prefix('[').or_else(|| {
        let items = text.starts_with('{').then(|| text.find("\"items\"")).flatten()?;
        let rest = text.get(items + "\"items\"".len()..)?;
        rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('[')
    });
    let mut found = Vec::new();
    let mut rest = list.unwrap_or_default();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if !rest.starts_with('{') {
            return found;
        }
        let Some((value, after)) = lines::object_end(rest.as_bytes()).and_then(|end| rest.split_at_checked(end)) else {
            return found;
        };
        found.push(value);
        rest = after;
    }
}

/// Files that are no text at all, by their first bytes.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("the file is UTF-16; convert it first, e.g. `iconv -f UTF-16 -t UTF-8`")
        }
        [0x1f, 0x8b, ..] => Some("the file is compressed; unpack it first, e.g. `gunzip -c`"),
        [b'P', b'K', 3, 4, ..] => Some("the file is a zip archive; unpack it first"),
        _ => None,
    }
}

/// File name without folders and without its last suffix; names runs that have no id.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        _ if name.is_empty() || name == "-" => "stdin",
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Only how a lone record is named depends on the suffix: `file:1` in a `.jsonl`, `file` else.
fn has_line_suffix(file: &str) -> bool {
    let suffix = file.rsplit('.').next().unwrap_or_default();
    suffix.eq_ignore_ascii_case("jsonl") || suffix.eq_ignore_ascii_case("ndjson")
}

#[cfg(test)]
mod tests;
