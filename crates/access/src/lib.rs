//! Who may call, and how often: accounts, sessions, API keys, rate limits, usage, redirect origins and the audit log.
//!
//! Start with [`keys`]: a key as text (`keys/text.rs`), in memory (`keys/ring.rs`) and in the database (`keys/store.rs`). Then
//! read [`limits`], from the pure sliding window of one key (`limits/window.rs`) up to the limits that several servers share
//! through Redis. [`accounts`] has passwords, two-factor sign-in and suspensions, [`sessions`] the cookies of people
//! who are signed in, [`notices`] the emails to the owners of accounts, [`origins`] the sites to which a donate link may redirect, and
//! [`claims`] the people who run the page of a nonprofit.
//!
//! - The path of a request runs no SQL: keys and windows are in memory. A background job reloads the keys that changed, and
//!   another one saves the calls that were admitted, so that neither a restart nor a crash resets a limit.
//! - Passwords, private keys, recovery codes and cookies are stored as hashes, and secrets of authenticator apps encrypted.
//! - Every action of an operator is recorded in the [`audit`] log, in the transaction of the action.
//! - A write locks the row of the account and checks its `Standing` and, where a password authorized it, that the password
//!   has not changed since. A request that was authenticated before a suspension fails.

pub mod accounts;
pub mod audit;
pub mod claims;
pub mod consents;
pub mod keys;
pub mod limits;
pub mod notices;
pub mod origins;
pub mod sessions;
pub mod takedowns;
pub mod usage;
