//! What an evaluation has to say about its input, counted and with a few examples.

use serde::Serialize;

/// How many examples of a note are kept.
const EXAMPLES: usize = 3;

/// One thing that was odd about the input, however often it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A word for machines.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// What it means and what was done.
    pub message: &'static str,
    /// The first few, as `run: what`.
    pub examples: Vec<String>,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}", self.message, self.count)?;
        if !self.examples.is_empty() {
            write!(f, ": {}", self.examples.join("; "))?;
            if self.count > self.examples.len() as u64 {
                f.write_str("; …")?;
            }
        }
        f.write_str(")")
    }
}

/// Notes in order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Counts one more occurrence.
    pub fn add(&mut self, code: &'static str, example: &str) {
        let at = self.0.iter().position(|note| note.code == code).unwrap_or_else(|| {
            self.0.push(Note {
                code,
                count: 0,
                message: message(code),
                examples: Vec::new(),
            });
            self.0.len() - 1
        });
        if let Some(note) = self.0.get_mut(at) {
            note.count += 1;
            if note.examples.len() < EXAMPLES {
                note.examples.push(example.to_owned());
            }
        }
    }

    /// The notes.
    #[must_use]
    pub fn all(&self) -> &[Note] {
        &self.0
    }

    /// How often this happened.
    #[must_use]
    pub fn count(&self, code: &str) -> u64 {
        self.0
            .iter()
            .find(|note| note.code == code)
            .map_or(0, |note| note.count)
    }
}

/// The sentence behind each code.
fn message(code: &'static str) -> &'static str {
    match code {
        "odd_gold_row" => "gold rows of an odd shape",
        "unlabelled" => "gold rows without any label, left out: unlabelled is not clean",
        "no_gold_id" => "gold rows without an id, left out",
        "duplicate_gold" => "gold rows that repeat a run's id: the last one counts",
        "duplicate_span_ids" => {
            "runs in which spans share an id: it means the first of them, and `#2`, `#3` … the others"
        }
        "repeated_gold_spans" => "runs whose label lists a span twice: counted once",
        "unknown_gold_spans" => "labelled spans that the run does not have: they count as gold that nobody can find",
        "no_spans" => {
            "runs without spans in the gold file (and none from --data): positions follow the natural order of ids, \
                       ±1 and ±2 and trivial rows have nothing to stand on"
        }
        "missing_key" => "keys that no gold row has under meta",
        "duplicate_prediction" => "predictions that repeat a run's id: the last one counts",
        "extra_prediction" => "predictions for runs that gold does not have: not scored",
        "unreadable_prediction" => "prediction rows that could not be read: their runs count as missing",
        "no_prediction_id" => "prediction rows without an id, left out",
        "unknown_predicted_spans" => "predicted spans that the run does not have: they count as wrong predictions",
        "repeated_predicted_spans" => "predictions that list a span twice: counted once",
        "failed_with_prediction" => "rows that failed, yet carry a prediction: they count as failed",
        "ok_without_prediction" => {
            "rows without a status, or with status ok, that carry no prediction: they count as failed"
        }
        "unknown_status" => "rows with an unknown status word: they count as failed",
        "failed_stage_in_log" => "rows whose log shows a failed call behind their prediction: they count as failed",
        "odd_prediction" => "prediction rows of an odd shape",
        "mixed_methods" => "rows whose method differs from the first row's: one file should hold one method",
        _ => "other",
    }
}
