//! Writes what a provider reports about a gift, and tells the donor and the outbox what changed, in one transaction.

use super::emails::Letter;
use super::facts::between;
use super::{MonthlyGift, State, dates, store};
use crate::ledger::batch::Batch;
use crate::ledger::writer::WriteError;
use platform::db::StoreError;
use platform::mail::{Mailer, PreparedEmail};
use serde_json::json;

/// A gift as its provider reports it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub gift: MonthlyGift,
    /// When the provider was asked. An older answer does not replace a newer one.
    pub at: i64,
    /// What emails to the donor need, if they can be sent.
    pub letter: Option<Letter>,
    pub mailer: Mailer,
}

/// Stores a report, unless a newer one is stored. Returns the emails to send after the commit.
pub(crate) async fn write(
    batch: &mut Batch,
    seen: &Seen,
) -> Result<Vec<PreparedEmail>, StoreError<WriteError>> {
    let after = &seen.gift;
    let stored = store::find_in(&mut batch.tx, after.id).await?;
    let is_outdated = |(before, seen_at): &(MonthlyGift, i64)| {
        // A canceled gift never comes back.
        *seen_at > seen.at
            || (before.status.state == State::Canceled && after.status.state != State::Canceled)
    };
    if stored.as_ref().is_some_and(is_outdated) {
        return Ok(Vec::new());
    }
    let before = stored.as_ref().map(|(before, _)| &before.status);
    let check_at = (after.status.state != State::Canceled)
        .then(|| dates::check_at(after.status.next_charge_at(), seen.at));
    match before {
        Some(_) => store::update(&mut batch.tx, after.id, &after.status, check_at, seen.at).await?,
        None => store::insert(&mut batch.tx, after, check_at, seen.at).await?,
    }
    let mut emails = Vec::new();
    for fact in between(before, &after.status) {
        if let Some(kind) = fact.kind() {
            let body = json!({
                "monthlyGiftId": after.id,
                "mode": after.mode.as_str(),
                "nonprofitId": after.nonprofit.0,
                "fundraiserId": after.fundraiser.map(|id| id.0),
                "state": after.status.state.as_str(),
                "amount": after.status.amount.get(),
                "changed": fact.changed().as_slice(),
            });
            batch.add_outbox_row(kind, after.fundraiser, &body, seen.at);
        }
        if let Some(letter) = &seen.letter
            && let Some(email) = letter.about(&fact, after)
        {
            emails.push(seen.mailer.prepare(&mut batch.tx, email).await?);
        }
    }
    Ok(emails)
}
