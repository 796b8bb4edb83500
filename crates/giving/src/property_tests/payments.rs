//! Property tests of payments: events that arrive in any order, twice or never, and at any moment, leave the same donations and
//! the same books as events that arrive in order, and the books agree with Stripe.

use super::bank::{Bank, MODE, nonprofit};
use super::model::cases;
use super::writer::run;
use crate::books::FeesPaidBy;
use crate::check::check;
use crate::ledger::entry::{Account, Entry, Kind, Party};
use crate::ledger::store as ledger;
use crate::payments::store::{list_differences, list_disputes_of};
use crate::providers::stripe::objects::Event;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;
use uuid::Uuid;

/// How a donation is paid, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payment {
    Card,
    CardAfterDecline,
    Debit,
    DebitAfterDecline,
    FailedDebit,
    /// Another charge names the same donation.
    Twice,
    Declined,
    Expired,
    Open,
}

/// What can happen to a donation that was paid. What is not possible when its time comes does not happen.
#[derive(Clone, Copy, Debug)]
enum Later {
    Refund { quarters: i64 },
    FailRefund,
    Dispute,
    Inquiry,
    Escalation,
    Win,
    Loss,
}

/// A donation, and everything that happens to it.
#[derive(Clone, Debug)]
struct Gift {
    cents: i64,
    to: usize,
    payment: Payment,
    later: Vec<Later>,
}

/// Something that happens at Stripe.
#[derive(Clone, Copy, Debug)]
enum Step {
    Decline,
    PayByCard,
    PayByDebit,
    ConfirmDebit,
    FailDebit,
    PayAgain,
    Expire,
    Later(Later),
    Payout,
    FailPayout,
    Fee,
}

impl Gift {
    fn steps(&self) -> Vec<Step> {
        let mut steps = match self.payment {
            Payment::Card => vec![Step::PayByCard],
            Payment::CardAfterDecline => vec![Step::Decline, Step::PayByCard],
            Payment::Debit => vec![Step::PayByDebit, Step::ConfirmDebit],
            Payment::DebitAfterDecline => vec![Step::Decline, Step::PayByDebit, Step::ConfirmDebit],
            Payment::FailedDebit => vec![Step::PayByDebit, Step::FailDebit],
            // Which of the two pays it depends on which is reported first, so nothing else happens to it.
            Payment::Twice => return vec![Step::PayByCard, Step::PayAgain],
            Payment::Declined => vec![Step::Decline],
            Payment::Expired => vec![Step::Expire],
            Payment::Open => vec![],
        };
        steps.extend(self.later.iter().map(|later| Step::Later(*later)));
        steps
    }
}

fn gift() -> impl Strategy<Value = Gift> {
    let payment = prop_oneof![
        6 => Just(Payment::Card),
        1 => Just(Payment::CardAfterDecline),
        2 => Just(Payment::Debit),
        1 => Just(Payment::DebitAfterDecline),
        1 => Just(Payment::FailedDebit),
        1 => Just(Payment::Twice),
        1 => Just(Payment::Declined),
        1 => Just(Payment::Expired),
        1 => Just(Payment::Open),
    ];
    let later = prop_oneof![
        4 => (1..=4i64).prop_map(|quarters| Later::Refund { quarters }),
        3 => Just(Later::FailRefund),
        2 => Just(Later::Dispute),
        1 => Just(Later::Inquiry),
        1 => Just(Later::Escalation),
        2 => Just(Later::Win),
        1 => Just(Later::Loss),
    ];
    let later = prop::collection::vec(later, 0..5);
    (100..50_000i64, 0..2usize, payment, later).prop_map(|(cents, to, payment, later)| Gift {
        cents,
        to,
        payment,
        later,
    })
}

fn account_step() -> impl Strategy<Value = Step> {
    prop_oneof![Just(Step::Payout), Just(Step::FailPayout), Just(Step::Fee)]
}

