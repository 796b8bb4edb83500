//! Pictures for those who share a page: drawn by us from what the page says, kept for as long as it says so.

use crate::app::App;
use crate::http::cache::Known;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, RawQuery, values};
use crate::site::fundraiser as fundraisers;
use crate::site::profile::{find as find_nonprofit, share_card};
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pictures::drawn::card::ShareCard;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Pictures that are drawn at the same time.
const AT_ONCE: usize = 2;
/// Pictures that are kept for the next who asks, of some tens of kilobytes each.
const KEPT: usize = 64;

/// Draws with bounded cost: few at a time, and the last ones are kept.
#[derive(Debug)]
pub struct Studio {
    room: Semaphore,
    kept: Mutex<VecDeque<(String, Arc<[u8]>)>>,
}

impl Default for Studio {
    fn default() -> Studio {
        Studio {
            room: Semaphore::new(AT_ONCE),
            kept: Mutex::default(),
        }
    }
}

impl Studio {
    async fn draw(&self, card: ShareCard, tag: &str) -> Result<Arc<[u8]>> {
        if let Some(picture) = self.find(tag) {
            return Ok(picture);
        }
        let _place = self.room.acquire().await.map_err(|_| Error::Internal)?;
        // Somebody may have drawn it while we waited.
        if let Some(picture) = self.find(tag) {
            return Ok(picture);
        }
        let drawn = tokio::task::spawn_blocking(move || card.draw()).await;
        let picture: Arc<[u8]> = match drawn {
            Ok(Ok(picture)) => picture.into(),
            _ => return Err(Error::Internal),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front((tag.to_owned(), Arc::clone(&picture)));
        Ok(picture)
    }

    fn find(&self, tag: &str) -> Option<Arc<[u8]>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| known == tag);
        found.map(|(_, picture)| Arc::clone(picture))
    }
}

/// `GET /share/{slug}.png`
pub async fn of_nonprofit(
    State(app): State<App>,
    PathText(file): PathText,
    RawQuery(query): RawQuery,
    known: Known,
) -> Result<Response> {
    let slug = file.strip_suffix(".png").ok_or(Error::NotFound)?;
    let found = find_nonprofit(&app, slug).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let card = share_card(&app, &nonprofit);
    answer(&app, card, &query, &known).await
}

/// `GET /share/{slug}/f/{fundraiser}.png`
pub async fn of_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, file): PathPair,
    RawQuery(query): RawQuery,
    known: Known,
) -> Result<Response> {
    let name = file.strip_suffix(".png").ok_or(Error::NotFound)?;
    let shown = fundraisers::find(&app, &nonprofit, name).await?;
    let card = fundraisers::share_card(&app, &shown).await?;
    answer(&app, card, &query, &known).await
}

/// The address of a picture of a page, which changes with what it shows.
pub fn address(app: &App, path: &str, card: &ShareCard) -> String {
    app.urls.page(&format!("/share{path}.png?v={}", card.tag()))
}

async fn answer(app: &App, card: ShareCard, query: &str, known: &Known) -> Result<Response> {
    let tag = card.tag();
    let is_current = values(query, "v").next().is_some_and(|asked| asked == tag);
    let field = HeaderValue::try_from(format!("\"{tag}\"")).map_err(|_| Error::Internal)?;
    let mut response = if known.has(&field) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let picture = app.studio.draw(card, &tag).await?;
        ([(CONTENT_TYPE, "image/png")], picture.to_vec()).into_response()
    };
    let fields = response.headers_mut();
    fields.insert(ETAG, field);
    fields.insert(
        CACHE_CONTROL,
        HeaderValue::from_static(match is_current {
            true => "public, max-age=31536000, immutable",
            false => "public, max-age=3600",
        }),
    );
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(response)
}
