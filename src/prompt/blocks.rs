//! The parts of a message that come from the run, a judge or the user, each inside its fence. Spans are
//! a short header line and their text as it stands; nothing is indented or encoded, nothing sent twice.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Fence;
use crate::audit::{Previous, RunView};
use crate::evidence::{Packet, Quote, QuoteStatus};
use crate::ledger::{EvidenceRole, Ledger, SupportRecord};
use crate::trajectory::Trajectory;

/// Characters of an earlier reply that are shown on a re-ask: its beginning and its end.
const EARLIER_HEAD: usize = 1500;
/// See [`EARLIER_HEAD`].
const EARLIER_TAIL: usize = 500;
/// Characters of an error shown on a re-ask.
const ERROR_CHARS: usize = 400;
/// Ids listed of spans that are not in the packet.
const MAX_LISTED: usize = 60;

/// The task as the agent was given it.
pub(super) fn task(fence: &Fence, run: &Trajectory) -> String {
    fence.block("task", "", run.question())
}

/// The right answer, as the user gave it.
pub(super) fn reference(fence: &Fence, answer: &str) -> String {
    fence.block("right answer", "", &fence.defuse(answer))
}

/// The hard constraints of the goal, one a line; empty when there are none.
pub(super) fn constraints(fence: &Fence, constraints: &[String]) -> String {
    if constraints.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    for (i, constraint) in constraints.iter().enumerate() {
        body.push_str(&format!("constraint {}: {}\n", i + 1, one_line(constraint)));
    }
    fence.block("constraints", "", &fence.defuse(&body))
}

/// The line that names the turn to be judged.
pub(super) fn turn(fence: &Fence, run: &Trajectory, position: usize) -> String {
    fence
        .line(&format!("to judge: span {}", quoted(run.id_at(position))))
        .trim_end()
        .to_owned()
}

/// The run as far as it is shown, and whether anything is left out.
pub(super) fn run_view(fence: &Fence, run: &Trajectory, view: &RunView, roles: &[String]) -> (String, bool) {
    let total = run.spans().len();
    let mut body = String::new();
    let mut partial = false;
    let mut next = 0;
    for shown in &view.spans {
        let Some(span) = run.spans().get(shown.position) else {
            continue;
        };
        partial |= skipped(fence, run, next..shown.position, &mut body);
        next = shown.position + 1;
        let role = roles
            .get(shown.position)
            .map(|role| format!(", role {}", fence.defuse(&quoted(role))));
        body.push_str(&span_line(fence, run, shown.position, &role.unwrap_or_default()));
        partial |= excerpts(&span.text, &shown.excerpts, &mut body);
    }
    partial |= skipped(fence, run, next..total, &mut body);
    (fence.block("run", &format!(": {total} spans in order"), &body), partial)
}

fn span_line(fence: &Fence, run: &Trajectory, position: usize, about: &str) -> String {
    fence.line(&format!(
        "span {} ({} of {}){about}",
        quoted(run.id_at(position)),
        position + 1,
        run.spans().len()
    ))
}

/// Notes spans that are not shown; true if there are any.
fn skipped(fence: &Fence, run: &Trajectory, positions: Range<usize>, body: &mut String) -> bool {
    let note = match positions.len() {
        0 => return false,
        1 => format!("not shown: span {}", quoted(run.id_at(positions.start))),
        count => format!(
            "not shown: {count} spans, {} to {}",
            quoted(run.id_at(positions.start)),
            quoted(run.id_at(positions.end - 1))
        ),
    };
    body.push_str(&fence.line(&note));
    true
}

/// Pieces of a span's text in order, with the number of characters left out before, between and after
/// them. True if any are.
fn excerpts(text: &str, pieces: &[Range<usize>], body: &mut String) -> bool {
    let mut left_out = false;
    let mut next = 0;
    for piece in pieces {
        let start = boundary(text, piece.start).max(next);
        let end = boundary(text, piece.end).max(start);
        left_out |= gap(text, next..start, body);
        body.push_str(text.get(start..end).unwrap_or(""));
        end_line(body);
        next = end;
    }
    left_out | gap(text, next..text.len(), body)
}

fn gap(text: &str, range: Range<usize>, body: &mut String) -> bool {
    let count = text.get(range).map_or(0, |text| text.chars().count());
    if count > 0 {
        body.push_str(&left_out_mark(count));
        body.push('\n');
    }
    count > 0
}

/// What stands for text that is not sent.
fn left_out_mark(chars: usize) -> String {
    format!("[… {} characters left out …]", with_commas(chars))
}

fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn end_line(body: &mut String) {
    if !body.ends_with('\n') {
        body.push('\n');
    }
}

/// The packet, span by span in the order of the run: chunks that overlap or touch are one piece. The
/// second part says whether a text of the run is left out.
pub(super) fn packet(fence: &Fence, run: &Trajectory, packet: &Packet) -> (String, bool) {
    let mut by_span: BTreeMap<usize, Vec<(Range<usize>, usize)>> = BTreeMap::new();
    for chunk in &packet.chunks {
        let pieces = by_span.entry(chunk.span).or_default();
        pieces.push((chunk.bytes.clone(), chunk.index));
    }
    let total = run.spans().len();
    let mut body = String::new();
    let mut partial = false;
    for (&position, pieces) in &mut by_span {
        let Some(span) = run.spans().get(position) else {
            continue;
        };
        pieces.sort_unstable_by_key(|(bytes, index)| (bytes.start, bytes.end, *index));
        let mut indices: Vec<usize> = pieces.iter().map(|(_, index)| *index).collect();
        indices.dedup();
        let names: Vec<String> = indices.iter().map(|index| format!("c{:03}", index + 1)).collect();
        body.push_str(&span_line(
            fence,
            run,
            position,
            &format!(", chunks {}", names.join(" ")),
        ));
        partial |= excerpts(&span.text, &joined(pieces), &mut body);
    }
    let absent: Vec<usize> = (0..total).filter(|position| !by_span.contains_key(position)).collect();
    if !absent.is_empty() {
        partial = true;
        let listed: Vec<String> = absent
            .iter()
            .take(MAX_LISTED)
            .map(|at| quoted(run.id_at(*at)))
            .collect();
        let more = if absent.len() > MAX_LISTED {
            format!(" and {} more", absent.len() - MAX_LISTED)
        } else {
            String::new()
        };
        body.push_str(&fence.line(&format!("not in the packet: {}{more}", listed.join(" "))));
    }
    let about = format!(": {} of {total} spans, in the order of the run", total - absent.len());
    (fence.block("packet", &about, &body), partial)
}

