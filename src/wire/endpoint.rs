//! Base URLs in every form that people paste, and the paths that are called under them.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Which API of an OpenAI-compatible endpoint is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `…/chat/completions`.
    #[default]
    Chat,
    /// `…/responses`.
    Responses,
}

impl Api {
    /// The word used in flags and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }

    /// What is called to ask a question.
    #[must_use]
    pub fn target(self) -> Target {
        match self {
            Self::Chat => Target::Chat,
            Self::Responses => Target::Responses,
        }
    }
}

/// What is called under a base URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Chat completions.
    Chat,
    /// Responses.
    Responses,
    /// Embeddings.
    Embeddings,
    /// List of models.
    Models,
}

impl Target {
    /// The path below the base.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "chat/completions",
            Self::Responses => "responses",
            Self::Embeddings => "embeddings",
            Self::Models => "models",
        }
    }
}

/// A base URL that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Not a URL with `http` or `https`.
    #[error("base URL \"{given}\" is not an http(s) URL{hint}")]
    NotHttp {
        /// What was given.
        given: String,
        /// What was probably meant, or nothing.
        hint: String,
    },
    /// Not a URL at all.
    #[error("base URL \"{given}\" cannot be read: {why}")]
    Unreadable {
        /// What was given.
        given: String,
        /// The parser's words.
        why: String,
    },
}

/// An endpoint: a base URL, read once. Its `Debug` and `Display` show no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: Url,
    pasted: Option<Target>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.to_string()).finish()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(without_secrets(&self.base).as_str().trim_end_matches('/'))
    }
}

