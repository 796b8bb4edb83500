//! `GET /v0.2/export`: all nonprofits, as JSON Lines or CSV.
//!
//! The export comes in parts, so that a failed transfer costs one part and not everything. A part is written while it is
//! sent, a piece at a time: it takes the memory of one piece, however many nonprofits there are.

use crate::api::problems::{AccountProblems, CursorExpired, InvalidParameter, NotModified, Unavailable};
use crate::api::schemas::PositiveInteger;
use crate::app::App;
use crate::http::cache::IfNoneMatch;
use crate::http::compression::{VARY_BY_ENCODING, accepts_gzip};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, positive, values};
use crate::http::public_key::Export;
use access::limits::call::Owner;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LINK, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::history::changes::Cursor;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::ntee::Ntee;
use directory::{HitLocation, View};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use platform::json;
use platform::text::escape_formula;
use std::io::{self, Write};
use std::sync::Arc;
use utoipa::ToSchema;

/// The number of nonprofits in a part, by default and at most.
const DEFAULT_TAKE: usize = 50_000;
const MAX_TAKE: usize = 100_000;
/// A piece is sent when it is this long.
const PIECE_BYTES: usize = 128 * 1_024;

/// The header with the cursor for `GET /v0.2/changes` that continues from this export.
const CHANGES_CURSOR: HeaderName = HeaderName::from_static("changes-cursor");

const CSV_COLUMNS: [&str; 16] = [
    "id",
    "ein",
    "name",
    "slug",
    "city",
    "state",
    "zip",
    "country",
    "nteeCode",
    "tags",
    "revenue",
    "assets",
    "websiteUrl",
    "description",
    "isDisbursable",
    "profileUrl",
];

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ExportFormat {
    Jsonl,
    Csv,
}

impl ExportFormat {
    fn parse(text: &str) -> Result<ExportFormat> {
        match text {
            "jsonl" => Ok(ExportFormat::Jsonl),
            "csv" => Ok(ExportFormat::Csv),
            _ => Err(Error::InvalidParameter("format must be jsonl or csv.".into())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            ExportFormat::Jsonl => "jsonl",
            ExportFormat::Csv => "csv",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            ExportFormat::Jsonl => "application/jsonl; charset=utf-8",
            ExportFormat::Csv => "text/csv; charset=utf-8; header=present",
        }
    }
}

/// Exports all nonprofits, part by part.
///
/// The header `Link` has the URL of the next part (`rel="next"`); the last part has none. If a transfer fails, request
/// the same part again. The parts belong to one state of the directory: if it changes before the last part is read, the
/// next part is 410, and the export starts again. The header `Changes-Cursor` has the cursor for `/v0.2/changes`, which
/// lists what changed since. With `Accept-Encoding: gzip` a part is compressed.
#[utoipa::path(
    get,
    path = "/v0.2/export",
    operation_id = "export",
    tag = "nonprofits",
    security(("privateKey" = [])),
    params(
        ("format" = inline(Option<ExportFormat>), Query, description = "jsonl, the default: one JSON object on each line, with the fields of the nonprofit in details and its causes in tags. csv: one row for each nonprofit, after a header."),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Nonprofits in a part: 50,000 by default, at most 100,000. A larger number means 100,000."),
        ("cursor" = Option<String>, Query, description = "Where the part starts, from the Link header of the part before."),
    ),
    responses(
        (status = 200, description = "One part.", content(
            (String = "application/jsonl"),
            (String = "text/csv"),
        ), headers(
            ("Link" = String, description = "The URL of the next part, with rel=\"next\". Omitted in the last part."),
            ("Changes-Cursor" = String, description = "The cursor for /v0.2/changes."),
        )),
        NotModified,
        InvalidParameter,
        AccountProblems,
        CursorExpired,
        Unavailable,
    )
)]
pub async fn export(
    State(app): State<App>,
    credentials: Credentials<Export>,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
    headers: HeaderMap,
) -> Result<Response> {
    let first = |name| values(&query, name).next();
    let format = first("format").map_or(Ok(ExportFormat::Jsonl), |format| ExportFormat::parse(&format))?;
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let view = app.directory.view();
    let (Some(snapshot), Some(tag)) = (&view.snapshot, &view.tag) else {
        return Err(Error::Unavailable);
    };
    let state = tag.trim_matches('"');
    let count = snapshot.len() as usize + view.overlay.len();
    let start = match first("cursor") {
        None => 0,
        Some(cursor) => parse_cursor(&cursor, state, count)?,
    };
    let end = (start + take).min(count);
    let is_gzip = accepts_gzip(&headers);
    let encoding = if is_gzip { "-gzip" } else { "" };
    let tag = format!("\"{state}-{}-{start}-{end}{encoding}\"", format.name());
    let tag = HeaderValue::try_from(tag).map_err(|_| Error::Internal)?;
    let mut response = if if_none_match.matches(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let file = format!(
            "attachment; filename=\"nonprofits-{}.{}\"",
            start / take + 1,
            format.name()
        );
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(format.media_type())),
            (
                CONTENT_DISPOSITION,
                HeaderValue::try_from(file).map_err(|_| Error::Internal)?,
            ),
        ];
        let part = Part::new(app.clone(), Arc::clone(&view), format, start..end, is_gzip);
        (headers, part.into_body(Owner::Key(credentials.public_key))).into_response()
    };
    let headers = response.headers_mut();
    if is_gzip && headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(ETAG, tag);
    headers.insert(VARY, VARY_BY_ENCODING);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    let cursor = HeaderValue::try_from(Cursor::of_view(&view).to_string());
    headers.insert(CHANGES_CURSOR, cursor.map_err(|_| Error::Internal)?);
    if end < count {
        let format = format.name();
        let next = app.site.urls.page("/v0.2/export");
        let link = format!("<{next}?format={format}&take={take}&cursor={state}.{end}>; rel=\"next\"");
        headers.insert(LINK, HeaderValue::try_from(link).map_err(|_| Error::Internal)?);
    }
    Ok(response)
}

