//! Audits many runs with several judges and methods: a bounded number at a time, each run read once.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};

use super::judge::Judge;
use super::localize::CaseResult;
use super::online::{Audited, Ended, Session, audit};
use crate::audit::{Audit, Cause, CauseKind, Settings};
use crate::trajectory::formats::{InputError, Record};
use crate::trajectory::{Source, Stage, Trajectory, Warning};
use crate::wire::Usage;

/// One judge under one method.
pub struct Lane<J> {
    /// Who is asked, where answers are recorded, what may be spent.
    pub session: Session<J>,
    /// How runs are audited; input index and repeat are set for each audit.
    pub settings: Settings,
}

/// One audit that ended.
pub struct Finished {
    /// Which lane.
    pub lane: usize,
    /// 0-based repeat.
    pub repeat: u32,
    /// 0-based index of the record in the input.
    pub input: u64,
    /// True when an earlier session had ended this audit, so that nothing was asked for it.
    pub replayed: bool,
    /// The result.
    pub result: CaseResult,
}

/// A record, read, shared by all audits of it.
struct Prepared {
    input: u64,
    source: Source,
    case_id: Option<String>,
    run: Result<Arc<Trajectory>, Cause>,
    warnings: Vec<Warning>,
}

impl Prepared {
    fn new((input, record): (u64, Record)) -> Self {
        let source = record.source;
        match record.outcome {
            Ok(loaded) => {
                let run = Arc::new(loaded.run);
                let mut warnings = loaded.warnings;
                warnings.extend(crate::prompt::injection::suspects(&run));
                Self {
                    input,
                    source,
                    case_id: Some(run.case_id().to_owned()),
                    run: Ok(run),
                    warnings,
                }
            }
            Err(InputError { case_id, message, .. }) => {
                let cause = Cause::new(CauseKind::Input, message);
                Self {
                    input,
                    source,
                    case_id,
                    run: Err(cause),
                    warnings: Vec::new(),
                }
            }
        }
    }
}

/// Audits every record on every lane `repeats` times, `jobs` audits at a time, in whatever order they end.
/// A record's audits stand next to each other, so that one that is stopped half way has the same runs
/// behind it on every lane, and records are read only as they are needed.
pub fn bench<J: Judge + 'static>(
    lanes: Vec<Arc<Lane<J>>>,
    records: impl Iterator<Item = (u64, Record)>,
    repeats: u32,
    jobs: usize,
) -> impl Stream<Item = Finished> {
    let audits = records.flat_map(move |record| {
        let prepared = Arc::new(Prepared::new(record));
        let lanes = lanes.clone();
        (0..repeats).flat_map(move |repeat| {
            let prepared = prepared.clone();
            let numbered = lanes.clone().into_iter().enumerate();
            numbered.map(move |(number, lane)| (number, lane, repeat, prepared.clone()))
        })
    });
    let begin = |(number, lane, repeat, prepared): (usize, Arc<Lane<J>>, u32, Arc<Prepared>)| {
        let task = tokio::spawn(one(number, lane.clone(), repeat, prepared.clone()));
        async move {
            match task.await {
                Ok(finished) => finished,
                // A panic in one audit must not take the others with it, nor pass as a verdict.
                Err(error) => {
                    let message = format!("the audit broke off ({error}); please report this");
                    let ended = Err(Cause::new(CauseKind::Internal, message));
                    let result = result(&lane, &prepared, ended, BTreeMap::new(), Vec::new());
                    Finished {
                        lane: number,
                        repeat,
                        input: prepared.input,
                        replayed: false,
                        result,
                    }
                }
            }
        }
    };
    stream::iter(audits).map(begin).buffer_unordered(jobs.max(1))
}

async fn one<J: Judge>(number: usize, lane: Arc<Lane<J>>, repeat: u32, prepared: Arc<Prepared>) -> Finished {
    let input = prepared.input;
    let replayed = lane
        .session
        .ended_before(input, prepared.case_id.as_deref().unwrap_or_default(), repeat);
    let result = match &prepared.run {
        Err(cause) => result(&lane, &prepared, Err(cause.clone()), BTreeMap::new(), Vec::new()),
        Ok(run) => {
            let settings = Settings {
                input,
                repeat,
                ..lane.settings.clone()
            };
            let Audited { ended, usage, notes } = audit(&lane.session, Audit::new(run.clone(), settings)).await;
            result(&lane, &prepared, Ok(ended), usage, notes)
        }
    };
    Finished {
        lane: number,
        repeat,
        input,
        replayed,
        result,
    }
}

fn result<J: Judge>(
    lane: &Lane<J>,
    prepared: &Prepared,
    ended: Result<Ended, Cause>,
    usage: BTreeMap<Stage, Usage>,
    notes: Vec<Warning>,
) -> CaseResult {
    CaseResult {
        source: prepared.source.clone(),
        case_id: prepared.case_id.clone(),
        run: prepared.run.as_ref().ok().cloned(),
        method: lane.settings.method,
        ended,
        usage,
        warnings: prepared.warnings.iter().cloned().chain(notes).collect(),
        judge: lane.session.judge.info(),
        user: lane.settings.user.clone(),
        spread: None,
        second: None,
    }
}
