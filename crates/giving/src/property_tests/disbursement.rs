//! A property test of disbursement: whatever is given, refunded, disputed, changed, prepared, exported, returned, reassigned and
//! interrupted, no donation is paid twice and none is forgotten.

use super::model::cases;
use super::writer::run;
use crate::books::{EntryName, FeesPaidBy, Movement};
use crate::check::check;
use crate::disbursement::batches::{BatchState, ExportFormat, LineState, Mark, store};
use crate::disbursement::payees::{Address, Method, PayeeInput};
use crate::disbursement::{AchSettings, DisburseError, DisburseSettings, Disbursements, audit};
use crate::donations::counters::{Counters, DonationCounters};
use crate::donations::{Dispute, Label, NewDonation, Recipient, Refund};
use crate::fundraisers::cache::FundraiserCache;
use crate::ledger::entry::{Account, Beneficiaries, Mode};
use crate::ledger::writer::Writer;
use crate::recorder::Recorder;
use access::audit::Actor;
use directory::Directory;
use directory::nonprofits::causes::Causes;
use directory::nonprofits::filing::Filing;
use directory::nonprofits::irs::IrsFacts;
use jiff::tz::TimeZone;
use metrics::Counter;
use platform::clock::Clock;
use platform::data_folder;
use platform::db::Db;
use platform::ids::{AccountId, NonprofitId};
use platform::mail::{Delivery, MailSettings, Mailer};
use platform::money::Cents;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use platform::settings::{APPLICATION_NAME, DatabaseSettings};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::future::poll_fn;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use uuid::Uuid;

const MODE: Mode = Mode::Live;
const NONPROFITS: usize = 3;
/// It is in no file of the IRS, so it cannot be paid.
const INELIGIBLE: usize = 2;
const DAY: Duration = Duration::from_hours(24);
const PREPARER: Actor = Actor::Command;
const APPROVER: Actor = Actor::Account(AccountId(Uuid::from_u128(9)));

#[derive(Clone, Debug)]
enum Step {
    /// To one nonprofit.
    Give {
        to: usize,
        cents: i64,
    },
    Refund {
        gift: usize,
        percent: i64,
    },
    Dispute {
        gift: usize,
    },
    Days(u32),
    ChangePayee {
        of: usize,
    },
    /// Two operators at once.
    Prepare {
        is_doubled: bool,
    },
    Approve {
        batch: usize,
    },
    Export {
        batch: usize,
    },
    Mark {
        batch: usize,
        line: i64,
        mark: Mark,
    },
    Reassign {
        from: usize,
        to: usize,
        percent: i64,
    },
    /// The next step is interrupted after some polls.
    Kill {
        polls: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let mark = prop_oneof![
        1 => Just(Mark::Sent),
        3 => Just(Mark::Paid),
        3 => Just(Mark::Returned),
        2 => Just(Mark::Void),
    ];
    prop_oneof![
        8 => (0..NONPROFITS, 500..9_000_i64).prop_map(|(to, cents)| Step::Give { to, cents }),
        3 => (0..6_usize, 1..=100_i64).prop_map(|(gift, percent)| Step::Refund { gift, percent }),
        2 => (0..6_usize).prop_map(|gift| Step::Dispute { gift }),
        4 => (1..20_u32).prop_map(Step::Days),
        1 => (0..NONPROFITS).prop_map(|of| Step::ChangePayee { of }),
        6 => any::<bool>().prop_map(|is_doubled| Step::Prepare { is_doubled }),
        5 => (0..3_usize).prop_map(|batch| Step::Approve { batch }),
        5 => (0..3_usize).prop_map(|batch| Step::Export { batch }),
        5 => (0..3_usize, 1..4_i64, mark).prop_map(|(batch, line, mark)| Step::Mark { batch, line, mark }),
        2 => (0..NONPROFITS, 0..INELIGIBLE, 1..=120_i64)
            .prop_map(|(from, to, percent)| Step::Reassign { from, to, percent }),
        3 => (0..12_usize).prop_map(|polls| Step::Kill { polls }),
    ]
}

fn nonprofit(number: usize) -> NonprofitId {
    NonprofitId(Uuid::from_u128(number as u128 + 1))
}

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

fn database() -> DatabaseSettings {
    DatabaseSettings {
        application_name: APPLICATION_NAME.to_owned(),
        url: None,
        listen_url: None,
        connections: 2,
        acquire_timeout: Duration::from_secs(30),
        probe_timeout: Duration::from_secs(30),
        statement_timeout: Duration::ZERO,
        lock_timeout: Duration::ZERO,
    }
}

/// A database with the nonprofits, and the secret of its store. Copies are made faster than new ones.
fn template() -> &'static (Vec<u8>, Vec<u8>) {
    static TEMPLATE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let created = std::thread::spawn(|| run(create_template()));
        created.join().unwrap()
    })
}

