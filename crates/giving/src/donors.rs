//! Lists what is stored about a donor, and erases it at the request of the donor.
//!
//! Names, email addresses and messages are stored next to the ledger and not in it, so erasing them changes neither
//! the chain nor a total. The entries keep the donor ID, an HMAC that nobody can trace to a person without the secret
//! of the store and the email address itself.

use crate::checkout::settle::Settlement;
use crate::checkout::{Donation, State, donor_id, store};
use crate::donations::DonationError;
use crate::guard::store as guard;
use crate::ledger::store as ledger;
use crate::monthly::manage::{self, Change, ChangeError};
use crate::monthly::{self, MonthlyGift};
use crate::payments::Payments;
use crate::reports::{Report, store as reports};
use crate::webhooks::deliveries::cleanup;
use access::audit::{Action, Actor, store as audit};
use platform::db::Db;
use platform::email_address::EmailAddress;
use platform::mail::store::{self as mail_queue, QueuedEmail};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The subject in the audit log, which must not contain the email address.
const SUBJECT: &str = "donor";
/// How often, and at what interval, truncating the log of the database is tried while another connection uses it.
const LOG_ATTEMPTS: u32 = 50;
const LOG_DELAY: Duration = Duration::from_millis(200);

/// Everything that is stored about a donor.
#[derive(Debug)]
pub struct DonorData {
    /// The ID of the donor in the ledger.
    pub donor_id: String,
    pub donations: Vec<Donation>,
    /// The donations of others about which the email address is told.
    pub notices: Vec<Donation>,
    /// Declined payments of the last week: the provider's ID of the charge, and the time.
    pub declined: Vec<(String, i64)>,
    pub monthly_gifts: Vec<MonthlyGift>,
    pub names: Vec<DonorName>,
    /// The reports that were sent with the email address.
    pub reports: Vec<Report>,
    /// The emails that wait for the mail server, or that it did not accept.
    pub queued_emails: Vec<QueuedEmail>,
    /// The files of emails, if no mail server is set.
    pub email_files: Vec<PathBuf>,
}

/// A name that is stored with an entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DonorName {
    pub entry: i64,
    pub name: String,
    /// Whether the donor consented to show it.
    pub is_public: bool,
}

/// What was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasedData {
    pub donations: u64,
    pub names: u64,
    /// The reports that were sent with the email address.
    pub reports: u64,
    /// Queued emails, and emails that were written to files.
    pub emails: u64,
}

/// Why nothing was listed or erased.
#[derive(Debug, Error)]
pub enum DonorError {
    #[error("a donation or monthly gift of this donor is being recorded; run this again in a minute")]
    Pending,
    #[error(
        "the donor is erased, but the log of the database is in use and may still contain the data; \
         run this again in a minute"
    )]
    LogInUse,
    #[error(
        "this donor has a monthly gift that could not be canceled ({0}); try again, or cancel it at its provider"
    )]
    MonthlyGift(#[from] ChangeError),
    #[error("could not read or remove emails in the data folder; check its permissions")]
    Emails(#[from] io::Error),
    #[error(transparent)]
    Donation(#[from] DonationError),
}

impl From<sqlx::Error> for DonorError {
    fn from(error: sqlx::Error) -> DonorError {
        DonorError::Donation(error.into())
    }
}

/// Lists everything that is stored about the donor with an email address. The audit log notes that it was listed.
pub async fn export(
    settlement: Settlement<'_>,
    email: &EmailAddress,
    actor: Actor,
) -> Result<DonorData, DonorError> {
    let donor_id = donor_id::of_email(settlement.secret, email);
    let donations = store::list_by_email(settlement.db, email).await?;
    let notices = store::list_by_notice(settlement.db, email).await?;
    let declined = guard::list_of(settlement.db, email).await?;
    let monthly_gifts = monthly::store::list_by_email(settlement.db, email).await?;
    let reports = reports::list_by_email(settlement.db, email).await?;
    let queued_emails = settlement.mailer.list_queued_to(email).await?;
    let email_files = settlement.mailer.list_files_to(email).await?;
    let mut tx = settlement.db.write().await?;
    let names = ledger::list_names_of(&mut tx, &donor_id).await?;
    let names = names.into_iter().map(|(entry, name, is_public)| DonorName {
        entry,
        name,
        is_public,
    });
    let names = names.collect();
    let action = Action::new(actor, "donor export", SUBJECT, count(donations.len() as u64));
    audit::record(&mut tx, &action, settlement.clock.millis()).await?;
    tx.commit().await?;
    Ok(DonorData {
        donor_id,
        donations,
        notices,
        declined,
        monthly_gifts,
        names,
        reports,
        queued_emails,
        email_files,
    })
}

/// Erases everything about the donor with an email address except the amounts, and cancels the donor's monthly gifts, since
/// nobody could be told about them any more. Doing it again changes nothing.
pub async fn forget(
    settlement: Settlement<'_>,
    payments: Option<Payments<'_>>,
    email: &EmailAddress,
    actor: Actor,
) -> Result<ErasedData, DonorError> {
    let db = settlement.db;
    let mut gifts = Vec::new();
    for gift in monthly::store::list_by_email(db, email).await? {
        gifts.push(gift.id);
        manage::change(settlement, payments, gift, Change::Cancel).await?;
    }
    // The emails about that are among those that are removed.
    settlement.mailer.finish().await;
    // The donor ID of a donation that is not in the ledger yet depends on its email address.
    for donation in store::list_by_email(db, email).await? {
        if donation.state == State::Pending {
            settlement.settle(donation).await?;
        }
    }
    let mut tx = db.write().await?;
    tx.overwrite_deleted().await?;
    if store::count_pending_by_email(&mut tx, email).await? > 0
        || monthly::store::count_living_by_email(&mut tx, email).await? > 0
    {
        return Err(DonorError::Pending);
    }
    let donor_id = donor_id::of_email(settlement.secret, email);
    let names = ledger::remove_names_of(&mut tx, &donor_id).await?;
    let entries = store::list_entries_by_email(&mut tx, email).await?;
    let names = names + ledger::remove_names(&mut tx, &entries).await?;
    cleanup::erase_answers(&mut tx, &entries, &gifts).await?;
    guard::remove_of(&mut tx, email).await?;
    let donations = store::erase_donor(&mut tx, email).await?;
    let reports = reports::erase_reporter(&mut tx, email).await?;
    let queued = mail_queue::remove_to(&mut tx, email).await?;
    let action = Action::new(actor, "donor forget", SUBJECT, count(donations));
    audit::record(&mut tx, &action, settlement.clock.millis()).await?;
    tx.commit().await?;
    let files = settlement.mailer.remove_files_to(email).await?;
    truncate_log(db).await?;
    Ok(ErasedData {
        donations,
        names,
        reports,
        emails: queued + files as u64,
    })
}

/// Truncates the log as soon as no other connection uses it.
async fn truncate_log(db: &Db) -> Result<(), DonorError> {
    for _ in 0..LOG_ATTEMPTS {
        if db.truncate_log().await? {
            return Ok(());
        }
        tokio::time::sleep(LOG_DELAY).await;
    }
    Err(DonorError::LogInUse)
}

fn count(donations: u64) -> String {
    if donations == 1 {
        "1 donation".to_owned()
    } else {
        format!("{donations} donations")
    }
}
