//! Texts made comparable: one space for any white space, no case, one normal form, plain quotation
//! marks and dashes. Every folded character knows which bytes of the source it stands for.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::words::is_caseless_block;

/// Whether accents and vowel points count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// They do: quotes must be the source's own words.
    Keep,
    /// Those that writers leave out at will do not: accents, Hebrew points, Arabic vowel signs.
    Drop,
}

/// Accents (U+0300 to U+036F), Hebrew points and accents, Arabic vowel signs. The vowel signs of
/// Indic scripts and Thai are part of the spelling and stay.
fn is_optional_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5BD}' | '\u{5BF}'..='\u{5C7}' | '\u{64B}'..='\u{65F}' | '\u{670}')
}

/// Characters that are not seen: soft hyphen, zero-width space and joiners, byte order mark,
/// variation selectors.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
}

fn plain(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{2BC}' | '\u{B4}' | '`' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{AB}' | '\u{BB}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' => '-',
        'ς' => 'σ',
        other => other,
    }
}

/// Han characters and Hangul syllables, which never join the character before them; asked first,
/// because the table of marks is slow.
fn is_caseless_letter(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// True for a character that changes the one before it.
fn joins_previous(c: char) -> bool {
    // The vowel and final jamo of Hangul are letters, but compose with the letter before them.
    !c.is_ascii()
        && !is_caseless_letter(c)
        && (is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11FF}' | '\u{FF9E}' | '\u{FF9F}'))
}

/// Folds a text and hands on each folded character with the bytes of `text` it stands for.
pub(super) fn fold(text: &str, marks: Marks, mut emit: impl FnMut(char, Range<usize>)) {
    let mut after_space = false;
    let mut emit = |c: char, bytes: Range<usize>| {
        let space = c.is_whitespace();
        if !(space && after_space) {
            emit(if space { ' ' } else { c }, bytes);
        }
        after_space = space;
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        // An ASCII character before another stands alone.
        if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
            at += 1;
            emit(
                if byte == b'`' {
                    '\''
                } else {
                    char::from(byte.to_ascii_lowercase())
                },
                start..at,
            );
            continue;
        }
        let mut chars = text.get(at..).unwrap_or("").chars();
        let Some(c) = chars.next() else { return };
        let mut alone = true;
        let mut end = at + c.len_utf8();
        for next in chars.take_while(|&next| joins_previous(next)) {
            alone = false;
            end += next.len_utf8();
        }
        at = end;
        if alone && c.is_ascii() {
            emit(if c == '`' { '\'' } else { c.to_ascii_lowercase() }, start..end);
        } else if alone && is_caseless_block(c) && !is_compatibility_form(c) {
            emit(c, start..end);
        } else if alone && marks == Marks::Drop {
            fold_one(c, &mut |folded| emit(folded, start..end));
        } else if let Some(piece) = text.get(start..end) {
            fold_piece(piece, marks, &mut |folded| emit(folded, start..end));
        }
    }
}

/// Characters of the caseless blocks that stand for others: the wide space, ideographic forms,
/// circled and squared ones, radicals.
fn is_compatibility_form(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{2FDF}' | '\u{3000}' | '\u{3036}'..='\u{303A}' | '\u{309B}'..='\u{309F}' | '\u{30FF}'..='\u{33FF}')
}

fn push_folded(c: char, emit: &mut impl FnMut(char)) {
    if is_invisible(c) {
        return;
    }
    for lowered in plain(c).to_lowercase() {
        match lowered {
            'ß' => {
                emit('s');
                emit('s');
            }
            'ς' => emit('σ'),
            other => emit(other),
        }
    }
}

/// One character without marks after it, optional marks dropped: nothing is left to compose.
fn fold_one(c: char, emit: &mut impl FnMut(char)) {
    let mut optional = true;
    decompose_compatible(c, |part| optional &= !is_combining_mark(part) || is_optional_mark(part));
    if optional && !matches!(c, '\u{AC00}'..='\u{D7A3}') {
        decompose_compatible(c, |part| {
            if !is_optional_mark(part) {
                push_folded(part, emit);
            }
        });
    } else {
        // A voiced kana or a letter with a sign that stays: it is its own composed form.
        for part in std::iter::once(c).nfkc() {
            push_folded(part, emit);
        }
    }
}

/// A character with the marks after it.
fn fold_piece(piece: &str, marks: Marks, emit: &mut impl FnMut(char)) {
    let mut folded = String::with_capacity(piece.len());
    for c in piece.nfkd() {
        if marks == Marks::Keep || !is_optional_mark(c) {
            push_folded(c, &mut |lowered| folded.push(lowered));
        }
    }
    folded.nfc().for_each(emit);
}

/// The folded text alone.
pub(super) fn folded(text: &str, marks: Marks) -> String {
    let mut out = String::with_capacity(text.len());
    fold(text, marks, |c, _| out.push(c));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_the_same_folds_the_same() {
        for (a, b) in [
            ("Caf\u{e9}", "cafe\u{301}"),
            (
                "\u{201C}Don\u{2019}t\u{201D} \u{2013} no\u{2026}",
                "\"don't\"  -\nNO...",
            ),
            ("ΟΔΟΣ", "οδος"),
            ("Straße", "STRASSE"),
            ("ＡＢＣ１２３，ｘ", "abc123,x"),
            ("が", "か\u{3099}"),
            ("각", "\u{1100}\u{1161}\u{11A8}"),
            ("ﬁne co\u{AD}op a\u{A0}b", "fine coop a b"),
            ("क\u{93C}", "\u{958}"),
        ] {
            assert_eq!(folded(a, Marks::Keep), folded(b, Marks::Keep), "{a} {b}");
            assert_eq!(folded(a, Marks::Drop), folded(b, Marks::Drop), "{a} {b}");
        }
    }

    #[test]
    fn accents_and_points_are_dropped_for_searching_only() {
        for (a, b) in [
            ("café", "cafe"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("İstanbul", "istanbul"),
        ] {
            assert_ne!(folded(a, Marks::Keep), folded(b, Marks::Keep));
            assert_eq!(folded(a, Marks::Drop), folded(b, Marks::Drop), "{a} {b}");
        }
        assert_ne!(folded("हिन्दी", Marks::Drop), folded("हनद", Marks::Drop));
        assert_ne!(folded("が", Marks::Drop), folded("か", Marks::Drop));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sources_are_in_order_and_on_boundaries(text in "\\PC{0,60}", marks in prop_oneof![Just(Marks::Keep), Just(Marks::Drop)]) {
            let mut at = 0;
            fold(&text, marks, |_, bytes| {
                assert!(bytes.start >= at || bytes.end >= at);
                assert!(text.get(bytes.clone()).is_some());
                at = bytes.start;
            });
        }

        #[test]
        fn both_normal_forms_fold_the_same(text in "\\PC{0,40}") {
            let composed: String = text.nfc().collect();
            let decomposed: String = text.nfd().collect();
            for marks in [Marks::Keep, Marks::Drop] {
                prop_assert_eq!(folded(&composed, marks), folded(&decomposed, marks));
            }
        }
    }
}
