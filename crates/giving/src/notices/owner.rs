//! What emails to the owner of a fundraiser say. They do not name donors: names are shown where they can be erased.

use crate::checkout::receipt::format_date;
use crate::fundraisers::{Fundraiser, Status};
use crate::ledger::entry::{Mode, Totals};
use access::notices::{Notice, NoticeKind};
use jiff::tz::TimeZone;
use platform::mail::EmailText;
use platform::money::Cents;
use platform::public_url::PublicUrl;

/// A fundraiser as emails about it show it.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub fundraiser: &'a Fundraiser,
    pub totals: Totals,
    pub public_url: &'a PublicUrl,
    pub time_zone: &'a TimeZone,
}

/// What happened to a donation after it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    Refunded,
    RefundFailed,
    DisputeOpened,
    DisputeLost,
    DisputeWon,
}

impl About<'_> {
    pub(super) fn donation(self, amount: Cents, mode: Mode) -> Notice {
        let (title, prefix) = (self.title(), prefix(mode));
        let text = EmailText::new(&format!(
            "{prefix}Your fundraiser \"{title}\" received a donation of {amount}."
        ));
        Notice {
            kind: NoticeKind::Donation,
            subject: format!("{prefix}{amount} for {title}"),
            text: text
                .facts(&self.facts())
                .link("See your donations", &self.url("")),
            line: format!("{prefix}{amount} for {title}"),
        }
    }

    pub(super) fn goal_reached(self, goal: Cents) -> Notice {
        let title = self.title();
        let next = match self.fundraiser.ends_at {
            Some(end) => format!("It accepts donations until it ends on {}", self.date(end)),
            None => "It accepts donations until you close it".to_owned(),
        };
        Notice {
            kind: NoticeKind::GoalReached,
            subject: format!("{title} has reached its goal"),
            text: EmailText::new(&format!(
                "Congratulations: your fundraiser \"{title}\" has reached its goal of {goal}."
            ))
            .facts(&self.facts())
            .paragraph(&format!("{next}, and you can set a higher goal."))
            .link("Edit your fundraiser", &self.url("/edit")),
            line: format!("{title} has reached its goal of {goal}"),
        }
    }

    pub(super) fn ending(self, ends_at: i64) -> Notice {
        let (title, date) = (self.title(), self.date(ends_at));
        Notice {
            kind: NoticeKind::Ending,
            subject: format!("{title} ends on {date}"),
            text: EmailText::new(&format!(
                "Your fundraiser \"{title}\" ends on {date}. After that, it accepts no donations."
            ))
            .facts(&self.facts())
            .paragraph("Now is a good time to share it once more. If you need more time, change its end.")
            .link("Edit your fundraiser", &self.url("/edit")),
            line: format!("{title} ends on {date}"),
        }
    }

    /// Returns the email about an operator's decision, from the status that it led to.
    pub(super) fn decision(self) -> Notice {
        let title = self.title();
        let (subject, text, label) = match self.fundraiser.status() {
            Status::Hidden => (
                "Your fundraiser was hidden",
                EmailText::new(&format!(
                    "An operator of this site has hidden your fundraiser \"{title}\". \
                     Only you and operators can see it, and it accepts no donations."
                ))
                .paragraph(&format!(
                    "Reason: {}",
                    self.fundraiser.hidden_reason.as_deref().unwrap_or_default()
                ))
                .paragraph(
                    "You can still see and edit it. If you think this is a mistake, contact the operator.",
                ),
                "See your fundraiser",
            ),
            Status::Closed => (
                "Your fundraiser is visible again",
                EmailText::new(&format!(
                    "Your fundraiser \"{title}\" is visible again. It is closed and accepts no donations until you reopen it."
                )),
                "See your fundraiser",
            ),
            Status::Published | Status::InReview => (
                "Your fundraiser is public",
                EmailText::new(&format!(
                    "Your fundraiser \"{title}\" is now public and can receive donations."
                )),
                "See your fundraiser",
            ),
        };
        Notice {
            kind: NoticeKind::Decision,
            subject: subject.to_owned(),
            text: text.link(label, &self.url("")),
            line: format!("{subject}: {title}"),
        }
    }

    /// Returns the email about a donation that was returned to the donor, or may be.
    pub(super) fn returned(self, what: Return, amount: Cents, mode: Mode) -> Notice {
        let (title, prefix) = (self.title(), prefix(mode));
        let (subject, sentence) = match what {
            Return::Refunded => (
                "refunded",
                "of a donation to your fundraiser \"{title}\" was refunded. Its total is lower by this amount.",
            ),
            Return::RefundFailed => (
                "not refunded",
                "of a donation to your fundraiser \"{title}\" could not be refunded. It counts again.",
            ),
            Return::DisputeOpened => (
                "disputed",
                "of a donation to your fundraiser \"{title}\" is disputed: the donor's bank asks for it back. \
                 The operator of this site responds to the bank. There is nothing for you to do.",
            ),
            Return::DisputeLost => (
                "returned by a dispute",
                "of a donation to your fundraiser \"{title}\" went back to the donor, because the donor's bank decided a \
                 dispute for the donor. The amount does not count anymore.",
            ),
            Return::DisputeWon => (
                "dispute ended",
                "of a donation to your fundraiser \"{title}\" is no longer disputed. It stays with your fundraiser.",
            ),
        };
        let sentence = sentence.replace("{title}", title);
        Notice {
            kind: NoticeKind::Return,
            subject: format!("{prefix}{amount} for {title}: {subject}"),
            text: EmailText::new(&format!("{prefix}{amount} {sentence}"))
                .facts(&self.facts())
                .link("See your donations", &self.url("")),
            line: format!("{prefix}{amount} for {title}: {subject}"),
        }
    }

    fn title(&self) -> &str {
        &self.fundraiser.title
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let raised = self.totals.raised;
        let raised = match self.fundraiser.goal {
            Some(goal) => format!("{raised} of {goal}"),
            None => raised.to_string(),
        };
        vec![
            ("Raised so far", raised),
            ("Supporters", self.totals.supporters.to_string()),
        ]
    }

    fn date(&self, millis: i64) -> String {
        format_date(millis, self.time_zone)
    }

    fn url(&self, path: &str) -> String {
        format!(
            "{}/dashboard/fundraisers/{}{path}",
            self.public_url, self.fundraiser.id
        )
    }
}

