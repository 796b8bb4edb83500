//! What is known about an event when it is sent. Donors who were erased since are not in it.

use super::{Event, store};
use crate::checkout::{self, Donation as CheckoutDonation};
use crate::donations::SITE;
use crate::fundraisers::names::slug_of;
use crate::fundraisers::{self, Fundraiser};
use crate::ledger::entry::Mode;
use crate::ledger::store as ledger;
use crate::monthly::{self, MonthlyGift};
use crate::webhooks::{EventKind, Webhooks};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::Cents;
use serde_json::Value;
use uuid::Uuid;

/// The donations of a payment that an event lists. More would not fit in a body.
const MAX_PAID_DONATIONS: i64 = 256;
const DONATION_ID: &str = "donation ID of an entry";

/// An event with everything that its body says.
#[derive(Clone, Debug)]
pub struct Content {
    pub id: String,
    pub kind: EventKind,
    pub occurred_at: i64,
    pub data: Data,
}

/// What an event is about.
#[derive(Clone, Debug)]
pub enum Data {
    Donation(Box<DonationData>, Option<MovementData>),
    MonthlyGift(Box<MonthlyGiftData>),
    Disbursement(Box<DisbursementData>),
    Fundraiser(Box<FundraiserData>),
    Nonprofit(NonprofitData, Vec<String>),
    Directory(DirectoryData),
    Ping { endpoint: Option<Uuid> },
}

/// A donation, as one account may see it.
#[derive(Clone, Debug)]
pub struct DonationData {
    pub id: Uuid,
    pub is_live: bool,
    pub amount: Cents,
    /// What is left of it after refunds and disputes.
    pub left: Cents,
    pub disputed: Cents,
    /// What the payment provider kept, if that is known.
    pub fee: Cents,
    pub donated_at: i64,
    /// The ID of the monthly gift that it belongs to.
    pub monthly_gift: Option<Uuid>,
    pub fundraiser: Option<FundraiserName>,
    pub nonprofits: Vec<(NonprofitData, Cents)>,
    pub checkout: CheckoutData,
    /// Its ID at the payment provider.
    pub charge: Option<String>,
}

/// What the form and the link of a donation say, as one account may see it.
#[derive(Clone, Debug, Default)]
pub struct CheckoutData {
    /// The donor, if the donor agreed to that.
    pub donor: Option<Donor>,
    pub partner_donation_id: Option<String>,
    pub partner_metadata: Option<String>,
    pub designation: Option<String>,
    /// Whether a link of the account brought it.
    pub is_by_own_link: bool,
}

/// A monthly gift, as one account may see it.
#[derive(Clone, Debug)]
pub struct MonthlyGiftData {
    pub gift: MonthlyGift,
    pub fundraiser: Option<FundraiserName>,
    pub nonprofits: Vec<NonprofitData>,
    pub checkout: CheckoutData,
    /// The names of the fields that changed.
    pub changed: Vec<String>,
}

/// A payment to a nonprofit, as one account may see it: the part that pays donations of the account.
#[derive(Clone, Debug)]
pub struct DisbursementData {
    /// The numbers of its batch and its line.
    pub id: String,
    pub is_live: bool,
    pub nonprofit: NonprofitData,
    pub amount: Cents,
    /// How many donations it pays.
    pub count: i64,
    /// The first of them, each with what the nonprofit gets of it.
    pub donations: Vec<(Uuid, Cents)>,
}

/// A donor who agreed to share it.
#[derive(Clone, Debug)]
pub struct Donor {
    pub name: Option<String>,
    pub email: Option<String>,
}

/// A refund or dispute of a donation.
#[derive(Clone, Debug)]
pub struct MovementData {
    pub id: String,
    pub amount: Cents,
    /// Whether the money moved back: the refund failed, or the dispute was won.
    pub is_reversed: bool,
}

/// A fundraiser in an event about a donation.
#[derive(Clone, Debug)]
pub struct FundraiserName {
    pub id: FundraiserId,
    pub slug: String,
    pub title: String,
}