/// Everything that happens at Stripe, and in which order.
#[derive(Clone, Debug)]
struct Scenario {
    gifts: Vec<Gift>,
    account: Vec<Step>,
    /// Who is next, and whether time passes before, in which balance transactions become known.
    order: Vec<(u8, bool)>,
    fees_paid_by: FeesPaidBy,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let fees = prop_oneof![Just(FeesPaidBy::Nonprofit), Just(FeesPaidBy::Operator)];
    (
        prop::collection::vec(gift(), 1..4),
        prop::collection::vec(account_step(), 0..3),
        prop::collection::vec(any::<(u8, bool)>(), 16),
        fees,
    )
        .prop_map(|(gifts, mut account, order, fees_paid_by)| {
            // What can be paid out depends on when a second charge is refunded.
            if gifts.iter().any(|gift| gift.payment == Payment::Twice) {
                account.retain(|step| matches!(step, Step::Fee));
            }
            Scenario {
                gifts,
                account,
                order,
                fees_paid_by,
            }
        })
}

/// Random choices that depend on a seed only (SplitMix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// Returns `true` once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Events on their way to the server.
#[derive(Default)]
struct Post {
    seen: HashSet<String>,
    waiting: Vec<Event>,
}

impl Post {
    /// Collects what was sent since the last time. `choices` loses and doubles some of it.
    async fn collect(&mut self, bank: &Bank, mut choices: Option<&mut Choices>) -> bool {
        let mut is_new = false;
        for event in bank.list("events").await {
            if !self.seen.insert(text(&event, "id").to_owned()) {
                continue;
            }
            is_new = true;
            let event: Event = serde_json::from_value(event).unwrap();
            let copies = match choices.as_mut().map_or(1, |choices| choices.below(6)) {
                0 => 0,
                5 => 2,
                _ => 1,
            };
            self.waiting.extend(std::iter::repeat_n(event, copies));
        }
        is_new
    }
}

/// A scenario that is played at one simulator, with one store.
struct Play {
    bank: Bank,
    scenario: Scenario,
    /// The donation of each gift, and its session.
    started: Vec<(Uuid, String)>,
    post: Post,
}

impl Play {
    async fn open(scenario: &Scenario) -> Play {
        let bank = Bank::open(scenario.fees_paid_by).await;
        let mut started = Vec::new();
        for (number, gift) in scenario.gifts.iter().enumerate() {
            started.push(bank.start(number, gift.cents, gift.to).await);
        }
        Play {
            bank,
            scenario: scenario.clone(),
            started,
            post: Post::default(),
        }
    }

    /// Plays all steps. With `choices`, events arrive in between, and the server looks after payments itself.
    async fn play(&mut self, mut choices: Option<&mut Choices>) {
        let mut lanes: Vec<Vec<Step>> = self.scenario.gifts.iter().map(Gift::steps).collect();
        lanes.push(self.scenario.account.clone());
        for lane in &mut lanes {
            lane.reverse();
        }
        let order = self.scenario.order.clone();
        for (index, has_time) in order.iter().cycle() {
            let open: Vec<usize> = (0..lanes.len()).filter(|lane| !lanes[*lane].is_empty()).collect();
            if open.is_empty() {
                break;
            }
            let lane = open[usize::from(*index) % open.len()];
            let step = lanes[lane].pop().unwrap();
            if *has_time {
                self.bank.wait(1).await;
            }
            self.happen(lane, step).await;
            if let Some(choices) = choices.as_mut() {
                self.interfere(choices).await;
            }
        }
        // Everything that is due in the next seconds happens, and what was sent arrives.
        self.bank.wait(10).await;
        while self.post.collect(&self.bank, choices.as_deref_mut()).await {
            self.deliver(usize::MAX, choices.as_deref_mut()).await;
        }
    }

