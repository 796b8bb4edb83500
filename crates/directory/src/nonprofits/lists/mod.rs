//! The lists of the IRS besides the master file: a row of each for an EIN, and their tables.

pub mod store;

use platform::db::from_row;

/// A row of the table `publication_78`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication78 {
    pub ein: i64,
    pub codes: String,
    pub source: i64,
}

from_row!(Publication78 { ein, codes, source });

/// A row of the table `revocations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    pub ein: i64,
    pub revoked_on: String,
    pub posted_on: Option<String>,
    pub reinstated_on: Option<String>,
    pub exemption_type: i64,
    pub source: i64,
}

from_row!(Revocation {
    ein,
    revoked_on,
    posted_on,
    reinstated_on,
    exemption_type,
    source
});

/// A row of the table `epostcards`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epostcard {
    pub ein: i64,
    pub tax_year: i64,
    pub period_end: Option<String>,
    pub has_small_receipts: bool,
    pub is_terminated: bool,
    pub website_url: Option<String>,
    pub source: i64,
}

from_row!(Epostcard {
    ein,
    tax_year,
    period_end,
    has_small_receipts,
    is_terminated,
    website_url,
    source
});
