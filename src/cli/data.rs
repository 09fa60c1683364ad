//! `auditor data`: fetches the benchmark.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use url::Url;

use super::Exit;
use super::printer::Printer;
use crate::drive::{FetchError, Fetcher};
use crate::store::{files, sealed};

/// Where the public release lies.
const TELBENCH: &str = "https://huggingface.co/datasets/NJU-LINK/TELBench/resolve/main/";
const PLAIN: &str = "TELBench.jsonl";
const PLAIN_SUM: &str = "TELBench.jsonl.sha256";
const SEALED: &str = "TELBench.jsonl.enc";
const SEALED_SUM: &str = "TELBench.jsonl.enc.sha256";
const PASSPHRASE: &str = "TELBench.passphrase.txt";
/// Rounds of key derivation that the release was encrypted with.
const ITERATIONS: u32 = 200_000;

/// `auditor data …`.
#[derive(Debug, Subcommand)]
pub(super) enum DataVerb {
    /// Fetch, check and decrypt TELBench, the benchmark of the DRIFT paper (Apache-2.0)
    Telbench(TelbenchArgs),
}

const AFTER_HELP: &str = "\
Files of the release that are in DIR already are taken as they are; the others are downloaded. A download
that broke off is gone on with. Without a network, put these four files in DIR:
  TELBench.jsonl.enc  TELBench.jsonl.enc.sha256  TELBench.jsonl.sha256  TELBench.passphrase.txt";

/// Flags of `data telbench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct TelbenchArgs {
    /// Folder for the files; TELBench.jsonl is written there
    #[arg(long, value_name = "DIR", default_value = "data/telbench")]
    dir: PathBuf,
    /// Folder of the release on the web
    #[arg(long, value_name = "URL", default_value = TELBENCH)]
    from: String,
}

pub(super) fn run(verb: &DataVerb, printer: &mut Printer) -> anyhow::Result<Exit> {
    let DataVerb::Telbench(args) = verb;
    telbench(args, printer)?;
    Ok(Exit::Fine)
}

fn telbench(args: &TelbenchArgs, printer: &mut Printer) -> anyhow::Result<()> {
    let at = |name: &str| args.dir.join(name);
    files::make_dir(&args.dir)?;
    if at(PLAIN).is_file() && at(PLAIN_SUM).is_file() {
        let (found, stated) = (
            sealed::sha256(&files::read_bytes(&at(PLAIN))?),
            stated(&at(PLAIN_SUM), PLAIN)?,
        );
        if found == stated {
            return said(&at(PLAIN), "is there already and its checksum is right", printer);
        }
        printer.note(&format!(
            "auditor: {} is there but its checksum is not right; making it anew",
            at(PLAIN).display()
        ));
    }
    download(args, printer)?;
    let cipher = files::read_bytes(&at(SEALED))?;
    check_sealed(&at(SEALED), &cipher, &stated(&at(SEALED_SUM), SEALED)?)?;
    let text = files::read_text(&at(PASSPHRASE))?;
    let passphrase = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    if passphrase.is_empty() {
        bail!("{}: its first line, the passphrase, is empty", at(PASSPHRASE).display());
    }
    let plain = sealed::decrypt(&cipher, passphrase.as_bytes(), ITERATIONS).map_err(|error| match error {
        sealed::SealError::Passphrase => wrong_passphrase(args),
        other => anyhow::anyhow!("{}: {other}", at(SEALED).display()),
    })?;
    // Padding looks right once in 256 times by chance, so this decides.
    if sealed::sha256(&plain) != stated(&at(PLAIN_SUM), PLAIN)? {
        let begins = plain.trim_ascii_start().first() == Some(&b'{');
        return Err(if begins { changed(args) } else { wrong_passphrase(args) });
    }
    files::write_atomic(&at(PLAIN), &plain)?;
    said(&at(PLAIN), "was decrypted and its checksum is right", printer)
}

