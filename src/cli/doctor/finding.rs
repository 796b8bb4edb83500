//! What a check of `causeway doctor` found.

use serde::Serialize;

/// The result of one check.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    pub subject: &'static str,
    pub status: Status,
    /// What was seen.
    pub seen: String,
    /// What to do. Empty if all is well.
    pub remedy: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    Warning,
    Problem,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Problem => "problem",
        }
    }
}

impl Finding {
    pub(super) fn ok(subject: &'static str, seen: impl Into<String>) -> Finding {
        Finding {
            subject,
            status: Status::Ok,
            seen: seen.into(),
            remedy: String::new(),
        }
    }

    pub(super) fn warning(
        subject: &'static str,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            subject,
            status: Status::Warning,
            seen: seen.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn problem(
        subject: &'static str,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            subject,
            status: Status::Problem,
            seen: seen.into(),
            remedy: remedy.into(),
        }
    }

    /// Turns an error into a problem. Our own messages contain the remedy after a semicolon.
    pub(super) fn from_error(subject: &'static str, error: &anyhow::Error, remedy: &str) -> Finding {
        let text = format!("{error:#}");
        let (seen, remedy) = text.split_once("; ").unwrap_or((&text, remedy));
        Finding::problem(subject, seen, remedy)
    }
}
