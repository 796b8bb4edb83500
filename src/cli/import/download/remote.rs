//! Requests to the server that has the files.

use crate::config::ImportSettings;
use anyhow::{Context, anyhow};
use platform::{outbound, tls};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    LAST_MODIFIED, RANGE,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::sleep;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The number of failures in a row after which a file is given up.
pub(super) const MAX_FAILURES: u32 = 5;

/// Which version of a file a server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Version {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Version {
    pub(super) fn of(response: &Response) -> Version {
        Version {
            etag: header(response.headers(), ETAG),
            last_modified: header(response.headers(), LAST_MODIFIED),
        }
    }

    /// Returns whether both are known to be the same version.
    pub(super) fn is_same(&self, other: &Version) -> bool {
        match (&self.etag, &other.etag) {
            (Some(this), Some(other)) => this == other,
            _ => self.last_modified.is_some() && self.last_modified == other.last_modified,
        }
    }

    /// Returns what a request for a range must match, if anything can be matched. A weak entity tag does not promise that
    /// every byte is the same. <https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5>
    pub(super) fn for_range(&self) -> Option<&str> {
        let strong = self.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
        strong.or(self.last_modified.as_deref())
    }
}

/// The answer to a HEAD request.
#[derive(Debug)]
pub(super) enum Head {
    /// The server has the version that the request named.
    Unchanged,
    Found {
        version: Version,
        length: Option<u64>,
    },
    Absent,
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt may succeed.
    Temporary(String),
    Permanent(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Permanent(error)
    }
}

/// Sends requests.
#[derive(Debug)]
pub(super) struct Remote {
    client: reqwest::Client,
    retry_delay: Duration,
}

impl Remote {
    pub(super) fn new(settings: &ImportSettings) -> anyhow::Result<Remote> {
        tls::install_provider();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(outbound::tls_config())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(settings.timeout)
            .user_agent(concat!("causeway/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("could not create the client for downloads")?;
        Ok(Remote {
            client,
            retry_delay: settings.retry_delay,
        })
    }

    /// Asks which version of a file the server has. If it does not say, both version and length are unknown.
    pub(super) async fn head(&self, url: &str, known: Option<&Version>) -> anyhow::Result<Head> {
        let mut failures = 0;
        loop {
            match self.try_head(url, known).await {
                Ok(head) => return Ok(head),
                Err(failure) => self.wait_after(url, failure, &mut failures).await?,
            }
        }
    }

    async fn try_head(&self, url: &str, known: Option<&Version>) -> Result<Head, Failure> {
        let mut request = self.request(Method::HEAD, url);
        if let Some(known) = known {
            if let Some(etag) = &known.etag {
                request = request.header(IF_NONE_MATCH, etag);
            } else if let Some(date) = &known.last_modified {
                request = request.header(IF_MODIFIED_SINCE, date);
            }
        }
        let response = send(request).await?;
        match response.status() {
            StatusCode::NOT_MODIFIED if known.is_some() => Ok(Head::Unchanged),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Head::Absent),
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => Ok(Head::Found {
                version: Version::default(),
                length: None,
            }),
            StatusCode::OK => Ok(Head::Found {
                version: Version::of(&response),
                length: header(response.headers(), CONTENT_LENGTH).and_then(|length| length.parse().ok()),
            }),
            status => Err(status_failure(status)),
        }
    }

    /// Asks for a file, or for what comes after the first `offset` bytes of this version of it.
    pub(super) async fn get(&self, url: &str, range: Option<(u64, &str)>) -> Result<Response, Failure> {
        let mut request = self.request(Method::GET, url);
        if let Some((offset, version)) = range {
            request = request
                .header(RANGE, format!("bytes={offset}-"))
                .header(IF_RANGE, version);
        }
        send(request).await
    }

    fn request(&self, method: Method, url: &str) -> RequestBuilder {
        // A length that counts compressed bytes would not be the length of the file.
        self.client
            .request(method, url)
            .header(ACCEPT_ENCODING, "identity")
    }

    /// Waits before another attempt, each time twice as long. Returns an error if there were too many failures, or if
    /// another attempt is useless.
    pub(super) async fn wait_after(
        &self,
        url: &str,
        failure: Failure,
        failures: &mut u32,
    ) -> anyhow::Result<()> {
        *failures += 1;
        match failure {
            Failure::Permanent(error) => Err(error),
            Failure::Temporary(reason) if *failures >= MAX_FAILURES => Err(anyhow!(
                "cannot download {url}: {reason}; run the same command again later, and it continues from here"
            )),
            Failure::Temporary(_) => {
                sleep(self.retry_delay * 2_u32.pow(*failures - 1)).await;
                Ok(())
            }
        }
    }
}

async fn send(request: RequestBuilder) -> Result<Response, Failure> {
    request.send().await.map_err(|error| {
        if error.is_builder() {
            Failure::Permanent(anyhow!(
                "cannot download: {}; check import.irs_url and import.teos_url",
                describe(&error)
            ))
        } else {
            Failure::Temporary(describe(&error))
        }
    })
}

/// Returns the failure that a status means.
pub(super) fn status_failure(status: StatusCode) -> Failure {
    let reason = format!("the server responded with {status}");
    if status.is_server_error()
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
        )
    {
        Failure::Temporary(reason)
    } else {
        Failure::Permanent(anyhow!("{reason}; check import.irs_url and import.teos_url"))
    }
}

/// Returns an error with its causes, without the URL.
pub(super) fn describe(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&error.to_string());
        cause = error.source();
    }
    if text.is_empty() {
        "the request failed".to_owned()
    } else {
        text
    }
}

/// Returns the value of a header.
pub(super) fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
