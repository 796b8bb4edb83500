//! An entry of the ledger: its amounts and parties, and the hash that chains it to the previous entry.
//!
//! The hash is SHA-256 over the previous hash and the fields of the entry in a fixed order, each written as its length in
//! decimal digits, a colon and its bytes. Numbers are decimal, IDs are lowercase UUIDs, and missing values are empty. Names
//! of people are not part of it, so they can be erased without breaking the chain. The kinds that came with the books have
//! two more fields at the end, so the hashes of older entries stay as they are.

use platform::ids::{FundraiserId, NonprofitId};
use platform::money::{AmountOverflow, Cents, Weights, split};
use sha2::{Digest, Sha256};

/// The previous hash of the first entry.
pub const GENESIS: Hash = [0; 32];

/// The hash of an entry.
pub type Hash = [u8; 32];

/// The source of amounts that organizers report as raised elsewhere; no donation has it.
pub(crate) const OFFLINE: &str = "offline";

/// The ends of the ledger and the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The sequence number of the last entry.
    pub entries: i64,
    /// The hash of the last entry.
    pub hash: Hash,
    /// The sequence number of the last outbox row.
    pub events: i64,
    /// When the last entry was recorded; 0 if there is none.
    pub last_at: i64,
}

/// The nonprofits that share a donation, and their weights.
#[derive(Clone, Debug)]
pub struct Beneficiaries {
    pub nonprofits: Vec<NonprofitId>,
    pub weights: Weights,
}

impl Beneficiaries {
    /// A single nonprofit that receives everything.
    pub fn single(nonprofit: NonprofitId) -> Beneficiaries {
        Beneficiaries {
            nonprofits: vec![nonprofit],
            weights: Weights::equal(1),
        }
    }

    /// Splits an amount among the nonprofits.
    pub fn shares(&self, amount: Cents) -> Vec<(Party, Cents)> {
        let parties = self.nonprofits.iter().map(|id| Party::Nonprofit(*id));
        parties.zip(split(amount, &self.weights)).collect()
    }
}

/// What an entry records.
///
/// The first six say who gave how much to whom. The others say where the money is: they have no donor and no fundraiser,
/// and change no total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A donor gave money.
    Donation,
    /// A donation, or a part of it, was refunded.
    Refund,
    /// The organizer of a fundraiser reported an amount raised offline, or corrected it.
    Offline,
    /// The donor's bank withdrew a donation, or a part of it.
    Dispute,
    /// A dispute was won, and the bank returned what it had withdrawn.
    DisputeWon,
    /// A refund did not reach the donor and came back.
    RefundFailed,
    /// A balance transaction of the payment provider: a charge, a refund, a dispute, a fee.
    Settlement,
    /// The payment provider paid out to the operator's bank account, or the payout failed and came back.
    Payout,
    /// The operator paid a nonprofit.
    Disbursement,
    /// A payment to a nonprofit came back.
    DisbursementReturned,
    /// What is owed to one nonprofit is owed to another from now on.
    Reassignment,
}

/// Whether an entry is about real money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    #[default]
    Live,
    /// No money was charged, because someone tried out the checkout.
    Test,
}

