//! The parts that every capability uses. None of them knows what a nonprofit, a key or a donation is.
//!
//! Start with [`db`], the only module that knows that there are two databases, and read [`clock`], [`ids`] and [`money`],
//! whose types appear everywhere: an ID of one kind cannot be used for another, and an amount is never a float.
//!
//! - Storage: [`db`] for rows, [`blobs`] for files in a folder or on an S3-compatible server, [`hosted`] for pictures made of
//!   both, [`secret`] for what the database alone must not reveal, [`backup`] for copies of all of these.
//! - Several servers: [`db`] tells servers what others changed, [`lease`] lets one of them do some work, [`redis`] holds what
//!   they count together.
//! - The world outside: [`mail`], and [`outbound`] for connections to servers that users name.
//!
//! A part that depends on something outside the process has a timeout and says so when that is away; callers decide what
//! to do then.

pub mod background_thread;
pub mod backup;
pub mod blobs;
pub mod clock;
pub mod data_folder;
pub mod db;
pub mod disk_space;
pub mod email_address;
pub mod field_error;
pub mod hosted;
pub mod ids;
pub mod json;
pub mod last_seen;
pub mod lease;
pub mod mail;
pub mod money;
pub mod outbound;
pub mod progress;
pub mod public_url;
pub mod redis;
pub mod secret;
pub mod settings;
pub mod text;
pub mod tls;
pub mod webhook_signature;
