//! `causeway donor`

use super::accounts::parse_email;
use super::output::Output;
use super::stdout::Stdout;
use crate::app::App;
use access::audit::Actor;
use anyhow::Context;
use clap::Subcommand;
use giving::checkout;
use giving::checkout::dedication::{Dedication, Notice};
use giving::donors::{self, DonorData, DonorName};
use giving::monthly::MonthlyGift;
use giving::reports::Report;
use giving::yearly::link;
use platform::clock::rfc3339;
use platform::email_address::EmailAddress;
use platform::mail::store::QueuedEmail;
use serde_json::{Value, json};
use std::fmt::Write;

/// How long the link in a statement works.
const LINK_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;

#[derive(Subcommand)]
pub(super) enum Donor {
    /// List everything that is stored about a donor, as JSON
    #[command(after_help = "Example:\n  causeway donor export ada@example.org > ada.json")]
    Export {
        /// The email address of the donor
        #[arg(value_name = "EMAIL")]
        email: String,
    },
    /// Print what a donor gave in a year, for taxes, with a link for the donor
    #[command(after_help = "Example:\n  causeway donor statement ada@example.org --year 2026")]
    Statement {
        /// The email address of the donor
        #[arg(value_name = "EMAIL")]
        email: String,
        /// The year, in the time zone of the operator
        #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i16).range(1_970..=9_998))]
        year: i16,
        /// Write CSV
        #[arg(long)]
        csv: bool,
    },
    /// Erase the name, email address and messages of a donor, and cancel monthly gifts; the ledger and all totals stay as they are
    #[command(after_help = "Example:\n  causeway donor forget ada@example.org")]
    Forget {
        /// The email address of the donor
        #[arg(value_name = "EMAIL")]
        email: String,
    },
}

impl Donor {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Donor::Export { email } => export(app, output, &parse_email(&email)?).await,
            Donor::Statement { email, year, csv } => {
                statement(app, output, (&parse_email(&email)?, year), csv).await
            }
            Donor::Forget { email } => forget(app, output, &parse_email(&email)?).await,
        }
    }
}

async fn export(app: &App, output: Output, email: &EmailAddress) -> anyhow::Result<()> {
    let data = donors::export(app.settlement(), email, Actor::Command).await?;
    let value = to_json(app, email, &data);
    output.print(&value, || format!("{value:#}"))
}

async fn statement(
    app: &App,
    output: Output,
    (email, year): (&EmailAddress, i16),
    csv: bool,
) -> anyhow::Result<()> {
    let found = app.yearly_statements().find(email, year).await?;
    if csv {
        return Stdout::print(found.to_csv().trim_end())
            .context("could not write to standard output; check where it goes");
    }
    let items = found.items.iter().map(|item| {
        let parts = item.parts.iter().map(|part| {
            json!({
                "donee": part.donee,
                "ein": part.ein,
                "meantFor": part.meant_for,
                "taxDeductible": part.is_deductible,
                "amount": part.amount.get(),
            })
        });
        json!({
            "id": item.donation,
            "date": item.date,
            "paidAt": rfc3339(item.paid_at),
            "amount": item.amount.get(),
            "left": item.left.get(),
            "livemode": !item.is_test,
            "parts": parts.collect::<Vec<_>>(),
        })
    });
    let donees = found
        .donees
        .iter()
        .map(|(name, ein, amount)| json!({"name": name, "ein": ein, "amount": amount.get()}));
    let token = link::token(&app.secret, email, app.clock.millis() + LINK_MILLIS);
    let url = format!("{}{}", app.site.public_url, link::path(&token, year));
    let value = json!({
        "email": email.as_str(),
        "year": year,
        "donations": items.collect::<Vec<_>>(),
        "donees": donees.collect::<Vec<_>>(),
        "total": found.total.get(),
        "url": url,
    });
    output.print(&value, || {
        let mut text = format!("{email} gave {} in {year}", found.total);
        for item in &found.items {
            for part in &item.parts {
                let _ = write!(
                    text,
                    "\n  {}  {}  {} (EIN {})",
                    item.date, part.amount, part.donee, part.ein
                );
            }
        }
        let _ = write!(text, "\nFor the donor, for 30 days: {url}");
        text
    })
}

async fn forget(app: &App, output: Output, email: &EmailAddress) -> anyhow::Result<()> {
    let erased = donors::forget(app.settlement(), app.payments(), email, Actor::Command).await?;
    let value = json!({
        "donations": erased.donations,
        "names": erased.names,
        "reports": erased.reports,
        "emails": erased.emails,
    });
    output.print(&value, || {
        if erased.donations == 0 && erased.names == 0 && erased.reports == 0 && erased.emails == 0 {
            return format!("nothing is stored about {email}");
        }
        format!(
            "erased the donor from {} donations and {} reports, and deleted {} emails\n  \
             backups still contain the data; run this command again after restoring one",
            erased.donations, erased.reports, erased.emails
        )
    })
}

