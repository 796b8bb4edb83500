//! Fan-out: reads the outbox and the list of imports from where the last fan-out ended, and adds their events and deliveries,
//! in one transaction. The rows of the outbox are pruned only after that.

use super::store::{self, EntryFacts, ImportRow, OutboxRow};
use super::{Event, EventKind};
use crate::donations::SITE;
use crate::ledger::entry::Mode;
use crate::webhooks::deliveries::store::{self as deliveries, NewDelivery};
use crate::webhooks::endpoints::{Endpoint, store as endpoints};
use crate::webhooks::schedule::Status;
use crate::webhooks::{Webhooks, events};
use directory::history::changes::Cursor;
use platform::db::{Revision, Topic, Tx};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// The rows of the outbox and the imports that one transaction reads.
const BATCH_SIZE: i64 = 200;
const MAX_IMPORTS: i64 = 10;
/// The most accounts whose nonprofits changed by one import that are told so.
const MAX_CHANGED: i64 = 10_000;

/// What the outbox says about a monthly gift.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MonthlyGiftFact {
    monthly_gift_id: Uuid,
    /// The names of the fields that changed. Rows of earlier versions have none.
    #[serde(default)]
    changed: Vec<String>,
}

/// Events of a transaction that are not written yet.
struct FanOut {
    now: i64,
    last: i64,
    events: Vec<Event>,
    /// When the last event of a subject was.
    times: HashMap<String, i64>,
}

impl Webhooks {
    /// Adds the events and deliveries of what was written since the last time. Returns whether there is more.
    pub async fn fan_out(&self) -> sqlx::Result<bool> {
        if !store::has_new(&self.db).await? {
            return Ok(false);
        }
        let mut tx = self.db.write().await?;
        let mut sources = store::lock_sources(&mut tx).await?;
        let rows = store::list_outbox(&mut tx, sources.outbox, BATCH_SIZE).await?;
        let imports = store::list_imports(&mut tx, sources.directory, MAX_IMPORTS).await?;
        let has_more = rows.len() as i64 == BATCH_SIZE || imports.len() as i64 == MAX_IMPORTS;
        let mut batch = FanOut {
            now: self.clock.millis(),
            last: sources.last,
            events: Vec::new(),
            times: HashMap::new(),
        };
        for row in rows {
            sources.outbox = row.sequence;
            batch.add_row(&mut tx, row).await?;
        }
        for import in imports {
            sources.directory = import.revision;
            batch.add_import(&mut tx, &import).await?;
        }
        sources.last = batch.last;
        store::insert(&mut tx, &batch.events.iter().collect::<Vec<_>>()).await?;
        batch.deliver(&mut tx).await?;
        store::set_sources(&mut tx, sources).await?;
        tx.commit().await?;
        Ok(has_more)
    }
}

impl FanOut {
    /// Returns the time of the next event of a subject.
    async fn next_time(&mut self, tx: &mut Tx, subject: &str, at: i64) -> sqlx::Result<i64> {
        let last = match self.times.get(subject) {
            Some(last) => Some(*last),
            None => store::find_last_time(tx, subject).await?,
        };
        let time = last.map_or(at, |last| at.max(last + 1));
        self.times.insert(subject.to_owned(), time);
        Ok(time)
    }

    /// Adds an event for each of the accounts.
    async fn push(
        &mut self,
        tx: &mut Tx,
        accounts: &BTreeSet<Option<Uuid>>,
        (kind, subject, at): (EventKind, String, i64),
        complete: impl Fn(Event) -> Event,
    ) -> sqlx::Result<()> {
        let occurred_at = self.next_time(tx, &subject, at).await?;
        for account in accounts {
            self.last += 1;
            let event = Event {
                account: account.map(AccountId),
                occurred_at,
                ..events::Event::new(self.last, kind, subject.clone(), self.now)
            };
            self.events.push(complete(event));
        }
        Ok(())
    }

