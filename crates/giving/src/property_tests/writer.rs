//! Property tests of the writer: any mixture of work that shares transactions leaves the same rows and returns the same
//! outcomes as work that is done one by one.

use crate::donations::{Label, NewDonation, Recipient, Refund, donation, refund};
use crate::fundraisers::change::FundraiserChange;
use crate::fundraisers::cover::Focus;
use crate::fundraisers::review::{FundraiserSettings, Review};
use crate::fundraisers::write::{CreateFundraiser, UpdateFundraiser, write_new, write_update};
use crate::fundraisers::{Fundraiser, SPECIAL};
use crate::idempotency::StoredResponse;
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Beneficiaries, Kind, Mode};
use crate::ledger::prefetch::Prefetch;
use crate::ledger::writer::{WriteError, Writer};
use platform::db::{Db, StoreError};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::Cents;
use platform::settings::{APPLICATION_NAME, DatabaseSettings};
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// Work for the writer. Numbers come from small ranges, so that IDs and donors collide.
#[derive(Clone, Debug)]
enum Step {
    /// Two with the same number are one donation if all else is equal; otherwise they conflict.
    Donation {
        number: u8,
        to: usize,
        donor: u8,
        cents: i64,
    },
    Refund {
        donation: u8,
        cents: Option<i64>,
        name: Option<u8>,
    },
    /// Fails the second time, and rolls back everything in the same batch.
    Create {
        number: usize,
        offline: i64,
    },
    Offline {
        number: usize,
        cents: i64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let cents = prop_oneof![8 => Just(500i64), 8 => 1..2_000i64, 1 => Just(i64::MAX / 2)];
    prop_oneof![
        20 => (0..12u8, 0..4usize, 0..3u8, cents)
            .prop_map(|(number, to, donor, cents)| Step::Donation { number, to, donor, cents }),
        6 => (0..12u8, prop::option::of(1..600i64), prop::option::of(0..3u8))
            .prop_map(|(donation, cents, name)| Step::Refund { donation, cents, name }),
        1 => (0..3usize, 0..900i64).prop_map(|(number, offline)| Step::Create { number, offline }),
        3 => (0..3usize, 0..900i64).prop_map(|(number, cents)| Step::Offline { number, cents }),
    ]
}

const ACCOUNT: AccountId = AccountId(Uuid::from_u128(7));

/// Returns one of three fundraisers. The second is for three nonprofits.
fn fundraiser(number: usize, offline: i64) -> Fundraiser {
    let count = if number == 1 { 3 } else { 1 };
    let supported: Vec<_> = (1..=count)
        .map(|nonprofit| (NonprofitId(Uuid::from_u128(nonprofit)), nonprofit as f64))
        .collect();
    Fundraiser {
        id: FundraiserId(Uuid::from_u128(100 + number as u128)),
        nonprofit: if count > 1 { SPECIAL } else { supported[0].0 },
        slug: String::new(),
        account: ACCOUNT,
        title: format!("Run {number}"),
        description: None,
        cover: None,
        focus: Focus::default(),
        starts_at: None,
        ends_at: None,
        goal: None,
        offline: Some(Cents::new(offline)),
        created_at: 0,
        closed_at: None,
        hidden_at: None,
        hidden_reason: None,
        in_review_since: None,
        version: 0,
        supported,
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

/// Recipient 3 is a nonprofit itself, the others are fundraisers. Every third donation is a test.
fn new_donation(number: u8, to: usize, donor: u8, cents: i64) -> NewDonation {
    let fundraiser = (to < 3).then(|| fundraiser(to, 0));
    let nonprofit = NonprofitId(Uuid::from_u128(1));
    NewDonation {
        source: label("test"),
        external_id: label(&format!("donation {number}")),
        mode: if number.is_multiple_of(3) {
            Mode::Test
        } else {
            Mode::Live
        },
        to: Recipient {
            nonprofit: fundraiser.as_ref().map_or(nonprofit, |found| found.nonprofit),
            fundraiser: fundraiser.as_ref().map(|found| found.id),
            beneficiaries: fundraiser
                .map_or_else(|| Beneficiaries::single(nonprofit), |found| found.beneficiaries()),
        },
        amount: Cents::new(cents),
        donor: label(&format!("donor {donor}")),
        name: (donor > 0).then(|| label(&format!("Name {donor}"))),
        is_public: donor > 1,
    }
}

impl Step {
    /// Prefetches as callers do. Half of the changes prefetch nothing.
    fn prefetch(&self) -> Prefetch {
        match *self {
            Step::Donation {
                number,
                to,
                donor,
                cents,
            } => donation::prefetch(&new_donation(number, to, donor, cents)),
            Step::Offline { number, cents } if cents % 2 == 0 => {
                Prefetch::of_fundraiser(fundraiser(number, 0).id)
            }
            _ => Prefetch::default(),
        }
    }

    /// The outcome as text. Only the store can fail.
    async fn play(&self, batch: &mut Batch, now: i64) -> Result<String, StoreError<WriteError>> {
        Ok(match *self {
            Step::Donation {
                number,
                to,
                donor,
                cents,
            } => outcome(donation::write(batch, &new_donation(number, to, donor, cents), now).await)?,
            Step::Refund {
                donation: number,
                cents,
                name,
            } => {
                let refund = Refund {
                    source: label("test"),
                    external_id: label(&format!("donation {number}")),
                    amount: cents.map(Cents::new),
                    refund_id: name.map(|name| label(&format!("refund {name}"))),
                };
                outcome(refund::write(batch, Kind::Refund, &refund, now).await)?
            }
            Step::Create { number, offline } => {
                let command = CreateFundraiser {
                    fundraiser: fundraiser(number, offline),
                    request: None,
                    review: Review::Off,
                };
                let respond = |_: &Fundraiser, _| StoredResponse::default();
                outcome(write_new(batch, &command, &respond, now).await)?
            }
            Step::Offline { number, cents } => {
                let change = FundraiserChange {
                    offline: Some(Some(Cents::new(cents))),
                    ..FundraiserChange::default()
                };
                let command = UpdateFundraiser::Change(
                    change,
                    FundraiserSettings {
                        review: Review::Off,
                        max_offline: u32::MAX,
                    },
                );
                let id = fundraiser(number, 0).id;
                outcome(write_update(batch, ACCOUNT, id, &command, now).await)?
            }
        })
    }
}

/// What was written or refused, as text.
fn outcome<T: Debug, E: Debug>(written: Result<T, StoreError<E>>) -> sqlx::Result<String> {
    match written {
        Ok(written) => Ok(format!("{written:?}")),
        Err(StoreError::Refused(refusal)) => Ok(format!("{refusal:?}")),
        Err(StoreError::Store(error)) => Err(error),
    }
}

/// A store with two of the three fundraisers, and its writer.
struct TestStore {
    _folder: tempfile::TempDir,
    db: Db,
    writer: Writer,
    /// The largest number of pending entries that work has seen.
    max_pending: Arc<AtomicUsize>,
}

/// Opens an empty store in a temporary folder, and starts its writer.
pub(super) async fn open_store() -> (tempfile::TempDir, Db, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let settings = DatabaseSettings {
        application_name: APPLICATION_NAME.to_owned(),
        url: None,
        listen_url: None,
        connections: 2,
        acquire_timeout: Duration::from_secs(30),
        probe_timeout: Duration::from_secs(30),
        statement_timeout: Duration::ZERO,
        lock_timeout: Duration::ZERO,
    };
    let db = Db::open(&folder.path().join("data"), &settings).await.unwrap();
    let writer = Writer::start(db.clone());
    (folder, db, writer)
}

impl TestStore {
    async fn new() -> TestStore {
        let (folder, db, writer) = open_store().await;
        let store = TestStore {
            _folder: folder,
            db,
            writer,
            max_pending: Arc::default(),
        };
        let initial = [0, 1].map(|number| Step::Create { number, offline: 0 });
        store.play(0, &initial).await;
        store
    }

    /// Submits all steps before any of them starts, and waits for the results.
    async fn play(&self, first: usize, steps: &[Step]) -> Vec<String> {
        let mut in_flight = Vec::new();
        for (now, step) in (first as i64..).zip(steps.iter().cloned()) {
            let (writer, max) = (self.writer.clone(), Arc::clone(&self.max_pending));
            in_flight.push(tokio::spawn(async move {
                let prefetch = step.prefetch();
                let step = Arc::new(step);
                let work = writer.run_with_prefetch(prefetch, move |batch| {
                    max.fetch_max(batch.pending.entries.len(), Ordering::Relaxed);
                    let step = Arc::clone(&step);
                    Box::pin(async move { step.play(batch, now).await })
                });
                work.await
            }));
        }
        let mut answers = Vec::new();
        for one in in_flight {
            answers.push(format!("{:?}", one.await.unwrap()));
        }
        answers
    }

    async fn dump(&self) -> Vec<Vec<String>> {
        let Db::Sqlite { readers, .. } = &self.db else {
            unreachable!("it is opened without an address")
        };
        let mut tables = Vec::new();
        for rows in DUMPS {
            tables.push(sqlx::query_scalar(rows).fetch_all(readers).await.unwrap());
        }
        tables
    }
}

const DUMPS: [&str; 6] = [
    "select format('%d %s %s %s %s %s %s %s %d %s %d %s %s %s', sequence, kind, mode, source, external_id, hex(nonprofit_id), \
     quote(fundraiser_id), quote(donor), amount, quote(refunds), recorded_at, quote(raised), quote(supporters), hex(hash)) \
     from ledger_entries order by sequence",
    "select format('%d %d %s %s %d', sequence, position, party, party_id, amount) from ledger_postings \
     order by sequence, position",
    "select format('%d %s %s %s %d', sequence, kind, quote(fundraiser_id), body, created_at) from outbox order by sequence",
    "select format('%d %s %s', sequence, name, quote(consented_at)) from donor_names order by sequence",
    "select format('%d %s %d', entries, hex(hash), events) from ledger_head",
    "select format('%s %s %d', hex(id), quote(offline), version) from fundraisers order by id",
];

/// Runs on one thread, so that work that is submitted together is batched together.
pub(super) fn run<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(story)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shared_transactions_leave_the_same_rows_as_separate_ones(
        groups in prop::collection::vec(prop::collection::vec(step(), 1..12), 1..4),
    ) {
        run(async {
            let (grouped, alone) = (TestStore::new().await, TestStore::new().await);
            let mut now = 1;
            for group in &groups {
                let together = grouped.play(now, group).await;
                let mut each = Vec::new();
                for step in group {
                    each.extend(alone.play(now, std::slice::from_ref(step)).await);
                    now += 1;
                }
                prop_assert_eq!(together, each);
            }
            prop_assert_eq!(grouped.dump().await, alone.dump().await);
            Ok(())
        })?;
    }
}

#[test]
fn queued_work_shares_a_transaction() {
    run(async {
        let store = TestStore::new().await;
        let donations: Vec<Step> = (0..300u32)
            .map(|number| Step::Donation {
                number: (number % 256) as u8,
                to: number as usize % 4,
                donor: (number % 3) as u8,
                cents: 500,
            })
            .collect();
        store.play(1, &donations).await;
        assert_eq!(store.max_pending.load(Ordering::Relaxed), 255);
        assert_eq!(store.dump().await[0].len(), 256);
    });
}
