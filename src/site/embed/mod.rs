//! Scripts for other sites: a donate button, a search box and the thermometer of a fundraiser, each of which replaces a
//! plain link.

pub mod data;
pub mod pages;

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::config::AccentColor;
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

/// The file of the donate button.
const BUTTON: &str = "button.js";

/// A script that other sites load.
struct Script {
    content: String,
    tag: HeaderValue,
}

impl Script {
    /// Fills in the texts and the colors of this site.
    fn new(content: &str, texts: &serde_json::Value, colors: &AccentColor) -> Script {
        let content = content
            .replacen("__TEXTS__", &texts.to_string(), 1)
            .replace("__LIGHT__", colors.light_css().trim_end())
            .replace("__DARK__", colors.dark_css().trim_end());
        let tag = format!("W/\"{:08x}\"", crc32fast::hash(content.as_bytes()));
        Script {
            content,
            tag: HeaderValue::try_from(tag).expect("a number is ASCII"),
        }
    }

    /// Finds a script by the name of its file.
    fn find(name: &str, app: &App) -> Option<Script> {
        let (give, embed, search) = (&PUBLIC_EN.give, &PUBLIC_EN.embed, &PUBLIC_EN.search);
        let (content, texts) = match name {
            BUTTON => (
                include_str!("../../../assets/embed/button.js"),
                if app.config.giving == Provider::Off {
                    json!({ "off": true })
                } else {
                    let notice = app.is_test_mode().then_some(give.test_mode);
                    json!({
                        "give": give.button, "other": embed.other_amount, "close": embed.close, "notice": notice
                    })
                },
            ),
            "search.js" => (
                include_str!("../../../assets/embed/search.js"),
                json!({
                    "label": embed.search_label,
                    "submit": search.submit,
                    "list": search.list,
                    "none": search.none,
                    "one": search.one,
                    "many": search.many,
                }),
            ),
            "thermometer.js" => (
                include_str!("../../../assets/embed/thermometer.js"),
                json!({ "give": give.button, "label": PUBLIC_EN.fundraiser.raised_title }),
            ),
            _ => return None,
        };
        let colors = app.config.site.accent_color.clone().unwrap_or_default();
        Some(Script::new(content, &texts, &colors))
    }
}

/// `GET /embed/{script}`. Its URL never changes, so caches must revalidate it after an hour.
pub async fn script(
    State(app): State<App>,
    PathText(name): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let script = Script::find(&name, &app).ok_or(Error::NotFound)?;
    let headers = headers("text/javascript; charset=utf-8");
    let mut response = if if_none_match.matches(&script.tag) {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, CompressibleText::once(script.content)).into_response()
    };
    response.headers_mut().insert(ETAG, script.tag);
    Ok(response)
}

/// `GET /{version}/button.js`: where pages load the button of the hosted service from.
pub async fn former_button(
    app: State<App>,
    PathText(version): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_version {
        return Err(Error::NotFound);
    }
    script(app, PathText(BUTTON.to_owned()), if_none_match).await
}

/// `GET /embed/theme/{color}.css`: the colors of a donation form whose link chooses one.
pub async fn theme(PathText(file): PathText) -> Result<Response> {
    let color = file.strip_suffix(".css").ok_or(Error::NotFound)?;
    let color = AccentColor::parse(&format!("#{color}")).map_err(|_| Error::NotFound)?;
    Ok((headers("text/css; charset=utf-8"), color.css()).into_response())
}

fn headers(content_type: &'static str) -> [(HeaderName, &'static str); 5] {
    [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "public, max-age=3600"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn scripts_are_small_and_work_under_a_strict_content_security_policy() {
        for script in [
            include_str!("../../../assets/embed/button.js"),
            include_str!("../../../assets/embed/search.js"),
            include_str!("../../../assets/embed/thermometer.js"),
        ] {
            assert!(script.len() < 9_500, "{}", script.len());
            for forbidden in [
                "eval(",
                "innerHTML",
                "document.write",
                "cookie =",
                ".style",
                "<style",
                "new Function",
                "localStorage",
            ] {
                assert!(!script.contains(forbidden), "{forbidden}");
            }
        }
    }
}