async fn create_template() -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let db = Db::open(&data, &database()).await.unwrap();
    let secret = data.join("secret");
    db.identity(0).await.unwrap();
    StoreSecret::open(&db, &secret).await.unwrap();
    let Db::Sqlite { writer, .. } = &db else {
        unreachable!("it is opened without an address")
    };
    for number in 0..NONPROFITS {
        let mut filed = String::new();
        Filing {
            name: "LIBRARY",
            city: "KEENE",
            state: "NH",
            zip: "03431",
            street: "1 MAIN ST",
            facts: (number != INELIGIBLE).then_some(IrsFacts {
                subsection: 3,
                deductibility: 1,
                status: 1,
                foundation: 15,
                ..IrsFacts::default()
            }),
            ..Filing::default()
        }
        .write(&mut filed);
        let insert = "insert into nonprofits (id, slug, filed, listed, digest) values ($1, $2, $3, 1, 0)";
        let insert = sqlx::query(insert)
            .bind(nonprofit(number).0)
            .bind(format!("nonprofit-{number}"))
            .bind(filed);
        insert.execute(writer).await.unwrap();
    }
    db.close().await;
    let read = |path: &Path| std::fs::read(path).unwrap();
    (read(&data.join(data_folder::DATABASE)), read(&secret))
}

/// A store with operators, and what was given.
struct Office {
    _folder: tempfile::TempDir,
    db: Db,
    clock: Clock,
    directory: Directory,
    recorder: Recorder,
    secret: StoreSecret,
    settings: DisburseSettings,
    mailer: Mailer,
    public_url: PublicUrl,
    time_zone: TimeZone,
    /// The donations, with what is left of them.
    gifts: Vec<(String, i64)>,
    changes: usize,
    references: usize,
}

impl Office {
    async fn open() -> Office {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (file, secret) = template();
        data_folder::create_folder(&data).unwrap();
        std::fs::write(data.join(data_folder::DATABASE), file).unwrap();
        std::fs::write(data.join("secret"), secret).unwrap();
        let db = Db::open(&data, &database()).await.unwrap();
        let clock = Clock::default();
        clock.stop();
        let counters = || Counters {
            donations: Counter::noop(),
            donated_cents: Counter::noop(),
            refunds: Counter::noop(),
            refunded_cents: Counter::noop(),
        };
        let counters = DonationCounters {
            live: counters(),
            test: counters(),
        };
        let mail = MailSettings {
            delivery: Delivery::Off,
            from: "causeway@example.org".parse().unwrap(),
        };
        let secret = StoreSecret::open(&db, &data.join("secret")).await.unwrap();
        let causes: &'static Causes = Causes::built_in();
        let office = Office {
            directory: Directory::new(db.clone(), Uuid::from_u128(7), &data, b"", causes),
            recorder: Recorder::new(
                Writer::start(db.clone()),
                Arc::new(FundraiserCache::new(db.clone(), &data)),
                clock.clone(),
                counters,
            ),
            mailer: Mailer::new(&mail, &data, db.clone(), clock.clone()).unwrap(),
            public_url: PublicUrl::new("http://127.0.0.1"),
            time_zone: TimeZone::UTC,
            settings: DisburseSettings {
                minimum: Cents::new(1_000),
                hold_days: 14,
                change_hold_days: 7,
                max_days: 30,
                second_operator: true,
                ach: AchSettings::default(),
            },
            secret,
            clock,
            db,
            _folder: folder,
            gifts: Vec::new(),
            changes: 0,
            references: 0,
        };
        for number in 0..NONPROFITS {
            office.save_payee(number, 0).await;
        }
        office
    }