    /// A step at Stripe, which refuses what is not possible now.
    async fn happen(&self, lane: usize, step: Step) {
        let bank = &self.bank;
        let session = self.started.get(lane).map_or("", |(_, session)| session);
        let pay = |body: Value| async move { bank.control(&format!("sessions/{session}/pay"), &body).await };
        let card = |number: &str| json!({ "card_number": number, "email": "ada@example.org" });
        match step {
            Step::Decline => _ = pay(card("4000000000000002")).await,
            // Half of the cards make the money available at once, so that it can be paid out.
            Step::PayByCard if self.scenario.gifts[lane].cents % 2 == 0 => {
                pay(card("4000000000000077")).await.unwrap();
            }
            Step::PayByCard => _ = pay(card("4242424242424242")).await.unwrap(),
            Step::PayByDebit => {
                let body = json!({ "account_number": "000123456789", "email": "ada@example.org" });
                pay(body).await.unwrap();
            }
            Step::ConfirmDebit | Step::FailDebit => {
                let end = if matches!(step, Step::ConfirmDebit) {
                    "succeed"
                } else {
                    "fail"
                };
                let charge = self.charge_of(lane).await.unwrap();
                bank.control(&format!("charges/{charge}/{end}"), &json!({}))
                    .await
                    .unwrap();
            }
            Step::PayAgain => {
                let metadata = &bank.get(&format!("checkout/sessions/{session}")).await["metadata"];
                let form = format!(
                    "amount={}&currency=usd&confirm=true&payment_method=pm_card_visa&metadata[donation]={}\
                     &metadata[store]={}&automatic_payment_methods[enabled]=true\
                     &automatic_payment_methods[allow_redirects]=never",
                    self.scenario.gifts[lane].cents,
                    text(metadata, "donation"),
                    text(metadata, "store")
                );
                bank.post("payment_intents", &form).await.unwrap();
            }
            Step::Expire => {
                _ = bank
                    .post(&format!("checkout/sessions/{session}/expire"), "")
                    .await;
            }
            Step::Later(later) => {
                if let Some(charge) = self.charge_of(lane).await {
                    self.happen_later(lane, &charge, later).await;
                }
            }
            Step::Payout | Step::FailPayout => {
                let payout = bank.control("payouts", &json!({ "livemode": false })).await;
                if let (Step::FailPayout, Some(id)) =
                    (step, payout.as_ref().and_then(|payout| payout["id"].as_str()))
                {
                    bank.control(&format!("payouts/{id}/fail"), &json!({}))
                        .await
                        .unwrap();
                }
            }
            Step::Fee => {
                let fee = json!({ "amount": -25, "type": "stripe_fee", "category": "fee" });
                bank.control("transactions", &fee).await.unwrap();
            }
        }
    }

    /// What happens to a charge, if it is possible.
    async fn happen_later(&self, lane: usize, charge: &str, later: Later) {
        let bank = &self.bank;
        let newest = async |path: &str| {
            let list = bank.get(&format!("{path}?charge={charge}&limit=1")).await;
            list["data"][0]["id"].as_str().map(str::to_owned)
        };
        let object = match later {
            Later::Refund { quarters } => {
                let amount = self.scenario.gifts[lane].cents * quarters / 4;
                bank.post("refunds", &format!("charge={charge}&amount={amount}"))
                    .await;
                return;
            }
            Later::Dispute | Later::Inquiry => {
                let paid = bank.get(&format!("charges/{charge}")).await;
                let is_possible =
                    paid["status"] == "succeeded" && paid["disputed"] == false && paid["refunded"] == false;
                is_possible.then(|| {
                    format!(
                        "charges/{charge}/{}",
                        if matches!(later, Later::Dispute) {
                            "dispute"
                        } else {
                            "inquire"
                        }
                    )
                })
            }
            Later::FailRefund => newest("refunds").await.map(|id| format!("refunds/{id}/fail")),
            Later::Escalation => newest("disputes")
                .await
                .map(|id| format!("disputes/{id}/escalate")),
            Later::Win => newest("disputes").await.map(|id| format!("disputes/{id}/win")),
            Later::Loss => newest("disputes").await.map(|id| format!("disputes/{id}/lose")),
        };
        if let Some(path) = object {
            bank.control(&path, &json!({})).await;
        }
    }

