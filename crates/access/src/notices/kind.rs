//! The kinds of emails that the owner of an account gets.

/// What an email to the owner of an account is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A donation to one of the owner's fundraisers.
    Donation,
    /// A refund or a dispute of such a donation.
    Return,
    GoalReached,
    /// A fundraiser ends soon.
    Ending,
    /// A decision of an operator about a fundraiser.
    Decision,
    SignIn,
    ExposedKey,
    /// A webhook endpoint fails for a day.
    WebhookFailing,
    WebhookDisabled,
    /// A step of a claim of a nonprofit.
    Claim,
}

impl NoticeKind {
    pub const ALL: [NoticeKind; 10] = [
        NoticeKind::Donation,
        NoticeKind::Return,
        NoticeKind::GoalReached,
        NoticeKind::Ending,
        NoticeKind::Decision,
        NoticeKind::SignIn,
        NoticeKind::ExposedKey,
        NoticeKind::WebhookFailing,
        NoticeKind::WebhookDisabled,
        NoticeKind::Claim,
    ];

    /// Returns the name in the database and in links.
    pub fn as_str(self) -> &'static str {
        match self {
            NoticeKind::Donation => "donation",
            NoticeKind::Return => "return",
            NoticeKind::GoalReached => "goal-reached",
            NoticeKind::Ending => "ending",
            NoticeKind::Decision => "decision",
            NoticeKind::SignIn => "sign-in",
            NoticeKind::ExposedKey => "exposed-key",
            NoticeKind::WebhookFailing => "webhook-failing",
            NoticeKind::WebhookDisabled => "webhook-disabled",
            NoticeKind::Claim => "claim",
        }
    }

    pub fn find(name: &str) -> Option<NoticeKind> {
        NoticeKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns whether the owner may stop these emails. The others are about security, or about what the owner has to know.
    pub fn is_optional(self) -> bool {
        match self {
            NoticeKind::Donation
            | NoticeKind::Return
            | NoticeKind::GoalReached
            | NoticeKind::Ending
            | NoticeKind::WebhookFailing => true,
            NoticeKind::Decision
            | NoticeKind::SignIn
            | NoticeKind::ExposedKey
            | NoticeKind::WebhookDisabled
            | NoticeKind::Claim => false,
        }
    }

    /// Returns the emails that an account gets within any hour. A fundraiser that goes well has many donations, and their
    /// summary says as much as an email about each.
    pub(super) fn max_per_hour(self) -> usize {
        match self {
            NoticeKind::Donation => 1,
            _ => 10,
        }
    }

    /// Returns what the events of a summary are.
    pub(super) fn plural(self) -> &'static str {
        match self {
            NoticeKind::Donation => "donations to your fundraisers",
            NoticeKind::Return => "refunds and disputes of donations to your fundraisers",
            NoticeKind::GoalReached => "goals that your fundraisers have reached",
            NoticeKind::Ending => "fundraisers that end soon",
            NoticeKind::Decision => "decisions about your fundraisers",
            NoticeKind::SignIn => "sign-ins to your account",
            NoticeKind::ExposedKey => "exposed keys",
            NoticeKind::WebhookFailing => "webhook endpoints that fail",
            NoticeKind::WebhookDisabled => "webhook endpoints that were disabled",
            NoticeKind::Claim => "claims of nonprofits",
        }
    }
}
