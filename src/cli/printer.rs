//! Where everything printed goes through: results to stdout, all else to stderr.

use std::io::{IsTerminal, Write};

use super::Exit;

/// True when colour may be used on stderr.
pub(super) fn color_on_stderr() -> bool {
    std::io::stderr().is_terminal() && !no_color()
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// True when an error is only that the reader of our output went away (`| head -1`).
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Prints. Off a terminal there are no colours, bars or carriage returns.
pub(super) struct Printer {
    out: std::io::BufWriter<std::io::Stdout>,
    /// Colour on stdout.
    pub(super) color: bool,
}

impl Printer {
    pub(super) fn new() -> Self {
        let stdout = std::io::stdout();
        let color = stdout.is_terminal() && !no_color();
        Self {
            out: std::io::BufWriter::new(stdout),
            color,
        }
    }

    /// A result, flushed so that a reader at the other end of a pipe sees it now.
    pub(super) fn result(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Standard output and standard error for a command that writes tables; its code becomes ours.
    pub(super) fn with_out(
        &mut self,
        command: impl FnOnce(&mut dyn Write, &mut dyn Write) -> anyhow::Result<u8>,
    ) -> anyhow::Result<Exit> {
        let code = command(&mut self.out, &mut std::io::stderr())?;
        self.out.flush()?;
        Ok(match code {
            0 => Exit::Fine,
            4 => Exit::SomeNotOk,
            _ => Exit::Usage,
        })
    }

    /// Bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    /// A remark for the user. Failing to print one is not worth failing for.
    pub(super) fn note(&self, text: &str) {
        drop(writeln!(std::io::stderr(), "{text}"));
    }

    /// An error, the same way.
    pub(super) fn error(&self, text: &str) {
        self.note(&format!("auditor: {text}"));
    }
}
