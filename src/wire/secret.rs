//! Keeps keys out of everything that is shown or saved.

use std::fmt;

/// Keys shorter than this stand in ordinary words too often, and are removed only where they are
/// a whole token.
const SHORT: usize = 8;
/// Length from which a piece of a key is treated as the key.
const PIECE: usize = 12;
/// Length from which a key is no dummy.
const LONG: usize = 16;
const MARK: &str = "[key removed]";

/// Removes secrets from text. Its `Debug` shows none.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Removes these; empty ones are passed over.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().map(|secret| secret.trim().to_owned()).collect();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without secrets and without pieces of them of twelve characters or more.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets.iter().filter(|secret| secret.len() >= SHORT) {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MARK);
            }
        }
        if self.secrets.is_empty() || !self.holds_piece(&text) {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut token = String::new();
        for c in text.chars().chain(std::iter::once('\0')) {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
                token.push(c);
                continue;
            }
            out.push_str(if self.is_piece(&token) { MARK } else { &token });
            token.clear();
            if c != '\0' {
                out.push(c);
            }
        }
        out
    }

    /// A reply without whole long secrets, and otherwise as it came: dummy keys such as `password`
    /// are words that a reply may well use.
    #[must_use]
    pub fn scrub_reply(&self, text: String) -> String {
        self.secrets
            .iter()
            .filter(|secret| secret.len() >= LONG)
            .fold(text, |text, secret| {
                if text.contains(secret.as_str()) {
                    text.replace(secret.as_str(), MARK)
                } else {
                    text
                }
            })
    }

    fn holds_piece(&self, text: &str) -> bool {
        text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .any(|token| self.is_piece(token))
    }

    fn is_piece(&self, token: &str) -> bool {
        let bare = token.trim_matches('.');
        !bare.is_empty()
            && self
                .secrets
                .iter()
                .any(|secret| secret == bare || (bare.len() >= PIECE && secret.contains(bare)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_its_longer_pieces_go() {
        let redactor = Redactor::new(["sk-acme-NOT-A-REAL-KEY-0001\n".to_owned()]);
        let out = redactor
            .scrub("bad key sk-acme-NOT-A-REAL-KEY-0001, began sk-acme-NOT-A-R..., url?k=sk-acme-NOT-A-REAL-KEY-0001x");
        assert!(!out.contains("NOT-A-R"), "{out}");
        assert!(out.starts_with("bad key [key removed], began [key removed]"), "{out}");
        assert!(!format!("{redactor:?}").contains("acme"));
        assert_eq!(
            redactor.scrub_reply("x sk-acme-NOT-A-REAL-KEY-0001".to_owned()),
            "x [key removed]"
        );
    }

    #[test]
    fn a_short_key_goes_only_as_a_word() {
        let redactor = Redactor::new(["EMPTY".to_owned(), String::new()]);
        assert_eq!(
            redactor.scrub("the EMPTY key is not EMPTYNESS"),
            "the [key removed] key is not EMPTYNESS"
        );
        assert_eq!(
            Redactor::new(["password".to_owned()]).scrub_reply("a password".to_owned()),
            "a password"
        );
        assert_eq!(Redactor::default().scrub("as it was"), "as it was");
    }
}
