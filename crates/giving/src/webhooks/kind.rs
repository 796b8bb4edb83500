//! The kinds of events, and the formats in which endpoints get them.

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    DonationSucceeded,
    DonationRefunded,
    DonationDisputed,
    DonationDisputeClosed,
    MonthlyGiftStarted,
    MonthlyGiftChanged,
    MonthlyGiftPaymentFailed,
    MonthlyGiftCanceled,
    DisbursementSent,
    DisbursementReturned,
    FundraiserCreated,
    FundraiserUpdated,
    FundraiserClosed,
    FundraiserReopened,
    FundraiserHidden,
    FundraiserShown,
    FundraiserGoalReached,
    NonprofitUpdated,
    DirectoryUpdated,
    /// A test of one endpoint.
    Ping,
}

impl EventKind {
    pub const ALL: [EventKind; 20] = [
        EventKind::DonationSucceeded,
        EventKind::DonationRefunded,
        EventKind::DonationDisputed,
        EventKind::DonationDisputeClosed,
        EventKind::MonthlyGiftStarted,
        EventKind::MonthlyGiftChanged,
        EventKind::MonthlyGiftPaymentFailed,
        EventKind::MonthlyGiftCanceled,
        EventKind::DisbursementSent,
        EventKind::DisbursementReturned,
        EventKind::FundraiserCreated,
        EventKind::FundraiserUpdated,
        EventKind::FundraiserClosed,
        EventKind::FundraiserReopened,
        EventKind::FundraiserHidden,
        EventKind::FundraiserShown,
        EventKind::FundraiserGoalReached,
        EventKind::NonprofitUpdated,
        EventKind::DirectoryUpdated,
        EventKind::Ping,
    ];

    /// The name in bodies and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::DonationSucceeded => "donation.succeeded",
            EventKind::DonationRefunded => "donation.refunded",
            EventKind::DonationDisputed => "donation.disputed",
            EventKind::DonationDisputeClosed => "donation.dispute_closed",
            EventKind::MonthlyGiftStarted => "monthly_gift.started",
            EventKind::MonthlyGiftChanged => "monthly_gift.changed",
            EventKind::MonthlyGiftPaymentFailed => "monthly_gift.payment_failed",
            EventKind::MonthlyGiftCanceled => "monthly_gift.canceled",
            EventKind::DisbursementSent => "disbursement.sent",
            EventKind::DisbursementReturned => "disbursement.returned",
            EventKind::FundraiserCreated => "fundraiser.created",
            EventKind::FundraiserUpdated => "fundraiser.updated",
            EventKind::FundraiserClosed => "fundraiser.closed",
            EventKind::FundraiserReopened => "fundraiser.reopened",
            EventKind::FundraiserHidden => "fundraiser.hidden",
            EventKind::FundraiserShown => "fundraiser.shown",
            EventKind::FundraiserGoalReached => "fundraiser.goal_reached",
            EventKind::NonprofitUpdated => "nonprofit.updated",
            EventKind::DirectoryUpdated => "directory.updated",
            EventKind::Ping => "ping",
        }
    }

    pub fn find(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether it is about a donation.
    pub(crate) const fn is_donation(self) -> bool {
        matches!(
            self,
            EventKind::DonationSucceeded
                | EventKind::DonationRefunded
                | EventKind::DonationDisputed
                | EventKind::DonationDisputeClosed
        )
    }

    /// Returns whether it is about a monthly gift.
    pub(crate) const fn is_monthly_gift(self) -> bool {
        matches!(
            self,
            EventKind::MonthlyGiftStarted
                | EventKind::MonthlyGiftChanged
                | EventKind::MonthlyGiftPaymentFailed
                | EventKind::MonthlyGiftCanceled
        )
    }

    /// Returns whether it is about a payment to a nonprofit.
    pub(crate) const fn is_disbursement(self) -> bool {
        matches!(
            self,
            EventKind::DisbursementSent | EventKind::DisbursementReturned
        )
    }

    /// The kind of event that a row of the outbox is, by its name there.
    pub(crate) fn of_outbox(name: &str) -> Option<EventKind> {
        Some(match name {
            "donation" => EventKind::DonationSucceeded,
            "refund" | "refund_failed" => EventKind::DonationRefunded,
            "dispute" => EventKind::DonationDisputed,
            "dispute_won" | "dispute_lost" => EventKind::DonationDisputeClosed,
            "monthly_gift_started" => EventKind::MonthlyGiftStarted,
            "monthly_gift_changed" => EventKind::MonthlyGiftChanged,
            "monthly_gift_payment_failed" => EventKind::MonthlyGiftPaymentFailed,
            "monthly_gift_canceled" => EventKind::MonthlyGiftCanceled,
            "disbursement" => EventKind::DisbursementSent,
            "disbursement_returned" => EventKind::DisbursementReturned,
            "fundraiser_created" => EventKind::FundraiserCreated,
            "fundraiser_changed" => EventKind::FundraiserUpdated,
            "fundraiser_closed" => EventKind::FundraiserClosed,
            "fundraiser_reopened" => EventKind::FundraiserReopened,
            "fundraiser_hidden" => EventKind::FundraiserHidden,
            "fundraiser_shown" => EventKind::FundraiserShown,
            _ => return None,
        })
    }
}

/// How the bodies of an endpoint are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Standard,
    /// Donations alone, in the flat body that receivers of the hosted service parse.
    Partner,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Standard, Format::Partner];

    pub const fn name(self) -> &'static str {
        match self {
            Format::Standard => "standard",
            Format::Partner => "partner",
        }
    }

    pub fn find(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}
