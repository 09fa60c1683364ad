//! Words of any script, as hashes: enough to ask what is new in a text.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of a text that are looked at from each end; tool output can be endless.
const LOOKED_AT: usize = 60_000;

/// The distinct words of a text: lower-cased runs of letters and digits of three or more
/// characters; in scripts written without spaces, pairs of neighbouring characters.
pub(super) fn words(text: &str) -> HashSet<u64> {
    let mut found = HashSet::new();
    let head = text.floor_char_boundary(LOOKED_AT);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT)).max(head);
    for part in [text.get(..head), text.get(tail..)].into_iter().flatten() {
        collect(part, &mut found);
    }
    found
}

fn collect(text: &str, found: &mut HashSet<u64>) {
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars().chain([' ']) {
        if is_unspaced(c) {
            if let Some(first) = before {
                found.insert(hash(&format!("{first}{c}")));
            }
            before = Some(c);
            flush(&mut word, found);
        } else if c.is_alphanumeric() || c == '\'' || c == '_' {
            word.extend(c.to_lowercase());
            before = None;
        } else {
            flush(&mut word, found);
            before = None;
        }
    }
}

fn flush(word: &mut String, found: &mut HashSet<u64>) {
    if word.chars().nth(2).is_some() {
        found.insert(hash(word));
    }
    word.clear();
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Chinese, Japanese, Thai, Lao, Khmer and Burmese letters.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0x20000..=0x2ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script() {
        assert_eq!(words("The cat, the CAT: cats! a 10").len(), 3);
        assert_eq!(words("北京大学").len(), 3);
        assert_eq!(words(&"long word ".repeat(100_000)).len(), 2);
    }
}
