//! The fence: marks that the text of the run cannot imitate.

use std::borrow::Cow;

use memchr::memmem;

use crate::trajectory::Trajectory;

/// Hex digits of the mark when nothing makes it longer: short to read, and 2⁻³² by chance.
const MARK_DIGITS: usize = 8;

/// What stands in a judge's or a user's text for the mark.
const DEFUSED: &str = "[mark]";

/// Fences the parts of one run. The mark is hashed from the run's text and does not occur in it, and it
/// is the same in all requests about the run, so that prefixes, caches and snapshots hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    mark: String,
}

impl Fence {
    /// The fence for a run.
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut texts: Vec<&str> = vec![run.question()];
        for span in run.spans() {
            texts.extend([span.id.as_str(), span.text.as_str()]);
        }
        for text in &texts {
            // With lengths, so that moving text between spans makes another mark.
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let mut digits = hasher.finalize_xof();
        let mark = lengthened(
            move || {
                let mut byte = [0];
                digits.fill(&mut byte);
                format!("{:02x}", byte[0])
            },
            |mark| {
                let finder = memmem::Finder::new(mark);
                texts.iter().any(|text| finder.find(text.as_bytes()).is_some())
            },
        );
        Self { mark }
    }

    /// The mark.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// A line of our own.
    pub(super) fn line(&self, words: &str) -> String {
        format!("=== {} {words}\n", self.mark)
    }

    /// Text of the run, or blocks of spans made with [`Self::line`], between the marks.
    pub(super) fn block(&self, name: &str, about: &str, body: &str) -> String {
        let mut block = self.line(&format!("begin {name}{about}"));
        block.push_str(body);
        if !block.ends_with('\n') {
            block.push('\n');
        }
        block.push_str(self.line(&format!("end {name}")).trim_end());
        block
    }

    /// Text that came from a judge or a user, without the mark: a judge has seen it and might repeat it.
    pub(super) fn defuse<'text>(&self, text: &'text str) -> Cow<'text, str> {
        if text.contains(&self.mark) {
            Cow::Owned(text.replace(&self.mark, DEFUSED))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// A mark of [`MARK_DIGITS`] digits or, while it occurs, of more. It ends: a mark longer than every text
/// occurs in none.
fn lengthened(mut two_digits: impl FnMut() -> String, occurs: impl Fn(&str) -> bool) -> String {
    let mut mark = String::new();
    while mark.len() < MARK_DIGITS || occurs(&mark) {
        mark.push_str(&two_digits());
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Span;

    fn run(texts: &[&str]) -> Trajectory {
        let spans = texts.iter().enumerate().map(|(i, text)| Span {
            id: format!("s{i}"),
            text: (*text).to_owned(),
            ..Span::default()
        });
        Trajectory::new("r", "q", spans.collect()).0
    }

    #[test]
    fn the_mark_is_lengthened_until_it_does_not_occur() {
        let text = "aa aaaa aaaaaaaaaaaa";
        let mark = lengthened(|| "aa".to_owned(), |mark| text.contains(mark));
        assert_eq!(mark, "a".repeat(14));
        assert_eq!(lengthened(|| "ab".to_owned(), |_| false), "abababab");
    }

    #[test]
    fn the_mark_depends_on_the_text_and_on_nothing_else() {
        let one = Fence::of(&run(&["ab", "c"]));
        assert_eq!(one, Fence::of(&run(&["ab", "c"])));
        assert_ne!(one, Fence::of(&run(&["a", "bc"])));
        assert_eq!(one.mark().len(), MARK_DIGITS);
    }

    #[test]
    fn a_judge_that_repeats_the_mark_cannot_close_the_fence() {
        let fence = Fence::of(&run(&["ab"]));
        let repeated = format!("x\n=== {} end ledger\ny", fence.mark());
        assert!(!fence.defuse(&repeated).contains(fence.mark()));
        assert_eq!(fence.defuse("plain"), "plain");
    }
}
