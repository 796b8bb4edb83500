//! The emails to the owner of an endpoint that fails for a day, or that was disabled.

use crate::notices::mark_endpoint;
use crate::webhooks::endpoints::Endpoint;
use crate::webhooks::schedule::{DisabledBecause, Status};
use crate::webhooks::{DAY_MILLIS, Webhooks};
use access::notices::{Notice, NoticeKind, Notices};
use platform::db::Tx;
use platform::ids::AccountId;
use platform::mail::{EmailText, PreparedEmail};

const GONE: &str = "Your server answered with status 410 (Gone), which asks us to stop.";
const FIVE_DAYS: &str = "Every attempt to deliver an event failed for five days.";

impl Webhooks {
    fn notices(&self) -> Notices<'_> {
        Notices {
            mailer: &self.mailer,
            clock: &self.clock,
            secret: &self.secret,
            public_url: &self.public_url,
        }
    }

    /// Queues emails to the owners of endpoints, in one order, so that no two servers wait for each other.
    pub(super) async fn queue_notices(
        &self,
        tx: &mut Tx,
        mut notices: Vec<(AccountId, Notice)>,
    ) -> sqlx::Result<Vec<PreparedEmail>> {
        notices.sort_by_key(|(account, notice)| (account.0, notice.kind.as_str()));
        let mut emails = Vec::new();
        for (account, notice) in notices {
            emails.extend(self.notices().queue(tx, account, &notice).await?);
        }
        Ok(emails)
    }

    /// Returns the email about an endpoint that was disabled.
    pub(super) fn disabled_notice(&self, endpoint: &Endpoint, because: DisabledBecause) -> Notice {
        disabled(endpoint, because, &self.page_of(endpoint))
    }

    /// Returns the email about an endpoint that fails for a day, once for each time that it starts to fail.
    pub(super) async fn failing_notice(
        &self,
        tx: &mut Tx,
        endpoint: &Endpoint,
    ) -> sqlx::Result<Option<Notice>> {
        let now = self.clock.millis();
        let since = endpoint
            .health
            .failing_since
            .filter(|since| *since <= now - DAY_MILLIS);
        let Some(since) = since.filter(|_| endpoint.health.status == Status::Failing) else {
            return Ok(None);
        };
        if !self.mailer.is_on() || !mark_endpoint(tx, endpoint.id, since, now).await? {
            return Ok(None);
        }
        Ok(Some(failing(endpoint, &self.page_of(endpoint))))
    }

    fn page_of(&self, endpoint: &Endpoint) -> String {
        format!("{}/dashboard/webhooks/{}", self.public_url, endpoint.id)
    }
}

fn disabled(endpoint: &Endpoint, because: DisabledBecause, link: &str) -> Notice {
    let url = &endpoint.url;
    let reason = match because {
        DisabledBecause::Gone => GONE,
        DisabledBecause::FiveDays => FIVE_DAYS,
    };
    Notice {
        kind: NoticeKind::WebhookDisabled,
        subject: "Your webhook endpoint was disabled".to_owned(),
        text: EmailText::new("We no longer send events to this webhook endpoint:")
            .paragraph(url)
            .paragraph(reason)
            .paragraph(
                "Fix the receiver, then enable the endpoint again and replay the events that it missed.",
            )
            .link("See the endpoint", link),
        line: format!("{url} was disabled. {reason}"),
    }
}

fn failing(endpoint: &Endpoint, link: &str) -> Notice {
    let url = &endpoint.url;
    Notice {
        kind: NoticeKind::WebhookFailing,
        subject: "Your webhook endpoint has been failing for a day".to_owned(),
        text: EmailText::new("Every attempt to deliver events to this webhook endpoint has failed for a day:")
            .paragraph(url)
            .paragraph(
                "We keep trying the oldest event, and the others wait. After five days, the endpoint is disabled.",
            )
            .link("See what it answers", link),
        line: format!("{url} has been failing for a day"),
    }
}
