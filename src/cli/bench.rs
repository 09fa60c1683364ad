//! `auditor bench`: several judges on a labelled set of runs, and a leaderboard.

mod board;
mod collect;
mod dry;
mod folder;
mod lanes;
mod manifest;
mod plan;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::Exit;
use super::eval::{BothEmptyArg, TableFormat, print_tables};
use super::judges::{AskArgs, OFFLINE};
use super::localize::{MethodWord, OutcomeWord};
use super::printer::Printer;
use crate::audit::{Method, Settings, UserKnows};
use crate::drive::{Budget, Judge, JudgeKind, bench};
use crate::eval::{self, BothEmpty, Leaderboard, Published, SEED};
use crate::prompt::Prompts;
use crate::store::{Fingerprint, Recording, files};
use collect::Collected;
use folder::LaneId;
use lanes::{Candidate, open, print_of, warn_of_prices};
use manifest::Manifest;
use plan::{Plan, Wanted};
use watch::Watch;

const AFTER_HELP: &str = "\
Each run in FILE is audited once by every model, method and repeat. Everything lies in one folder below
--runs-dir: a journal of the answers, results.jsonl, summary.json (as the released evaluator reads it),
leaderboard.md, .csv, .json and .svg, and manifest.json. The same command goes on where it was stopped, by
whatever means: no answer is asked for twice. With other prompts, methods, models or data it is another run,
in another folder.

Examples:
  auditor bench --data data/telbench/TELBench.jsonl --limit 20 --shuffle 1
  auditor bench --data runs.jsonl --model gpt-5-mini --model deepseek-chat --method drift,bare --dry-run
  auditor bench --data runs.jsonl --model gpt-5-mini --model deepseek-chat --method drift,bare --max-cost 20";

/// Flags of `bench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct BenchArgs {
    /// Labelled runs, best as JSON Lines (TELBench rows; see `auditor data telbench`)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Labels, when the data comes without
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Chat models to ask; may be repeated. `offline` is the judge that needs no model [default: offline]
    #[arg(long = "model", value_name = "NAME", env = "AUDITOR_MODEL", value_delimiter = ',')]
    judges: Vec<String>,
    /// How to audit: one or more of drift, bare, paper
    #[arg(long, value_enum, value_delimiter = ',', default_value = "drift")]
    method: Vec<MethodWord>,
    /// Folder of all bench runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs_dir: PathBuf,
    #[command(flatten)]
    how: AskArgs,
    /// Output tokens a reply may take
    #[arg(long, default_value_t = 4096, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(16..))]
    max_output: u32,
    /// What you know of how the runs ended; told to the judge
    #[arg(long, value_enum, default_value_t = OutcomeWord::Unknown)]
    outcome: OutcomeWord,
    /// Audits at a time, over all models
    #[arg(short, long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Most requests a minute to one endpoint
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rpm: Option<u64>,
    /// Most tokens a minute to one endpoint
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tpm: Option<u64>,
    /// Audit every run so many times
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Only so many of the labelled runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Take the runs in an order drawn from this seed; with --limit, a random sample
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Only runs whose labels say so in meta.difficulty
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    difficulty: Vec<String>,
    /// Say what it would take, and ask nobody
    #[arg(long)]
    dry_run: bool,
    /// Stop when this many US dollars are spent, earlier sessions of the same run included
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// Ask again where an audit failed or was refused
    #[arg(long)]
    retry_failed: bool,
    /// How to print the leaderboard
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TableFormat,
    /// What a run counts where neither gold nor prediction names a span
    #[arg(long, value_name = "1|0", default_value = "1")]
    both_empty: BothEmptyArg,
    /// Bootstrap resamples [default: 10000, fewer above 20000 runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resamples: Option<u32>,
    /// Seed of the resamples and of the random row
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
}

impl BenchArgs {
    fn settings(&self, method: Method, window: Option<u64>) -> Settings {
        let mut settings = Settings::new(method);
        settings.context_window = window;
        settings.max_output = self.max_output;
        settings.user = UserKnows {
            outcome: self.outcome.into(),
            reference_answer: None,
        };
        settings
    }

