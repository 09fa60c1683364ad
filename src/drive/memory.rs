//! What is remembered of endpoints while the process runs: the dialect of each model, and pauses.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::wire::{Api, Dialect};

/// A dialect found by negotiation, for the journal: a resumed run need not find it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The endpoint as shown (without secrets).
    pub endpoint: String,
    /// Model name.
    pub model: String,
    /// API spoken.
    pub api: Api,
    /// What is accepted.
    pub dialect: Dialect,
    /// What was given up, a sentence for each step.
    pub steps: Vec<String>,
}

/// Dialects and pauses, shared by all judges of a process.
#[derive(Debug, Default)]
pub struct Memory {
    lines: Mutex<BTreeMap<(String, String, Api), Arc<Line>>>,
    pauses: Mutex<BTreeMap<String, Arc<Pause>>>,
}

impl Memory {
    /// The line to a model; `first` is the dialect that is tried if none is known.
    pub(super) fn line(&self, endpoint: &str, model: &str, api: Api, first: Dialect) -> Arc<Line> {
        let key = (endpoint.to_owned(), model.to_owned(), api);
        let mut lines = lock(&self.lines);
        Arc::clone(
            lines
                .entry(key)
                .or_insert_with(|| Arc::new(Line::new(first, Vec::new(), false))),
        )
    }

    /// The pause of an endpoint, which all its models share.
    pub(super) fn pause(&self, endpoint: &str) -> Arc<Pause> {
        Arc::clone(lock(&self.pauses).entry(endpoint.to_owned()).or_default())
    }

    /// What was found, in a fixed order: only dialects that stepped down.
    #[must_use]
    pub fn export(&self) -> Vec<Remembered> {
        lock(&self.lines)
            .iter()
            .filter_map(|((endpoint, model, api), line)| {
                let state = lock(&line.state);
                (!state.steps.is_empty()).then(|| Remembered {
                    endpoint: endpoint.clone(),
                    model: model.clone(),
                    api: *api,
                    dialect: state.dialect.clone(),
                    steps: state.steps.clone(),
                })
            })
            .collect()
    }

    /// Takes over what was found before. To be called before judges are made: a line in use stays.
    pub fn import(&self, found: impl IntoIterator<Item = Remembered>) {
        let mut lines = lock(&self.lines);
        for one in found {
            lines
                .entry((one.endpoint, one.model, one.api))
                .or_insert_with(|| Arc::new(Line::new(one.dialect, one.steps, true)));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks can panic half way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct State {
    dialect: Dialect,
    steps: Vec<String>,
}

/// The negotiation with one model of one endpoint.
#[derive(Debug)]
pub(super) struct Line {
    state: Mutex<State>,
    /// Closed while a dialect is being tried out: then one request goes at a time, so that a
    /// refusal costs one call and not one for every worker.
    open: AtomicBool,
    gate: tokio::sync::Mutex<()>,
}

/// Leave to send one request in a dialect.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub dialect: Dialect,
    _gate: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl Line {
    fn new(dialect: Dialect, steps: Vec<String>, open: bool) -> Self {
        Self {
            state: Mutex::new(State { dialect, steps }),
            open: AtomicBool::new(open),
            gate: tokio::sync::Mutex::new(()),
        }
    }

    /// Waits while another request tries a dialect out.
    pub(super) async fn enter(&self) -> Turn<'_> {
        let mut gate = None;
        if !self.open.load(Ordering::SeqCst) {
            let guard = self.gate.lock().await;
            // Others may have settled it meanwhile.
            gate = (!self.open.load(Ordering::SeqCst)).then_some(guard);
        }
        Turn {
            dialect: self.dialect(),
            _gate: gate,
        }
    }

    /// The dialect in use.
    pub(super) fn dialect(&self) -> Dialect {
        lock(&self.state).dialect.clone()
    }

    /// What was given up so far.
    pub(super) fn steps(&self) -> Vec<String> {
        lock(&self.state).steps.clone()
    }

    /// A request in this dialect was not refused for it: others may go. That holds for failures
    /// too, or a server that hangs would be asked by one worker at a time.
    pub(super) fn settle(&self, dialect: &Dialect) {
        if lock(&self.state).dialect == *dialect {
            self.open.store(true, Ordering::SeqCst);
        }
    }

    /// Steps down, unless another worker has already. True when this call made the step.
    pub(super) fn step(&self, from: &Dialect, to: Dialect, why: &str) -> bool {
        let mut state = lock(&self.state);
        if state.dialect != *from {
            return false;
        }
        state.dialect = to;
        state.steps.push(why.to_owned());
        self.open.store(false, Ordering::SeqCst);
        true
    }
}

/// Until when an endpoint is left alone.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Mutex<Option<Instant>>,
}

impl Pause {
    /// Nobody asks before `wait` is over.
    pub(super) fn extend(&self, wait: Duration) {
        let end = Instant::now() + wait;
        let mut until = lock(&self.until);
        *until = Some(until.map_or(end, |until| until.max(end)));
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Option<Duration> {
        let until = (*lock(&self.until))?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Endpoint;

    fn first() -> Dialect {
        Dialect::first(Api::Chat, &Endpoint::parse("http://h.example").unwrap())
    }

    #[tokio::test]
    async fn a_step_is_made_once_and_closes_the_line_until_it_holds() {
        let memory = Memory::default();
        let line = memory.line("e", "m", Api::Chat, first());
        let turn = line.enter().await;
        assert!(turn._gate.is_some(), "the first request goes alone");
        line.settle(&turn.dialect);
        drop(turn);
        let (a, b) = (line.enter().await, line.enter().await);
        assert!(a._gate.is_none() && b._gate.is_none(), "then all go");
        let mut lower = first();
        lower.temperature = false;
        assert!(line.step(&a.dialect, lower.clone(), "no temperature"));
        assert!(
            !line.step(&b.dialect, lower.clone(), "no temperature"),
            "the second refusal changes nothing"
        );
        line.settle(&b.dialect);
        assert!(line.enter().await._gate.is_some(), "an old dialect settles nothing");
        assert_eq!(line.steps(), ["no temperature"]);

        let found = memory.export();
        assert_eq!(found.len(), 1);
        let other = Memory::default();
        other.import(serde_json::from_str::<Vec<Remembered>>(&serde_json::to_string(&found).unwrap()).unwrap());
        let line = other.line("e", "m", Api::Chat, first());
        assert_eq!(line.dialect(), lower);
        assert!(line.enter().await._gate.is_none(), "what was found needs no trying out");
    }

    #[test]
    fn a_pause_only_grows() {
        let memory = Memory::default();
        let pause = memory.pause("e");
        assert_eq!(pause.left(), None);
        pause.extend(Duration::from_secs(500));
        memory.pause("e").extend(Duration::from_secs(2));
        assert!(pause.left().unwrap() > Duration::from_secs(400));
        assert_eq!(memory.pause("another").left(), None);
        let over = memory.pause("over");
        over.extend(Duration::ZERO);
        assert_eq!(over.left(), None);
    }
}
