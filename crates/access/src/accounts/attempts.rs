//! Limits attempts to sign in, sign up and request emails: per account and network, per network, and per account.
//!
//! Guessing from one network ends after [`PER_ACCOUNT_AND_NETWORK`] attempts at one account, and after
//! [`PER_NETWORK`] attempts at any account. Guessing from many networks ends after [`PER_ACCOUNT`] attempts. The owner is
//! not locked out: the last two limits do not apply to a network from which the owner has signed in before, and a
//! password reset by email is always possible.

use ipnet::IpNet;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A number of attempts per period.
#[derive(Clone, Copy, Debug)]
pub struct AttemptLimit {
    attempts: usize,
    period: Duration,
}

impl AttemptLimit {
    /// Returns the number of attempts per period.
    pub const fn attempts(self) -> usize {
        self.attempts
    }

    pub const fn period(self) -> Duration {
        self.period
    }
}

const fn limit(attempts: usize, minutes: u64) -> AttemptLimit {
    AttemptLimit {
        attempts,
        period: Duration::from_mins(minutes),
    }
}

pub const PER_ACCOUNT_AND_NETWORK: AttemptLimit = limit(10, 15);
pub(crate) const PER_NETWORK: AttemptLimit = limit(60, 15);
pub(crate) const PER_ACCOUNT: AttemptLimit = limit(100, 60);
/// Codes of two-factor sign-in per account, from all networks: of a million codes, three are right at a time.
pub const CODES: AttemptLimit = limit(20, 60);
/// New accounts per network.
pub(crate) const SIGN_UPS: AttemptLimit = limit(30, 60);
/// Reports of fundraisers and nonprofits per network.
pub const REPORTS: AttemptLimit = limit(10, 60);
/// Checks of a redirect origin per account. Each makes this server connect to another one.
pub const ORIGIN_CHECKS: AttemptLimit = limit(20, 60);
/// Pictures that an account uploads on the dashboard.
pub const PICTURES: AttemptLimit = limit(60, 60);
/// Emails per recipient.
pub const EMAILS: AttemptLimit = limit(3, 60);
/// Emails requested per network.
pub(crate) const EMAILS_PER_NETWORK: AttemptLimit = limit(20, 60);

/// How long a network is trusted after a sign-in.
pub(crate) const TRUST_PERIOD: Duration = Duration::from_hours(30 * 24);
/// The number of entries above which old ones are dropped.
const MAX_ENTRIES: usize = 200_000;

pub type NameHash = [u8; 8];

/// What attempts are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    AccountAndNetwork(NameHash, IpNet),
    Network(IpNet),
    Account(NameHash),
    Codes(NameHash),
    SignUps(IpNet),
    Emails(NameHash),
    EmailsByNetwork(IpNet),
    Reports(IpNet),
    OriginChecks(NameHash),
    Pictures(NameHash),
    ReceiptLinks(NameHash),
}

/// A text that is the same on all servers.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |name: &NameHash| format!("{:016x}", u64::from_be_bytes(*name));
        match self {
            Subject::AccountAndNetwork(name, network) => write!(f, "account {} network {network}", hex(name)),
            Subject::Network(network) => write!(f, "network {network}"),
            Subject::Account(name) => write!(f, "account {}", hex(name)),
            Subject::Codes(name) => write!(f, "codes {}", hex(name)),
            Subject::SignUps(network) => write!(f, "sign-ups {network}"),
            Subject::Emails(name) => write!(f, "emails {}", hex(name)),
            Subject::EmailsByNetwork(network) => write!(f, "emails by network {network}"),
            Subject::Reports(network) => write!(f, "reports {network}"),
            Subject::OriginChecks(name) => write!(f, "origin checks {}", hex(name)),
            Subject::Pictures(name) => write!(f, "pictures {}", hex(name)),
            Subject::ReceiptLinks(name) => write!(f, "receipt links {}", hex(name)),
        }
    }
}

/// The recent attempts, in memory.
#[derive(Debug, Default)]
pub struct Attempts(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    attempts: HashMap<Subject, VecDeque<Instant>>,
    trusted: HashMap<(NameHash, IpNet), Instant>,
}

/// The time to wait before the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);

impl Attempts {
    /// Counts an attempt to sign in, or rejects it.
    pub fn sign_in(&self, username: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let name = hash_name(username);
        let is_trusted = self.is_trusted(name, network, now);
        self.admit(&Attempts::sign_in_limits(name, network, is_trusted), now)
    }