/// A fundraiser.
#[derive(Clone, Debug)]
pub struct FundraiserData {
    pub fundraiser: Fundraiser,
    pub nonprofit_slug: String,
    pub nonprofits: Vec<NonprofitData>,
    /// The names of the fields that changed.
    pub changed: Vec<String>,
    /// What was raised when it reached its goal, and whether that is real money.
    pub raised: Option<(Cents, bool)>,
}

/// A nonprofit, as the directory has it now.
#[derive(Clone, Debug)]
pub struct NonprofitData {
    pub id: NonprofitId,
    pub name: String,
    pub ein: Option<String>,
    pub slug: Option<String>,
    pub is_disbursable: bool,
}

/// An import into the directory.
#[derive(Clone, Debug)]
pub struct DirectoryData {
    pub added: i64,
    pub changed: i64,
    pub removed: i64,
    /// The cursor with which the list of changes begins at this import.
    pub cursor: Option<String>,
}

impl From<Fundraiser> for FundraiserName {
    fn from(fundraiser: Fundraiser) -> FundraiserName {
        FundraiserName {
            id: fundraiser.id,
            slug: fundraiser.slug,
            title: fundraiser.title,
        }
    }
}

impl CheckoutData {
    fn of(donation: &CheckoutDonation, account: AccountId) -> CheckoutData {
        let partner = &donation.partner;
        // What a partner's link passed on is for that partner.
        let for_partner = partner.account.is_none_or(|partner| partner == account);
        let for_partner = for_partner.then_some(partner);
        CheckoutData {
            donor: donation.shares_contact.then(|| Donor {
                name: donation.name.clone(),
                email: donation.email.as_ref().map(ToString::to_string),
            }),
            partner_donation_id: for_partner.and_then(|partner| partner.donation_id.clone()),
            partner_metadata: for_partner.and_then(|partner| partner.metadata.clone()),
            designation: donation.designation.clone(),
            is_by_own_link: partner.account == Some(account),
        }
    }
}

impl Webhooks {
    /// Reads what is known about an event for an account. `None` if that is gone.
    pub async fn content(&self, account: AccountId, event: &Event) -> sqlx::Result<Option<Content>> {
        let detail = &event.detail;
        let number = |name: &str| detail[name].as_i64().unwrap_or_default();
        let changed = || {
            let names = detail["changed"].as_array().into_iter().flatten();
            names
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect()
        };
        let data = match event.kind {
            kind if kind.is_donation() => {
                let Some(entry) = event.entry else { return Ok(None) };
                let Some(donation) = self.donation(account, entry).await? else {
                    return Ok(None);
                };
                let movement = detail["id"].as_str().map(|id| MovementData {
                    id: id.to_owned(),
                    amount: Cents::new(number("amount")),
                    is_reversed: detail["reversed"] == Value::Bool(true),
                });
                Data::Donation(Box::new(donation), movement)
            }
            kind if kind.is_monthly_gift() => {
                let Some(id) = detail["gift"].as_str().and_then(|id| id.parse().ok()) else {
                    return Ok(None);
                };
                let Some(gift) = self.monthly_gift(account, id, changed()).await? else {
                    return Ok(None);
                };
                Data::MonthlyGift(Box::new(gift))
            }
            kind if kind.is_disbursement() => {
                let Some(nonprofit) = event.nonprofit else {
                    return Ok(None);
                };
                let line = (number("batch"), number("line"));
                let is_live = detail["live"] == Value::Bool(true);
                let paid = self.disbursement(account, line, nonprofit, is_live).await?;
                Data::Disbursement(Box::new(paid))
            }
            EventKind::NonprofitUpdated => {
                let Some(id) = event.nonprofit else {
                    return Ok(None);
                };
                Data::Nonprofit(self.nonprofit(id).await?, changed())
            }
            EventKind::DirectoryUpdated => Data::Directory(DirectoryData {
                added: number("added"),
                changed: number("changed"),
                removed: number("removed"),
                cursor: detail["cursor"].as_str().map(str::to_owned),
            }),
            EventKind::Ping => Data::Ping {
                endpoint: event.endpoint,
            },
            _ => {
                let Some(id) = event.fundraiser else {
                    return Ok(None);
                };
                let Some(fundraiser) = fundraisers::store::find(&self.db, id).await? else {
                    return Ok(None);
                };
                let mut nonprofits = Vec::new();
                for (id, _) in &fundraiser.supported {
                    nonprofits.push(self.nonprofit(*id).await?);
                }
                let raised = detail["raised"].as_i64();
                Data::Fundraiser(Box::new(FundraiserData {
                    nonprofit_slug: slug_of(&self.directory, &fundraiser).await?,
                    nonprofits,
                    changed: changed(),
                    raised: raised.map(|raised| (Cents::new(raised), detail["live"] == Value::Bool(true))),
                    fundraiser,
                }))
            }
        };
        Ok(Some(Content {
            id: event.id.clone(),
            kind: event.kind,
            occurred_at: event.occurred_at,
            data,
        }))
    }

