//! Where the facts of the IRS on our pages come from: the last import of its files, read once for each state of the
//! directory.

use super::store::{self, IrsImport};
use arc_swap::ArcSwapOption;
use platform::db::Db;
use std::sync::Arc;

/// Remembers the answer.
#[derive(Debug, Default)]
pub struct Provenance(ArcSwapOption<Known>);

#[derive(Debug)]
struct Known {
    revision: i64,
    source: Option<Arc<IrsImport>>,
}

impl Provenance {
    /// The last import of files of the IRS, when the directory is at `revision`.
    pub async fn find(&self, db: &Db, revision: i64) -> sqlx::Result<Option<Arc<IrsImport>>> {
        if let Some(known) = self.0.load().as_ref()
            && known.revision == revision
        {
            return Ok(known.source.clone());
        }
        let source = store::find_last_irs_import(db).await?.map(Arc::new);
        self.0.store(Some(Arc::new(Known {
            revision,
            source: source.clone(),
        })));
        Ok(source)
    }
}
