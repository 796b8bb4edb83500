//! Reports: what visitors tell operators about a fundraiser or a nonprofit.

pub mod store;

use platform::ids::{FundraiserId, NonprofitId};
use uuid::Uuid;

/// The maximum length of the details in characters.
pub const MAX_DETAILS_CHARS: usize = 2_000;

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Fundraiser(FundraiserId),
    Nonprofit(NonprofitId),
}

impl Subject {
    /// As it is stored.
    pub const fn kind(self) -> &'static str {
        match self {
            Subject::Fundraiser(_) => "fundraiser",
            Subject::Nonprofit(_) => "nonprofit",
        }
    }

    pub const fn id(self) -> Uuid {
        match self {
            Subject::Fundraiser(id) => id.0,
            Subject::Nonprofit(id) => id.0,
        }
    }

    fn find(kind: &str, id: Uuid) -> Option<Subject> {
        match kind {
            "fundraiser" => Some(Subject::Fundraiser(FundraiserId(id))),
            "nonprofit" => Some(Subject::Nonprofit(NonprofitId(id))),
            _ => None,
        }
    }
}

/// Why something was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Fraud,
    Misleading,
    Offensive,
    Copyright,
    Other,
    /// A nonprofit asks for a correction of its page.
    Correction,
}

impl Reason {
    /// The reasons that a visitor can choose for a report.
    pub const CHOICES: [Reason; 5] = [
        Reason::Fraud,
        Reason::Misleading,
        Reason::Offensive,
        Reason::Copyright,
        Reason::Other,
    ];

    /// Its name in forms and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Fraud => "fraud",
            Reason::Misleading => "misleading",
            Reason::Offensive => "offensive",
            Reason::Copyright => "copyright",
            Reason::Other => "other",
            Reason::Correction => "correction",
        }
    }

    /// Returns the reason with this name.
    pub fn find(name: &str) -> Option<Reason> {
        let mut all = Reason::CHOICES.into_iter().chain([Reason::Correction]);
        all.find(|reason| reason.as_str() == name)
    }
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub id: Uuid,
    pub subject: Subject,
    pub reason: Reason,
    pub details: String,
    /// Where to reach the person, if they want to be reached.
    pub email: Option<String>,
    pub created_at: i64,
    pub closed_at: Option<i64>,
}
