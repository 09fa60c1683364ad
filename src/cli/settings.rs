//! Settings as resolved: flags over environment over `.env` in the working directory.

use std::collections::BTreeMap;

/// Where a value came from, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Flag,
    Environment,
    DotEnv,
}

/// Name → value of a `.env` in the working directory; empty when there is none.
pub(super) fn dot_env() -> anyhow::Result<BTreeMap<String, String>> {
    match dotenvy::from_path_iter(".env") {
        Ok(pairs) => pairs
            .map(|pair| pair.map_err(|error| anyhow::anyhow!(".env: {error}")))
            .collect(),
        Err(error) if error.not_found() => Ok(BTreeMap::new()),
        Err(error) => Err(anyhow::anyhow!(".env: {error}")),
    }
}

/// The endpoint a chat judge is asked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// As given; OpenAI's own when nothing was given.
    pub(super) base_url: String,
    /// The base URL was stated somewhere.
    pub(super) stated: bool,
    /// The key that goes there, and the name of the variable that held it.
    pub(super) key: Option<(String, String)>,
}

/// OpenAI's base URL, used when none is given.
pub(super) const OPENAI: &str = "https://api.openai.com/v1";

fn non_empty(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}

/// Base URL and key. A key goes only where it was configured to go: one from the environment goes
/// to a base URL from a flag or the environment, or to OpenAI; a URL that stands in `.env` gets only
/// a key from that same file, and a key that stands in `.env` beside a URL goes only to that URL.
pub(super) fn endpoint(
    flag: Option<&str>,
    env: impl Fn(&str) -> Option<String>,
    file: &BTreeMap<String, String>,
) -> Endpoint {
    let env = |name: &str| non_empty(env(name));
    let of_file = |name: &str| non_empty(file.get(name).cloned());
    let file_url = of_file("OPENAI_BASE_URL").or_else(|| of_file("API_URL"));
    let (base_url, from) = match (flag, env("OPENAI_BASE_URL"), file_url.clone()) {
        (Some(url), ..) => (url.to_owned(), From::Flag),
        (None, Some(url), _) => (url, From::Environment),
        (None, None, Some(url)) => (url, From::DotEnv),
        (None, None, None) => (OPENAI.to_owned(), From::Environment),
    };
    let stated = flag.is_some() || env("OPENAI_BASE_URL").is_some() || file_url.is_some();
    let named = |name: &str, value: Option<String>, place: &str| value.map(|value| (value, format!("{name}{place}")));
    let from_file = || {
        named("OPENAI_API_KEY", of_file("OPENAI_API_KEY"), " in .env")
            .or_else(|| named("API_KEY", of_file("API_KEY"), " in .env"))
    };
    let key = match from {
        From::DotEnv => from_file(),
        From::Flag | From::Environment => {
            let free = file_url.is_none_or(|url| url == base_url);
            named("OPENAI_API_KEY", env("OPENAI_API_KEY"), "").or_else(|| if free { from_file() } else { None })
        }
    };
    Endpoint { base_url, stated, key }
}

/// A seed for the jitter of retries: processes that were turned away together must not come back
/// together.
pub(super) fn seed() -> u64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    u64::from(now) << 32 | u64::from(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn resolve(flag: Option<&str>, env: &[(&str, &str)], file: &[(&str, &str)]) -> (String, Option<String>) {
        let env = map(env);
        let endpoint = endpoint(flag, |name| env.get(name).cloned(), &map(file));
        (endpoint.base_url, endpoint.key.map(|(key, _)| key))
    }

    #[test]
    fn a_url_from_the_file_never_gets_a_key_from_the_environment() {
        let env = [("OPENAI_API_KEY", "secret")];
        assert_eq!(
            resolve(None, &env, &[("API_URL", "http://evil")]),
            ("http://evil".to_owned(), None)
        );
        let file = [("API_URL", "http://mine"), ("API_KEY", "own")];
        assert_eq!(
            resolve(None, &env, &file),
            ("http://mine".to_owned(), Some("own".to_owned()))
        );
        assert_eq!(
            resolve(Some("http://flag"), &env, &file),
            ("http://flag".to_owned(), Some("secret".to_owned()))
        );
        assert_eq!(
            resolve(Some("http://flag"), &[], &file),
            ("http://flag".to_owned(), None)
        );
        assert_eq!(
            resolve(Some("http://flag"), &[], &[("API_KEY", "own")]).1,
            Some("own".to_owned())
        );
        assert_eq!(resolve(None, &env, &[]), (OPENAI.to_owned(), Some("secret".to_owned())));
        assert_eq!(resolve(None, &[("OPENAI_API_KEY", "")], &[]), (OPENAI.to_owned(), None));
    }
}
