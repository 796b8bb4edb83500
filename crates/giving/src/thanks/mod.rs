//! Thank-you emails from the organizer of a fundraiser to its donors. The organizer writes the message and never learns an
//! email address.
//!
//! A message goes to every donor who left an address and was not thanked for that donation before, once for each mailbox. It is
//! stored with the last entry of the ledger that it is for, and sent in the background: one transaction queues the emails of
//! some mailboxes and marks their donations, so that none is sent twice, whatever is killed and however many servers there
//! are. Whoever stops these emails is never sent one again, by any organizer; all that is stored of them is an HMAC.

pub mod link;
mod message;
pub mod store;

pub use message::{InvalidMessage, Message};

use crate::checkout::store as donations;
use crate::fundraisers::{Fundraiser, names, store as fundraisers};
use crate::notices::GivingNotices;
use access::accounts::public_profile::PublicProfile;
use access::accounts::store::{find_standing, profile};
use access::audit::{self, Action, Actor};
use directory::Directory;
use platform::email_address::EmailAddress;
use platform::ids::FundraiserId;
use platform::mail::{Email, EmailText};
use store::OpenThankYou;
use uuid::Uuid;

/// How long an organizer has to wait before the donors of a fundraiser can be thanked again.
pub const MIN_PAUSE_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// The mailboxes that are emailed in one transaction.
const MAX_BATCH_SIZE: i64 = 50;

/// What the organizer sees before writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThanksStatus {
    /// The mailboxes that have not been thanked, including those that have stopped such emails.
    pub donors: i64,
    /// When the donors can be thanked again, if that is not yet.
    pub next_at: Option<i64>,
    /// The time of the last message, and to how many donors it went so far.
    pub last: Option<(i64, i64)>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is being sent.
    Accepted,
    /// The same form was sent before.
    Repeated,
    /// There is nobody to thank.
    NoDonors,
    /// The donors were thanked less than a day ago.
    TooEarly,
}

/// Returns whether the donors of a fundraiser can be thanked.
pub async fn status(parts: GivingNotices<'_>, fundraiser: FundraiserId) -> sqlx::Result<ThanksStatus> {
    let last = store::find_last(parts.db, fundraiser).await?;
    let now = parts.notices.clock.millis();
    Ok(ThanksStatus {
        donors: donations::count_to_thank(parts.db, fundraiser, parts.counts_test).await?,
        next_at: last
            .map(|(at, _)| at + MIN_PAUSE_MILLIS)
            .filter(|next| now < *next),
        last,
    })
}

/// Accepts a message to the donors of a fundraiser, with an audit entry. `id` is that of the form, so that a form that is sent
/// twice is accepted once.
pub async fn write(
    parts: GivingNotices<'_>,
    fundraiser: &Fundraiser,
    message: &Message,
    id: Uuid,
) -> sqlx::Result<Outcome> {
    let now = parts.notices.clock.millis();
    let mut tx = parts.db.write().await?;
    // Of two forms that are sent at the same time, the second waits here and finds the first.
    fundraisers::lock(&mut tx, fundraiser.id).await?;
    if store::exists(&mut tx, id).await? {
        return Ok(Outcome::Repeated);
    }
    let last = store::find_last_in(&mut tx, fundraiser.id).await?;
    if last.is_some_and(|(at, _)| now < at + MIN_PAUSE_MILLIS) {
        return Ok(Outcome::TooEarly);
    }
    let Some(entry) = donations::last_to_thank(&mut tx, fundraiser.id, parts.counts_test).await? else {
        return Ok(Outcome::NoDonors);
    };
    store::insert(&mut tx, (id, fundraiser), message.as_str(), entry, now).await?;
    let actor = Actor::Account(fundraiser.account);
    let detail = format!("up to entry {entry}: {}", message.as_str());
    let action = Action::new(actor, "fundraiser thank", &fundraiser.id.to_string(), detail);
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(Outcome::Accepted)
}

