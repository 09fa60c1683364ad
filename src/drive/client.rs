//! One attempt at one request: async-openai with a service of our own below it.
//!
//! Its typed replies lose fields that endpoints leave out, and its built-in retry loses status and
//! headers of errors that are not shaped like OpenAI's. So bodies go through its `byot` calls, and
//! the service hands back whatever came (status, headers, body, or why nothing came) as one value.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::traits::RequestOptionsBuilder as _;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::{Endpoint, Exchange, Redactor, Target, TransportError, TransportKind};

/// Servers such as uvicorn close an idle connection after 5 s; a request sent into that moment is
/// lost. Ours are closed earlier.
const POOL_IDLE: Duration = Duration::from_secs(4);
/// Longest time for a connection to come up.
const CONNECT: Duration = Duration::from_secs(15);
/// Largest answer that is read, in bytes. The longest real replies are a few hundred kilobytes.
const LARGEST_BODY: usize = 32 * 1024 * 1024;
/// Redirects followed within one host.
const REDIRECTS: usize = 3;

/// A key and where it came from. Its `Debug` shows neither the key nor its length.
#[derive(Clone)]
pub struct ApiKey {
    value: SecretString,
    from: String,
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey(from {})", self.from)
    }
}

impl ApiKey {
    /// A key as read, with the name of the variable it was read from. White space around it is
    /// dropped; `None` when nothing is left.
    #[must_use]
    pub fn new(value: &str, from: impl Into<String>) -> Option<Self> {
        let value = value.trim();
        (!value.is_empty()).then(|| Self {
            value: SecretString::from(value.to_owned()),
            from: from.into(),
        })
    }

    /// Name of the variable that supplied it.
    #[must_use]
    pub fn from(&self) -> &str {
        &self.from
    }
}

/// A client that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The key has characters that no header carries.
    #[error("the key from {from} has characters that an HTTP header cannot carry")]
    Key {
        /// Variable that supplied it.
        from: String,
    },
    /// TLS, proxy settings or root certificates cannot be used.
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
}

/// Sends single requests to one endpoint.
#[derive(Clone)]
pub struct Client {
    endpoint: Endpoint,
    http: reqwest::Client,
    api: async_openai::Client<Routes>,
    redactor: Redactor,
    key_from: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.endpoint)
            .field("key_from", &self.key_from)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client whose every attempt ends within `attempt`. The key goes to this endpoint only.
    ///
    /// # Errors
    /// When the key cannot be sent, or the HTTP client cannot be set up.
    pub fn new(endpoint: Endpoint, key: Option<&ApiKey>, attempt: Duration) -> Result<Self, ClientError> {
        // An error means that a provider is installed already, which is what is wanted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = http_client(&endpoint, attempt)?;
        let routes = Routes::new(endpoint.clone(), key)?;
        let secrets = key.map(|key| key.value.expose_secret().to_owned());
        let redactor = Redactor::new(secrets.into_iter().chain(endpoint.secrets()));
        let service_http = http.clone();
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            let http = service_http.clone();
            async move {
                let request = factory.build().await?;
                Ok::<_, OpenAIError>(seal(&once(&http, request).await))
            }
        });
        // `with_config` would first build a client of its own, which panics without root certificates.
        let api = async_openai::Client::build(http.clone(), routes).with_http_service(service);
        Ok(Self {
            endpoint,
            http,
            api,
            redactor,
            key_from: key.map(|key| key.from.clone()),
        })
    }

    /// The endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Name of the variable that supplied the key.
    #[must_use]
    pub fn key_from(&self) -> Option<&str> {
        self.key_from.as_deref()
    }

    /// What removes the key from text.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Posts a JSON body, once.
    ///
    /// # Errors
    /// When no answer came; an answer with an error status is an answer.
    pub async fn post(&self, target: Target, body: &Value) -> Result<Exchange, TransportError> {
        let path = format!("/{}", target.path());
        let sent = match self.api.chat().path(path) {
            Ok(chat) => chat.create_byot::<_, Sealed>(body).await,
            Err(error) => Err(error),
        };
        match sent {
            Ok(Sealed::Answer(exchange)) => Ok(self.clean(exchange)),
            Ok(Sealed::Nothing(error)) => Err(self.clean_error(error)),
            Err(error) => Err(self.clean_error(TransportError {
                kind: TransportKind::Unsendable,
                message: match error {
                    OpenAIError::Reqwest(error) => words(error),
                    other => other.to_string(),
                },
            })),
        }
    }

    /// Gets a resource, once.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn get(&self, target: Target) -> Result<Exchange, TransportError> {
        let request = self
            .http
            .get(self.endpoint.url(target))
            .headers(self.api.config().headers.clone())
            .build();
        let outcome = match request {
            Ok(request) => once(&self.http, request).await,
            Err(error) => Err(TransportError {
                kind: TransportKind::Unsendable,
                message: words(error),
            }),
        };
        outcome
            .map(|exchange| self.clean(exchange))
            .map_err(|error| self.clean_error(error))
    }

    fn clean(&self, mut exchange: Exchange) -> Exchange {
        exchange.body = self.redactor.scrub_reply(exchange.body);
        exchange
    }

    fn clean_error(&self, mut error: TransportError) -> TransportError {
        error.message = self.redactor.scrub(&error.message);
        error
    }
}

