//! How often somebody may try: by account and address together, by address, and by account.
//!
//! Guessing from one address ends after [`PAIR`] attempts at one account and after [`ADDRESS`] at any. Guessing from many
//! addresses ends after [`ACCOUNT`]. The owner is not locked out: an address from which the account was signed in to
//! stands outside the last two counts, and a link by mail is always open.

use ipnet::IpNet;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many attempts in so much time.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    attempts: usize,
    within: Duration,
}

const fn allow(attempts: usize, minutes: u64) -> Allowance {
    Allowance {
        attempts,
        within: Duration::from_mins(minutes),
    }
}

pub const PAIR: Allowance = allow(10, 15);
pub const ADDRESS: Allowance = allow(60, 15);
pub const ACCOUNT: Allowance = allow(100, 60);
/// New accounts of one address.
pub const SIGN_UPS: Allowance = allow(30, 60);
/// Reset mails to one account or address of mail, and those asked for by one client.
pub const MAILS: Allowance = allow(3, 60);
pub const MAILS_BY_CLIENT: Allowance = allow(20, 60);

/// How long an address is known after a sign-in.
const KNOWN: Duration = Duration::from_hours(30 * 24);
/// Above this many, what is oldest is forgotten.
const MOST: usize = 200_000;

type Name = [u8; 8];

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Pair(Name, IpNet),
    Address(IpNet),
    Account(Name),
    SignUps(IpNet),
    Mails(Name),
    MailsByClient(IpNet),
}

/// The attempts of late, in memory.
#[derive(Debug, Default)]
pub struct Attempts(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    tried: HashMap<Subject, VecDeque<Instant>>,
    known: HashMap<(Name, IpNet), Instant>,
}

/// Until when somebody has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);

impl Attempts {
    /// Counts an attempt to sign in, or says how long to wait.
    pub fn sign_in(&self, username: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let name = name(username);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = vec![(Subject::Pair(name, network), PAIR)];
        if !counts.is_known(name, network, now) {
            asked.push((Subject::Address(network), ADDRESS));
            asked.push((Subject::Account(name), ACCOUNT));
        }
        counts.admit(&asked, now)
    }

    /// Takes the counted attempt back, since the password was right, and remembers the address. From a known address
    /// only the pair was counted, so that alone is taken back: signing in to an account of one's own pays for no guess.
    pub fn record_success(&self, username: &str, network: IpNet, now: Instant) {
        let name = name(username);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.tried.remove(&Subject::Pair(name, network));
        if !counts.is_known(name, network, now) {
            for subject in [Subject::Address(network), Subject::Account(name)] {
                counts.tried.get_mut(&subject).and_then(VecDeque::pop_back);
            }
        }
        if counts.known.len() >= MOST {
            counts.known.clear();
        }
        counts.known.insert((name, network), now);
    }

    /// Counts a sign-up.
    pub fn sign_up(&self, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let subject = Subject::SignUps(network);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.admit(&[(subject, SIGN_UPS)], now)
    }

    /// Counts a mail to somebody, asked for by a client.
    pub fn email(&self, to: &str, network: IpNet, now: Instant) -> Result<(), RetryAfter> {
        let by_client = Subject::MailsByClient(network);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.admit(
            &[(Subject::Mails(name(to)), MAILS), (by_client, MAILS_BY_CLIENT)],
            now,
        )
    }
}

impl Counts {
    fn is_known(&self, name: Name, network: IpNet, now: Instant) -> bool {
        let seen = self.known.get(&(name, network));
        seen.is_some_and(|seen| now.saturating_duration_since(*seen) < KNOWN)
    }

