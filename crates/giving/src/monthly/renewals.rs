//! The donations of a gift after the first one, and whether it can still be given.

use super::MonthlyGift;
use crate::checkout::dedication::Dedication;
use crate::checkout::partner::Partner;
use crate::checkout::screening::Screening;
use crate::checkout::settle::Settlement;
use crate::checkout::{Donation, Payment, State, store as checkout};
use crate::donations::DonationError;
use crate::fundraisers::store as fundraisers;
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use platform::money::Cents;
use uuid::Uuid;

impl Settlement<'_> {
    /// Inserts the donation of a later payment, unless it exists. Its ID is derived from the payment, so a payment that is
    /// reported again is the same donation. What the donor said at the start holds for all payments, except the message.
    pub(crate) async fn insert_renewal(
        self,
        first: &Donation,
        payment: &str,
        (amount, covered): (Cents, Cents),
    ) -> sqlx::Result<Donation> {
        let id = self.renewal_id(payment);
        let donation = Donation {
            id,
            receipt_id: self.derive_id("receipt of a monthly payment", payment),
            state: State::Started,
            amount,
            covered,
            message: None,
            // The person was told about the first donation.
            dedication: first.dedication.clone().map(|dedication| Dedication {
                notice: None,
                ..dedication
            }),
            screening: Screening::default(),
            partner: Partner {
                success_url: None,
                exit_url: None,
                ..first.partner.clone()
            },
            monthly_gift: Some(first.id),
            entry: None,
            payment: Payment::default(),
            started_at: self.clock.millis(),
            ..first.clone()
        };
        checkout::insert(self.db, &donation).await?;
        Ok(donation)
    }

    /// Returns the ID of the donation of a later payment.
    pub(crate) fn renewal_id(self, payment: &str) -> Uuid {
        self.derive_id("donation of a monthly payment", payment)
    }

    fn derive_id(self, purpose: &str, payment: &str) -> Uuid {
        let mac = self.secret.authenticate(purpose, payment.as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&mac[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// Returns whether all nonprofits of a gift can receive donations. A fundraiser that has ended, or that an operator has
    /// hidden, does not matter: the gift goes on to its nonprofits.
    pub(crate) async fn can_receive(self, gift: &MonthlyGift) -> Result<bool, DonationError> {
        let nonprofits = match gift.fundraiser {
            None => vec![gift.nonprofit],
            Some(id) => match fundraisers::find(self.db, id).await? {
                Some(fundraiser) => fundraiser.supported.iter().map(|(id, _)| *id).collect(),
                None => return Ok(false),
            },
        };
        for id in nonprofits {
            let found = self.directory.find(&Identifier::Id(id)).await?;
            let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
            if !nonprofit.is_some_and(|nonprofit| nonprofit.is_disbursable()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
