//! The emails about a claim: to the person, to the administrators of the nonprofit, and to operators.

use super::Role;
use super::store::Claim;
use crate::notices::{Notice, NoticeKind};
use platform::mail::EmailText;
use platform::public_url::PublicUrl;

/// Where people see their claims.
pub(super) const OWN_PATH: &str = "/dashboard/nonprofits";
/// Where operators see the claims that wait.
const OPERATOR_PATH: &str = "/dashboard/operator/claims";

/// What emails about a claim name.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub claim: &'a Claim,
    /// The name of the nonprofit.
    pub name: &'a str,
    pub url: &'a PublicUrl,
}

fn notice(subject: String, text: EmailText) -> Notice {
    Notice {
        kind: NoticeKind::Claim,
        line: subject.clone(),
        subject,
        text,
    }
}

impl About<'_> {
    fn link(&self, text: EmailText, path: &str, label: &str) -> EmailText {
        text.link(label, &format!("{}{path}", self.url))
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let claim = self.claim;
        let mut facts = vec![
            ("Account", claim.username.clone()),
            ("Name", claim.person.clone()),
            ("Position", claim.position.clone()),
        ];
        if let Some(domain) = &claim.domain {
            facts.push(("Domain", domain.clone()));
        }
        facts
    }

    /// To the person.
    pub(super) fn requested(&self) -> Notice {
        let text = EmailText::new(&format!(
            "You asked to run the page of {}. We tell you when there is a decision.",
            self.name
        ))
        .paragraph("If this was not you, withdraw the claim and change your password.");
        notice(
            format!("Your claim of {}", self.name),
            self.link(text, OWN_PATH, "Your claims"),
        )
    }

    /// To operators.
    pub(super) fn waiting(&self) -> Notice {
        let text = EmailText::new(&format!("Someone claims to act for {}.", self.name)).facts(&self.facts());
        notice(
            format!("Claim to decide: {}", self.name),
            self.link(text, OPERATOR_PATH, "Decide"),
        )
    }

    /// To the administrators of the nonprofit.
    pub(super) fn contested(&self) -> Notice {
        let text = EmailText::new(&format!(
            "Someone else asked to run the page of {}. Nothing changes unless you invite them or an operator decides.",
            self.name
        ))
        .facts(&self.facts());
        notice(
            format!("Someone else claims {}", self.name),
            self.link(text, OWN_PATH, "Invite them, if you know them"),
        )
    }

    /// To the person.
    pub(super) fn approved(&self) -> Notice {
        let can = match self.claim.role {
            Role::Administrator => "You can edit it, see its donations and invite others.",
            Role::Editor => "You can edit it.",
        };
        let text = EmailText::new(&format!("You now run the page of {}. {can}", self.name));
        notice(
            format!("You run the page of {}", self.name),
            self.link(text, OWN_PATH, "Open it"),
        )
    }

    /// To the administrators of the nonprofit.
    pub(super) fn joined(&self) -> Notice {
        let text = EmailText::new(&format!("Someone else can now run the page of {}.", self.name))
            .facts(&self.facts())
            .paragraph("If you do not know them, contact us.");
        notice(
            format!("Someone joined {}", self.name),
            self.link(text, OWN_PATH, "Who runs the page"),
        )
    }

    /// To the person, about a rejection or a revocation.
    pub(super) fn ended(&self, what: &str, reason: &str) -> Notice {
        let text = EmailText::new(&format!("An operator has {what} your claim of {}.", self.name));
        let text = if reason.is_empty() {
            text
        } else {
            text.quote(reason)
        };
        notice(
            format!("Your claim of {} was {what}", self.name),
            self.link(
                text,
                "/contact",
                "If you think that this is a mistake, contact us",
            ),
        )
    }

    /// To the administrators of the nonprofit.
    pub(super) fn left(&self) -> Notice {
        let text = EmailText::new(&format!(
            "{} no longer runs the page of {}.",
            self.claim.username, self.name
        ));
        notice(
            format!("Someone left {}", self.name),
            self.link(text, OWN_PATH, "Who runs the page"),
        )
    }
}
