//! Form 990-N, the notice that the smallest organizations file: the newest one of each.
//!
//! The rows also contain the name of an officer and two addresses, which are mostly those of homes. These fields are never
//! read.

use super::date::PackedDate;
use super::kind::ListKind;
use super::list::{List, ListRow};
use crate::import::form990::website::website;
use crate::nonprofits::irs_rows::Epostcard;
use platform::db::Tx;

const TAX_YEAR: usize = 1;
const HAS_SMALL_RECEIPTS: usize = 3;
const IS_TERMINATED: usize = 4;
const PERIOD_END: usize = 6;
const WEBSITE: usize = 7;

#[derive(Default)]
pub struct Epostcards;

/// A notice. The order of the fields is the order by which the newest is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompactEpostcard {
    tax_year: u16,
    period_end: PackedDate,
    has_small_receipts: bool,
    is_terminated: bool,
    website_url: Option<Box<str>>,
}

impl List for Epostcards {
    const KIND: ListKind = ListKind::Epostcards;
    type Compact = CompactEpostcard;
    type Row = Epostcard;

    fn read(&mut self, fields: &[&str]) -> Result<CompactEpostcard, &'static str> {
        let tax_year = fields[TAX_YEAR];
        if tax_year.len() != 4 {
            return Err("the tax year is missing or invalid");
        }
        Ok(CompactEpostcard {
            tax_year: tax_year
                .parse()
                .map_err(|_| "the tax year is missing or invalid")?,
            period_end: PackedDate::parse_month_day(fields[PERIOD_END])
                .ok_or("the end of the tax period is invalid")?,
            has_small_receipts: yes_or_no(fields[HAS_SMALL_RECEIPTS])
                .ok_or("the field for gross receipts is not T or F")?,
            is_terminated: yes_or_no(fields[IS_TERMINATED])
                .ok_or("the field for terminated organizations is not T or F")?,
            website_url: website(fields[WEBSITE]).map(String::into_boxed_str),
        })
    }

    fn merge(&mut self, first: CompactEpostcard, second: CompactEpostcard) -> CompactEpostcard {
        first.max(second)
    }

    fn row(&self, ein: u32, compact: &CompactEpostcard, source: i64) -> Epostcard {
        Epostcard {
            ein: i64::from(ein),
            tax_year: i64::from(compact.tax_year),
            period_end: compact.period_end.text(),
            has_small_receipts: compact.has_small_receipts,
            is_terminated: compact.is_terminated,
            website_url: compact.website_url.as_deref().map(str::to_owned),
            source,
        }
    }
}

fn yes_or_no(field: &str) -> Option<bool> {
    match field {
        "T" => Some(true),
        "F" => Some(false),
        _ => None,
    }
}

impl ListRow for Epostcard {
    const SELECT: &'static str = "select ein, tax_year, period_end, has_small_receipts, is_terminated, website_url, \
         source from epostcards order by ein";
    const REMOVE: &'static str = "delete from epostcards where ein in ";

    fn ein(&self) -> i64 {
        self.ein
    }

    fn source(&self) -> i64 {
        self.source
    }

    async fn insert(tx: &mut Tx, rows: &[Epostcard]) -> sqlx::Result<()> {
        let columns = [
            "ein",
            "tax_year",
            "period_end",
            "has_small_receipts",
            "is_terminated",
            "website_url",
            "source",
        ];
        let values: Vec<_> = rows
            .iter()
            .map(|row| {
                [
                    row.ein.into(),
                    row.tax_year.into(),
                    (&row.period_end).into(),
                    row.has_small_receipts.into(),
                    row.is_terminated.into(),
                    (&row.website_url).into(),
                    row.source.into(),
                ]
            })
            .collect();
        tx.insert_many("epostcards", columns, &values).await
    }

    fn history_fields(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("epostcardYear", Some(self.tax_year.to_string())),
            ("epostcardTerminated", Some(self.is_terminated.to_string())),
            ("epostcardWebsiteUrl", self.website_url.clone()),
        ]
    }
}
