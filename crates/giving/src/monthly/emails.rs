//! What donors are told about their monthly gifts by email.

use super::facts::Fact;
use super::{Cause, Failure, MonthlyGift, State, Status};
use crate::checkout::receipt::format_date;
use jiff::tz::TimeZone;
use platform::email_address::EmailAddress;
use platform::mail::Email;
use platform::money::Cents;
use std::fmt::Write;

/// What emails about a gift need besides the gift itself.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(super) to: EmailAddress,
    /// The name of the nonprofit or fundraiser.
    pub(super) recipient: String,
    /// The link to the page of the gift.
    pub(super) link: String,
    /// Where donors get a new link.
    pub(super) page: String,
    pub(super) time_zone: TimeZone,
    /// How often the provider tries to collect a payment.
    pub(super) attempts: i64,
}

impl Letter {
    /// Returns the email about a fact, if the donor gets one.
    pub(super) fn about(&self, fact: &Fact, gift: &MonthlyGift) -> Option<Email> {
        let (status, amount) = (&gift.status, gift.status.amount);
        let to = &self.recipient;
        let (subject, text) = match fact {
            Fact::Started => (format!("Your monthly donation of {amount}"), self.terms(gift)),
            Fact::AmountChanged { before } => (
                format!("Your monthly donation is now {amount}"),
                format!(
                    "The amount of your monthly donation to {to} changed from {before} to {amount}.{}",
                    self.next(status, " The first payment of this amount is on {date}.")
                ),
            ),
            Fact::Paused => (self.about_pause(status)?, self.pause(status)?),
            Fact::Resumed => (
                "Your monthly donation has resumed".to_owned(),
                format!(
                    "Your monthly donation of {amount} to {to} has resumed.{}",
                    self.next(status, " The next payment is on {date}.")
                ),
            ),
            Fact::PaymentFailed(failure) => self.failure(failure, status)?,
            Fact::GivenUp => ("Your monthly donation has ended".to_owned(), self.end(status)),
            Fact::Canceled if status.is_given_up() => return None,
            Fact::Canceled => (
                "Your monthly donation was canceled".to_owned(),
                format!(
                    "Your monthly donation of {amount} to {to} was canceled. You will not be charged again.\n\n\
                     Thank you for what you gave."
                ),
            ),
            Fact::Recovered => return None,
        };
        Some(self.email(gift, &subject, &text))
    }

    /// Returns the email 30 days before the card expires.
    pub(super) fn card_expiry(&self, gift: &MonthlyGift, expires_at: i64) -> Email {
        // The last day on which it can be charged.
        let date = format_date(expires_at - 1, &TimeZone::UTC);
        let text = format!(
            "The card that pays your monthly donation of {} to {} expires on {date}. Enter a new card so that your donation can continue.",
            gift.status.amount, self.recipient
        );
        self.email(gift, "The card for your monthly donation expires soon", &text)
    }

    /// Returns the yearly reminder.
    pub(super) fn reminder(&self, gift: &MonthlyGift) -> Email {
        let text = format!(
            "You have given {} to {} every month since {}. This continues until you cancel it.{}",
            gift.status.amount,
            self.recipient,
            format_date(gift.started_at, &self.time_zone),
            self.next(&gift.status, " The next payment is on {date}.")
        );
        self.email(gift, "A reminder of your monthly donation", &text)
    }

    fn email(&self, gift: &MonthlyGift, subject: &str, text: &str) -> Email {
        let (prefix, notice) = if gift.mode.is_test() {
            ("Test mode: ", "Test mode: no money is charged.\n\n")
        } else {
            ("", "")
        };
        let text = format!(
            "{notice}{text}\n\nSee, change, pause or cancel your donation, or enter a new card:\n\n{}\n\n\
             The link works for 60 days. You can always get a new one at {}\n",
            self.link, self.page
        );
        Email::new(self.to.to_string(), format!("{prefix}{subject}"), text)
    }

    /// Fills the date of the next payment in to a sentence. Without one, returns nothing.
    fn next(&self, status: &Status, sentence: &str) -> String {
        let date = status.next_charge_at();
        date.map_or_else(String::new, |at| {
            sentence.replace("{date}", &format_date(at, &self.time_zone))
        })
    }