    fn methods(&self) -> Vec<Method> {
        let mut methods: Vec<Method> = Vec::new();
        for method in self.method.iter().map(|word| Method::from(*word)) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// The models, each once.
    fn models(&self, printer: &Printer) -> anyhow::Result<Vec<String>> {
        let named: Vec<String> = self
            .judges
            .iter()
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        if named.is_empty() {
            printer.note("auditor: no model named, so the offline judge is benchmarked: an evidence check of the text alone (--model NAME asks a model)");
            return Ok(vec![OFFLINE.to_owned()]);
        }
        let mut seen = BTreeSet::new();
        match named.iter().find(|name| !seen.insert(name.as_str())) {
            Some(twice) => bail!("--model {twice} is named twice; --repeats N audits a run N times"),
            None => Ok(named),
        }
    }

    fn evaluation(&self) -> eval::Settings {
        eval::Settings {
            both_empty: match self.both_empty {
                BothEmptyArg::One => BothEmpty::One,
                BothEmptyArg::Zero => BothEmpty::Zero,
            },
            resamples: self.resamples.map(|resamples| resamples as usize),
            seed: self.seed,
        }
    }
}

/// Everything that is known before anybody is asked.
struct Prepared {
    prompts: Arc<Prompts>,
    plan: Plan,
    candidates: Vec<Candidate>,
    identity: BTreeMap<String, String>,
    folder: PathBuf,
}

pub(super) fn run(args: &BenchArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prepared = prepare(args, printer)?;
    let runtime = super::runtime()?;
    if args.dry_run {
        return dry_run(args, &prepared, &runtime, printer);
    }
    warn_of_prices(args, &prepared.candidates, printer);
    files::make_dir(&prepared.folder)?;
    let Prepared {
        prompts,
        mut plan,
        candidates,
        identity,
        folder,
    } = prepared;
    let folder = folder.as_path();
    say_which(args, folder, &identity, printer);
    let mut manifest = Manifest::new(args, &plan, &prompts, &candidates, identity);
    let cancel = CancellationToken::new();
    let budget = Budget::capped(args.max_cost);
    let ids: Vec<LaneId> = candidates.iter().map(|candidate| candidate.id.clone()).collect();
    let lanes = open(args, folder, candidates, &budget, &cancel, printer)?;
    manifest.write(folder)?;
    let records = plan.records()?;
    let mut cases = std::mem::take(&mut plan.cases);
    let collected = runtime.block_on(async {
        let on_signal = cancel.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                on_signal.cancel();
            }
        });
        let total = cases.cases().len() as u64 * ids.len() as u64 * u64::from(args.repeats);
        let (mut watch, mut collected) = (Watch::new(total), Collected::new(folder, &ids, args.repeats, &cases)?);
        let mut audits = std::pin::pin!(bench(lanes.clone(), records, args.repeats, usize::from(args.jobs)));
        while let Some(finished) = audits.next().await {
            let row = collected.take(&finished, &mut cases)?;
            watch.tick(&row, finished.replayed, budget.spent(), printer);
        }
        watch.end(budget.spent(), printer);
        anyhow::Ok(collected)
    })?;
    let tally = collected.tally;
    let exit = tally.exit(cancel.is_cancelled(), false);
    let entries = collected.finish(folder, &cases)?;
    let name = plan.name();
    let published = Published::shipped()?;
    let board = Leaderboard::new(
        &name,
        &cases,
        &entries,
        &published,
        &args.evaluation(),
        plan.notes.clone(),
    )
    .context("no labelled run is left to score")?;
    board::write(&board, folder)?;
    manifest.end(&lanes, exit, budget.spent());
    manifest.write(folder)?;
    board::print(&board, args.format, printer)?;
    say_how_it_ended(args, folder, exit, &tally, printer);
    Ok(exit)
}

