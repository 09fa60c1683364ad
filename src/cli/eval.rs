//! `auditor eval`: scores of predictions against gold.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::eval::{BothEmpty, CaseSet, Evaluation, Prediction, SEED, Settings, Table, evaluate, plot};
use crate::trajectory::{GoldError, read_gold};

/// Exit code of a usage error, or of a run without a readable record.
pub(super) const NO_RECORD: u8 = 2;

/// Flags of `auditor eval`.
#[derive(Args, Clone, Debug)]
pub struct EvalArgs {
    #[command(flatten)]
    gold: GoldArgs,
    /// Predictions: rows of `auditor localize --format json`, the published summary.json, or
    /// {id, error_span_ids} rows. Several files are compared with each other
    #[arg(long = "pred", value_name = "FILE", required = true, num_args = 1..)]
    predictions: Vec<PathBuf>,
    /// Break the scores down by this key of the gold rows' meta (dotted path); may be repeated.
    /// Run length, clean or not, and split are broken down anyway
    #[arg(long, value_name = "KEY")]
    by: Vec<String>,
    /// Resample the values of this key of meta as wholes, where runs belong together
    #[arg(long, value_name = "KEY")]
    cluster: Option<String>,
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TableFormat,
    /// Also draw the first error, predicted against gold, to this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Flags that `eval` and `compare` share.
#[derive(Args, Clone, Debug)]
pub struct GoldArgs {
    /// Labelled runs: rows as in TELBench, or {id, error_span_ids}; JSON Lines or JSON
    #[arg(long, value_name = "FILE")]
    pub gold: PathBuf,
    /// Runs with their spans, when the gold rows come without
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// What a run counts where neither gold nor prediction names a span
    #[arg(long, value_name = "1|0", default_value = "1")]
    pub both_empty: BothEmptyArg,
    /// Bootstrap resamples [default: 10000, fewer above 20000 runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub resamples: Option<u32>,
    /// Seed of the resamples and of the random row
    #[arg(long, value_name = "N", default_value_t = SEED)]
    pub seed: u64,
}

impl GoldArgs {
    /// How to evaluate, as the flags say.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            both_empty: match self.both_empty {
                BothEmptyArg::One => BothEmpty::One,
                BothEmptyArg::Zero => BothEmpty::Zero,
            },
            resamples: self.resamples.map(|resamples| resamples as usize),
            seed: self.seed,
        }
    }
}

/// The both-empty rule as a flag value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BothEmptyArg {
    /// Counts 1.
    #[value(name = "1")]
    One,
    /// Counts 0.
    #[value(name = "0")]
    Zero,
}

/// How a command that prints a table prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned text
    Text,
    /// One JSON object
    Json,
    /// Markdown
    Md,
    /// Comma-separated values
    Csv,
}

