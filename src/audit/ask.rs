//! The seam between the machine and its judges: typed questions out, typed answers in.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Cause, Method};
use crate::evidence::Packet;
use crate::ledger::{Ledger, SupportRecord};
use crate::reply::StageReply;
use crate::trajectory::{Stage, Trajectory, Warning};

/// The one name of a question: journal key, part of the cache key, `custom_id` of a batch and
/// handle in tests (invariant I3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId {
    /// 0-based index of the run in the input.
    pub input: u64,
    /// The run's id.
    pub case_id: String,
    /// Method.
    pub method: Method,
    /// Which judge is asked: 0 is the first.
    pub judge: u8,
    /// Stage.
    pub stage: Stage,
    /// Which part of a stage that is asked in parts (windows of a long run, turns of GD).
    pub part: u32,
    /// 0 for the first asking, 1 for the re-ask.
    pub attempt: u8,
    /// Which repeat of the whole audit.
    pub repeat: u32,
}

impl std::fmt::Display for AskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}/{}/{}/{}/{}",
            self.input, self.case_id, self.method, self.judge, self.stage, self.part, self.attempt, self.repeat
        )
    }
}

impl AskId {
    /// 32 hex digits that stand for the id where its own characters or length would not be
    /// accepted, such as a batch file's `custom_id`.
    #[must_use]
    pub fn custom_id(&self) -> String {
        blake3::hash(self.to_string().as_bytes()).to_hex().as_str()[..32].to_owned()
    }
}

/// How the run ended, as far as the user knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer was wrong.
    Failed,
    /// The answer was right.
    Correct,
    /// Not known, or not told.
    #[default]
    Unknown,
}

/// What the user tells the judge about the run beyond its record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UserKnows {
    /// How the run ended.
    pub outcome: Outcome,
    /// The right answer; only if the user gave it.
    pub reference_answer: Option<String>,
}

/// What is shown of one span: excerpts of its text, in order. A whole span is one excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSpan {
    /// Position in the run.
    pub position: usize,
    /// Byte ranges of the span's text that are shown, in order and apart. A judge is told how
    /// many characters are left out between them.
    pub excerpts: Vec<Range<usize>>,
}

/// What is shown of a run: which spans, and how much of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunView {
    /// In trajectory order.
    pub spans: Vec<ViewSpan>,
}

impl RunView {
    /// Everything.
    #[must_use]
    pub fn whole(run: &Trajectory) -> Self {
        let spans = run
            .spans()
            .iter()
            .enumerate()
            .map(|(position, span)| ViewSpan {
                position,
                excerpts: std::iter::once(0..span.text.len()).collect(),
            })
            .collect();
        Self { spans }
    }
}

/// To the Claim Keeper: question and spans.
#[derive(Clone, Debug)]
pub struct KeeperQuestion {
    /// The run.
    pub run: Arc<Trajectory>,
    /// What of it is shown.
    pub view: RunView,
    /// What the user knows.
    pub user: UserKnows,
}

/// To the Support Seeker: question, ledger, packet.
#[derive(Clone, Debug)]
pub struct SeekerQuestion {
    /// The run.
    pub run: Arc<Trajectory>,
    /// What the user knows.
    pub user: UserKnows,
    /// The ledger.
    pub ledger: Arc<Ledger>,
    /// The evidence.
    pub packet: Arc<Packet>,
}

/// To the Dependency Tracer: question, ledger, support records, packet.
#[derive(Clone, Debug)]
pub struct TracerQuestion {
    /// The run.
    pub run: Arc<Trajectory>,
    /// What the user knows.
    pub user: UserKnows,
    /// The ledger.
    pub ledger: Arc<Ledger>,
    /// What the seeker found.
    pub support: Arc<Vec<SupportRecord>>,
    /// The evidence.
    pub packet: Arc<Packet>,
}

/// The single question of `bare`.
#[derive(Clone, Debug)]
pub struct BareQuestion {
    /// The run.
    pub run: Arc<Trajectory>,
    /// What of it is shown.
    pub view: RunView,
    /// What the user knows.
    pub user: UserKnows,
}

/// To the goal-drift judge: one turn against the goal, which is the run's question.
#[derive(Clone, Debug)]
pub struct GdQuestion {
    /// The run; its question is the goal.
    pub run: Arc<Trajectory>,
    /// What of it is shown: nothing after the turn.
    pub view: RunView,
    /// Hard constraints of the goal.
    pub constraints: Arc<Vec<String>>,
    /// Who speaks in each turn, by position; empty when that is not known.
    pub roles: Arc<Vec<String>>,
    /// Position of the turn that is judged.
    pub turn: usize,
}

/// A question with its typed inputs. No variant can hold gold.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Question {
    Keeper(KeeperQuestion),
    Seeker(SeekerQuestion),
    Tracer(TracerQuestion),
    Bare(BareQuestion),
    Gd(GdQuestion),
}

impl Question {
    /// The run the question is about.
    #[must_use]
    pub fn run(&self) -> &Arc<Trajectory> {
        match self {
            Self::Keeper(q) => &q.run,
            Self::Seeker(q) => &q.run,
            Self::Tracer(q) => &q.run,
            Self::Bare(q) => &q.run,
            Self::Gd(q) => &q.run,
        }
    }
}

/// The reply that is being asked again, and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previous {
    /// The reply's text.
    pub text: String,
    /// What was wrong.
    pub error: String,
}

/// One question to a judge.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its name.
    pub id: AskId,
    /// What is asked.
    pub question: Question,
    /// On a re-ask: the unreadable reply and its error. `None` on a re-ask for more room.
    pub previous: Option<Previous>,
    /// Output tokens allowed.
    pub max_output: u32,
}

/// What came of a question. Transport retries are over by now (invariant I4).
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A reply of the stage's shape, with notes of what was mended.
    Reply {
        /// The reply.
        reply: StageReply,
        /// What was mended or should be known.
        notes: Vec<Warning>,
    },
    /// A reply that does not read as the stage's answer.
    Unreadable {
        /// Its text; empty when there was none.
        text: String,
        /// What was wrong with it, in words the judge can act on.
        error: String,
    },
    /// A reply cut at the output limit.
    Truncated {
        /// Output tokens that were allowed.
        limit: u32,
    },
    /// The request did not fit the judge's window.
    Overflow {
        /// Window in tokens, when the endpoint said.
        limit: Option<u64>,
        /// Tokens that were needed, when the endpoint said.
        needed: Option<u64>,
    },
    /// The model or its provider declined.
    Refused {
        /// The provider's code or words.
        code: String,
    },
    /// Nothing came that could be read, and trying again would not help.
    GaveUp(Cause),
}
