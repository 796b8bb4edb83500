//! Making and changing fundraisers: one transaction each, with its entry in the journal, its history and its fact.

use super::change::Change;
use super::fields::Fields;
use super::{Fundraiser, slug, store};
use crate::api::fundraisers::wire::{FundraiserBody, WrittenBody, WrittenData};
use crate::app::App;
use crate::app::urls::Urls;
use crate::giving::donations::OFFLINE;
use crate::giving::ledger::entry::{Draft, Kind, Leg, Party};
use crate::giving::ledger::state::Asks;
use crate::giving::ledger::writer::Batch;
use crate::http::error::Error;
use crate::http::idempotency::{Asked, Kept};
use crate::platform::field_error::FieldError;
use crate::platform::ids::{AccountId, FundraiserId, NonprofitId};
use crate::platform::money::Cents;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A fundraiser that is to be made.
#[derive(Clone, Debug)]
pub struct Order {
    /// Whole but for its slug and the moment.
    pub fundraiser: Fundraiser,
    /// The slug of its nonprofit, in addresses.
    pub nonprofit: String,
    pub asked: Option<Asked>,
}

/// What is to become of a fundraiser.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// The fields of a body, and the picture that came with it.
    Fields(Map<String, Value>, Option<Option<String>>),
    Close,
    Reopen,
}

/// Makes a fundraiser, or answers as the first time.
pub async fn create(app: &App, order: Order) -> Result<Kept, Error> {
    let id = order.fundraiser.id;
    let order = Arc::new(order);
    let (clock, urls) = (app.clock.clone(), app.urls.clone());
    let kept = app
        .writer
        .run_asking(Asks::about(id), move |batch| {
            let (order, urls, now) = (Arc::clone(&order), urls.clone(), clock.millis());
            Box::pin(async move { write_new(batch, &order, &urls, now).await })
        })
        .await;
    // Also where nobody knows whether it stands.
    app.fundraisers.forget(id);
    kept?
}

pub(crate) async fn write_new(
    batch: &mut Batch,
    order: &Order,
    urls: &Urls,
    now: i64,
) -> sqlx::Result<Result<Kept, Error>> {
    if let Some(asked) = &order.asked {
        match asked.find_in(&mut batch.tx, now).await? {
            Ok(None) => {}
            Ok(Some(kept)) => return Ok(Ok(kept)),
            Err(mismatch) => return Ok(Err(mismatch)),
        }
    }
    let new = Fundraiser {
        slug: free_slug(batch, order.fundraiser.nonprofit, &order.fundraiser.title).await?,
        created_at: now,
        ..order.fundraiser.clone()
    };
    if let Err(refused) = add_offline(batch, &new, Cents::ZERO, now).await? {
        return Ok(Err(refused));
    }
    store::insert(&mut batch.tx, &new).await?;
    let fact = json!({"fundraiserId": new.id.0, "nonprofitId": new.nonprofit.0, "slug": new.slug});
    batch.tell("fundraiser_created", Some(new.id), &fact, now);
    let kept = Kept {
        location: urls.fundraiser_read(&order.nonprofit, &new.slug),
        body: written(&new, &order.nonprofit, urls, now, false),
    };
    if let Some(asked) = &order.asked {
        asked.keep(&mut batch.tx, &kept, now).await?;
    }
    Ok(Ok(kept))
}

/// The slug of the title, or the next one that is free.
async fn free_slug(batch: &mut Batch, nonprofit: NonprofitId, title: &str) -> sqlx::Result<String> {
    let plain = slug::of_title(title);
    let mut slug = plain.clone();
    for tried in 0.. {
        if !store::has_slug(&mut batch.tx, nonprofit, &slug).await? {
            break;
        }
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        slug = slug::varied(&plain, u32::from_le_bytes(bytes), tried);
    }
    Ok(slug)
}

/// What came in elsewhere becomes an entry of its own: the difference to what was told before.
async fn add_offline(
    batch: &mut Batch,
    fundraiser: &Fundraiser,
    before: Cents,
    now: i64,
) -> sqlx::Result<Result<(), Error>> {
    let told = fundraiser.offline.unwrap_or_default();
    let amount = Cents(told.0 - before.0);
    if amount == Cents::ZERO {
        return Ok(Ok(()));
    }
    let id = fundraiser.id;
    let draft = Draft {
        kind: Kind::Offline,
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
    Ok(batch
        .append(draft)
        .await?
        .map(|_| ())
        .map_err(|too_much| Error::InvalidBody(vec![FieldError::new("raisedOffline", too_much.to_string())])))
}

/// Changes a fundraiser of an account; one of another is not found. What is so already is not written again.
pub async fn change(
    app: &App,
    account: AccountId,
    id: FundraiserId,
    wanted: Wanted,
) -> Result<Fundraiser, Error> {
    let wanted = Arc::new(wanted);
    let clock = app.clock.clone();
    let changed = app
        .writer
        .run_asking(Asks::about(id), move |batch| {
            let (wanted, now) = (Arc::clone(&wanted), clock.millis());
            Box::pin(async move { write_change(batch, account, id, &wanted, now).await })
        })
        .await;
    app.fundraisers.forget(id);
    changed?
}

pub(crate) async fn write_change(
    batch: &mut Batch,
    account: AccountId,
    id: FundraiserId,
    wanted: &Wanted,
    now: i64,
) -> sqlx::Result<Result<Fundraiser, Error>> {
    let known = store::find_in(&mut batch.tx, id).await?;
    let Some(known) = known.filter(|known| known.account == account) else {
        return Ok(Err(Error::no_own_fundraiser(&id.to_string())));
    };
    let change = match wanted.change(&known, now) {
        Ok(change) => change,
        Err(refused) => return Ok(Err(refused)),
    };
    let (changed, differing) = change.apply(&known);
    if differing.is_empty() {
        return Ok(Ok(known));
    }
    if let Err(refused) = add_offline(batch, &changed, known.offline.unwrap_or_default(), now).await? {
        return Ok(Err(refused));
    }
    let differing = Value::Object(differing);
    store::update(&mut batch.tx, &changed, account, &differing.to_string(), now).await?;
    let fact = json!({"fundraiserId": id.0, "version": changed.version, "change": differing});
    batch.tell(wanted.fact(), Some(id), &fact, now);
    Ok(Ok(changed))
}

impl Wanted {
    /// What it changes of a fundraiser, or all that is wrong with it.
    pub fn change(&self, known: &Fundraiser, now: i64) -> Result<Change, Error> {
        match self {
            Wanted::Close => Ok(Change::close(known, now)),
            Wanted::Reopen => Ok(Change::reopen(known)),
            Wanted::Fields(sent, cover) => {
                let mut fields = Fields::new(sent);
                let change = Change::read(&mut fields, known);
                fields.done()?;
                Ok(Change {
                    cover: cover.clone(),
                    ..change
                })
            }
        }
    }

    fn fact(&self) -> &'static str {
        match self {
            Wanted::Fields(..) => "fundraiser_changed",
            Wanted::Close => "fundraiser_closed",
            Wanted::Reopen => "fundraiser_reopened",
        }
    }
}

/// The body that answers a write.
pub fn written(fundraiser: &Fundraiser, nonprofit: &str, urls: &Urls, now: i64, dry_run: bool) -> String {
    let body = WrittenBody {
        message: "OK",
        data: WrittenData {
            fundraiser: FundraiserBody::new(fundraiser, nonprofit, urls, now),
        },
        dry_run,
    };
    serde_json::to_string(&body).expect("a fundraiser is plain data")
}
