//! Where the facts of the IRS on our pages come from: the last import of its files, read once for each state of the
//! directory.

use super::store;
use crate::platform::db::Db;
use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use std::sync::Arc;

/// An import of files of the IRS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The day on which they were read.
    pub day: String,
    /// The names of the files, without folders.
    pub files: String,
}

impl Source {
    /// Files that were read at a time in milliseconds.
    pub fn new(read_at: i64, files: &[&str]) -> Source {
        let day = Timestamp::from_millisecond(read_at).unwrap_or_default();
        Source {
            day: day.strftime("%-d %B %Y").to_string(),
            files: files.join(", "),
        }
    }
}

/// Remembers the answer.
#[derive(Debug, Default)]
pub struct Provenance(ArcSwapOption<Known>);

#[derive(Debug)]
struct Known {
    revision: i64,
    source: Option<Arc<Source>>,
}

impl Provenance {
    /// The last import of files of the IRS, when the directory is at `revision`.
    pub async fn find(&self, db: &Db, revision: i64) -> sqlx::Result<Option<Arc<Source>>> {
        if let Some(known) = self.0.load().as_ref()
            && known.revision == revision
        {
            return Ok(known.source.clone());
        }
        let source = store::find_source(db).await?.map(Arc::new);
        self.0.store(Some(Arc::new(Known {
            revision,
            source: source.clone(),
        })));
        Ok(source)
    }
}
