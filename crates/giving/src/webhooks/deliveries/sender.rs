//! Sends what is due, on any number of servers.
//!
//! In each round, one transaction records the attempts that ended, leases what is due, and says when the endpoints have
//! something to send next. A lease outlives the longest attempt, so nobody else sends the same event meanwhile; if a server
//! dies, another one sends it when the lease has lapsed.

use super::attempt::{Attempted, Render, Sent};
use super::store::{self, Leased};
use super::{Attempt, State};
use crate::webhooks::Webhooks;
use crate::webhooks::endpoints::{Endpoint, store as endpoints};
use crate::webhooks::schedule::{DisabledBecause, Next, Status, decide};
use access::notices::Notice;
use platform::db::Tx;
use platform::outbound::post::POST_TIMEOUT;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

/// The attempts of a server that are in progress at the same time.
const MAX_IN_FLIGHT: usize = 64;
/// How long an attempt may take with reading what is sent.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(POST_TIMEOUT.as_secs() + 15);
/// How long a delivery belongs to the server that sends it.
const LEASE_MILLIS: i64 = 2 * ATTEMPT_TIMEOUT.as_millis() as i64;

/// Sends events. One per server.
#[derive(Debug)]
pub struct Sender {
    webhooks: Webhooks,
    render: RenderFn,
    flights: JoinSet<Ended>,
    /// Attempts that ended and are not recorded yet.
    ended: Vec<Ended>,
    counters: SendCounters,
}

struct RenderFn(Render);

impl std::fmt::Debug for RenderFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RenderFn")
    }
}

#[derive(Debug)]
struct Ended {
    leased: Leased,
    attempted: Attempted,
}

/// Counts attempts.
#[derive(Clone, Debug)]
pub struct SendCounters {
    pub delivered: metrics::Counter,
    pub failed: metrics::Counter,
}

impl Default for SendCounters {
    fn default() -> SendCounters {
        SendCounters {
            delivered: metrics::Counter::noop(),
            failed: metrics::Counter::noop(),
        }
    }
}

impl Sender {
    pub fn new(webhooks: Webhooks, render: Render, counters: SendCounters) -> Sender {
        Sender {
            webhooks,
            render: RenderFn(render),
            flights: JoinSet::new(),
            ended: Vec::new(),
            counters,
        }
    }

    /// Returns when the next delivery is due, in milliseconds from now on. `None` if nothing waits, or if no more can be sent
    /// at the same time.
    async fn next_due(&self) -> sqlx::Result<Option<i64>> {
        if self.flights.len() >= MAX_IN_FLIGHT {
            return Ok(None);
        }
        let due = endpoints::find_next_due(&self.webhooks.db).await?;
        Ok(due.map(|due| (due - self.webhooks.clock.millis()).max(0)))
    }

    /// Waits for an attempt to end. Waits forever if none is in progress.
    pub async fn ended(&mut self) {
        match self.flights.join_next().await {
            Some(Ok(ended)) => self.ended.push(ended),
            // The attempt panicked, and its lease lapses.
            Some(Err(error)) => tracing::error!(%error, "an attempt to deliver an event failed"),
            None => std::future::pending().await,
        }
    }

    /// Sends everything that is due now, and returns when all attempts have ended.
    pub async fn send_due(&mut self) -> sqlx::Result<()> {
        loop {
            self.round().await?;
            if self.flights.is_empty() {
                return Ok(());
            }
            self.ended().await;
        }
    }

    /// Records what ended, and leases and sends what is due. Returns in how many milliseconds the next delivery is due, if any.
    pub async fn round(&mut self) -> sqlx::Result<Option<i64>> {
        while let Some(ended) = self.flights.try_join_next() {
            match ended {
                Ok(ended) => self.ended.push(ended),
                Err(error) => tracing::error!(%error, "an attempt to deliver an event failed"),
            }
        }
        let due = self.next_due().await?;
        if self.ended.is_empty() && due != Some(0) {
            return Ok(due);
        }
        let mut tx = self.webhooks.db.write().await?;
        let now = self.webhooks.clock.millis();
        let mut by_endpoint: BTreeMap<Uuid, Vec<&Ended>> = BTreeMap::new();
        for ended in &self.ended {
            by_endpoint.entry(ended.leased.endpoint).or_default().push(ended);
        }
        let (mut notices, mut endpoints_to_fill) = (Vec::new(), Vec::new());
        for endpoint in endpoints::lock_all(&mut tx, by_endpoint.keys().copied()).await? {
            let (id, account) = (endpoint.id, endpoint.account);
            if let Some(ended) = by_endpoint.get(&id) {
                let notice = self.record(&mut tx, endpoint, ended, now).await?;
                notices.extend(notice.map(|notice| (account, notice)));
                endpoints_to_fill.push(id);
            }
        }
        for id in endpoints::lock_due(&mut tx, now).await? {
            if !endpoints_to_fill.contains(&id) {
                endpoints_to_fill.push(id);
            }
        }
        let mut leased = Vec::new();
        for id in endpoints_to_fill {
            let free = MAX_IN_FLIGHT.saturating_sub(self.flights.len() + leased.len());
            leased.extend(self.fill(&mut tx, id, free, now).await?);
        }
        // This locks rows of accounts, so it comes after all endpoints are locked.
        let emails = self.webhooks.queue_notices(&mut tx, notices).await?;
        tx.commit().await?;
        for ended in self.ended.drain(..) {
            if let Attempted::Sent(sent) = &ended.attempted {
                let is_delivered = sent.error.is_none();
                let counter = if is_delivered {
                    &self.counters.delivered
                } else {
                    &self.counters.failed
                };
                counter.increment(1);
            }
        }
        for email in emails {
            self.webhooks.mailer.dispatch(email);
        }
        for leased in leased {
            let (webhooks, render) = (self.webhooks.clone(), self.render.0.clone());
            self.flights.spawn(async move {
                let attempted = timeout(ATTEMPT_TIMEOUT, webhooks.attempt(leased, &render)).await;
                Ended {
                    leased,
                    attempted: attempted.unwrap_or(Attempted::Failed),
                }
            });
        }
        self.next_due().await
    }

