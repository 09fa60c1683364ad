//! `auditor localize`: the main job.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use futures_util::{StreamExt, stream};

use super::Exit;
use super::exit::Tally;
use super::judges::{AnyJudge, JudgeArgs};
use super::panel::PanelArgs;
use super::printer::Printer;
use crate::audit::{Method, Outcome, Settings, UserKnows};
use crate::drive::{Budget, Judge, JudgeInfo, JudgeKind, Session, decider, judge_findings, localize_by};
use crate::gd::GdSettings;
use crate::report::{self, GdRow, ResultRow, Status, Style};
use crate::store::{Fingerprint, Journal, files};
use crate::trajectory::formats::{InputError, ReadOptions, Record, Records};
use crate::trajectory::{Source, Stage};

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
  auditor localize runs.jsonl --model m --resume answers.jsonl
  auditor localize long.json --model m --context-window 32768     a run that does not fit is read in windows
  auditor localize run.json --model m --repeats 5                 how far the verdicts of one judge spread
  auditor localize run.json --model m --second-judge n --agree    only what two judges say";

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
    #[command(flatten)]
    panel: PanelArgs,
    /// Output tokens a reply may take
    #[arg(long, default_value_t = 4096, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(16..))]
    max_output: u32,
    /// Runs audited at a time
    #[arg(short, long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// What you know of how the runs ended; told to the judge and written in the result
    #[arg(long, value_enum, default_value_t = OutcomeWord::Unknown)]
    outcome: OutcomeWord,
    /// The right answer; told to the judge and written in the result
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
    /// Have the goal-drift judge score the harmful spans, and the span before the first
    #[arg(long)]
    gd: bool,
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
    fn settings(&self, context_window: Option<u64>) -> Settings {
        let mut settings = Settings::new(self.method.into());
        settings.context_window = context_window;
        settings.max_output = self.max_output;
        settings.user = UserKnows {
            outcome: self.outcome.into(),
            reference_answer: self.reference_answer.clone(),
        };
        settings.packet_chars = self.packet_chars;
        settings
    }

    /// Settings of the goal-drift judge, when it is wanted.
    fn drift_settings(&self, judge: &JudgeInfo) -> Option<GdSettings> {
        let decided_by = decider(judge).to_owned();
        self.gd.then(|| GdSettings {
            max_output: self.max_output,
            decided_by,
            ..GdSettings::default()
        })
    }

    /// What the answers of a recording depend on, beside the requests themselves, which carry hashes.
    fn fingerprint(&self, session: &Session<AnyJudge>, window: Option<u64>, prompts_hash: &str) -> Fingerprint {
        let info = session.judge.info();
        let text = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let mut fingerprint: Fingerprint = [
            ("judge", info.kind.word().to_owned()),
            ("model", text(info.model)),
            ("endpoint", text(info.endpoint)),
            ("method", Method::from(self.method).word().to_owned()),
            ("prompts", prompts_hash.to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        if let Some(window) = window {
            fingerprint.insert("context_window".to_owned(), window.to_string());
        }
        if let Some(second) = session.second.as_ref().map(Judge::info) {
            fingerprint.insert("second_model".to_owned(), text(second.model));
            fingerprint.insert("second_endpoint".to_owned(), text(second.endpoint));
        }
        fingerprint
    }
}

pub(super) fn run(args: &LocalizeArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prompts = args.judge.prompts()?;
    let judge = args.judge.judge(&prompts)?;
    if judge.info().kind == JudgeKind::Offline {
        printer.note("auditor: no model named, so the offline judge answers: an evidence check of the text alone (--model NAME asks a model)");
    }
    let window = args.panel.window(&args.judge)?;
    let mut session = Session::new(judge);
    session.second = args.panel.second(&args.judge, &prompts)?;
    let fingerprint = args.fingerprint(&session, window, &prompts.hash());
    session.budget = Budget::capped(args.max_cost);
    if let Some(path) = &args.record {
        session.journal = Some(Journal::create(path, &fingerprint).context("--record")?);
    }
    if let Some(path) = &args.resume {
        let (journal, recording) = Journal::resume(path, &fingerprint).context("--resume")?;
        if recording.torn_bytes > 0 {
            printer.note(&format!(
                "auditor: {}: a torn last line of {} bytes was cut off",
                path.display(),
                recording.torn_bytes
            ));
        }
        session.resume(journal, recording, args.retry_failed);
    }
    let runtime = super::runtime()?;
    runtime.block_on(audit_all(args, args.settings(window), Arc::new(session), printer))
}

async fn audit_all(
    args: &LocalizeArgs,
    settings: Settings,
    session: Arc<Session<AnyJudge>>,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let cancel = session.cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    let options = ReadOptions {
        question: args.question.clone(),
        ..ReadOptions::default()
    };
    let files = args.files.clone();
    let records = files.into_iter().flat_map(move |path| records_of(&path, &options));
    let results = localize_by(
        session.clone(),
        records,
        settings,
        args.panel.panel(),
        usize::from(args.jobs),
    );
    let gate = tokio::sync::Semaphore::new(usize::from(args.jobs));
    let drift = args.drift_settings(&session.judge.info());
    let scored = results.zip(stream::iter(0_u64..)).map(|(mut result, input)| {
        let (session, gate, drift) = (&session, &gate, &drift);
        async move {
            let gd = match drift {
                Some(settings) => judge_findings(session, &result, input, settings, gate).await,
                None => None,
            };
            if let Some(gd) = &gd {
                result.usage.insert(Stage::Gd, gd.judged.usage.clone());
                let mended = gd.judged.report.iter().flat_map(|report| &report.warnings);
                result.warnings.extend(gd.judged.notes.iter().chain(mended).cloned());
            }
            (result, gd)
        }
    });
    let mut results = std::pin::pin!(scored.buffered(usize::from(args.jobs)));
    let mut tally = Tally::default();
    let style = Style { color: printer.color };
    while let Some((result, gd)) = results.next().await {
        let mut row = ResultRow::new(&result);
        row.gd = gd.as_ref().map(GdRow::new);
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
        let path = args
            .record
            .as_ref()
            .or(args.resume.as_ref())
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        printer.note(&format!(
            "auditor: interrupted; the same command with --resume {path} goes on from here"
        ));
    }
    Ok(tally.exit(interrupted, args.fail_on == FailOn::Harmful))
}

/// A row without a verdict is said on stderr too, where a reader of `| jq` sees it, and so is a second judge
/// or a repeat without one.
fn complain(row: &ResultRow, printer: &Printer) {
    let word = |status| match status {
        Status::Refused => "refused",
        Status::NotRun => "not run",
        Status::Failed | Status::Ok => "failed",
    };
    let mut complaints: Vec<String> = Vec::new();
    if let Some(cause) = &row.cause {
        complaints.push(format!("{}: {}", word(row.status), report::plain(&cause.message)));
    }
    if let Some((second, cause)) = row
        .second
        .as_ref()
        .and_then(|second| Some((second, second.cause.as_ref()?)))
    {
        complaints.push(format!(
            "second judge {}: {}",
            word(second.status),
            report::plain(&cause.message)
        ));
    }
    for failed in row
        .repeats
        .iter()
        .flat_map(|repeats| &repeats.failed)
        .filter(|_| row.cause.is_none())
    {
        let word = if failed.refused { "refused" } else { "failed" };
        complaints.push(format!(
            "repeat {} {word}: {}",
            failed.repeat + 1,
            report::plain(&failed.cause.message)
        ));
    }
    let place = match row.source.line {
        Some(line) => format!("{}:{line}", row.source.file),
        None => row.source.file.clone(),
    };
    let id = row
        .case_id
        .as_deref()
        .map(|id| format!(" ({})", report::plain(id)))
        .unwrap_or_default();
    for complaint in complaints {
        printer.error(&format!("{}{id}: {complaint}", report::plain(&place)));
    }
}

fn summary(tally: &Tally) -> String {
    let mut parts = vec![
        format!("{} with harmful spans", tally.harmful),
        format!("{} without", tally.clean),
    ];
    for (count, word) in [
        (tally.failed, "failed"),
        (tally.refused, "refused"),
        (tally.not_run, "not run"),
    ] {
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
            let error = InputError {
                source: source.clone(),
                case_id: None,
                message: error.to_string(),
            };
            Box::new(std::iter::once(Record {
                source,
                outcome: Err(error),
            }))
        }
    }
}
