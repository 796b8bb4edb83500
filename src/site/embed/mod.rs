//! Scripts for other sites: a donate button, a search box and the thermometer of a fundraiser, each of which replaces a
//! plain link.

pub mod data;
pub mod pages;

use crate::app::App;
use crate::http::cache::IfNoneMatch;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::texts::PUBLIC_EN;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use giving::providers::Provider;
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

/// The scripts of a server that charges money, of one in test mode, and of one that does not accept donations.
static SCRIPTS: LazyLock<[[Script; 3]; 3]> = LazyLock::new(|| {
    let (give, embed) = (&PUBLIC_EN.give, &PUBLIC_EN.embed);
    [
        scripts(&json!({ "give": give.button, "other": embed.other_amount, "close": embed.close })),
        scripts(&json!({
            "give": give.button, "other": embed.other_amount, "close": embed.close, "notice": give.test_mode
        })),
        scripts(&json!({ "off": true })),
    ]
});

fn scripts(button: &serde_json::Value) -> [Script; 3] {
    let (embed, search) = (&PUBLIC_EN.embed, &PUBLIC_EN.search);
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
            button,
        ),
        Script::new(
            "search.js",
            include_str!("../../../assets/embed/search.js"),
            &search,
        ),
        Script::new(
            "thermometer.js",
            include_str!("../../../assets/embed/thermometer.js"),
            &json!({ "give": PUBLIC_EN.give.button, "label": PUBLIC_EN.fundraiser.raised_title }),
        ),
    ]
}

/// `GET /embed/{script}`. Its URL never changes, so caches must revalidate it after an hour.
pub async fn script(
    State(app): State<App>,
    PathText(name): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let [live, test, off] = &*SCRIPTS;
    let scripts = match app.config.giving {
        Provider::Off => off,
        _ if app.is_test_mode() => test,
        _ => live,
    };
    let script = scripts.iter().find(|script| script.name == name);
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
        for script in SCRIPTS.iter().flatten() {
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
