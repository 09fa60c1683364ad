//! What a user sees while it runs: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::printer::Printer;
use crate::report::{ResultRow, Status, plain};

/// Time between two lines where there is no terminal.
const BETWEEN: Duration = Duration::from_secs(10);
/// Failures that get a line of their own.
const SAID_IN_FULL: usize = 5;

/// Progress of a bench.
pub(super) struct Watch {
    bar: ProgressBar,
    total: u64,
    done: u64,
    /// Audits that an earlier session had ended: they say nothing of how fast this one is.
    replayed: u64,
    without: usize,
    began: Instant,
    said: Instant,
}

impl Watch {
    pub fn new(total: u64) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(4));
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} audits{msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            total,
            done: 0,
            replayed: 0,
            without: 0,
            began: Instant::now(),
            said: Instant::now(),
        }
    }

    /// Counts an audit and shows where things stand.
    pub fn tick(&mut self, row: &ResultRow, replayed: bool, spent: f64, printer: &Printer) {
        self.done += 1;
        self.replayed += u64::from(replayed);
        if row.status != Status::Ok {
            self.without += 1;
            self.complain(row, printer);
        }
        let state = self.state(spent);
        self.bar.set_position(self.done);
        self.bar.set_message(state.clone());
        if self.bar.is_hidden() && self.said.elapsed() >= BETWEEN {
            self.said = Instant::now();
            printer.note(&format!("auditor: {} of {} audits{state}", self.done, self.total));
        }
    }

    fn complain(&self, row: &ResultRow, printer: &Printer) {
        let Some(cause) = row.cause.as_ref().filter(|_| row.status != Status::NotRun) else {
            return;
        };
        if self.without > SAID_IN_FULL {
            return;
        }
        let id = row.case_id.as_deref().unwrap_or("a record without an id");
        let more = if self.without == SAID_IN_FULL {
            " (further ones are counted only)"
        } else {
            ""
        };
        let word = if row.status == Status::Refused {
            "refused"
        } else {
            "failed"
        };
        let line = format!(
            "{} ({}): {word}: {}{more}",
            plain(id),
            row.method,
            plain(&cause.message)
        );
        self.bar.suspend(|| printer.error(&line));
    }

    /// Rate, cost, failures and time left, as far as they are known.
    fn state(&self, spent: f64) -> String {
        let mut parts = Vec::new();
        let fresh = self.done - self.replayed;
        let seconds = self.began.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
        if fresh > 0 && seconds > 0.0 {
            let rate = fresh as f64 / seconds;
            parts.push(format!("{:.1} a minute", rate * 60.0));
            let left = self.total.saturating_sub(self.done) as f64 / rate;
            if left >= 1.0 {
                parts.push(format!("about {} left", duration(left)));
            }
        }
        if spent > 0.0 {
            parts.push(format!("{spent:.4} USD"));
        }
        if self.without > 0 {
            parts.push(format!("{} without a verdict", self.without));
        }
        if self.replayed > 0 {
            parts.push(format!("{} from before", self.replayed));
        }
        if parts.is_empty() {
            String::new()
        } else {
            format!(", {}", parts.join(", "))
        }
    }

    /// Takes the bar away and says how it ended.
    pub fn end(&self, spent: f64, printer: &Printer) {
        self.bar.finish_and_clear();
        let seconds = self.began.elapsed().as_secs_f64();
        printer.note(&format!(
            "auditor: {} of {} audits in {}{}",
            self.done,
            self.total,
            duration(seconds),
            self.state(spent)
        ));
    }
}

/// Seconds in the units a reader thinks in.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.1} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
