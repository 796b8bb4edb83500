//! Files for ACH payments, in the format of Nacha: records of 94 characters, in blocks of ten.
//!
//! A file has one batch of credits to organizations (CCD). Control records repeat the number of entries, the sum of the banks'
//! numbers (the entry hash) and the total, so that a damaged file is refused.

pub(super) mod reader;
pub(super) mod writer;

use super::AchSettings;
use super::bank_account::BankAccount;
use jiff::civil::DateTime;
use platform::money::Cents;

const RECORD_LENGTH: usize = 94;
const BLOCK_SIZE: usize = 10;
/// Sums of the numbers of banks have ten digits.
const HASH_MODULUS: u64 = 10_000_000_000;

/// A payment of a file.
#[derive(Debug)]
pub(super) struct Payment<'a> {
    pub account: &'a BankAccount,
    pub amount: Cents,
    /// The ID of the payment, which the bank repeats when it comes back.
    pub id: String,
    pub name: &'a str,
}

/// What the header of a file says.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub settings: &'a AchSettings,
    /// When it was exported first, so that a file never changes.
    pub created: DateTime,
    /// The number of the batch.
    pub number: i64,
    pub is_test: bool,
}