/// What amounts of test mode are marked with.
pub(super) fn prefix(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "",
        Mode::Test => "Test mode: ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fundraisers::SPECIAL;
    use crate::fundraisers::cover::Focus;
    use platform::ids::{AccountId, FundraiserId};
    use uuid::Uuid;

    fn fundraiser() -> Fundraiser {
        Fundraiser {
            id: FundraiserId(Uuid::nil()),
            nonprofit: SPECIAL,
            slug: "spring-run".to_owned(),
            account: AccountId(Uuid::nil()),
            title: "Spring run".to_owned(),
            description: None,
            cover: None,
            focus: Focus::default(),
            starts_at: None,
            ends_at: None,
            goal: Some(Cents::new(500_000)),
            offline: None,
            created_at: 0,
            closed_at: None,
            hidden_at: None,
            hidden_reason: None,
            in_review_since: None,
            version: 1,
            supported: Vec::new(),
        }
    }

    /// The subject and the text of an email.
    fn render(fundraiser: &Fundraiser, compose: impl Fn(About<'_>) -> Notice) -> String {
        let about = About {
            fundraiser,
            totals: Totals {
                raised: Cents::new(125_000),
                supporters: 12,
            },
            public_url: &PublicUrl::new("https://give.example.org"),
            time_zone: &TimeZone::UTC,
        };
        let notice = compose(about);
        assert!(!notice.line.is_empty());
        format!("{}\n\n{}", notice.subject, notice.text.into_string())
    }

    fn decision(about: About<'_>) -> Notice {
        about.decision()
    }

    const LINK: &str = "https://give.example.org/dashboard/fundraisers/00000000-0000-0000-0000-000000000000";
    const FACTS: &str = "Raised so far: $1,250.00 of $5,000.00\nSupporters: 12";

    #[test]
    fn a_donation() {
        assert_eq!(
            render(&fundraiser(), |about| about
                .donation(Cents::new(2_500), Mode::Live)),
            format!(
                "$25.00 for Spring run\n\nYour fundraiser \"Spring run\" received a donation of $25.00.\n\n{FACTS}\n\n\
                 See your donations: {LINK}\n"
            )
        );
        let test = render(&fundraiser(), |about| {
            about.donation(Cents::new(2_500), Mode::Test)
        });
        assert!(
            test.starts_with("Test mode: $25.00 for Spring run\n\nTest mode: Your fundraiser"),
            "{test}"
        );
    }

    #[test]
    fn a_goal_that_was_reached() {
        assert_eq!(
            render(&fundraiser(), |about| about.goal_reached(Cents::new(100_000))),
            format!(
                "Spring run has reached its goal\n\nCongratulations: your fundraiser \"Spring run\" has reached its goal of \
                 $1,000.00.\n\n{FACTS}\n\nIt accepts donations until you close it, and you can set a higher goal.\n\n\
                 Edit your fundraiser: {LINK}/edit\n"
            )
        );
    }

    #[test]
    fn an_end_that_is_near() {
        assert_eq!(
            render(&fundraiser(), |about| about.ending(1_795_000_000_000)),
            format!(
                "Spring run ends on November 18, 2026\n\nYour fundraiser \"Spring run\" ends on November 18, 2026. After that, \
                 it accepts no donations.\n\n{FACTS}\n\nNow is a good time to share it once more. If you need more time, \
                 change its end.\n\nEdit your fundraiser: {LINK}/edit\n"
            )
        );
    }

    #[test]
    fn decisions_of_operators() {
        let hidden = Fundraiser {
            hidden_at: Some(1),
            hidden_reason: Some("The story is not true.".to_owned()),
            ..fundraiser()
        };
        assert_eq!(
            render(&hidden, decision),
            format!(
                "Your fundraiser was hidden\n\nAn operator of this site has hidden your fundraiser \"Spring run\". Only you and \
                 operators can see it, and it accepts no donations.\n\nReason: The story is not true.\n\nYou can still see and \
                 edit it. If you think this is a mistake, contact the operator.\n\nSee your fundraiser: {LINK}\n"
            )
        );
        let closed = Fundraiser {
            closed_at: Some(1),
            ..fundraiser()
        };
        assert!(render(&closed, decision).contains("is visible again. It is closed"));
        assert!(render(&fundraiser(), decision).contains("\"Spring run\" is now public"));
    }

    #[test]
    fn donations_that_are_returned() {
        for (what, subject, sentence) in [
            (Return::Refunded, "refunded", "was refunded. Its total is lower"),
            (
                Return::RefundFailed,
                "not refunded",
                "could not be refunded. It counts again.",
            ),
            (
                Return::DisputeOpened,
                "disputed",
                "is disputed: the donor's bank asks for it back.",
            ),
            (
                Return::DisputeLost,
                "returned by a dispute",
                "went back to the donor",
            ),
            (
                Return::DisputeWon,
                "dispute ended",
                "is no longer disputed. It stays",
            ),
        ] {
            let email = render(&fundraiser(), |about| {
                about.returned(what, Cents::new(2_500), Mode::Live)
            });
            assert!(
                email.starts_with(&format!(
                    "$25.00 for Spring run: {subject}\n\n$25.00 of a donation to"
                )),
                "{email}"
            );
            assert!(
                email.contains(sentence) && email.contains(FACTS) && !email.contains('{'),
                "{email}"
            );
        }
    }
}