/// Returns where a part of an export of `count` nonprofits starts. A cursor of another state of the directory has expired.
fn parse_cursor(cursor: &str, state: &str, count: usize) -> Result<usize> {
    let invalid = || {
        Error::InvalidParameter(
            "This cursor is not valid. Send the one in the Link header, unchanged.".into(),
        )
    };
    let (of_state, start) = cursor.rsplit_once('.').ok_or_else(invalid)?;
    let start = start.parse().map_err(|_| invalid())?;
    if of_state != state {
        return Err(Error::ExportExpired);
    }
    if start < count { Ok(start) } else { Err(invalid()) }
}

/// A part that is being sent.
struct Part {
    app: App,
    view: Arc<View>,
    format: ExportFormat,
    positions: std::ops::Range<usize>,
    out: Output,
}

/// What was written and not yet sent.
enum Output {
    Plain(Vec<u8>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Finished,
}

impl Part {
    fn new(
        app: App,
        view: Arc<View>,
        format: ExportFormat,
        positions: std::ops::Range<usize>,
        is_gzip: bool,
    ) -> Part {
        let out = if is_gzip {
            Output::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::fast())))
        } else {
            Output::Plain(Vec::new())
        };
        Part {
            app,
            view,
            format,
            positions,
            out,
        }
    }

    /// Returns a body that writes the next piece when the previous one was sent.
    fn into_body(mut self, owner: Owner) -> Body {
        let header = match self.format {
            ExportFormat::Csv => csv_line(CSV_COLUMNS),
            ExportFormat::Jsonl => Ok(Vec::new()),
        };
        let begun = header.and_then(|header| self.out.write(&header));
        if let Err(error) = begun {
            return Body::from_stream(stream::iter([Err::<Bytes, _>(error)]));
        }
        let app = self.app.clone();
        let pieces = stream::try_unfold((app, self), move |(app, mut part)| async move {
            let write = move || part.next_piece().map(|piece| piece.map(|piece| (piece, part)));
            let written = app.bulk_work.run_piece(owner, write).await;
            let written = written.map_err(io::Error::other)??;
            io::Result::Ok(written.map(|(piece, part)| (piece, (app, part))))
        });
        Body::from_stream(pieces)
    }

    /// Writes nonprofits until there is enough to send. Returns `None` at the end.
    fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        let mut record = Vec::with_capacity(4_096);
        while self.out.len() < PIECE_BYTES {
            let Some(position) = self.positions.next() else {
                return self.out.finish();
            };
            let snapshot = self
                .view
                .snapshot
                .as_ref()
                .ok_or_else(|| io::Error::other("no snapshot"))?;
            let length = snapshot.len() as usize;
            let nonprofit = if position < length {
                let is_replaced = self.view.overlay.replaces(position as u32);
                let location = HitLocation::Snapshot(position as u32);
                self.view.nonprofit(location).filter(|_| !is_replaced)
            } else {
                let location = HitLocation::Overlay((position - length) as u32);
                self.view.nonprofit(location)
            };
            if let Some(nonprofit) = nonprofit {
                record.clear();
                match self.format {
                    ExportFormat::Jsonl => write_json_line(&self.app, &nonprofit, &mut record),
                    ExportFormat::Csv => record = csv_row(&self.app, &nonprofit)?,
                }
                self.out.write(&record)?;
            }
        }
        Ok(Some(self.out.take()))
    }
}

