//! Masks what should not leave the machine: mail addresses, keys, tokens, home folders.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns and what stands in their place. A group `keep` is kept.
const RULES: [(&str, &str); 9] = [
    (
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        "[private key]",
    ),
    (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", "[key]"),
    (
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|npm_[A-Za-z0-9]{30,})",
        "[token]",
    ),
    (
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
        "[token]",
    ),
    (r"(?i)(?P<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}", "${keep}[token]"),
    (
        r#"(?i)(?P<keep>\b[a-z0-9_-]*(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']?)[^\s"',;}]{6,}"#,
        "${keep}[secret]",
    ),
    (r"(?P<keep>://[^/\s:@]+:)[^/\s@]{3,}@", "${keep}[secret]@"),
    (
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
        "[email]",
    ),
    (
        r#"(?P<keep>(?:^|[^A-Za-z0-9.])(?:/home/|/Users/)|\b[A-Za-z]:\\+Users\\+)[^/\\\s"':,;)\]}]+"#,
        "${keep}[user]",
    ),
];

// The patterns are fixed and tested; one that did not compile would be left out.
static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    RULES
        .iter()
        .filter_map(|(pattern, mask)| Some((Regex::new(pattern).ok()?, *mask)))
        .collect()
});

/// The text with secrets masked, or `None` when there is none in it.
pub(crate) fn redact(text: &str) -> Option<String> {
    let mut masked: Option<String> = None;
    for (pattern, mask) in COMPILED.iter() {
        let now = masked.as_deref().unwrap_or(text);
        if let std::borrow::Cow::Owned(next) = pattern.replace_all(now, *mask) {
            masked = Some(next);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rules_compile() {
        assert_eq!(COMPILED.len(), RULES.len());
    }

    #[test]
    fn secrets_go_and_the_rest_stays() {
        for (text, expected) in [
            ("mail jo.doe+x@mail.example.org now", "mail [email] now"),
            (
                "cd /home/jo/src && ls /Users/jo",
                "cd /home/[user]/src && ls /Users/[user]",
            ),
            (
                r"C:\\Users\\Jo\\x C:\Users\Jo\x",
                r"C:\\Users\\[user]\\x C:\Users\[user]\x",
            ),
            ("key sk-abcdefghijklmnopqrstuvwx!", "key [key]!"),
            ("ghp_abcdefghijklmnopqrstuvwxyz0123", "[token]"),
            (
                "Authorization: Bearer abcdefghijklmnop",
                "Authorization: Bearer [token]",
            ),
            (r#"{"api_key": "abcdefgh1234"}"#, r#"{"api_key": "[secret]"}"#),
            ("OPENAI_API_KEY=abcdef123456", "OPENAI_API_KEY=[secret]"),
            ("postgres://me:hunter22@db/x", "postgres://me:[secret]@db/x"),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxw", "[token]"),
        ] {
            assert_eq!(redact(text).as_deref(), Some(expected));
        }
        for text in [
            "a password is needed",
            "see https://example.org/home/page",
            "@name and 1.5@2",
            "risk-averse sk-learn",
        ] {
            assert_eq!(redact(text), None, "{text}");
        }
    }
}
