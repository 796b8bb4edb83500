//! Starts a donation from a submitted form.
//!
//! The IDs of a donation are derived from everything that the form contains, including its one-time token, with the
//! secret of the store. A form that is sent twice is one donation, on any number of servers. A form that is changed
//! after the Back button, or sent to another nonprofit, is another donation. So a donation never changes, and the
//! amount on its payment page is always the amount that is charged.
//!
//! A retry needs no lock to find its donation. The receipt has an ID of its own, because anyone who knows that ID can
//! open the receipt.

use super::dedication::Dedication;
use super::partner::Partner;
use super::{Donation, Payment, State};
use crate::checkout::screening::Screening;
use crate::providers::Provider;
use platform::email_address::EmailAddress;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use platform::secret::StoreSecret;
use uuid::Uuid;

/// A submitted donation form.
#[derive(Clone, Debug)]
pub struct StartDonation {
    /// The token of the form: random, and new each time the form is shown.
    pub token: Uuid,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    /// What is charged.
    pub amount: Cents,
    /// The part of it that covers the fee of the provider.
    pub covered: Cents,
    pub name: Option<String>,
    pub is_public: bool,
    pub email: Option<EmailAddress>,
    pub shares_contact: bool,
    pub message: Option<String>,
    pub designation: Option<String>,
    pub dedication: Option<Dedication>,
    pub partner: Partner,
    /// Whether it is given again every month.
    pub is_monthly: bool,
}

impl StartDonation {
    /// Returns the donation that this form starts.
    pub fn into_donation(self, secret: &StoreSecret, provider: &Provider, now: i64) -> Donation {
        let content = self.content();
        let id = |purpose| {
            let mac = secret.authenticate(purpose, &content);
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&mac[..16]);
            uuid::Builder::from_custom_bytes(bytes).into_uuid()
        };
        let donation_id = id("donation ID");
        Donation {
            id: donation_id,
            receipt_id: id("receipt ID"),
            state: State::Started,
            mode: provider.mode(),
            nonprofit: self.nonprofit,
            fundraiser: self.fundraiser,
            amount: self.amount,
            covered: self.covered,
            name: self.name,
            is_public: self.is_public,
            email: self.email,
            shares_contact: self.shares_contact,
            message: self.message,
            designation: self.designation,
            dedication: self.dedication,
            partner: self.partner,
            monthly_gift: self.is_monthly.then_some(donation_id),
            entry: None,
            provider: provider.name().to_owned(),
            payment: Payment::default(),
            account: None,
            screening: Screening::default(),
            started_at: now,
        }
    }

    /// Writes all fields one after another, each with its length, so that no two forms have the same content.
    fn content(&self) -> Vec<u8> {
        let partner = &self.partner;
        let fundraiser = self.fundraiser.map(|id| id.to_string());
        let fields = [
            Some(self.token.to_string()),
            Some(self.nonprofit.to_string()),
            fundraiser,
            Some(self.amount.get().to_string()),
            self.name.clone(),
            Some(self.is_public.to_string()),
            self.email.as_ref().map(ToString::to_string),
            self.message.clone(),
            self.designation.clone(),
            partner.donation_id.clone(),
            partner.metadata.clone(),
            partner.success_url.clone(),
            partner.exit_url.clone(),
        ];
        // Fields of later versions are only added if they are used: a form that is sent again during an upgrade stays the same
        // donation.
        let covered = Some(self.covered.get().to_string()).filter(|_| self.covered > Cents::ZERO);
        let shares_contact = self.shares_contact.then(|| "shares contact".to_owned());
        let dedication = self.dedication.as_ref().map(Dedication::content);
        let account = partner.account.map(|id| format!("partner {id}"));
        let is_monthly = self.is_monthly.then(|| "monthly".to_owned());
        let later = [covered, shares_contact, dedication, account, is_monthly];
        let later = later.into_iter().flatten().map(Some);
        let mut content = Vec::with_capacity(512);
        for field in fields.into_iter().chain(later) {
            let field = field.unwrap_or_default();
            content.extend_from_slice(&(field.len() as u64).to_be_bytes());
            content.extend_from_slice(field.as_bytes());
        }
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::dedication::{DedicationKind, Notice};
    use platform::ids::AccountId;

    #[test]
    fn every_field_and_its_place_is_part_of_the_content() {
        let text = |text: &str| Some(text.to_owned());
        let form = StartDonation {
            token: Uuid::from_u128(1),
            nonprofit: NonprofitId(Uuid::from_u128(2)),
            fundraiser: None,
            amount: Cents::new(500),
            covered: Cents::ZERO,
            name: Some("Ada".to_owned()),
            is_public: false,
            email: None,
            shares_contact: false,
            message: Some("Hello".to_owned()),
            designation: None,
            dedication: None,
            partner: Partner::default(),
            is_monthly: false,
        };
        let dedication = |kind, name: &str, message: Option<&str>| {
            let email = EmailAddress::parse("bo@example.org").unwrap();
            let notice = message.map(|message| Notice {
                email,
                message: text(message),
            });
            let name = name.to_owned();
            Some(Dedication { kind, name, notice })
        };
        let change = |change: &dyn Fn(&mut StartDonation)| {
            let mut changed = form.clone();
            change(&mut changed);
            changed.content()
        };
        let mut contents = vec![
            form.content(),
            change(&|form| form.token = Uuid::from_u128(3)),
            change(&|form| form.nonprofit = NonprofitId(Uuid::from_u128(3))),
            change(&|form| form.fundraiser = Some(FundraiserId(Uuid::from_u128(2)))),
            change(&|form| form.amount = Cents::new(501)),
            change(&|form| form.name = text("AdaHello")),
            change(&|form| (form.name, form.message) = (text("AdaHello"), None)),
            change(&|form| (form.name, form.message) = (None, text("AdaHello"))),
            change(&|form| form.is_public = true),
            change(&|form| form.email = EmailAddress::parse("ada@example.org").ok()),
            change(&|form| form.covered = Cents::new(20)),
            change(&|form| form.shares_contact = true),
            change(&|form| form.is_monthly = true),
            change(&|form| form.designation = text("boats")),
            change(&|form| form.dedication = dedication(DedicationKind::Honor, "Bo", None)),
            change(&|form| form.dedication = dedication(DedicationKind::Memory, "Bo", None)),
            change(&|form| form.dedication = dedication(DedicationKind::Memory, "Bo", Some("Hi"))),
            change(&|form| form.partner.donation_id = text("boats")),
            change(&|form| form.partner.metadata = text("boats")),
            change(&|form| form.partner.success_url = text("boats")),
            change(&|form| form.partner.exit_url = text("boats")),
            change(&|form| form.partner.account = Some(AccountId(Uuid::from_u128(2)))),
        ];
        let count = contents.len();
        contents.sort();
        contents.dedup();
        assert_eq!(contents.len(), count);
        assert_eq!(form.content(), form.clone().content());
    }
}