    /// Records the attempts for one endpoint, whose row is locked. Returns the email to its owner.
    async fn record(
        &self,
        tx: &mut Tx,
        mut endpoint: Endpoint,
        ended: &[&Ended],
        now: i64,
    ) -> sqlx::Result<Option<Notice>> {
        let id = endpoint.id;
        let (mut releases, mut disabled) = (false, None);
        for Ended { leased, attempted } in ended {
            let Some((subject, attempts, is_ours)) = store::find_leased(tx, leased).await? else {
                continue;
            };
            match attempted {
                Attempted::Failed => {}
                Attempted::NotWanted => store::give_back(tx, leased, now).await?,
                Attempted::NoEvent => {
                    let attempt = not_sent(attempts, now);
                    store::finish(tx, leased.id, State::Failed, &attempt, now).await?;
                    store::open_subject(tx, id, &subject, now).await?;
                }
                Attempted::Sent(sent) => {
                    let mut attempt = made(attempts + 1, sent);
                    if !is_ours {
                        // The lease may have been taken away to erase what is known about a donor.
                        attempt.answer.clear();
                    }
                    store::insert_attempt(tx, leased.id, &attempt).await?;
                    if !is_ours && sent.error.is_some() {
                        // Somebody else is sending it, or will when the lease lapses.
                        continue;
                    }
                    let decision = decide(endpoint.health, attempts + 1, sent.outcome, now, random());
                    endpoint.health = decision.health;
                    releases |= decision.releases;
                    disabled = disabled.or(decision.disabled);
                    match decision.next {
                        Next::RetryAt(at) => store::postpone(tx, leased.id, at, &attempt).await?,
                        Next::Delivered | Next::GiveUp => {
                            let state = if decision.next == Next::GiveUp {
                                State::Failed
                            } else {
                                State::Delivered
                            };
                            store::finish(tx, leased.id, state, &attempt, now).await?;
                            store::open_subject(tx, id, &subject, now).await?;
                        }
                    }
                }
            }
        }
        if releases {
            store::make_due(tx, id, now).await?;
        }
        let (reason, disabled_at) = match disabled {
            Some(because) => (reason_of(because), Some(now)),
            None => (endpoint.reason.as_str(), endpoint.disabled_at),
        };
        endpoints::set_health(tx, id, endpoint.health, reason, disabled_at).await?;
        match disabled {
            Some(because) => Ok(Some(self.webhooks.disabled_notice(&endpoint, because))),
            None => self.webhooks.failing_notice(tx, &endpoint).await,
        }
    }

    /// Leases what is due for an endpoint whose row is locked, and notes when it has something to send next.
    async fn fill(&self, tx: &mut Tx, id: Uuid, free: usize, now: i64) -> sqlx::Result<Vec<Leased>> {
        let Some(endpoint) = endpoints::lock_any(tx, id).await? else {
            return Ok(Vec::new());
        };
        if endpoint.health.status == Status::Disabled {
            endpoints::set_due(tx, id, None).await?;
            return Ok(Vec::new());
        }
        let in_flight = store::count_in_flight(tx, id, now).await?;
        let max = endpoint.health.max_in_flight().saturating_sub(in_flight);
        let is_failing = endpoint.health.status == Status::Failing;
        let due = if is_failing {
            let oldest = store::find_oldest(tx, id).await?;
            let oldest = oldest.filter(|(_, due_at)| max > 0 && *due_at <= now);
            oldest.into_iter().map(|(row, _)| row).take(free).collect()
        } else {
            store::list_due(tx, id, now, max.min(free)).await?
        };
        let mut leased = Vec::with_capacity(due.len());
        for (delivery, sequence, _) in due {
            let lease = Uuid::now_v7();
            store::lease(tx, delivery, lease, now + LEASE_MILLIS).await?;
            leased.push(Leased {
                id: delivery,
                endpoint: id,
                sequence,
                lease,
            });
        }
        let next = if is_failing {
            store::find_oldest(tx, id).await?.map(|(_, due_at)| due_at)
        } else {
            let is_full = leased.len() == max;
            store::find_next_due(tx, id, is_full).await?
        };
        // Not before now, so that the others have their turn.
        endpoints::set_due(tx, id, next.map(|next| next.max(now))).await?;
        Ok(leased)
    }
}

/// Why an endpoint was disabled, as its owner sees it.
fn reason_of(because: DisabledBecause) -> &'static str {
    match because {
        DisabledBecause::Gone => "The receiver answered with status 410 (Gone).",
        DisabledBecause::FiveDays => "Every attempt failed for five days.",
    }
}

fn made(number: i64, sent: &Sent) -> Attempt {
    Attempt {
        number,
        at: sent.at,
        status: sent.status,
        error: sent.error.clone(),
        duration: sent.duration,
        answer: sent.answer.clone(),
    }
}

/// The outcome of a delivery whose event is gone.
fn not_sent(attempts: i64, now: i64) -> Attempt {
    Attempt {
        number: attempts,
        at: now,
        status: None,
        error: Some("the event is no longer stored".to_owned()),
        duration: 0,
        answer: String::new(),
    }
}

/// Returns a random number for jitter.
fn random() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    u64::from_le_bytes(bytes)
}
