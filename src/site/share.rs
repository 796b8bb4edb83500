//! Share images: pictures that social networks show for a page, drawn from its title and numbers, and QR codes.

use crate::app::App;
use crate::http::cache::IfNoneMatch;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, RawQuery, values};
use crate::site::find::find as find_nonprofit;
use crate::site::{fundraiser_links, share_cards};
use crate::web::qr_code;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pictures::drawn::card::ShareCard;

/// `GET /share/{slug}.png`, or `.svg` for the QR code
pub async fn of_nonprofit(
    State(app): State<App>,
    PathText(file): PathText,
    RawQuery(query): RawQuery,
    client: Client,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    if let Some(slug) = file.strip_suffix(".svg") {
        let found = find_nonprofit(&app.directory, slug).await?;
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        return qr_code(&app, &format!("/{}", nonprofit.slug));
    }
    let slug = name_of_picture(&file)?;
    let found = find_nonprofit(&app.directory, slug).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let card = share_cards::of_nonprofit(app.directory.causes(), &nonprofit);
    respond(&app, card, client, &query, &if_none_match).await
}

/// `GET /share/{slug}/f/{fundraiser}.png`, or `.svg` for the QR code
pub async fn of_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, file): PathPair,
    RawQuery(query): RawQuery,
    client: Client,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    if let Some(name) = file.strip_suffix(".svg") {
        let shown = fundraiser_links::find(&app.directory, &app.giving.fundraisers, &nonprofit, name).await?;
        let path = fundraiser_links::path_of(&app.directory, &shown.fundraiser).await?;
        return qr_code(&app, &path);
    }
    let name = name_of_picture(&file)?;
    let shown = fundraiser_links::find(&app.directory, &app.giving.fundraisers, &nonprofit, name).await?;
    let card = share_cards::of_fundraiser(&app.directory, &shown, app.is_test_mode()).await?;
    respond(&app, card, client, &query, &if_none_match).await
}

/// Returns what a file shows. Its format depends on what was uploaded since its URL was shared.
fn name_of_picture(file: &str) -> Result<&str> {
    let name = file.strip_suffix(".png").or_else(|| file.strip_suffix(".jpg"));
    name.ok_or(Error::NotFound)
}

/// Responds with the QR code of a page.
fn qr_code(app: &App, path: &str) -> Result<Response> {
    let svg = qr_code::svg_file(&app.site.urls.page(path)).ok_or(Error::NotFound)?;
    let fields = [
        (CONTENT_TYPE, "image/svg+xml"),
        (CACHE_CONTROL, "public, max-age=3600"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((fields, svg).into_response())
}

async fn respond(
    app: &App,
    card: ShareCard,
    client: Client,
    query: &str,
    if_none_match: &IfNoneMatch,
) -> Result<Response> {
    let tag = card.tag();
    let is_current = values(query, "v").next().is_some_and(|version| version == tag);
    let field = HeaderValue::try_from(format!("\"{tag}\"")).map_err(|_| Error::Internal)?;
    let mut response = if if_none_match.matches(&field) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let cards = &app.caches.share_cards;
        let kind = card.kind().content_type();
        let picture = cards
            .draw(card, &tag, &app.pictures, &app.bulk_work, client.owner())
            .await?;
        ([(CONTENT_TYPE, kind)], picture.to_vec()).into_response()
    };
    let fields = response.headers_mut();
    fields.insert(ETAG, field);
    fields.insert(
        CACHE_CONTROL,
        HeaderValue::from_static(if is_current {
            "public, max-age=31536000, immutable"
        } else {
            "public, max-age=3600"
        }),
    );
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(response)
}
