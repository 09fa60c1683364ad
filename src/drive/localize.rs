//! Audits many runs: a bounded number at a time, results in input order.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};

use super::judge::{Judge, JudgeInfo};
use super::online::{Ended, Session};
use super::panel::{Panel, Sat, Second, Spread, sit};
use crate::audit::{Cause, CauseKind, Method, Settings, UserKnows};
use crate::trajectory::formats::{InputError, Record};
use crate::trajectory::{Source, Stage, Trajectory, Warning};
use crate::wire::Usage;

/// The result of one record.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// File and line.
    pub source: Source,
    /// The run's id, as far as it could be read.
    pub case_id: Option<String>,
    /// The run; `None` for a record that could not be read.
    pub run: Option<Arc<Trajectory>>,
    /// Method.
    pub method: Method,
    /// How it ended; a record that could not be read is the error.
    pub ended: Result<Ended, Cause>,
    /// What each stage used.
    pub usage: BTreeMap<Stage, Usage>,
    /// Warnings from reading the record and from the way to the endpoint; those of the audit are in its report.
    pub warnings: Vec<Warning>,
    /// Who judged.
    pub judge: JudgeInfo,
    /// What the user told of the run.
    pub user: UserKnows,
    /// Spread of the repeats, if the audit was made more than once.
    pub spread: Option<Spread>,
    /// What the second judge said, if there is one.
    pub second: Option<Second>,
}

impl CaseResult {
    /// The result of a record that has no audit.
    fn without_audit(
        source: Source,
        case_id: Option<String>,
        cause: Cause,
        settings: &Settings,
        judge: JudgeInfo,
    ) -> Self {
        Self {
            source,
            case_id,
            run: None,
            method: settings.method,
            ended: Err(cause),
            usage: BTreeMap::new(),
            warnings: Vec::new(),
            judge,
            user: settings.user.clone(),
            spread: None,
            second: None,
        }
    }
}

/// Audits the records, `jobs` at a time, once each by the first judge. Results come in the order of the
/// records whatever order the audits end in; records are read only as they are needed.
pub fn localize<J: Judge + 'static>(
    session: Arc<Session<J>>,
    records: impl Iterator<Item = Record>,
    settings: Settings,
    jobs: usize,
) -> impl Stream<Item = CaseResult> {
    localize_by(session, records, settings, Panel::default(), jobs)
}

/// The same by a panel: several audits by each judge of the session.
pub fn localize_by<J: Judge + 'static>(
    session: Arc<Session<J>>,
    records: impl Iterator<Item = Record>,
    settings: Settings,
    panel: Panel,
    jobs: usize,
) -> impl Stream<Item = CaseResult> {
    let begin = move |(input, record): (usize, Record)| {
        let settings = Settings {
            input: input as u64,
            ..settings.clone()
        };
        let session = session.clone();
        let source = record.source.clone();
        let task = tokio::spawn(one(session.clone(), record, settings.clone(), panel));
        async move {
            match task.await {
                Ok(result) => result,
                // A panic in one audit must not take the others with it, nor pass as a verdict.
                Err(error) => {
                    let cause = Cause::new(
                        CauseKind::Internal,
                        format!("the audit broke off ({error}); please report this"),
                    );
                    CaseResult::without_audit(source, None, cause, &settings, session.judge.info())
                }
            }
        }
    };
    stream::iter(records.enumerate()).map(begin).buffered(jobs.max(1))
}

async fn one<J: Judge>(session: Arc<Session<J>>, record: Record, settings: Settings, panel: Panel) -> CaseResult {
    let loaded = match record.outcome {
        Ok(loaded) => loaded,
        Err(InputError { case_id, message, .. }) => {
            let cause = Cause::new(CauseKind::Input, message);
            return CaseResult::without_audit(record.source, case_id, cause, &settings, session.judge.info());
        }
    };
    let run = Arc::new(loaded.run);
    let mut warnings = loaded.warnings;
    warnings.extend(crate::prompt::injection::suspects(&run));
    let Sat {
        ended,
        spread,
        second,
        usage,
        notes,
    } = sit(&session, &run, &settings, panel).await;
    warnings.extend(notes);
    CaseResult {
        source: record.source,
        case_id: Some(run.case_id().to_owned()),
        run: Some(run),
        method: settings.method,
        ended: Ok(ended),
        usage,
        warnings,
        judge: session.judge.info(),
        user: settings.user,
        spread,
        second,
    }
}
