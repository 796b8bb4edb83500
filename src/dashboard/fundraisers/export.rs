//! The donations of an owner's fundraisers as a CSV file (RFC 4180). No cell is a formula, so opening it in a spreadsheet
//! is safe, and donors who gave anonymously stay anonymous.

use super::find_own;
use crate::app::App;
use crate::dashboard::csv::cell;
use crate::http::error::Result;
use crate::http::params::PathText;
use access::sessions::SignedIn;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use giving::donations::listing::OwnedDonation;
use giving::donations::store::list_owned_after;
use platform::clock::rfc3339;
use platform::ids::{AccountId, FundraiserId};
use platform::money::Cents;
use std::fmt::Write;

const HEADER: &str = "date,fundraiser_id,fundraiser,amount,refunded,currency,donor,message,mode\r\n";

/// `GET /dashboard/fundraisers/donations.csv`: the donations of all fundraisers of the account.
pub async fn all(State(app): State<App>, user: SignedIn) -> Response {
    respond(app, user.account, None)
}

/// `GET /dashboard/fundraisers/{id}/donations.csv`
pub async fn of_one(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let fundraiser = find_own(&app, &user, &id).await?;
    Ok(respond(app, user.account, Some(fundraiser.id)))
}

/// What comes next in the file: the header, then the donations after an entry of the ledger.
enum Next {
    Header,
    After(i64),
}

/// Streams the file, so that it can have any number of lines.
fn respond(app: App, account: AccountId, fundraiser: Option<FundraiserId>) -> Response {
    let parts = stream::try_unfold((app, Next::Header), move |(app, next)| async move {
        let Next::After(after) = next else {
            return Ok(Some((HEADER.to_owned(), (app, Next::After(0)))));
        };
        let donations = list_owned_after(&app.db, account, fundraiser, after).await?;
        let Some(last) = donations.last().map(|donation| donation.sequence) else {
            return Ok(None);
        };
        let mut text = String::new();
        for donation in &donations {
            write_line(&mut text, donation);
        }
        Ok::<_, sqlx::Error>(Some((text, (app, Next::After(last)))))
    });
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"causeway-donations.csv\"",
        ),
    ];
    (headers, Body::from_stream(parts)).into_response()
}

fn write_line(text: &mut String, donation: &OwnedDonation) {
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "{},{},{},{},{},USD,{},{},{}\r\n",
        rfc3339(donation.recorded_at),
        donation.fundraiser,
        cell(&donation.title),
        plain(donation.amount),
        plain(donation.refunded),
        cell(donation.name.as_deref().unwrap_or("Anonymous")),
        cell(donation.message.as_deref().unwrap_or_default()),
        donation.mode.as_str(),
    );
}

/// Formats an amount for a spreadsheet: `1234.50`.
fn plain(amount: Cents) -> String {
    let cents = amount.get();
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use giving::ledger::entry::Mode;

    #[test]
    fn a_line_has_plain_amounts_and_no_formula() {
        let mut text = String::new();
        write_line(
            &mut text,
            &OwnedDonation {
                sequence: 1,
                recorded_at: 1_800_000_000_000,
                fundraiser: FundraiserId(uuid::Uuid::nil()),
                title: "Run, \"walk\"".to_owned(),
                amount: Cents::new(123_405),
                refunded: Cents::ZERO,
                name: Some("=1+1".to_owned()),
                message: None,
                mode: Mode::Test,
            },
        );
        assert_eq!(
            text,
            "2027-01-15T08:00:00.000Z,00000000-0000-0000-0000-000000000000,\"Run, \"\"walk\"\"\",1234.05,0.00,USD,\
             \"'=1+1\",\"\",test\r\n"
        );
    }
}
