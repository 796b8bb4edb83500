//! Finds statements, for operators and for whoever has a link.

use super::{Statement, StatementItem, link, store};
use crate::disbursement::batches::{Line, LineState, store as batches};
use crate::disbursement::{DisburseError, Disbursements};
use platform::money::{AmountOverflow, Cents};

impl Disbursements<'_> {
    /// Returns the link to the statement of a line, which works for whoever has it.
    pub fn statement_url(self, line: &Line) -> String {
        format!("{}{}", self.public_url, link::path(self.secret, line))
    }

    /// Finds the statement of a line.
    pub async fn find_statement(self, batch: i64, line: i64) -> Result<Option<Statement>, DisburseError> {
        let mut tx = self.db.view().await?;
        let Some(line) = batches::find_line(&mut tx, batch, line).await? else {
            return Ok(None);
        };
        let Some(batch) = batches::find_batch(self.db, batch).await? else {
            return Ok(None);
        };
        let items = store::list_items(&mut tx, &line).await?;
        let since = store::find_previous(&mut tx, &line).await?;
        let direct = store::list_direct(&mut tx, &line, (since, batch.prepared_at), batch.mode).await?;
        drop(tx);
        let candidate = self.find_candidate(line.nonprofit).await?;
        let sum = |amount: fn(&StatementItem) -> Cents| -> Result<Cents, AmountOverflow> {
            Cents::sum(items.iter().map(amount))
        };
        Ok(Some(Statement {
            gross: sum(|item| item.gross)?,
            fees: sum(|item| item.fee)?,
            mode: batch.mode,
            prepared_at: batch.prepared_at,
            name: candidate.name,
            ein: candidate.ein,
            items,
            direct,
            line,
        }))
    }

    /// Finds the statement of a line for whoever has its token. A draft has none yet.
    pub async fn open_statement(
        self,
        (batch, line): (i64, i64),
        token: &str,
    ) -> Result<Option<Statement>, DisburseError> {
        let found = self.find_statement(batch, line).await?;
        Ok(found.filter(|statement| {
            let line = &statement.line;
            link::is_valid(self.secret, line, token) && line.state != LineState::Queued
        }))
    }
}