fn notice(donation: &checkout::Donation) -> Option<&Notice> {
    donation.dedication.as_ref()?.notice.as_ref()
}

fn to_json(app: &App, email: &EmailAddress, data: &DonorData) -> Value {
    let donation = |donation: &checkout::Donation| {
        let partner = &donation.partner;
        json!({
            "id": donation.id,
            "receiptUrl": app.site.urls.page(&format!("/donations/{}", donation.receipt_id)),
            "state": donation.state.as_str(),
            "startedAt": rfc3339(donation.started_at),
            "nonprofitId": donation.nonprofit.0,
            "fundraiserId": donation.fundraiser.map(|id| id.0),
            "amount": donation.amount.get(),
            "covered": donation.covered.get(),
            "email": donation.email.as_ref().map(EmailAddress::as_str),
            "name": donation.name,
            "nameIsPublic": donation.is_public,
            "sharesContact": donation.shares_contact,
            "provider": donation.provider,
            "session": donation.payment.session,
            "charge": donation.payment.charge,
            "paidAt": donation.payment.paid_at.map(rfc3339),
            "message": donation.message,
            "designation": donation.designation,
            "dedication": donation.dedication.as_ref().map(Dedication::to_string),
            "noticeEmail": notice(donation).map(|notice| notice.email.as_str()),
            "noticeMessage": notice(donation).and_then(|notice| notice.message.as_deref()),
            "partnerDonationId": partner.donation_id,
            "partnerMetadata": partner.metadata,
            "successUrl": partner.success_url,
            "exitUrl": partner.exit_url,
            "monthlyGiftId": donation.monthly_gift,
            "entry": donation.entry,
        })
    };
    let declined = |(charge, at): &(String, i64)| json!({"charge": charge, "at": rfc3339(*at)});
    // Who gave how much is not the business of the person who gets a notice.
    let notice_json = |donation: &checkout::Donation| {
        json!({
            "dedication": donation.dedication.as_ref().map(Dedication::to_string),
            "message": notice(donation).and_then(|notice| notice.message.as_deref()),
            "startedAt": rfc3339(donation.started_at),
        })
    };
    let monthly_gift = |gift: &MonthlyGift| {
        let status = &gift.status;
        json!({
            "id": gift.id,
            "state": status.state.as_str(),
            "startedAt": rfc3339(gift.started_at),
            "nonprofitId": gift.nonprofit.0,
            "fundraiserId": gift.fundraiser.map(|id| id.0),
            "amount": status.amount.get(),
            "covered": status.covered.get(),
            "nextAt": status.next_charge_at().map(rfc3339),
            "resumesAt": status.resumes_at.map(rfc3339),
            "canceledAt": status.canceled_at.map(rfc3339),
            "failure": status.failure.as_ref().map(|failure| &failure.reason),
            "cardExpiresAt": status.card_expires_at.map(rfc3339),
            "provider": gift.provider,
            "subscription": status.subscription,
            "customer": status.customer,
        })
    };
    let name =
        |name: &DonorName| json!({"entry": name.entry, "name": name.name, "nameIsPublic": name.is_public});
    let report = |report: &Report| {
        json!({
            "id": report.id,
            "reason": report.reason.as_str(),
            "details": report.details,
            "email": report.email,
            "createdAt": rfc3339(report.created_at),
        })
    };
    let queued = |email: &QueuedEmail| {
        json!({
            "to": email.recipient,
            "subject": email.subject,
            "text": email.text,
            "queuedAt": rfc3339(email.queued_at),
            "failedAt": email.failed_at.map(rfc3339),
        })
    };
    json!({
        "email": email.as_str(),
        "donor": data.donor_id,
        "donations": data.donations.iter().map(donation).collect::<Vec<_>>(),
        "notices": data.notices.iter().map(notice_json).collect::<Vec<_>>(),
        "declinedPayments": data.declined.iter().map(declined).collect::<Vec<_>>(),
        "monthlyGifts": data.monthly_gifts.iter().map(monthly_gift).collect::<Vec<_>>(),
        "names": data.names.iter().map(name).collect::<Vec<_>>(),
        "reports": data.reports.iter().map(report).collect::<Vec<_>>(),
        "emails": data.email_files,
        "queuedEmails": data.queued_emails.iter().map(queued).collect::<Vec<_>>(),
    })
}
