//! The parts that every capability uses: the database, hosted pictures, email, the clock, IDs, money and text.

pub mod blobs;
pub mod clock;
pub mod db;
pub mod field_error;
pub mod hosted;
pub mod ids;
pub mod mail;
pub mod money;
pub mod public_url;
pub mod settings;
pub mod text;
