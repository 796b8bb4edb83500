//! The email to the owner of an endpoint that was disabled.

use crate::webhooks::Webhooks;
use crate::webhooks::endpoints::Endpoint;
use crate::webhooks::schedule::DisabledBecause;
use access::accounts::Account;
use platform::mail::Email;
use platform::text::fill;

const SUBJECT: &str = "Your webhook endpoint was disabled";
const TEXT: &str = "Hello {username},\n\nWe no longer send events to your webhook endpoint:\n\n{url}\n\n{reason}\n\nFix the receiver, \
     then enable the endpoint again, and replay the events that it missed:\n\n{link}\n";
const GONE: &str = "It answered with status 410 (Gone), which asks us to stop.";
const FIVE_DAYS: &str = "Every attempt to deliver an event failed for five days.";

impl Webhooks {
    /// Writes the email. `None` if the account has no address.
    pub(super) fn disabled_email(
        &self,
        account: &Account,
        endpoint: &Endpoint,
        because: DisabledBecause,
    ) -> Option<Email> {
        let to = account.email.clone().filter(|_| self.mailer.is_on())?;
        let link = format!("{}/dashboard/webhooks/{}", self.public_url, endpoint.id);
        let reason = match because {
            DisabledBecause::Gone => GONE,
            DisabledBecause::FiveDays => FIVE_DAYS,
        };
        let values = [
            ("username", account.username.as_str()),
            ("url", &endpoint.url),
            ("reason", reason),
            ("link", &link),
        ];
        Some(Email {
            to,
            subject: SUBJECT.to_owned(),
            text: fill(TEXT, &values),
        })
    }
}