/// Redirects stay within the host that the key was given for, and keep the request's body.
fn redirects() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
        let same_host = attempt
            .previous()
            .last()
            .is_some_and(|before| before.origin() == attempt.url().origin());
        if keeps_body && same_host && attempt.previous().len() <= REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn http_client(endpoint: &Endpoint, attempt: Duration) -> Result<reqwest::Client, ClientError> {
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("auditor/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT.min(attempt))
            .timeout(attempt)
            .pool_idle_timeout(POOL_IDLE)
            .redirect(redirects());
        // Proxies of the environment (with NO_PROXY) hold, but never for this machine itself.
        if endpoint.is_loopback() {
            builder.no_proxy()
        } else {
            builder
        }
    };
    // A container without root certificates can still call plain http.
    let without_roots = || builder().tls_certs_only([]).build();
    let built = if endpoint.is_loopback() && !endpoint.is_tls() {
        without_roots()
    } else {
        builder()
            .build()
            .or_else(|error| if endpoint.is_tls() { Err(error) } else { without_roots() })
    };
    built.map_err(|error| ClientError::Setup(words(error)))
}

/// URLs and headers for async-openai, whose own joining breaks queries and slashes.
#[derive(Clone)]
struct Routes {
    endpoint: Endpoint,
    shown: String,
    headers: HeaderMap,
    key: SecretString,
}

impl Routes {
    fn new(endpoint: Endpoint, key: Option<&ApiKey>) -> Result<Self, ClientError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let secret = key.value.expose_secret();
            // Azure takes keys in a header of its own, and tokens of its directory (JWT) as bearer.
            let is_token = secret.starts_with("eyJ") && secret.matches('.').count() == 2;
            let (name, value) = if endpoint.is_azure() && !is_token {
                (HeaderName::from_static("api-key"), secret.to_owned())
            } else {
                (AUTHORIZATION, format!("Bearer {secret}"))
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| ClientError::Key { from: key.from.clone() })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self {
            shown: endpoint.to_string(),
            endpoint,
            headers,
            key: key.map_or_else(|| SecretString::from(String::new()), |key| key.value.clone()),
        })
    }
}

