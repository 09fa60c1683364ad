//! `auditor doctor`: does the endpoint work, and how.

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::Exit;
use super::judges::JudgeArgs;
use super::printer::Printer;
use crate::drive::{Diagnosis, diagnose};
use crate::report::plain;

/// Flags of `doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    judge: JudgeArgs,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Ends with 0 when the endpoint answered with the JSON that was asked for, else with 3.
pub(super) fn run(args: &DoctorArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let caller = args.judge.caller()?;
    let runtime = super::runtime()?;
    let found = runtime.block_on(diagnose(&caller));
    if args.format == Format::Json {
        printer.result(&serde_json::to_string(&found).context("writing the findings")?)?;
    } else {
        printer.result(text(&found).trim_end())?;
    }
    Ok(if found.ok { Exit::Fine } else { Exit::NoneOk })
}

fn text(found: &Diagnosis) -> String {
    let mut rows: Vec<(&str, String)> = vec![
        ("url", found.url.clone()),
        ("model", found.model.clone()),
        (
            "key",
            found
                .key_from
                .clone()
                .map_or("none sent".to_owned(), |name| format!("from {name}")),
        ),
        ("dialect", found.dialect.to_string()),
    ];
    rows.extend(found.steps.iter().map(|step| ("gave up", step.clone())));
    rows.push((
        "window",
        found.window.map_or("the endpoint does not say".to_owned(), |tokens| {
            format!("{tokens} tokens")
        }),
    ));
    rows.push(("latency", format!("{} ms", found.latency_ms)));
    rows.push((
        "tokens",
        format!("{} in, {} out", found.usage.input_tokens, found.usage.output_tokens),
    ));
    rows.push((
        "verdict",
        if found.ok {
            "works".to_owned()
        } else {
            "does not work".to_owned()
        },
    ));
    if let Some(cause) = &found.cause {
        rows.push(("cause", cause.message.clone()));
    }
    rows.extend(found.advice.iter().map(|advice| ("do", advice.clone())));
    rows.into_iter()
        .map(|(head, text)| format!("{head:<8} {}\n", plain(&text)))
        .collect()
}
