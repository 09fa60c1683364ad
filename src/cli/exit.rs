//! What the process says when it ends.

use std::process::ExitCode;

use crate::audit::{Cause, CauseKind};
use crate::report::{ResultRow, Status};

/// Exit codes; README and `--help` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0
    Fine,
    /// 1: harmful spans found, and the user asked to fail on that.
    Harmful,
    /// 2: wrong usage, or no record could be read.
    Usage,
    /// 3: no row is `ok`.
    NoneOk,
    /// 4: some rows are not `ok`.
    SomeNotOk,
    /// 5: the cost cap stopped it.
    Budget,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Harmful => 1,
            Self::Usage => 2,
            Self::NoneOk => 3,
            Self::SomeNotOk => 4,
            Self::Budget => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Counts rows as they pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Rows in all.
    pub rows: usize,
    /// With harmful spans.
    pub harmful: usize,
    /// Without any.
    pub clean: usize,
    /// Failed, for whatever cause.
    pub failed: usize,
    /// Of the failed: records that could not be read.
    pub unreadable: usize,
    /// Refused.
    pub refused: usize,
    /// Not run.
    pub not_run: usize,
    /// Of those: for the budget.
    pub budget: usize,
}

impl Tally {
    /// Counts a row.
    pub fn add(&mut self, row: &ResultRow) {
        let harmful = row
            .prediction
            .as_ref()
            .is_some_and(|prediction| !prediction.error_span_ids.is_empty());
        self.count(row.status, row.cause.as_ref(), harmful);
    }

    /// Counts a row of any kind of result.
    pub fn count(&mut self, status: Status, cause: Option<&Cause>, harmful: bool) {
        self.rows += 1;
        let kind = cause.map(|cause| cause.kind);
        match status {
            Status::Ok if harmful => self.harmful += 1,
            Status::Ok => self.clean += 1,
            Status::Failed => {
                self.failed += 1;
                self.unreadable += usize::from(kind == Some(CauseKind::Input));
            }
            Status::Refused => self.refused += 1,
            Status::NotRun => {
                self.not_run += 1;
                self.budget += usize::from(kind == Some(CauseKind::Budget));
            }
        }
    }

    /// The code these rows end with.
    #[must_use]
    pub fn exit(&self, interrupted: bool, fail_on_harmful: bool) -> Exit {
        let ok = self.harmful + self.clean;
        match () {
            () if interrupted => Exit::Interrupted,
            () if self.unreadable == self.rows => Exit::Usage,
            () if self.budget > 0 => Exit::Budget,
            () if ok == 0 => Exit::NoneOk,
            () if ok < self.rows => Exit::SomeNotOk,
            () if fail_on_harmful && self.harmful > 0 => Exit::Harmful,
            () => Exit::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_applies() {
        let all = Tally {
            rows: 5,
            harmful: 1,
            clean: 1,
            failed: 1,
            unreadable: 0,
            refused: 1,
            not_run: 1,
            budget: 1,
        };
        assert_eq!(all.exit(true, true), Exit::Interrupted);
        assert_eq!(all.exit(false, true), Exit::Budget);
        assert_eq!(Tally { budget: 0, ..all }.exit(false, true), Exit::SomeNotOk);
        assert_eq!(
            Tally {
                rows: 2,
                failed: 2,
                unreadable: 2,
                ..Tally::default()
            }
            .exit(false, true),
            Exit::Usage
        );
        assert_eq!(
            Tally {
                rows: 2,
                failed: 2,
                unreadable: 1,
                ..Tally::default()
            }
            .exit(false, true),
            Exit::NoneOk
        );
        let good = Tally {
            rows: 2,
            harmful: 1,
            clean: 1,
            ..Tally::default()
        };
        assert_eq!(
            (good.exit(false, true), good.exit(false, false)),
            (Exit::Harmful, Exit::Fine)
        );
        assert_eq!(Tally::default().exit(false, false), Exit::Usage);
    }
}