impl Mode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Live => "live",
            Mode::Test => "test",
        }
    }

    pub fn find(name: &str) -> Option<Mode> {
        [Mode::Live, Mode::Test]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }

    pub const fn is_test(self) -> bool {
        matches!(self, Mode::Test)
    }

    /// The modes whose entries a server counts. Only a server in test mode counts test entries.
    pub const fn counted(is_test_mode: bool) -> &'static [Mode] {
        if is_test_mode {
            &[Mode::Live, Mode::Test]
        } else {
            &[Mode::Live]
        }
    }
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Donation,
        Kind::Refund,
        Kind::Offline,
        Kind::Dispute,
        Kind::DisputeWon,
        Kind::RefundFailed,
        Kind::Settlement,
        Kind::Payout,
        Kind::Disbursement,
        Kind::DisbursementReturned,
        Kind::Reassignment,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Donation => "donation",
            Kind::Refund => "refund",
            Kind::Offline => "offline",
            Kind::Dispute => "dispute",
            Kind::DisputeWon => "dispute_won",
            Kind::RefundFailed => "refund_failed",
            Kind::Settlement => "settlement",
            Kind::Payout => "payout",
            Kind::Disbursement => "disbursement",
            Kind::DisbursementReturned => "disbursement_returned",
            Kind::Reassignment => "reassignment",
        }
    }

    /// The name in a sentence: `dispute won` for `dispute_won`.
    pub fn title(self) -> String {
        self.as_str().replace('_', " ")
    }

    pub fn find(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns whether it says where the money is, and not who gave it to whom.
    pub(crate) const fn is_money(self) -> bool {
        matches!(
            self,
            Kind::Settlement
                | Kind::Payout
                | Kind::Disbursement
                | Kind::DisbursementReturned
                | Kind::Reassignment
        )
    }

    /// Returns whether its hash covers the origin and the note, which the first three kinds never have.
    const fn hashes_origin(self) -> bool {
        !matches!(self, Kind::Donation | Kind::Refund | Kind::Offline)
    }
}

/// Who gives or receives money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    Donor(String),
    Nonprofit(NonprofitId),
    /// Money raised offline, by the fundraiser that reported it.
    Offline(FundraiserId),
    Fundraiser(FundraiserId),
    Account(Account),
}

/// A party of the books: where money is, what it cost, and which nonprofit it is owed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// The balance at Stripe, available and pending.
    Cash,
    /// What Stripe kept as fees.
    Fees,
    /// The operator's bank account.
    Bank,
    /// The operator: what fees of nonprofits cover, and what has to do with no donation.
    Operator,
    /// What is owed to a nonprofit. Below zero while it is owed something, because it has yet to receive it.
    Owed(NonprofitId),
}

/// The ID of Stripe as a holder of cash and a taker of fees.
const STRIPE: &str = "stripe";

impl Account {
    /// The name that documents and reports use: `cash:stripe`, `bank`, `owed:` and the ID of the nonprofit.
    pub fn name(self) -> String {
        let party = Party::Account(self);
        match party.id() {
            id if id.is_empty() => party.kind().to_owned(),
            id => format!("{}:{id}", party.kind()),
        }
    }
}

impl Party {
    pub const fn kind(&self) -> &'static str {
        match self {
            Party::Donor(_) => "donor",
            Party::Nonprofit(_) => "nonprofit",
            Party::Offline(_) => "offline",
            Party::Fundraiser(_) => "fundraiser",
            Party::Account(Account::Cash) => "cash",
            Party::Account(Account::Fees) => "fees",
            Party::Account(Account::Bank) => "bank",
            Party::Account(Account::Operator) => "operator",
            Party::Account(Account::Owed(_)) => "owed",
        }
    }

    pub fn id(&self) -> String {
        match self {
            Party::Donor(id) => id.clone(),
            Party::Nonprofit(id) | Party::Account(Account::Owed(id)) => id.to_string(),
            Party::Offline(id) | Party::Fundraiser(id) => id.to_string(),
            Party::Account(Account::Cash | Account::Fees) => STRIPE.to_owned(),
            Party::Account(Account::Bank | Account::Operator) => String::new(),
        }
    }

    /// Returns the party with this kind and ID. `None` if they are invalid.
    pub fn find(kind: &str, id: &str) -> Option<Party> {
        let uuid = || uuid::Uuid::try_parse(id).ok();
        match kind {
            "donor" => Some(Party::Donor(id.to_owned())),
            "nonprofit" => uuid().map(|id| Party::Nonprofit(NonprofitId(id))),
            "offline" => uuid().map(|id| Party::Offline(FundraiserId(id))),
            "fundraiser" => uuid().map(|id| Party::Fundraiser(FundraiserId(id))),
            "owed" => uuid().map(|id| Party::Account(Account::Owed(NonprofitId(id)))),
            "cash" if id == STRIPE => Some(Party::Account(Account::Cash)),
            "fees" if id == STRIPE => Some(Party::Account(Account::Fees)),
            "bank" if id.is_empty() => Some(Party::Account(Account::Bank)),
            "operator" if id.is_empty() => Some(Party::Account(Account::Operator)),
            _ => None,
        }
    }
}

