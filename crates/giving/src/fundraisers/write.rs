//! Creates and updates fundraisers, each in one transaction with its ledger entry, history and outbox row.

use super::change::Change;
use super::fields::Fields;
use super::review::Review;
use super::{Fundraiser, slug, store};
use crate::error::Error;
use crate::idempotency::{self, IdempotentRequest, StoredResponse};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Kind, Leg, Mode, OFFLINE, Party};
use platform::db::StoreError;
use platform::field_error::FieldError;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::{AmountOverflow, Cents};
use serde_json::{Map, Value, json};

/// A fundraiser to create.
#[derive(Clone, Debug)]
pub struct CreateFundraiser {
    /// Complete except for its slug and its creation time.
    pub fundraiser: Fundraiser,
    /// The request, if it has an idempotency key.
    pub request: Option<IdempotentRequest>,
    pub review: Review,
}

/// An update of a fundraiser.
#[derive(Clone, Debug)]
pub enum UpdateFundraiser {
    /// The fields of a body, and the picture that came with it.
    Fields(Map<String, Value>, Option<Option<String>>),
    Close,
    Reopen,
}

/// Adds a new fundraiser to a batch, or finds the response to the first request with its idempotency key.
pub async fn write_new(
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
    let in_review = command.review.is_required(&mut batch.tx, account).await?;
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

/// Refuses the work of an account that was suspended or deleted after its request had been authenticated.
async fn require_standing(batch: &mut Batch, account: AccountId) -> Result<(), StoreError<Error>> {
    if batch.find_standing(account).await?.may_write() {
        Ok(())
    } else {
        Err(StoreError::Refused(Error::Suspended))
    }
}

/// The slug of the title, or the next one that is free.
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
        nonprofit: fundraiser.nonprofit,
        fundraiser: Some(id),
        donor: None,
        amount,
        refunds: None,
        legs: vec![
            Leg {
                party: Party::Offline(id),
                amount: amount.reversed(),
            },
            Leg {
                party: Party::Fundraiser(id),
                amount,
            },
        ],
        recorded_at: now,
    };
    let appended = batch.append(draft).await;
    let refuse = |overflow: AmountOverflow| {
        Error::Invalid(vec![FieldError::new("raisedOffline", overflow.to_string())])
    };
    appended.map(|_| ()).map_err(|error| error.map_refused(refuse))
}

/// Adds a change of a fundraiser by its owner to a batch. Nothing is written if nothing differs.
pub async fn write_update(
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
    let change = command.change(&existing, now).map_err(StoreError::Refused)?;
    write_change(
        batch,
        existing,
        &change,
        Some(account),
        command.outbox_kind(),
        now,
    )
    .await
}

/// Writes a change with its history and an outbox row of a kind. Nothing is written if nothing differs.
pub async fn write_change(
    batch: &mut Batch,
    existing: Fundraiser,
    change: &Change,
    by: Option<AccountId>,
    kind: &'static str,
    now: i64,
) -> Result<Fundraiser, StoreError<Error>> {
    let (changed, differing) = change.apply(&existing);
    if differing.is_empty() {
        return Ok(existing);
    }
    add_offline(batch, &changed, existing.offline.unwrap_or_default(), now).await?;
    let differing = Value::Object(differing);
    store::update(&mut batch.tx, &changed, by, &differing.to_string(), now).await?;
    let payload = json!({"fundraiserId": changed.id.0, "version": changed.version, "change": differing});
    batch.add_outbox_row(kind, Some(changed.id), &payload, now);
    Ok(changed)
}

impl UpdateFundraiser {
    /// What it changes of a fundraiser, or all that is wrong with it.
    pub fn change(&self, existing: &Fundraiser, now: i64) -> Result<Change, Error> {
        match self {
            UpdateFundraiser::Close => Ok(Change::close(existing, now)),
            UpdateFundraiser::Reopen => Ok(Change::reopen(existing)),
            UpdateFundraiser::Fields(sent, cover) => {
                let mut fields = Fields::new(sent);
                let change = Change::read(&mut fields, existing);
                fields.finish()?;
                Ok(Change {
                    cover: cover.clone(),
                    ..change
                })
            }
        }
    }

    fn outbox_kind(&self) -> &'static str {
        match self {
            UpdateFundraiser::Fields(..) => "fundraiser_changed",
            UpdateFundraiser::Close => "fundraiser_closed",
            UpdateFundraiser::Reopen => "fundraiser_reopened",
        }
    }
}
