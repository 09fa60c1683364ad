//! Span ids as a judge wrote them, looked up in the run.
//!
//! An id is mended only when exactly one span can be meant: a difference of case or of white space
//! and punctuation around it, a chunk id (`s002:c001`) for its span, or a bare number (`3`, `span 3`)
//! when exactly one span's id carries that number. What is mended or rejected is noted by name.

use std::collections::BTreeSet;

use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// Looks ids up and keeps account of those that did not exist or were mended.
pub(super) struct Ids<'run> {
    run: &'run Trajectory,
    stage: Stage,
    rejected: Vec<String>,
    mended: Vec<(String, String)>,
}

impl<'run> Ids<'run> {
    pub(super) fn new(run: &'run Trajectory, stage: Stage) -> Self {
        Self {
            run,
            stage,
            rejected: Vec::new(),
            mended: Vec::new(),
        }
    }

    /// Position of the span that `raw` names.
    pub(super) fn position(&mut self, raw: &str) -> Option<usize> {
        if let Some(position) = self.run.position(raw) {
            return Some(position);
        }
        if raw.trim().is_empty() {
            return None;
        }
        if let Some(position) = mend(self.run, raw) {
            let pair = (raw.to_owned(), self.run.id_at(position).to_owned());
            if !self.mended.contains(&pair) {
                self.mended.push(pair);
            }
            return Some(position);
        }
        if !self.rejected.iter().any(|seen| seen == raw) {
            self.rejected.push(raw.to_owned());
        }
        None
    }

    /// Id of the span that `raw` names.
    pub(super) fn id(&mut self, raw: &str) -> Option<String> {
        self.position(raw).map(|position| self.run.id_at(position).to_owned())
    }

    /// Ids in trajectory order, each once.
    pub(super) fn ordered<'a>(&mut self, raw: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let positions: BTreeSet<usize> = raw.into_iter().filter_map(|id| self.position(id)).collect();
        positions
            .into_iter()
            .map(|position| self.run.id_at(position).to_owned())
            .collect()
    }

    /// The ids that name no span, in the order met, and the warning that tells of both kinds.
    pub(super) fn finish(self) -> (Vec<String>, Vec<Warning>) {
        let mut warnings = Vec::new();
        if !self.rejected.is_empty() {
            let list = self
                .rejected
                .iter()
                .map(|id| format!("\"{id}\""))
                .collect::<Vec<_>>()
                .join(", ");
            warnings.push(
                Warning::new(
                    WarningCode::RejectedSpanIds,
                    format!("the judge named spans that do not exist: {list}; they were left out"),
                )
                .in_stage(self.stage),
            );
        }
        for (raw, id) in &self.mended {
            warnings.push(
                Warning::new(
                    WarningCode::RejectedSpanIds,
                    format!("the judge wrote \"{raw}\"; it was read as \"{id}\""),
                )
                .at_span(id)
                .in_stage(self.stage),
            );
        }
        (self.rejected, warnings)
    }
}

fn mend(run: &Trajectory, raw: &str) -> Option<usize> {
    let bare = raw.trim_matches(|c: char| c.is_whitespace() || "[](){}<>\"'`.,;:".contains(c));
    if let Some(position) = run.position(bare) {
        return Some(position);
    }
    if let Some((span, chunk)) = bare.rsplit_once(':')
        && chunk
            .strip_prefix('c')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    {
        return run
            .position(span)
            .or_else(|| only(run, |id| id.eq_ignore_ascii_case(span)));
    }
    if let Some(position) = only(run, |id| id.to_lowercase() == bare.to_lowercase()) {
        return Some(position);
    }
    let number = number_named(bare)?;
    only(run, |id| number_named(id) == Some(number))
}

/// The number of `3`, `s003`, `span 3`, `Span-3`: an optional word, then digits and nothing else.
fn number_named(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|c: char| c.is_alphabetic());
    let digits = digits.trim_start_matches([' ', '-', '_', '#']);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let word = text[..text.len() - digits.len()]
        .trim_end_matches([' ', '-', '_', '#'])
        .to_lowercase();
    if !matches!(word.as_str(), "" | "s" | "span") {
        return None;
    }
    digits.parse().ok()
}

fn only(run: &Trajectory, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut hits = run
        .spans()
        .iter()
        .enumerate()
        .filter(|(_, span)| wanted(&span.id))
        .map(|(position, _)| position);
    match (hits.next(), hits.next()) {
        (Some(position), None) => Some(position),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Span;

    fn run(ids: &[&str]) -> Trajectory {
        Trajectory::new(
            "r",
            "q",
            ids.iter()
                .map(|id| Span {
                    id: (*id).to_owned(),
                    ..Span::default()
                })
                .collect(),
        )
        .0
    }

    #[test]
    fn mends_only_what_is_unambiguous() {
        let run = run(&["s001", "s002", "S003", "t-3", "x"]);
        let cases = [
            ("s001", Some(0)),
            (" S002 ", Some(1)),
            ("[s002]", Some(1)),
            ("s002:c004", Some(1)),
            ("span 2", Some(1)),
            ("2", Some(1)),
            ("3", Some(2)),
            ("t-3", Some(3)),
            ("s042", None),
            ("span-99", None),
            ("s001-s002", None),
        ];
        for (raw, want) in cases {
            assert_eq!(Ids::new(&run, Stage::Tracer).position(raw), want, "{raw}");
        }
    }

    #[test]
    fn a_number_two_spans_carry_is_rejected() {
        let run = run(&["s1", "s01"]);
        let mut ids = Ids::new(&run, Stage::Bare);
        assert_eq!(ids.position("span 1"), None);
        let (rejected, warnings) = ids.finish();
        assert_eq!(rejected, ["span 1"]);
        assert_eq!(warnings.len(), 1);
    }
}