impl Endpoint {
    /// Reads a base URL. White space and quotes around it, slashes at its end and an endpoint path
    /// pasted in full are accepted; a query is kept; an empty path becomes `/v1` (or what the few
    /// public hosts without `/v1` use).
    ///
    /// # Errors
    /// When it is no http(s) URL.
    pub fn parse(given: &str) -> Result<Self, EndpointError> {
        let given = given.trim().trim_matches(['"', '\'']).trim();
        let not_http = |hint: String| EndpointError::NotHttp {
            given: hide_userinfo(given),
            hint,
        };
        let mut base = match Url::parse(given) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            Ok(_) | Err(url::ParseError::RelativeUrlWithoutBase) => return Err(not_http(scheme_hint(given))),
            Err(error) => {
                return Err(EndpointError::Unreadable {
                    given: hide_userinfo(given),
                    why: error.to_string(),
                });
            }
        };
        base.set_fragment(None);
        let mut segments: Vec<String> = base.path().split('/').map(str::to_owned).collect();
        segments.retain(|segment| !segment.is_empty());
        segments.dedup_by(|next, previous| next == previous && is_version(next));
        let pasted = strip_target(&mut segments);
        if segments.is_empty() && pasted.is_none() {
            segments = root_path(&base).iter().map(|segment| (*segment).to_owned()).collect();
        }
        base.set_path(&segments.join("/"));
        Ok(Self { base, pasted })
    }

    /// The URL called for `target`.
    #[must_use]
    pub fn url(&self, target: Target) -> Url {
        let path = self.base.path().trim_end_matches('/');
        let mut base = path;
        // Azure serves only chat and embeddings below a deployment; the rest one level up.
        if matches!(target, Target::Responses | Target::Models)
            && let Some((root, _)) = path.split_once("/openai/deployments/")
        {
            base = root;
            let mut url = self.base.clone();
            url.set_path(&format!("{base}/openai/{}", target.path()));
            return url;
        }
        let mut url = self.base.clone();
        url.set_path(&format!("{base}/{}", target.path()));
        url
    }

    /// The URL called for `target`, as it may be shown: without password and without the values of
    /// query parameters that look like keys.
    #[must_use]
    pub fn shown(&self, target: Target) -> String {
        without_secrets(&self.url(target)).into()
    }

    /// The API whose path was pasted in full, if one was.
    #[must_use]
    pub fn pasted_api(&self) -> Option<Api> {
        match self.pasted {
            Some(Target::Chat) => Some(Api::Chat),
            Some(Target::Responses) => Some(Api::Responses),
            _ => None,
        }
    }

    /// True for the machine itself: such calls never go through a proxy.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.base.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
            Some(Host::Ipv6(ip)) => {
                ip.is_loopback()
                    || ip.is_unspecified()
                    || ip
                        .to_ipv4_mapped()
                        .is_some_and(|ip| ip.is_loopback() || ip.is_unspecified())
            }
            None => false,
        }
    }

    /// True for hosts of Azure OpenAI, which take the key in the header `api-key`.
    #[must_use]
    pub fn is_azure(&self) -> bool {
        const SUFFIXES: [&str; 4] = [
            ".openai.azure.com",
            ".openai.azure.us",
            ".cognitiveservices.azure.com",
            ".services.ai.azure.com",
        ];
        let host = self.base.host_str().unwrap_or_default();
        SUFFIXES.iter().any(|suffix| host.ends_with(suffix))
    }

    /// True for OpenAI's own host.
    #[must_use]
    pub fn is_openai(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    /// True when the URL is called over TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// The other form of the base URL that is worth a try when this one answers 404.
    #[must_use]
    pub fn other_form(&self) -> String {
        let mut other = without_secrets(&self.base);
        let path = self.base.path().trim_end_matches('/').to_owned();
        if path.contains("/openai/deployments/") {
            return if self.base.query_pairs().any(|(name, _)| name == "api-version") {
                "check the deployment's name and its api-version".to_owned()
            } else {
                other.set_query(Some("api-version=2024-10-21"));
                format!("try --base-url {other}")
            };
        }
        match path.rsplit_once('/') {
            Some((head, last)) if is_version(last) => {
                other.set_path(&format!("{head}/{}", Target::Chat.path()));
            }
            _ => other.set_path(&format!("{path}/v1")),
        }
        format!("try --base-url {other}")
    }

    /// What of the URL must never be shown.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets: Vec<String> = self.base.password().map(str::to_owned).into_iter().collect();
        for (name, value) in self.base.query_pairs() {
            if is_secret_name(&name) {
                secrets.push(value.into_owned());
            }
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

/// `v1`, `v10`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    let mut chars = segment.chars();
    chars.next().is_some_and(|c| c.eq_ignore_ascii_case(&'v')) && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// Takes an endpoint's own path off the end, once.
fn strip_target(segments: &mut Vec<String>) -> Option<Target> {
    let words: Vec<String> = segments.iter().map(|segment| segment.to_ascii_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (drop, target) = match words.as_slice() {
        [.., "chat", "completions"] => (2, Target::Chat),
        [.., "responses"] => (1, Target::Responses),
        [.., "embeddings"] => (1, Target::Embeddings),
        // Azure's model inference has its base at `/models`, so only a versioned one is an endpoint.
        [.., version, "models"] if is_version(version) => (1, Target::Models),
        [.., version, "chat" | "completions"] if is_version(version) => (1, Target::Chat),
        _ => return None,
    };
    segments.truncate(segments.len().saturating_sub(drop));
    Some(target)
}

/// What a bare host stands for. `/v1` is the rule; the exceptions have no `/v1` at all (their
/// documentation of 2025).
fn root_path(base: &Url) -> &'static [&'static str] {
    let host = base.host_str().unwrap_or_default();
    if host.ends_with(".openai.azure.com") {
        return &["openai", "v1"];
    }
    match host {
        "generativelanguage.googleapis.com" => &["v1beta", "openai"],
        "openrouter.ai" => &["api", "v1"],
        "api.groq.com" => &["openai", "v1"],
        _ => &["v1"],
    }
}

fn scheme_hint(given: &str) -> String {
    if given.is_empty() {
        return "; it is empty".to_owned();
    }
    let rest = given.split_once("://").map_or(given, |(_, rest)| rest);
    let candidate = format!("https://{rest}");
    match Url::parse(&candidate) {
        Ok(url)
            if url
                .host_str()
                .is_some_and(|host| host.contains(['.', ':']) || host == "localhost") =>
        {
            let local = Endpoint {
                base: url,
                pasted: None,
            };
            let scheme = if local.is_loopback() { "http" } else { "https" };
            format!("; did you mean {scheme}://{}?", hide_userinfo(rest))
        }
        _ => String::new(),
    }
}

/// A text that may be a URL, without what stands before its `@`.
fn hide_userinfo(given: &str) -> String {
    let (scheme, rest) = given.split_once("://").map_or(("", given), |(s, r)| (s, r));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let tail = tail.split_once('?').map_or(tail, |(path, _)| path);
    if scheme.is_empty() {
        format!("{authority}{tail}")
    } else {
        format!("{scheme}://{authority}{tail}")
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "sig", "password", "code", "auth"]
        .iter()
        .any(|word| name.contains(word))
}

fn without_secrets(url: &Url) -> Url {
    let mut shown = url.clone();
    // Both setters fail only for URLs without a host, which `parse` does not let through.
    if !url.username().is_empty() || url.password().is_some() {
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
    }
    if url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(name, value)| {
                let value = if is_secret_name(&name) {
                    "redacted".to_owned()
                } else {
                    value.into_owned()
                };
                (name.into_owned(), value)
            })
            .collect();
        shown.query_pairs_mut().clear().extend_pairs(pairs);
    }
    shown
}

#[cfg(test)]
mod tests;
