//! The dedication of a donation: in honor or in memory of somebody, and the person who is told about it.
//!
//! That person is told once, when the donation is completed, and never learns the amount. The message is written by the
//! donor, so it must not contain links: it is sent in the name of the operator.

use super::Donation;
use crate::ledger::entry::Mode;
use platform::email_address::EmailAddress;
use platform::mail::Email;
use platform::public_url::PublicUrl;
use std::fmt::{self, Write as _};

/// To whom a donation is dedicated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dedication {
    pub kind: DedicationKind,
    /// The name of the person.
    pub name: String,
    /// Who is told about the donation.
    pub notice: Option<Notice>,
}

/// How a person is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedicationKind {
    Honor,
    Memory,
}

/// The email about a donation to a third person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub email: EmailAddress,
    pub message: Option<String>,
}

impl DedicationKind {
    /// The name that is stored and sent in forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            DedicationKind::Honor => "honor",
            DedicationKind::Memory => "memory",
        }
    }

    /// Returns the kind with this name.
    pub fn find(name: &str) -> Option<DedicationKind> {
        [DedicationKind::Honor, DedicationKind::Memory]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Dedication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DedicationKind::Honor => "in honor of",
            DedicationKind::Memory => "in memory of",
        };
        write!(f, "{kind} {}", self.name)
    }
}

impl Dedication {
    /// Returns the dedication as it is shown on a line of its own, such as "In memory of Ada".
    pub fn title(&self) -> String {
        let text = self.to_string();
        format!("I{}", text.strip_prefix('i').unwrap_or(&text))
    }

    /// Writes everything to one text. No part contains a control character.
    pub(super) fn content(&self) -> String {
        let (email, message) = match &self.notice {
            Some(notice) => (
                notice.email.as_str(),
                notice.message.as_deref().unwrap_or_default(),
            ),
            None => ("", ""),
        };
        let (kind, name) = (self.kind.as_str(), &self.name);
        format!("dedication\n{kind}\n{name}\n{email}\n{message}")
    }
}

/// Returns whether a text could lead its reader to another site.
pub fn has_link(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("://") || text.contains("www.")
}

/// Returns the email to the person who is told about a donation to `recipient`, whose page has this path.
pub(super) fn notice(
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
    let donor = donor.unwrap_or("Somebody");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dedication_reads_well_in_a_sentence_and_alone() {
        for (kind, text, title) in [
            (DedicationKind::Honor, "in honor of Ada", "In honor of Ada"),
            (DedicationKind::Memory, "in memory of Ada", "In memory of Ada"),
        ] {
            let dedication = Dedication {
                kind,
                name: "Ada".to_owned(),
                notice: None,
            };
            assert_eq!(dedication.to_string(), text);
            assert_eq!(dedication.title(), title);
            assert_eq!(DedicationKind::find(kind.as_str()), Some(kind));
        }
        assert_eq!(DedicationKind::find("no"), None);
    }

    #[test]
    fn links_are_found() {
        for text in [
            "see HTTPS://x.example",
            "www.example.org",
            "Go to WWW.x.example now",
        ] {
            assert!(has_link(text), "{text}");
        }
        assert!(!has_link("With love, from Ada & Bo. No. 5: 3/4"));
    }
}
