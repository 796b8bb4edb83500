//! The stylesheet, scripts and pictures of the site, compiled in.
//!
//! An address holds a hash of the content, so a browser may keep what it got for ever. A page that was drawn by
//! another version of the server still finds its assets, but is told to ask again.

use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

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

const ASSETS: &[Asset] = &[
    asset!("causeway.css", "text/css; charset=utf-8"),
    asset!("causeway.js", "text/javascript; charset=utf-8"),
    asset!("search.js", "text/javascript; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
];

static ADDRESSES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let address = |asset: &Asset| {
        let (stem, ending) = asset.name.rsplit_once('.').expect("an asset has an ending");
        format!("/assets/{stem}-{:08x}.{ending}", crc32fast::hash(asset.content))
    };
    ASSETS.iter().map(address).collect()
});

/// The address of an asset.
pub fn address(name: &str) -> &'static str {
    let place = ASSETS.iter().position(|asset| asset.name == name);
    &ADDRESSES[place.expect("templates name assets that there are")]
}

/// `GET /assets/{stem}-{hash}.{ending}`
pub async fn asset(PathText(file): PathText) -> Result<Response> {
    let name = without_hash(&file).ok_or(Error::NotFound)?;
    let place = ASSETS.iter().position(|asset| asset.name == name);
    let place = place.ok_or(Error::NotFound)?;
    let is_current = ADDRESSES[place].ends_with(&file);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(ASSETS[place].media_type)),
        (CACHE_CONTROL, if is_current { FOR_EVER } else { ASK_AGAIN }),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, ASSETS[place].content).into_response())
}

fn without_hash(file: &str) -> Option<String> {
    let (stem, ending) = file.rsplit_once('.')?;
    let (stem, _) = stem.rsplit_once('-')?;
    Some(format!("{stem}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_an_asset_names_its_content() {
        for asset in ASSETS {
            let file = address(asset.name).strip_prefix("/assets/").unwrap();
            assert_eq!(without_hash(file).unwrap(), asset.name);
            assert!(file.contains(&format!("{:08x}", crc32fast::hash(asset.content))));
        }
        assert_eq!(without_hash("causeway.css"), None);
        assert_eq!(without_hash("x"), None);
    }
}
