//! The dedication of a donation: in honor or in memory of somebody, and the person who is told about it.
//!
//! That person is told once, when the donation is completed, and never learns the amount. The message is written by the
//! donor, so it must not contain links: it is sent in the name of the operator.

use platform::email_address::EmailAddress;
use std::fmt;

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