/// What one party gives or receives by an entry. The amount is positive for a party that receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    pub party: Party,
    pub amount: Cents,
}

impl Posting {
    /// The same with the opposite amount.
    pub(crate) fn reversed(&self) -> Posting {
        Posting {
            party: self.party.clone(),
            amount: self.amount.reversed(),
        }
    }
}

/// An entry before it has a sequence number and a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub kind: Kind,
    pub mode: Mode,
    /// The system where the donation or refund was made. Unique together with `external_id`.
    pub source: String,
    pub external_id: String,
    /// The nonprofit that receives the donation, or the special ID of a fundraiser for several nonprofits. `None` if the
    /// entry is about no single recipient.
    pub nonprofit: Option<NonprofitId>,
    pub fundraiser: Option<FundraiserId>,
    pub donor: Option<String>,
    /// Negative for a refund.
    pub amount: Cents,
    /// The sequence number of the donation that is refunded or disputed, or whose refund or dispute is reversed.
    pub refunds: Option<i64>,
    /// The sequence number of the entry that this one follows from: the one that a settlement settles, the refund or
    /// dispute that is reversed, or the disbursement that came back.
    pub origin: Option<i64>,
    /// Why an operator made this entry.
    pub note: Option<String>,
    pub postings: Vec<Posting>,
    pub recorded_at: i64,
}

/// The totals of a fundraiser in one mode, after an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub raised: Cents,
    /// The number of donors who gave more than was refunded to them.
    pub supporters: i64,
}

/// The totals of a fundraiser in each mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TotalsByMode {
    pub live: Totals,
    pub test: Totals,
}

/// The totals of a fundraiser in one mode, and what one donor has given to it in that mode, net of refunds.
pub(crate) type Balances = (Totals, Option<Cents>);

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Starts at 1 and has no gaps.
    pub sequence: i64,
    pub draft: Draft,
    /// The totals of its fundraiser in its mode, after this entry.
    pub totals: Option<Totals>,
    pub hash: Hash,
}

impl Totals {
    /// Returns the totals after another amount from a donor whose balance was `net`.
    pub fn after(self, amount: Cents, net: Option<Cents>) -> Result<Totals, AmountOverflow> {
        let supporters = match net {
            None => self.supporters,
            Some(before) => {
                let after = before.plus(amount)?;
                self.supporters + i64::from(after > Cents::ZERO) - i64::from(before > Cents::ZERO)
            }
        };
        Ok(Totals {
            raised: self.raised.plus(amount)?,
            supporters,
        })
    }
}

impl TotalsByMode {
    pub(crate) fn of_mode_mut(&mut self, mode: Mode) -> &mut Totals {
        match mode {
            Mode::Live => &mut self.live,
            Mode::Test => &mut self.test,
        }
    }

    /// Returns the totals of live and test entries together. A test donor and a live donor are two supporters.
    pub fn live_and_test(self) -> Totals {
        let raised = self.live.raised.get().saturating_add(self.test.raised.get());
        Totals {
            raised: Cents::new(raised),
            supporters: self.live.supporters + self.test.supporters,
        }
    }

    /// Returns the totals that a server shows. Only a server in test mode counts test entries.
    pub fn counted(self, is_test_mode: bool) -> Totals {
        if is_test_mode {
            self.live_and_test()
        } else {
            self.live
        }
    }
}

