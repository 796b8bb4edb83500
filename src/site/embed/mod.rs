//! Scripts for other sites: a donate button and a search box, each of which replaces a plain link.

pub mod pages;

use crate::http::cache::IfNoneMatch;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::texts::PUBLIC_EN;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::LazyLock;

struct Script {
    name: &'static str,
    content: String,
    tag: HeaderValue,
}

impl Script {
    fn new(name: &'static str, content: &str, texts: &serde_json::Value) -> Script {
        let content = content.replacen("__TEXTS__", &texts.to_string(), 1);
        let tag = format!("\"{:08x}\"", crc32fast::hash(content.as_bytes()));
        Script {
            name,
            content,
            tag: HeaderValue::try_from(tag).expect("a number is ASCII"),
        }
    }
}

static SCRIPTS: LazyLock<[Script; 2]> = LazyLock::new(|| {
    let (embed, search) = (&PUBLIC_EN.embed, &PUBLIC_EN.search);
    let button = json!({ "give": PUBLIC_EN.give.button, "other": embed.other_amount });
    let search = json!({
        "label": embed.search_label,
        "submit": search.submit,
        "list": search.list,
        "none": search.none,
        "one": search.one,
        "many": search.many,
    });
    [
        Script::new(
            "button.js",
            include_str!("../../../assets/embed/button.js"),
            &button,
        ),
        Script::new(
            "search.js",
            include_str!("../../../assets/embed/search.js"),
            &search,
        ),
    ]
});

/// `GET /embed/{script}`. Its URL never changes, so caches must revalidate it after an hour.
pub async fn script(PathText(name): PathText, if_none_match: IfNoneMatch) -> Result<Response> {
    let script = SCRIPTS.iter().find(|script| script.name == name);
    let script = script.ok_or(Error::NotFound)?;
    let headers = [
        (CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=3600"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    let mut response = if if_none_match.matches(&script.tag) {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, script.content.as_str()).into_response()
    };
    response.headers_mut().insert(ETAG, script.tag.clone());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_small_and_work_under_a_strict_content_security_policy() {
        for script in SCRIPTS.iter() {
            assert!(
                script.content.len() < 10_000,
                "{}: {}",
                script.name,
                script.content.len()
            );
            for forbidden in [
                "__TEXTS__",
                "eval(",
                "innerHTML",
                "document.write",
                "cookie =",
                ".style",
                "<style",
                "new Function",
                "localStorage",
            ] {
                assert!(
                    !script.content.contains(forbidden),
                    "{} in {}",
                    forbidden,
                    script.name
                );
            }
        }
    }
}
