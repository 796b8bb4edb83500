//! Operators' decisions about fundraisers, and the emails that notify their owners.
//!
//! A decision goes through the [`Recorder`], like a donation: the change, its history, the audit entry and the outbox
//! row are one transaction, and other servers learn of it from the outbox row. Suspending an account closes its
//! fundraisers in the same transaction. Requests of the account that were authenticated earlier are refused when they
//! write, because the transaction reads the standing of the account.

use crate::error::Error;
use crate::fundraisers::moderate::{Decided, Decision};
use crate::fundraisers::{Fundraiser, Status};
use crate::recorder::Recorder;
use access::accounts::store as accounts;
use access::audit::Actor;
use platform::db::Db;
use platform::ids::FundraiserId;
use platform::mail::{Email, Mailer};
use platform::public_url::PublicUrl;
use platform::text::fill;

/// The reason that the owner sees if the operator gives none.
pub const DEFAULT_REASON: &str = "It does not follow the rules of this site.";
/// The maximum length of a reason in characters.
pub const MAX_REASON_CHARS: usize = 500;

const APPROVED_SUBJECT: &str = "Your fundraiser is public";
const APPROVED: &str = "Hello {username},\n\nYour fundraiser \"{title}\" is now public and can receive donations. \
     You can see it here:\n\n{link}\n";
const SHOWN_SUBJECT: &str = "Your fundraiser is visible again";
const SHOWN: &str = "Hello {username},\n\nYour fundraiser \"{title}\" is visible again. It is closed and accepts no \
     donations until you reopen it:\n\n{link}\n";
const HIDDEN_SUBJECT: &str = "Your fundraiser was hidden";
const HIDDEN: &str = "Hello {username},\n\nAn operator of this site has hidden your fundraiser \"{title}\". \
     Only you and operators can see it, and it accepts no donations.\n\nReason: {reason}\n\n\
     You can still see and edit it here:\n\n{link}\n\n\
     If you think this is a mistake, contact the operator.\n";

/// The parts that moderation uses.
#[derive(Clone, Copy, Debug)]
pub struct Moderation<'a> {
    pub db: &'a Db,
    pub recorder: &'a Recorder,
    pub mailer: &'a Mailer,
    pub public_url: &'a PublicUrl,
}

impl Moderation<'_> {
    /// Hides or shows a fundraiser, and emails its owner if anything changed.
    pub async fn decide(self, id: FundraiserId, decision: Decision, actor: Actor) -> Result<Decided, Error> {
        let decided = self.recorder.decide(id, decision, actor).await?;
        let (before, after) = (&decided.before, &decided.after);
        if before.status() != after.status() || before.hidden_reason != after.hidden_reason {
            // The decision is valid even if the email cannot be sent.
            if let Err(error) = self.notify(after).await {
                tracing::error!(%error, "could not email the owner of a fundraiser about a decision");
            }
        }
        Ok(decided)
    }

    async fn notify(self, fundraiser: &Fundraiser) -> sqlx::Result<()> {
        if !self.mailer.is_on() {
            return Ok(());
        }
        let Some(username) = accounts::find_username(self.db, fundraiser.account).await? else {
            return Ok(());
        };
        let account = accounts::find(self.db, &username).await?;
        let Some(to) = account.and_then(|account| account.email) else {
            return Ok(());
        };
        let (subject, text) = match fundraiser.status() {
            Status::Hidden => (HIDDEN_SUBJECT, HIDDEN),
            Status::Closed => (SHOWN_SUBJECT, SHOWN),
            _ => (APPROVED_SUBJECT, APPROVED),
        };
        let link = format!("{}/dashboard/fundraisers/{}", self.public_url, fundraiser.id);
        let values = [
            ("username", username.as_str()),
            ("title", &fundraiser.title),
            ("reason", fundraiser.hidden_reason.as_deref().unwrap_or_default()),
            ("link", &link),
        ];
        self.mailer.send(&Email {
            to,
            subject: subject.to_owned(),
            text: fill(text, &values),
        });
        Ok(())
    }
}
