//! Creates and updates fundraisers, each in one transaction with its ledger entry, history and outbox row.

use super::change::FundraiserChange;
use super::history::differences;
use super::nonprofit_rules::{self, NonprofitRule};
use super::review::{FundraiserSettings, Review};
use super::rules::{FieldProblem, FundraiserField, InvalidField};
use super::{Fundraiser, slug, store};
use crate::error::Error;
use crate::idempotency::{self, IdempotentRequest, StoredResponse};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Kind, Mode, OFFLINE, Party, Posting};
use platform::db::StoreError;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::{AmountOverflow, Cents};
use serde_json::{Value, json};

/// A fundraiser to create.
#[derive(Clone, Debug)]
pub struct CreateFundraiser {
    /// Complete except for its slug and the time of its creation.
    pub fundraiser: Fundraiser,
    /// The request, if it has an idempotency key.
    pub request: Option<IdempotentRequest>,
    pub review: Review,
}

/// An update of a fundraiser by its owner.
#[derive(Clone, Debug)]
pub enum UpdateFundraiser {
    /// The settings limit what can be changed.
    Change(FundraiserChange, FundraiserSettings),
    Close,
    Reopen,
}

/// Adds a new fundraiser to a batch, or finds the response to the first request with its idempotency key.
pub(crate) async fn write_new(
    batch: &mut Batch,
    command: &CreateFundraiser,
    respond: &(impl Fn(&Fundraiser, i64) -> StoredResponse + Sync),
    now: i64,
) -> Result<StoredResponse, StoreError<Error>> {
    if let Some(request) = &command.request
        && let Some(response) = idempotency::store::find_in(&mut batch.tx, request, now).await?
    {
        return Ok(response);
    }
    let account = command.fundraiser.account;
    require_standing(batch, account).await?;
    let rule = nonprofit_rule(batch, &command.fundraiser).await?;
    if rule == NonprofitRule::Decline {
        return Err(StoreError::Refused(Error::Invalid(vec![InvalidField {
            field: FundraiserField::Supported,
            problem: FieldProblem::Declined,
        }])));
    }
    let in_review =
        rule == NonprofitRule::Approve || command.review.is_required(&mut batch.tx, account).await?;
    let new = Fundraiser {
        slug: free_slug(batch, command.fundraiser.nonprofit, &command.fundraiser.title).await?,
        created_at: now,
        in_review_since: in_review.then_some(now),
        ..command.fundraiser.clone()
    };
    add_offline(batch, &new, Cents::ZERO, now).await?;
    store::insert(&mut batch.tx, &new).await?;
    let payload = json!({"fundraiserId": new.id.0, "nonprofitId": new.nonprofit.0, "slug": new.slug});
    batch.add_outbox_row("fundraiser_created", Some(new.id), &payload, now);
    let response = respond(&new, now);
    if let Some(request) = &command.request {
        idempotency::store::insert(&mut batch.tx, request, &response, now).await?;
    }
    Ok(response)
}

/// Returns the strictest rule of the nonprofits that a fundraiser supports.
async fn nonprofit_rule(batch: &mut Batch, fundraiser: &Fundraiser) -> sqlx::Result<NonprofitRule> {
    let mut strictest = NonprofitRule::Open;
    for (nonprofit, _) in &fundraiser.supported {
        let rule = nonprofit_rules::store::find_in(&mut batch.tx, *nonprofit).await?;
        // Only for a fundraiser of its own can a nonprofit decide later.
        strictest = strictest.max(match rule {
            NonprofitRule::Approve if fundraiser.is_multiple() => NonprofitRule::Decline,
            rule => rule,
        });
    }
    Ok(strictest)
}

/// Refuses the work of an account that was suspended or deleted after its request had been authenticated.
async fn require_standing(batch: &mut Batch, account: AccountId) -> Result<(), StoreError<Error>> {
    if batch.find_standing(account).await?.may_write() {
        Ok(())
    } else {
        Err(StoreError::Refused(Error::Suspended))
    }
}

/// Returns the slug of the title, with a suffix if another fundraiser of the nonprofit has it.
async fn free_slug(batch: &mut Batch, nonprofit: NonprofitId, title: &str) -> sqlx::Result<String> {
    let plain = slug::of_title(title);
    let mut slug = plain.clone();
    for attempt in 0.. {
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        let next = slug::with_suffix(&plain, u32::from_le_bytes(bytes), attempt);
        // Titles such as "Birthday" are common, so one query checks the next slug as well.
        match store::has_slugs(&mut batch.tx, nonprofit, [&slug, &next]).await? {
            [false, _] => break,
            [true, false] => return Ok(next),
            [true, true] => slug = next,
        }
    }
    Ok(slug)
}