    /// The charge of the session of a donation, if it has one.
    async fn charge_of(&self, lane: usize) -> Option<String> {
        let session = &self.started[lane].1;
        let path = format!("checkout/sessions/{session}?expand[0]=payment_intent");
        let session = self.bank.get(&path).await;
        session["payment_intent"]["latest_charge"]
            .as_str()
            .map(str::to_owned)
    }

    /// Delivers some events, and does what a server does on its own.
    async fn interfere(&mut self, choices: &mut Choices) {
        if choices.once_in(2) {
            self.post.collect(&self.bank, Some(choices)).await;
            let count = choices.below(self.post.waiting.len() + 1);
            self.deliver(count, Some(choices)).await;
        }
        if choices.once_in(4) {
            // The donor returns.
            let (id, _) = self.started[choices.below(self.started.len())];
            let donation = self.bank.find(id).await;
            self.bank.payments().refresh(donation).await.unwrap();
        }
        if choices.once_in(6) {
            self.bank.clock.advance(Duration::from_mins(3));
            self.look_after().await;
        }
        if choices.once_in(12) {
            self.bank.payments().reconcile(Some(0), None).await.unwrap();
        }
    }

    /// Delivers so many waiting events: in order, or as `choices` has it. Some are stored, and then the server stops.
    async fn deliver(&mut self, count: usize, mut choices: Option<&mut Choices>) {
        let payments = self.bank.payments();
        for _ in 0..count.min(self.post.waiting.len()) {
            let index = choices
                .as_mut()
                .map_or(0, |choices| choices.below(self.post.waiting.len()));
            let event = self.post.waiting.remove(index);
            let is_new = payments.receive(&event, false).await.unwrap();
            let stops = choices.as_mut().is_some_and(|choices| choices.once_in(8));
            if is_new && !stops {
                payments.handle(event).await.unwrap();
            }
        }
    }

    /// What the server does every minute.
    async fn look_after(&self) {
        let payments = self.bank.payments();
        payments.handle_open_events().await.unwrap();
        payments.sweep().await.unwrap();
    }

    /// Lets the server find out what no event has told.
    async fn finish(&self) {
        for _ in 0..2 {
            // Longer than the longest pause between two looks, and shorter than a session lives.
            self.bank.clock.advance(Duration::from_mins(61));
            self.look_after().await;
        }
        let compared = self.bank.payments().reconcile(Some(0), None).await.unwrap();
        assert_eq!(compared.balance, compared.ledger_balance);
        self.look_after().await;
    }

    /// The state of each donation and what the ledger has about it, without the IDs of Stripe.
    async fn summary(&self) -> Summary {
        let db = &self.bank.db;
        let mut tx = db.view().await.unwrap();
        let entries = ledger::list_after(&mut tx, 0, 10_000).await.unwrap();
        drop(tx);
        let mut summary = Summary::default();
        let mut donations: HashMap<String, Vec<String>> = HashMap::new();
        for entry in &entries {
            let origin = donation_of(&entries, entry);
            let lines = donations.entry(origin.unwrap_or_default()).or_default();
            lines.push(line(entry));
        }
        for (id, _) in &self.started {
            let mut lines = donations.remove(&id.to_string()).unwrap_or_default();
            lines.sort();
            for dispute in list_disputes_of(db, *id).await.unwrap() {
                lines.push(format!("{} {}", dispute.status, dispute.amount));
            }
            summary
                .donations
                .push((self.bank.find(*id).await.state.as_str(), lines));
        }
        summary.others = donations.remove("").unwrap_or_default();
        summary.others.sort();
        assert_eq!(donations.len(), 0, "{donations:?}");
        for listed in list_differences(db).await.unwrap() {
            let difference = listed.difference;
            summary
                .differences
                .push(format!("{} {}", difference.kind.as_str(), difference.amount));
        }
        summary.differences.sort();
        let checked = check(db).await.unwrap();
        assert_eq!(checked.errors, Vec::<String>::new());
        for (_, account, balance) in checked.balances.iter() {
            summary.balances.push(format!("{account:?} {balance}"));
        }
        for (number, owed) in self.owed().await {
            assert_eq!(
                checked.balances.owed(MODE, nonprofit(number)).get(),
                owed,
                "nonprofit {number}"
            );
        }
        let balance = &self.bank.get("balance").await;
        let cash = balance["available"][0]["amount"].as_i64().unwrap()
            + balance["pending"][0]["amount"].as_i64().unwrap();
        assert_eq!(checked.balances.of(MODE, Account::Cash).get(), cash);
        summary
    }

