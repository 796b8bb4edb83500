//! `/reconcile`: the manifest, batches of queries, and data extension.

use super::entity::{json, json_bytes, usable_view};
use super::{extend, manifest, queries};
use crate::app::App;
use crate::http::body;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::http::public_key::{PublicKey, Search};
use access::limits::call::Owner;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// `GET /reconcile`: the manifest, or the response to the queries in the URL.
pub async fn get(State(app): State<App>, RawQuery(query): RawQuery, request: Request) -> Result<Response> {
    let first = |name| values(&query, name).next().map(Cow::into_owned);
    match (first("queries"), first("extend")) {
        (None, None) => {
            let (mut parts, _) = request.into_parts();
            let key = match PublicKey::<Search>::from_request_parts(&mut parts, &app).await {
                Ok(_) => first("apiKey"),
                // Clients need the manifest to know that there are keys.
                Err(Error::MissingKey) => None,
                Err(error) => return Err(error),
            };
            Ok(json(&manifest::manifest(&app.site.urls, key.as_deref())))
        }
        (queries, extend) => answer(&app, request, queries, extend).await,
    }
}

/// `POST /reconcile`: the response to the queries in a form.
pub async fn post(State(app): State<App>, request: Request) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    let is_form = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/x-www-form-urlencoded"));
    if !is_form {
        return Err(Error::NotAForm);
    }
    // Nobody makes the server read a form without a key.
    let key = PublicKey::from_request_parts(&mut parts, &app).await?;
    let form = body::read(Request::from_parts(parts, body)).await?;
    let form = String::from_utf8_lossy(&form);
    let first = |name| values(&form, name).next().map(Cow::into_owned);
    respond(&app, &key, first("queries"), first("extend")).await
}

/// Checks the key, and responds to queries.
async fn answer(
    app: &App,
    request: Request<Body>,
    queries: Option<String>,
    extend: Option<String>,
) -> Result<Response> {
    let (mut parts, _) = request.into_parts();
    let key = PublicKey::from_request_parts(&mut parts, app).await?;
    respond(app, &key, queries, extend).await
}

async fn respond(
    app: &App,
    key: &PublicKey<Search>,
    queries: Option<String>,
    extend: Option<String>,
) -> Result<Response> {
    let view = usable_view(app)?;
    let owner = Owner::Key(key.key.id);
    match (queries, extend) {
        (Some(queries), _) => {
            let mut queries = queries::parse(&parse_object(&queries, "queries")?)?;
            let mut found = BTreeMap::new();
            let found = app.bulk_work.run(owner, move |slice| {
                queries::find_all(&view, &mut queries, &mut found, slice)
            });
            Ok(json(&found.await?))
        }
        (None, Some(extend)) => {
            let mut extension = extend::parse(&parse_object(&extend, "extend")?)?;
            let causes = app.directory.causes();
            let urls = app.site.urls.clone();
            let written = app
                .bulk_work
                .run(owner, move |slice| extension.write(&view, causes, &urls, slice));
            Ok(json_bytes(written.await??))
        }
        (None, None) => Err(Error::InvalidParameter(
            "Send a batch of queries in the field queries, or a data extension query in the field extend."
                .into(),
        )),
    }
}

/// Parses a field that is a JSON object.
fn parse_object(text: &str, field: &'static str) -> Result<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(Error::InvalidParameter(
            format!("{field} must be a JSON object.").into(),
        )),
    }
}
