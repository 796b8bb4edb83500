//! The client of an S3-compatible server, and a probe for what we need of it.

use super::location::S3Location;
use crate::tls;
use anyhow::anyhow;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use object_store::path::Path as Name;
use object_store::prefix::PrefixStore;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    RetryConfig,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the server may send nothing, while it receives a part of a file or sends one.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// Creates a client. Credentials come from the usual variables, such as `AWS_ACCESS_KEY_ID`.
pub(super) fn connect(location: &S3Location) -> anyhow::Result<Arc<dyn ObjectStore>> {
    tls::install_provider();
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(&location.bucket)
        // A failure reaches the caller while it still waits.
        .with_retry(RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(1),
                base: 2.0,
            },
            max_retries: 2,
            retry_timeout: Duration::from_secs(5),
        })
        // Every server can delete one object at a time.
        .with_disable_bulk_delete(true);
    if let Some(endpoint) = &location.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = &location.region {
        builder = builder.with_region(region);
    }
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
    let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
    let options = ClientOptions::new()
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_read_timeout(READ_TIMEOUT)
        .with_allow_http(is_plain)
        // The certificates of the system are not needed then, and may be missing.
        .with_no_system_certificates(is_plain);
    let builder = builder.with_client_options(options);
    let store = builder.build().map_err(|error| {
        anyhow!(
            "could not use the blob store {location} ({}); check blobs_url",
            summarize(&error)
        )
    })?;
    if location.prefix.is_empty() {
        Ok(Arc::new(store))
    } else {
        Ok(Arc::new(PrefixStore::new(store, location.prefix.as_str())))
    }
}

/// Checks that the bucket can be written and that conditional writes work, which some servers ignore.
pub(super) async fn probe(store: &dyn ObjectStore, location: &S3Location) -> anyhow::Result<()> {
    let name = Name::from(format!("probes/{}", Uuid::now_v7().simple()));
    let create = || {
        store.put_opts(
            &name,
            PutPayload::from_static(b"probe"),
            PutOptions::from(PutMode::Create),
        )
    };
    let probe = async {
        create().await.map_err(|error| explain(location, &error))?;
        let second = create().await;
        let removed = store.delete(&name).await;
        match second {
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Ok(_) => {
                return Err(anyhow!(
                    "the blob store {location} ignores If-None-Match and would overwrite blobs; \
                     use an S3-compatible server that supports conditional writes"
                ));
            }
            Err(error) => return Err(explain(location, &error)),
        }
        removed.map_err(|error| explain(location, &error))
    };
    timeout(PROBE_TIMEOUT, probe).await.unwrap_or_else(|_| {
        Err(anyhow::Error::new(BlobStoreAway(format!(
            "the blob store {location} does not respond; check the endpoint, the network and the credentials"
        ))))
    })
}

/// A blob store that does not respond, and may do so later. One that refuses what it is asked is misconfigured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BlobStoreAway(String);

/// Says what is wrong with a bucket and what to do.
fn explain(location: &S3Location, error: &Error) -> anyhow::Error {
    let reason = summarize(error);
    if reason == "NoSuchBucket" || matches!(error, Error::NotFound { .. }) {
        anyhow!("the bucket of the blob store {location} does not exist; create it, or correct blobs_url")
    } else if matches!(
        error,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
    ) {
        anyhow!(
            "the blob store {location} refused the credentials ({reason}); set AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY to those of a user who may read, write, list and delete in the bucket"
        )
    } else {
        anyhow::Error::new(BlobStoreAway(format!(
            "could not write to the blob store {location} ({reason}); check that it runs, and its endpoint and region"
        )))
    }
}

/// Returns the code in the response of a server, or else the innermost cause of an error. Errors have whole responses in
/// their text.
pub(crate) fn summarize(error: &Error) -> String {
    let text = error.to_string();
    let code = text
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"));
    if let Some((code, _)) = code {
        return code.to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_summarized_in_one_line() {
        let error = |text: &str| Error::Generic {
            store: "S3",
            source: text.into(),
        };
        let response =
            "404 Not Found: <?xml?>\n<Error><Code>NoSuchBucket</Code><Message>No</Message></Error>";
        assert_eq!(summarize(&error(response)), "NoSuchBucket");
        assert_eq!(summarize(&error("connection\n refused")), "connection refused");
    }
}