/// Ranges in order of their start, with those that overlap or touch made one.
fn joined(pieces: &[(Range<usize>, usize)]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
    for (bytes, _) in pieces {
        match joined.last_mut() {
            Some(last) if bytes.start <= last.end => last.end = last.end.max(bytes.end),
            _ => joined.push(bytes.clone()),
        }
    }
    joined
}

/// The ledger, a few lines a claim. Quotes are shown where they were found in the run.
pub(super) fn ledger(fence: &Fence, ledger: &Ledger) -> String {
    let mut body = format!("goal: {}\n", one_line(&ledger.task_goal));
    for (i, constraint) in ledger.hard_constraints.iter().enumerate() {
        body.push_str(&format!("constraint {}: {}\n", i + 1, one_line(constraint)));
    }
    for claim in &ledger.claims {
        body.push_str(&format!(
            "{} ({}, {}): {}\n",
            one_line(&claim.claim_id),
            name_of(&claim.claim_type),
            name_of(&claim.status),
            one_line(&claim.claim)
        ));
        let one = |id: &Option<String>| id.as_deref().map_or_else(|| "nowhere".to_owned(), quoted);
        body.push_str(&format!(
            "  introduced: {}; consequential: {}; used by: {}\n",
            one(&claim.introduced_at),
            one(&claim.becomes_consequential_at),
            ids(&claim.used_by)
        ));
        for quote in claim
            .quotes
            .iter()
            .filter(|quote| quote.status != QuoteStatus::NotFound)
        {
            body.push_str(&format!(
                "  {} reads: {}\n",
                quoted(&quote.span_id),
                one_line(&quote.text)
            ));
        }
    }
    if !ledger.notes.trim().is_empty() {
        body.push_str(&format!("notes: {}\n", one_line(&ledger.notes)));
    }
    fence.block("ledger", "", &fence.defuse(&body))
}

/// The support records, a few lines a claim, each piece of evidence with what became of its quote.
pub(super) fn support(fence: &Fence, records: &[SupportRecord]) -> String {
    let mut body = String::new();
    for record in records {
        body.push_str(&format!(
            "{}: {}; support: {}\n",
            one_line(&record.claim_id),
            name_of(&record.support_status),
            ids(&record.support_spans)
        ));
        if !record.missing_support.trim().is_empty() {
            body.push_str(&format!("  missing: {}\n", one_line(&record.missing_support)));
        }
        if !record.needs_auditors.is_empty() {
            body.push_str(&format!(
                "  to check: {}\n",
                one_line(&record.needs_auditors.join(", "))
            ));
        }
        for handle in &record.evidence_handles {
            if handle.text.trim().is_empty() && handle.role == EvidenceRole::Related {
                continue;
            }
            body.push_str(&format!(
                "  {} {}{}: {}\n",
                name_of(&handle.role),
                quoted(&handle.span_id),
                found(handle.quote.as_ref()),
                one_line(&handle.text)
            ));
        }
    }
    if body.is_empty() {
        body.push_str("none\n");
    }
    fence.block("support records", "", &fence.defuse(&body))
}

fn found(quote: Option<&Quote>) -> String {
    match quote {
        Some(quote) if quote.status == QuoteStatus::NotFound => " (these words are nowhere in the run)".to_owned(),
        Some(quote) if quote.status == QuoteStatus::WrongSpan => {
            format!(" (these words stand in {} instead)", quoted(&quote.span_id))
        }
        _ => String::new(),
    }
}

/// An earlier reply and what was wrong with it, both bounded.
pub(super) fn earlier(fence: &Fence, previous: &Previous) -> (String, String) {
    let text = &previous.text;
    let count = text.chars().count();
    let shown = if count > EARLIER_HEAD + EARLIER_TAIL {
        let head: String = text.chars().take(EARLIER_HEAD).collect();
        let tail: String = text.chars().skip(count - EARLIER_TAIL).collect();
        format!("{head}\n{}\n{tail}", left_out_mark(count - EARLIER_HEAD - EARLIER_TAIL))
    } else {
        text.clone()
    };
    let reply = fence.block("earlier reply", "", &fence.defuse(&shown));
    let error: String = one_line(&previous.error).chars().take(ERROR_CHARS).collect();
    (reply, fence.block("error", "", &fence.defuse(&error)))
}

/// An id in quotation marks, so that whatever it holds stays on its line.
fn quoted(id: &str) -> String {
    serde_json::Value::from(id).to_string()
}

fn ids(ids: &[String]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
    quoted.join(" ")
}

/// The word by which a value of a closed list goes in JSON.
fn name_of<T: serde::Serialize>(value: &T) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref()
        .and_then(|name| name.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// A text with white space folded, so that it stays on its line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
