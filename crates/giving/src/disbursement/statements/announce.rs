//! The email that announces a payment to its nonprofit.

use super::link;
use crate::disbursement::batches::Line;
use crate::disbursement::payees;
use crate::ledger::entry::Mode;
use platform::db::Tx;
use platform::mail::Email;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use std::fmt::Write;

/// Returns the email that announces a payment, if the payee has an address.
pub(in crate::disbursement) async fn announce(
    tx: &mut Tx,
    (secret, public_url, operator): (&StoreSecret, &PublicUrl, &str),
    line: &Line,
    mode: Mode,
) -> sqlx::Result<Option<Email>> {
    let found = payees::store::find_in(tx, line.nonprofit).await?;
    let Some(to) = found.and_then(|(payee, _)| payee.email) else {
        return Ok(None);
    };
    let (amount, link) = (line.amount, link::path(secret, line));
    let (prefix, notice) = match mode {
        Mode::Live => ("", ""),
        Mode::Test => (
            "Test mode: ",
            "Test mode: no money was charged, and none is sent.\n\n",
        ),
    };
    let way = match &line.last_four {
        Some(last_four) => format!("to the bank account ending in {last_four}"),
        None => "by check".to_owned(),
    };
    let mut text = format!("{notice}{operator} is sending {amount} {way}.\n\n");
    let _ = write!(
        text,
        "Recipient: {}\nPayment: {}\n\nThe donations, fees and refunds that add up to this amount, as a page, to print and as a \
         spreadsheet:\n\n{public_url}{link}\n\nWhoever has this link can read the statement.\n",
        line.payee_name,
        line.external_id(),
    );
    Ok(Some(Email::new(
        to.to_string(),
        format!("{prefix}A payment of {amount} from {operator}"),
        text,
    )))
}