    async fn add_row(&mut self, tx: &mut Tx, row: OutboxRow) -> sqlx::Result<()> {
        let kind = EventKind::of_outbox(&row.kind);
        let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
        if let Some(entry) = body["entry"].as_i64() {
            let Some(facts) = store::find_entry(tx, entry).await? else {
                return Ok(());
            };
            if let Some(kind) = kind.filter(|kind| kind.is_donation()) {
                self.add_donation(tx, kind, &facts, row.created_at).await?;
            }
            if let Some(kind) = kind.filter(|kind| kind.is_disbursement()) {
                return self.add_disbursement(tx, kind, &facts, row.created_at).await;
            }
            return self.add_goal(tx, &facts, row.created_at).await;
        }
        let Some(kind) = kind else { return Ok(()) };
        if kind.is_monthly_gift() {
            return match serde_json::from_value(body) {
                Ok(fact) => self.add_monthly_gift(tx, kind, &row, fact).await,
                Err(_) => Ok(()),
            };
        }
        let Some(fundraiser) = row.fundraiser else {
            return Ok(());
        };
        let Some(account) = store::find_owner(tx, fundraiser).await? else {
            return Ok(());
        };
        let changed = body["change"]
            .as_object()
            .map(|change| change.keys().cloned().collect());
        let changed: Vec<String> = changed.unwrap_or_default();
        let subject = (kind, format!("fundraiser {fundraiser}"), row.created_at);
        self.push(tx, &BTreeSet::from([Some(account.0)]), subject, |event| Event {
            fundraiser: Some(fundraiser),
            detail: json!({"changed": changed}),
            ..event
        })
        .await
    }

    /// Adds an event for the owner of the fundraiser, for the partner whose link brought the donation, and for those who
    /// administer the nonprofit.
    async fn add_donation(
        &mut self,
        tx: &mut Tx,
        kind: EventKind,
        facts: &EntryFacts,
        at: i64,
    ) -> sqlx::Result<()> {
        let checkout = Uuid::try_parse(&facts.donation_id)
            .ok()
            .filter(|_| facts.source == SITE);
        let partner = match checkout {
            Some(id) => store::find_partner(tx, id).await?,
            None => None,
        };
        let administrators = store::list_administrators(tx, facts.donation).await?;
        let accounts: BTreeSet<Option<Uuid>> = [facts.account_id, partner.map(|id| id.0)]
            .into_iter()
            .flatten()
            .chain(administrators)
            .map(Some)
            .collect();
        let detail = match kind {
            EventKind::DonationSucceeded => Value::Null,
            _ => json!({"id": facts.external_id, "amount": facts.amount.abs(), "reversed": facts.amount > 0}),
        };
        let subject = (kind, events::donation_subject(facts.donation), at);
        self.push(tx, &accounts, subject, |event| Event {
            entry: Some(facts.donation),
            fundraiser: facts.fundraiser_id.map(FundraiserId),
            detail: detail.clone(),
            ..event
        })
        .await
    }

    /// Adds an event for each account of which a payment to a nonprofit pays donations.
    async fn add_disbursement(
        &mut self,
        tx: &mut Tx,
        kind: EventKind,
        facts: &EntryFacts,
        at: i64,
    ) -> sqlx::Result<()> {
        let Some(line) = parse_line(&facts.external_id) else {
            return Ok(());
        };
        let accounts = store::list_paid_accounts(tx, line).await?;
        let accounts = accounts.into_iter().map(Some).collect();
        let detail = json!({"batch": line.0, "line": line.1, "live": facts.mode != Mode::Test.as_str()});
        let subject = (kind, format!("disbursement {}-{}", line.0, line.1), at);
        self.push(tx, &accounts, subject, |event| Event {
            nonprofit: facts.nonprofit_id.map(NonprofitId),
            detail: detail.clone(),
            ..event
        })
        .await
    }

    /// Adds an event for the owner of the fundraiser and for the partner whose link brought the first donation, which has the ID
    /// of the gift.
    async fn add_monthly_gift(
        &mut self,
        tx: &mut Tx,
        kind: EventKind,
        row: &OutboxRow,
        fact: MonthlyGiftFact,
    ) -> sqlx::Result<()> {
        let gift = fact.monthly_gift_id;
        let mut accounts = BTreeSet::new();
        if let Some(fundraiser) = row.fundraiser {
            accounts.extend(store::find_owner(tx, fundraiser).await?);
        }
        accounts.extend(store::find_partner(tx, gift).await?);
        let accounts = accounts.into_iter().map(|id| Some(id.0)).collect();
        let subject = (kind, events::monthly_gift_subject(gift), row.created_at);
        self.push(tx, &accounts, subject, |event| Event {
            fundraiser: row.fundraiser,
            detail: json!({"gift": gift, "changed": fact.changed}),
            ..event
        })
        .await
    }

    /// Adds an event if an entry brought a fundraiser from below its goal to it.
    async fn add_goal(&mut self, tx: &mut Tx, facts: &EntryFacts, at: i64) -> sqlx::Result<()> {
        let (Some(id), Some(goal), Some(raised)) = (facts.fundraiser_id, facts.goal, facts.raised) else {
            return Ok(());
        };
        if raised < goal || raised - facts.amount >= goal {
            return Ok(());
        }
        let subject = (EventKind::FundraiserGoalReached, format!("fundraiser {id}"), at);
        let is_live = facts.mode != Mode::Test.as_str();
        self.push(tx, &BTreeSet::from([facts.account_id]), subject, |event| Event {
            fundraiser: Some(FundraiserId(id)),
            detail: json!({"goal": goal, "raised": raised, "live": is_live}),
            ..event
        })
        .await
    }

