//! Reads the files. The facts of returns that may be stored are put in a temporary file.

use super::filing_order::FilingOrder;
use crate::digest::digest;
use crate::form990::facts::facts;
use crate::form990::filed_return::{FiledReturn, Form};
use crate::form990::files::{FoundReturn, read_files};
use crate::form990::reader::Document;
use crate::report::RejectedLines;
use crate::summary::ImportedFile;
use anyhow::Context;
use directory::returns::facts::Month;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const NO_SPACE: &str = "cannot write a temporary file in the data folder; free disk space and import again";

/// The result of reading the files.
pub(super) struct ReadReturns {
    pub files: Vec<ImportedFile>,
    pub rejected: RejectedLines,
    /// The number of documents in the files, including rejected ones.
    pub documents: u64,
    pub other_forms: u64,
    /// The number of returns that a newer filing in the same files replaces.
    pub outdated: u64,
    /// Sorted by EIN and period, with at most one for each.
    pub returns: Vec<FoundFacts>,
    /// Contains the facts.
    pub facts: File,
}

/// A return in the files.
pub(super) struct FoundFacts {
    pub ein: u32,
    pub period: Month,
    pub form: Form,
    pub object_id: Box<str>,
    pub order: FilingOrder,
    pub digest: i64,
    /// The position of its file among the files of the import, from 0.
    pub file: u16,
    /// Where the facts are in the temporary file.
    pub offset: u64,
    pub length: u32,
}

/// Reads all files.
pub(crate) fn read_returns(paths: &[PathBuf], folder: &Path) -> anyhow::Result<ReadReturns> {
    let temporary = tempfile::tempfile_in(folder).context(NO_SPACE)?;
    let mut reader = ReturnsReader {
        paths,
        rejected: RejectedLines::default(),
        documents: 0,
        other_forms: 0,
        outdated: 0,
        returns: HashMap::new(),
        out: BufWriter::with_capacity(1 << 20, temporary),
        offset: 0,
    };
    let files = read_files(paths, |found| reader.add(found))?;
    let mut returns: Vec<FoundFacts> = reader.returns.into_values().collect();
    returns.sort_unstable_by_key(|found| (found.ein, found.period));
    let facts = reader
        .out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error);
    Ok(ReadReturns {
        files,
        rejected: reader.rejected,
        documents: reader.documents,
        other_forms: reader.other_forms,
        outdated: reader.outdated,
        returns,
        facts: facts.context(NO_SPACE)?,
    })
}

struct ReturnsReader<'a> {
    paths: &'a [PathBuf],
    rejected: RejectedLines,
    documents: u64,
    other_forms: u64,
    outdated: u64,
    /// By EIN and period.
    returns: HashMap<(u32, Month), FoundFacts>,
    out: BufWriter<File>,
    offset: u64,
}

impl ReturnsReader<'_> {
    fn add(&mut self, found: FoundReturn) -> anyhow::Result<()> {
        self.documents += 1;
        match found.result {
            Ok(Document::Return(filed)) => self.add_return(&filed, found.file, found.object_id),
            Ok(Document::OtherForm(_)) => {
                self.other_forms += 1;
                Ok(())
            }
            Err(error) => {
                let path = &self.paths[found.file];
                self.rejected
                    .add_member(&path.display().to_string(), &found.member, &error.to_string());
                Ok(())
            }
        }
    }

    fn add_return(&mut self, filed: &FiledReturn, file: usize, object_id: String) -> anyhow::Result<()> {
        let facts = serde_json::to_string(&facts(filed))?;
        let found = FoundFacts {
            ein: filed.ein.value(),
            period: filed.period_end,
            form: filed.form,
            order: FilingOrder::new(&object_id, filed.filed_at.as_deref(), filed.is_amended),
            object_id: object_id.into(),
            digest: digest(&facts),
            file: file as u16,
            offset: self.offset,
            length: facts.len() as u32,
        };
        match self.returns.entry((found.ein, found.period)) {
            Entry::Vacant(entry) => {
                entry.insert(found);
            }
            Entry::Occupied(mut entry) => {
                // One of the two is not stored.
                self.outdated += 1;
                let earlier = entry.get();
                let is_same = earlier.digest == found.digest && earlier.object_id == found.object_id;
                if is_same || found.order.compare(&earlier.order) == Ordering::Less {
                    return Ok(());
                }
                entry.insert(found);
            }
        }
        self.out.write_all(facts.as_bytes()).context(NO_SPACE)?;
        self.offset += facts.len() as u64;
        Ok(())
    }
}
