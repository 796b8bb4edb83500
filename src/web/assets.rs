//! The stylesheet, scripts and icon of the site, compiled into the binary.
//!
//! The URL of an asset contains a hash of its content, so browsers can cache it forever. A URL with an outdated hash,
//! from a page rendered by another version of the server, returns the current asset but must be revalidated.

use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $media_type:literal) => {
        Asset {
            name: $name,
            media_type: $media_type,
            content: include_bytes!(concat!("../../assets/", $name)),
        }
    };
}

/// One stylesheet for browsers, in parts for us. The order matters: later rules win.
const STYLESHEET: &str = concat!(
    include_str!("../../assets/styles/tokens.css"),
    include_str!("../../assets/styles/base.css"),
    include_str!("../../assets/styles/layout.css"),
    include_str!("../../assets/styles/components.css"),
    include_str!("../../assets/styles/search.css"),
    include_str!("../../assets/styles/giving.css"),
    include_str!("../../assets/styles/profile.css"),
    include_str!("../../assets/styles/embed.css"),
    include_str!("../../assets/styles/dashboard.css"),
    include_str!("../../assets/styles/developers.css"),
    include_str!("../../assets/styles/media.css"),
);

const ASSETS: &[Asset] = &[
    Asset {
        name: "causeway.css",
        media_type: "text/css; charset=utf-8",
        content: STYLESHEET.as_bytes(),
    },
    asset!("causeway.js", "text/javascript; charset=utf-8"),
    asset!("developers.js", "text/javascript; charset=utf-8"),
    asset!("search.js", "text/javascript; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
];

static URLS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let url = |asset: &Asset| {
        let (stem, extension) = asset.name.rsplit_once('.').expect("every asset has an extension");
        format!(
            "/assets/{stem}-{:08x}.{extension}",
            crc32fast::hash(asset.content)
        )
    };
    ASSETS.iter().map(url).collect()
});

/// Returns the URL of an asset.
///
/// # Panics
///
/// Panics if there is no asset of this name: templates only name assets in `ASSETS`.
pub fn url(name: &str) -> &'static str {
    let index = ASSETS.iter().position(|asset| asset.name == name);
    &URLS[index.expect("templates name existing assets")]
}

/// `GET /assets/{stem}-{hash}.{extension}`
pub async fn asset(PathText(file): PathText) -> Result<Response> {
    let name = without_hash(&file).ok_or(Error::NotFound)?;
    let index = ASSETS.iter().position(|asset| asset.name == name);
    let index = index.ok_or(Error::NotFound)?;
    let is_current = URLS[index].ends_with(&file);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(ASSETS[index].media_type)),
        (CACHE_CONTROL, if is_current { IMMUTABLE } else { REVALIDATE }),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, ASSETS[index].content).into_response())
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
    fn the_url_of_an_asset_contains_the_hash_of_its_content() {
        for asset in ASSETS {
            let file = url(asset.name).strip_prefix("/assets/").unwrap();
            assert_eq!(without_hash(file).unwrap(), asset.name);
            assert!(file.contains(&format!("{:08x}", crc32fast::hash(asset.content))));
        }
        assert_eq!(without_hash("causeway.css"), None);
        assert_eq!(without_hash("x"), None);
    }
}