    async fn add_import(&mut self, tx: &mut Tx, import: &ImportRow) -> sqlx::Result<()> {
        // The cursor of a reader who knows the state before this import.
        let before = import.revision - 1;
        let token = tx.revision_token(Topic::Directory, before).await?;
        let cursor = token.map(|token| {
            Cursor::at(Revision {
                number: before,
                token,
            })
            .to_string()
        });
        let detail = json!({
            "kind": import.kind, "added": import.added, "changed": import.changed, "removed": import.gone, "cursor": cursor,
        });
        let subject = (
            EventKind::DirectoryUpdated,
            "directory".to_owned(),
            import.finished_at,
        );
        self.push(tx, &BTreeSet::from([None]), subject, |event| Event {
            detail: detail.clone(),
            ..event
        })
        .await?;
        let mut changed: BTreeMap<Uuid, (BTreeSet<Option<Uuid>>, BTreeSet<String>)> = BTreeMap::new();
        for row in store::list_changed_nonprofits(tx, import.revision, MAX_CHANGED).await? {
            let (accounts, fields) = changed.entry(row.nonprofit_id).or_default();
            accounts.insert(Some(row.account_id));
            fields.insert(row.field);
        }
        for (id, (accounts, fields)) in changed {
            let subject = (
                EventKind::NonprofitUpdated,
                format!("nonprofit {id}"),
                import.finished_at,
            );
            self.push(tx, &accounts, subject, |event| Event {
                nonprofit: Some(NonprofitId(id)),
                detail: json!({"changed": fields}),
                ..event
            })
            .await?;
        }
        Ok(())
    }

    /// Adds the deliveries of all events.
    async fn deliver(&self, tx: &mut Tx) -> sqlx::Result<()> {
        let mut accounts: BTreeSet<Uuid> = self
            .events
            .iter()
            .filter_map(|event| Some(event.account?.0))
            .collect();
        if self.events.iter().any(|event| event.account.is_none()) {
            accounts.extend(endpoints::list_accounts(tx).await?.iter().map(|id| id.0));
        }
        let mut open: Vec<Endpoint> = Vec::new();
        for account in accounts {
            let listed = endpoints::list_open(tx, AccountId(account)).await?;
            let is_wanted = |endpoint: &Endpoint| {
                let mut events = self.events.iter();
                events.any(|event| is_for(event, endpoint))
            };
            open.extend(listed.into_iter().filter(is_wanted));
        }
        let mut locked = endpoints::lock_all(tx, open.iter().map(|endpoint| endpoint.id)).await?;
        locked.retain(|endpoint| endpoint.health.status != Status::Disabled);
        if locked.is_empty() {
            return Ok(());
        }
        let mut new = Vec::new();
        let mut busy: HashMap<&String, HashSet<Uuid>> = HashMap::new();
        for event in &self.events {
            for endpoint in locked.iter().filter(|endpoint| is_for(event, endpoint)) {
                let busy = match busy.entry(&event.subject) {
                    Entry::Occupied(busy) => busy.into_mut(),
                    Entry::Vacant(busy) => busy.insert(
                        deliveries::list_busy(tx, &event.subject)
                            .await?
                            .into_iter()
                            .collect(),
                    ),
                };
                let is_first = busy.insert(endpoint.id);
                new.push(NewDelivery::new(
                    endpoint.id,
                    event,
                    is_first.then_some(self.now),
                    self.now,
                ));
            }
        }
        deliveries::insert(tx, &new).await?;
        for endpoint in &locked {
            endpoints::wake(tx, endpoint.id, self.now).await?;
        }
        Ok(())
    }
}

/// Returns the batch and the line of an entry about a payment to a nonprofit.
fn parse_line(external_id: &str) -> Option<(i64, i64)> {
    let id = external_id.split(' ').next()?;
    let (batch, line) = id.split_once('-')?;
    Some((batch.parse().ok()?, line.parse().ok()?))
}

fn is_for(event: &Event, endpoint: &Endpoint) -> bool {
    event.account.is_none_or(|account| account == endpoint.account)
        && endpoint.wants(event.kind)
        && event.endpoint.is_none_or(|id| id == endpoint.id)
}
