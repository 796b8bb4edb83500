//! Database rows of what the files of the IRS say about an EIN, besides the master file.

use platform::db::from_row;

/// A row of the table `return_profiles`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReturnProfile {
    pub ein: i64,
    pub name: Option<String>,
    /// One per line.
    pub aliases: Option<String>,
    pub description: Option<String>,
    pub description_long: Option<String>,
    pub description_period: Option<i64>,
    pub description_source: Option<i64>,
    pub website_url: Option<String>,
    pub website_period: Option<i64>,
    pub website_source: Option<i64>,
    pub formed: Option<i64>,
    pub revenue: Option<i64>,
    pub expenses: Option<i64>,
    pub assets: Option<i64>,
    pub amounts_period: Option<i64>,
    pub amounts_source: Option<i64>,
    pub is_final: bool,
}

from_row!(ReturnProfile {
    ein,
    name,
    aliases,
    description,
    description_long,
    description_period,
    description_source,
    website_url,
    website_period,
    website_source,
    formed,
    revenue,
    expenses,
    assets,
    amounts_period,
    amounts_source,
    is_final,
});

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
