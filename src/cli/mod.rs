//! Flags in, exit code out: the only room that prints.

pub mod compare;
pub mod eval;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "auditor", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Scores predictions against gold
    Eval(eval::EvalArgs),
    /// Shows where two predictions differ, case by case
    Compare(compare::CompareArgs),
}

/// Parses the command line and runs it.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = anstream::stdout().lock();
    let mut err = anstream::stderr().lock();
    let done = match &cli.command {
        Command::Eval(args) => eval::run(args, &mut out, &mut err),
        Command::Compare(args) => compare::run(args, &mut out, &mut err),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(err, "error: {error:#}");
            ExitCode::from(2)
        }
    }
}