/// Records the amount raised offline as an entry: the difference from the amount reported before.
async fn add_offline(
    batch: &mut Batch,
    fundraiser: &Fundraiser,
    before: Cents,
    now: i64,
) -> Result<(), StoreError<Error>> {
    let reported = fundraiser.offline.unwrap_or_default();
    let amount = Cents::new(reported.get() - before.get());
    if amount == Cents::ZERO {
        return Ok(());
    }
    let id = fundraiser.id;
    let draft = Draft {
        kind: Kind::Offline,
        mode: Mode::Live,
        source: OFFLINE.to_owned(),
        external_id: format!("{id} {}", fundraiser.version),
        nonprofit: Some(fundraiser.nonprofit),
        fundraiser: Some(id),
        donor: None,
        amount,
        refunds: None,
        origin: None,
        note: None,
        postings: vec![
            Posting {
                party: Party::Offline(id),
                amount: amount.reversed(),
            },
            Posting {
                party: Party::Fundraiser(id),
                amount,
            },
        ],
        recorded_at: now,
    };
    let appended = batch.append(draft).await;
    let refuse = |AmountOverflow| {
        Error::Invalid(vec![InvalidField {
            field: FundraiserField::Offline,
            problem: FieldProblem::AmountOverflow,
        }])
    };
    appended.map(|_| ()).map_err(|error| error.map_refused(refuse))
}

/// Adds an update of a fundraiser by its owner to a batch. Nothing is written if nothing differs.
pub(crate) async fn write_update(
    batch: &mut Batch,
    account: AccountId,
    id: FundraiserId,
    command: &UpdateFundraiser,
    now: i64,
) -> Result<Fundraiser, StoreError<Error>> {
    let existing = store::find_in(&mut batch.tx, id).await?;
    let Some(existing) = existing.filter(|existing| existing.account == account) else {
        return Err(StoreError::Refused(Error::NotFound));
    };
    require_standing(batch, account).await?;
    let changed = command.apply(&existing, now).map_err(StoreError::Refused)?;
    write_change(
        batch,
        existing,
        changed,
        Some(account),
        command.outbox_kind(),
        now,
    )
    .await
}

/// Writes a changed fundraiser with its history and an outbox row of a kind. Nothing is written if nothing differs.
pub(super) async fn write_change(
    batch: &mut Batch,
    existing: Fundraiser,
    mut changed: Fundraiser,
    by: Option<AccountId>,
    kind: &'static str,
    now: i64,
) -> Result<Fundraiser, StoreError<Error>> {
    let differences = differences(&existing, &changed);
    if differences.is_empty() {
        return Ok(existing);
    }
    changed.version += 1;
    add_offline(batch, &changed, existing.offline.unwrap_or_default(), now).await?;
    let differences = Value::Object(differences);
    store::update(&mut batch.tx, &changed, by, &differences.to_string(), now).await?;
    let payload = json!({"fundraiserId": changed.id.0, "version": changed.version, "change": differences});
    batch.add_outbox_row(kind, Some(changed.id), &payload, now);
    Ok(changed)
}

impl UpdateFundraiser {
    /// Returns the fundraiser after the update.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with every invalid field.
    pub fn apply(&self, existing: &Fundraiser, now: i64) -> Result<Fundraiser, Error> {
        match self {
            UpdateFundraiser::Change(change, settings) => change.apply(existing, *settings),
            UpdateFundraiser::Close => Ok(close(existing, now)),
            UpdateFundraiser::Reopen => Ok(Fundraiser {
                closed_at: None,
                ..existing.clone()
            }),
        }
    }

    fn outbox_kind(&self) -> &'static str {
        match self {
            UpdateFundraiser::Change(..) => "fundraiser_changed",
            UpdateFundraiser::Close => "fundraiser_closed",
            UpdateFundraiser::Reopen => "fundraiser_reopened",
        }
    }
}

/// Returns the fundraiser closed. One that is closed already keeps the original closing time.
pub(super) fn close(existing: &Fundraiser, now: i64) -> Fundraiser {
    Fundraiser {
        closed_at: existing.closed_at.or(Some(now)),
        ..existing.clone()
    }
}
