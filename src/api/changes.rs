//! `GET /v0.2/changes`: which nonprofits changed, so that partners can keep a copy of the directory.

use crate::api::export::write_json;
use crate::api::problems::{AccountProblems, CursorExpired, InvalidParameter, NotModified, Unavailable};
use crate::api::schemas::PositiveInteger;
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, positive, values};
use crate::http::public_key::Browse;
use axum::extract::State;
use axum::response::Response;
use directory::history::changes::{self, ChangePage, ChangesError, Cursor};
use platform::json;
use utoipa::ToSchema;

const DEFAULT_TAKE: usize = 100;
const MAX_TAKE: usize = 1_000;

/// One page of changes.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it only describes the body, which is written field by field"
)]
pub struct ChangesBody {
    /// The oldest first. A nonprofit that changed several times may be listed several times, each time as it is now.
    changes: Vec<ChangeBody>,
    /// The value of since for the next page, and for the next time if there is none.
    cursor: String,
    /// Whether there is another page now.
    has_more: bool,
}

/// A nonprofit that changed.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "it only describes the body, which is written field by field"
)]
struct ChangeBody {
    #[schema(inline)]
    r#type: ChangeType,
    /// The nonprofit as it is now: the fields that it has in details, and its causes in tags.
    #[schema(value_type = Object)]
    nonprofit: (),
}

/// What happened. A nonprofit that is removed is no longer in the IRS files; it can still be looked up.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "it only describes a field of the body")]
enum ChangeType {
    Added,
    Changed,
    Removed,
}

/// Lists the nonprofits that were added, changed or removed since a cursor, the oldest change first.
///
/// Without since, the response has no changes and the current cursor. An export has a cursor in its header
/// `Changes-Cursor`. If an older backup of the database was restored, or too much changed at once, the cursor is 410:
/// export the directory again.
#[utoipa::path(
    get,
    path = "/v0.2/changes",
    operation_id = "changes",
    tag = "nonprofits",
    security(("privateKey" = [])),
    params(
        ("since" = Option<String>, Query, description = "A cursor: of an export, or of the last page that you have."),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Changes per page: 100 by default, at most 1,000. A larger number means 1,000."),
    ),
    responses(
        (status = 200, description = "One page of changes.", body = ChangesBody),
        NotModified,
        InvalidParameter,
        AccountProblems,
        CursorExpired,
        Unavailable,
    )
)]
pub async fn list_changes(
    State(app): State<App>,
    _credentials: Credentials<Browse>,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let since = values(&query, "since").next().filter(|since| !since.is_empty());
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    let page = match since {
        None => ChangePage {
            changes: Vec::new(),
            next: Cursor::of_view(&view),
            has_more: false,
        },
        Some(since) => {
            let since = since.parse::<Cursor>().map_err(|()| {
                Error::InvalidParameter(
                    "since is not a cursor. Send one from an export or a page of changes.".into(),
                )
            })?;
            changes::list(&app.db, &view, since, take).await?
        }
    };
    let mut out = Vec::with_capacity(1_024 * page.changes.len() + 128);
    out.extend_from_slice(br#"{"changes":"#);
    json::list(&mut out, &page.changes, |out, change| {
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(change.kind.name().as_bytes());
        out.extend_from_slice(br#"","nonprofit":"#);
        match view.nonprofit(change.location) {
            Some(nonprofit) => write_json(&app, &nonprofit, out),
            None => out.extend_from_slice(b"{}"),
        }
        out.push(b'}');
    });
    out.extend_from_slice(br#","cursor":"#);
    json::string(&mut out, &page.next.to_string());
    out.extend_from_slice(br#","hasMore":"#);
    out.extend_from_slice(if page.has_more { b"true" } else { b"false" });
    out.push(b'}');
    Ok(cache::hashed_json(&if_none_match, out))
}

impl From<ChangesError> for Error {
    fn from(error: ChangesError) -> Error {
        match error {
            ChangesError::Lost => Error::CursorLost,
            ChangesError::NotRecorded => Error::ChangesNotRecorded,
            ChangesError::Store(error) => error.into(),
        }
    }
}
