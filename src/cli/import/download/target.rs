//! Where the files of the IRS are.

use crate::config::ImportSettings;
use ingest::FileKind;
use ingest::ListKind;

/// A file to download.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The name in the folder.
    pub name: String,
    pub url: String,
    /// What the file must contain.
    pub kind: FileKind,
    /// Whether the server may not have it.
    pub is_optional: bool,
}

/// The files that are always there.
pub(super) fn fixed_targets(settings: &ImportSettings) -> Vec<Target> {
    let irs = |name: &str| target(&settings.irs_url, name, FileKind::Irs);
    let list = |name: &str, kind| target(&settings.teos_url, name, FileKind::List(kind));
    vec![
        irs("eo1.csv"),
        irs("eo2.csv"),
        irs("eo3.csv"),
        irs("eo4.csv"),
        list("data-download-pub78.zip", ListKind::Publication78),
        list("data-download-revocation.zip", ListKind::Revocations),
        list("data-download-epostcard.zip", ListKind::Epostcards),
    ]
}

/// The index of the returns that were processed in a year.
pub(super) fn index_target(settings: &ImportSettings, year: i16) -> Target {
    Target {
        is_optional: true,
        ..target(
            &returns_url(settings, year),
            &format!("index_{year}.csv"),
            FileKind::ReturnIndex,
        )
    }
}

/// A bundle of returns that were processed in a year.
pub(super) fn bundle_target(settings: &ImportSettings, year: i16, name: &str) -> Target {
    Target {
        is_optional: true,
        ..target(
            &returns_url(settings, year),
            &format!("{name}.zip"),
            FileKind::Returns,
        )
    }
}

fn returns_url(settings: &ImportSettings, year: i16) -> String {
    format!("{}/990/xml/{year}", settings.teos_url)
}

fn target(folder: &str, name: &str, kind: FileKind) -> Target {
    Target {
        name: name.to_owned(),
        url: format!("{folder}/{name}"),
        kind,
        is_optional: false,
    }
}
