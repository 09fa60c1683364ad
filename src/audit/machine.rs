//! The audit of one run as a state machine that does no IO.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::draft::Draft;
use super::room::Window;
use super::{Answer, Ask, AskId, Method, Report, RunView, UserKnows};
use crate::evidence::{Index, Packet, PacketLimits};
use crate::ledger::{Ledger, SupportRecord};
use crate::trajectory::Trajectory;

/// What an audit needs to know beside the run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Method.
    pub method: Method,
    /// Output tokens allowed a reply.
    pub max_output: u32,
    /// What the user knows of the run.
    pub user: UserKnows,
    /// Sizes of chunks and packet.
    pub limits: PacketLimits,
    /// Most Unicode scalar values of the packet of `drift`; by default
    /// [`default_budget`](crate::evidence::default_budget) of the run.
    pub packet_chars: Option<usize>,
    /// The judge's window in tokens, output included, when it is known. A longer run is read in windows;
    /// without this number an endpoint's refusal tells it. `paper` takes no notice of it.
    pub context_window: Option<u64>,
    /// 0-based index of the run in the input.
    pub input: u64,
    /// Which judge is asked.
    pub judge: u8,
    /// Which repeat of the audit this is.
    pub repeat: u32,
}

impl Settings {
    /// The defaults: 4096 output tokens, the published chunk and packet sizes, no known window.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            max_output: 4096,
            user: UserKnows::default(),
            packet_chars: None,
            limits: PacketLimits::default(),
            context_window: None,
            input: 0,
            judge: 0,
            repeat: 0,
        }
    }
}

/// One audit. It holds the run and the answers so far, and works out from them what can be asked
/// and what is settled, so that resuming is pouring the old answers in.
///
/// Call [`Audit::poll_asks`] until [`Audit::poll_report`] gives the report; answer each question
/// with [`Audit::handle_answer`], in any order, from any source.
pub struct Audit {
    pub(super) run: Arc<Trajectory>,
    pub(super) settings: Settings,
    pub(super) answers: BTreeMap<AskId, Answer>,
    pub(super) handed_out: BTreeSet<AskId>,
    pub(super) worked: Worked,
}

/// What can be said of an audit now.
pub(super) enum Progress {
    Waiting(Vec<Ask>),
    Over(Box<Report>),
}

/// The ledger, kept.
pub(super) struct Kept {
    pub(super) draft: Draft,
    pub(super) ledger: Arc<Ledger>,
    pub(super) window: Window,
}

/// The support, sought.
pub(super) struct Sought {
    pub(super) draft: Draft,
    pub(super) support: Arc<Vec<SupportRecord>>,
    pub(super) window: Window,
}

/// What was worked out so far. All of it follows from the run, the settings and answers that stand, so
/// that keeping it saves time and changes nothing.
#[derive(Default)]
pub(super) struct Worked {
    pub(super) index: OnceLock<Index>,
    pub(super) sizes: OnceLock<Vec<usize>>,
    /// The run in windows, by the room in them.
    pub(super) plans: Made<Option<usize>, Vec<RunView>>,
    /// The run with a shortened task, by the tokens allowed for it.
    pub(super) tasks: Made<Option<usize>, Trajectory>,
    /// Packets of the one ledger, by budget.
    pub(super) packets: Made<usize, Packet>,
    pub(super) kept: OnceLock<Kept>,
    pub(super) sought: OnceLock<Sought>,
    report: OnceLock<Report>,
}

/// Things made once for each key.
pub(super) struct Made<K, T>(Mutex<BTreeMap<K, Arc<T>>>);

impl<K, T> Default for Made<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord, T> Made<K, T> {
    pub(super) fn get_or_make(&self, key: K, make: impl FnOnce() -> T) -> Arc<T> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(key).or_insert_with(|| Arc::new(make())).clone()
    }
}

impl Audit {
    /// Begins the audit of a run.
    #[must_use]
    pub fn new(run: Arc<Trajectory>, settings: Settings) -> Self {
        Self {
            run,
            settings,
            answers: BTreeMap::new(),
            handed_out: BTreeSet::new(),
            worked: Worked::default(),
        }
    }

    /// The run under audit.
    #[must_use]
    pub fn run(&self) -> &Arc<Trajectory> {
        &self.run
    }

    /// Questions that can be asked now and were not handed out or answered before. Several at once do
    /// not depend on each other.
    #[must_use]
    pub fn poll_asks(&mut self) -> Vec<Ask> {
        let Some(Progress::Waiting(mut asks)) = self.progress() else {
            return Vec::new();
        };
        asks.retain(|ask| self.handed_out.insert(ask.id.clone()));
        asks
    }

    /// Takes an answer from any source: network, cache, journal, offline judge. The first answer to
    /// a question stands. Answers to questions not asked yet are kept until they are.
    pub fn handle_answer(&mut self, id: AskId, answer: Answer) {
        self.handed_out.insert(id.clone());
        self.answers.entry(id).or_insert(answer);
    }

    /// The report, once nothing is left to ask.
    #[must_use]
    pub fn poll_report(&self) -> Option<Report> {
        self.progress();
        self.worked.report.get().cloned()
    }

    /// `None` once there is a report.
    fn progress(&self) -> Option<Progress> {
        if self.worked.report.get().is_some() {
            return None;
        }
        let progress = match self.settings.method {
            Method::Bare => self.bare(),
            Method::Paper | Method::Drift => self.three_stages(),
        };
        match progress {
            Progress::Over(report) => {
                self.worked.report.get_or_init(|| *report);
                None
            }
            waiting => Some(waiting),
        }
    }
}
