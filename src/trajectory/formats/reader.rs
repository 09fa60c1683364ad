//! The reader proper: chunks of a file to records, spans of logs on their way.

use std::collections::VecDeque;
use std::io::BufRead;

use serde_json::Value;

use super::build::{self, Context};
use super::detect::{self, Guess};
use super::lines::{self, Joined, Lines};
use super::logs::{self, LogEnd, Piece, Session};
use super::repair;
use super::row::{Doc, RawRow};
use super::{InputError, LogInfo, ReadOptions, Record};
use crate::trajectory::{Source, Span, WarningCode};

/// What a file yields, piece by piece, so that a long log need not be held.
pub enum Part {
    /// A whole record.
    Record(Box<Record>),
    /// The next span of the log being read.
    Piece(LogSpan),
    /// The end of the log whose spans came before.
    End(LogTail),
}

/// A span of a log that is still being read.
pub struct LogSpan(pub(super) Piece);

impl LogSpan {
    /// The span.
    #[must_use]
    pub fn span(&self) -> &Span {
        &self.0.0
    }
}

/// What is known once a log has been read to its end.
pub struct LogTail(pub(super) LogEnd);

impl LogTail {
    /// The record without its spans: id, question, warnings, format.
    #[must_use]
    pub fn record(self) -> Record {
        Record {
            source: self.0.source.clone(),
            outcome: Ok(logs::loaded(self.0, Vec::new())),
        }
    }
}

/// The parts of one file, read as they are asked for.
pub struct Parts<R> {
    lines: Lines<R>,
    file: String,
    options: ReadOptions,
    queue: VecDeque<Part>,
    buffer: Vec<u8>,
    /// Records queued so far.
    seen: u64,
    /// Inside the remains of a broken document: stray brackets are no records.
    broken: bool,
    done: bool,
    session: Option<Session>,
}

impl<R: BufRead> Iterator for Parts<R> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        while self.queue.is_empty() && !self.done {
            self.fill();
        }
        self.queue.pop_front()
    }
}

