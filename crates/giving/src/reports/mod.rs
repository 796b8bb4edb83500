//! Reports: messages of visitors to operators about a fundraiser or a nonprofit.
//!
//! A correction that a nonprofit requests is a report with a reason of its own, so there is one list, one command and
//! one way to erase the email address.

pub mod store;

use platform::ids::{FundraiserId, NonprofitId};
use uuid::Uuid;

/// The maximum length of the details in characters.
pub const MAX_DETAILS_CHARS: usize = 2_000;

/// The subject of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Fundraiser(FundraiserId),
    Nonprofit(NonprofitId),
}

impl Subject {
    /// Its kind in the database and in the output of commands.
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

/// The reason for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Fraud,
    Misleading,
    Offensive,
    Copyright,
    Other,
    /// A request to correct the page of a nonprofit.
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

    /// Its name in forms and in the database.
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
    /// The email address of the sender, if they left one.
    pub email: Option<String>,
    pub created_at: i64,
    pub closed_at: Option<i64>,
}
