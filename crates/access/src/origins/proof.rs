//! Proofs that an origin belongs to the account that registered it: a token in a file of the site, or in a TXT record of
//! its domain.

use super::origin::Origin;
use platform::outbound::addresses::AddressPolicy;
use platform::outbound::txt::{self, LookupError};
use platform::outbound::{FetchError, Location, fetch};
use std::net::SocketAddr;
use thiserror::Error;

/// The path of the file with the token.
pub(crate) const FILE_PATH: &str = "/.well-known/causeway.txt";
/// The label of the TXT record under the host of the origin.
const RECORD_LABEL: &str = "_causeway";
const RECORD_PREFIX: &str = "causeway-verification=";

/// Looks for proofs.
#[derive(Clone, Copy, Debug)]
pub struct Prover {
    pub policy: AddressPolicy,
    /// The name server, or `None` for that of the system.
    pub dns_server: Option<SocketAddr>,
}

/// The token was found in neither place.
#[derive(Debug, Error)]
#[error("We did not find the token. The file: {file}. The DNS record: {record}.")]
pub struct NotProven {
    file: FileError,
    record: RecordError,
}

#[derive(Debug, Error)]
enum FileError {
    #[error("it does not contain the token")]
    NoToken,
    #[error(transparent)]
    Fetch(#[from] FetchError),
}

#[derive(Debug, Error)]
enum RecordError {
    #[error("no record contains the token")]
    NoToken,
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

/// Returns the URL of the file that may contain the token.
pub fn file_url(origin: &Origin) -> String {
    format!("{origin}{FILE_PATH}")
}

/// Returns the name and the value of the TXT record that may contain the token.
pub fn record(origin: &Origin, token: &str) -> (String, String) {
    let (_, host, _) = origin.parts();
    (
        format!("{RECORD_LABEL}.{host}"),
        format!("{RECORD_PREFIX}{token}"),
    )
}

impl Prover {
    /// Looks for a token at an origin.
    pub async fn prove(self, origin: &Origin, token: &str) -> Result<(), NotProven> {
        let (file, record) = tokio::join!(self.find_file(origin, token), self.find_record(origin, token));
        match (file, record) {
            (Err(file), Err(record)) => Err(NotProven { file, record }),
            _ => Ok(()),
        }
    }

    async fn find_file(self, origin: &Origin, token: &str) -> Result<(), FileError> {
        let (is_https, host, port) = origin.parts();
        let location = Location {
            is_https,
            host,
            port,
            path: FILE_PATH,
        };
        let content = fetch(location, self.policy).await?;
        let content = String::from_utf8_lossy(&content);
        let is_found = content.lines().any(|line| line.trim() == token);
        is_found.then_some(()).ok_or(FileError::NoToken)
    }

    /// Looks at the label below the host, and at the host itself.
    async fn find_record(self, origin: &Origin, token: &str) -> Result<(), RecordError> {
        let (_, host, _) = origin.parts();
        let (name, value) = record(origin, token);
        let (below, own) = tokio::join!(
            txt::lookup(self.dns_server, &name),
            txt::lookup(self.dns_server, host)
        );
        let has_value = |records: &Vec<String>| records.iter().any(|record| record.trim() == value);
        match (below, own) {
            (Ok(records), _) | (_, Ok(records)) if has_value(&records) => Ok(()),
            (Ok(_), _) | (_, Ok(_)) => Err(RecordError::NoToken),
            (Err(error), Err(_)) => Err(error.into()),
        }
    }
}
