//! Words that tell what a sentence does. A table row is a cue and its phrases, parted by bars; another
//! language is another file. Phrases are matched without case, at word boundaries where the phrase
//! begins or ends with a letter that has a case.

mod chinese;
mod english;
mod french;
mod german;
mod spanish;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What a phrase tells about the sentence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cue {
    /// States something as settled.
    Commit,
    /// Names an answer as the answer.
    Answer,
    /// Holds something as possible only.
    Hedge,
    /// Says what is to be done next.
    Plan,
    /// Says that something is not so.
    Negation,
    /// Points at a source or a result as the ground of what is said.
    Cite,
    /// Points at the result just returned.
    Deictic,
    /// Names failing to find, show or decide; giving up when negated or final.
    Finding,
    /// Gives up, by itself.
    GiveUp,
    /// Takes something back.
    Correction,
    /// Mentions a claim in order to reject it.
    Reject,
    /// Says that a call failed or came back empty.
    Noticed,
    /// Draws a conclusion.
    Conclude,
    /// Adds numbers up.
    Sum,
    /// Takes one number from another.
    Difference,
    /// Says that a number is not exact.
    Rounded,
    /// Speaks of the task, not of the world.
    Task,
    /// Data made up by the agent.
    Invented,
    /// Lets a condition go.
    Relax,
    /// Says what a source has: with [`Cue::Cite`], the sentence reports a source.
    Asserts,
}

/// The cues of one sentence as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cues(u32);

impl Cues {
    /// True when a phrase of this cue stands in the sentence.
    pub(super) fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u32) != 0
    }

    fn with(self, cue: Cue) -> Self {
        Self(self.0 | (1 << cue as u32))
    }
}

/// A cue and its phrases, parted by bars.
type Row = (Cue, &'static str);

/// The tables, one file a language.
const TABLES: &[&[Row]] = &[english::ROWS, chinese::ROWS, spanish::ROWS, german::ROWS, french::ROWS];

struct Matcher {
    automaton: Option<AhoCorasick>,
    cues: Vec<Cue>,
}

static MATCHER: LazyLock<Matcher> = LazyLock::new(|| {
    let rows: Vec<(&str, Cue)> = TABLES
        .iter()
        .flat_map(|table| table.iter())
        .flat_map(|(cue, phrases)| phrases.split('|').map(move |phrase| (phrase, *cue)))
        .collect();
    Matcher {
        automaton: AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(rows.iter().map(|(phrase, _)| *phrase))
            .ok(),
        cues: rows.iter().map(|(_, cue)| *cue).collect(),
    }
});

/// The cues of a sentence. `lower` is the sentence in lower case.
pub(super) fn cues(lower: &str) -> Cues {
    let mut found = Cues::default();
    let Some(automaton) = MATCHER.automaton.as_ref() else {
        return found;
    };
    for hit in automaton.find_overlapping_iter(lower) {
        if let Some(cue) = MATCHER.cues.get(hit.pattern().as_usize())
            && at_boundaries(lower, hit.start(), hit.end())
        {
            found = found.with(*cue);
        }
    }
    found
}

/// True when `lower[start..end]` is not part of a longer word. Scripts without case have no word
/// boundaries to look for.
pub(super) fn at_boundaries(lower: &str, start: usize, end: usize) -> bool {
    let cased = |c: char| c.is_lowercase() || c.is_uppercase() || c.is_ascii_digit();
    let open = |inner: Option<char>, outer: Option<char>| {
        !(inner.is_some_and(cased) && outer.is_some_and(|c| cased(c) || c == '_'))
    };
    let phrase = lower.get(start..end).unwrap_or("");
    let before = lower.get(..start).and_then(|text| text.chars().next_back());
    let after = lower.get(end..).and_then(|text| text.chars().next());
    open(phrase.chars().next(), before) && open(phrase.chars().next_back(), after)
}

/// Words too common to say what a sentence is about, and words that speak of sources and steps
/// rather than of their subject.
const STOP_WORDS: &str = "the and for that this with from was were are has have had its his her their they them which who whom \
    what when where why how been being also but not into than then there these those will would can \
    could may might must shall should does did done both each all any some such same other one two only \
    own more most very just over under about after before between because while during through per via \
    out off upon here now answer question article page document result results search entry source \
    profile according states stated says said shows shown show given gives give listed lists list found \
    find retrieved returned first therefore thus hence since however whereas based information provided \
    provides mentions mentioned confirms confirmed verified clear clearly using used use name named \
    called known refers described text see look set put made make makes came come comes get got goes let \
    need like well still even yet too nor you your our she him he it is be an of in on at by to as or if \
    so we me my no do up us am i a s t nothing far below above report reports records der die das und \
    ist von den dem ein eine les des une est dans los las del que por con una";

static STOP: LazyLock<std::collections::HashSet<u64>> =
    LazyLock::new(|| STOP_WORDS.split_whitespace().map(super::text::stem).collect());

/// True for a stem too common to say what a sentence is about.
pub(super) fn is_stop(stem: u64) -> bool {
    STOP.contains(&stem)
}
