//! Limits attempts on one server ([`Attempts`]), or over all servers that share Redis.
//!
//! If Redis is away, each server limits the attempts that it has seen. All keys are in one slot of a cluster, because
//! an attempt counts for its account and its network together; checking a password takes far longer than counting it.

use super::attempts::{AttemptLimit, Attempts, NameHash, RetryAfter, Subject, TRUST_PERIOD, hash_name};
use crate::limits::script::{Answer, SharedWindows, WindowQuery};
use ipnet::IpNet;
use metrics::Counter;
use platform::redis::{Away, Script};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const NAME: &str = "attempts";
const FORGET_SCRIPT: &str = include_str!("forget_attempt.lua");
const FORGET_LAST_SCRIPT: &str = "redis.call('RPOP', KEYS[1]) return 0";
/// How long a refusal is remembered, so that a flood of attempts does not reach Redis. Short, because a sign-in on
/// another server may end it.
const REFUSAL_MEMORY: Duration = Duration::from_secs(1);
/// The number of refusals above which old ones are dropped.
const MAX_REFUSALS: usize = 10_000;

/// Limits attempts to sign in, sign up and request emails.
#[derive(Debug, Default)]
pub struct AttemptLimiter {
    local: Attempts,
    shared: Option<SharedAttempts>,
}

#[derive(Debug)]
struct SharedAttempts {
    windows: SharedWindows,
    forget: Script,
    forget_last: Script,
    /// The prefix of all keys.
    group: String,
    /// Until when a refusal is remembered, and when the next attempt is possible.
    refusals: Mutex<HashMap<Subject, (Instant, Instant)>>,
    /// Counts the attempts about which Redis could not be asked.
    local_decisions: Counter,
}

impl AttemptLimiter {
    /// Creates a limiter that shares its counts with other servers.
    pub fn shared(windows: SharedWindows, local_decisions: Counter) -> AttemptLimiter {
        AttemptLimiter {
            local: Attempts::default(),
            shared: Some(SharedAttempts {
                group: windows.group(NAME, b""),
                windows,
                forget: Script::new(FORGET_SCRIPT),
                forget_last: Script::new(FORGET_LAST_SCRIPT),
                refusals: Mutex::default(),
                local_decisions,
            }),
        }
    }

    /// Counts an attempt to sign in, or rejects it.
    pub async fn sign_in(&self, username: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let name = hash_name(username);
        let is_trusted = self.is_trusted(name, network, now).await;
        self.admit(&Attempts::sign_in_limits(name, network, is_trusted), now)
            .await
    }

    /// Reverts the count of an attempt whose password was right, and trusts the network; see
    /// [`Attempts::record_success`].
    pub async fn record_success(&self, username: &str, network: IpNet, now: Instant) {
        let Some(shared) = &self.shared else {
            return self.local.record_success(username, network, now);
        };
        let name = hash_name(username);
        let is_trusted = self.is_trusted(name, network, now).await;
        self.local.record_success(username, network, now);
        shared.forget(name, network, is_trusted).await;
    }

    /// Counts a code of two-factor sign-in, or rejects it.
    pub async fn code(&self, username: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let name = hash_name(username);
        let is_trusted = self.is_trusted(name, network, now).await;
        self.admit(&Attempts::code_limits(name, network, is_trusted), now)
            .await
    }

    /// Reverts the count of a code that was right, and does what [`AttemptLimiter::record_success`] does.
    pub async fn record_right_code(&self, username: &str, network: IpNet, now: Instant) {
        self.record_success(username, network, now).await;
        self.local.record_right_code(username);
        if let Some(shared) = &self.shared {
            shared.forget_last(Subject::Codes(hash_name(username))).await;
        }
    }

    /// Counts a sign-up, or rejects it.
    pub async fn sign_up(&self, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        self.admit(&Attempts::sign_up_limits(network), now).await
    }

    /// Counts a report of a fundraiser or nonprofit, or rejects it.
    pub async fn report(&self, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        self.admit(&Attempts::report_limits(network), now).await
    }

    /// Counts a check of a redirect origin of an account, or rejects it.
    pub async fn origin_check(&self, username: &str, now: Instant) -> Result<(), RetryAfter> {
        self.admit(&Attempts::origin_check_limits(username), now).await
    }

    /// Counts an upload of a picture by an account, or rejects it.
    pub async fn picture(&self, username: &str, now: Instant) -> Result<(), RetryAfter> {
        self.admit(&Attempts::picture_limits(username), now).await
    }

