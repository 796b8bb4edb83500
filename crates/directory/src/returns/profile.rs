//! What the returns of a nonprofit say on its page.

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
