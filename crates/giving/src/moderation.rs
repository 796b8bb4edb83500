//! Operators' decisions about fundraisers, and the emails that notify their owners.
//!
//! A decision goes through the [`Recorder`], like a donation: the change, its history, the audit entry and the outbox
//! row are one transaction, and other servers learn of it from the outbox row. Suspending an account closes its
//! fundraisers in the same transaction. Requests of the account that were authenticated earlier are refused when they
//! write, because the transaction reads the standing of the account.

use crate::error::Error;
use crate::fundraisers::moderate::{Decided, Decision};
use crate::notices::GivingNotices;
use crate::recorder::Recorder;
use access::accounts::Account;
use access::audit::Actor;
use platform::ids::FundraiserId;
use platform::mail::{Email, EmailText};

/// The reason that the owner sees if the operator gives none.
pub const DEFAULT_REASON: &str = "It does not follow the rules of this site.";
/// The maximum length of a reason in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// The parts that moderation uses.
#[derive(Clone, Copy, Debug)]
pub struct Moderation<'a> {
    pub recorder: &'a Recorder,
    pub notices: GivingNotices<'a>,
}

impl Moderation<'_> {
    /// Hides or shows a fundraiser, and emails its owner if anything changed.
    pub async fn decide(self, id: FundraiserId, decision: Decision, actor: Actor) -> Result<Decided, Error> {
        let decided = self.recorder.decide(id, decision, actor).await?;
        // The decision is valid even if the email cannot be queued now; then a server does it later.
        if let Err(error) = self.notices.queue_events().await {
            tracing::error!(%error, "could not email the owner of a fundraiser about a decision");
        }
        Ok(decided)
    }

    /// Suspends an account, closes its fundraisers, and emails its owner. Returns how many fundraisers were open.
    pub async fn suspend(self, account: &Account, reason: &str, actor: Actor) -> Result<usize, Error> {
        let mailer = self.notices.notices.mailer;
        let to = account.email.as_deref().filter(|_| mailer.is_on());
        let notice = to.map(|to| {
            let text = EmailText::new(&format!("Hello {},", account.username))
                .paragraph(&format!("An operator has suspended your account. Reason: {reason}"))
                .paragraph(
                    "Your keys no longer work, your fundraisers are closed, and you cannot sign in. Donations that were made \
                     remain, and donors keep their receipts.",
                )
                .link(
                    "If you think that this is a mistake, contact us",
                    &format!("{}/contact", self.notices.notices.public_url),
                );
            let email = Email::new(to, "Your account was suspended", text.into_string());
            (mailer, email)
        });
        let name = (account.id, account.username.as_str());
        self.recorder.suspend(name, reason, actor, notice).await
    }
}
