//! What came back from one request, as a value.

use serde::{Deserialize, Serialize};

/// Status, headers and body of an HTTP answer, whatever the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// HTTP status.
    pub status: u16,
    /// Headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body; bytes that are no UTF-8 are replaced.
    pub body: String,
}

impl Exchange {
    /// An exchange from its parts.
    #[must_use]
    pub fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        Self {
            status,
            headers: headers
                .iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), (*value).to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }

    /// The first header of this name (given in lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// True when the body is a web page.
    #[must_use]
    pub fn is_page(&self) -> bool {
        let body = self.body.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if !body.starts_with('<') {
            return false;
        }
        let html_type = self.header("content-type").is_some_and(|kind| kind.contains("html"));
        let head: String = body.chars().take(512).collect::<String>().to_ascii_lowercase();
        html_type || head.starts_with("<!doctype html") || head.contains("<html") || head.contains("<head")
    }
}

/// Why no answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// Nothing, or not all, within the time of one attempt.
    Timeout,
    /// No connection.
    Connect,
    /// The certificate was not accepted.
    Certificate,
    /// The connection broke before the answer was whole.
    Broken,
    /// The answer was larger than is read.
    TooLarge,
    /// The request could not be made.
    Unsendable,
}

/// A request without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportError {
    /// What happened.
    pub kind: TransportKind,
    /// In words, without secrets.
    pub message: String,
}
