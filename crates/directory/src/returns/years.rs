//! The returns of a nonprofit, each with the file that it comes from.

use super::store::{StoredReturn, list_returns};
use crate::history::field_sources::FieldSource;
use crate::history::imports::store::find_files;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::sources::SourceKind;
use platform::db::Db;

/// A return and its source.
#[derive(Clone, Debug)]
pub struct FinancialYear {
    pub filed: StoredReturn,
    pub source: FieldSource,
}

/// Lists the returns of a nonprofit, newest period first.
pub async fn list(db: &Db, ein: Ein) -> sqlx::Result<Vec<FinancialYear>> {
    let returns = list_returns(db, ein).await?;
    let mut sources: Vec<_> = returns.iter().map(|filed| filed.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let files = find_files(&mut db.view().await?, &sources).await?;
    let with_source = |filed: StoredReturn| FinancialYear {
        source: FieldSource {
            kind: SourceKind::Returns,
            files: files.get(&filed.source).cloned().into_iter().collect(),
            period: Some(filed.period),
            stated_at: None,
            filed: None,
        },
        filed,
    };
    Ok(returns.into_iter().map(with_source).collect())
}
