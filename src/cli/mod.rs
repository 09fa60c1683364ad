//! Flags in, exit code out: the only room that prints.
//!
//! Arguments are read twice: as typed (clap structs, one file per verb) and as resolved
//! (`settings`), which may look at the environment and at `.env`.

mod align;
mod bench;
mod compare;
mod data;
mod doctor;
mod eval;
mod exit;
mod import;
mod judge;
mod judges;
mod localize;
mod panel;
mod printer;
mod prompts;
mod selftest;
mod settings;

use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};

pub use exit::Exit;
use printer::Printer;

const AFTER_HELP: &str = "\
Exit codes (the first that applies):
  130  interrupted
  2    wrong usage, or no record could be read
  5    stopped by --max-cost
  3    no run has a verdict (all failed or were refused)
  4    some runs have no verdict
  1    harmful spans found, and --fail-on harmful
  0    otherwise

Try it without a key:
  auditor localize data/samples/wrong-candidate.json";

/// Says where an AI agent's run went wrong: the first harmful span, the claims that carried it,
/// and quotes you can check.
#[derive(Debug, Parser)]
#[command(name = "auditor", version, about, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Say more on stderr: -v a line a call, -vv requests and replies with secrets removed
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
    /// Form of the log on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text, global = true)]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say which spans of a run did the harm, which was the first, and why
    Localize(localize::LocalizeArgs),
    /// Turn logs of agent frameworks into rows of spans
    Import(import::ImportArgs),
    /// Judge turns of runs against their goals: JSONL in, JSONL out
    Judge(judge::JudgeCommand),
    /// Score turns against the goal by every tier: shared words, embeddings, judge
    Align(align::AlignArgs),
    /// Score predictions against gold
    Eval(eval::EvalArgs),
    /// Show where two predictions differ, case by case
    Compare(compare::CompareArgs),
    /// Ask several judges about a labelled set of runs and rank them
    Bench(Box<bench::BenchArgs>),
    /// Fetch benchmark data
    #[command(subcommand)]
    Data(data::DataVerb),
    /// Show or export what a judge model reads
    #[command(subcommand)]
    Prompts(prompts::PromptsVerb),
    /// Check an endpoint with one cheap call
    Doctor(doctor::DoctorArgs),
    /// Try a judge: does it obey instructions planted in the run?
    Selftest(selftest::SelftestArgs),
    /// Print a shell's completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Runs the tool as typed on the command line.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout and are no failure; clap knows which is which.
            let failed = error.print().is_err() || error.use_stderr();
            return if failed { Exit::Usage.into() } else { Exit::Fine.into() };
        }
    };
    log(cli.verbose, cli.log_format);
    let mut printer = Printer::new();
    match run(cli.verb, &mut printer) {
        Ok(exit) => exit.into(),
        Err(error) if printer::is_broken_pipe(&error) => Exit::Fine.into(),
        Err(error) => {
            printer.error(&format!("{error:#}"));
            Exit::Usage.into()
        }
    }
}

fn run(verb: Verb, printer: &mut Printer) -> anyhow::Result<Exit> {
    match verb {
        Verb::Localize(args) => localize::run(&args, printer),
        Verb::Bench(args) => bench::run(&args, printer),
        Verb::Data(verb) => data::run(&verb, printer),
        Verb::Judge(args) => judge::run(&args, printer),
        Verb::Align(args) => align::run(&args, printer),
        Verb::Prompts(verb) => prompts::run(&verb, printer),
        Verb::Import(args) => printer.with_out(|out, err| import::run(&args, out, err)),
        Verb::Eval(args) => printer.with_out(|out, err| eval::run(&args, out, err)),
        Verb::Compare(args) => printer.with_out(|out, err| compare::run(&args, out, err)),
        Verb::Doctor(args) => doctor::run(&args, printer),
        Verb::Selftest(args) => selftest::run(&args, printer),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "auditor", &mut script);
            printer.bytes(&script)?;
            Ok(Exit::Fine)
        }
    }
}

/// The runtime of a command that asks judges.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the runtime")
}

fn log(verbose: u8, format: LogFormat) {
    use tracing_subscriber::EnvFilter;
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    // async-openai logs whole bodies, which hold the run's text.
    let filter = EnvFilter::new(format!("off,auditor={level},async_openai=off"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    let color = printer::color_on_stderr();
    let set = match format {
        LogFormat::Text => builder.with_ansi(color).without_time().try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    // A second initialisation can only happen in tests that call `main` twice; the first log stands.
    drop(set);
}
