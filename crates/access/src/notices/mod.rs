//! Emails to the owners of accounts about what happened to their account and fundraisers.
//!
//! An email is queued in the transaction of what it is about, so that it is sent once, whatever is killed. Above one
//! email about donations, or ten of another kind, within an hour, events wait for a summary. Optional kinds can be stopped, on the settings page or
//! by a signed link in every such email.

mod kind;
pub mod link;
pub mod store;
mod window;

pub use kind::NoticeKind;

use crate::accounts;
use platform::clock::Clock;
use platform::db::{Db, Tx};
use platform::ids::AccountId;
use platform::mail::{Email, EmailText, Mailer, PreparedEmail};
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use window::Summary;

/// An email to the owner of an account, without greeting and footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub kind: NoticeKind,
    pub subject: String,
    pub text: EmailText,
    /// The event in one line, for a summary.
    pub line: String,
}

/// The parts that emails to the owners of accounts use.
#[derive(Clone, Copy, Debug)]
pub struct Notices<'a> {
    pub mailer: &'a Mailer,
    pub clock: &'a Clock,
    pub secret: &'a StoreSecret,
    pub public_url: &'a PublicUrl,
}

impl Notices<'_> {
    /// Queues an email to the owner of an account, unless the account has no email address, its owner has stopped such
    /// emails, or the event waits for a summary. After the commit, it has to be passed to [`Mailer::dispatch`].
    pub async fn queue(
        self,
        tx: &mut Tx,
        account: AccountId,
        notice: &Notice,
    ) -> sqlx::Result<Option<PreparedEmail>> {
        let Some((username, to)) = self.find_recipient(tx, account, notice.kind).await? else {
            return Ok(None);
        };
        let mut window = store::lock_window(tx, account, notice.kind).await?;
        let is_admitted = window.admit(notice.kind.max_per_hour(), &notice.line, self.clock.millis());
        store::set_window(tx, account, notice.kind, &window).await?;
        if !is_admitted {
            return Ok(None);
        }
        let text = greeting(&username).append(&notice.text);
        let email = self.compose(account, notice.kind, (&to, &notice.subject), text);
        self.mailer.prepare(tx, email).await.map(Some)
    }

    /// Queues the summaries that are due. If several servers try, each is queued once.
    pub async fn queue_summaries(self, db: &Db) -> sqlx::Result<()> {
        if !self.mailer.is_on() {
            return Ok(());
        }
        for (account, kind) in store::list_due(db, self.clock.millis()).await? {
            let mut tx = db.write().await?;
            let mut window = store::lock_window(&mut tx, account, kind).await?;
            let Some(summary) = window.take_summary(self.clock.millis()) else {
                continue;
            };
            store::set_window(&mut tx, account, kind, &window).await?;
            let recipient = self.find_recipient(&mut tx, account, kind).await?;
            let mut prepared = None;
            if let Some((username, to)) = recipient {
                let (subject, text) = compose_summary(kind, &summary, &username);
                let email = self.compose(account, kind, (&to, &subject), text);
                prepared = Some(self.mailer.prepare(&mut tx, email).await?);
            }
            tx.commit().await?;
            if let Some(prepared) = prepared {
                self.mailer.dispatch(prepared);
            }
        }
        Ok(())
    }

    /// Returns the username and the email address, if the owner of the account gets emails of this kind.
    async fn find_recipient(
        self,
        tx: &mut Tx,
        account: AccountId,
        kind: NoticeKind,
    ) -> sqlx::Result<Option<(String, String)>> {
        if !self.mailer.is_on() || (kind.is_optional() && store::is_stopped(tx, account, kind).await?) {
            return Ok(None);
        }
        accounts::store::find_contact_in(tx, account).await
    }

    fn compose(
        self,
        account: AccountId,
        kind: NoticeKind,
        (to, subject): (&str, &str),
        text: EmailText,
    ) -> Email {
        let mut email = Email::new(to, subject, "");
        let text = if kind.is_optional() {
            let token = link::token(self.secret, account, kind);
            let url = format!("{}{}?token={token}", self.public_url, link::STOP_PATH);
            let footer = text.footer(&format!(
                "Stop emails about {}: {url}\nChoose which emails you get: {}/dashboard/settings#emails",
                kind.plural(),
                self.public_url
            ));
            email.unsubscribe_url = Some(url);
            footer
        } else {
            text
        };
        email.text = text.into_string();
        email
    }
}

fn greeting(username: &str) -> EmailText {
    EmailText::new(&format!("Hello {username},"))
}

/// Returns the subject and the text of a summary.
fn compose_summary(kind: NoticeKind, summary: &Summary, username: &str) -> (String, EmailText) {
    let (count, lines) = (summary.count, summary.lines.trim_end());
    let subject = format!("{count} more: {}", kind.plural());
    let text = greeting(username).paragraph(&format!(
        "There was a lot going on, so this email has what happened since the last one: {count} {}.",
        kind.plural()
    ));
    let text = text.paragraph(lines);
    let rest = count - lines.lines().count() as i64;
    let text = if rest > 0 {
        text.paragraph(&format!("And {rest} more."))
    } else {
        text
    };
    (subject, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in NoticeKind::ALL {
            assert_eq!(NoticeKind::find(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn a_summary_lists_what_waited_and_counts_the_rest() {
        let summary = Summary {
            count: 3,
            lines: "$25.00 to Spring run\n$5.00 to Spring run\n".to_owned(),
        };
        let (subject, text) = compose_summary(NoticeKind::Donation, &summary, "ada");
        assert_eq!(subject, "3 more: donations to your fundraisers");
        assert_eq!(
            text.into_string(),
            "Hello ada,\n\nThere was a lot going on, so this email has what happened since the last one: \
             3 donations to your fundraisers.\n\n$25.00 to Spring run\n$5.00 to Spring run\n\nAnd 1 more.\n"
        );
    }
}