/// Queues the emails of all messages that are not sent yet. What is left of a message is dropped if its fundraiser was hidden
/// or its organizer may no longer write.
pub async fn send(parts: GivingNotices<'_>, directory: &Directory) -> sqlx::Result<()> {
    if !parts.notices.mailer.is_on() {
        return Ok(());
    }
    for open in store::list_open(parts.db).await? {
        let Some((fundraiser, organizer)) = find_sender(parts, open.fundraiser).await? else {
            let mut tx = parts.db.write().await?;
            store::advance(&mut tx, open.id, 0, Some(parts.notices.clock.millis())).await?;
            tx.commit().await?;
            continue;
        };
        let nonprofit = names::slug_of(directory, &fundraiser).await?;
        let page = fundraiser.path(&nonprofit);
        let thanks = ThanksEmail {
            organizer: organizer.name(),
            fundraiser: &fundraiser,
            message: &open.message,
            page: &page,
        };
        while send_batch(parts, &open, thanks).await? {}
    }
    Ok(())
}

/// Finds a fundraiser and its organizer, if both may be seen.
async fn find_sender(
    parts: GivingNotices<'_>,
    id: FundraiserId,
) -> sqlx::Result<Option<(Fundraiser, PublicProfile)>> {
    let fundraiser = fundraisers::find(parts.db, id).await?;
    let Some(fundraiser) = fundraiser.filter(Fundraiser::is_public) else {
        return Ok(None);
    };
    if !find_standing(parts.db, fundraiser.account).await?.may_write() {
        return Ok(None);
    }
    let organizer = profile::find(parts.db, fundraiser.account).await?;
    Ok(organizer.map(|organizer| (fundraiser, organizer)))
}

/// Queues the emails of some mailboxes. Returns whether there may be more.
async fn send_batch(
    parts: GivingNotices<'_>,
    open: &OpenThankYou,
    thanks: ThanksEmail<'_>,
) -> sqlx::Result<bool> {
    let notices = parts.notices;
    let now = notices.clock.millis();
    let mut tx = parts.db.write().await?;
    // Another server that sends the same message waits here.
    if !store::lock_open(&mut tx, open.id).await? {
        return Ok(false);
    }
    let to_thank = donations::list_to_thank(
        &mut tx,
        open.fundraiser,
        (open.entry, parts.counts_test),
        MAX_BATCH_SIZE,
    )
    .await?;
    let has_more = to_thank.len() as i64 == MAX_BATCH_SIZE;
    let mut prepared = Vec::new();
    for (mailbox, email) in to_thank {
        donations::mark_thanked(&mut tx, open.fundraiser, (&mailbox, open.entry), now).await?;
        let Ok(email) = EmailAddress::parse(&email) else {
            continue;
        };
        let hash = link::hash(notices.secret, &email);
        if store::is_stopped(&mut tx, &hash).await? {
            continue;
        }
        let stop = link::url(notices.public_url, notices.secret, &hash);
        let email = thanks.compose(parts, email.as_str(), stop);
        prepared.push(notices.mailer.prepare(&mut tx, email).await?);
    }
    let finished_at = (!has_more).then_some(now);
    store::advance(&mut tx, open.id, prepared.len() as i64, finished_at).await?;
    tx.commit().await?;
    parts.dispatch(prepared);
    Ok(has_more)
}

/// What a thank-you email is about.
#[derive(Clone, Copy, Debug)]
struct ThanksEmail<'a> {
    organizer: &'a str,
    fundraiser: &'a Fundraiser,
    message: &'a str,
    /// The path of the page of the fundraiser.
    page: &'a str,
}

impl ThanksEmail<'_> {
    fn compose(self, parts: GivingNotices<'_>, to: &str, stop_url: String) -> Email {
        let ThanksEmail {
            organizer,
            fundraiser,
            message,
            page,
        } = self;
        let title = &fundraiser.title;
        let text = EmailText::new(&format!(
            "{organizer}, the organizer of \"{title}\", thanks you for your donation and wrote to you:"
        ))
        .quote(message)
        .link(
            "See the fundraiser",
            &format!("{}{page}", parts.notices.public_url),
        )
        .footer(&format!(
            "You get this email because you donated to \"{title}\". We sent it for the organizer, who does not know your email \
             address.\nStop thank-you emails from organizers: {stop_url}"
        ));
        let mut email = Email::new(to, format!("{organizer} thanks you: {title}"), text.into_string());
        email.unsubscribe_url = Some(stop_url);
        email
    }
}
