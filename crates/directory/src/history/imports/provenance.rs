//! Caches which imports the facts in the directory come from.

use super::store::{self, LastImport};
use arc_swap::ArcSwapOption;
use platform::db::{Db, Revision};
use std::sync::Arc;

/// Caches the last import of each kind, for one revision of the directory.
#[derive(Debug, Default)]
pub struct Provenance(ArcSwapOption<CacheEntry>);

#[derive(Debug)]
struct CacheEntry {
    revision: Revision,
    imports: Arc<LastImports>,
}

/// The last import of each kind, oldest first.
#[derive(Debug, Default)]
pub struct LastImports(pub Vec<LastImport>);

impl LastImports {
    /// Returns the last import of a kind.
    pub fn of_kind(&self, kind: &str) -> Option<&LastImport> {
        self.0.iter().find(|import| import.kind == kind)
    }
}

impl Provenance {
    /// Lists the last imports. `revision` is the current revision of the directory.
    pub async fn list(&self, db: &Db, revision: Revision) -> sqlx::Result<Arc<LastImports>> {
        if let Some(cached) = self.0.load().as_ref()
            && cached.revision == revision
        {
            return Ok(Arc::clone(&cached.imports));
        }
        let imports = Arc::new(LastImports(store::list_last_imports(db).await?));
        self.0.store(Some(Arc::new(CacheEntry {
            revision,
            imports: Arc::clone(&imports),
        })));
        Ok(imports)
    }
}