fn prepare(args: &BenchArgs, printer: &Printer) -> anyhow::Result<Prepared> {
    let prompts = args.how.of_model(OFFLINE).prompts()?;
    let models = args.models(printer)?;
    let mut candidates = Vec::new();
    for model in &models {
        let flags = args.how.of_model(model);
        let named = || format!("--model {model}");
        let window = flags.window().with_context(named)?;
        for method in args.methods() {
            let judge = flags.judge(&prompts).with_context(named)?;
            let id = LaneId {
                model: model.clone(),
                method: method.word(),
                print: Fingerprint::new(),
                slug: String::new(),
            };
            candidates.push(Candidate {
                id,
                method,
                judge,
                window,
            });
        }
    }
    let plan = Plan::new(&Wanted {
        data: &args.data,
        gold: args.gold.as_deref(),
        limit: args.limit.map(|limit| limit as usize),
        shuffle: args.shuffle,
        difficulty: &args.difficulty,
    })?;
    for candidate in &mut candidates {
        candidate.id.print = print_of(args, candidate, &plan.hash, &prompts.hash());
    }
    let mut ids: Vec<LaneId> = candidates.iter().map(|candidate| candidate.id.clone()).collect();
    folder::name_lanes(&mut ids);
    let identity = folder::identity(&plan.hash, plan.gold_hash.as_deref(), &ids);
    let folder = folder::path(&args.runs_dir, &args.data, &ids, &identity);
    for (candidate, id) in candidates.iter_mut().zip(ids) {
        candidate.id = id;
    }
    Ok(Prepared {
        prompts,
        plan,
        candidates,
        identity,
        folder,
    })
}

/// Says whether this is a run that goes on or another one, and what sets it apart from the nearest.
fn say_which(args: &BenchArgs, folder: &Path, identity: &BTreeMap<String, String>, printer: &Printer) {
    if folder.join(folder::MANIFEST).is_file() {
        printer.note(&format!("auditor: going on with {}", folder.display()));
        return;
    }
    let other =
        folder::nearest_other(&args.runs_dir, folder, identity).map_or(String::new(), |words| format!("; {words}"));
    printer.note(&format!("auditor: a new run in {}{other}", folder.display()));
}

fn dry_run(
    args: &BenchArgs,
    prepared: &Prepared,
    runtime: &tokio::runtime::Runtime,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let methods: Vec<Settings> = args
        .methods()
        .into_iter()
        .map(|method| args.settings(method, None))
        .collect();
    let use_of = runtime.block_on(dry::expected(
        &prepared.plan,
        &methods,
        &prepared.prompts,
        usize::from(args.jobs),
    ))?;
    let rows: Vec<dry::Estimate> = prepared
        .candidates
        .iter()
        .map(|candidate| dry::Estimate {
            model: candidate.id.model.clone(),
            method: candidate.method,
            chat: candidate.judge.info().kind == JudgeKind::Chat,
            price: candidate.price(),
            recorded: Recording::read(&prepared.folder.join(candidate.id.journal()))
                .map_or(0, |found| found.answers.len()),
        })
        .collect();
    let table = dry::table(&rows, &use_of, args.repeats, args.max_output);
    let runs = prepared.plan.cases.cases().len();
    let preface = [format!(
        "{}: {} audits ({runs} runs, {} judges and methods, {} repeats). Nobody was asked; it would lie in {}.",
        prepared.plan.name(),
        runs * rows.len() * args.repeats as usize,
        rows.len(),
        args.repeats,
        prepared.folder.display()
    )];
    printer.with_out(|out, _| {
        match args.format {
            TableFormat::Json => {
                let rows: Vec<BTreeMap<&String, &String>> = table
                    .rows
                    .iter()
                    .map(|row| table.head.iter().zip(row).collect())
                    .collect();
                serde_json::to_writer(
                    &mut *out,
                    &serde_json::json!({ "schema": "auditor.dry_run/1", "runs": runs, "rows": rows }),
                )?;
                writeln!(out)?;
            }
            TableFormat::Csv => write!(out, "{}", table.csv())?,
            format => print_tables(&preface, std::slice::from_ref(&table), &dry::remarks(), format, out)?,
        }
        Ok(0)
    })
}

fn say_how_it_ended(args: &BenchArgs, folder: &Path, exit: Exit, tally: &super::exit::Tally, printer: &Printer) {
    let kept = match exit {
        Exit::Interrupted => "; interrupted, and the same command goes on from here",
        Exit::Budget => "; stopped at --max-cost, and the same command with a higher one goes on from here",
        _ => "",
    };
    printer.note(&format!("auditor: written to {}{kept}", folder.display()));
    let again = tally.failed + tally.refused - tally.unreadable;
    if again > 0 && !args.retry_failed {
        printer.note(&format!(
            "auditor: {again} audits failed or were refused; the same command with --retry-failed asks them again"
        ));
    }
}
