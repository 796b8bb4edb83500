//! The directory as one immutable, memory-mapped file: every nonprofit in order of prominence, found by its
//! identifiers without a question to the store.

use super::file::{SnapshotError, SnapshotFile, SnapshotMeta};
use super::record;
use super::table::{Table, spread, text_key};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::identifier::Identifier;
use ::search::Index;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The sections of the file, in order.
#[derive(Clone, Copy, Debug)]
pub enum Section {
    /// Where each record begins, and where the last ends: eight bytes each.
    Offsets,
    /// The records, most prominent first.
    Records,
    /// From the upper half of an id to its place.
    Ids,
    /// From an EIN to its place.
    Eins,
    /// From a current slug to its place.
    Slugs,
    /// Slugs of renamed bodies: a line each, slug and place with a tab between them.
    FormerSlugs,
    /// The search index over all that are still in the files; its document numbers are places.
    Search,
}

/// How many there are.
pub const SECTIONS: usize = Section::Search as usize + 1;

/// The bytes of the search index, inside the mapped file.
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
}

impl Snapshot {
    /// Opens and checks a file.
    pub fn open(path: &Path) -> Result<Snapshot, SnapshotError> {
        let file = Arc::new(SnapshotFile::open(path)?);
        let lines = std::str::from_utf8(file.section(Section::FormerSlugs as usize))
            .map_err(|_| SnapshotError::Damaged("its former slugs are no text"))?;
        let former_slugs = lines
            .lines()
            .map(|line| {
                let (slug, place) = line.split_once('\t')?;
                Some((slug.to_owned(), place.parse().ok()?))
            })
            .collect::<Option<_>>()
            .ok_or(SnapshotError::Damaged("its former slugs make no sense"))?;
        // The checksum of the section has been checked with those of the others.
        let index = Index::open_trusted(SearchSection(Arc::clone(&file)))
            .map_err(|_| SnapshotError::Damaged("its search index makes no sense"))?;
        let snapshot = Snapshot {
            file,
            index,
            former_slugs,
        };
        let expected = (snapshot.file.meta.count as usize + 1) * 8;
        match snapshot.section(Section::Offsets).len() == expected {
            true => Ok(snapshot),
            false => Err(SnapshotError::Damaged(
                "it holds another number of records than it says",
            )),
        }
    }

    /// The search index; document numbers are places.
    pub fn index(&self) -> &Index<SearchSection> {
        &self.index
    }

    /// What it is a snapshot of.
    #[inline]
    pub fn meta(&self) -> &SnapshotMeta {
        &self.file.meta
    }

    /// How many nonprofits it holds.
    #[inline]
    pub fn len(&self) -> u32 {
        self.file.meta.count as u32
    }

    /// Does it hold none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the nonprofit at a place; places count from the most prominent.
    pub fn bytes(&self, place: u32) -> Option<&[u8]> {
        let offset = |at: usize| {
            let bytes = self.section(Section::Offsets).get(at * 8..at * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")) as usize)
        };
        let (start, end) = (offset(place as usize)?, offset(place as usize + 1)?);
        self.section(Section::Records).get(start..end)
    }

    /// The nonprofit at a place.
    #[inline]
    pub fn nonprofit(&self, place: u32) -> Option<Nonprofit<'_>> {
        record::read(self.bytes(place)?)
    }

    /// Where a nonprofit stands.
    pub fn place(&self, identifier: &Identifier) -> Option<u32> {
        let is = |place: u32, matches: &dyn Fn(&[u8]) -> bool| self.bytes(place).is_some_and(matches);
        match identifier {
            Identifier::Id(id) => {
                let key = id.0.as_u64_pair().0;
                self.table(Section::Ids)
                    .places(key)
                    .find(|place| is(*place, &|bytes| bytes.starts_with(id.0.as_bytes())))
            }
            Identifier::Ein(ein) => {
                let key = spread(u64::from(ein.value()));
                self.table(Section::Eins).places(key).next()
            }
            Identifier::Slug(slug) => self
                .table(Section::Slugs)
                .places(text_key(slug.as_str()))
                .find(|place| {
                    is(*place, &|bytes| {
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
