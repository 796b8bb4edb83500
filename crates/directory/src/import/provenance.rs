//! Caches which import the IRS facts in the directory come from.

use super::store::{self, IrsImport};
use arc_swap::ArcSwapOption;
use platform::db::{Db, Revision};
use std::sync::Arc;

/// Caches the last import of IRS files, for one revision of the directory.
#[derive(Debug, Default)]
pub struct Provenance(ArcSwapOption<CacheEntry>);

#[derive(Debug)]
struct CacheEntry {
    revision: Revision,
    import: Option<Arc<IrsImport>>,
}

impl Provenance {
    /// Finds the last import of IRS files. `revision` is the current revision of the directory.
    pub async fn find(&self, db: &Db, revision: Revision) -> sqlx::Result<Option<Arc<IrsImport>>> {
        if let Some(cached) = self.0.load().as_ref()
            && cached.revision == revision
        {
            return Ok(cached.import.clone());
        }
        let import = store::find_last_irs_import(db).await?.map(Arc::new);
        self.0.store(Some(Arc::new(CacheEntry {
            revision,
            import: import.clone(),
        })));
        Ok(import)
    }
}
