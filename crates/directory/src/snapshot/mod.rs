//! The directory as one immutable, memory-mapped file.
//!
//! It holds every nonprofit in order of prominence, its JSON in responses, lookup tables by identifier, and the search
//! index. A nonprofit is addressed by its position, which counts from the most prominent.

pub(crate) mod build;
pub mod check;
pub mod counts;
pub(crate) mod documents;
pub(crate) mod edits;
pub(crate) mod file;
pub mod item;
pub(crate) mod overlay;
pub mod publish;
pub mod rebuild;
pub mod record;
pub mod refresh;
pub(crate) mod rules;
pub mod sitemaps;
pub(crate) mod squares;
pub mod table;
mod thesaurus;
pub(crate) mod view;
pub(crate) mod word_vectors;

use crate::nonprofits::Nonprofit;
use crate::nonprofits::cause_set::CauseSet;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::zip_codes::ZipNumber;
use crate::snapshot::counts::Counts;
use crate::snapshot::file::{SnapshotError, SnapshotFile, SnapshotMeta};
use crate::snapshot::item::Item;
use crate::snapshot::table::{Table, number_key, text_key};
use ::search::Index;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The sections of the file, in order.
#[derive(Clone, Copy, Debug)]
pub enum Section {
    /// The offset of each record and the end of the last, eight bytes each.
    Offsets,
    /// The records, most prominent first.
    Records,
    /// The items of responses, most prominent first; see [`Item`].
    Items,
    /// The offset of each item and the end of the last, eight bytes each.
    ItemOffsets,
    /// A table from the upper half of an ID to its position.
    Ids,
    /// A table from an EIN to its position.
    Eins,
    /// A table from a current slug to its position.
    Slugs,
    /// Former slugs of renamed nonprofits: one line each, slug and position separated by a tab.
    FormerSlugs,
    /// The number of the ZIP code of each nonprofit, two bytes each; see [`ZipNumber`].
    ZipNumbers,
    /// See [`Counts`].
    Counts,
    /// The search index of all nonprofits that are still in the IRS files. Document numbers are positions.
    Search,
}

/// The number of sections.
pub(crate) const SECTIONS: usize = Section::Search as usize + 1;

/// The bytes of the search index in the mapped file.
#[derive(Clone, Debug)]
pub struct SearchSection(Arc<SnapshotFile>);

impl AsRef<[u8]> for SearchSection {
    fn as_ref(&self) -> &[u8] {
        self.0.section(Section::Search as usize)
    }
}

/// An open snapshot.
#[derive(Debug)]
pub struct Snapshot {
    file: Arc<SnapshotFile>,
    index: Index<SearchSection>,
    former_slugs: HashMap<String, u32>,
    counts: Counts,
}

impl Snapshot {
    /// Returns when the file was written, in milliseconds since the Unix epoch.
    pub fn modified_at(&self) -> i64 {
        let modified_at = self.file.modified_at.duration_since(UNIX_EPOCH);
        modified_at.unwrap_or_default().as_millis() as i64
    }

    /// Opens and verifies a file.
    pub fn open(path: &Path) -> Result<Snapshot, SnapshotError> {
        let file = Arc::new(SnapshotFile::open(path)?);
        let lines = std::str::from_utf8(file.section(Section::FormerSlugs as usize))
            .map_err(|_| SnapshotError::Damaged("the former slugs are not UTF-8"))?;
        let former_slugs = lines
            .lines()
            .map(|line| {
                let (slug, position) = line.split_once('\t')?;
                Some((slug.to_owned(), position.parse().ok()?))
            })
            .collect::<Option<_>>()
            .ok_or(SnapshotError::Damaged("the former slugs are invalid"))?;
        let counts = file
            .section(Section::Counts as usize)
            .try_into()
            .map_err(|_| SnapshotError::Damaged("the counts are invalid"))?;
        let counts = Counts::from_bytes(counts);
        // `SnapshotFile::open` has verified the checksum of the section.
        let index = Index::open_trusted(SearchSection(Arc::clone(&file)))
            .map_err(|_| SnapshotError::Damaged("the search index is invalid"))?;
        let snapshot = Snapshot {
            file,
            index,
            former_slugs,
            counts,
        };
        let count = snapshot.file.meta.count as usize;
        let has_offsets = |section| snapshot.section(section).len() == (count + 1) * 8;
        if has_offsets(Section::Offsets)
            && has_offsets(Section::ItemOffsets)
            && snapshot.section(Section::ZipNumbers).len() == count * 2
        {
            Ok(snapshot)
        } else {
            Err(SnapshotError::Damaged("the number of records does not match"))
        }
    }