fn said(path: &Path, what: &str, printer: &mut Printer) -> anyhow::Result<()> {
    let bytes = files::read_bytes(path)?;
    let runs = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    printer.note(&format!(
        "auditor: {} {what}: {runs} runs, {} bytes",
        path.display(),
        bytes.len()
    ));
    printer.result(&path.display().to_string())?;
    Ok(())
}

fn wrong_passphrase(args: &TelbenchArgs) -> anyhow::Error {
    anyhow::anyhow!(
        "the passphrase in {} does not open {}, whose own checksum is right; nothing was written",
        args.dir.join(PASSPHRASE).display(),
        args.dir.join(SEALED).display()
    )
}

fn changed(args: &TelbenchArgs) -> anyhow::Error {
    anyhow::anyhow!(
        "{} decrypts to a text with another checksum than {} states; nothing was written. Are both of one release?",
        args.dir.join(SEALED).display(),
        args.dir.join(PLAIN_SUM).display()
    )
}

fn check_sealed(path: &Path, bytes: &[u8], stated: &str) -> anyhow::Result<()> {
    let found = sealed::sha256(bytes);
    if found == stated {
        return Ok(());
    }
    // Of what does not match, a file that is no whole number of blocks was cut; else there is no telling.
    let cut = if bytes.len().is_multiple_of(16) {
        ""
    } else {
        " (it seems to be cut short)"
    };
    bail!(
        "{} has {} bytes and the checksum {found}, where {stated} is stated{cut}; delete it and run this again to download it anew",
        path.display(),
        bytes.len()
    )
}

fn stated(path: &Path, name: &str) -> anyhow::Result<String> {
    let text = files::read_text(path)?;
    sealed::stated_sha256(&text, name)
        .with_context(|| format!("{}: no SHA-256 checksum of {name} in it", path.display()))
}

/// Fetches the files of the release that are not there.
fn download(args: &TelbenchArgs, printer: &Printer) -> anyhow::Result<()> {
    let missing: Vec<&str> = [SEALED_SUM, PLAIN_SUM, PASSPHRASE, SEALED]
        .into_iter()
        .filter(|name| !args.dir.join(name).is_file())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let slash = if args.from.ends_with('/') { "" } else { "/" };
    let base = Url::parse(&format!("{}{slash}", args.from)).with_context(|| format!("--from {}", args.from))?;
    if !matches!(base.scheme(), "http" | "https") {
        bail!(
            "--from {}: an http or https URL is wanted; to use files of your own, put them in --dir",
            args.from
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let fetcher = Fetcher::new(&base)?;
    for name in missing {
        let url = base.join(name).with_context(|| format!("--from {}", args.from))?;
        let mut shown = Shown::new(name);
        let fetched = runtime.block_on(fetcher.fetch(&url, &args.dir.join(name), &mut |bytes, total| {
            shown.tell(bytes, total, printer)
        }));
        shown.bar.finish_and_clear();
        fetched.map_err(|error| hint(error, args))?;
        printer.note(&format!("auditor: fetched {url}"));
    }
    Ok(())
}

fn hint(error: FetchError, args: &TelbenchArgs) -> anyhow::Error {
    let dir = args.dir.display();
    anyhow::anyhow!(
        "{error}. The files can also be fetched by other means and put in {dir}; `auditor data telbench --help` lists them"
    )
}

/// The progress of one file: a bar on a terminal, a line every few seconds elsewhere.
struct Shown {
    bar: ProgressBar,
    name: String,
    said: Instant,
}

impl Shown {
    fn new(name: &str) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{msg} {bytes} of {total_bytes} ({bytes_per_sec}, {eta})") {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        Self {
            bar,
            name: name.to_owned(),
            said: Instant::now(),
        }
    }

    fn tell(&mut self, bytes: u64, total: Option<u64>, printer: &Printer) {
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        self.bar.set_position(bytes);
        if self.bar.is_hidden() && self.said.elapsed().as_secs() >= 5 {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            printer.note(&format!("auditor: {}: {bytes}{of} bytes", self.name));
            self.said = Instant::now();
        }
    }
}