impl Config for Routes {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        let path = path.trim_start_matches('/');
        let all = [Target::Chat, Target::Responses, Target::Embeddings, Target::Models];
        let target = all
            .into_iter()
            .find(|target| target.path() == path)
            .unwrap_or(Target::Chat);
        self.endpoint.url(target).into()
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.shown
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// What the service hands up through async-openai, which reads only JSON with status 200.
#[derive(Serialize, Deserialize)]
enum Sealed {
    Answer(Exchange),
    Nothing(TransportError),
}

fn seal(outcome: &Result<Exchange, TransportError>) -> reqwest::Response {
    let sealed = match outcome {
        Ok(exchange) => Sealed::Answer(exchange.clone()),
        Err(error) => Sealed::Nothing(error.clone()),
    };
    // Plain structs of strings and numbers serialise; an empty body would show as unsendable.
    let bytes = serde_json::to_vec(&sealed).unwrap_or_default();
    reqwest::Response::from(http::Response::new(reqwest::Body::from(bytes)))
}

/// One request and its whole answer.
async fn once(http: &reqwest::Client, request: reqwest::Request) -> Result<Exchange, TransportError> {
    let mut response = http.execute(request).await.map_err(transport)?;
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(transport)? {
        if body.len() + chunk.len() > LARGEST_BODY {
            return Err(TransportError {
                kind: TransportKind::TooLarge,
                message: format!("the answer is larger than {LARGEST_BODY} bytes"),
            });
        }
        body.extend_from_slice(&chunk);
    }
    let body = match String::from_utf8(body) {
        Ok(body) => body,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(Exchange { status, headers, body })
}

fn transport(error: reqwest::Error) -> TransportError {
    let connect = error.is_connect();
    let timeout = error.is_timeout();
    let builder = error.is_builder();
    let message = words(error);
    let low = message.to_lowercase();
    let kind = if low.contains("certificate") {
        TransportKind::Certificate
    } else if connect {
        TransportKind::Connect
    } else if timeout {
        TransportKind::Timeout
    } else if builder {
        TransportKind::Unsendable
    } else {
        TransportKind::Broken
    };
    TransportError { kind, message }
}

/// An error with its sources, without the URL (which may hold a key) and without repetition.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut parts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(next) = source {
        let text = next.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        source = next.source();
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(base: &str, key: &str) -> HeaderMap {
        let key = ApiKey::new(key, "OPENAI_API_KEY");
        Routes::new(Endpoint::parse(base).unwrap(), key.as_ref())
            .unwrap()
            .headers
    }

    #[test]
    fn keys_are_trimmed_sensitive_and_absent_when_empty() {
        let map = headers("https://h.example", "  sk-secret-0123456789\n");
        assert_eq!(map[AUTHORIZATION], "Bearer sk-secret-0123456789");
        assert!(map[AUTHORIZATION].is_sensitive());
        assert!(!format!("{map:?}").contains("secret"));
        assert!(headers("https://h.example", " \n").is_empty());
    }

    #[test]
    fn azure_takes_keys_in_its_own_header_and_tokens_as_bearer() {
        let map = headers("https://x.openai.azure.com/openai/v1", "k");
        assert_eq!(map["api-key"], "k");
        assert!(map["api-key"].is_sensitive() && !map.contains_key(AUTHORIZATION));
        let map = headers("https://x.openai.azure.com/openai/v1", "eyJa.b.c");
        assert_eq!(map[AUTHORIZATION], "Bearer eyJa.b.c");
    }

    #[test]
    fn a_key_that_no_header_carries_is_an_error_that_does_not_show_it() {
        let key = ApiKey::new("sk-\u{1}secret", "MY_KEY");
        let endpoint = Endpoint::parse("https://h.example").unwrap();
        let error = Client::new(endpoint, key.as_ref(), Duration::from_secs(1)).unwrap_err();
        let shown = format!("{error} {error:?} {key:?}");
        assert!(shown.contains("MY_KEY") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn a_client_shows_no_key() {
        let key = ApiKey::new("sk-hidden-0123456789", "MY_KEY");
        let endpoint = Endpoint::parse("http://me:pw@127.0.0.1/v1").unwrap();
        let client = Client::new(endpoint, key.as_ref(), Duration::from_secs(1)).unwrap();
        let shown = format!("{client:?} {:?}", client.redactor());
        assert!(!shown.contains("hidden") && !shown.contains("pw"), "{shown}");
    }
}
