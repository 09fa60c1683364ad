//! From logs to runs: documents at once, event streams as their lines come.

use serde_json::Value;

use super::detect::{self, Guess};
use super::image::Omitted;
use super::log::{Events, Log};
use super::{Loaded, LogInfo, ReadOptions, redact, repair};
use crate::trajectory::segment::{Cutter, units};
use crate::trajectory::turns::Turn;
use crate::trajectory::{Source, Span, Trajectory, Warning, WarningCode};

/// A span as it comes out of a log, and what was left out of it.
pub(super) type Piece = (Span, Vec<Omitted>);

/// What is known of a log once it has been read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogEnd {
    pub(super) source: Source,
    /// Place in the document, for messages.
    pub(super) place: String,
    pub(super) id: Option<String>,
    pub(super) question: String,
    pub(super) fallback_id: String,
    pub(super) info: LogInfo,
    /// Code and text of the warnings about the whole run.
    pub(super) notes: Vec<(WarningCode, String)>,
}

/// Builds the run from its pieces.
pub(super) fn loaded(end: LogEnd, pieces: Vec<Piece>) -> Loaded {
    let at = format!("{}{}", end.source, end.place);
    let mut warnings: Vec<Warning> = end
        .notes
        .iter()
        .map(|(code, note)| Warning::new(*code, format!("{at}: {note}")))
        .collect();
    let case_id = end.id.unwrap_or_else(|| {
        let what = format!(
            "{at}: the log has no id; the run is called \"{}\" here",
            end.fallback_id
        );
        warnings.push(Warning::new(WarningCode::MissingId, what));
        end.fallback_id.clone()
    });
    let mut spans = Vec::with_capacity(pieces.len());
    for (span, omitted) in pieces {
        if !omitted.is_empty() {
            let marks: Vec<String> = omitted.iter().take(5).map(ToString::to_string).collect();
            let what = format!(
                "{at}, span \"{}\": {} inline files left out: {}",
                span.id,
                omitted.len(),
                marks.join(", ")
            );
            warnings.push(Warning::new(WarningCode::OmittedImage, what).at_span(&span.id));
        }
        spans.push(span);
    }
    let (run, more) = Trajectory::new(case_id, end.question, spans);
    warnings.extend(more);
    Loaded {
        run,
        warnings,
        log: Some(end.info),
    }
}

/// Cuts turns into spans.
pub(super) fn cut(turns: Vec<Turn>, options: &ReadOptions) -> Vec<Piece> {
    let mut cutter = Cutter::new(options.segmenter);
    let mut pieces = Vec::new();
    for unit in units(turns) {
        pieces.append(&mut cutter.push(masked(unit, options)));
    }
    pieces.append(&mut cutter.finish());
    pieces
}

fn masked(mut unit: Vec<Turn>, options: &ReadOptions) -> Vec<Turn> {
    if options.redact {
        for turn in &mut unit {
            if let Some(text) = redact::redact(&turn.text) {
                turn.text = text;
            }
        }
    }
    unit
}

/// The run's question: given, told by the log, or the first thing the user said.
pub(super) fn question(log: &Log, first_user: Option<&str>, options: &ReadOptions) -> String {
    let told = options
        .question
        .clone()
        .or_else(|| log.question.clone().filter(|text| !text.trim().is_empty()));
    let question = told.or_else(|| first_user.map(str::to_owned)).unwrap_or_default();
    if options.redact {
        redact::redact(&question).unwrap_or(question)
    } else {
        question
    }
}

/// The first text a user said in these turns.
pub(super) fn first_user(turns: &[Turn]) -> Option<String> {
    let turn = turns
        .iter()
        .find(|turn| turn.role == crate::trajectory::turns::Role::User);
    turn.map(|turn| turn.text.clone())
}

