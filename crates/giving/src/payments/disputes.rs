//! Disputes: the donor's bank withdraws a donation, and returns it if the operator wins. An inquiry withdraws nothing.

use super::Payments;
use super::error::Result;
use super::objects::label;
use super::store::{self, DisputeRow};
use crate::checkout::Donation;
use crate::donations::{self, Reversal, SITE};
use crate::notices::{DisputeStatus, GivingNotices};
use crate::providers::stripe::objects::Dispute;
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;

impl Payments<'_> {
    /// Enters what became of a dispute at Stripe.
    pub(crate) async fn refresh_dispute(
        self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let dispute = self.stripe.find_dispute(id, account, urgency).await?;
        self.refresh_withdrawals(dispute.charge.id(), account, urgency)
            .await
    }

    pub(crate) async fn apply_dispute(self, dispute: &Dispute, donation: &Donation) -> Result<()> {
        let row = DisputeRow {
            id: dispute.id.clone(),
            donation: donation.id,
            amount: Cents::new(dispute.amount),
            reason: dispute.reason.clone(),
            status: dispute.status.clone(),
            due_by: dispute
                .evidence_details
                .as_ref()
                .and_then(|details| details.due_by),
            opened_at: dispute.created.saturating_mul(1_000),
        };
        self.store_dispute(&row, donation).await?;
        let recorder = self.settlement.recorder;
        let mut withdrawn = None;
        for transaction in &dispute.balance_transactions {
            if transaction.amount < 0 {
                let new = donations::Dispute {
                    source: label(SITE),
                    external_id: label(&donation.id.to_string()),
                    amount: Cents::new(-transaction.amount),
                    dispute_id: label(&dispute.id),
                };
                withdrawn = Some(recorder.dispute(new).await?.sequence);
                if donation.account.is_none() {
                    self.enter_settlement(&dispute.id, transaction).await?;
                }
            } else {
                let reversal = Reversal {
                    source: label(SITE),
                    external_id: label(&dispute.id),
                };
                recorder.reverse(reversal).await?;
                if donation.account.is_none() {
                    let won = format!("{} won", dispute.id);
                    self.enter_settlement(&won, transaction).await?;
                }
            }
        }
        let is_lost = DisputeStatus::of_stripe(&dispute.status) == DisputeStatus::Lost;
        if let Some(entry) = withdrawn.filter(|_| is_lost) {
            recorder
                .announce_lost_dispute(donation.id, row.opened_at, entry)
                .await?;
        }
        Ok(())
    }

    /// Stores a dispute, and queues the emails about it in the same transaction if it was opened or decided.
    async fn store_dispute(self, row: &DisputeRow, donation: &Donation) -> Result<()> {
        let settlement = self.settlement;
        let notices = GivingNotices {
            db: settlement.db,
            notices: settlement.notices(),
            counts_test: self.mode.is_test(),
            time_zone: settlement.time_zone,
        };
        let status = DisputeStatus::of_stripe(&row.status);
        let planned = notices.plan_dispute(donation, row.amount, status).await?;
        let mut tx = settlement.db.write().await?;
        let before = store::set_dispute(&mut tx, row, settlement.clock.millis()).await?;
        let has_changed = before.is_none_or(|before| DisputeStatus::of_stripe(&before) != status);
        let prepared = if has_changed {
            notices.queue_planned(&mut tx, planned).await?
        } else {
            Vec::new()
        };
        tx.commit().await?;
        notices.dispatch(prepared);
        Ok(())
    }
}
