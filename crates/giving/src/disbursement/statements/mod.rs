//! Statements: what a payment to a nonprofit consists of. Its items add up to the payment.

pub(super) mod announce;
mod find;
mod link;
mod store;

use super::batches::Line;
use crate::checkout::receipt::format_date;
use crate::ledger::entry::{Kind, Mode};
use jiff::tz::TimeZone;
use platform::money::Cents;
use platform::text::escape_formula;

/// A donation, or something that changed what was owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementItem {
    /// The number of the entry in the ledger.
    pub entry: i64,
    /// The kind of the settled entry, or a reassignment.
    pub kind: Kind,
    /// When the donation was made, or the refund and the like was entered.
    pub at: i64,
    /// The share of the nonprofit. Below zero if money went back.
    pub gross: Cents,
    pub fee: Cents,
    pub net: Cents,
    pub fundraiser: Option<String>,
    pub designation: Option<String>,
    /// The donor's name and email address, if the donor shares them.
    pub donor_name: Option<String>,
    pub donor_email: Option<String>,
    /// Why an amount was reassigned.
    pub note: Option<String>,
}

/// A donation that the nonprofit received on its own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectDonation {
    pub at: i64,
    pub amount: Cents,
    pub fundraiser: Option<String>,
    pub designation: Option<String>,
    pub donor_name: Option<String>,
    pub donor_email: Option<String>,
}

/// The statement of a payment.
#[derive(Clone, Debug)]
pub struct Statement {
    pub line: Line,
    pub mode: Mode,
    /// The name of the nonprofit.
    pub name: String,
    pub ein: Option<String>,
    pub prepared_at: i64,
    pub items: Vec<StatementItem>,
    /// The sums of the items.
    pub gross: Cents,
    pub fees: Cents,
    /// What was received directly since the payment before.
    pub direct: Vec<DirectDonation>,
}

impl Statement {
    /// Returns the name of the kind of an item, in a sentence.
    pub fn kind_title(kind: Kind) -> &'static str {
        match kind {
            Kind::Donation => "Donation",
            Kind::Refund => "Refund",
            Kind::Dispute => "Dispute",
            Kind::DisputeWon => "Dispute won",
            Kind::RefundFailed => "Refund that failed",
            Kind::Reassignment => "Reassignment",
            _ => "Other",
        }
    }

    /// Writes the items as CSV (RFC 4180). No cell is a formula.
    pub fn to_csv(&self, time_zone: &TimeZone) -> String {
        let mut text =
            String::from("date,kind,gross,fee,net,fundraiser,designation,donor,email,note,entry\r\n");
        for item in &self.items {
            let date = format_date(item.at, time_zone);
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let cells = [
                date,
                Statement::kind_title(item.kind).to_owned(),
                decimal(item.gross),
                decimal(item.fee),
                decimal(item.net),
                or_empty(&item.fundraiser),
                or_empty(&item.designation),
                or_empty(&item.donor_name),
                or_empty(&item.donor_email),
                or_empty(&item.note),
                item.entry.to_string(),
            ];
            text.push_str(&csv_row(&cells));
        }
        for direct in &self.direct {
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let cells = [
                format_date(direct.at, time_zone),
                "Received directly".to_owned(),
                decimal(direct.amount),
                String::new(),
                String::new(),
                or_empty(&direct.fundraiser),
                or_empty(&direct.designation),
                or_empty(&direct.donor_name),
                or_empty(&direct.donor_email),
                String::new(),
                String::new(),
            ];
            text.push_str(&csv_row(&cells));
        }
        text
    }
}

/// Returns a row of CSV. Numbers stay numbers, and no other cell is a formula.
pub(crate) fn csv_row(cells: &[String]) -> String {
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    let cell = |cell: &String| {
        if is_number(cell) {
            cell.clone()
        } else {
            format!("\"{}\"", escape_formula(cell).replace('"', "\"\""))
        }
    };
    let mut row = cells.iter().map(cell).collect::<Vec<_>>().join(",");
    row.push_str("\r\n");
    row
}

/// Returns dollars with two decimals: `-1234.50`.
pub(crate) fn decimal(amount: Cents) -> String {
    let cents = amount.get().unsigned_abs();
    let sign = if amount < Cents::ZERO { "-" } else { "" };
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}
