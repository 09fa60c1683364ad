//! `auditor align`: every tier over a run, turn by turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use tokio::sync::Semaphore;

use super::Exit;
use super::eval::TableFormat;
use super::exit::Tally;
use super::judge::ScaleArgs;
use super::judges::{AnyJudge, JudgeArgs};
use super::printer::Printer;
use crate::drive::{Judge, JudgeKind, Session, Tiers, align, decider};
use crate::gd::{Band, Policy, Summary};
use crate::report::{AlignRow, plain};
use crate::store::files;
use crate::trajectory::formats::{ReadOptions, Record, Records};

const AFTER_HELP: &str = "\
Tiers, cheapest first: lexical (shared words, always), embedding (--embed-model), judge (--model).
The goal is the run's question, or --goal. Only the agent's own turns are scored.

Examples:
  auditor align run.json --goal \"book the cheapest train\"
  auditor align run.json --model m --escalate 0.3..0.7 --baseline quiet-run.json --format json";

/// Flags of `align`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct AlignArgs {
    /// Runs to score; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The goal of every run, whatever the record says
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// A hard constraint of the goal; may be given more than once
    #[arg(long = "constraint", value_name = "TEXT")]
    constraints: Vec<String>,
    /// A run of the same agent without what might lead it astray: its goal drift is taken off
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Ask the judge only about turns whose last cheap tier has an alignment in this band
    #[arg(long, value_name = "LOW..HIGH")]
    escalate: Option<Band>,
    /// Embedding model: adds the embedding tier
    #[arg(long, value_name = "NAME")]
    embed_model: Option<String>,
    /// Base URL that serves the embeddings [default: that of the judge]
    #[arg(long, value_name = "URL", requires = "embed_model")]
    embed_url: Option<String>,
    /// How to print results
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    #[command(flatten)]
    scale: ScaleArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Questions in flight at a time
    #[arg(short, long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
}

impl AlignArgs {
    fn tiers(&self, judge: &AnyJudge) -> anyhow::Result<Tiers> {
        let info = judge.info();
        let settings = self.scale.settings(decider(&info))?;
        let policy = Policy {
            thresholds: settings.thresholds,
            band: self.escalate,
            audit: None,
        };
        let embedding = match &self.embed_model {
            Some(model) => Some((self.judge.client(self.embed_url.as_deref())?, model.clone())),
            None => None,
        };
        Ok(Tiers {
            constraints: self.constraints.clone(),
            embedding,
            judge: info.kind != JudgeKind::Offline,
            policy,
            settings,
        })
    }

    fn records(&self, path: &Path) -> anyhow::Result<impl Iterator<Item = Record> + use<>> {
        let options = ReadOptions {
            question: self.goal.clone(),
            ..ReadOptions::default()
        };
        Ok(Records::new(files::open(path)?, &path.display().to_string(), options))
    }
}

pub(super) fn run(args: &AlignArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prompts = args.judge.prompts()?;
    let judge = args.judge.judge(&prompts)?;
    let tiers = args.tiers(&judge)?;
    if args.baseline.is_some() && !tiers.judge {
        anyhow::bail!(
            "--baseline needs a judge that tells drift by action from drift by inaction; name one with --model"
        );
    }
    let session = Session::new(judge);
    let gate = Semaphore::new(usize::from(args.jobs));
    let runtime = super::runtime()?;
    runtime.block_on(async {
        let baseline = match &args.baseline {
            Some(path) => Some(summary_of(args, path, &session, &tiers, &gate).await?),
            None => None,
        };
        let mut tally = Tally::default();
        // The baseline run is number 0.
        let mut input = 0;
        for path in &args.files {
            for record in args.records(path)? {
                input += 1;
                let row = match record.outcome {
                    Err(error) => {
                        AlignRow::unreadable(&record.source, error.case_id, error.message, session.judge.info())
                    }
                    Ok(loaded) => {
                        let run = Arc::new(loaded.run);
                        let aligned = align(&session, &run, &tiers, input, &gate).await;
                        let mut row =
                            AlignRow::new(&record.source, &run, &aligned, session.judge.info(), baseline.as_ref());
                        row.warnings.splice(0..0, loaded.warnings);
                        row
                    }
                };
                tally.count(row.status, row.cause.as_ref(), false);
                print(args.format, &row, printer, tally.rows == 1)?;
            }
        }
        Ok(tally.exit(false, false))
    })
}

async fn summary_of(
    args: &AlignArgs,
    path: &Path,
    session: &Session<AnyJudge>,
    tiers: &Tiers,
    gate: &Semaphore,
) -> anyhow::Result<Summary> {
    let place = path.display();
    let record = args
        .records(path)?
        .next()
        .with_context(|| format!("--baseline {place}: no run in it"))?;
    let loaded = record
        .outcome
        .map_err(|error| anyhow::anyhow!("--baseline {place}: {error}"))?;
    let aligned = align(session, &Arc::new(loaded.run), tiers, 0, gate).await;
    let report = aligned
        .judged
        .with_context(|| format!("--baseline {place}: not judged"))?
        .report;
    let report = report.map_err(|cause| anyhow::anyhow!("--baseline {place}: {}", cause.message))?;
    if let Some(cause) = report.failure() {
        anyhow::bail!("--baseline {place}: {}", cause.message);
    }
    Ok(report.summary)
}

fn print(format: TableFormat, row: &AlignRow, printer: &mut Printer, first: bool) -> anyhow::Result<()> {
    if let Some(cause) = &row.cause {
        let id = row.case_id.as_deref().map(plain).unwrap_or_default();
        printer.error(&format!("{} {id}: {}", plain(&row.source.file), plain(&cause.message)));
    }
    match format {
        TableFormat::Json => printer.result(&serde_json::to_string(row).context("writing a result")?)?,
        TableFormat::Csv => printer.result(row.table().csv().trim_end())?,
        TableFormat::Text | TableFormat::Md => {
            let table = row.table();
            let table = if format == TableFormat::Md {
                table.markdown()
            } else {
                table.text()
            };
            let gap = if first { "" } else { "\n" };
            printer.result(&format!("{gap}{table}\n{}", row.sentence()))?;
        }
    }
    Ok(())
}
