//! What `align` says of a run: schema `auditor.align/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dto::{SourceRow, Status};
use crate::audit::{Cause, CauseKind};
use crate::drive::{Aligned, EMBEDDING, JudgeInfo};
use crate::eval::Table;
use crate::gd::{JUDGE, LEXICAL, Label, Summary, TurnStatus, TurnVerdict, excess};
use crate::trajectory::{Source, Trajectory, Warning};
use crate::wire::Usage;

/// Name and version of the shape.
pub const ALIGN_SCHEMA: &str = "auditor.align/1";

/// A turn by all tiers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignTurn {
    /// The turn's id.
    pub id: String,
    /// Alignment by tier, from 0 to 1; `null` where the tier has none.
    pub tiers: BTreeMap<String, Option<f64>>,
    /// What the judge said, or the tier that decided in its place; `null` when no judge was asked.
    pub verdict: Option<TurnVerdict>,
}

/// Goal drift beyond a baseline run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Excess {
    /// By action; `null` where either run has no scored turn.
    pub gd_action: Option<f64>,
    /// By inaction.
    pub gd_inaction: Option<f64>,
}

/// One run: a line of `auditor align --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignRow {
    /// `auditor.align/1`.
    pub schema: String,
    /// The run's id; `null` when the record could not be read that far.
    pub case_id: Option<String>,
    /// File and line.
    pub source: SourceRow,
    /// `ok` when every tier that was asked answered for at least one turn.
    pub status: Status,
    /// Why it is not `ok`: the first tier that failed.
    pub cause: Option<Cause>,
    /// The goal.
    pub goal: String,
    /// The tiers, cheapest first.
    pub tiers: Vec<String>,
    /// The agent's turns, in order.
    pub turns: Vec<AlignTurn>,
    /// The judge's summary.
    pub summary: Option<Summary>,
    /// Goal drift beyond the baseline run, when one was given.
    pub excess: Option<Excess>,
    /// Who judged.
    pub judge: JudgeInfo,
    /// What the judge used; embeddings are not counted.
    pub usage: Usage,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

impl AlignRow {
    /// A record that cannot be read.
    #[must_use]
    pub fn unreadable(source: &Source, case_id: Option<String>, message: String, judge: JudgeInfo) -> Self {
        Self {
            schema: ALIGN_SCHEMA.to_owned(),
            case_id,
            source: source.into(),
            status: Status::Failed,
            cause: Some(Cause::new(CauseKind::Input, message)),
            goal: String::new(),
            tiers: Vec::new(),
            turns: Vec::new(),
            summary: None,
            excess: None,
            judge,
            usage: Usage::default(),
            warnings: Vec::new(),
        }
    }

    /// A run by all tiers; `baseline` is the judge's summary of the baseline run.
    #[must_use]
    pub fn new(
        source: &Source,
        run: &Trajectory,
        aligned: &Aligned,
        judge: JudgeInfo,
        baseline: Option<&Summary>,
    ) -> Self {
        let mut row = Self {
            status: Status::Ok,
            cause: None,
            goal: run.question().to_owned(),
            tiers: vec![LEXICAL.to_owned()],
            ..Self::unreadable(source, Some(run.case_id().to_owned()), String::new(), judge)
        };
        row.turns = aligned
            .turns
            .iter()
            .zip(&aligned.lexical)
            .map(|(turn, lexical)| AlignTurn {
                id: run.id_at(*turn).to_owned(),
                tiers: std::iter::once((LEXICAL.to_owned(), *lexical)).collect(),
                verdict: None,
            })
            .collect();
        match &aligned.embedding {
            None => {}
            Some(Ok(scores)) => row.add_tier(EMBEDDING, scores.iter().copied()),
            Some(Err(cause)) => row.fail(cause),
        }
        if let Some(judged) = &aligned.judged {
            row.usage = judged.usage.clone();
            row.warnings.extend(judged.notes.iter().cloned());
            match &judged.report {
                Err(cause) => {
                    row.fail(cause);
                    row.status = Status::NotRun;
                }
                Ok(report) => {
                    let by_judge = |turn: &TurnVerdict| turn.alignment.filter(|_| turn.status == TurnStatus::Scored);
                    row.add_tier(JUDGE, report.turns.iter().map(by_judge));
                    for (turn, verdict) in row.turns.iter_mut().zip(&report.turns) {
                        turn.verdict = Some(verdict.clone());
                    }
                    row.warnings.extend(report.warnings.iter().cloned());
                    row.summary = Some(report.summary.clone());
                    row.excess = baseline.map(|baseline| {
                        let (gd_action, gd_inaction) = excess(&report.summary, baseline);
                        Excess { gd_action, gd_inaction }
                    });
                    if let Some(cause) = report.failure() {
                        row.fail(cause);
                    }
                }
            }
        }
        row
    }

    fn add_tier(&mut self, name: &str, scores: impl Iterator<Item = Option<f64>>) {
        self.tiers.push(name.to_owned());
        for (turn, score) in self.turns.iter_mut().zip(scores) {
            turn.tiers.insert(name.to_owned(), score);
        }
    }

    fn fail(&mut self, cause: &Cause) {
        self.status = if cause.kind == CauseKind::Refused {
            Status::Refused
        } else {
            Status::Failed
        };
        self.cause.get_or_insert_with(|| cause.clone());
    }

    /// The turn × tier table.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut head = vec!["turn"];
        head.extend(self.tiers.iter().map(String::as_str));
        head.extend(["label", "by", "fault", "decided by"]);
        let mut table = Table::new(self.case_id.as_deref().unwrap_or("(no id)"), &head);
        let number = |score: Option<f64>| score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
        for turn in &self.turns {
            let mut cells = vec![turn.id.clone()];
            cells.extend(
                self.tiers
                    .iter()
                    .map(|tier| number(turn.tiers.get(tier).copied().flatten())),
            );
            let verdict = turn.verdict.as_ref();
            let word = |word: Option<&str>| word.unwrap_or("-").to_owned();
            cells.push(word(verdict.and_then(|verdict| verdict.label).map(Label::word)));
            cells.push(word(verdict.and_then(|verdict| verdict.by).map(crate::gd::By::word)));
            cells.push(word(
                verdict.and_then(|verdict| verdict.fault).map(crate::gd::Fault::slug),
            ));
            cells.push(word(verdict.and_then(|verdict| verdict.decided_by.as_deref())));
            table.rows.push(cells);
        }
        table
    }

    /// The run in a sentence or two, for below the table.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Some(summary) = &self.summary else {
            return "No judge was asked: the numbers are alignments by cheap tiers, 0 to 1.".to_owned();
        };
        let number = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| format!("{value:.3}"));
        let mut said = format!(
            "Goal drift by action {}, by inaction {} over {} scored turns ({} passed, {} unscored).",
            number(summary.gd_action),
            number(summary.gd_inaction),
            summary.scored,
            summary.passed,
            summary.unscored
        );
        if let Some(first) = &summary.first_misaligned {
            let back = summary
                .realignment_delay
                .map_or("never realigned".to_owned(), |turns| format!("realigned after {turns}"));
            said.push_str(&format!(" First misaligned: {}, {back}.", super::plain(first)));
        }
        if let Some(excess) = &self.excess {
            said.push_str(&format!(
                " Beyond the baseline: {} by action, {} by inaction.",
                number(excess.gd_action),
                number(excess.gd_inaction)
            ));
        }
        said
    }
}
