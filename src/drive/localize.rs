//! Audits many runs: a bounded number at a time, results in input order.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};

use super::judge::{Judge, JudgeInfo};
use super::online::{Audited, Ended, Session, audit};
use crate::audit::{Audit, Cause, CauseKind, Method, Settings};
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
}

/// Audits the records, `jobs` at a time. Results come in the order of the records whatever order
/// the audits end in; records are read only as they are needed.
pub fn localize<J: Judge + 'static>(
    session: Arc<Session<J>>,
    records: impl Iterator<Item = Record>,
    settings: Settings,
    jobs: usize,
) -> impl Stream<Item = CaseResult> {
    let begin = move |(input, record): (usize, Record)| {
        let settings = Settings {
            input: input as u64,
            ..settings.clone()
        };
        let session = session.clone();
        let (source, method) = (record.source.clone(), settings.method);
        let task = tokio::spawn(one(session.clone(), record, settings));
        async move {
            match task.await {
                Ok(result) => result,
                // A panic in one audit must not take the others with it, nor pass as a verdict.
                Err(error) => CaseResult {
                    source,
                    case_id: None,
                    run: None,
                    method,
                    ended: Err(Cause::new(
                        CauseKind::Internal,
                        format!("the audit broke off ({error}); please report this"),
                    )),
                    usage: BTreeMap::new(),
                    warnings: Vec::new(),
                    judge: session.judge.info(),
                },
            }
        }
    };
    stream::iter(records.enumerate()).map(begin).buffered(jobs.max(1))
}

async fn one<J: Judge>(session: Arc<Session<J>>, record: Record, settings: Settings) -> CaseResult {
    let method = settings.method;
    let loaded = match record.outcome {
        Ok(loaded) => loaded,
        Err(InputError { case_id, message, .. }) => {
            return CaseResult {
                source: record.source,
                case_id,
                run: None,
                method,
                ended: Err(Cause::new(CauseKind::Input, message)),
                usage: BTreeMap::new(),
                warnings: Vec::new(),
                judge: session.judge.info(),
            };
        }
    };
    let run = Arc::new(loaded.run);
    let mut warnings = loaded.warnings;
    warnings.extend(crate::prompt::injection::suspects(&run));
    let Audited { ended, usage, notes } = audit(&session, Audit::new(run.clone(), settings)).await;
    warnings.extend(notes);
    CaseResult {
        source: record.source,
        case_id: Some(run.case_id().to_owned()),
        run: Some(run),
        method,
        ended: Ok(ended),
        usage,
        warnings,
        judge: session.judge.info(),
    }
}