/// Puts U+FFFD for the stand-in everywhere in a value; how many.
pub(super) fn settle(value: &mut Value, stand_in: Option<char>) -> usize {
    match value {
        Value::String(text) => match repair::settle(text, stand_in) {
            Some((mended, count)) => {
                *text = mended;
                count
            }
            None => 0,
        },
        Value::Array(list) => list.iter_mut().map(|value| settle(value, stand_in)).sum(),
        Value::Object(fields) => fields.values_mut().map(|value| settle(value, stand_in)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// An event stream being read: a run that comes line by line.
pub(super) struct Session {
    events: Box<dyn Events>,
    log: Log,
    cutter: Cutter,
    options: ReadOptions,
    source: Source,
    fallback_id: String,
    format: &'static str,
    step: usize,
    turns: usize,
    first_user: Option<String>,
    dropped: Vec<u64>,
    replaced: usize,
}

impl Session {
    /// Begins a stream of this format, if it is one that comes in events.
    pub(super) fn begin(guess: &Guess, source: Source, fallback_id: String, options: &ReadOptions) -> Option<Self> {
        let mut log = Log::default();
        if let Some(second) = guess.second {
            let (name, other) = (guess.format.name(), second.name());
            log.notes
                .push(format!("read as {name}, could also be {other}; --from decides"));
        }
        Some(Self {
            events: guess.format.events()?,
            log,
            cutter: Cutter::new(options.segmenter),
            options: options.clone(),
            source,
            fallback_id,
            format: guess.format.name(),
            step: 0,
            turns: 0,
            first_user: None,
            dropped: Vec::new(),
            replaced: 0,
        })
    }

    /// Takes an event; the pieces that are closed by it.
    pub(super) fn event(&mut self, mut event: Value, stand_in: Option<char>) -> Vec<Piece> {
        self.replaced += settle(&mut event, stand_in);
        self.events.event(&event, self.step, &mut self.log);
        self.step += 1;
        // The last unit may go on in the next event.
        let last = self.log.turns.last().map(|turn| turn.unit);
        let whole = self.log.turns.iter().take_while(|turn| Some(turn.unit) != last).count();
        let rest = self.log.turns.split_off(whole);
        let done = std::mem::replace(&mut self.log.turns, rest);
        self.take(done)
    }

    fn take(&mut self, turns: Vec<Turn>) -> Vec<Piece> {
        self.turns += turns.len();
        if self.first_user.is_none() {
            self.first_user = first_user(&turns);
        }
        let units = units(turns).into_iter();
        units
            .flat_map(|unit| self.cutter.push(masked(unit, &self.options)))
            .collect()
    }

    /// Notes a line that is no event.
    pub(super) fn drop_line(&mut self, line: u64) {
        self.dropped.push(line);
        self.step += 1;
    }

    /// Ends the stream.
    pub(super) fn end(mut self) -> (Vec<Piece>, LogEnd) {
        let rest = std::mem::take(&mut self.log.turns);
        let mut pieces = self.take(rest);
        let question = question(&self.log, self.first_user.as_deref(), &self.options);
        let mut notes = notes(&self.log, self.replaced);
        if let Some(first) = self.dropped.first() {
            let more = if self.dropped.len() > 1 {
                " (the first of them)"
            } else {
                ""
            };
            let what = format!(
                "{} of its lines are cut or corrupt and were left out: line {first}{more}",
                self.dropped.len()
            );
            notes.push((WarningCode::DroppedInput, what));
        }
        pieces.append(&mut self.cutter.finish());
        let end = LogEnd {
            source: self.source,
            place: String::new(),
            id: self.log.id,
            question,
            fallback_id: self.fallback_id,
            info: LogInfo {
                format: self.format.to_owned(),
                turns: self.turns,
            },
            notes,
        };
        (pieces, end)
    }
}

/// Warnings about a whole log.
pub(super) fn notes(log: &Log, replaced: usize) -> Vec<(WarningCode, String)> {
    let mut notes: Vec<_> = log
        .notes
        .iter()
        .map(|note| (WarningCode::UncertainFormat, note.clone()))
        .collect();
    if replaced > 0 {
        let what = format!("{replaced} characters were not valid Unicode, replaced by U+FFFD");
        notes.push((WarningCode::ReplacedCharacters, what));
    }
    notes
}

/// A log of a document, read and cut: its pieces, the log without its turns, the question and
/// the number of turns.
pub(super) fn document(doc: &Value, guess: &Guess, options: &ReadOptions) -> (Vec<Piece>, Log, String, usize) {
    let mut log = detect::read(doc, guess);
    let turns = std::mem::take(&mut log.turns);
    let question = question(&log, first_user(&turns).as_deref(), options);
    let count = turns.len();
    (cut(turns, options), log, question, count)
}