    /// What Stripe's transactions say is owed to each nonprofit: gross less fees, refunds and disputes.
    async fn owed(&self) -> BTreeMap<usize, i64> {
        let mut nonprofits: HashMap<String, usize> = HashMap::new();
        for ((id, _), gift) in self.started.iter().zip(&self.scenario.gifts) {
            if let Some(charge) = self.bank.find(*id).await.payment.charge {
                nonprofits.insert(charge, gift.to);
            }
        }
        for kind in ["refunds", "disputes"] {
            for object in self.bank.list(kind).await {
                if let Some(&nonprofit) = nonprofits.get(text(&object, "charge")) {
                    nonprofits.insert(text(&object, "id").to_owned(), nonprofit);
                }
            }
        }
        let mut owed = BTreeMap::from([(0, 0), (1, 0)]);
        for transaction in self.bank.list("balance_transactions").await {
            let Some(nonprofit) = nonprofits.get(text(&transaction, "source")) else {
                continue;
            };
            let is_charge = transaction["reporting_category"] == "charge";
            let pays_fee = is_charge && self.scenario.fees_paid_by == FeesPaidBy::Nonprofit;
            let field = if pays_fee { "net" } else { "amount" };
            *owed.entry(*nonprofit).or_default() += transaction[field].as_i64().unwrap();
        }
        owed
    }
}

/// What must not depend on how events arrive.
#[derive(Debug, Default, PartialEq)]
struct Summary {
    donations: Vec<(&'static str, Vec<String>)>,
    /// Entries about no donation.
    others: Vec<String>,
    balances: Vec<String>,
    differences: Vec<String>,
}

/// The ID of the donation that an entry is about.
fn donation_of(entries: &[Entry], entry: &Entry) -> Option<String> {
    if entry.draft.kind == Kind::Donation {
        return Some(entry.draft.external_id.clone());
    }
    let before = entry.draft.refunds.or(entry.draft.origin)?;
    let before = entries.iter().find(|other| other.sequence == before)?;
    donation_of(entries, before)
}

fn line(entry: &Entry) -> String {
    let draft = &entry.draft;
    let mut line = format!("{} {}", draft.kind.as_str(), draft.amount);
    for posting in &draft.postings {
        let party = match &posting.party {
            Party::Donor(_) => "donor".to_owned(),
            party => format!("{party:?}"),
        };
        let _ = write!(line, ", {party} {}", posting.amount);
    }
    line
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn events_in_any_order_twice_or_never_leave_the_same_donations_and_books(
        scenario in scenario(),
        seed in any::<u64>(),
    ) {
        run(async {
            let mut in_order = Play::open(&scenario).await;
            in_order.play(None).await;
            in_order.finish().await;
            let mut shuffled = Play::open(&scenario).await;
            shuffled.play(Some(&mut Choices(seed))).await;
            shuffled.finish().await;
            let expected = in_order.summary().await;
            prop_assert_eq!(&shuffled.summary().await, &expected);
            // Everything once more, after everything has happened, changes nothing.
            shuffled.post = Post::default();
            shuffled.post.collect(&shuffled.bank, None).await;
            shuffled.deliver(usize::MAX, None).await;
            prop_assert_eq!(&shuffled.summary().await, &expected);
            Ok(())
        })?;
    }
}
