//! Serves assets. A URL with an outdated hash, from a page rendered by another version of the server, returns the current
//! asset but must be revalidated.

use super::{assets, identity};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// `GET /assets/{stem}-{hash}.{extension}`
pub async fn asset(PathText(file): PathText) -> Result<Response> {
    let name = without_hash(&file).ok_or(Error::NotFound)?;
    let site = identity::current();
    let asset = site.assets().find(|asset| asset.name == name);
    let asset = asset.or_else(|| assets::find(&name)).ok_or(Error::NotFound)?;
    let is_current = asset.url().ends_with(&file);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(asset.media_type)),
        (CACHE_CONTROL, if is_current { IMMUTABLE } else { REVALIDATE }),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    if asset.is_text() {
        Ok((headers, asset.content.clone()).into_response())
    } else {
        Ok((headers, asset.content.plain().clone()).into_response())
    }
}

fn without_hash(file: &str) -> Option<String> {
    let (stem, extension) = file.rsplit_once('.')?;
    let (stem, _) = stem.rsplit_once('-')?;
    Some(format!("{stem}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_removed_from_the_name_of_a_file() {
        assert_eq!(
            without_hash("causeway-00000000.css").as_deref(),
            Some("causeway.css")
        );
        for file in ["causeway.css", "x", "-"] {
            assert_eq!(without_hash(file), None, "{file}");
        }
        let file = assets::url("search.js").strip_prefix("/assets/").unwrap();
        assert_eq!(without_hash(file).as_deref(), Some("search.js"));
    }
}
