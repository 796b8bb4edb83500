//! The parts that every capability uses: the database and its secret, backups, hosted pictures, email, the clock, IDs, money and text.

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
pub mod public_url;
pub mod redis;
pub mod secret;
pub mod settings;
pub mod text;
pub mod tls;
