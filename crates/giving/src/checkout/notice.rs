//! The email to the person who is told about a dedicated donation.

use super::Donation;
use super::dedication::has_link;
use crate::ledger::entry::Mode;
use platform::mail::Email;
use platform::public_url::PublicUrl;
use std::fmt::Write as _;

/// Returns the email to the person who is told about a donation to `recipient`, whose page has this path.
pub(super) fn email(
    public_url: &PublicUrl,
    donation: &Donation,
    (recipient, path): (&str, &str),
) -> Option<Email> {
    let dedication = donation.dedication.as_ref()?;
    let notice = dedication.notice.as_ref()?;
    let donor = donation.name.as_deref().filter(|name| !has_link(name));
    let (prefix, test) = match donation.mode {
        Mode::Live => ("", ""),
        Mode::Test => (
            "Test mode: ",
            "This is a test: no money was charged, and no donation was made.\n\n",
        ),
    };
    let subject = format!("{prefix}A donation {dedication}");
    let donor = donor.unwrap_or("An anonymous donor");
    let mut text = format!("{test}{donor} made a donation to {recipient} {dedication}.\n\n");
    if let Some(message) = &notice.message {
        text.push_str("They wrote to you:\n\n");
        text.push_str(message);
        text.push_str("\n\n");
    }
    let _ = write!(
        text,
        "About the recipient: {public_url}{path}\n\n\
         The donor asked us to tell you. We send this email once, and do not use your address for anything else.\n"
    );
    Some(Email::new(notice.email.as_str(), subject, text))
}