    /// Reverts the count of an attempt whose password was right, and trusts the network.
    ///
    /// An attempt from a trusted network was counted only for account and network together, so only that is reverted:
    /// signing in to one's own account must not buy guesses at other accounts.
    pub fn record_success(&self, username: &str, network: IpNet, now: Instant) {
        let name = hash_name(username);
        let mut counts = self.lock();
        counts.attempts.remove(&Subject::AccountAndNetwork(name, network));
        if !counts.is_trusted(name, network, now) {
            for subject in [Subject::Network(network), Subject::Account(name)] {
                counts.attempts.get_mut(&subject).and_then(VecDeque::pop_back);
            }
        }
        if counts.trusted.len() >= MAX_ENTRIES {
            counts.trusted.clear();
        }
        counts.trusted.insert((name, network), now);
    }

    pub(crate) fn sign_in_limits(
        name: NameHash,
        network: IpNet,
        is_trusted: bool,
    ) -> Vec<(Subject, AttemptLimit)> {
        let mut limits = vec![(Subject::AccountAndNetwork(name, network), PER_ACCOUNT_AND_NETWORK)];
        if !is_trusted {
            limits.push((Subject::Network(network), PER_NETWORK));
            limits.push((Subject::Account(name), PER_ACCOUNT));
        }
        limits
    }

    /// Returns the limits of a code: those of a password, and one for codes, which a right password does not reset.
    pub(crate) fn code_limits(
        name: NameHash,
        network: IpNet,
        is_trusted: bool,
    ) -> Vec<(Subject, AttemptLimit)> {
        let mut limits = Attempts::sign_in_limits(name, network, is_trusted);
        limits.push((Subject::Codes(name), CODES));
        limits
    }

    /// Reverts the count of a code that was right.
    pub fn record_right_code(&self, username: &str) {
        let codes = Subject::Codes(hash_name(username));
        self.lock().attempts.get_mut(&codes).and_then(VecDeque::pop_back);
    }

    pub(crate) fn sign_up_limits(network: IpNet) -> [(Subject, AttemptLimit); 1] {
        [(Subject::SignUps(network), SIGN_UPS)]
    }

    pub(crate) fn report_limits(network: IpNet) -> [(Subject, AttemptLimit); 1] {
        [(Subject::Reports(network), REPORTS)]
    }

    pub(crate) fn origin_check_limits(username: &str) -> [(Subject, AttemptLimit); 1] {
        [(Subject::OriginChecks(hash_name(username)), ORIGIN_CHECKS)]
    }

    pub(crate) fn picture_limits(username: &str) -> [(Subject, AttemptLimit); 1] {
        [(Subject::Pictures(hash_name(username)), PICTURES)]
    }

    /// Returns the limits of an email with a link to the receipts of a mailbox.
    pub(crate) fn receipt_link_limits(
        mailbox: &str,
        per_hour: usize,
        network: IpNet,
    ) -> [(Subject, AttemptLimit); 2] {
        [
            (Subject::ReceiptLinks(hash_name(mailbox)), limit(per_hour, 60)),
            (Subject::EmailsByNetwork(network), EMAILS_PER_NETWORK),
        ]
    }

    /// Returns the limits of an email to a recipient that was requested from a network.
    pub(crate) fn email_limits(to: &str, network: IpNet) -> [(Subject, AttemptLimit); 2] {
        [
            (Subject::Emails(hash_name(to)), EMAILS),
            (Subject::EmailsByNetwork(network), EMAILS_PER_NETWORK),
        ]
    }

    /// Returns whether the owner of an account has signed in from a network recently.
    pub fn is_trusted(&self, name: NameHash, network: IpNet, now: Instant) -> bool {
        self.lock().is_trusted(name, network, now)
    }

    /// Counts an attempt for all subjects, or for none if one of them has reached its limit.
    pub fn admit(&self, limits: &[(Subject, AttemptLimit)], now: Instant) -> Result<(), RetryAfter> {
        self.lock().admit(limits, now)
    }

