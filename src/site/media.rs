//! `GET /media/{hosted id}`: uploaded pictures, and pictures generated for nonprofits, causes and fundraisers.

use crate::app::App;
use crate::http::cache::IfNoneMatch;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery, values};
use crate::site::fundraiser_links::may_see;
use crate::web::cover_motif::{motif_of, motif_of_causes};
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use directory::nonprofits;
use directory::nonprofits::causes::Cause;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers;
use giving::fundraisers::cover::CoverVisibility;
use pictures::drawn::cover::Motif;
use pictures::drawn::{cover, monogram};
use platform::hosted::{StoredPicture, Width};
use platform::ids::{FundraiserId, NonprofitId};
use std::fmt::Write;
use uuid::Uuid;

/// The caching of generated pictures that everybody may see.
const PUBLIC: &str = "public, max-age=86400";
/// The caching of pictures that only some may see.
const PRIVATE: &str = "private, no-store";
/// The caching of pictures of nonprofits. They never change.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// The caching of uploaded covers of fundraisers. Operators may hide them.
const COVER: &str = "public, max-age=3600";
/// The caching of other uploaded pictures. They may become the cover of a fundraiser that is not public, and a shared
/// cache would go on showing them.
const UPLOADED: &str = "private, max-age=3600";

/// `GET /media/{hosted id}`
pub async fn picture(
    State(app): State<App>,
    PathText(hosted_id): PathText,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
    headers: HeaderMap,
) -> Result<Response> {
    let width = parse_width(&query)?;
    let mut response = match app.pictures.find(&hosted_id).await? {
        Some(picture) => {
            let caching = find_caching(&app, &picture.id, &headers).await?;
            hosted(&app, &picture, width, &if_none_match, caching).await?
        }
        None => generated(&app, &hosted_id, &if_none_match, &headers).await?,
    };
    let fields = response.headers_mut();
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(response)
}

/// `GET /image/upload/{transforms}/{hosted id}`: where existing clients look for a picture. They ask for sizes and formats
/// that only the hosted service makes, so they get the picture as it is.
pub async fn uploaded(
    State(app): State<App>,
    PathText(path): PathText,
    if_none_match: IfNoneMatch,
    headers: HeaderMap,
) -> Result<Response> {
    if !app.config.compat.existing_clients {
        return Err(Error::NotFound);
    }
    let hosted_id = path.rsplit('/').next().unwrap_or_default().to_owned();
    let query = RawQuery(String::new());
    picture(State(app), PathText(hosted_id), query, if_none_match, headers).await
}

/// Parses the requested width. Generated pictures have no width, but an invalid one is an error for them too.
fn parse_width(query: &str) -> Result<Option<Width>> {
    let parse = |text: &str| {
        Width::parse(text).ok_or_else(|| {
            let all = Width::ALL.map(|width| width.to_string()).join(", ");
            Error::InvalidParameter(format!("w is one of {all}; leave it out for the whole picture").into())
        })
    };
    values(query, "w").next().map(|text| parse(&text)).transpose()
}

/// Returns how long an uploaded picture may be cached. The cover of a fundraiser that is not public is only for its owner
/// and operators, unless a public fundraiser or a nonprofit uses the same picture.
async fn find_caching(app: &App, hosted_id: &str, headers: &HeaderMap) -> Result<&'static str> {
    let visibility = app.giving.fundraisers.find_cover_visibility(hosted_id).await?;
    if visibility == CoverVisibility::Public {
        return Ok(COVER);
    }
    let is_of_nonprofit = nonprofits::store::is_picture_used(&app.db, hosted_id).await?;
    match visibility {
        CoverVisibility::Unused if is_of_nonprofit => Ok(IMMUTABLE),
        CoverVisibility::Unused => Ok(UPLOADED),
        CoverVisibility::Withheld(owners) if !is_of_nonprofit => {
            if may_see(app, headers, &owners).await? {
                Ok(PRIVATE)
            } else {
                Err(Error::NotFound)
            }
        }
        CoverVisibility::Public | CoverVisibility::Withheld(_) => Ok(COVER),
    }
}

