//! Database rows of nonprofits and profiles.

use super::ein::Ein;
use super::filing::Filing;
use super::own_fields::OwnFields;
use platform::db::from_row;
use uuid::Uuid;

/// A row of the table `nonprofits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNonprofit {
    pub id: Uuid,
    pub ein: Option<i64>,
    pub slug: String,
    /// See [`Filing`].
    pub filed: String,
    /// Whether the row came from an IRS file.
    pub listed: bool,
    pub gone_at: Option<i64>,
}

from_row!(StoredNonprofit {
    id,
    ein,
    slug,
    filed,
    listed,
    gone_at
});

impl StoredNonprofit {
    /// Parses the filing.
    pub fn filing(&self) -> Filing<'_> {
        Filing::parse(&self.filed)
    }

    /// Returns the EIN, if there is one.
    pub fn ein(&self) -> Option<Ein> {
        self.ein.and_then(|ein| Ein::new(u32::try_from(ein).ok()?))
    }
}

/// A row of the table `nonprofits`, with what the other files of the IRS say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonprofitRow {
    pub stored: StoredNonprofit,
    /// See [`TaxRecord`](super::tax_record::TaxRecord). `None` if nothing is known.
    pub tax_record: Option<String>,
}

macro_rules! nonprofit_from_row {
    ($row:ty) => {
        impl<'r> sqlx::FromRow<'r, $row> for NonprofitRow {
            fn from_row(row: &'r $row) -> sqlx::Result<NonprofitRow> {
                Ok(NonprofitRow {
                    stored: StoredNonprofit::from_row(row)?,
                    tax_record: sqlx::Row::try_get(row, "tax_record")?,
                })
            }
        }
    };
}

nonprofit_from_row!(sqlx::sqlite::SqliteRow);
nonprofit_from_row!(sqlx::postgres::PgRow);

/// A row of the table `profiles`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub nonprofit_id: Uuid,
    pub name: Option<String>,
    /// One per line.
    pub aliases: Option<String>,
    pub description: Option<String>,
    pub description_long: Option<String>,
    pub website_url: Option<String>,
    /// The nonprofit's own donation page. Used only during checkout.
    pub donate_url: Option<String>,
    /// The nonprofit's own account at Stripe. Used only during checkout.
    pub stripe_account: Option<String>,
    /// Names separated by spaces.
    pub causes: Option<String>,
    pub country: Option<String>,
    pub logo: Option<String>,
    pub cover: Option<String>,
    /// The fields that are not those of the row, because the nonprofit states them itself.
    pub own: OwnFields,
}

macro_rules! profile_from_row {
    ($row:ty; $($column:ident),+) => {
        impl<'r> sqlx::FromRow<'r, $row> for Profile {
            fn from_row(row: &'r $row) -> sqlx::Result<Profile> {
                Ok(Profile {
                    $($column: sqlx::Row::try_get(row, stringify!($column))?,)+
                    own: OwnFields::default(),
                })
            }
        }
    };
    ($row:ty) => {
        profile_from_row!($row; nonprofit_id, name, aliases, description, description_long, website_url, donate_url,
            stripe_account, causes, country, logo, cover);
    };
}

profile_from_row!(sqlx::sqlite::SqliteRow);
profile_from_row!(sqlx::postgres::PgRow);