    /// Counts an email with a link to the receipts of a mailbox, requested from a network, or rejects it.
    pub async fn receipt_link(
        &self,
        mailbox: &str,
        per_hour: usize,
        network: IpNet,
        now: Instant,
    ) -> Result<(), RetryAfter> {
        self.admit(&Attempts::receipt_link_limits(mailbox, per_hour, network), now)
            .await
    }

    /// Counts an email to a recipient, requested from a network, or rejects it.
    pub async fn email(&self, to: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        self.admit(&Attempts::email_limits(to, network), now).await
    }

    async fn is_trusted(&self, name: NameHash, network: IpNet, now: Instant) -> bool {
        if self.local.is_trusted(name, network, now) {
            return true;
        }
        match &self.shared {
            Some(shared) => {
                let key = shared.trust_key(name, network);
                shared.windows.redis.exists(&key).await.unwrap_or(false)
            }
            None => false,
        }
    }

    async fn admit(&self, limits: &[(Subject, AttemptLimit)], now: Instant) -> Result<(), RetryAfter> {
        let Some(shared) = &self.shared else {
            return self.local.admit(limits, now);
        };
        if let Some(wait) = shared.remembered_refusal(limits, now) {
            return Err(wait);
        }
        match shared.admit(limits, now).await {
            Ok(Ok(())) => {
                // Counts here too, for the time when Redis is away.
                self.local.count(limits, now);
                Ok(())
            }
            Ok(Err(wait)) => Err(wait),
            Err(Away) => {
                shared.local_decisions.increment(1);
                self.local.admit(limits, now)
            }
        }
    }
}

impl SharedAttempts {
    async fn admit(
        &self,
        limits: &[(Subject, AttemptLimit)],
        now: Instant,
    ) -> Result<Result<(), RetryAfter>, Away> {
        let query = |(subject, limit): &(Subject, AttemptLimit)| WindowQuery {
            key: self.key(*subject),
            limit: limit.attempts() as u32,
            length_micros: limit.period().as_micros() as u64,
            own: None,
        };
        let queries: Vec<WindowQuery> = limits.iter().map(query).collect();
        let Answer::States(states) = self.windows.admit(&queries).await? else {
            return Err(Away);
        };
        let mut longest = None;
        for ((subject, _), state) in limits.iter().zip(states) {
            if !state.has_room {
                let wait = Duration::from_micros(state.retry_in);
                self.remember_refusal(*subject, wait, now);
                longest = longest.max(Some(wait));
            }
        }
        Ok(longest.map_or(Ok(()), |wait| Err(RetryAfter(wait))))
    }

    async fn forget(&self, name: NameHash, network: IpNet, was_trusted: bool) {
        let attempts = Subject::AccountAndNetwork(name, network);
        let mut keys = vec![self.key(attempts), self.trust_key(name, network)];
        if !was_trusted {
            keys.push(self.key(Subject::Network(network)));
            keys.push(self.key(Subject::Account(name)));
        }
        let trusted_for = TRUST_PERIOD.as_millis() as i64;
        // While Redis is away, the attempt counts as a failed one.
        let _: Result<i64, Away> = self
            .windows
            .redis
            .run_script(&self.forget, &keys, &[trusted_for])
            .await;
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.remove(&attempts);
    }

    /// Reverts the last count of a subject.
    async fn forget_last(&self, subject: Subject) {
        // While Redis is away, the attempt counts as a failed one.
        let _: Result<i64, Away> = self
            .windows
            .redis
            .run_script(&self.forget_last, &[self.key(subject)], &[])
            .await;
    }

    fn remembered_refusal(&self, limits: &[(Subject, AttemptLimit)], now: Instant) -> Option<RetryAfter> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = limits.iter().filter_map(|(subject, _)| refusals.get(subject));
        let refused = refused.filter(|(remembered_until, _)| now < *remembered_until);
        let retry_at = refused.map(|(_, retry_at)| *retry_at).max()?;
        Some(RetryAfter(retry_at.saturating_duration_since(now)))
    }

    fn remember_refusal(&self, subject: Subject, wait: Duration, now: Instant) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() >= MAX_REFUSALS {
            refusals.retain(|_, (remembered_until, _)| now < *remembered_until);
        }
        if refusals.len() < MAX_REFUSALS {
            refusals.insert(subject, (now + wait.min(REFUSAL_MEMORY), now + wait));
        }
    }

    fn key(&self, subject: Subject) -> String {
        let hash = self.windows.hash(NAME, subject.to_string().as_bytes());
        format!("{}:{hash}", self.group)
    }

    fn trust_key(&self, name: NameHash, network: IpNet) -> String {
        let subject = Subject::AccountAndNetwork(name, network);
        format!("{}:trusted", self.key(subject))
    }
}
