//! The checks. Each names one kind of defect, the fault of TELBench's list that it is an instance
//! of, and shows it with words of the run.

mod answer;
mod arithmetic;
mod constraints;
mod giving_up;
mod invented;
mod reversed;
mod subjects;
mod tools;
mod values;

use super::case::Case;
use super::values::Date;
use crate::ledger::{ClaimType, SupportStatus};

/// Kinds of defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    /// The run showed another value for the same thing.
    Contradicted,
    /// Said to be in a source, and shown nowhere.
    Absent,
    /// Shown of another subject.
    Misattributed,
    /// The source says the opposite, or it the other way round.
    Reversed,
    /// The call failed or brought nothing, and its result is spoken of.
    FailedCall,
    /// The numbers do not come out.
    Arithmetic,
    /// A condition of the task that the answer does not meet.
    Constraint,
    /// Given up although shown.
    GaveUp,
    /// The final answer is not the one that was settled on.
    AnswerDiffers,
    /// Data made up by the agent and used as if found.
    Invented,
}

impl Check {
    /// The fault of TELBench's list (arXiv 2606.02060, table 4) that it is an instance of.
    pub(super) fn fault(self) -> &'static str {
        match self {
            Self::Contradicted => "extraction_parsing",
            Self::Absent => "unsupported_commitment",
            Self::Misattributed => "entity_attribute_mapping",
            Self::Reversed => "source_misuse",
            Self::FailedCall => "source_verification",
            Self::Arithmetic => "calculation",
            Self::Constraint => "constraint_check_omission",
            Self::GaveUp => "process_control",
            Self::AnswerDiffers => "memory_context",
            Self::Invented => "source_verification",
        }
    }

    /// What kind of claim carries it.
    pub(super) fn claim_type(self) -> ClaimType {
        match self {
            Self::Contradicted | Self::Absent | Self::Reversed | Self::Invented => ClaimType::Evidence,
            Self::Misattributed => ClaimType::Entity,
            Self::FailedCall => ClaimType::Retrieval,
            Self::Arithmetic => ClaimType::Compute,
            Self::Constraint => ClaimType::Constraint,
            Self::GaveUp | Self::AnswerDiffers => ClaimType::Process,
        }
    }
}

/// A place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) span: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a later span must repeat to have inherited the defect.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// Numbers, as table keys.
    pub(super) numbers: Vec<u64>,
    /// Dates.
    pub(super) dates: Vec<Date>,
    /// Names or rare words, any one of which is enough.
    pub(super) names: Vec<u64>,
    /// Words of the statement, two of which are enough.
    pub(super) words: Vec<u64>,
    /// Everything said until a call brings something inherits it.
    pub(super) all: bool,
    /// The value that the run shows instead; stating it later repairs the defect.
    pub(super) instead: Vec<u64>,
}

/// A defect that the run itself shows.
#[derive(Clone, Debug)]
pub(super) struct Defect {
    pub(super) check: Check,
    /// Index of the statement; the first one that states it as settled.
    pub(super) statement: usize,
    /// The words that state it.
    pub(super) place: Place,
    /// Byte in the statement's span near which the defective words stand.
    pub(super) focus: usize,
    /// The words that it goes against, if there are any.
    pub(super) against: Option<Place>,
    /// How the claim stands.
    pub(super) support: SupportStatus,
    /// What is wrong, in a sentence.
    pub(super) why: String,
    /// Number of separate facts of the run that speak for it: shared words, operands, places looked at.
    pub(super) counted: usize,
    pub(super) trail: Trail,
}

impl Defect {
    /// Confidence from what was counted: `n / (n + 1)` for `n` separate facts, the estimate of a coin
    /// that has come up the same way `n` times, so one fact is never more than an even chance and no
    /// number of them is certainty.
    pub(super) fn confidence(&self) -> f64 {
        self.counted as f64 / (self.counted as f64 + 1.0)
    }
}

/// All defects of the run, in the order of their statements.
pub(super) fn all(case: &Case<'_>) -> Vec<Defect> {
    let mut defects = Vec::new();
    tools::check(case, &mut defects);
    arithmetic::check(case, &mut defects);
    values::check(case, &mut defects);
    subjects::check(case, &mut defects);
    reversed::check(case, &mut defects);
    constraints::check(case, &mut defects);
    giving_up::check(case, &mut defects);
    answer::check(case, &mut defects);
    invented::check(case, &mut defects);
    defects.sort_by_key(|defect| (defect.statement, defect.check));
    // One finding a statement: the check that stands first in the list of kinds.
    defects.dedup_by_key(|defect| defect.statement);
    defects
}

/// Conditions of the task that a rule can test, in the task's own words.
pub(super) fn conditions(question: &str) -> Vec<String> {
    constraints::conditions(question)
}