    /// All of the subjects, or none, are counted.
    fn admit(&mut self, asked: &[(Subject, Allowance)], now: Instant) -> Result<(), RetryAfter> {
        if self.tried.len() >= MOST {
            self.sweep(now);
        }
        for (subject, allowance) in asked {
            let tried = self.tried.entry(*subject).or_default();
            while tried
                .front()
                .is_some_and(|first| now.saturating_duration_since(*first) >= allowance.within)
            {
                tried.pop_front();
            }
            if tried.len() >= allowance.attempts {
                let first = tried.front().copied().unwrap_or(now);
                let waited = now.saturating_duration_since(first);
                return Err(RetryAfter(allowance.within.saturating_sub(waited)));
            }
        }
        for (subject, _) in asked {
            self.tried.entry(*subject).or_default().push_back(now);
        }
        Ok(())
    }

    fn sweep(&mut self, now: Instant) {
        let is_recent = |tried: &VecDeque<Instant>| {
            let last = tried.back();
            last.is_some_and(|last| now.saturating_duration_since(*last) < ACCOUNT.within)
        };
        self.tried.retain(|_, tried| is_recent(tried));
        if self.tried.len() >= MOST {
            self.tried.clear();
        }
    }
}

/// Names are counted by a digest, so that a long one takes no room.
fn name(text: &str) -> Name {
    let digest: [u8; 32] = Sha256::digest(text.trim().to_lowercase()).into();
    digest[..8].try_into().expect("eight bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::clock::Clock;
    use std::net::{IpAddr, Ipv4Addr};

    fn address(last: u32) -> IpNet {
        IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + last)).into()
    }

    #[test]
    fn guessing_from_one_address_ends_and_begins_again_later() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for _ in 0..PAIR.attempts {
            assert!(attempts.sign_in("ada", address(1), now).is_ok());
        }
        assert_eq!(
            attempts.sign_in("Ada ", address(1), now),
            Err(RetryAfter(PAIR.within)),
            "the same name"
        );
        assert!(attempts.sign_in("ada", address(2), now).is_ok());
        assert!(attempts.sign_in("bob", address(1), now).is_ok());
        assert!(attempts.sign_in("ada", address(1), now + PAIR.within).is_ok());
    }

    #[test]
    fn one_address_cannot_try_the_names_one_after_the_other() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for name in 0..ADDRESS.attempts {
            assert!(attempts.sign_in(&name.to_string(), address(1), now).is_ok());
        }
        assert!(attempts.sign_in("another", address(1), now).is_err());
    }

    #[test]
    fn signing_in_to_an_account_of_ones_own_between_guesses_buys_no_more_of_them() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        let mut guesses = 0;
        for name in 0..10 * ADDRESS.attempts {
            attempts.sign_in("mallory", address(1), now).unwrap();
            attempts.record_success("mallory", address(1), now);
            guesses += usize::from(attempts.sign_in(&name.to_string(), address(1), now).is_ok());
        }
        assert_eq!(guesses, ADDRESS.attempts);
    }

    #[test]
    fn the_owner_gets_in_from_a_known_address_while_the_whole_net_guesses() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        attempts.sign_in("ada", address(0), now).unwrap();
        attempts.record_success("ada", address(0), now);
        for stranger in 1..=ACCOUNT.attempts {
            assert!(attempts.sign_in("ada", address(stranger as u32), now).is_ok());
        }
        assert!(attempts.sign_in("ada", address(5_000), now).is_err());
        assert!(attempts.sign_in("ada", address(0), now).is_ok());
    }

    #[test]
    fn right_passwords_are_not_counted() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for _ in 0..1_000 {
            attempts.sign_in("ada", address(1), now).unwrap();
            attempts.record_success("ada", address(1), now);
        }
    }

    #[test]
    fn mails_to_one_account_are_few() {
        let (attempts, now) = (Attempts::default(), Clock::default().instant());
        for client in 0..MAILS.attempts {
            attempts.email("ada", address(client as u32), now).unwrap();
        }
        assert!(attempts.email("ada", address(100), now).is_err());
        assert!(attempts.email("ada", address(100), now + MAILS.within).is_ok());
    }
}
