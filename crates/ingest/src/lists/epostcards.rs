//! Form 990-N, the notice that the smallest organizations file: the newest one of each.
//!
//! The rows also contain the name of an officer and two addresses, which are mostly those of homes. These fields are never
//! read.

use super::date::PackedDate;
use super::kind::ListKind;
use super::list::List;
use crate::form990::website::website;
use directory::nonprofits::lists::Epostcard;

const TAX_YEAR: usize = 1;
const HAS_SMALL_RECEIPTS: usize = 3;
const IS_TERMINATED: usize = 4;
const PERIOD_END: usize = 6;
const WEBSITE: usize = 7;

#[derive(Default)]
pub(super) struct Epostcards;

/// A notice. The order of the fields is the order by which the newest is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CompactEpostcard {
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

    fn history_fields(row: &Epostcard) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("epostcardYear", Some(row.tax_year.to_string())),
            ("epostcardTerminated", Some(row.is_terminated.to_string())),
            ("epostcardWebsiteUrl", row.website_url.clone()),
        ]
    }
}

fn yes_or_no(field: &str) -> Option<bool> {
    match field {
        "T" => Some(true),
        "F" => Some(false),
        _ => None,
    }
}
