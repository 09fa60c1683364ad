//! The words of a text that say what it is about, in a form that two texts can be compared by.

use std::collections::BTreeSet;

use super::fold::{Marks, folded};
use super::terms::{is_telling, terms};

/// Words longer than this, in Unicode scalar values, are cut to it: inflection changes the end, and so
/// the forms of one word meet.
const STEM_CHARS: usize = 5;

/// The telling words of a text, folded, each once: no stop words, words of identifiers apart
/// (`buy_stock` is `buy` and `stock`), long words without their endings. Any script.
#[must_use]
pub fn telling_words(text: &str) -> BTreeSet<String> {
    let folded = folded(text, Marks::Drop).replace('_', " ");
    terms(&folded)
        .into_iter()
        .map(|term| term.text)
        .filter(|term| is_telling(term))
        .map(stem)
        .collect()
}

fn stem(word: &str) -> String {
    if word.chars().all(char::is_alphabetic) {
        word.chars().take(STEM_CHARS).collect()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_calls_and_of_prose_meet() {
        let call = telling_words("<tool_call buy_stock({\"stock\": \"CVX\", \"amount\": 8282861})>");
        for word in ["buy", "stock", "cvx", "8282861"] {
            assert!(call.contains(word), "{call:?}");
        }
        assert_eq!(telling_words("minimizes"), telling_words("minimize"));
        assert_eq!(telling_words("the of and"), BTreeSet::new());
        assert!(!telling_words("排放量").is_empty());
    }
}
