//! Saves payees, and holds the payments of those that are changed.

use super::{PayeeInput, store};
use crate::disbursement::bank_account::BankAccount;
use crate::disbursement::{DisburseError, Disbursements};
use access::audit::{self, Action, Actor};
use platform::db::Tx;
use platform::ids::NonprofitId;
use platform::secret::StoreSecret;
use std::sync::Arc;

/// The purpose of the encryption of bank accounts.
const PURPOSE: &str = "bank account of a payee";
/// The audit entry of a new or changed payee.
const CHANGED: &str = "payee change";

/// What [`Disbursements::save_payees`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedPayees {
    pub new: usize,
    /// Nothing is paid to them for a while.
    pub changed: usize,
    /// Only the contact changed, or nothing.
    pub unchanged: usize,
}

impl Disbursements<'_> {
    /// Saves payees, all of them or none. A change of how a nonprofit is paid holds its payments.
    pub async fn save_payees(
        self,
        inputs: Vec<PayeeInput>,
        actor: Actor,
    ) -> Result<SavedPayees, DisburseError> {
        let now = self.clock.millis();
        let job = Arc::new(SaveJob {
            inputs,
            secret: self.secret.clone(),
            actor,
            now,
            held_until: now + self.settings.change_hold_millis(),
        });
        // In the task that writes the ledger, because exports compare the version of a payee there.
        let work = self.recorder.run(move |batch| {
            let job = Arc::clone(&job);
            Box::pin(async move { Ok(job.write(&mut batch.tx).await?) })
        });
        work.await
    }

    /// Returns the bank account of a payee, for its form: what is not typed stays.
    pub async fn find_bank(self, nonprofit: NonprofitId) -> Result<Option<BankAccount>, DisburseError> {
        let mut tx = self.db.view().await?;
        let found = store::find_in(&mut tx, nonprofit).await?;
        let encrypted = found.and_then(|(_, encrypted)| encrypted);
        Ok(encrypted.and_then(|bytes| decrypt(self.secret, nonprofit, &bytes)))
    }
}

/// Payees to save.
struct SaveJob {
    inputs: Vec<PayeeInput>,
    secret: StoreSecret,
    actor: Actor,
    now: i64,
    /// When changed payees can be paid again.
    held_until: i64,
}

impl SaveJob {
    async fn write(&self, tx: &mut Tx) -> sqlx::Result<SavedPayees> {
        let mut saved = SavedPayees::default();
        for input in &self.inputs {
            let bank = encrypt(&self.secret, input);
            match store::find_in(tx, input.nonprofit).await? {
                None => {
                    saved.new += 1;
                    store::insert(tx, input, bank, self.now).await?;
                }
                Some((payee, encrypted)) => {
                    let known = encrypted.and_then(|bytes| decrypt(&self.secret, input.nonprofit, &bytes));
                    let is_same = payee.method == input.method
                        && payee.name == input.name
                        && payee.address == input.address
                        && known == input.bank;
                    if is_same {
                        saved.unchanged += 1;
                        store::set_email(tx, input).await?;
                        continue;
                    }
                    saved.changed += 1;
                    store::update(tx, input, bank, (self.now, self.held_until)).await?;
                }
            }
            record(tx, input, self.actor, self.now).await?;
        }
        Ok(saved)
    }
}

async fn record(tx: &mut Tx, input: &PayeeInput, actor: Actor, now: i64) -> sqlx::Result<()> {
    let action = Action::new(actor, CHANGED, &input.nonprofit.to_string(), input.describe());
    audit::store::record(tx, &action, now).await
}

fn encrypt(secret: &StoreSecret, input: &PayeeInput) -> Option<Vec<u8>> {
    let context = input.nonprofit.0.as_bytes();
    let bank = input.bank.as_ref()?;
    Some(secret.encrypt(PURPOSE, context, bank.to_text().as_bytes()))
}

/// Decrypts the bank account of a payee. `None` if it was changed or encrypted with another secret.
pub(in crate::disbursement) fn decrypt(
    secret: &StoreSecret,
    nonprofit: NonprofitId,
    encrypted: &[u8],
) -> Option<BankAccount> {
    let text = secret.decrypt(PURPOSE, nonprofit.0.as_bytes(), encrypted)?;
    BankAccount::from_text(&String::from_utf8(text).ok()?)
}
