//! `auditor import`: logs of agent frameworks to rows of spans.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::store::files;
use crate::trajectory::formats::{self, Part, Parts, ReadOptions, Record};
use crate::trajectory::segment::Segmenter;
use crate::trajectory::{Span, Warning};

const AFTER_HELP: &str = "\
Each run becomes a line {id, question, spans: [{id, raw, agent, observation, raw_start_step,
raw_end_step}]}, which `auditor localize` and `auditor bench` read. They read logs directly, too.
Raw steps are 0-based: the message, event or line of the log.

Examples:
  auditor import session.jsonl -o spans.jsonl
  auditor import logs/*.json --redact | jq '.spans | length'
  auditor import --list";

/// Flags of `auditor import`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ImportArgs {
    /// Logs; `-` for standard input
    #[arg(required_unless_present = "list", value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// File to write, whole or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the formats that can be read
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Gold by raw step: lines {id, steps: [0-based raw steps], first}; becomes `gold` of the rows
    #[arg(long, value_name = "FILE")]
    gold_steps: Option<PathBuf>,
}

/// Flags about how logs are read, for every command that reads runs.
#[derive(Args, Clone, Debug)]
pub struct ReadingArgs {
    /// Format of the logs; told by their content without it (see `auditor import --list`)
    #[arg(long, value_name = "FORMAT", value_parser = known_format)]
    pub from: Option<String>,
    /// The question of every run, whatever the log says
    #[arg(long, value_name = "TEXT")]
    pub question: Option<String>,
    /// One span for each turn of the log, instead of spans of one objective
    #[arg(long)]
    pub one_span_per_turn: bool,
    /// Cut rows that already are spans anew, taking each span for a turn
    #[arg(long)]
    pub resegment: bool,
    /// Mask mail addresses, keys, tokens and home folders
    #[arg(long)]
    pub redact: bool,
}

impl ReadingArgs {
    /// How to read, as the flags say.
    #[must_use]
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            question: self.question.clone(),
            from: self.from.clone(),
            segmenter: if self.one_span_per_turn {
                Segmenter::PerTurn
            } else {
                Segmenter::Rules
            },
            resegment: self.resegment,
            redact: self.redact,
        }
    }
}

fn known_format(name: &str) -> Result<String, String> {
    let names: Vec<&str> = formats::formats().into_iter().map(|(name, _)| name).collect();
    if names.contains(&name) {
        Ok(name.to_owned())
    } else {
        Err(format!("known formats: {}", names.join(", ")))
    }
}

/// Runs the command; results to `out`, remarks to `err`. The exit code: 0, 2 when no run could be
/// read, 4 when some could not.
///
/// # Errors
/// When a file cannot be opened or written, or the gold cannot be read.
pub fn run(args: &ImportArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8> {
    if args.list {
        let width = formats::formats()
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or_default();
        for (name, about) in formats::formats() {
            writeln!(out, "{name:width$}  {about}")?;
        }
        return Ok(0);
    }
    let gold = args
        .gold_steps
        .as_deref()
        .map(read_gold_steps)
        .transpose()?
        .unwrap_or_default();
    let Some(path) = &args.output else {
        return import(args, &gold, out, err);
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let file =
        tempfile::NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let mut writer = std::io::BufWriter::new(file);
    let code = import(args, &gold, &mut writer, err)?;
    let file = writer
        .into_inner()
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.persist(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(code)
}

fn import(
    args: &ImportArgs,
    gold: &HashMap<String, GoldSteps>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8> {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for path in &args.logs {
        let reader = files::open(path)?;
        let name = path.to_string_lossy();
        let mut row = Row::default();
        for part in Parts::new(reader, &name, args.reading.options()) {
            let record = match part {
                Part::Piece(piece) => {
                    row.span(piece.span(), out)?;
                    continue;
                }
                Part::End(end) => end.record(),
                Part::Record(record) => *record,
            };
            match finish(&record, std::mem::take(&mut row), gold, out, err)? {
                true => good += 1,
                false => bad += 1,
            }
        }
    }
    Ok(match (good, bad) {
        (0, _) => 2,
        (_, 0) => 0,
        _ => 4,
    })
}

/// Ends the row of a record and says how it went.
fn finish(
    record: &Record,
    mut row: Row,
    gold: &HashMap<String, GoldSteps>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<bool> {
    let loaded = match &record.outcome {
        Ok(loaded) => loaded,
        Err(error) => {
            writeln!(err, "{}", printable(&error.message))?;
            return Ok(false);
        }
    };
    for span in loaded.run.spans() {
        row.span(span, out)?;
    }
    let run = &loaded.run;
    let mut tail = json!({"id": run.case_id(), "question": run.question(), "source": record.source});
    if let Some(steps) = gold.get(run.case_id()) {
        let (labels, lost) = steps.spans(&row.steps);
        if !lost.is_empty() {
            writeln!(err, "{}: gold steps in no span: {lost:?}", record.source)?;
        }
        if let Some(fields) = tail.as_object_mut() {
            fields.insert("gold".to_owned(), json!({"error_span_ids": labels}));
        }
    }
    row.end(&tail, out)?;
    let how = match &loaded.log {
        Some(log) => format!("{}, {} turns", log.format, log.turns),
        None => "rows of spans".to_owned(),
    };
    let asked = if run.question().is_empty() {
        "no question found; --question gives it"
    } else {
        "question found"
    };
    let spans = row.steps.len();
    writeln!(err, "{}: {how} -> {spans} spans, {asked}", record.source)?;
    for Warning { message, .. } in &loaded.warnings {
        writeln!(err, "  {}", printable(message))?;
    }
    Ok(true)
}

/// A line for a terminal: names and texts from a log cannot move the cursor.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// A row being written: spans go out as they come, so that a long log is never held.
#[derive(Default)]
struct Row {
    /// Id and raw steps of the spans written.
    steps: Vec<(String, Option<i64>, Option<i64>)>,
}

impl Row {
    fn span(&mut self, span: &Span, out: &mut dyn Write) -> Result<()> {
        out.write_all(if self.steps.is_empty() { b"{\"spans\":[" } else { b"," })?;
        let mut fields = span.local.other.clone();
        let known = [
            ("id", Some(json!(span.id))),
            ("raw", Some(json!(span.text))),
            ("agent", span.local.agent.as_ref().map(|agent| json!(agent))),
            ("observation", span.local.observation.map(|seen| json!(seen))),
            ("raw_start_step", span.raw_start_step.map(|step| json!(step))),
            ("raw_end_step", span.raw_end_step.map(|step| json!(step))),
        ];
        fields.extend(
            known
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?))),
        );
        serde_json::to_writer(&mut *out, &fields)?;
        self.steps
            .push((span.id.clone(), span.raw_start_step, span.raw_end_step));
        Ok(())
    }

    fn end(&self, tail: &Value, out: &mut dyn Write) -> Result<()> {
        let tail = tail.to_string();
        // The tail's opening brace gives way to the comma after the spans.
        let fields = tail.strip_prefix('{').unwrap_or(&tail);
        let spans = if self.steps.is_empty() { "{\"spans\":[" } else { "" };
        writeln!(out, "{spans}],{fields}")?;
        Ok(())
    }
}

/// Gold by raw steps.
#[derive(Clone, Debug, Deserialize)]
struct GoldSteps {
    id: Value,
    #[serde(default)]
    steps: Vec<i64>,
    #[serde(default)]
    first: Option<i64>,
}

impl GoldSteps {
    /// The spans that hold the steps, the first error's first, and the steps that no span holds.
    fn spans(&self, spans: &[(String, Option<i64>, Option<i64>)]) -> (Vec<String>, Vec<i64>) {
        let mut rest = self.steps.clone();
        rest.sort_unstable();
        let (mut ids, mut lost): (Vec<String>, Vec<i64>) = (Vec::new(), Vec::new());
        for step in self.first.into_iter().chain(rest) {
            let holds = |from: Option<i64>, to: Option<i64>| {
                from.is_some_and(|from| from <= step) && to.is_some_and(|to| step <= to)
            };
            match spans.iter().find(|(_, from, to)| holds(*from, *to)) {
                Some((id, _, _)) if !ids.contains(id) => ids.push(id.clone()),
                Some(_) => {}
                None if lost.contains(&step) => {}
                None => lost.push(step),
            }
        }
        (ids, lost)
    }
}

fn read_gold_steps(path: &Path) -> Result<HashMap<String, GoldSteps>> {
    let text = files::read_text(path)?;
    let mut gold = HashMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}:{}: expected {{id, steps, first}}", path.display(), number + 1);
        let row: GoldSteps = serde_json::from_str(line).with_context(place)?;
        let id = row.id.as_str().map_or_else(|| row.id.to_string(), str::to_owned);
        if gold.insert(id.clone(), row).is_some() {
            bail!("{}: the id \"{id}\" stands there twice", path.display());
        }
    }
    Ok(gold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gold_steps_find_their_spans() {
        let spans = vec![
            ("a".to_owned(), Some(0), Some(2)),
            ("b".to_owned(), Some(3), Some(3)),
            ("c".to_owned(), Some(4), Some(9)),
        ];
        let gold = GoldSteps {
            id: json!(1),
            steps: vec![9, 1, 3, 40],
            first: Some(3),
        };
        assert_eq!(
            gold.spans(&spans),
            (vec!["b".to_owned(), "a".to_owned(), "c".to_owned()], vec![40])
        );
    }

    #[test]
    fn rows_are_json_whether_or_not_they_hold_spans() {
        let mut out = Vec::new();
        let mut row = Row::default();
        row.span(
            &Span {
                id: "s1".to_owned(),
                text: "a".to_owned(),
                ..Span::default()
            },
            &mut out,
        )
        .unwrap();
        row.span(
            &Span {
                id: "s2".to_owned(),
                text: "b".to_owned(),
                ..Span::default()
            },
            &mut out,
        )
        .unwrap();
        row.end(&json!({"id": "x"}), &mut out).unwrap();
        Row::default().end(&json!({"id": "y"}), &mut out).unwrap();
        let rows: Vec<Value> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            rows[0],
            json!({"spans": [{"id": "s1", "raw": "a"}, {"id": "s2", "raw": "b"}], "id": "x"})
        );
        assert_eq!(rows[1], json!({"spans": [], "id": "y"}));
    }
}
