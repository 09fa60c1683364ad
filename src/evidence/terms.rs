//! The search terms of `drift`: words of any script. In scripts without spaces, where a word has
//! no edges, every two neighbouring characters (Thai and its neighbours: three) are a term.

use unicode_normalization::char::is_combining_mark;

/// Words that say nothing about what a claim is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "may", "more", "most", "my", "no", "not", "of", "on", "one",
    "only", "or", "other", "our", "out", "over", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "up", "was", "we", "were", "what", "when",
    "where", "which", "who", "will", "with", "would", "you", "your",
];

/// Han, kana: words of one or two characters, without spaces.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Thai, Lao, Myanmar, Khmer: alphabetic, without spaces between words.
fn is_unspaced_alphabetic(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

/// True for characters of scripts that put no spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    !c.is_ascii() && (is_ideographic(c) || is_unspaced_alphabetic(c))
}

/// True for characters of words that have edges.
pub(super) fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c)
    }
}

/// A search term of a folded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term<'text> {
    /// Its characters.
    pub text: &'text str,
    /// False when it has no edges that could be looked at: a piece of a text without spaces.
    pub has_edges: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Ideographic,
    Unspaced,
}

fn kind(c: char) -> Option<Kind> {
    if is_word_char(c) {
        Some(Kind::Word)
    } else if c.is_ascii() {
        None
    } else if is_ideographic(c) {
        Some(Kind::Ideographic)
    } else if is_unspaced_alphabetic(c) {
        Some(Kind::Unspaced)
    } else {
        None
    }
}

/// The terms of a folded text in order, with repetitions, stop words included.
pub(super) fn terms(text: &str) -> Vec<Term<'_>> {
    let mut terms = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let Some(run) = kind(first) else {
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        };
        let end = end_of_run(rest, run);
        let (word, tail) = rest.split_at(end);
        match run {
            Kind::Word => terms.push(Term {
                text: word,
                has_edges: true,
            }),
            Kind::Ideographic => push_pieces(&mut terms, word, 2),
            Kind::Unspaced => push_pieces(&mut terms, word, 3),
        }
        rest = tail;
    }
    terms
}

/// Where the run of characters of one kind ends. A point, comma or colon between digits and an
/// apostrophe between letters do not end a word.
fn end_of_run(text: &str, run: Kind) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, c)) = chars.next() {
        if kind(c) != Some(run) {
            let next = chars.peek().map_or(' ', |&(_, next)| next);
            let joins = run == Kind::Word
                && match c {
                    '.' | ',' | ':' => previous.is_ascii_digit() && next.is_ascii_digit(),
                    '\'' => previous.is_alphabetic() && next.is_alphabetic() && is_word_char(next),
                    _ => false,
                };
            if !joins {
                return at;
            }
        }
        previous = c;
    }
    text.len()
}

fn push_pieces<'text>(terms: &mut Vec<Term<'text>>, run: &'text str, length: usize) {
    let starts: Vec<usize> = run
        .char_indices()
        .map(|(at, _)| at)
        .chain(std::iter::once(run.len()))
        .collect();
    if starts.len() <= length + 1 {
        terms.push(Term {
            text: run,
            has_edges: false,
        });
        return;
    }
    for window in starts.windows(length + 1) {
        if let (Some(&start), Some(&end)) = (window.first(), window.last())
            && let Some(text) = run.get(start..end)
        {
            terms.push(Term { text, has_edges: false });
        }
    }
}

/// True for terms worth searching: no stop word, no single letter.
pub(super) fn is_telling(term: &str) -> bool {
    let mut chars = term.chars();
    match (chars.next(), chars.next()) {
        (None, _) => false,
        (Some(only), None) => only.is_numeric() || is_unspaced(only),
        _ => STOP_WORDS.binary_search(&term).is_err(),
    }
}

/// What a text names exactly, as it writes it: quoted strings, numbers and names, each once.
pub(super) fn named_things(text: &str) -> Vec<String> {
    let mut things = quoted(text);
    things.extend(numbers_and_names(text));
    let mut seen = std::collections::HashSet::new();
    things.retain(|thing| seen.insert(thing.to_lowercase()));
    things
}

/// Longest quoted string that is taken as one thing.
const MAX_QUOTED_CHARS: usize = 80;

fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [
        ('"', '"'),
        ('“', '”'),
        ('«', '»'),
        ('‘', '’'),
        ('「', '」'),
        ('『', '』'),
        ('《', '》'),
    ] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, tail)) = after.split_once(close) else {
                break;
            };
            let inside = inside.trim();
            if inside.chars().count() <= MAX_QUOTED_CHARS && inside.chars().filter(|c| c.is_alphanumeric()).count() > 1
            {
                found.push(inside.to_owned());
            }
            rest = tail;
        }
    }
    found
}

fn numbers_and_names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut name: Vec<&str> = Vec::new();
    // Punctuation before a word ends a name and may begin a sentence.
    let mut begins_sentence = true;
    let mut name_begins_sentence = false;
    for piece in text.split_whitespace() {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        if capital {
            if name.is_empty() {
                name_begins_sentence = begins_sentence;
            }
            name.push(word);
        }
        let ends = !capital || !piece.ends_with(word);
        if ends {
            push_name(&mut found, &mut name, name_begins_sentence);
        }
        if word.chars().filter(char::is_ascii_digit).count() > 1 && !capital {
            found.push(word.to_owned());
        }
        begins_sentence = piece.ends_with(['.', '!', '?', ':']);
    }
    push_name(&mut found, &mut name, name_begins_sentence);
    found
}

/// A word that only begins a sentence is no name, unless more capitals follow or it is written in
/// capitals or with digits.
fn push_name(found: &mut Vec<String>, name: &mut Vec<&str>, begins_sentence: bool) {
    if let (true, Some(first)) = (begins_sentence, name.first()) {
        let is_stop_word = STOP_WORDS.binary_search(&first.to_lowercase().as_str()).is_ok();
        let stands_out = first.chars().skip(1).any(|c| c.is_uppercase() || c.is_numeric());
        if is_stop_word || (name.len() == 1 && !stands_out) {
            name.remove(0);
        }
    }
    if name.iter().any(|word| word.chars().count() > 1) {
        found.push(name.join(" "));
    }
    name.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        terms(text).into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
        assert!(!is_telling("the") && !is_telling("x") && is_telling("7") && is_telling("uk") && is_telling("电"));
    }

    #[test]
    fn words_of_many_scripts() {
        assert_eq!(
            words("o'neil paid 1,234.50 at 10:30, uk."),
            ["o'neil", "paid", "1,234.50", "at", "10:30", "uk"]
        );
        assert_eq!(words("灯塔改用电灯"), ["灯塔", "塔改", "改用", "用电", "电灯"]);
        assert_eq!(words("東京 の iphone手机"), ["東京", "の", "iphone", "手机"]);
        assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(words("שלום"), ["שלום"]);
        assert_eq!(words("ภาษาไทย"), ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]);
        assert!(words(" ,.!- ").is_empty());
    }

    #[test]
    fn things_named() {
        assert_eq!(
            named_things(
                "The \"red book\" says Kestrel Point was lit in 1931 by O'Neil. He left. NASA paid 3.5 of 12,000."
            ),
            ["red book", "Kestrel Point", "1931", "O'Neil", "NASA", "3.5", "12,000"]
        );
        assert_eq!(named_things("《灯塔志》记载「改用电灯」"), ["改用电灯", "灯塔志"]);
        assert!(named_things("Nothing here is named.").is_empty());
    }
}
