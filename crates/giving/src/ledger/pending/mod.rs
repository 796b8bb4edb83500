//! Rows of a batch that are not written yet.

pub(crate) mod store;

use super::entry::Entry;
use platform::ids::FundraiserId;
use std::sync::Arc;

/// Rows that wait to be written.
#[derive(Debug, Default)]
pub struct PendingRows {
    pub entries: Vec<Arc<Entry>>,
    pub names: Vec<DonorName>,
    pub outbox: Vec<OutboxRow>,
}

/// The name of the donor of a donation, public if the donor consented.
#[derive(Debug)]
pub struct DonorName {
    pub sequence: i64,
    pub name: String,
    pub consented_at: Option<i64>,
}

/// A row of the outbox.
#[derive(Debug)]
pub struct OutboxRow {
    pub sequence: i64,
    pub kind: &'static str,
    pub fundraiser: Option<FundraiserId>,
    pub body: String,
    pub created_at: i64,
}
