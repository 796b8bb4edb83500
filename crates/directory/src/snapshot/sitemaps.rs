//! The sitemaps of all nonprofits, compressed, in one file next to the snapshot that they were written from.
//!
//! They are written once per snapshot and public URL, outside of requests, and mapped into memory: serving one costs
//! no formatting and no compression. The file has the format of a snapshot, with one section for each sitemap. What
//! changed since the snapshot appears with the next one; until then the former URLs redirect.
//!
//! Only nonprofits are listed. A sitemap of fundraisers would have to leave out those that are not public.
//!
//! A thread with the lowest priority writes the file when a server switches to a new snapshot.

use crate::snapshot::Snapshot;
use crate::snapshot::file::{SnapshotError, SnapshotFile, SnapshotMeta, SnapshotWriter};
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use platform::data_folder;
use platform::text::escape_xml;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// URLs per sitemap, the maximum of the protocol.
pub(crate) const URLS_PER_SITEMAP: u32 = 50_000;
/// Incremented whenever the content of the file changes for the same nonprofits.
const VERSION: u32 = 1;
const EXTENSION: &str = "sitemaps";
const TEMPORARY_PREFIX: &str = "sitemaps-";
/// The age at which an unfinished file is removed.
const ABANDONED_AFTER: Duration = Duration::from_hours(1);

pub const XML_DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
pub const XML_NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The sitemaps of one snapshot.
#[derive(Debug)]
pub struct Sitemaps {
    file: Arc<SnapshotFile>,
    modified_at: i64,
}

/// One sitemap, which keeps the file mapped. As bytes it is compressed with gzip.
#[derive(Clone, Debug)]
pub struct Sitemap {
    file: Arc<SnapshotFile>,
    number: usize,
    modified_at: i64,
}

impl Sitemaps {
    /// Returns what the sitemaps were written from.
    pub(crate) fn meta(&self) -> &SnapshotMeta {
        &self.file.meta
    }

    /// Returns the number of sitemaps.
    pub fn len(&self) -> usize {
        self.file.sections()
    }

    /// Returns whether there are no sitemaps, because there are no nonprofits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sitemap with this number, counted from zero.
    pub fn find(&self, number: usize) -> Option<Sitemap> {
        (number < self.len()).then(|| Sitemap {
            file: Arc::clone(&self.file),
            number,
            modified_at: self.modified_at,
        })
    }
}

impl AsRef<[u8]> for Sitemap {
    fn as_ref(&self) -> &[u8] {
        self.file.section(self.number)
    }
}

impl Sitemap {
    /// Returns a checksum of the bytes, which changes with them.
    pub fn checksum(&self) -> u32 {
        self.file.checksum(self.number)
    }

    /// Returns when the sitemap was written, in milliseconds since the Unix epoch.
    pub fn modified_at(&self) -> i64 {
        self.modified_at
    }

    /// Returns the size of the XML, which gzip stores in the last four bytes.
    pub fn xml_size(&self) -> u64 {
        let end = self.as_ref().last_chunk().copied().unwrap_or_default();
        u64::from(u32::from_le_bytes(end))
    }

    /// Reads the XML.
    pub fn decompress(self) -> impl Read + Send + 'static {
        GzDecoder::new(Cursor::new(self))
    }
}

/// Returns what the sitemaps of a snapshot are written from.
pub(crate) fn meta(snapshot: &Snapshot, public_url: &str) -> SnapshotMeta {
    let mut rules = crc32fast::Hasher::new();
    rules.update(&VERSION.to_le_bytes());
    rules.update(&snapshot.meta().rules.to_le_bytes());
    rules.update(public_url.as_bytes());
    SnapshotMeta {
        rules: rules.finalize(),
        ..*snapshot.meta()
    }
}

fn file_name(meta: SnapshotMeta) -> String {
    format!("{:012}-{:08x}.{EXTENSION}", meta.revision, meta.rules)
}

