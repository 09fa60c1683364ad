//! From a parsed row to a run, with a warning for everything that was not as it should be.

use std::collections::HashSet;

use serde_json::Value;

use super::image::Omitted;
use super::row::{Loose, RawRow, RawSpan, Spans};
use super::{InputError, Loaded, ReadOptions, redact, repair, text};
use crate::trajectory::{LocalFields, Source, Span, Trajectory, Warning, WarningCode, segment};

/// What a row's texts are read with.
pub(super) struct Context<'a> {
    pub(super) source: Source,
    /// Says where in the document the row stands, e.g. `, item 3`; empty for a line.
    pub(super) place: String,
    /// Id of a run that has none.
    pub(super) fallback_id: String,
    /// Stands for replaced characters, after a repair.
    pub(super) stand_in: Option<char>,
    pub(super) options: &'a ReadOptions,
}

impl Context<'_> {
    /// File, line and place, for messages.
    fn at(&self) -> String {
        format!("{}{}", self.source, self.place)
    }

    pub(super) fn error(&self, case_id: Option<String>, problem: &str) -> InputError {
        InputError {
            source: self.source.clone(),
            case_id,
            message: format!("{}: {problem}", self.at()),
        }
    }
}

/// Builds the run, or says what is missing.
pub(super) fn run(row: RawRow<'_>, context: &Context<'_>) -> Result<Loaded, InputError> {
    let mut notes = Notes::new(context);
    let mut row = row;
    let inner = row.traj.take().map(|inner| *inner).unwrap_or_default();
    let ids = [row.case_id, row.id, inner.case_id, inner.id];
    let case_id = notes.case_id(ids);
    let question = [inner.question, inner.q, row.question, row.q]
        .into_iter()
        .map(|field| notes.plain(field))
        .find(|question| !question.is_empty());
    let question = context.options.question.clone().or(question).unwrap_or_default();
    let raw = match spans([inner.spans, inner.span, row.spans, row.span]) {
        Ok(raw) => raw,
        Err(problem) => return Err(context.error(Some(case_id), &problem)),
    };
    let spans = notes.spans(raw);
    if spans.iter().all(|span| span.text.is_empty()) {
        let problem = "no span has any text, so there is nothing to read; a span needs `raw` or `span_text`";
        return Err(context.error(Some(case_id), problem));
    }
    let spans = if context.options.resegment {
        segment::anew(spans, context.options.segmenter)
    } else {
        spans
    };
    let (run, renamed) = Trajectory::new(case_id, question, spans);
    let at = context.at();
    let mut warnings = notes.warnings;
    warnings.extend(renamed.into_iter().map(|mut warning| {
        warning.message = format!("{at}: {}", warning.message);
        warning
    }));
    Ok(Loaded {
        run,
        warnings,
        log: None,
    })
}