    /// The terms of the gift.
    fn terms(&self, gift: &MonthlyGift) -> String {
        let status = &gift.status;
        let mut text = format!(
            "Thank you for giving to {} every month. These are the terms of your donation:\n\nAmount: {} every month\n",
            self.recipient, status.amount
        );
        if status.covered > Cents::ZERO {
            let _ = writeln!(text, "Included to cover the fees: {}", status.covered);
        }
        let _ = writeln!(text, "Started: {}", format_date(gift.started_at, &self.time_zone));
        if let Some(at) = status.next_charge_at() {
            let _ = writeln!(text, "Next payment: {}", format_date(at, &self.time_zone));
        }
        text.push_str(
            "\nThe same amount is charged every month until you cancel. You can cancel online at any time, and nothing is \
             charged after that. You get a receipt for each payment, and a reminder once a year.",
        );
        text
    }

    fn about_pause(&self, status: &Status) -> Option<String> {
        let subject = match status.cause {
            Some(Cause::Payment) => return None,
            Some(Cause::Recipient) => format!("Your monthly donation to {} is paused", self.recipient),
            None => "Your monthly donation is paused".to_owned(),
        };
        Some(subject)
    }

    fn pause(&self, status: &Status) -> Option<String> {
        let (amount, to) = (status.amount, &self.recipient);
        match status.cause {
            Some(Cause::Payment) => None,
            Some(Cause::Recipient) => Some(format!(
                "{to} can no longer receive donations here, so we have paused your monthly donation of {amount}. You are not \
                 charged while it is paused. You can cancel it and give to another nonprofit instead."
            )),
            None => Some(format!(
                "Your monthly donation of {amount} to {to} is paused. You are not charged while it is paused.{}",
                self.next(status, " The next payment is on {date}.")
            )),
        }
    }

    /// The email about a payment that failed: after the first attempt, and before the last.
    fn failure(&self, failure: &Failure, status: &Status) -> Option<(String, String)> {
        let Some(next) = failure.next_attempt_at else {
            return self.failed_start(failure, status);
        };
        let is_last = failure.attempts == self.attempts - 1;
        if failure.attempts != 1 && !is_last {
            return None;
        }
        let (amount, to) = (status.amount, &self.recipient);
        let (reason, date) = (reason(failure), format_date(next, &self.time_zone));
        let subject = if is_last {
            "The last attempt to charge your monthly donation"
        } else {
            "Your monthly donation could not be charged"
        };
        let plan = if is_last {
            format!("We will try for the last time on {date}. If that fails too, your donation ends.")
        } else {
            format!("We will try again on {date}.")
        };
        let text = format!(
            "We could not charge your monthly donation of {amount} to {to}. {reason}\n\n{plan} If your card has changed, enter \
             a new one with the link below, and we will charge it at once."
        );
        Some((subject.to_owned(), text))
    }

    /// The email about a first payment that the bank refused: the provider does not try it again by itself.
    fn failed_start(&self, failure: &Failure, status: &Status) -> Option<(String, String)> {
        if status.state != State::PastDue || status.is_given_up() || failure.attempts > 1 {
            return None;
        }
        let (amount, to) = (status.amount, &self.recipient);
        let text = format!(
            "We could not charge your monthly donation of {amount} to {to}. {} You were not charged.\n\nWe will not try again by \
             ourselves. If you enter a card or another bank account with the link below within two weeks, we will charge it at \
             once, and your monthly donation begins. Otherwise it ends.",
            reason(failure)
        );
        Some(("Your monthly donation could not be charged".to_owned(), text))
    }

    /// The email when the provider gave up.
    fn end(&self, status: &Status) -> String {
        let (amount, to) = (status.amount, &self.recipient);
        let reason = status.failure.as_ref().map(reason).unwrap_or_default();
        let after = match status.state {
            State::Canceled => "so your donation has ended. You can start a new one at any time.",
            _ => "so your donation has stopped. It continues if you enter a new card with the link below.",
        };
        format!("We could not charge your monthly donation of {amount} to {to}, {after} {reason}")
            .trim_end()
            .to_owned()
    }
}

/// Says why a payment failed, as a sentence.
fn reason(failure: &Failure) -> String {
    match failure.reason.trim() {
        "" => "Your bank declined the payment.".to_owned(),
        reason if reason.ends_with('.') => format!("The reason: {reason}"),
        reason => format!("The reason: {reason}."),
    }
}