    fn disbursements(&self) -> Disbursements<'_> {
        Disbursements {
            db: &self.db,
            directory: &self.directory,
            recorder: &self.recorder,
            clock: &self.clock,
            secret: &self.secret,
            settings: &self.settings,
            mode: MODE,
            time_zone: &self.time_zone,
            mailer: &self.mailer,
            public_url: &self.public_url,
            operator: "Operator",
        }
    }

    async fn save_payee(&self, number: usize, change: usize) {
        let input = PayeeInput {
            nonprofit: nonprofit(number),
            method: Method::Check,
            name: format!("Library {change}"),
            bank: None,
            address: Address::default(),
            email: None,
        };
        self.disbursements()
            .save_payees(vec![input], PREPARER)
            .await
            .unwrap();
    }

    async fn settle(&self, entry: &str, amount: i64, fee: i64) {
        let movement = Movement::Settlement {
            transaction: label(&format!("txn {entry}")),
            settles: EntryName {
                source: label("test"),
                external_id: label(entry),
            },
            amount: Cents::new(amount),
            fee: Cents::new(fee),
            fees_paid_by: FeesPaidBy::Nonprofit,
        };
        self.recorder.enter(movement).await.unwrap();
    }

    async fn give(&mut self, to: usize, cents: i64) {
        let id = format!("gift {}", self.gifts.len());
        let donation = NewDonation {
            source: label("test"),
            external_id: label(&id),
            mode: MODE,
            to: Recipient {
                nonprofit: nonprofit(to),
                fundraiser: None,
                beneficiaries: Beneficiaries::single(nonprofit(to)),
            },
            amount: Cents::new(cents),
            donor: label("donor"),
            name: None,
            is_public: false,
        };
        self.recorder.record(donation).await.unwrap();
        self.settle(&id, cents, cents * 29 / 1_000 + 30).await;
        self.gifts.push((id, cents));
    }

    async fn take_back(&mut self, gift: usize, cents: i64, is_dispute: bool) {
        let Some((id, left)) = self.gifts.get_mut(gift) else {
            return;
        };
        let cents = cents.min(*left);
        if cents == 0 {
            return;
        }
        *left -= cents;
        let (id, name) = (id.clone(), format!("{id} less {left}"));
        if is_dispute {
            let dispute = Dispute {
                source: label("test"),
                external_id: label(&id),
                amount: Cents::new(cents),
                dispute_id: label(&name),
            };
            self.recorder.dispute(dispute).await.unwrap();
        } else {
            let refund = Refund {
                source: label("test"),
                external_id: label(&id),
                amount: Some(Cents::new(cents)),
                refund_id: Some(label(&name)),
            };
            self.recorder.refund(refund).await.unwrap();
        }
        self.settle(&name, -cents, if is_dispute { 1_500 } else { 0 })
            .await;
    }

    /// Does a step of the operators, or begins it and is killed.
    async fn act(&mut self, step: &Step, polls: Option<usize>) {
        match *step {
            Step::Give { to, cents } => self.give(to, cents).await,
            Step::Refund { gift, percent } => {
                let left = self.gifts.get(gift).map_or(0, |(_, left)| *left);
                self.take_back(gift, left * percent / 100, false).await;
            }
            Step::Dispute { gift } => self.take_back(gift, i64::MAX, true).await,
            Step::Days(days) => self.clock.advance(DAY * days),
            Step::ChangePayee { of } => {
                self.changes += 1;
                self.save_payee(of, self.changes).await;
            }
            Step::Prepare { is_doubled } => {
                let office = self.disbursements();
                let both = async {
                    if is_doubled {
                        let prepared =
                            tokio::join!(office.prepare(None, PREPARER), office.prepare(None, APPROVER));
                        assert!(
                            prepared.0.is_err() || prepared.1.is_err(),
                            "both prepared a batch"
                        );
                    } else {
                        let prepared = office.prepare(None, PREPARER).await;
                        assert!(
                            matches!(prepared, Ok(_) | Err(DisburseError::NothingToPay)),
                            "{prepared:?}"
                        );
                    }
                };
                interrupt(both, polls).await;
            }
            Step::Approve { batch } => {
                let Some(number) = self.batch(batch).await else {
                    return;
                };
                let approve = self.disbursements().approve(number, APPROVER);
                _ = interrupt(approve, polls).await;
            }
            Step::Export { batch } => {
                let Some(number) = self.batch(batch).await else {
                    return;
                };
                let export = self
                    .disbursements()
                    .export(number, ExportFormat::Checks, PREPARER);
                let exported = interrupt(export, polls).await;
                if let Some(Ok(first)) = exported {
                    let again = self
                        .disbursements()
                        .export(number, ExportFormat::Checks, PREPARER);
                    assert_eq!(again.await.unwrap().content, first.content);
                }
            }
            Step::Mark { batch, line, mark } => {
                let Some(number) = self.batch(batch).await else {
                    return;
                };
                self.references += 1;
                let reference = self.references.to_string();
                let mark = self
                    .disbursements()
                    .mark((number, line), mark, Some(&reference), PREPARER);
                _ = interrupt(mark, polls).await;
            }
            Step::Reassign { from, to, percent } => {
                let owed = self
                    .balances()
                    .await
                    .get(&nonprofit(from))
                    .copied()
                    .unwrap_or_default();
                let amount = (percent < 100).then_some(Cents::new(owed.max(0) * percent / 100));
                let (from, to) = (nonprofit(from).to_string(), nonprofit(to).to_string());
                let id = (Uuid::now_v7(), PREPARER);
                let reassign = self
                    .disbursements()
                    .reassign((&from, &to), amount, "They agreed", id);
                _ = interrupt(Box::pin(reassign), polls).await;
            }
            Step::Kill { .. } => {}
        }
    }

    /// The number of one of the last batches.
    async fn batch(&self, back: usize) -> Option<i64> {
        let batches = store::list_batches(&self.db, i64::MAX, 3).await.unwrap();
        batches.get(back).map(|batch| batch.number)
    }

    /// What the books owe to each nonprofit.
    async fn balances(&self) -> BTreeMap<NonprofitId, i64> {
        let ledger = check(&self.db).await.unwrap();
        assert_eq!(ledger.errors, [""; 0]);
        let owed = ledger
            .balances
            .iter()
            .filter_map(|(_, account, balance)| match account {
                Account::Owed(id) => Some((id, -balance.get())),
                _ => None,
            });
        owed.collect()
    }

    /// What is owed in the books is what is in no batch and what is in queued lines. No entry is in two lines that are not returned
    /// or void, and `check` finds nothing.
    async fn verify(&self) {
        let found = audit::check(&self.db).await.unwrap();
        assert_eq!(found.differences, [""; 0]);
        self.disbursements().refresh_owed().await.unwrap();
        let mut expected: BTreeMap<NonprofitId, i64> = BTreeMap::new();
        for number in 0..NONPROFITS {
            let mut tx = self.db.view().await.unwrap();
            let open = store::list_open_of(&mut tx, MODE, nonprofit(number))
                .await
                .unwrap();
            let sum: i64 = open.iter().map(|entry| entry.amount.get()).sum();
            expected.insert(nonprofit(number), sum);
        }
        let mut seen = HashSet::new();
        for batch in store::list_batches(&self.db, i64::MAX, 1_000).await.unwrap() {
            for line in store::list_lines(&self.db, batch.number).await.unwrap() {
                let statement = self
                    .disbursements()
                    .find_statement(batch.number, line.number)
                    .await;
                let statement = statement.unwrap().unwrap();
                let net: i64 = statement.items.iter().map(|item| item.net.get()).sum();
                assert_eq!(net, line.amount.get());
                assert_eq!(net, statement.gross.get() - statement.fees.get());
                if line.state == LineState::Queued {
                    *expected.entry(line.nonprofit).or_default() += line.amount.get();
                }
                if !matches!(line.state, LineState::Returned | LineState::Void) {
                    for item in &statement.items {
                        assert!(
                            seen.insert((item.entry, line.nonprofit)),
                            "entry {} is paid twice",
                            item.entry
                        );
                    }
                }
            }
        }
        let balances = self.balances().await;
        for (nonprofit, expected) in expected {
            assert_eq!(balances.get(&nonprofit).copied().unwrap_or_default(), expected);
        }
        self.verify_report(&balances).await;
    }

    /// The report has the balances of the books.
    async fn verify_report(&self, balances: &BTreeMap<NonprofitId, i64>) {
        let now = self.clock.millis() + 1;
        let report = self
            .disbursements()
            .report((now - 10 * 86_400_000, now))
            .await
            .unwrap();
        for row in &report.rows {
            let amounts = row.amounts;
            let moved = [
                amounts.opening,
                amounts.donations,
                amounts.fees,
                amounts.refunds,
                amounts.disputes,
                amounts.reassigned,
                amounts.paid,
                amounts.returned,
            ];
            assert_eq!(Cents::sum(moved).unwrap(), amounts.closing);
            assert_eq!(amounts.closing.get(), balances[&row.nonprofit]);
        }
    }

    /// Pays until nothing is left to pay.
    async fn pay_everything(&mut self) {
        self.clock.advance(DAY * 40);
        let mut rounds = 0;
        loop {
            let batches = store::list_batches(&self.db, i64::MAX, 1_000).await.unwrap();
            for batch in batches.iter().filter(|batch| batch.state != BatchState::Closed) {
                for line in store::list_lines(&self.db, batch.number).await.unwrap() {
                    // What was prepared before may be less than is owed now, or for a payee that has changed.
                    if line.state == LineState::Queued {
                        let id = (batch.number, line.number);
                        self.disbursements()
                            .mark(id, Mark::Void, None, PREPARER)
                            .await
                            .unwrap();
                    }
                }
            }
            for number in 0..NONPROFITS {
                self.changes += 1;
                self.save_payee(number, self.changes).await;
            }
            self.clock.advance(DAY * 8);
            match self.disbursements().prepare(None, PREPARER).await {
                Ok(batch) => {
                    self.disbursements()
                        .approve(batch.number, APPROVER)
                        .await
                        .unwrap();
                    let export = self
                        .disbursements()
                        .export(batch.number, ExportFormat::Checks, PREPARER);
                    export.await.unwrap();
                }
                Err(DisburseError::NothingToPay) => break,
                Err(error) => panic!("{error}"),
            }
            rounds += 1;
            assert!(rounds < 3, "what was paid is paid again");
        }
        let balances = self.balances().await;
        for number in 0..INELIGIBLE {
            let owed = balances.get(&nonprofit(number)).copied().unwrap_or_default();
            assert!(owed < 1_000, "{owed} was forgotten");
        }
    }
}

/// Runs work to its end, or drops it after some polls, as if the process were killed.
async fn interrupt<T>(work: impl Future<Output = T>, polls: Option<usize>) -> Option<T> {
    let Some(mut left) = polls else {
        return Some(work.await);
    };
    let mut work = std::pin::pin!(work);
    poll_fn(move |cx| match work.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn no_donation_is_paid_twice_or_forgotten(steps in prop::collection::vec(step(), 1..40)) {
        run(async {
            let mut office = Office::open().await;
            let mut polls = None;
            for step in &steps {
                office.act(step, polls.take()).await;
                if let Step::Kill { polls: after } = step {
                    polls = Some(*after);
                }
                office.verify().await;
            }
            office.pay_everything().await;
            office.verify().await;
        });
    }
}
