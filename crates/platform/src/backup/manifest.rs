//! The manifest of a backup: what it contains, and from which state of the store.

use super::hash::Fingerprint;
use crate::db::{DumpFormat, StoreFacts};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The version of this format. Another one is refused.
pub const FORMAT: u32 = 1;

/// The content of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub format: u32,
    /// The version of Causeway that wrote the backup.
    pub version: String,
    /// The name of the folder with the files of this backup alone.
    pub id: String,
    /// When the store was copied, in RFC 3339.
    pub created_at: String,
    pub store_id: Uuid,
    pub database: DumpFormat,
    /// The last migration of the store.
    pub migration: i64,
    pub directory_revision: i64,
    pub keys_revision: i64,
    pub ledger: LedgerFacts,
    pub files: Vec<FileEntry>,
    /// Pictures that were missing or damaged when the backup was taken.
    pub damaged_pictures: Vec<String>,
}

/// The end of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerFacts {
    pub entries: i64,
    /// The hash of the last entry, in hexadecimal digits.
    pub hash: String,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub kind: FileKind,
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// The copy of the database.
    Store,
    /// The secret of the store.
    Secret,
    /// The settings that differ from the defaults.
    Settings,
    /// A blob, under its name in the blob store.
    Picture,
    /// An anchor of the ledger, under its name in the blob store.
    Anchor,
}

impl Manifest {
    /// Creates a manifest without files.
    pub fn new(
        id: String,
        created_at: String,
        facts: &StoreFacts,
        database: DumpFormat,
        ledger: LedgerFacts,
    ) -> Manifest {
        Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            created_at,
            store_id: facts.id,
            database,
            migration: facts.migration,
            directory_revision: facts.directory_revision,
            keys_revision: facts.keys_revision,
            ledger,
            files: Vec::new(),
            damaged_pictures: Vec::new(),
        }
    }

    pub fn add(&mut self, kind: FileKind, name: String, fingerprint: Fingerprint) {
        self.files.push(FileEntry {
            kind,
            name,
            size: fingerprint.size,
            sha256: fingerprint.sha256,
        });
    }

    /// Returns the file of a kind of which there is one.
    pub fn find(&self, kind: FileKind) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.kind == kind)
    }

    /// Lists the pictures.
    pub fn pictures(&self) -> impl Iterator<Item = &FileEntry> {
        self.files.iter().filter(|file| file.kind == FileKind::Picture)
    }

    /// Lists the anchors.
    pub fn anchors(&self) -> impl Iterator<Item = &FileEntry> {
        self.files.iter().filter(|file| file.kind == FileKind::Anchor)
    }

    /// Returns the size of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

impl FileEntry {
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            size: self.size,
            sha256: self.sha256.clone(),
        }
    }
}
