//! `auditor prompts`: what a judge model reads.

use std::path::PathBuf;

use clap::Subcommand;

use super::Exit;
use super::printer::Printer;
use crate::prompt::Prompts;
use crate::store::files;

/// `auditor prompts …`.
#[derive(Debug, Subcommand)]
pub(super) enum PromptsVerb {
    /// Write the built-in prompts to a folder, to be edited and given back with --prompts
    Export {
        /// The folder; made if it is not there
        dir: PathBuf,
        /// Overwrite files that are there
        #[arg(long)]
        force: bool,
    },
    /// Check a folder of edited prompts without asking a judge
    Check {
        /// The folder
        dir: PathBuf,
    },
}

pub(super) fn run(verb: &PromptsVerb, printer: &mut Printer) -> anyhow::Result<Exit> {
    match verb {
        PromptsVerb::Export { dir, force } => {
            files::make_dir(dir)?;
            let prompts = Prompts::embedded()?;
            let texts = prompts.texts();
            if !force && let Some(name) = texts.keys().find(|name| dir.join(name.as_str()).exists()) {
                anyhow::bail!(
                    "{} is there already; --force overwrites it",
                    dir.join(name.as_str()).display()
                );
            }
            for (name, text) in texts {
                files::write_atomic(&dir.join(name), text.as_bytes())?;
                printer.result(&dir.join(name).display().to_string())?;
            }
            Ok(Exit::Fine)
        }
        PromptsVerb::Check { dir } => {
            let prompts = Prompts::from_texts(files::texts_in(dir)?)?;
            printer.result(&format!("{}: fine (hash {})", dir.display(), prompts.hash()))?;
            Ok(Exit::Fine)
        }
    }
}
