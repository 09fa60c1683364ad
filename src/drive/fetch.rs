//! Downloads a file, and goes on with one that broke off.

use std::error::Error as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, RANGE};
use url::Url;

/// Longest silence of a server.
const SILENCE: Duration = Duration::from_secs(60);
/// Longest time for a connection to come up.
const CONNECT: Duration = Duration::from_secs(15);
/// Redirects followed. A file host hands over to its storage under another name; no key is ever sent.
const REDIRECTS: usize = 10;
/// Tries of one file, each going on where the last broke off.
const TRIES: u32 = 4;

/// Why a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
    /// The server said no.
    #[error("{url}: the server answered {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// Its answer.
        status: u16,
    },
    /// The connection failed or broke off, every time.
    #[error("{url}: {why} (tried {TRIES} times; the same command goes on from here)")]
    Broken {
        /// What was asked for.
        url: String,
        /// What went wrong the last time.
        why: String,
    },
    /// The disk said no.
    #[error("{}: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the disk said.
        source: std::io::Error,
    },
}

/// Downloads files.
pub struct Fetcher {
    http: reqwest::Client,
}

/// How one try ended.
enum Try {
    Whole,
    /// Why it broke off.
    Broken(String),
    /// What is there cannot be gone on with.
    StartOver,
}

impl Fetcher {
    /// A fetcher for URLs below `base`.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(base: &Url) -> Result<Self, FetchError> {
        // An error means that a provider is installed already, which is what is wanted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let local = match base.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        let builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("auditor/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT)
                .read_timeout(SILENCE)
                .redirect(reqwest::redirect::Policy::limited(REDIRECTS));
            // Proxies of the environment hold, but never for this machine itself.
            if local { builder.no_proxy() } else { builder }
        };
        // A container without root certificates can still fetch over plain http.
        let built = if base.scheme() == "http" {
            builder().build().or_else(|_| builder().tls_certs_only([]).build())
        } else {
            builder().build()
        };
        built
            .map(|http| Self { http })
            .map_err(|error| FetchError::Setup(words(error)))
    }

    /// Downloads `url` to `path`, by way of `path` with `.part` behind it: what is there already is gone on
    /// with. `progress` is told the bytes there are and, when the server says, the bytes there will be.
    ///
    /// # Errors
    /// A [`FetchError`]; what came so far stays in the `.part` file.
    pub async fn fetch(
        &self,
        url: &Url,
        path: &Path,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<(), FetchError> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let mut why = String::new();
        for number in 0..TRIES {
            if number > 0 {
                tokio::time::sleep(Duration::from_millis(500) * number).await;
            }
            match self.once(url, &part, progress).await? {
                Try::Whole => return std::fs::rename(&part, path).map_err(disk(path)),
                Try::Broken(reason) => why = reason,
                Try::StartOver => {
                    std::fs::remove_file(&part).map_err(disk(&part))?;
                    "what was there already could not be gone on with".clone_into(&mut why);
                }
            }
        }
        Err(FetchError::Broken {
            url: url.to_string(),
            why,
        })
    }

    async fn once(
        &self,
        url: &Url,
        part: &Path,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Try, FetchError> {
        let have = std::fs::metadata(part).map_or(0, |found| found.len());
        let mut request = self.http.get(url.clone());
        if have > 0 {
            request = request.header(RANGE, format!("bytes={have}-"));
        }
        let mut response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Ok(Try::Broken(words(error))),
        };
        let range = response
            .headers()
            .get(CONTENT_RANGE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let (mut file, mut bytes) = match response.status() {
            StatusCode::OK => (File::create(part).map_err(disk(part))?, 0),
            StatusCode::PARTIAL_CONTENT if range.as_deref().and_then(first_byte) == Some(have) => {
                (OpenOptions::new().append(true).open(part).map_err(disk(part))?, have)
            }
            StatusCode::PARTIAL_CONTENT => return Ok(Try::StartOver),
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let total = range
                    .as_deref()
                    .and_then(|range| range.rsplit_once('/')?.1.parse().ok());
                return Ok(if total == Some(have) {
                    Try::Whole
                } else {
                    Try::StartOver
                });
            }
            status if status.is_server_error() => return Ok(Try::Broken(format!("the server answered {status}"))),
            status => {
                return Err(FetchError::Status {
                    url: url.to_string(),
                    status: status.as_u16(),
                });
            }
        };
        let total = response.content_length().map(|rest| rest + bytes);
        loop {
            progress(bytes, total);
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    file.write_all(&chunk).map_err(disk(part))?;
                    bytes += chunk.len() as u64;
                }
                Ok(None) => break,
                Err(error) => return Ok(Try::Broken(words(error))),
            }
        }
        file.sync_all().map_err(disk(part))?;
        Ok(match total {
            Some(total) if total != bytes => Try::Broken(format!("it broke off at {bytes} of {total} bytes")),
            _ => Try::Whole,
        })
    }
}

/// First byte of a `Content-Range: bytes FIRST-LAST/TOTAL`.
fn first_byte(range: &str) -> Option<u64> {
    range
        .trim()
        .strip_prefix("bytes")?
        .trim_start()
        .split_once('-')?
        .0
        .parse()
        .ok()
}

fn disk(path: &Path) -> impl FnOnce(std::io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Disk { path, source }
}

/// An error with its sources, without the URL, which the message names already.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(first_byte("bytes 200-1000/67589"), Some(200));
        assert_eq!(first_byte("bytes */67589"), None);
        assert_eq!(first_byte("items 0-5/7"), None);
    }
}
