//! Where blobs are stored: a folder, or a bucket of an S3-compatible server.

use anyhow::{Context, bail};
use reqwest::Url;
use std::fmt;
use std::path::{Path, PathBuf};

/// The location of a blob store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobsLocation {
    Folder(PathBuf),
    S3(S3Location),
}

/// A bucket, and the prefix of the names in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Location {
    pub bucket: String,
    /// Without a slash at either end. Empty for the whole bucket.
    pub prefix: String,
    /// `None` for Amazon's own, or what `AWS_ENDPOINT_URL` says.
    pub endpoint: Option<String>,
    pub region: Option<String>,
}

impl BlobsLocation {
    /// Parses a URL, as in the setting `blobs_url`: `file:///folder` or `s3://bucket/prefix?endpoint=…&region=…`.
    pub(crate) fn parse_url(text: &str) -> anyhow::Result<BlobsLocation> {
        if text.starts_with("s3://") {
            return S3Location::parse(text).map(BlobsLocation::S3);
        }
        match text.strip_prefix("file://").map(Path::new) {
            Some(folder) if folder.is_absolute() => Ok(BlobsLocation::Folder(folder.to_owned())),
            _ => bail!(
                "{text:?} is not the URL of a blob store; write file:///folder, or s3://bucket/prefix?endpoint=…&region=…"
            ),
        }
    }

    /// Parses a URL or the path of a folder, as on the command line.
    pub fn parse(text: &str) -> anyhow::Result<BlobsLocation> {
        if text.contains("://") {
            BlobsLocation::parse_url(text)
        } else if text.is_empty() {
            bail!("the location of a blob store is empty; write a folder, or s3://bucket/prefix")
        } else {
            let folder = std::path::absolute(text).with_context(|| format!("{text:?} is not a folder"))?;
            Ok(BlobsLocation::Folder(folder))
        }
    }
}

impl S3Location {
    fn parse(text: &str) -> anyhow::Result<S3Location> {
        let url = Url::parse(text).with_context(|| {
            format!("{text:?} is not a URL; write s3://bucket/prefix?endpoint=https://host&region=name")
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            bail!(
                "the URL of a bucket contains credentials; remove them, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            );
        }
        if url.port().is_some() || url.fragment().is_some() {
            bail!("{text:?} is not the URL of a bucket; name the server as in ?endpoint=http://host:port");
        }
        let bucket = url.host_str().unwrap_or_default();
        if bucket.is_empty() {
            bail!("{text:?} names no bucket; write s3://bucket/prefix");
        }
        let mut location = S3Location {
            bucket: bucket.to_owned(),
            prefix: url.path().trim_matches('/').to_owned(),
            endpoint: None,
            region: None,
        };
        for (name, value) in url.query_pairs() {
            let value = Some(value.into_owned()).filter(|value| !value.is_empty());
            match name.as_ref() {
                "endpoint" => location.endpoint = value,
                "region" => location.region = value,
                other => bail!("{text:?} has the unknown parameter {other}; use endpoint and region"),
            }
        }
        if let Some(endpoint) = &location.endpoint
            && !endpoint.starts_with("http://")
            && !endpoint.starts_with("https://")
        {
            bail!(
                "the endpoint {endpoint:?} is not a URL; write endpoint=https://host or endpoint=http://host:port"
            );
        }
        Ok(location)
    }
}

impl fmt::Display for BlobsLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlobsLocation::Folder(folder) => folder.display().fmt(f),
            BlobsLocation::S3(location) => location.fmt(f),
        }
    }
}

impl fmt::Display for S3Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.bucket)?;
        if !self.prefix.is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_a_prefix_an_endpoint_and_a_region() {
        let url = "s3://Pictures/causeway/live/?endpoint=http://127.0.0.1:9000&region=eu-central-1";
        let location = BlobsLocation::parse_url(url).unwrap();
        assert_eq!(
            location,
            BlobsLocation::S3(S3Location {
                bucket: "Pictures".to_owned(),
                prefix: "causeway/live".to_owned(),
                endpoint: Some("http://127.0.0.1:9000".to_owned()),
                region: Some("eu-central-1".to_owned()),
            })
        );
        assert_eq!(
            location.to_string(),
            "s3://Pictures/causeway/live at http://127.0.0.1:9000"
        );
        let BlobsLocation::S3(short) = BlobsLocation::parse_url("s3://pictures").unwrap() else {
            panic!("not a bucket");
        };
        assert_eq!(
            (short.prefix.as_str(), short.endpoint, short.region),
            ("", None, None)
        );
    }

    #[test]
    fn what_is_not_a_location_is_refused_with_advice() {
        for text in [
            "",
            "file://folder",
            "gs://bucket",
            "s3://",
            "s3:///prefix",
            "s3://bucket:9000/prefix",
            "s3://key:secret@bucket/prefix",
            "s3://bucket?endpoint=127.0.0.1:9000",
            "s3://bucket?endpont=http://127.0.0.1:9000",
        ] {
            let error = BlobsLocation::parse_url(text).unwrap_err().to_string();
            assert!(error.contains("; "), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_path_is_a_folder_on_the_command_line_only() {
        assert_eq!(
            BlobsLocation::parse("/srv/blobs").unwrap(),
            BlobsLocation::Folder("/srv/blobs".into())
        );
        assert!(
            matches!(BlobsLocation::parse("blobs").unwrap(), BlobsLocation::Folder(folder) if folder.is_absolute())
        );
        assert!(BlobsLocation::parse_url("/srv/blobs").is_err());
        assert!(BlobsLocation::parse("").is_err());
    }
}
