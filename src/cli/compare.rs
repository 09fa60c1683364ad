//! `auditor compare`: where two predictions differ.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::eval::{GoldArgs, NO_RECORD, TableFormat, load, print_remarks, print_tables};
use crate::eval::compare;

/// Flags of `auditor compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// The first predictions
    #[arg(value_name = "PRED_A")]
    a: PathBuf,
    /// The second predictions
    #[arg(value_name = "PRED_B")]
    b: PathBuf,
    #[command(flatten)]
    gold: GoldArgs,
    /// Most runs to list in text and Markdown; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// How to print; JSON and CSV list every differing run
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TableFormat,
}

/// Runs `auditor compare`. Exit codes as for `auditor eval`.
///
/// # Errors
/// An output stream that takes no more.
pub fn run(args: &CompareArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8> {
    let paths = [args.a.clone(), args.b.clone()];
    let Some((cases, predictions)) = load(&args.gold, &[], None, &paths, err)? else {
        return Ok(NO_RECORD);
    };
    let mut predictions = predictions.into_iter();
    let found = match (predictions.next(), predictions.next()) {
        (Some(a), Some(b)) => compare(&cases, a, b, &args.gold.settings()),
        _ => None,
    };
    let Some(comparison) = found else {
        writeln!(err, "error: {} has no labelled run", args.gold.gold.display())?;
        return Ok(NO_RECORD);
    };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    match args.format {
        TableFormat::Json => {
            serde_json::to_writer(&mut *out, &comparison)?;
            writeln!(out)?;
        }
        TableFormat::Csv => {
            write!(out, "{}", comparison.case_table(usize::MAX).csv())?;
            print_remarks(&comparison.remarks(), err)?;
        }
        TableFormat::Text | TableFormat::Md => {
            print_tables(
                &comparison.preface(),
                &comparison.tables(limit),
                &comparison.remarks(),
                args.format,
                out,
            )?;
        }
    }
    Ok(0)
}
