//! What emails to donors say about a donation that was returned to them, or may be.

use super::owner::{Return, prefix};
use crate::checkout::Donation;
use crate::checkout::receipt::{format_date, number};
use jiff::tz::TimeZone;
use platform::mail::{Email, EmailText};
use platform::money::Cents;
use platform::public_url::PublicUrl;

/// Returns the email to the donor, if the donor left an address. `amount` is what was returned or disputed.
pub(super) fn email(
    public_url: &PublicUrl,
    time_zone: &TimeZone,
    donation: &Donation,
    (what, amount): (Return, Cents),
) -> Option<Email> {
    let to = donation.email.as_ref()?;
    let prefix = prefix(donation.mode);
    let (subject, text) = match what {
        Return::Refunded => (
            format!("{amount} of your donation was refunded"),
            EmailText::new(&format!("{prefix}We have refunded {amount} of your donation.")).paragraph(
                "It can take up to ten business days until the money is on your account. If your receipt is for taxes, use \
                 the amount that is left.",
            ),
        ),
        Return::RefundFailed => (
            format!("A refund of {amount} did not reach you"),
            EmailText::new(&format!(
                "{prefix}We tried to refund {amount} of your donation, but your bank did not accept it, for example because \
                 the card is closed. For now, the amount counts as donated again."
            ))
            .paragraph("Contact the operator of this site to receive the money in another way."),
        ),
        Return::DisputeOpened => (
            format!("Your bank asks about your donation of {}", donation.amount),
            EmailText::new(&format!(
                "{prefix}Your bank has asked us about a payment of {amount}, because it was disputed."
            ))
            .paragraph(
                "If you do not recognize the donation, there is nothing for you to do: the bank decides and tells you. If it was \
                 disputed by mistake, ask your bank to withdraw the dispute.",
            ),
        ),
        Return::DisputeLost => (
            format!("Your bank has returned {amount} to you"),
            EmailText::new(&format!(
                "{prefix}The dispute about your donation has ended, and your bank has returned {amount} to you. This amount is \
                 no longer a donation, so do not use its receipt for taxes."
            )),
        ),
        Return::DisputeWon => (
            "The dispute about your donation has ended".to_owned(),
            EmailText::new(&format!(
                "{prefix}The dispute about your donation has ended, and the donation of {amount} stands. Its receipt is valid."
            )),
        ),
    };
    let date = donation.payment.paid_at.unwrap_or(donation.started_at);
    let number = donation.entry.map(|entry| number(entry, date, time_zone));
    let number = number.unwrap_or_else(|| donation.id.to_string());
    let text = text
        .facts(&[
            ("Donation", donation.amount.to_string()),
            ("Date", format_date(date, time_zone)),
            ("Receipt number", number),
        ])
        .link(
            "See your receipt",
            &format!("{public_url}/donations/{}", donation.receipt_id),
        );
    Some(Email::new(
        to.to_string(),
        format!("{prefix}{subject}"),
        text.into_string(),
    ))
}