impl Entry {
    /// Appends a draft after the entry with the hash `previous`.
    pub fn new(sequence: i64, previous: &Hash, draft: Draft, totals: Option<Totals>) -> Entry {
        let mut entry = Entry {
            sequence,
            draft,
            totals,
            hash: GENESIS,
        };
        entry.hash = entry.hash_after(previous);
        entry
    }

    /// Computes the hash of this entry if it follows the entry with the hash `previous`.
    pub(crate) fn hash_after(&self, previous: &Hash) -> Hash {
        let draft = &self.draft;
        let mut input = HashInput(Vec::with_capacity(512));
        input.number(self.sequence);
        input.text(draft.kind.as_str());
        input.text(draft.mode.as_str());
        input.text(&draft.source);
        input.text(&draft.external_id);
        input.text(&draft.nonprofit.map(|id| id.to_string()).unwrap_or_default());
        input.text(&draft.fundraiser.map(|id| id.to_string()).unwrap_or_default());
        input.text(draft.donor.as_deref().unwrap_or_default());
        input.number(draft.amount.get());
        input.text(
            &draft
                .refunds
                .map(|donation| donation.to_string())
                .unwrap_or_default(),
        );
        input.number(draft.recorded_at);
        if let Some(totals) = self.totals {
            input.number(totals.raised.get());
            input.number(totals.supporters);
        }
        for posting in &draft.postings {
            input.text(posting.party.kind());
            input.text(&posting.party.id());
            input.number(posting.amount.get());
        }
        if draft.kind.hashes_origin() {
            input.text(&draft.origin.map(|entry| entry.to_string()).unwrap_or_default());
            input.text(draft.note.as_deref().unwrap_or_default());
        }
        let mut hasher = Sha256::new();
        hasher.update(previous);
        hasher.update(&input.0);
        hasher.finalize().into()
    }
}

/// Fields with their lengths, so that different lists of fields never have the same bytes.
struct HashInput(Vec<u8>);

impl HashInput {
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.len().to_string().as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: i64) {
        self.text(&number.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn every_kind_and_party_is_found_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::find(kind.as_str()), Some(kind));
        }
        let nonprofit = NonprofitId(Uuid::from_u128(7));
        let accounts = [
            (Account::Cash, "cash:stripe"),
            (Account::Fees, "fees:stripe"),
            (Account::Bank, "bank"),
            (Account::Operator, "operator"),
            (
                Account::Owed(nonprofit),
                "owed:00000000-0000-0000-0000-000000000007",
            ),
        ];
        for (account, name) in accounts {
            let party = Party::Account(account);
            assert_eq!(Party::find(party.kind(), &party.id()), Some(party));
            assert_eq!(account.name(), name);
        }
        for (kind, id) in [("cash", "paypal"), ("bank", "x"), ("owed", "x"), ("bribe", "")] {
            assert_eq!(Party::find(kind, id), None, "{kind} {id}");
        }
    }

    /// A donation of a released version. If its hash changed, every existing ledger would look damaged.
    #[test]
    fn the_hash_of_an_existing_entry_stays_the_same() {
        let nonprofit = NonprofitId(Uuid::from_u128(7));
        let posting = |party, cents| Posting {
            party,
            amount: Cents::new(cents),
        };
        let draft = Draft {
            kind: Kind::Donation,
            mode: Mode::Live,
            source: "test".to_owned(),
            external_id: "1".to_owned(),
            nonprofit: Some(nonprofit),
            fundraiser: None,
            donor: Some("ana".to_owned()),
            amount: Cents::new(500),
            refunds: None,
            origin: None,
            note: None,
            postings: vec![
                posting(Party::Donor("ana".to_owned()), -500),
                posting(Party::Nonprofit(nonprofit), 500),
            ],
            recorded_at: 1,
        };
        let entry = Entry::new(1, &GENESIS, draft, None);
        let hash: Vec<String> = entry.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hash.concat(),
            "c1ec2a219cb466e0b858cecf44cecd64147a5dd995241c6b345d23c797c26784"
        );
    }
}