    /// Counts an attempt that was admitted elsewhere.
    pub fn count(&self, limits: &[(Subject, AttemptLimit)], now: Instant) {
        self.lock().count(limits, now);
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn is_trusted(&self, name: NameHash, network: IpNet, now: Instant) -> bool {
        let signed_in_at = self.trusted.get(&(name, network));
        signed_in_at.is_some_and(|at| now.saturating_duration_since(*at) < TRUST_PERIOD)
    }

    /// Counts an attempt for all subjects, or for none if one of them has reached its limit.
    fn admit(&mut self, limits: &[(Subject, AttemptLimit)], now: Instant) -> Result<(), RetryAfter> {
        for (subject, limit) in limits {
            let attempts = self.recent(*subject, *limit, now);
            if attempts.len() >= limit.attempts {
                let first = attempts.front().copied().unwrap_or(now);
                let elapsed = now.saturating_duration_since(first);
                return Err(RetryAfter(limit.period.saturating_sub(elapsed)));
            }
        }
        self.count(limits, now);
        Ok(())
    }

    fn count(&mut self, limits: &[(Subject, AttemptLimit)], now: Instant) {
        for (subject, limit) in limits {
            self.recent(*subject, *limit, now).push_back(now);
        }
    }

    /// Returns the attempts within the period of a limit.
    fn recent(&mut self, subject: Subject, limit: AttemptLimit, now: Instant) -> &mut VecDeque<Instant> {
        if self.attempts.len() >= MAX_ENTRIES {
            self.sweep(now);
        }
        let attempts = self.attempts.entry(subject).or_default();
        while attempts
            .front()
            .is_some_and(|first| now.saturating_duration_since(*first) >= limit.period)
        {
            attempts.pop_front();
        }
        attempts
    }

    fn sweep(&mut self, now: Instant) {
        let is_recent = |attempts: &VecDeque<Instant>| {
            let last = attempts.back();
            last.is_some_and(|last| now.saturating_duration_since(*last) < PER_ACCOUNT.period)
        };
        self.attempts.retain(|_, attempts| is_recent(attempts));
        if self.attempts.len() >= MAX_ENTRIES {
            self.attempts.clear();
        }
    }
}

/// Hashes a name, so that long names take no more memory than short ones.
pub(crate) fn hash_name(text: &str) -> NameHash {
    let digest: [u8; 32] = Sha256::digest(text.trim().to_lowercase()).into();
    digest[..8].try_into().expect("eight bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::clock::Clock;
    use std::net::{IpAddr, Ipv4Addr};

    fn network(last: u32) -> IpNet {
        IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + last)).into()
    }

    #[test]
    fn guessing_from_one_network_is_limited_until_the_period_is_over() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for _ in 0..PER_ACCOUNT_AND_NETWORK.attempts {
            assert!(attempts.sign_in("ada", network(1), now).is_ok());
        }
        assert_eq!(
            attempts.sign_in("Ada ", network(1), now),
            Err(RetryAfter(PER_ACCOUNT_AND_NETWORK.period)),
            "the same name"
        );
        assert!(attempts.sign_in("ada", network(2), now).is_ok());
        assert!(attempts.sign_in("bob", network(1), now).is_ok());
        assert!(
            attempts
                .sign_in("ada", network(1), now + PER_ACCOUNT_AND_NETWORK.period)
                .is_ok()
        );
    }

    #[test]
    fn one_network_cannot_try_many_usernames() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for name in 0..PER_NETWORK.attempts {
            assert!(attempts.sign_in(&name.to_string(), network(1), now).is_ok());
        }
        assert!(attempts.sign_in("another", network(1), now).is_err());
    }

    #[test]
    fn signing_in_to_ones_own_account_does_not_buy_guesses() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        let mut guesses = 0;
        for name in 0..10 * PER_NETWORK.attempts {
            attempts.sign_in("mallory", network(1), now).unwrap();
            attempts.record_success("mallory", network(1), now);
            guesses += usize::from(attempts.sign_in(&name.to_string(), network(1), now).is_ok());
        }
        assert_eq!(guesses, PER_NETWORK.attempts);
    }

    #[test]
    fn the_owner_can_sign_in_from_a_trusted_network_during_an_attack() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        attempts.sign_in("ada", network(0), now).unwrap();
        attempts.record_success("ada", network(0), now);
        for stranger in 1..=PER_ACCOUNT.attempts {
            assert!(attempts.sign_in("ada", network(stranger as u32), now).is_ok());
        }
        assert!(attempts.sign_in("ada", network(5_000), now).is_err());
        assert!(attempts.sign_in("ada", network(0), now).is_ok());
    }

    #[test]
    fn successful_sign_ins_are_not_counted() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for _ in 0..1_000 {
            attempts.sign_in("ada", network(1), now).unwrap();
            attempts.record_success("ada", network(1), now);
        }
    }

    #[test]
    fn a_right_password_does_not_buy_guesses_of_codes() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        let name = hash_name("ada");
        let mut guesses = 0;
        for client in 0..10 * CODES.attempts {
            let network = network(client as u32);
            attempts.sign_in("ada", network, now).unwrap();
            attempts.record_success("ada", network, now);
            let limits = Attempts::code_limits(name, network, true);
            guesses += usize::from(attempts.admit(&limits, now).is_ok());
        }
        assert_eq!(guesses, CODES.attempts);
        attempts.record_right_code("Ada");
        let limits = Attempts::code_limits(name, network(0), true);
        assert!(attempts.admit(&limits, now).is_ok());
        assert!(attempts.admit(&limits, now).is_err());
    }

    #[test]
    fn emails_to_one_recipient_are_limited() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for client in 0..EMAILS.attempts {
            let limits = Attempts::email_limits("ada", network(client as u32));
            attempts.admit(&limits, now).unwrap();
        }
        let limits = Attempts::email_limits("ada", network(100));
        assert!(attempts.admit(&limits, now).is_err());
        assert!(attempts.admit(&limits, now + EMAILS.period).is_ok());
    }
}