    /// Finds a donation that an account may see.
    pub async fn find_donation(&self, account: AccountId, id: Uuid) -> sqlx::Result<Option<DonationData>> {
        let entry = match checkout::store::find(&self.db, id).await? {
            Some(donation) => donation.entry,
            None => self.entry_of(id),
        };
        let Some(entry) = entry else { return Ok(None) };
        if !store::may_see(&self.db, account, entry).await? {
            return Ok(None);
        }
        self.donation(account, entry).await
    }

    /// Lists the donations to the fundraisers of an account and by its links, newest first. `before` is the ID of the last one
    /// that is known. Returns `None` if the account has no such donation.
    pub async fn list_donations(
        &self,
        account: AccountId,
        before: Option<Uuid>,
        take: usize,
    ) -> sqlx::Result<Option<Vec<DonationData>>> {
        let before = match before {
            None => i64::MAX,
            Some(id) => {
                let entry = match checkout::store::find(&self.db, id).await? {
                    Some(donation) => donation.entry,
                    None => self.entry_of(id),
                };
                match entry {
                    Some(entry) if store::may_see(&self.db, account, entry).await? => entry,
                    _ => return Ok(None),
                }
            }
        };
        let mut donations = Vec::new();
        for entry in store::list_donations(&self.db, account, before, take).await? {
            donations.extend(self.donation(account, entry).await?);
        }
        Ok(Some(donations))
    }

    /// Reads the donation of an entry.
    async fn donation(&self, account: AccountId, entry: i64) -> sqlx::Result<Option<DonationData>> {
        let Some(row) = store::find_donation(&self.db, entry).await? else {
            return Ok(None);
        };
        let checkout = match Uuid::try_parse(&row.external_id) {
            Ok(id) if row.source == SITE => checkout::store::find(&self.db, id).await?,
            _ => None,
        };
        let remaining = ledger::find_remaining(&self.db, entry).await?;
        let mut nonprofits = Vec::new();
        for (id, amount) in ledger::list_shares(&self.db, entry).await? {
            nonprofits.push((self.nonprofit(id).await?, amount));
        }
        let fundraiser = match row.fundraiser_id {
            Some(id) => fundraisers::store::find(&self.db, FundraiserId(id)).await?,
            None => None,
        };
        let known = checkout.as_ref();
        Ok(Some(DonationData {
            id: known.map_or_else(|| self.id_of_entry(entry), |donation| donation.id),
            is_live: row.mode != Mode::Test.as_str(),
            amount: Cents::new(row.amount),
            left: remaining.amount,
            disputed: remaining.disputed,
            fee: Cents::new(store::find_fee(&self.db, entry).await?),
            donated_at: known
                .and_then(|donation| donation.payment.paid_at)
                .unwrap_or(row.recorded_at),
            monthly_gift: known.and_then(|donation| donation.monthly_gift),
            fundraiser: fundraiser.map(FundraiserName::from),
            nonprofits,
            checkout: known.map_or_else(CheckoutData::default, |donation| {
                CheckoutData::of(donation, account)
            }),
            charge: known.and_then(|donation| donation.payment.charge.clone()),
        }))
    }