/// The first field that holds spans.
fn spans(fields: [Spans<'_>; 4]) -> Result<Vec<RawSpan<'_>>, String> {
    let mut problem = None;
    for field in fields {
        match field {
            Spans::List(list) if !list.is_empty() => return Ok(list),
            Spans::List(_) => {
                problem.get_or_insert_with(|| "the list of spans is empty: there is nothing to audit".to_owned());
            }
            Spans::Other(kind) => {
                problem.get_or_insert_with(|| format!("`spans` is {kind}; it must be a list of {{id, raw}} objects"));
            }
            Spans::Absent => {}
        }
    }
    Err(problem.unwrap_or_else(|| {
        "no spans: a run needs `spans`, a list of {id, raw} objects, beside `id` and `question`".to_owned()
    }))
}

/// Reads fields and keeps the warnings.
struct Notes<'a> {
    context: &'a Context<'a>,
    warnings: Vec<Warning>,
}

impl<'a> Notes<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            warnings: Vec::new(),
        }
    }

    fn warn(&mut self, code: WarningCode, span: Option<&str>, what: &str) {
        let at = self.context.at();
        self.warnings.push(match span {
            Some(id) => Warning::new(code, format!("{at}, span \"{id}\": {what}")).at_span(id),
            None => Warning::new(code, format!("{at}: {what}")),
        });
    }

    fn case_id(&mut self, ids: [Loose<'_>; 4]) -> String {
        for id in ids {
            let zero = is_zero(&id);
            let id = self.plain(id);
            if !id.is_empty() {
                if zero {
                    self.warn(
                        WarningCode::MissingId,
                        None,
                        "the run's id is the number 0, which some writers use for none; kept as \"0\"",
                    );
                }
                return id;
            }
        }
        let id = self.context.fallback_id.clone();
        self.warn(
            WarningCode::MissingId,
            None,
            &format!("the run has no id; it is called \"{id}\" here"),
        );
        id
    }

    /// A field of the row, as text.
    fn plain(&mut self, field: Loose<'_>) -> String {
        let mut found = Found::default();
        let text = read(field, self.context.stand_in, &mut found);
        self.report(None, &found);
        self.masked(text)
    }

    fn masked(&self, text: String) -> String {
        if self.context.options.redact {
            redact::redact(&text).unwrap_or(text)
        } else {
            text
        }
    }

    fn spans(&mut self, raw: Vec<RawSpan<'_>>) -> Vec<Span> {
        let mut given: Vec<Option<(String, bool)>> = Vec::with_capacity(raw.len());
        let mut rest = Vec::with_capacity(raw.len());
        for mut span in raw {
            let own = [std::mem::take(&mut span.span_id), std::mem::take(&mut span.id)]
                .into_iter()
                .map(|id| {
                    let zero = is_zero(&id);
                    (read(id, self.context.stand_in, &mut Found::default()), zero)
                })
                .find(|(id, _)| !id.is_empty());
            given.push(own);
            rest.push(span);
        }
        let taken: HashSet<String> = given.iter().flatten().map(|(id, _)| id.clone()).collect();
        let named = given.into_iter().enumerate().map(|(at, own)| {
            let zero = own.as_ref().is_some_and(|(_, zero)| *zero);
            let missing = own.is_none();
            (own.map_or_else(|| free_id(at, &taken), |(id, _)| id), missing, zero)
        });
        let named: Vec<_> = named.collect();
        named
            .into_iter()
            .zip(rest)
            .enumerate()
            .map(|(at, ((id, missing, zero), raw))| {
                if missing {
                    let what = format!("the span at position {} has no id; it is called \"{id}\" here", at + 1);
                    self.warn(WarningCode::MissingId, Some(&id), &what);
                } else if zero {
                    let what = "its id is the number 0, which some writers use for none; kept as \"0\"";
                    self.warn(WarningCode::MissingId, Some(&id), what);
                }
                self.span(id, raw)
            })
            .collect()
    }

    fn span(&mut self, id: String, raw: RawSpan<'_>) -> Span {
        let mut found = Found::default();
        let mut text = String::new();
        let mut zero = false;
        for field in raw.texts {
            zero = is_zero(&field);
            text = read(field, self.context.stand_in, &mut found);
            if !text.is_empty() {
                break;
            }
        }
        if text.is_empty() {
            self.warn(
                WarningCode::MissingText,
                Some(&id),
                "the span has no text; it is kept, empty",
            );
        } else if zero {
            self.warn(
                WarningCode::MissingText,
                Some(&id),
                "its text is the number 0; kept as \"0\"",
            );
        }
        self.report(Some(&id), &found);
        Span {
            id,
            text: self.masked(text),
            raw_start_step: raw.raw_start_step,
            raw_end_step: raw.raw_end_step,
            local: LocalFields {
                agent: raw.agent,
                observation: raw.observation,
                other: raw.other,
            },
        }
    }

    fn report(&mut self, span: Option<&str>, found: &Found) {
        if found.replaced > 0 {
            let what = format!(
                "{} not valid Unicode, replaced by U+FFFD",
                count(found.replaced, "character was", "characters were")
            );
            self.warn(WarningCode::ReplacedCharacters, span, &what);
        }
        if !found.omitted.is_empty() {
            let marks: Vec<String> = found.omitted.iter().take(5).map(ToString::to_string).collect();
            let more = if found.omitted.len() > marks.len() { ", …" } else { "" };
            let what = format!(
                "{} replaced by a mark: {}{more}",
                count(found.omitted.len(), "inline file was", "inline files were"),
                marks.join(", ")
            );
            self.warn(WarningCode::OmittedImage, span, &what);
        }
    }
}

/// What was found odd in one text.
#[derive(Default)]
struct Found {
    omitted: Vec<Omitted>,
    replaced: usize,
}

fn read(field: Loose<'_>, stand_in: Option<char>, found: &mut Found) -> String {
    let text = match field {
        Loose::Absent => return String::new(),
        Loose::Text(text) => match super::image::omit(&text) {
            None => text.into_owned(),
            Some((text, mut omitted)) => {
                found.omitted.append(&mut omitted);
                text
            }
        },
        Loose::Value(value) => text::of_value(&value, &mut found.omitted),
    };
    match repair::settle(&text, stand_in) {
        None => text,
        Some((text, count)) => {
            found.replaced += count;
            text
        }
    }
}

fn is_zero(field: &Loose<'_>) -> bool {
    matches!(field, Loose::Value(Value::Number(number)) if number.as_f64() == Some(0.0))
}

/// `s003` for the third span, or the next free name like it.
fn free_id(at: usize, taken: &HashSet<String>) -> String {
    let id = format!("s{:03}", at + 1);
    if !taken.contains(&id) {
        return id;
    }
    let primes = 1..=taken.len() + 1;
    primes
        .map(|n| format!("{id}{}", "'".repeat(n)))
        .find(|id| !taken.contains(id))
        .unwrap_or(id)
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
