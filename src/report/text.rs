//! The result for a reader at a terminal.

use std::fmt::Write as _;

use super::dto::{ResultRow, Status};
use crate::audit::{Finding, LocatedBy, Role};
use crate::drive::JudgeKind;
use crate::evidence::{Quote, QuoteStatus};
use crate::ledger::{Claim, EvidenceRole, SupportRecord, SupportStatus};
use crate::trajectory::Trajectory;

/// Width at which prose is folded.
const WIDTH: usize = 100;
/// Longest quote or claim shown; the JSON output has all of it.
const SHOWN: usize = 320;

/// How the text is dressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// ANSI colours; only for a terminal.
    pub color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
    fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }
    fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }
    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Text of a run made safe for a terminal: no control characters, and marks that turn the
/// direction of text shown as `<U+202E>`; white space folded to single spaces.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        match c {
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "<U+{:04X}>", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(out, "<{:02X}>", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

pub(super) fn clipped(text: &str) -> String {
    let text = plain(text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// Folds words at [`WIDTH`], every line behind `indent`, the first behind `head` instead.
pub(super) fn folded(out: &mut String, head: &str, indent: &str, text: &str) {
    let mut line = head.to_owned();
    let mut width = unicode_width::UnicodeWidthStr::width(head);
    let mut empty = true;
    for word in text.split(' ') {
        let w = unicode_width::UnicodeWidthStr::width(word);
        if !empty && width + 1 + w > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = indent.to_owned();
            width = unicode_width::UnicodeWidthStr::width(indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
            width += 1;
        }
        line.push_str(word);
        width += w;
        empty = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

/// One result as text. `run` is the run it is about; a record that could not be read has none.
#[must_use]
pub fn render(row: &ResultRow, run: Option<&Trajectory>, style: Style) -> String {
    let mut out = String::new();
    let place = match row.source.line {
        Some(line) => format!("{}:{line}", plain(&row.source.file)),
        None => plain(&row.source.file),
    };
    let id = row.case_id.as_deref().map_or_else(|| "(no id)".to_owned(), plain);
    let _ = writeln!(out, "{}  {}", style.bold(&id), style.dim(&place));
    if let Some(run) = run {
        folded(&mut out, "Question: ", "  ", &clipped(run.question()));
    }
    super::panel::user(&mut out, row);
    let _ = writeln!(out);
    match row.status {
        Status::Ok => verdict(&mut out, row, run, style),
        Status::Failed | Status::Refused | Status::NotRun => no_verdict(&mut out, row, style),
    }
    super::panel::repeats(&mut out, row, run);
    super::panel::second(&mut out, row);
    footer(&mut out, row, style);
    out
}

fn no_verdict(out: &mut String, row: &ResultRow, style: Style) {
    let word = match row.status {
        Status::Refused => "REFUSED",
        Status::NotRun => "NOT RUN",
        Status::Failed | Status::Ok => "FAILED",
    };
    let _ = writeln!(out, "{}: there is no verdict on this run.", style.bad(word));
    let Some(cause) = &row.cause else { return };
    let kind = serde_json::to_value(cause.kind)
        .ok()
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default();
    let stage = cause
        .stage
        .map_or(String::new(), |stage| format!(" in the {stage} stage"));
    folded(out, &format!("  cause {kind}{stage}: "), "    ", &plain(&cause.message));
}

fn verdict(out: &mut String, row: &ResultRow, run: Option<&Trajectory>, style: Style) {
    let Some(first) = row.audit.findings.first() else {
        let both = row
            .second
            .as_ref()
            .filter(|second| second.agreed_only)
            .and_then(|second| second.agreement.as_ref());
        if both.is_some_and(|both| !both.only_first.is_empty() || !both.only_second.is_empty()) {
            let _ = writeln!(
                out,
                "Verdict: {}.",
                style.bad("the two judges agree on no harmful span")
            );
            return;
        }
        let _ = writeln!(out, "Verdict: {}.", style.good("no harmful span was found"));
        if let Some(notes) = &row.audit.notes {
            folded(out, "  checked: ", "    ", &clipped(notes));
        }
        return;
    };
    let total = run.map_or(0, |run| run.spans().len());
    let position = run
        .and_then(|run| run.position(&first.span_id))
        .map_or(0, |position| position + 1);
    let later = row.audit.findings.len() - 1;
    let tail = match later {
        0 => "no later span inherits it".to_owned(),
        1 => "1 later span inherits it".to_owned(),
        n => format!("{n} later spans inherit it"),
    };
    let begins = style.bad(&format!("the harm begins at {}", plain(&first.span_id)));
    let _ = writeln!(out, "Verdict: {begins} (span {position} of {total}); {tail}.");
    let _ = writeln!(out);
    for finding in &row.audit.findings {
        self::finding(out, row, finding, style);
    }
    if let Some(gd) = &row.gd {
        super::drift::section(out, gd);
    }
    if let Some(run) = run {
        map(out, row, run, style);
    }
}

fn finding(out: &mut String, row: &ResultRow, finding: &Finding, style: Style) {
    let heading = match finding.role {
        Role::First => format!("First harmful span: {}", plain(&finding.span_id)),
        Role::Linked => format!("Inherited by {}", plain(&finding.span_id)),
    };
    let _ = writeln!(out, "{}", style.bold(&heading));
    for quote in finding
        .quotes
        .iter()
        .take(if finding.role == Role::First { 3 } else { 1 })
    {
        self::quote(out, "  says    ", quote, finding.located_by, style);
    }
    if !finding.reason.trim().is_empty() {
        folded(out, "  why     ", "          ", &clipped(&finding.reason));
    }
    if finding.role == Role::Linked {
        let _ = writeln!(out);
        return;
    }
    for claim in finding
        .claim_ids
        .iter()
        .filter_map(|id| row.audit.claims.iter().find(|claim| claim.claim_id == *id))
    {
        let record = row
            .audit
            .support
            .iter()
            .find(|record| record.claim_id == claim.claim_id);
        self::claim(out, claim, record, finding, style);
    }
    let _ = writeln!(out);
}

/// A claim with the evidence for and against it. What the finding says already is not said again.
fn claim(out: &mut String, claim: &Claim, record: Option<&SupportRecord>, finding: &Finding, style: Style) {
    let status = match record.map(|record| record.support_status) {
        Some(SupportStatus::Direct) => "supported directly",
        Some(SupportStatus::Weak) => "supported weakly",
        Some(SupportStatus::Missing) => "support missing",
        Some(SupportStatus::Conflicting) => "contradicted",
        None => "not checked",
    };
    let text = format!("{} ({}: {status})", clipped(&claim.claim), plain(&claim.claim_id));
    folded(out, "  claim   ", "          ", &text);
    let Some(record) = record else { return };
    for handle in &record.evidence_handles {
        let head = match handle.role {
            EvidenceRole::Conflict => "  against ",
            EvidenceRole::DirectSupport | EvidenceRole::PartialSupport => "  for     ",
            EvidenceRole::MissingLink => "  gap at  ",
            EvidenceRole::Related => "  see     ",
            // The finding shows the commitment, and the chain after it shows who uses it.
            EvidenceRole::Commitment | EvidenceRole::DownstreamUse | EvidenceRole::LinkedUse => continue,
        };
        if let Some(quote) = &handle.quote {
            self::quote(out, head, quote, LocatedBy::Judge, style);
        }
    }
    let missing = record.missing_support.trim();
    if !missing.is_empty() && missing != finding.reason.trim() {
        folded(out, "  missing ", "          ", &clipped(missing));
    }
}

fn quote(out: &mut String, head: &str, quote: &Quote, by: LocatedBy, style: Style) {
    let place = match (quote.status, quote.start, quote.end) {
        (QuoteStatus::NotFound, ..) | (_, None, _) | (_, _, None) => {
            format!("{}: not found in the run", plain(&quote.span_id))
        }
        (status, Some(start), Some(end)) => {
            let how = match status {
                QuoteStatus::Verified => "verified",
                QuoteStatus::Folded => "verified but for case or spacing",
                _ => "the judge named another span",
            };
            let by = if by == LocatedBy::Code { ", located by code" } else { "" };
            format!("{}:{start}-{end}, {how}{by}", plain(&quote.span_id))
        }
    };
    folded(
        out,
        head,
        "          ",
        &format!("\"{}\" {}", clipped(&quote.text), style.dim(&format!("[{place}]"))),
    );
}

/// `.` harmless, `!` first harmful, `+` inherits: a character a span.
fn map(out: &mut String, row: &ResultRow, run: &Trajectory, style: Style) {
    let mut line = String::new();
    for span in run.spans() {
        let role = row
            .audit
            .findings
            .iter()
            .find(|finding| finding.span_id == span.id)
            .map(|finding| finding.role);
        line.push_str(&match role {
            Some(Role::First) => style.bad("!"),
            Some(Role::Linked) => style.bold("+"),
            None => ".".to_owned(),
        });
    }
    let ends = match (run.spans().first(), run.spans().last()) {
        (Some(first), Some(last)) => format!("{} to {}", plain(&first.id), plain(&last.id)),
        _ => String::new(),
    };
    let _ = writeln!(out, "Spans   {line}  ({ends}; ! first harmful, + inherits)");
}

fn footer(out: &mut String, row: &ResultRow, style: Style) {
    let shown = row.warnings.iter().take(8);
    for warning in shown {
        let code = serde_json::to_value(warning.code)
            .ok()
            .and_then(|code| code.as_str().map(str::to_owned))
            .unwrap_or_default();
        folded(out, &format!("Warning {code}: "), "  ", &clipped(&warning.message));
    }
    if row.warnings.len() > 8 {
        let _ = writeln!(out, "Warnings: {} more in --format json", row.warnings.len() - 8);
    }
    let judge = match row.judge.kind {
        JudgeKind::Offline => "the offline judge (no model: an evidence check of the text alone)".to_owned(),
        kind => {
            let model = row.judge.model.as_deref().unwrap_or("an unnamed source");
            let endpoint = row
                .judge
                .endpoint
                .as_deref()
                .map_or(String::new(), |endpoint| format!(" at {endpoint}"));
            let dialect = row
                .judge
                .dialect
                .as_deref()
                .map_or(String::new(), |dialect| format!(" ({dialect})"));
            format!("{} {model}{endpoint}{dialect}", kind.word())
        }
    };
    let _ = writeln!(
        out,
        "{}",
        style.dim(&format!("Judge: {}, method {}.", plain(&judge), row.method))
    );
    if row.status == Status::Ok {
        let trust = "How far to trust it: a lead, not a proof. On TELBench the best published judge names the exact first \
                     span in about 24 % of runs; check the quotes.";
        let mut folded_trust = String::new();
        folded(&mut folded_trust, "", "  ", trust);
        let _ = writeln!(out, "{}", style.dim(folded_trust.trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let hostile = "a\u{1b}[31mred\u{7}\u{0}\r\nb\u{202e}c\u{9b}d\te";
        let text = plain(hostile);
        assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
        assert_eq!(text, "a<1B>[31mred<07><00> b<U+202E>c<9B>d e");
    }

    #[test]
    fn lines_are_folded_behind_their_indent() {
        let mut out = String::new();
        folded(&mut out, "why ", "    ", &"word ".repeat(60));
        assert!(out.lines().count() > 2);
        assert!(out.lines().all(|line| line.len() <= WIDTH));
        assert!(out.lines().skip(1).all(|line| line.starts_with("    word")));
    }
}
