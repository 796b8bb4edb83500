//! Exports the whole ledger: JSON Lines with every posting and hash, or CSV with one line per entry.

use crate::checkout::dedication::Dedication;
use crate::checkout::store::{self as donations, PartnerFields};
use crate::ledger::entry::Entry;
use crate::ledger::store;
use platform::clock::rfc3339;
use platform::db::Db;
use platform::text::escape_formula;
use serde_json::{Value, json};
use std::io::Write;

const BATCH_SIZE: i64 = 5_000;

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    JsonLines,
    Csv,
}

const COLUMNS: [&str; 18] = [
    "sequence",
    "kind",
    "source",
    "externalId",
    "nonprofitId",
    "fundraiserId",
    "donor",
    "name",
    "nameIsPublic",
    "amount",
    "refunds",
    "recordedAt",
    "hash",
    "partnerDonationId",
    "partnerMetadata",
    "designation",
    "mode",
    "dedication",
];

/// Writes every entry of a consistent snapshot. Returns how many there are.
pub async fn export(db: &Db, format: Format, out: &mut impl Write) -> anyhow::Result<u64> {
    let mut tx = db.view().await?;
    let (mut last, mut count) = (0, 0);
    if format == Format::Csv {
        csv::Writer::from_writer(&mut *out).write_record(COLUMNS)?;
    }
    loop {
        let entries = store::list_after(&mut tx, last, BATCH_SIZE).await?;
        let Some(end) = entries.last() else {
            return Ok(count);
        };
        let names = store::list_names(&mut tx, last, end.sequence).await?;
        let partner_fields = donations::list_partner_fields(&mut tx, last, end.sequence).await?;
        let line = |entry: &Entry| {
            let mut line = line(entry, names.get(&entry.sequence));
            add_partner_fields(&mut line, partner_fields.get(&entry.sequence));
            line
        };
        last = end.sequence;
        count += entries.len() as u64;
        match format {
            Format::JsonLines => {
                for entry in &entries {
                    writeln!(out, "{}", line(entry))?;
                }
            }
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(&mut *out);
                for entry in &entries {
                    let line = line(entry);
                    csv.write_record(COLUMNS.map(|column| cell(&line[column])))?;
                }
                csv.flush()?;
            }
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape_formula(text).into_owned(),
        other => other.to_string(),
    }
}

/// Adds the parameters of the partner's link and the dedication to a donation of the checkout.
fn add_partner_fields(line: &mut Value, partner_fields: Option<&PartnerFields>) {
    let Some(partner_fields) = partner_fields else {
        return;
    };
    line["partnerDonationId"] = partner_fields.partner_id.as_deref().into();
    line["partnerMetadata"] = partner_fields.partner_metadata.as_deref().into();
    line["designation"] = partner_fields.designation.as_deref().into();
    line["dedication"] = partner_fields
        .dedication
        .as_ref()
        .map(Dedication::to_string)
        .into();
}

/// Converts an entry to JSON, with the name of the donor and whether it is public.
pub fn line(entry: &Entry, name: Option<&(String, bool)>) -> Value {
    let draft = &entry.draft;
    let postings = draft
        .postings
        .iter()
        .map(|posting| json!({"party": posting.party.kind(), "id": posting.party.id(), "amount": posting.amount.get()}));
    let hash = entry.hash.iter().map(|byte| format!("{byte:02x}"));
    json!({
        "sequence": entry.sequence,
        "kind": draft.kind.as_str(),
        "mode": draft.mode.as_str(),
        "source": draft.source,
        "externalId": draft.external_id,
        "nonprofitId": draft.nonprofit.map(|id| id.0),
        "fundraiserId": draft.fundraiser.map(|id| id.0),
        "donor": draft.donor,
        "name": name.map(|(name, _)| name),
        "nameIsPublic": name.map(|(_, is_public)| is_public),
        "amount": draft.amount.get(),
        "refunds": draft.refunds,
        "origin": draft.origin,
        "note": draft.note,
        "recordedAt": rfc3339(draft.recorded_at),
        "raised": entry.totals.map(|totals| totals.raised.get()),
        "supporters": entry.totals.map(|totals| totals.supporters),
        "legs": postings.collect::<Vec<_>>(),
        "hash": hash.collect::<String>(),
    })
}
