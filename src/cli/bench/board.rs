//! The leaderboard on disk and on standard output.

use std::path::Path;

use anyhow::Context;

use super::folder;
use crate::cli::eval::{TableFormat, print_remarks, print_tables};
use crate::cli::printer::Printer;
use crate::eval::Leaderboard;
use crate::store::files;

/// Writes it in every form.
pub(super) fn write(board: &Leaderboard, folder: &Path) -> anyhow::Result<()> {
    folder::write_json(&folder.join("leaderboard.json"), board)?;
    files::write_atomic(&folder.join("leaderboard.csv"), board.csv().as_bytes())?;
    let mut markdown = Vec::new();
    print_tables(
        &board.preface(),
        &[board.table()],
        &board.notes,
        TableFormat::Md,
        &mut markdown,
    )?;
    files::write_atomic(&folder.join("leaderboard.md"), &markdown)?;
    let svg = board.frontier().context("the picture could not be drawn")?;
    files::write_atomic(&folder.join("leaderboard.svg"), svg.as_bytes())?;
    Ok(())
}

/// Prints it in the form that is wanted.
pub(super) fn print(board: &Leaderboard, format: TableFormat, printer: &mut Printer) -> anyhow::Result<()> {
    printer.with_out(|out, err| {
        match format {
            TableFormat::Json => {
                serde_json::to_writer(&mut *out, board)?;
                writeln!(out)?;
            }
            TableFormat::Csv => {
                write!(out, "{}", board.csv())?;
                print_remarks(&board.notes, err)?;
            }
            format => print_tables(&board.preface(), &[board.table()], &board.notes, format, out)?,
        }
        Ok(0)
    })?;
    Ok(())
}