impl<R: BufRead> Parts<R> {
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
            session: None,
        }
    }

    /// Reads the next line or document into the queue.
    fn fill(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match self.lines.next(&mut buffer) {
            Err(error) => self.stop(&format!("cannot read on: {error}")),
            Ok(false) => {
                self.end_session();
                if self.seen == 0 {
                    self.stop("the file is empty; expected a run as JSON, or one run a line");
                }
                self.done = true;
            }
            Ok(true) if self.session.is_some() => self.session_line(&buffer),
            Ok(true) => match foreign(&buffer).filter(|_| self.seen == 0) {
                Some(problem) => self.stop(problem),
                None if self.broken && is_debris(&buffer) => {}
                None => self.chunk(&mut buffer),
            },
        }
        self.buffer = buffer;
    }

    /// Takes one more line of the log that is being read.
    fn session_line(&mut self, buffer: &[u8]) {
        let line = self.lines.number();
        let Some(session) = &mut self.session else { return };
        let bytes = lines::strip_marks(buffer);
        let plain = std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| serde_json::from_str(text).ok());
        let pieces = match plain {
            Some(event) => session.event(event, None),
            None => {
                let repaired = repair::repair(bytes);
                match serde_json::from_str(&repaired.text) {
                    Ok(event) => session.event(event, Some(repaired.stand_in)),
                    Err(_) => {
                        session.drop_line(line);
                        Vec::new()
                    }
                }
            }
        };
        self.queue
            .extend(pieces.into_iter().map(|piece| Part::Piece(LogSpan(piece))));
    }

    fn end_session(&mut self) {
        let Some(session) = self.session.take() else { return };
        let (pieces, end) = session.end();
        if end.info.turns == 0 {
            let problem = format!(
                "no turns in this {} log: nothing was said or done in it",
                end.info.format
            );
            self.fail(end.source.line.unwrap_or(1), end.id, &problem);
            return;
        }
        self.seen += 1;
        self.queue
            .extend(pieces.into_iter().map(|piece| Part::Piece(LogSpan(piece))));
        self.queue.push_back(Part::End(LogTail(end)));
    }

    /// Queues one last failed record.
    fn stop(&mut self, problem: &str) {
        self.end_session();
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
        self.queue.push_back(Part::Record(Box::new(record)));
    }

    fn source(&self, line: Option<u64>) -> Source {
        Source {
            file: self.file.clone(),
            line,
        }
    }

    /// Reads one line, joining more to it when it is the head of a document.
    fn chunk(&mut self, buffer: &mut Vec<u8>) {
        let mut here = Here {
            line: self.lines.number(),
            ..Here::default()
        };
        let plain = std::str::from_utf8(lines::strip_marks(buffer));
        if plain.is_ok_and(|text| self.text(text, &here)) {
            self.broken = false;
            return;
        }
        let joined = match lines::join(&mut self.lines, buffer) {
            Ok(joined) => joined,
            Err(error) => {
                self.stop(&format!("cannot read on: {error}"));
                return;
            }
        };
        let repaired = repair::repair(lines::strip_marks(buffer));
        here.stand_in = Some(repaired.stand_in);
        let text = repaired.text.trim_end();
        let text = if self.broken { text.trim_end_matches(',') } else { text };
        if joined != Joined::Whole || !self.text(text, &here) {
            self.broken = opens_document(buffer);
            self.salvage(text, &here, joined);
        }
    }

    /// Queues the records of a text that holds whole JSON values; `false`, and nothing queued,
    /// when it does not.
    fn text(&mut self, text: &str, here: &Here) -> bool {
        let values = serde_json::Deserializer::from_str(text).into_iter::<Doc<'_>>();
        let Ok(values) = values.collect::<Result<Vec<_>, _>>() else {
            return false;
        };
        if values.is_empty() {
            return false;
        }
        let alone = self.seen == 0 && values.len() == 1 && !here.part && self.lines.at_end().unwrap_or(true);
        let here = Here { alone, ..here.clone() };
        if values.iter().all(Doc::is_rows) {
            values.into_iter().for_each(|value| self.rows(value, &here));
            return true;
        }
        // Not spans: a log, perhaps. Its fields are wanted now, so it is read once more, whole.
        let whole = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let mut whole = whole.collect::<Result<Vec<_>, _>>().unwrap_or_default().into_iter();
        for value in values {
            let log = whole.next().filter(|_| !value.is_rows());
            if !log.is_some_and(|log| self.log(log, &here)) {
                self.rows(value, &here);
            }
        }
        true
    }

    fn rows(&mut self, value: Doc<'_>, here: &Here) {
        match value {
            Doc::Object(mut row) => match row.items.take() {
                Some(items) if !row.is_run() => self.list(items, here),
                _ => self.row(*row, here, None),
            },
            Doc::List(items) => self.list(items, here),
            Doc::Scalar(kind) => {
                let problem = format!("{kind} is no run; expected an object with `id`, `question` and `spans`");
                self.fail(here.line, None, &problem);
            }
        }
    }

    /// Reads a value as a log: an event that opens a stream, or a document of one or more runs.
    fn log(&mut self, mut value: Value, here: &Here) -> bool {
        let from = self.options.from.as_deref().and_then(detect::by_name);
        let logs = detect::logs(&value, from);
        let documents = logs.iter().map(|(_, guess)| guess.score).max().unwrap_or_default();
        let line = match from {
            Some(format) => Some(Guess {
                format,
                score: format.line_score(&value),
                second: None,
            }),
            None => detect::line(&value),
        };
        let source = self.source((!self.one_document(here)).then_some(here.line));
        if let Some(guess) = line.filter(|guess| guess.score > documents && !here.part && self.session.is_none()) {
            let fallback = stem(&self.file).to_owned();
            self.session = Session::begin(
                &guess,
                Source {
                    line: None,
                    ..source.clone()
                },
                fallback,
                &self.options,
            );
            if let Some(session) = &mut self.session {
                let pieces = session.event(value, here.stand_in);
                self.queue
                    .extend(pieces.into_iter().map(|piece| Part::Piece(LogSpan(piece))));
                return true;
            }
        }
        let replaced = logs::settle(&mut value, here.stand_in);
        let logs = detect::logs(&value, from);
        let many = logs.len() > 1;
        let read: Vec<_> = logs
            .into_iter()
            .map(|(doc, guess)| (guess.format.name(), logs::document(doc, &guess, &self.options)))
            .collect();
        let mut any = false;
        for (index, (format, (pieces, log, question, turns))) in read.into_iter().enumerate() {
            let item = many.then_some(index + 1);
            if turns == 0 {
                continue;
            }
            any = true;
            let mut notes = logs::notes(&log, replaced);
            notes.extend(here.cut.clone().map(|cut| (WarningCode::DroppedInput, cut)));
            let end = LogEnd {
                source: source.clone(),
                place: item.map(|item| format!(", item {item}")).unwrap_or_default(),
                id: log.id,
                question,
                fallback_id: self.fallback_id(here, item),
                info: LogInfo {
                    format: format.to_owned(),
                    turns,
                },
                notes,
            };
            let outcome = Ok(logs::loaded(end, pieces));
            let source = source.clone();
            self.push(Record { source, outcome });
        }
        any
    }

    /// Is the record a file of its own, so that a line number would say nothing?
    fn one_document(&self, here: &Here) -> bool {
        here.alone && !has_line_suffix(&self.file)
    }

    fn fallback_id(&self, here: &Here, item: Option<usize>) -> String {
        let (stem, line) = (stem(&self.file), here.line);
        match item {
            Some(item) if here.alone => format!("{stem}:{item}"),
            Some(item) => format!("{stem}:{line}:{item}"),
            None if here.alone => stem.to_owned(),
            None => format!("{stem}:{line}"),
        }
    }

    fn list(&mut self, items: Vec<Option<RawRow<'_>>>, here: &Here) {
        if items.is_empty() {
            self.fail(here.line, None, "the list holds no runs");
            return;
        }
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Some(row) => self.row(row, here, Some(index + 1)),
                None => {
                    let problem = format!(
                        "item {} of the list is no object; expected a run with `spans`",
                        index + 1
                    );
                    self.fail(here.line, None, &problem);
                }
            }
        }
    }

    fn row(&mut self, row: RawRow<'_>, here: &Here, item: Option<usize>) {
        let context = Context {
            source: self.source((!self.one_document(here)).then_some(here.line)),
            place: item.map(|item| format!(", item {item}")).unwrap_or_default(),
            fallback_id: self.fallback_id(here, item),
            stand_in: here.stand_in,
            options: &self.options,
        };
        let outcome = build::run(row, &context);
        let source = context.source;
        self.push(Record { source, outcome });
    }

    /// Keeps the whole elements of a list that is cut or broken. Each broken element is a failed
    /// record, and so is what follows the last whole one.
    fn salvage(&mut self, text: &str, here: &Here, joined: Joined) {
        let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err();
        let cut = joined == Joined::Cut && error.as_ref().is_none_or(serde_json::Error::is_eof);
        let end = error
            .as_ref()
            .filter(|error| !error.is_eof())
            .map_or(text.len(), |error| offset(text, error));
        let why = error.map_or_else(|| "no end".to_owned(), |error| located(&error, here.line));
        if self.salvage_log(text, end, &why, here) {
            return;
        }
        let line = here.line;
        let part = Here {
            part: true,
            ..here.clone()
        };
        let mut kept = 0_usize;
        let mut named = false;
        for (index, element) in elements(text).into_iter().enumerate() {
            if self.text(element, &part) {
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

    /// Reads what is whole of a log that breaks off at byte `end`.
    fn salvage_log(&mut self, text: &str, end: usize, why: &str, here: &Here) -> bool {
        let Some((closed, kept)) = lines::close(text, end) else {
            return false;
        };
        let rows = serde_json::from_str::<Doc<'_>>(&closed).map_or(true, |doc| doc.is_rows());
        let Ok(value) = serde_json::from_str(&closed) else {
            return false;
        };
        let left_out = text.len() - kept;
        let here = Here {
            part: true,
            cut: Some(format!(
                "the log breaks off ({why}); its last {left_out} bytes were left out"
            )),
            ..here.clone()
        };
        !rows && self.log(value, &here)
    }
}

/// Where a text stands in its file and how it was read.
#[derive(Clone, Default)]
struct Here {
    /// Line it begins on.
    line: u64,
    /// It is all that the file holds.
    alone: bool,
    /// Stands for replaced characters, after a repair.
    stand_in: Option<char>,
    /// It is a part of something broken.
    part: bool,
    /// What to say about what was left out.
    cut: Option<String>,
}

/// A line that cannot begin a record: brackets, or the inside of a broken document.
fn is_debris(line: &[u8]) -> bool {
    lines::is_closing(line) || !(line.starts_with(b"{") || line.starts_with(b"["))
}

/// Byte offset of a JSON error.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    before + error.column().saturating_sub(1)
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