    /// Returns the search index. Document numbers are positions.
    pub fn index(&self) -> &Index<SearchSection> {
        &self.index
    }

    /// Returns what the snapshot was built from.
    #[inline]
    pub fn meta(&self) -> &SnapshotMeta {
        &self.file.meta
    }

    /// Returns how many nonprofits there are, and what is known about them.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the number of nonprofits.
    #[inline]
    pub fn len(&self) -> u32 {
        self.file.meta.count as u32
    }

    /// Returns whether the snapshot holds no nonprofits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the record of the nonprofit at a position.
    pub fn bytes(&self, position: u32) -> Option<&[u8]> {
        self.element(Section::Offsets, Section::Records, position)
    }

    /// Reads the item of the nonprofit at a position.
    #[inline]
    pub fn item(&self, position: u32) -> Option<Item<'_>> {
        Item::read(self.element(Section::ItemOffsets, Section::Items, position)?)
    }

    /// Returns the bytes between the offset of a position and the next one.
    #[inline]
    fn element(&self, offsets: Section, elements: Section, position: u32) -> Option<&[u8]> {
        let at = position as usize * 8;
        let (start, end) = self.section(offsets).get(at..at + 16)?.split_at(8);
        let offset = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes")) as usize;
        self.section(elements).get(offset(start)..offset(end))
    }

    /// Reads the nonprofit at a position.
    #[inline]
    pub fn nonprofit(&self, position: u32) -> Option<Nonprofit<'_>> {
        record::read(self.bytes(position)?)
    }

    /// Reads only the causes of the nonprofit at a position.
    #[inline]
    pub fn causes(&self, position: u32) -> Option<CauseSet> {
        record::causes(self.bytes(position)?)
    }

    /// Returns the ZIP code of the nonprofit at a position, if it is known where that is.
    #[inline]
    pub fn zip(&self, position: u32) -> Option<ZipNumber> {
        let at = position as usize * 2;
        let bytes = self.section(Section::ZipNumbers).get(at..at + 2)?;
        ZipNumber::from_bytes(bytes.try_into().expect("two bytes"))
    }

    /// Returns the position of the nonprofit that an identifier names.
    pub fn position(&self, identifier: &Identifier) -> Option<u32> {
        let record_matches =
            |position: u32, matches: &dyn Fn(&[u8]) -> bool| self.bytes(position).is_some_and(matches);
        match identifier {
            Identifier::Id(id) => {
                let key = id.0.as_u64_pair().0;
                self.table(Section::Ids)
                    .positions(key)
                    .find(|position| record_matches(*position, &|bytes| bytes.starts_with(id.0.as_bytes())))
            }
            Identifier::Ein(ein) => {
                let key = number_key(u64::from(ein.value()));
                self.table(Section::Eins).positions(key).next()
            }
            Identifier::Slug(slug) => self
                .table(Section::Slugs)
                .positions(text_key(slug.as_str()))
                .find(|position| {
                    record_matches(*position, &|bytes| {
                        record::slug(bytes) == Some(slug.as_str().as_bytes())
                    })
                })
                .or_else(|| self.former_slugs.get(slug.as_str()).copied()),
        }
    }

    fn table(&self, section: Section) -> Table<'_> {
        Table::new(self.section(section))
    }

    fn section(&self, section: Section) -> &[u8] {
        self.file.section(section as usize)
    }
}
