//! Reads a file for ACH payments, and verifies its counts, its entry hash and its totals. Every exported file is read before it
//! leaves, because a bank notices a wrong total, but not a wrong payment.

use super::{BLOCK_SIZE, HASH_MODULUS, Payment, RECORD_LENGTH};
use crate::disbursement::bank_account::RoutingNumber;

/// The entries of a file.
#[derive(Debug)]
pub(in crate::disbursement) struct AchFile {
    entries: Vec<Entry>,
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    routing: String,
    account: String,
    cents: i64,
    id: String,
}

/// Reads a file. The error says which record is wrong, without its content.
pub(in crate::disbursement) fn read(file: &str) -> Result<AchFile, String> {
    let records: Vec<&str> = file.lines().collect();
    if !file.is_ascii() || records.iter().any(|record| record.len() != RECORD_LENGTH) {
        return Err(format!("a record does not have {RECORD_LENGTH} characters"));
    }
    if records.is_empty() || !records.len().is_multiple_of(BLOCK_SIZE) {
        return Err("the file does not consist of blocks of ten records".to_owned());
    }
    let padding = "9".repeat(RECORD_LENGTH);
    let count = records.iter().take_while(|record| **record != padding).count();
    if records[count..].iter().any(|record| *record != padding) {
        return Err("a record follows the padding".to_owned());
    }
    let (body, end) = match &records[..count] {
        [file, batch, entries @ .., control, end] => {
            let kinds = [file, batch, control, end].map(|record| &record[..1]);
            if kinds != ["1", "5", "8", "9"] {
                return Err("the records are not in the order 1, 5, 6, 8, 9".to_owned());
            }
            (entries, (*batch, *control, *end))
        }
        _ => return Err("records are missing".to_owned()),
    };
    let mut entries = Vec::with_capacity(body.len());
    for (index, record) in body.iter().enumerate() {
        entries.push(entry(record, index + 1)?);
    }
    verify(&entries, end, records.len() / BLOCK_SIZE)?;
    Ok(AchFile { entries })
}

fn entry(record: &str, number: usize) -> Result<Entry, String> {
    let wrong = |what: &str| Err(format!("entry {number} has an invalid {what}"));
    if !record.starts_with("622") && !record.starts_with("632") {
        return wrong("transaction code");
    }
    let routing = &record[3..12];
    if RoutingNumber::parse(routing).is_err() {
        return wrong("routing number");
    }
    let Ok(cents) = record[29..39].parse::<i64>() else {
        return wrong("amount");
    };
    if cents <= 0 {
        return wrong("amount");
    }
    if record[87..].parse::<usize>() != Ok(number) {
        return wrong("trace number");
    }
    Ok(Entry {
        routing: routing.to_owned(),
        account: record[12..29].trim_end().to_owned(),
        cents,
        id: record[39..54].trim_end().to_owned(),
    })
}

/// Computes the counts, the hash and the totals again, and compares them with both control records.
fn verify(entries: &[Entry], (batch, control, end): (&str, &str, &str), blocks: usize) -> Result<(), String> {
    let hash = entries
        .iter()
        .map(|entry| entry.routing[..8].parse::<u64>().unwrap_or(0));
    let hash = hash.sum::<u64>() % HASH_MODULUS;
    let total: i64 = entries.iter().map(|entry| entry.cents).sum();
    let expected = [
        (batch[1..4] == control[1..4], "service class"),
        (batch[40..50] == control[44..54], "company"),
        (batch[79..] == control[79..], "batch number"),
        (
            control[4..10] == *format!("{:06}", entries.len()),
            "number of entries in the batch",
        ),
        (
            control[10..20] == *format!("{hash:010}"),
            "entry hash of the batch",
        ),
        (control[20..32] == *"000000000000", "total of debits in the batch"),
        (
            control[32..44] == *format!("{total:012}"),
            "total of credits in the batch",
        ),
        (end[1..7] == *"000001", "number of batches"),
        (end[7..13] == *format!("{blocks:06}"), "number of blocks"),
        (
            end[13..21] == *format!("{:08}", entries.len()),
            "number of entries",
        ),
        (end[21..31] == *format!("{hash:010}"), "entry hash"),
        (end[31..43] == *"000000000000", "total of debits"),
        (end[43..55] == *format!("{total:012}"), "total of credits"),
    ];
    match expected.into_iter().find(|(is_right, _)| !is_right) {
        Some((_, what)) => Err(format!("the {what} is wrong")),
        None => Ok(()),
    }
}

impl AchFile {
    /// Compares the entries with the payments that the file was written from.
    pub(in crate::disbursement) fn compare(&self, payments: &[Payment<'_>]) -> Result<(), String> {
        let expected = payments.iter().map(|payment| Entry {
            routing: payment.account.routing.as_str().to_owned(),
            account: payment.account.number().to_owned(),
            cents: payment.amount.get(),
            id: payment.id.clone(),
        });
        match self
            .entries
            .iter()
            .map(Some)
            .chain([None])
            .zip(expected.map(Some).chain([None]))
            .position(|(read, expected)| read != expected.as_ref())
        {
            Some(index) => Err(format!(
                "entry {} is not the payment that it was written from",
                index + 1
            )),
            None => Ok(()),
        }
    }
}
