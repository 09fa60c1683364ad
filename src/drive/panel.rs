//! One run, as often and by as many judges as wanted: repeats of the audit, and a second judge.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::judge::{Judge, JudgeInfo};
use super::online::{Audited, Ended, Session, audit};
use crate::audit::votes::{self, Agreement, Repeats};
use crate::audit::{Audit, Cause, CauseKind, Settings};
use crate::trajectory::{Stage, Trajectory, Warning};
use crate::wire::Usage;

/// Who audits a run, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panel {
    /// Audits by each judge; at least one.
    pub repeats: u32,
    /// Only spans that both judges name are reported.
    pub agree: bool,
}

impl Default for Panel {
    /// One audit, every span reported.
    fn default() -> Self {
        Self {
            repeats: 1,
            agree: false,
        }
    }
}

/// What several audits by one judge came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// How many of them name each harmful span.
    pub votes: BTreeMap<String, u32>,
    /// Fleiss' κ over the spans of the run.
    pub fleiss_kappa: Option<f64>,
    /// The account of the repeats.
    pub repeats: Repeats,
}

/// What the second judge said.
#[derive(Clone, Debug)]
pub struct Second {
    /// Who.
    pub judge: JudgeInfo,
    /// How its audit ended.
    pub ended: Ended,
    /// What it used; part of the run's use, too.
    pub usage: Usage,
    /// Its repeats, if there were several.
    pub spread: Option<Spread>,
    /// Where both judges agree, when both have a verdict.
    pub agreement: Option<Agreement>,
    /// Only spans that both name are reported as the run's.
    pub agreed_only: bool,
}

/// What a panel says of a run.
#[derive(Debug)]
pub(super) struct Sat {
    pub(super) ended: Ended,
    pub(super) spread: Option<Spread>,
    pub(super) second: Option<Second>,
    pub(super) usage: BTreeMap<Stage, Usage>,
    pub(super) notes: Vec<Warning>,
}

/// Audits one run by all judges, one audit after another: each is asked anew, under its own question ids.
pub(super) async fn sit<J: Judge>(
    session: &Session<J>,
    run: &Arc<Trajectory>,
    settings: &Settings,
    panel: Panel,
) -> Sat {
    let mut sat = by_judge(
        session,
        run,
        Settings {
            judge: 0,
            ..settings.clone()
        },
        panel.repeats,
    )
    .await;
    let Some(judge) = session
        .second
        .as_ref()
        .filter(|_| matches!(sat.ended, Ended::Report(_)))
    else {
        return sat;
    };
    let other = by_judge(
        session,
        run,
        Settings {
            judge: 1,
            ..settings.clone()
        },
        panel.repeats,
    )
    .await;
    let mut usage = Usage::default();
    for (stage, used) in other.usage {
        usage.add(&used);
        sat.usage.entry(stage).or_default().add(&used);
    }
    sat.notes.extend(other.notes);
    let mut agreement = None;
    if let (Ended::Report(first), Ended::Report(second)) = (&sat.ended, &other.ended) {
        agreement = votes::agreement(run, first, second);
        if panel.agree {
            sat.ended = Ended::Report(Box::new(votes::agreed(run, first, second)));
        }
    } else if panel.agree {
        // What both say cannot be told before both have been asked.
        sat.ended = other.ended.clone();
    }
    sat.second = Some(Second {
        judge: judge.info(),
        ended: other.ended,
        usage,
        spread: other.spread,
        agreement,
        agreed_only: panel.agree,
    });
    sat
}

/// Audits a run as often as wanted; one that is not run ends the series.
async fn by_judge<J: Judge>(session: &Session<J>, run: &Arc<Trajectory>, settings: Settings, repeats: u32) -> Sat {
    let mut reports = Vec::new();
    let mut usage: BTreeMap<Stage, Usage> = BTreeMap::new();
    let mut notes: Vec<Warning> = Vec::new();
    let mut not_run = None;
    for repeat in 0..repeats.max(1) {
        let settings = Settings {
            repeat,
            ..settings.clone()
        };
        let Audited {
            ended,
            usage: used,
            notes: told,
        } = audit(session, Audit::new(run.clone(), settings)).await;
        for (stage, used) in used {
            usage.entry(stage).or_default().add(&used);
        }
        for note in told {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        match ended {
            Ended::Report(report) => reports.push(*report),
            Ended::NotRun(cause) => {
                not_run = Some(cause);
                break;
            }
        }
    }
    let (ended, spread) = match not_run {
        Some(cause) => (Ended::NotRun(cause), None),
        None => match votes::decide(run, reports) {
            Some(votes::Decided {
                report,
                votes,
                fleiss_kappa,
                repeats,
            }) => {
                let spread = (repeats.asked > 1).then_some(Spread {
                    votes,
                    fleiss_kappa,
                    repeats,
                });
                (Ended::Report(Box::new(report)), spread)
            }
            None => (
                Ended::NotRun(Cause::new(CauseKind::Internal, "no audit was made; please report this")),
                None,
            ),
        },
    };
    Sat {
        ended,
        spread,
        second: None,
        usage,
        notes,
    }
}
