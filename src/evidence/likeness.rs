//! Whether two sentences state the same thing, as far as their words tell.

use std::collections::BTreeSet;

use super::fold::{Marks, folded};
use super::terms::{is_telling, named_things, terms};

/// Least share of telling words that two wordings of one claim have in common (Dice). Two sentences
/// of the same subject that say different things of it share about half.
const LEAST_SHARED: f64 = 0.6;

/// Words that turn a sentence into its opposite, folded.
const NEGATIONS: [&str; 18] = [
    "not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "nicht", "kein", "keine",
    "pas", "jamais", "sin", "nunca", "senza",
];
/// The same in scripts without spaces.
const NEGATING: [char; 5] = ['不', '没', '沒', '無', '无'];

/// True when two sentences read as one claim in other words: most of their telling words are the
/// same, both negate or neither does, and what they name (numbers, names, quoted strings) does not
/// differ, though one may name less. Symmetric; a sentence without telling words is like none.
#[must_use]
pub fn same_claim(a: &str, b: &str) -> bool {
    let (folded_a, folded_b) = (folded(a, Marks::Drop), folded(b, Marks::Drop));
    let (words_a, words_b) = (telling(&folded_a), telling(&folded_b));
    let shared = words_a.intersection(&words_b).count();
    let dice = 2.0 * shared as f64 / (words_a.len() + words_b.len()).max(1) as f64;
    if dice < LEAST_SHARED || negates(&folded_a) != negates(&folded_b) {
        return false;
    }
    let (names_a, names_b) = (named(a), named(b));
    names_a.is_subset(&names_b) || names_b.is_subset(&names_a)
}

fn telling(folded: &str) -> BTreeSet<&str> {
    terms(folded)
        .into_iter()
        .map(|term| term.text)
        .filter(|term| is_telling(term))
        .collect()
}

fn negates(folded: &str) -> bool {
    folded.contains(NEGATING)
        || folded.contains("n't ")
        || terms(folded)
            .iter()
            .any(|term| NEGATIONS.contains(&term.text) || term.text.ends_with("n't"))
}

/// The words of all things that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let things = named_things(text);
    let words = things.iter().flat_map(|thing| {
        let thing = folded(thing, Marks::Drop);
        terms(&thing)
            .into_iter()
            .map(|term| term.text.to_owned())
            .collect::<Vec<_>>()
    });
    words.filter(|word| is_telling(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_one_claim_and_another_content_is_not() {
        let same = [
            (
                "Tam Hesk built the mill in 1788.",
                "The mill at Orrin Ford was built by Tam Hesk in 1788.",
            ),
            ("The fare was fourpence.", "the fare was  FOURPENCE"),
            ("灯塔在一九三一年改用电灯", "灯塔在一九三一年已改用电灯"),
        ];
        for (a, b) in same {
            assert!(same_claim(a, b) && same_claim(b, a), "{a} | {b}");
        }
        let other = [
            (
                "The mill was built by Tam Hesk in 1788.",
                "The mill was built by Jon Orr in 1788.",
            ),
            (
                "The mill was built by Tam Hesk in 1788.",
                "The mill was built by Tam Hesk in 1798.",
            ),
            (
                "Its builder is recorded in the survey.",
                "Its builder is not recorded in the survey.",
            ),
            ("The ferry began in April.", "The fare was raised in May."),
            ("", ""),
        ];
        for (a, b) in other {
            assert!(!same_claim(a, b) && !same_claim(b, a), "{a} | {b}");
        }
    }
}
