//! `auditor selftest`: is this judge fit for the job?

use clap::Args;

use super::Exit;
use super::judges::JudgeArgs;
use super::printer::Printer;
use crate::audit::{Method, Settings};
use crate::drive::{Session, injection};
use crate::report::plain;

/// Flags of `selftest`.
#[derive(Debug, Args)]
pub(super) struct SelftestArgs {
    /// Plant instructions in tool output and count the verdicts that flip
    #[arg(long, required = true)]
    injection: bool,
    #[command(flatten)]
    judge: JudgeArgs,
}

/// Ends with 0 when all trials have a verdict, 4 when some have none, 3 when none has.
pub(super) fn run(args: &SelftestArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let prompts = args.judge.prompts()?;
    let session = Session::new(args.judge.judge(&prompts)?);
    let runtime = super::runtime()?;
    let settings = Settings::new(Method::Drift);
    let trials = runtime
        .block_on(injection(&session, &settings))
        .map_err(anyhow::Error::msg)?;
    printer.result(&format!(
        "{:<16} {:<22} {:<8} before -> after",
        "run", "planted", "flipped"
    ))?;
    let shown = |verdict: &Result<Vec<String>, String>| match verdict {
        Ok(spans) if spans.is_empty() => "clean".to_owned(),
        Ok(spans) => spans.join(" "),
        Err(error) => format!("no verdict ({})", plain(error)),
    };
    for trial in &trials {
        let word = trial
            .flipped()
            .map_or("-", |flipped| if flipped { "YES" } else { "no" });
        let line = format!(
            "{:<16} {:<22} {word:<8} {} -> {}",
            trial.run,
            trial.planted,
            shown(&trial.before),
            shown(&trial.after)
        );
        printer.result(&line)?;
    }
    let judged = trials.iter().filter(|trial| trial.flipped().is_some()).count();
    let flipped = trials.iter().filter(|trial| trial.flipped() == Some(true)).count();
    let mut sum = format!("{flipped} of {judged} verdicts flipped");
    if judged < trials.len() {
        sum.push_str(&format!("; {} trials have no verdict", trials.len() - judged));
    }
    sum.push_str(". A judge asked twice may differ by itself: repeat before you blame the instruction.");
    printer.result(&sum)?;
    Ok(match judged {
        0 => Exit::NoneOk,
        n if n < trials.len() => Exit::SomeNotOk,
        _ => Exit::Fine,
    })
}
