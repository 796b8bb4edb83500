//! Signed links to statements.

use crate::disbursement::batches::Line;
use platform::secret::StoreSecret;

/// The purpose of the signature of a link.
const PURPOSE: &str = "disbursement statement";

/// Returns the token of the link to the statement of a line.
fn token(secret: &StoreSecret, line: &Line) -> String {
    secret.sign(PURPOSE, message(line).as_bytes())
}

fn message(line: &Line) -> String {
    format!("{} {}", line.external_id(), line.nonprofit)
}

/// Returns the path of the statement of a line, with its token.
pub(super) fn path(secret: &StoreSecret, line: &Line) -> String {
    let token = token(secret, line);
    format!("/disbursements/{}/{}?token={token}", line.batch, line.number)
}

/// Returns whether a token is that of the statement of a line.
pub(super) fn is_valid(secret: &StoreSecret, line: &Line, token: &str) -> bool {
    secret.is_signed(PURPOSE, message(line).as_bytes(), token)
}
