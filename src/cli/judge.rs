//! `auditor judge`: the goal-drift judge for other programs, a request a line.

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::Exit;
use super::exit::Tally;
use super::judges::JudgeArgs;
use super::printer::Printer;
use crate::drive::{Budget, Judge, JudgeKind, RequestLine, Session, decider, judge_lines};
use crate::gd::{AuditRate, Band, FalseClear, GdSettings, Policy, Thresholds};
use crate::report::{JudgeRow, plain};
use crate::store::files;

const AFTER_HELP: &str = "\
One JSON object a line in, one a line out, in the same order (data/schema/judge.*.schema.json):
  in:  {\"schema\": \"auditor.judge/1\", \"id\", \"goal\", \"constraints\"?, \"turns\": [{\"id\", \"role\", \"text\"}],
        \"focus\"?: [turn ids], \"priors\"?: [{\"turn\", \"tier\", \"alignment\"}]}
  out: {\"id\", \"status\", \"turns\": [{\"id\", \"status\", \"gd\", \"alignment\", \"label\", …}], \"summary\", …}
A line that is no request gets its line, with status `failed` and the line's number; the others go on.

Examples:
  auditor judge < requests.jsonl                                  (offline: the lexical tier)
  auditor judge requests.jsonl --model m --escalate 0.3..0.7 --audit-rate 0.05 --seed 1";

/// Flags of `judge`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct JudgeCommand {
    /// Requests, a line each; `-` for standard input
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,
    /// Ask only about turns whose last prior has an alignment in this band; the tier decides the others
    #[arg(long, value_name = "LOW..HIGH")]
    escalate: Option<Band>,
    /// Ask about this share of the cleared turns (above the band) too, and report how many were cleared wrongly
    #[arg(long, value_name = "SHARE", requires = "escalate", value_parser = share)]
    audit_rate: Option<f64>,
    /// Seed of the draws of --audit-rate
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    scale: ScaleArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Lines and questions in flight at a time
    #[arg(short, long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Stop when this many US dollars are spent
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
}

/// Flags of every command that scores goal drift.
#[derive(Clone, Debug, Args)]
pub(super) struct ScaleArgs {
    /// Highest goal drift that is labelled aligned
    #[arg(long, default_value_t = Thresholds::default().aligned_to, value_name = "GD")]
    aligned_to: f64,
    /// Lowest goal drift that is labelled misaligned
    #[arg(long, default_value_t = Thresholds::default().misaligned_from, value_name = "GD")]
    misaligned_from: f64,
    /// Most characters of the run shown with a turn
    #[arg(long, default_value_t = 12_000, value_name = "CHARS", value_parser = clap::value_parser!(u32).range(200..))]
    context_chars: u32,
    /// Output tokens a reply may take
    #[arg(long, default_value_t = 4096, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(16..))]
    max_output: u32,
}

impl ScaleArgs {
    /// Settings for a judge that `decided_by` calls by this name.
    pub(super) fn settings(&self, decided_by: &str) -> anyhow::Result<GdSettings> {
        Ok(GdSettings {
            thresholds: Thresholds::new(self.aligned_to, self.misaligned_from)?,
            context_chars: usize::try_from(self.context_chars).unwrap_or(usize::MAX),
            max_output: self.max_output,
            decided_by: decided_by.to_owned(),
            ..GdSettings::default()
        })
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share from 0 to 1 is wanted".to_owned()),
    }
}

pub(super) fn run(args: &JudgeCommand, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prompts = args.judge.prompts()?;
    let judge = args.judge.judge(&prompts)?;
    if judge.info().kind == JudgeKind::Offline {
        printer.note("auditor: no model named, so the offline judge answers with its lexical tier: shared words, no meaning (--model NAME asks a model)");
    }
    let settings = args.scale.settings(decider(&judge.info()))?;
    let audit = args.audit_rate.map(|share| AuditRate { share, seed: args.seed });
    let policy = Policy {
        thresholds: settings.thresholds,
        band: args.escalate,
        audit,
    };
    let mut session = Session::new(judge);
    session.budget = Budget::capped(args.max_cost);
    let reader = files::open(&args.file)?;
    let session = Arc::new(session);
    let cancel = session.cancel.clone();
    let runtime = super::runtime()?;
    runtime.block_on(async {
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancel.cancel();
            }
        });
        let jobs = usize::from(args.jobs);
        let mut lines = read_lines(reader, jobs);
        let lines = stream::poll_fn(move |context| lines.poll_recv(context));
        let mut answers = std::pin::pin!(judge_lines(session.clone(), lines, policy, settings, jobs));
        let mut sums = Sums::default();
        while let Some(line) = answers.next().await {
            let row = JudgeRow::new(line);
            sums.add(&row);
            printer.result(&serde_json::to_string(&row).context("writing an answer")?)?;
            if let Some(cause) = &row.cause {
                printer.error(&plain(&cause.message));
            }
            if session.cancel.is_cancelled() {
                break;
            }
        }
        printer.note(&sums.sentence());
        Ok(sums.tally.exit(session.cancel.is_cancelled(), false))
    })
}

/// Reads lines on a thread of its own, a few ahead of what is judged, so that a program that waits for the answer to
/// one line before it writes the next gets it. The thread ends with the process.
fn read_lines(mut reader: Box<dyn BufRead + Send>, ahead: usize) -> mpsc::Receiver<RequestLine> {
    let (sender, receiver) = mpsc::channel(ahead.max(1));
    std::thread::spawn(move || {
        let mut number = 0;
        loop {
            let mut bytes = Vec::new();
            let text = match reader.read_until(b'\n', &mut bytes) {
                Ok(0) => return,
                Ok(_) => String::from_utf8(bytes).map_err(|error| format!("the line is not UTF-8: {error}")),
                Err(error) => Err(format!("the line cannot be read: {error}")),
            };
            number += 1;
            let last = text
                .as_ref()
                .is_err_and(|error| error.starts_with("the line cannot be read"));
            if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
                continue;
            }
            let text = text.map(|text| text.trim_start_matches('\u{feff}').to_owned());
            if sender.blocking_send(RequestLine { number, text }).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// What the lines came to, for stderr.
#[derive(Default)]
struct Sums {
    tally: Tally,
    scored: usize,
    passed: usize,
    unscored: usize,
    wrongly_cleared: u64,
    checked: u64,
}

impl Sums {
    fn add(&mut self, row: &JudgeRow) {
        self.tally.count(row.status, row.cause.as_ref(), false);
        let Some(summary) = &row.summary else { return };
        self.scored += summary.scored;
        self.passed += summary.passed;
        self.unscored += summary.unscored;
        if let Some(false_clear) = summary.false_clear {
            self.wrongly_cleared += false_clear.k;
            self.checked += false_clear.n;
        }
    }

    fn sentence(&self) -> String {
        let Self {
            tally,
            scored,
            passed,
            unscored,
            ..
        } = self;
        let bad = tally.rows - tally.clean;
        let mut said = format!(
            "auditor: {} lines, {bad} without an answer; turns: {scored} scored, {passed} passed, {unscored} unscored",
            tally.rows
        );
        if let Some(FalseClear { k, n, low, high }) = FalseClear::new(self.wrongly_cleared, self.checked) {
            let percent = |share: f64| 100.0 * share;
            said.push_str(&format!(
                "; cleared wrongly: {k} of {n} checked (95 %: {:.1} to {:.1} %)",
                percent(low),
                percent(high)
            ));
        }
        said
    }
}
