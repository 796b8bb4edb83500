//! Writes the books as plain-text accounting, for hledger or beancount.
//!
//! Both programs compute all balances again and refuse a transaction that does not add up to zero, so they check our books
//! independently. Amounts have the same sign as in the ledger: what Stripe and the bank hold are assets, fees are expenses,
//! and what is owed to nonprofits is a liability, which accountants write below zero.

use crate::ledger::entry::{Account, Entry, Mode, Party};
use crate::ledger::store;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use platform::db::Db;
use platform::ids::NonprofitId;
use platform::money::Cents;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;

const BATCH_SIZE: i64 = 5_000;

/// The program that reads the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BooksFormat {
    Hledger,
    Beancount,
}

/// Writes every entry of the books in one mode, dated in a time zone. Returns how many there are.
pub async fn export(
    db: &Db,
    directory: &Directory,
    format: BooksFormat,
    mode: Mode,
    time_zone: &TimeZone,
    out: &mut impl Write,
) -> anyhow::Result<u64> {
    let mut tx = db.view().await?;
    let (mut last, mut count) = (0, 0);
    let mut opened = HashSet::new();
    out.write_all(format.header().as_bytes())?;
    loop {
        let entries = store::list_after(&mut tx, last, BATCH_SIZE).await?;
        let Some(end) = entries.last() else {
            return Ok(count);
        };
        last = end.sequence;
        let is_exported = |entry: &&Entry| entry.draft.kind.is_money() && entry.draft.mode == mode;
        for entry in entries.iter().filter(is_exported) {
            for account in accounts(entry) {
                if opened.insert(account) {
                    let name = match account {
                        Account::Owed(id) => find_name(directory, id).await?,
                        _ => None,
                    };
                    out.write_all(format.declaration(account, name.as_deref()).as_bytes())?;
                }
            }
            out.write_all(format.transaction(entry, time_zone).as_bytes())?;
            count += 1;
        }
    }
}

/// The name of a nonprofit, so that accountants need not look up its ID.
async fn find_name(directory: &Directory, id: NonprofitId) -> sqlx::Result<Option<String>> {
    let found = directory.find(&Identifier::Id(id)).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    Ok(nonprofit.map(|nonprofit| nonprofit.name.to_owned()))
}

fn accounts(entry: &Entry) -> impl Iterator<Item = Account> {
    entry
        .draft
        .postings
        .iter()
        .filter_map(|posting| match posting.party {
            Party::Account(account) => Some(account),
            _ => None,
        })
}

/// The name of an account in the chart of accounts.
fn account_name(account: Account) -> String {
    match account {
        Account::Cash => "Assets:Stripe".to_owned(),
        Account::Bank => "Assets:Bank".to_owned(),
        Account::Fees => "Expenses:Stripe-Fees".to_owned(),
        Account::Operator => "Income:Operator".to_owned(),
        // Each part of a name begins with a capital letter.
        Account::Owed(id) => format!("Liabilities:Owed:N-{id}"),
    }
}

impl BooksFormat {
    const fn header(self) -> &'static str {
        match self {
            BooksFormat::Hledger => "commodity 1000.00 USD\n",
            BooksFormat::Beancount => {
                "option \"title\" \"Causeway\"\noption \"operating_currency\" \"USD\"\n1970-01-01 commodity USD\n"
            }
        }
    }

    /// Declares an account before its first use.
    fn declaration(self, account: Account, name: Option<&str>) -> String {
        let account = account_name(account);
        match (self, name) {
            (BooksFormat::Hledger, None) => format!("account {account}\n"),
            (BooksFormat::Hledger, Some(name)) => format!("account {account}  ; {}\n", comment(name)),
            (BooksFormat::Beancount, None) => format!("1970-01-01 open {account} USD\n"),
            (BooksFormat::Beancount, Some(name)) => {
                format!("1970-01-01 open {account} USD\n  name: {}\n", quoted(name))
            }
        }
    }

    fn transaction(self, entry: &Entry, time_zone: &TimeZone) -> String {
        let draft = &entry.draft;
        let time = Timestamp::from_millisecond(draft.recorded_at).unwrap_or_default();
        let date = time.to_zoned(time_zone.clone()).strftime("%Y-%m-%d");
        let (kind, id, sequence) = (draft.kind.title(), &draft.external_id, entry.sequence);
        let note = draft.note.as_deref().unwrap_or_default();
        let mut text = match self {
            BooksFormat::Hledger => {
                let separator = if note.is_empty() { "" } else { ", " };
                format!(
                    "\n{date} * {kind} {}  ; entry {sequence}{separator}{}\n",
                    comment(id),
                    comment(note)
                )
            }
            BooksFormat::Beancount => {
                let note = if note.is_empty() {
                    String::new()
                } else {
                    format!("  note: {}\n", quoted(note))
                };
                format!(
                    "\n{date} * {} {}\n  entry: {sequence}\n{note}",
                    quoted(&kind),
                    quoted(id)
                )
            }
        };
        for posting in &draft.postings {
            if let Party::Account(account) = posting.party {
                let amount = decimal(posting.amount);
                let _ = writeln!(text, "  {}  {amount} USD", account_name(account));
            }
        }
        text
    }
}

/// Text for hledger, where a semicolon begins a comment.
fn comment(text: &str) -> String {
    text.replace(';', ",")
}

/// A quoted text for beancount.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Dollars with two decimals: `-1234.50`.
fn decimal(amount: Cents) -> String {
    let cents = amount.get().unsigned_abs();
    let sign = if amount < Cents::ZERO { "-" } else { "" };
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_decimals_and_no_separators() {
        for (cents, text) in [(0, "0.00"), (5, "0.05"), (-5, "-0.05"), (-123_450, "-1234.50")] {
            assert_eq!(decimal(Cents::new(cents)), text);
        }
    }

    #[test]
    fn names_cannot_break_out_of_their_line() {
        assert_eq!(comment("a; b"), "a, b");
        assert_eq!(quoted(r#"The "B\C""#), r#""The \"B\\C\"""#);
    }
}
