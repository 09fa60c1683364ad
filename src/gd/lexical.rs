//! The cheapest tier: how many of the goal's rare words the turn shares.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::GdQuestion;
use crate::evidence::{quote, telling_words};
use crate::reply::{By, GdReply};
use crate::trajectory::Trajectory;

use super::rubric::complement;

/// Name of the tier, in `decided_by` and in tables.
pub const LEXICAL: &str = "lexical";

/// How fast alignment grows with the overlap: at an overlap of 0.14 a turn is half way. A turn is one step of many and
/// never speaks of the whole goal.
const GROWTH: f64 = 5.0;

/// The words of a goal and those of each turn, weighted by how rare they are in the run.
///
/// A word's weight is `ln(1 + turns / turns that have it)`. The overlap of a turn is the geometric mean of two shares:
/// the weight of the goal's words that the turn has over that of all the goal's words that any turn has, and over
/// that of all words of the turn, so that a long turn does not win by its length. Alignment is `1 − exp(−5 · overlap)`.
/// Words of tool names and arguments count as words of the turn. It knows nothing of meaning: a turn that refuses
/// the goal in the goal's own words is aligned to it.
#[derive(Clone, Debug)]
pub struct Lexical {
    goal: BTreeSet<String>,
    weights: BTreeMap<String, f64>,
    turns: Vec<BTreeSet<String>>,
}

impl Lexical {
    /// Weighs the words of the goal (the run's question), its constraints and the turns. Linear in the run's length.
    #[must_use]
    pub fn new(run: &Trajectory, constraints: &[String]) -> Self {
        let mut goal = telling_words(run.question());
        for constraint in constraints {
            goal.extend(telling_words(constraint));
        }
        let turns: Vec<BTreeSet<String>> = run.spans().iter().map(|span| telling_words(&span.text)).collect();
        let mut spread: BTreeMap<String, u32> = BTreeMap::new();
        for word in turns.iter().flatten() {
            *spread.entry(word.clone()).or_default() += 1;
        }
        let count = turns.len() as f64;
        let weights: BTreeMap<String, f64> = spread
            .into_iter()
            .map(|(word, having)| (word, (1.0 + count / f64::from(having)).ln()))
            .collect();
        goal.retain(|word| weights.contains_key(word));
        Self { goal, weights, turns }
    }

    fn weight<'word>(&self, words: impl Iterator<Item = &'word String>) -> f64 {
        words.filter_map(|word| self.weights.get(word)).sum()
    }

    /// Alignment of the turn at a position, from 0 to 1. `None` when there is nothing to compare: the turn has no telling
    /// word, or no turn has a word of the goal.
    #[must_use]
    pub fn alignment(&self, turn: usize) -> Option<f64> {
        let words = self.turns.get(turn).filter(|words| !words.is_empty())?;
        if self.goal.is_empty() {
            return None;
        }
        let shared = self.weight(self.goal.intersection(words));
        let overlap = shared / (self.weight(self.goal.iter()) * self.weight(words.iter())).sqrt();
        Some(1.0 - (-GROWTH * overlap).exp())
    }

    /// The goal's words that the turn has, the weightiest first.
    #[must_use]
    pub fn shared(&self, turn: usize) -> Vec<&str> {
        let Some(words) = self.turns.get(turn) else {
            return Vec::new();
        };
        let weighed = |word: &String| self.weights.get(word).copied().unwrap_or_default();
        let mut shared: Vec<(&str, f64)> = self
            .goal
            .intersection(words)
            .map(|word| (word.as_str(), weighed(word)))
            .collect();
        shared.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        shared.into_iter().map(|(word, _)| word).collect()
    }

    /// The tier's answer in the judge's shape, for the judge that needs no model. It says what it is. `None` when there
    /// is nothing to compare.
    #[must_use]
    pub fn reply(question: &GdQuestion) -> Option<GdReply> {
        let (run, turn) = (&question.run, question.turn);
        let lexical = Self::new(run, &question.constraints);
        let gd = complement(lexical.alignment(turn)?);
        let shared = lexical.shared(turn);
        let words = if shared.is_empty() {
            "none".to_owned()
        } else {
            shared.into_iter().take(8).collect::<Vec<_>>().join(", ")
        };
        let quote = quote::best_sentence(run, turn, run.question())
            .map(|quote| quote.text)
            .unwrap_or_default();
        Some(GdReply {
            reason: format!("lexical tier, no model: word stems of the goal that the turn shares: {words}"),
            quote,
            by: (gd > 0.0).then_some(By::Action),
            fault: None,
            gd,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Span;

    fn run(goal: &str, texts: &[&str]) -> Trajectory {
        let spans = texts.iter().enumerate().map(|(n, text)| Span {
            id: format!("t{n}"),
            text: (*text).to_owned(),
            ..Span::default()
        });
        Trajectory::new("r", goal, spans.collect()).0
    }

    #[test]
    fn a_turn_about_the_goal_is_nearer_to_it() {
        let run = run(
            "Repair the harbour crane before the storm",
            &[
                "I order parts for the harbour crane.",
                "order_lunch({\"dish\": \"soup\"})",
                "repair_crane({\"part\": \"winch\"})",
                "…",
            ],
        );
        let lexical = Lexical::new(&run, &["use the winch in store".to_owned()]);
        let at = |turn| lexical.alignment(turn);
        assert!(at(0) > at(1) && at(2) > at(1), "{:?} {:?} {:?}", at(0), at(1), at(2));
        assert_eq!(at(1), Some(0.0));
        assert_eq!(at(3), None, "a turn without a word has no score, not a middle one");
        assert!(lexical.shared(2).contains(&"winch"));
    }

    #[test]
    fn a_rare_word_of_the_goal_counts_for_more() {
        let run = run(
            "sell the red boat",
            &["boat wash", "boat paint", "boat sell", "boat tow", "sell boat"],
        );
        let lexical = Lexical::new(&run, &[]);
        assert!(lexical.alignment(2) > lexical.alignment(1));
        assert!((0.0..=1.0).contains(&lexical.alignment(4).unwrap()));
        let strange = super::tests::run("zzz", &["boat"]);
        assert_eq!(Lexical::new(&strange, &[]).alignment(0), None);
    }
}
