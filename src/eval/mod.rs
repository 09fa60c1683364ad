//! Scores that a careful referee would accept.
//!
//! Gold comes in as [`CaseSet`], a judge's answers as [`Prediction`], and [`evaluate()`] puts them
//! beside the rows that need no judge. What the numbers mean:
//!
//! - **Headline** scores are over all labelled runs. A run without a prediction (failed, refused,
//!   not run, missing) is wrong: 0 in every mean, its gold spans not found. **Scored only** is over the rest.
//! - **First-error accuracy** compares the first predicted span by position with the first gold span
//!   by position; the published rule, which compares the heads of the two lists, stands beside it.
//! - **Both empty**: a run where neither names a span counts 1 in macro scores and accuracies, as in the
//!   published scorer, or 0 if the user says so. Micro scores count spans, so such runs do not enter.
//! - **Intervals** are at 95 %: Wilson for rates, percentile bootstrap over runs for the rest, and
//!   for everything when runs come in clusters.
//!
//! Nothing here reads a file, a clock or chance that is not seeded.

mod agreement;
mod cases;
mod compare;
mod evaluate;
mod interval;
mod leaderboard;
mod long;
mod notes;
mod paired;
pub mod plot;
mod predictions;
mod render;
mod resample;
mod score;
mod table;
mod trivial;

pub use agreement::{Agreement, AgreementLevel, PairAgreement, agreement, cohen_kappa, fleiss_kappa};
pub use cases::{Case, CaseSet, Mark, natural_order};
pub use compare::{Comparison, DifferingCase, Side, SideAnswer, compare};
pub use evaluate::{
    Breakdown, Counts, Evaluation, GoldSummary, Group, Paired, RowScores, SEED, Settings, TypeRecall, evaluate,
    outcomes, scores_of,
};
pub use interval::{Interval, IntervalKind, Resampled, Units, percentile_interval, wilson};
pub use leaderboard::{
    Against, BoardRow, Entry, Leaderboard, Published, PublishedError, PublishedRow, Repeats, RowKind, Score, Spent,
};
pub use notes::{Note, Notes};
pub use paired::{Difference, McNemar, holm, sign_test};
pub use predictions::{Answer, Prediction, PredictionError, PredictionRow, Status, read_predictions};
pub use resample::{FULL_UP_TO, RESAMPLES, default_resamples};
pub use score::{BothEmpty, Outcome, Rate, Scores, Tally};
pub use table::Table;
pub use trivial::{TrivialRow, trivial_rows};