/// Runs `auditor eval`. Exit code 0 when scores were printed, whatever they are; 2 when gold or
/// every row of a prediction file cannot be read.
///
/// # Errors
/// A plot that cannot be drawn or written, or an output stream that takes no more.
pub fn run(args: &EvalArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8> {
    let Some((cases, predictions)) = load(&args.gold, &args.by, args.cluster.as_deref(), &args.predictions, err)?
    else {
        return Ok(NO_RECORD);
    };
    let Some(evaluation) = evaluate(&cases, &predictions, &args.gold.settings()) else {
        writeln!(err, "error: {} has no labelled run", args.gold.gold.display())?;
        return Ok(NO_RECORD);
    };
    if let Some(path) = &args.plot {
        let svg = plot::first_errors(&cases, &predictions).context("the plot could not be drawn")?;
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(&evaluation, args.format, out, err)?;
    Ok(0)
}

fn print(evaluation: &Evaluation, format: TableFormat, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    match format {
        TableFormat::Json => {
            serde_json::to_writer(&mut *out, evaluation)?;
            writeln!(out)?;
        }
        TableFormat::Csv => {
            write!(out, "{}", evaluation.long_csv())?;
            print_remarks(&evaluation.remarks(), err)?;
        }
        TableFormat::Text | TableFormat::Md => {
            print_tables(
                &evaluation.preface(),
                &evaluation.tables(),
                &evaluation.remarks(),
                format,
                out,
            )?;
        }
    }
    Ok(())
}

/// Prints lines and tables as text or Markdown.
pub(super) fn print_tables(
    preface: &[String],
    tables: &[Table],
    remarks: &[String],
    format: TableFormat,
    out: &mut dyn Write,
) -> Result<()> {
    let markdown = format == TableFormat::Md;
    let bullet = if markdown { "- " } else { "" };
    for line in preface {
        writeln!(out, "{bullet}{}", one_line(line))?;
    }
    for table in tables {
        write!(out, "\n{}", if markdown { table.markdown() } else { table.text() })?;
    }
    if !remarks.is_empty() {
        writeln!(out, "\n{}", if markdown { "**Notes**\n" } else { "Notes" })?;
        for line in remarks {
            writeln!(out, "- {}", one_line(line))?;
        }
    }
    Ok(())
}

/// Prints remarks to standard error, where the form of the output has no place for them.
pub(super) fn print_remarks(remarks: &[String], err: &mut dyn Write) -> Result<()> {
    for line in remarks {
        writeln!(err, "note: {}", one_line(line))?;
    }
    Ok(())
}

/// Ids come from files: nothing of them may steer a terminal.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// Reads gold and predictions; `None`, with a message on standard error, when one of the files
/// gives nothing to score.
pub(super) fn load(
    gold: &GoldArgs,
    by: &[String],
    cluster: Option<&str>,
    paths: &[PathBuf],
    err: &mut dyn Write,
) -> Result<Option<(CaseSet, Vec<Prediction>)>> {
    let read = load_gold(gold, by.to_vec(), cluster.map(str::to_owned)).and_then(|mut cases| {
        let predictions = load_predictions(&mut cases, paths)?;
        Ok((cases, predictions))
    });
    match read {
        Ok(loaded) => Ok(Some(loaded)),
        Err(error) => {
            writeln!(err, "error: {}", one_line(&format!("{error:#}")))?;
            Ok(None)
        }
    }
}

/// Reads the gold file, and first the runs of `--data`.
fn load_gold(args: &GoldArgs, by: Vec<String>, cluster: Option<String>) -> Result<CaseSet> {
    let mut cases = CaseSet::new(by, cluster);
    if let Some(path) = &args.data {
        read_gold(open(path)?, |_, row| {
            // A run needs no label here, and one that cannot be read gives no spans: its gold row says so.
            if let Ok(run) = row {
                cases.push_spans(&run.case_id, run.span_ids);
            }
        })
        .with_context(|| format!("cannot read {}", path.display()))?;
    }
    let mut first_error = None;
    read_gold(open(&args.gold)?, |line, row| match row {
        Ok(gold) => cases.push(gold),
        Err(GoldError::NoId) => cases.notes.add(
            "no_gold_id",
            &line.map_or_else(String::new, |line| format!("line {line}")),
        ),
        Err(error) => {
            first_error.get_or_insert((line, error));
        }
    })
    .with_context(|| format!("cannot read {}", args.gold.display()))?;
    // Scores against part of the labels would not say so: a label that cannot be read ends the run.
    if let Some((line, error)) = first_error {
        let at = line.map_or_else(String::new, |line| format!(":{line}"));
        return Err(error).with_context(|| format!("{}{at}", args.gold.display()));
    }
    Ok(cases)
}

/// Reads every prediction file; one without a row that can be read is an error.
fn load_predictions(cases: &mut CaseSet, paths: &[PathBuf]) -> Result<Vec<Prediction>> {
    let mut predictions = Vec::with_capacity(paths.len());
    for (path, name) in paths.iter().zip(names(paths)) {
        let mut prediction = Prediction::new(name, cases);
        let used = prediction
            .read(cases, open(path)?)
            .with_context(|| format!("cannot read {}", path.display()))?;
        if used == 0 {
            let why: Vec<String> = prediction.notes.all().iter().map(ToString::to_string).collect();
            bail!(
                "{} has no prediction row that can be read: {}",
                path.display(),
                why.join("; ")
            );
        }
        predictions.push(prediction);
    }
    Ok(predictions)
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// The shortest names that tell the files apart: the stem, with as many folders as it takes.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths
        .iter()
        .map(|path| {
            let stem = path.with_extension("");
            stem.components()
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .collect()
        })
        .collect();
    let tail = |parts: &Vec<String>, length: usize| {
        parts
            .get(parts.len().saturating_sub(length)..)
            .unwrap_or_default()
            .join("/")
    };
    let longest = parts.iter().map(Vec::len).max().unwrap_or(1);
    for length in 1..=longest {
        let named: Vec<String> = parts.iter().map(|parts| tail(parts, length)).collect();
        let distinct: std::collections::HashSet<&String> = named.iter().collect();
        if distinct.len() == named.len() {
            return named;
        }
    }
    paths
        .iter()
        .zip(1..)
        .map(|(path, number)| format!("{} ({number})", path.display()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let of = |paths: &[&str]| names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["a/drift.jsonl", "b/bare.jsonl"]), ["drift", "bare"]);
        assert_eq!(
            of(&["x/a/summary.json", "x/b/summary.json"]),
            ["a/summary", "b/summary"]
        );
        assert_eq!(of(&["a.json", "a.json"]), ["a.json (1)", "a.json (2)"]);
    }
}
