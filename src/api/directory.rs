//! `GET /v0.2/directory`: the directory as a whole.

use crate::api::problems::{NotModified, PublicKeyProblems};
use crate::api::sources::source_name;
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::public_key::{Causes, PublicKey};
use axum::extract::State;
use axum::response::Response;
use directory::history::imports::LastImport;
use directory::nonprofits::sources::SourceKind;
use directory::snapshot::counts::Counts;
use platform::clock::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

/// The directory as a whole: what it has, and where that comes from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryBody {
    /// The date of the last import, in UTC. Omitted if nothing was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "2026-11-16", nullable = false, format = Date)]
    as_of: Option<String>,
    counts: CountsBody,
    /// The last import of each kind.
    sources: Vec<ImportBody>,
}

/// Counts of nonprofits. All but `nonprofits` are counts of some of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CountsBody {
    /// All that can be looked up.
    nonprofits: u64,
    with_website: u64,
    /// With a description that is not generated.
    with_description: u64,
    /// With at least one return in finances.
    with_finances: u64,
    /// Those to which donations are tax-deductible.
    deductible: u64,
    /// Those whose tax exemption was revoked and not reinstated.
    revoked: u64,
    /// Those that are no longer in the IRS files.
    gone: u64,
}

/// The last import of one kind.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportBody {
    /// irs-bmf, irs-990, irs-990n, irs-pub78, irs-revocations or operator.
    #[schema(example = "irs-bmf")]
    source: String,
    /// In UTC.
    #[schema(format = DateTime)]
    imported_at: String,
    /// The number of rows or returns in all files.
    rows: i64,
    /// The first 100 files.
    files: Vec<ImportedFileBody>,
}

/// A file that was imported.
#[derive(Serialize, ToSchema)]
struct ImportedFileBody {
    #[schema(example = "eo1.csv")]
    file: String,
    /// The SHA-256 hash of the file, in hexadecimal.
    sha256: String,
    rows: i64,
}

/// Describes the directory as a whole: its date, the numbers of nonprofits, and the files that it was made from.
#[utoipa::path(
    get,
    path = "/v0.2/directory",
    operation_id = "directory",
    tag = "nonprofits",
    security(("publicKey" = [])),
    responses(
        (status = 200, description = "The directory.", body = DirectoryBody),
        NotModified,
        PublicKeyProblems,
    )
)]
pub async fn directory(
    State(app): State<App>,
    _key: PublicKey<Causes>,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let view = app.directory.view();
    let counts = view.counts().ok_or(Error::Unavailable)?;
    let imports = app.caches.provenance.list(&app.db, view.revision).await?;
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        let last = imports.0.iter().map(|import| import.finished_at).max();
        let body = DirectoryBody {
            as_of: last.map(|finished_at| rfc3339(finished_at)[..10].to_owned()),
            counts: CountsBody::new(counts),
            sources: imports.0.iter().map(ImportBody::new).collect(),
        };
        serde_json::to_vec(&body).expect("counts are plain data")
    }))
}

impl CountsBody {
    fn new(counts: Counts) -> CountsBody {
        CountsBody {
            nonprofits: counts.nonprofits,
            with_website: counts.with_website,
            with_description: counts.with_description,
            with_finances: counts.with_finances,
            deductible: counts.deductible,
            revoked: counts.revoked,
            gone: counts.gone,
        }
    }
}

impl ImportBody {
    fn new(import: &LastImport) -> ImportBody {
        let kind = SourceKind::of_import(&import.kind);
        let files = import.files.iter().map(|file| ImportedFileBody {
            file: file.name.clone(),
            sha256: file.sha256.clone(),
            rows: file.lines,
        });
        ImportBody {
            source: kind.map_or_else(|| import.kind.clone(), |kind| source_name(kind).to_owned()),
            imported_at: rfc3339(import.finished_at),
            rows: import.lines,
            files: files.collect(),
        }
    }
}