    /// Reads a monthly gift, with what the donation says that started it.
    async fn monthly_gift(
        &self,
        account: AccountId,
        id: Uuid,
        changed: Vec<String>,
    ) -> sqlx::Result<Option<MonthlyGiftData>> {
        let Some(gift) = monthly::store::find(&self.db, id).await? else {
            return Ok(None);
        };
        let fundraiser = match gift.fundraiser {
            Some(id) => fundraisers::store::find(&self.db, id).await?,
            None => None,
        };
        let supported = match &fundraiser {
            Some(fundraiser) => fundraiser.supported.iter().map(|(id, _)| *id).collect(),
            None => vec![gift.nonprofit],
        };
        let mut nonprofits = Vec::new();
        for id in supported {
            nonprofits.push(self.nonprofit(id).await?);
        }
        let first = checkout::store::find(&self.db, id).await?;
        Ok(Some(MonthlyGiftData {
            gift,
            fundraiser: fundraiser.map(FundraiserName::from),
            nonprofits,
            checkout: first.map_or_else(CheckoutData::default, |first| CheckoutData::of(&first, account)),
            changed,
        }))
    }

    /// Reads what a line of a batch pays for donations of an account.
    async fn disbursement(
        &self,
        account: AccountId,
        (batch, line): (i64, i64),
        nonprofit: NonprofitId,
        is_live: bool,
    ) -> sqlx::Result<DisbursementData> {
        let listed = store::list_paid_donations(&self.db, account, (batch, line), MAX_PAID_DONATIONS);
        let ((amount, count), paid) = listed.await?;
        let donations = paid.into_iter().map(|(entry, id, amount)| {
            let id = id.unwrap_or_else(|| self.id_of_entry(entry));
            (id, Cents::new(amount))
        });
        Ok(DisbursementData {
            id: format!("{batch}-{line}"),
            is_live,
            nonprofit: self.nonprofit(nonprofit).await?,
            amount: Cents::new(amount),
            count,
            donations: donations.collect(),
        })
    }

    async fn nonprofit(&self, id: NonprofitId) -> sqlx::Result<NonprofitData> {
        let found = self.directory.find(&Identifier::Id(id)).await?;
        let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
        Ok(NonprofitData {
            id,
            name: nonprofit.map_or_else(|| id.to_string(), |nonprofit| nonprofit.name.to_owned()),
            ein: nonprofit
                .and_then(|nonprofit| nonprofit.ein)
                .map(|ein| ein.to_string()),
            slug: nonprofit.map(|nonprofit| nonprofit.slug.to_owned()),
            is_disbursable: nonprofit.is_some_and(|nonprofit| nonprofit.is_disbursable()),
        })
    }

    /// The ID of a donation that was not made at our checkout: its entry, such that nobody else can read the number. The
    /// second half proves the first.
    fn id_of_entry(&self, entry: i64) -> Uuid {
        let proof = self.half_mac(&entry.to_be_bytes());
        let masked = u64::from_be_bytes(entry.to_be_bytes()) ^ u64::from_be_bytes(self.half_mac(&proof));
        Uuid::from_u64_pair(masked, u64::from_be_bytes(proof))
    }

    fn entry_of(&self, id: Uuid) -> Option<i64> {
        let (masked, proof) = id.as_u64_pair();
        let proof = proof.to_be_bytes();
        let entry = (masked ^ u64::from_be_bytes(self.half_mac(&proof))).to_be_bytes();
        (self.half_mac(&entry) == proof).then(|| i64::from_be_bytes(entry))
    }

    fn half_mac(&self, bytes: &[u8]) -> [u8; 8] {
        let mac = self.secret.authenticate(DONATION_ID, bytes);
        let mut half = [0; 8];
        half.copy_from_slice(&mac[..8]);
        half
    }
}
