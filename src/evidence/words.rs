//! What counts as a letter of a word, lower case and white space as the published code sees them.

use unicode_normalization::char::is_combining_mark;

/// Letters, digits and other numerals of any script, without combining marks. Circled and squared
/// Latin letters are symbols, although Unicode calls them alphabetic.
fn is_letter_or_numeral(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c) && !matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F189}')
}

/// True for the characters a published search term is made of: letters, digits, `_ ' -`.
pub(super) fn in_published_term(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '-')
    } else {
        is_letter_or_numeral(c)
    }
}

/// White space as Python's `str.strip` takes it off: Unicode's, and the four separators U+001C to
/// U+001F.
pub(crate) fn is_published_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1C}'..='\u{1F}')
}

/// True for scripts whose characters have no case, where the lower-casing table need not be asked:
/// from the CJK radicals to Vai, and the Hangul syllables.
pub(super) fn is_caseless_block(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{A63F}' | '\u{AC00}'..='\u{D7A3}')
}

/// Appends `text` in lower case. The final form of sigma depends on what stands around it *in
/// this piece of text*, so a text is to be lowered in the pieces it is searched in.
pub(super) fn push_lower(out: &mut String, text: &str) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        if let Some(added) = out.get_mut(start..) {
            added.make_ascii_lowercase();
        }
    } else if text.contains('Σ') {
        out.push_str(&text.to_lowercase());
    } else {
        for c in text.chars() {
            if c.is_ascii() {
                out.push(c.to_ascii_lowercase());
            } else if is_caseless_block(c) {
                out.push(c);
            } else {
                out.extend(c.to_lowercase());
            }
        }
    }
}