/// Opens the sitemaps of a snapshot, and writes them if they do not exist or are damaged.
pub(crate) fn open_or_write(
    folder: &Path,
    snapshot: &Snapshot,
    meta: SnapshotMeta,
    public_url: &str,
) -> anyhow::Result<Sitemaps> {
    let path = folder.join(file_name(meta));
    match open(&path) {
        Ok(found) if found.file.meta == meta => return Ok(found),
        Err(SnapshotError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(_) | Err(_) => {
            tracing::warn!(file = %path.display(), "the sitemaps are unusable and are written again");
        }
    }
    remove_others(folder, None);
    data_folder::create_folder(folder)?;
    write(snapshot, meta, public_url, &path)?;
    remove_others(folder, Some(&path));
    Ok(open(&path)?)
}

fn open(path: &Path) -> Result<Sitemaps, SnapshotError> {
    let file = SnapshotFile::open(path)?;
    let modified_at = fs::metadata(path)?.modified()?.duration_since(UNIX_EPOCH);
    Ok(Sitemaps {
        file: Arc::new(file),
        modified_at: modified_at.unwrap_or_default().as_millis() as i64,
    })
}

/// Removes abandoned files, and with `current` all sitemaps except these. A server that has a removed file mapped can
/// still read it.
fn remove_others(folder: &Path, current: Option<&Path>) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in files.map(|entry| entry.path()) {
        let is_unfinished = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(TEMPORARY_PREFIX));
        let is_older =
            |current: &Path| path != *current && path.extension().is_some_and(|found| found == EXTENSION);
        // Another process may be writing one now.
        let is_abandoned = || {
            let age = fs::metadata(&path).and_then(|metadata| metadata.modified());
            age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER))
        };
        if (is_unfinished && is_abandoned() || current.is_some_and(is_older))
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(file = %path.display(), %error, "cannot remove old sitemaps");
        }
    }
}

fn write(snapshot: &Snapshot, meta: SnapshotMeta, public_url: &str, path: &Path) -> io::Result<()> {
    let sitemaps = split(count_listed(snapshot));
    let mut out = SnapshotWriter::create_with_prefix(path, TEMPORARY_PREFIX, meta, sitemaps.len())?;
    let public_url = escape_xml(public_url);
    for (number, positions) in sitemaps.enumerate() {
        out.begin_section(number)?;
        let mut xml = GzBuilder::new().write(&mut out, Compression::default());
        writeln!(xml, "{XML_DECLARATION}<urlset {XML_NAMESPACE}>")?;
        for nonprofit in positions.filter_map(|position| snapshot.nonprofit(position)) {
            writeln!(xml, "<url><loc>{public_url}/{}</loc></url>", nonprofit.slug)?;
        }
        xml.write_all(b"</urlset>\n")?;
        xml.finish()?;
    }
    out.finish()
}

/// Returns the positions in each sitemap of this many nonprofits.
fn split(listed: u32) -> impl ExactSizeIterator<Item = Range<u32>> {
    (0..listed.div_ceil(URLS_PER_SITEMAP)).map(move |number| {
        let first = number * URLS_PER_SITEMAP;
        first..listed.min(first + URLS_PER_SITEMAP)
    })
}

/// Returns the number of nonprofits that are still in the IRS files. They come first.
fn count_listed(snapshot: &Snapshot) -> u32 {
    let is_listed = |position: u32| {
        snapshot
            .nonprofit(position)
            .is_some_and(|nonprofit| nonprofit.gone_at.is_none())
    };
    let (mut low, mut high) = (0, snapshot.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if is_listed(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sitemap_has_at_most_50_000_urls() {
        assert_eq!(split(0).count(), 0);
        assert_eq!(split(1).len(), 1);
        assert_eq!(split(50_000).len(), 1);
        assert_eq!(
            split(100_001).collect::<Vec<_>>(),
            [0..50_000, 50_000..100_000, 100_000..100_001]
        );
    }
}
