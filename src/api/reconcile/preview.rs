//! Previews of nonprofits: a small page for a frame, and a fragment of HTML for suggestions.

use super::entity::{NONPROFIT, describe, json, locate, usable_view};
use super::properties::{Property, PropertyValue};
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery, values};
use crate::http::public_key::{PublicKey, Search};
use crate::web::assets;
use crate::web::numbers::thousands;
use crate::web::page::render;
use askama::Template;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::response::{Html, IntoResponse, Response};
use directory::View;
use serde_json::json as json_value;

/// The size of the frame, in pixels.
pub const WIDTH: u32 = 420;
pub const HEIGHT: u32 = 340;

/// Any page may show the preview in a frame. It has no scripts, no forms and nothing that depends on a visitor.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors *";

/// The properties that a preview shows.
const SHOWN: [Property; 3] = [Property::Causes, Property::Revenue, Property::Website];

#[derive(Template)]
#[template(path = "api/reconcile/preview.html")]
struct PreviewPage {
    card: Card,
}

/// What a preview says about a nonprofit.
#[derive(Template)]
#[template(path = "api/reconcile/card.html")]
struct Card {
    name: String,
    place: String,
    description: String,
    /// Labels and values.
    facts: Vec<(&'static str, String)>,
    profile_url: String,
}

impl askama::filters::HtmlSafe for Card {}

impl PreviewPage {
    fn stylesheet() -> &'static str {
        assets::url("causeway.css")
    }
}

/// `GET /reconcile/preview`
pub async fn preview(
    State(app): State<App>,
    _key: PublicKey<Search>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let id = values(&query, "id").next().unwrap_or_default();
    let view = usable_view(&app)?;
    let card = Card::new(&app, &view, &id).ok_or_else(|| Error::nonprofit_not_found(&id))?;
    let headers = [
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    Ok((headers, Html(render(&PreviewPage { card })?)).into_response())
}

/// `GET /reconcile/flyout/{kind}`: a preview of an entity, a property or a type that is suggested.
pub async fn flyout(
    State(app): State<App>,
    PathText(kind): PathText,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response> {
    let id = values(&query, "id").next().unwrap_or_default();
    let html = match &*kind {
        "entity" => {
            let (mut parts, _) = request.into_parts();
            PublicKey::<Search>::from_request_parts(&mut parts, &app).await?;
            let view = usable_view(&app)?;
            let card = Card::new(&app, &view, &id).ok_or_else(|| Error::nonprofit_not_found(&id))?;
            render(&card)?
        }
        // These names are our own and need no escaping.
        "property" => {
            let property = Property::find(&id).ok_or(Error::NotFound)?;
            format!("<p>{}</p>", property.name())
        }
        "type" if id == NONPROFIT.id => format!("<p>{}</p>", NONPROFIT.name),
        _ => return Err(Error::NotFound),
    };
    Ok(json(&json_value!({"id": id, "html": html})))
}

impl Card {
    fn new(app: &App, view: &View, id: &str) -> Option<Card> {
        let nonprofit = view.nonprofit(locate(view, id)?)?;
        let fact = |property: Property| {
            let values = property.values(&nonprofit, app.directory.causes(), &app.site.urls);
            let values: Vec<String> = values
                .into_iter()
                .map(|value| match value {
                    PropertyValue::Str(text) => text,
                    PropertyValue::Int(dollars) => {
                        let sign = if dollars < 0 { "-" } else { "" };
                        format!("{sign}{}", thousands(dollars.unsigned_abs()))
                    }
                })
                .collect();
            (!values.is_empty()).then(|| (property.name(), values.join(", ")))
        };
        Some(Card {
            name: nonprofit.name.to_owned(),
            place: describe(&nonprofit),
            description: nonprofit.description(&nonprofit.location()).into_owned(),
            facts: SHOWN.into_iter().filter_map(fact).collect(),
            profile_url: app.site.urls.profile(nonprofit.slug),
        })
    }
}