impl Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Output::Plain(out) => out.extend_from_slice(bytes),
            Output::Gzip(out) => out.write_all(bytes)?,
            Output::Finished => {}
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Output::Plain(out) => out.len(),
            Output::Gzip(out) => out.get_ref().len(),
            Output::Finished => 0,
        }
    }

    /// Returns what can be sent.
    fn take(&mut self) -> Bytes {
        let out = match self {
            Output::Plain(out) => std::mem::take(out),
            Output::Gzip(out) => std::mem::take(out.get_mut()),
            Output::Finished => Vec::new(),
        };
        out.into()
    }

    /// Returns the rest, once.
    fn finish(&mut self) -> io::Result<Option<Bytes>> {
        match std::mem::replace(self, Output::Finished) {
            Output::Plain(out) if out.is_empty() => Ok(None),
            Output::Plain(out) => Ok(Some(out.into())),
            Output::Gzip(out) => Ok(Some(out.finish()?.into())),
            Output::Finished => Ok(None),
        }
    }
}

/// Writes a nonprofit with the fields that it has in details, and its causes.
pub fn write_json(app: &App, nonprofit: &Nonprofit<'_>, out: &mut Vec<u8>) {
    app.site.nonprofit_json.nonprofit(out, nonprofit);
    out.pop();
    out.extend_from_slice(br#","tags":"#);
    let causes = app.directory.causes().of_set(nonprofit.causes);
    let names: Vec<&str> = causes.map(|cause| cause.name.as_str()).collect();
    json::list(out, &names, |out, name| json::string(out, name));
    out.push(b'}');
}

fn write_json_line(app: &App, nonprofit: &Nonprofit<'_>, out: &mut Vec<u8>) {
    write_json(app, nonprofit, out);
    out.push(b'\n');
}

fn csv_row(app: &App, nonprofit: &Nonprofit<'_>) -> io::Result<Vec<u8>> {
    let causes = app.directory.causes().of_set(nonprofit.causes);
    let names: Vec<&str> = causes.map(|cause| cause.name.as_str()).collect();
    let latest = nonprofit.tax.latest_return;
    let (revenue, assets) = (
        latest
            .and_then(|latest| latest.revenue)
            .or(nonprofit.facts.and_then(|facts| facts.revenue)),
        latest
            .and_then(|latest| latest.assets)
            .or(nonprofit.facts.and_then(|facts| facts.assets)),
    );
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let id = nonprofit.id.to_string();
    let ein = nonprofit.ein.map(|ein| ein.to_string()).unwrap_or_default();
    let location = nonprofit.location();
    let description = nonprofit.description(&location);
    csv_line([
        &*id,
        &*ein,
        &*escape_formula(nonprofit.name),
        nonprofit.slug,
        &*escape_formula(nonprofit.city),
        nonprofit.state,
        nonprofit.zip,
        nonprofit.country,
        nonprofit.ntee.as_ref().map_or("", Ntee::code),
        &*names.join(";"),
        &*number(revenue),
        &*number(assets),
        &*escape_formula(nonprofit.website_url.unwrap_or_default()),
        &*escape_formula(&description),
        if nonprofit.is_disbursable() {
            "true"
        } else {
            "false"
        },
        &*app.site.urls.profile(nonprofit.slug),
    ])
}

fn csv_line<const N: usize>(fields: [&str; N]) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::with_capacity(512));
    writer.write_record(fields)?;
    writer
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))
}