/// Responds with an uploaded picture, which is read while it is sent. Its ID is derived from its bytes, so it never changes.
async fn hosted(
    app: &App,
    picture: &StoredPicture,
    width: Option<Width>,
    if_none_match: &IfNoneMatch,
    caching: &'static str,
) -> Result<Response> {
    let width = width.filter(|width| width.narrows(picture));
    let mut tag = String::from("\"");
    for byte in &picture.sha256[..16.min(picture.sha256.len())] {
        write!(tag, "{byte:02x}").expect("writing to a String cannot fail");
    }
    if let Some(width) = width {
        write!(tag, "-{width}").expect("writing to a String cannot fail");
    }
    let tag = header(&(tag + "\""));
    let mut response = if if_none_match.matches(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content = app.pictures.open(picture, width).await;
        let content = content.map_err(|_| Error::Unavailable)?;
        let name = format!("inline; filename=\"{}.{}\"", picture.id, picture.kind.extension());
        let fields = [
            (
                CONTENT_TYPE,
                HeaderValue::from_static(picture.kind.content_type()),
            ),
            (CONTENT_DISPOSITION, header(&name)),
            (CONTENT_LENGTH, HeaderValue::from(content.size)),
        ];
        (fields, Body::from_stream(content.parts)).into_response()
    };
    let fields = response.headers_mut();
    fields.insert(ETAG, tag);
    fields.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    fields.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    Ok(response)
}

/// Responds with a generated picture.
async fn generated(
    app: &App,
    hosted_id: &str,
    if_none_match: &IfNoneMatch,
    headers: &HeaderMap,
) -> Result<Response> {
    let (svg, caching) = match hosted_id.strip_prefix("fundraiser-") {
        Some(id) => draw_fundraiser(app, id, headers).await?,
        None => draw(app, hosted_id).await?.map(|svg| (svg, PUBLIC)),
    }
    .ok_or(Error::NotFound)?;
    // The picture contains a name that can change, so the tag is a hash of the picture.
    let tag = header(&format!(
        "\"{:08x}-{:x}\"",
        crc32fast::hash(svg.as_bytes()),
        svg.len()
    ));
    let mut response = if if_none_match.matches(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, "image/svg+xml")], svg).into_response()
    };
    let fields = response.headers_mut();
    fields.insert(ETAG, tag);
    fields.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    fields.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    Ok(response)
}

fn header(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).expect("IDs and tags are ASCII")
}

async fn draw(app: &App, hosted_id: &str) -> Result<Option<String>> {
    let causes = app.directory.causes();
    if let Some(name) = hosted_id.strip_prefix("cause-") {
        let draw =
            |cause: &Cause| cover::cover_svg(&cause.title, cause.id.as_u128(), motif_of(cause.category));
        return Ok(causes.find(name).map(draw));
    }
    let (is_logo, id) = match hosted_id.split_once('-') {
        Some(("logo", id)) => (true, id),
        Some(("cover", id)) => (false, id),
        _ => return Ok(None),
    };
    let Ok(id) = Uuid::try_parse(id) else {
        return Ok(None);
    };
    let found = app.directory.find(&Identifier::Id(NonprofitId(id))).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    Ok(nonprofit.map(|nonprofit| {
        if is_logo {
            monogram::logo_svg(nonprofit.name, id.as_u128())
        } else {
            cover::cover_svg(
                nonprofit.name,
                id.as_u128(),
                motif_of_causes(causes, nonprofit.causes),
            )
        }
    }))
}

/// Draws the cover of a fundraiser without an uploaded one, and returns how long it may be cached. The title of one that
/// is not public is only for its owner and operators.
async fn draw_fundraiser(app: &App, id: &str, headers: &HeaderMap) -> Result<Option<(String, &'static str)>> {
    let Ok(id) = Uuid::try_parse(id) else {
        return Ok(None);
    };
    let Some(found) = fundraisers::store::find(&app.db, FundraiserId(id)).await? else {
        return Ok(None);
    };
    let caching = if found.is_public() {
        PUBLIC
    } else if may_see(app, headers, &[found.account]).await? {
        PRIVATE
    } else {
        return Ok(None);
    };
    let nonprofit = app.directory.find(&Identifier::Id(found.nonprofit)).await?;
    let motif = nonprofit
        .as_ref()
        .and_then(NonprofitRef::nonprofit)
        .map_or_else(Motif::default, |nonprofit| {
            motif_of_causes(app.directory.causes(), nonprofit.causes)
        });
    let svg = cover::cover_svg(&found.title, id.as_u128(), motif);
    Ok(Some((svg, caching)))
}
