//! `auditor localize`: the main job.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use futures_util::StreamExt;

use super::Exit;
use super::exit::Tally;
use super::judges::{AnyJudge, JudgeArgs};
use super::printer::Printer;
use crate::audit::{Method, Outcome, Settings, UserKnows};
use crate::drive::{Budget, JudgeKind, Judge, Session, localize};
use crate::report::{self, ResultRow, Status, Style};
use crate::store::{Fingerprint, Journal, files};
use crate::trajectory::formats::{InputError, ReadOptions, Record, Records};
use crate::trajectory::Source;

const AFTER_HELP: &str = "\
Input: JSON or JSONL, told apart by content: TELBench rows {id, question, spans: [{id, raw}]},
the released DRIFT shapes (case_id, {\"traj\": …}, {\"items\": […]}, a bare list); `-` is standard input.
A record that cannot be read gets its row, with cause `input`; the others go on.

Examples:
  auditor localize data/samples/wrong-candidate.json
  auditor localize data/samples/*.json --format json | jq .prediction
  OPENAI_API_KEY=… auditor localize run.json --model gpt-5.4-mini
  auditor localize run.json --model qwen --base-url http://127.0.0.1:8080/v1
  auditor localize runs.jsonl --model m --record answers.jsonl    then, after a crash:
  auditor localize runs.jsonl --model m --resume answers.jsonl";

/// Flags of `localize`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LocalizeArgs {
    /// Runs to audit; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to audit
    #[arg(long, value_enum, default_value_t = MethodWord::Drift)]
    method: MethodWord,
    /// How to print results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Output tokens a reply may take
    #[arg(long, default_value_t = 4096, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(16..))]
    max_output: u32,
    /// Runs audited at a time
    #[arg(short, long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// What you know of how the runs ended; told to the judge
    #[arg(long, value_enum, default_value_t = OutcomeWord::Unknown)]
    outcome: OutcomeWord,
    /// The right answer, told to the judge
    #[arg(long, value_name = "TEXT")]
    reference_answer: Option<String>,
    /// The question of every run, whatever the record says
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// Most characters of the evidence packet (drift)
    #[arg(long, value_name = "CHARS")]
    packet_chars: Option<usize>,
    /// Record every answer to a new file
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    record: Option<PathBuf>,
    /// Go on with a recording: what it holds is not asked again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// With --resume: ask again where a run failed
    #[arg(long, requires = "resume")]
    retry_failed: bool,
    /// Stop when this many US dollars are spent
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// End with exit code 1 when this is found
    #[arg(long, value_enum, default_value_t = FailOn::None)]
    fail_on: FailOn,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MethodWord {
    /// One call that sees everything
    Bare,
    /// The published steps to the letter, with our prompts
    Paper,
    /// The same stages without the published code's faults
    Drift,
}

impl From<MethodWord> for Method {
    fn from(word: MethodWord) -> Self {
        match word {
            MethodWord::Bare => Self::Bare,
            MethodWord::Paper => Self::Paper,
            MethodWord::Drift => Self::Drift,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OutcomeWord {
    Failed,
    Correct,
    Unknown,
}

impl From<OutcomeWord> for Outcome {
    fn from(word: OutcomeWord) -> Self {
        match word {
            OutcomeWord::Failed => Self::Failed,
            OutcomeWord::Correct => Self::Correct,
            OutcomeWord::Unknown => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    None,
    Harmful,
}

impl LocalizeArgs {
    fn settings(&self) -> Settings {
        let mut settings = Settings::new(self.method.into());
        settings.max_output = self.max_output;
        settings.user =
            UserKnows { outcome: self.outcome.into(), reference_answer: self.reference_answer.clone() };
        if let Some(chars) = self.packet_chars {
            settings.packet_chars = chars;
        }
        settings
    }

    /// What the answers of a recording depend on, beside the requests themselves, which carry hashes.
    fn fingerprint(&self, judge: &AnyJudge, prompts_hash: &str) -> Fingerprint {
        let info = judge.info();
        let text = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        [
            ("judge", info.kind.word().to_owned()),
            ("model", text(info.model)),
            ("endpoint", text(info.endpoint)),
            ("method", Method::from(self.method).word().to_owned()),
            ("prompts", prompts_hash.to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

pub(super) fn run(args: &LocalizeArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prompts = args.judge.prompts()?;
    let judge = args.judge.judge(&prompts)?;
    if judge.info().kind == JudgeKind::Offline {
        printer.note("auditor: no model named, so the offline judge answers: an evidence check of the text alone (--model NAME asks a model)");
    }
    let fingerprint = args.fingerprint(&judge, &prompts.hash());
    let mut session = Session::new(judge);
    session.budget = Budget::capped(args.max_cost);
    if let Some(path) = &args.record {
        session.journal = Some(Journal::create(path, &fingerprint).context("--record")?);
    }
    if let Some(path) = &args.resume {
        let (journal, recording) = Journal::resume(path, &fingerprint).context("--resume")?;
        if recording.torn_bytes > 0 {
            printer.note(&format!("auditor: {}: a torn last line of {} bytes was cut off", path.display(), recording.torn_bytes));
        }
        session.resume(journal, recording, args.retry_failed);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
    runtime.block_on(audit_all(args, Arc::new(session), printer))
}

async fn audit_all(args: &LocalizeArgs, session: Arc<Session<AnyJudge>>, printer: &mut Printer) -> anyhow::Result<Exit> {
    let cancel = session.cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    let options = ReadOptions { question: args.question.clone(), ..ReadOptions::default() };
    let files = args.files.clone();
    let records = files.into_iter().flat_map(move |path| records_of(&path, &options));
    let mut results = std::pin::pin!(localize(session.clone(), records, args.settings(), usize::from(args.jobs)));
    let mut tally = Tally::default();
    let style = Style { color: printer.color };
    while let Some(result) = results.next().await {
        let row = ResultRow::new(&result);
        tally.add(&row);
        if args.format == Format::Json {
            printer.result(&serde_json::to_string(&row).context("writing a result")?)?;
        } else {
            if tally.rows > 1 {
                printer.result("")?;
            }
            printer.result(report::render(&row, result.run.as_deref(), style).trim_end())?;
        }
        complain(&row, printer);
    }
    let interrupted = session.cancel.is_cancelled();
    if tally.rows > 1 || interrupted {
        printer.note(&summary(&tally));
    }
    if interrupted && session.journal.is_some() {
        let path = args.record.as_ref().or(args.resume.as_ref()).map(|path| path.display().to_string()).unwrap_or_default();
        printer.note(&format!("auditor: interrupted; the same command with --resume {path} goes on from here"));
    }
    Ok(tally.exit(interrupted, args.fail_on == FailOn::Harmful))
}

/// A row without a verdict is said on stderr too, where a reader of `| jq` sees it.
fn complain(row: &ResultRow, printer: &Printer) {
    let Some(cause) = &row.cause else { return };
    let word = match row.status {
        Status::Refused => "refused",
        Status::NotRun => "not run",
        Status::Failed | Status::Ok => "failed",
    };
    let place = match row.source.line {
        Some(line) => format!("{}:{line}", row.source.file),
        None => row.source.file.clone(),
    };
    let id = row.case_id.as_deref().map(|id| format!(" ({})", report::plain(id))).unwrap_or_default();
    printer.error(&format!("{}{id}: {word}: {}", report::plain(&place), report::plain(&cause.message)));
}

fn summary(tally: &Tally) -> String {
    let mut parts = vec![format!("{} with harmful spans", tally.harmful), format!("{} without", tally.clean)];
    for (count, word) in [(tally.failed, "failed"), (tally.refused, "refused"), (tally.not_run, "not run")] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    format!("auditor: {} runs: {}", tally.rows, parts.join(", "))
}

/// The records of one file, or the one row that says why it could not be opened.
fn records_of(path: &Path, options: &ReadOptions) -> Box<dyn Iterator<Item = Record>> {
    let file = path.display().to_string();
    match files::open(path) {
        Ok(reader) => Box::new(Records::new(reader, &file, options.clone())),
        Err(error) => {
            let source = Source { file, line: None };
            let error = InputError { source: source.clone(), case_id: None, message: error.to_string() };
            Box::new(std::iter::once(Record { source, outcome: Err(error) }))
        }
    }
}
