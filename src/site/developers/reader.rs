//! The reader of the documentation: samples contain the reader's own public key.

use super::samples::PUBLIC_KEY;
use crate::app::App;
use crate::http::session;
use crate::web::{Page, PublicPage};
use access::keys::{State, store};
use askama::Template;
use axum::http::header::{CACHE_CONTROL, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};

/// Who reads a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reader {
    Visitor,
    /// Signed in, but without a public key that works.
    WithoutKey,
    /// Signed in, with this public key.
    WithKey(String),
}

impl Reader {
    /// Finds out who sent a request. The documentation is readable without the database: a reader whose session cannot be
    /// looked up is a visitor.
    pub async fn find(app: &App, headers: &HeaderMap) -> Reader {
        let Ok(Some(user)) = session::find(app, headers).await else {
            return Reader::Visitor;
        };
        let Ok(keys) = store::list(&app.db, Some(&user.username)).await else {
            return Reader::WithoutKey;
        };
        let now = app.clock.millis();
        let usable = keys.into_iter().find(|key| {
            let is_public = key.public_key.is_some();
            is_public && key.ends_at.is_none() && key.state_at(now) == State::Active
        });
        usable
            .and_then(|key| key.public_key)
            .map_or(Reader::WithoutKey, Reader::WithKey)
    }

    /// Returns the key, or nothing.
    pub fn key(&self) -> &str {
        match self {
            Reader::WithKey(key) => key,
            Reader::Visitor | Reader::WithoutKey => "",
        }
    }

    /// Writes the key into samples.
    pub(super) fn fill(&self, html: &str) -> String {
        match self {
            Reader::WithKey(key) => html.replace(PUBLIC_KEY, key),
            Reader::Visitor | Reader::WithoutKey => html.to_owned(),
        }
    }

    /// Returns a page, and how long caches may keep it: one with a key belongs to one reader.
    pub fn respond(&self, page: impl Template) -> Response {
        let mut response = match self {
            Reader::Visitor => PublicPage(page).into_response(),
            Reader::WithoutKey | Reader::WithKey(_) => {
                let policy = HeaderValue::from_static("private, no-cache");
                ([(CACHE_CONTROL, policy)], Page(page)).into_response()
            }
        };
        let headers = response.headers_mut();
        headers.insert(VARY, HeaderValue::from_static("Cookie"));
        response
    }
}
