//! Sends email over SMTP, writes it to the data folder, or drops it.
//!
//! Emails are sent outside the request that causes them. Those for a mail server are queued in the database until it
//! accepts them, so that any server can deliver them, and a receipt is queued in the transaction of its donation. Whoever
//! can read the database can use the links in them until then. A failure is logged without the text of the email, and
//! retried.

mod greeting;
mod html;
mod message;
mod retry;
pub mod store;
mod stored;
mod text;

pub use greeting::greet;
pub use message::Email;
pub use text::EmailText;

use crate::clock::Clock;
use crate::db::{Db, Tx};
use crate::email_address::EmailAddress;
use anyhow::Context;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use message::write;
use metrics::Counter;
use retry::{MAX_AGE_MILLIS, delay_millis};
use secrecy::{ExposeSecret, SecretString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use store::{LeasedEmail, QueueStatus, QueuedEmail};
use tokio::sync::{Mutex, watch};

/// The interval between two attempts to deliver queued emails.
pub const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// How long the mail server may take for one step, and for an email as a whole.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);
const SEND_TIMEOUT: Duration = Duration::from_mins(1);
/// How long an email belongs to the server that sends it. Longer than sending can take, so that nobody else sends it too.
pub const LEASE: Duration = Duration::from_mins(2);
/// How long emails that were given up are kept for the operator.
const FAILED_RETENTION_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;

const UNSUBSCRIBE: HeaderName = HeaderName::new_from_ascii_str("List-Unsubscribe");
const UNSUBSCRIBE_POST: HeaderName = HeaderName::new_from_ascii_str("List-Unsubscribe-Post");

/// How emails are sent.
#[derive(Clone, Debug)]
pub struct MailSettings {
    pub delivery: Delivery,
    pub from: Mailbox,
}

/// Where emails go.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// To a mail server: `smtps://user:password@host`.
    Smtp(SecretString),
    /// To one file per email in the data folder.
    Folder,
    /// Nowhere.
    Off,
}

/// Sends emails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mailer {
    transport: Arc<Transport>,
    from: Mailbox,
    db: Db,
    clock: Clock,
    /// Where emails may be stored as files, now or with other settings.
    folder: PathBuf,
    /// The number of emails that are being sent in the background.
    in_flight: Arc<watch::Sender<usize>>,
    /// The queue as it was last seen.
    status: Arc<RwLock<QueueStatus>>,
    counters: DeliveryCounters,
}

#[derive(Debug)]
enum Transport {
    Smtp(Box<SmtpDelivery>),
    Folder,
    Off,
}

#[derive(Debug)]
struct SmtpDelivery {
    smtp: AsyncSmtpTransport<Tokio1Executor>,
    /// Held during a pass over the queue: one connection at a time is enough.
    pass: Mutex<()>,
    /// Until then a new email is only queued, because the mail server was unreachable.
    paused_until: AtomicI64,
}

/// An email in a transaction, to be sent after the commit.
#[derive(Debug)]
#[must_use = "it is sent by Mailer::dispatch"]
pub struct PreparedEmail(Email);

/// Why an email was not delivered.
enum DeliveryError {
    /// The mail server does not respond, so other emails would fail too.
    Unreachable(anyhow::Error),
    /// The mail server does not accept this email now.
    Postponed(anyhow::Error),
    /// The mail server never accepts this email.
    Rejected(anyhow::Error),
}

/// Counts deliveries to the mail server.
#[derive(Clone, Debug)]
pub struct DeliveryCounters {
    pub sent: Counter,
    /// Attempts that failed.
    pub failed: Counter,
}

impl Default for DeliveryCounters {
    fn default() -> DeliveryCounters {
        DeliveryCounters {
            sent: Counter::noop(),
            failed: Counter::noop(),
        }
    }
}

impl Mailer {
    pub fn new(settings: &MailSettings, data: &Path, db: Db, clock: Clock) -> anyhow::Result<Mailer> {
        let transport = match &settings.delivery {
            Delivery::Smtp(url) => Transport::Smtp(Box::new(SmtpDelivery {
                smtp: AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
                    .context("mail.smtp_url is not an SMTP URL; write smtps://user:password@host")?
                    .timeout(Some(SMTP_TIMEOUT))
                    .build(),
                pass: Mutex::default(),
                paused_until: AtomicI64::new(0),
            })),
            Delivery::Folder => Transport::Folder,
            Delivery::Off => Transport::Off,
        };
        Ok(Mailer {
            transport: Arc::new(transport),
            from: settings.from.clone(),
            db,
            clock,
            folder: data.join("mail"),
            in_flight: Arc::new(watch::Sender::new(0)),
            status: Arc::default(),
            counters: DeliveryCounters::default(),
        })
    }

    /// Counts deliveries from now on.
    #[must_use]
    pub fn with_counters(self, counters: DeliveryCounters) -> Mailer {
        Mailer { counters, ..self }
    }

    /// Returns whether emails are sent at all.
    pub fn is_on(&self) -> bool {
        !matches!(*self.transport, Transport::Off)
    }

    /// Sends an email in the background.
    pub fn send(&self, email: &Email) {
        let (mailer, email) = (self.clone(), email.clone());
        self.spawn(async move { mailer.try_send(&email).await });
    }

    /// Queues an email in the transaction of what causes it, so that both happen or neither. After the commit it has to be
    /// passed to [`dispatch`](Self::dispatch); if the server dies before, another one delivers it.
    pub async fn prepare(&self, tx: &mut Tx, email: Email) -> sqlx::Result<PreparedEmail> {
        if let Transport::Smtp(_) = *self.transport {
            store::insert(tx, &email, self.clock.millis()).await?;
        }
        Ok(PreparedEmail(email))
    }

    /// Sends an email, whose transaction is committed, in the background.
    pub fn dispatch(&self, prepared: PreparedEmail) {
        let mailer = self.clone();
        self.spawn(async move { mailer.try_dispatch(&prepared.0).await });
    }

    /// Hands over many emails whose transaction is committed. Those for a mail server stay queued until the next pass over the
    /// queue, so that this needs no more memory than the emails.
    pub async fn hand_over(&self, prepared: Vec<PreparedEmail>) -> anyhow::Result<()> {
        if let Transport::Smtp(_) = *self.transport {
            return Ok(());
        }
        for email in &prepared {
            self.try_dispatch(&email.0).await?;
        }
        Ok(())
    }

    /// Runs work in the background, logs its failure, and lets [`finish`](Self::finish) wait for it.
    fn spawn(&self, work: impl Future<Output = anyhow::Result<()>> + Send + 'static) {
        let in_flight = Arc::clone(&self.in_flight);
        in_flight.send_modify(|count| *count += 1);
        tokio::spawn(async move {
            if let Err(error) = work.await {
                let error = format!("{error:#}");
                tracing::error!(error, "could not deliver an email");
            }
            in_flight.send_modify(|count| *count -= 1);
        });
    }

    /// Waits until the emails sent so far are delivered or queued. A command calls this before its process ends.
    pub async fn finish(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.in_flight.subscribe().wait_for(|count| *count == 0).await;
    }

    async fn try_send(&self, email: &Email) -> anyhow::Result<()> {
        if let Transport::Smtp(_) = *self.transport {
            let mut tx = self.db.write().await.context("could not queue it")?;
            let inserted = store::insert(&mut tx, email, self.clock.millis()).await;
            inserted.context("could not queue it")?;
            tx.commit().await.context("could not queue it")?;
        }
        self.try_dispatch(email).await
    }

    /// Sends an email, which is in the queue already if it is for a mail server.
    async fn try_dispatch(&self, email: &Email) -> anyhow::Result<()> {
        match &*self.transport {
            Transport::Smtp(delivery) => {
                if delivery.paused_until.load(Ordering::Relaxed) <= self.clock.millis() {
                    self.deliver_queued().await?;
                }
            }
            Transport::Folder => write(&self.folder, "eml", &self.message(email, None)?.formatted()).await?,
            Transport::Off => {}
        }
        Ok(())
    }

    /// Delivers the queued emails that are due, until the mail server is unreachable. Returns the number of those
    /// delivered.
    pub async fn deliver_queued(&self) -> anyhow::Result<usize> {
        let mailer = self.clone();
        self.in_flight.send_modify(|count| *count += 1);
        // A task of its own: if the caller is dropped while an email is being sent, its row is still updated.
        let pass = tokio::spawn(async move {
            let delivered = mailer.run_pass().await;
            mailer.in_flight.send_modify(|count| *count -= 1);
            delivered
        });
        pass.await?
    }

    async fn run_pass(&self) -> anyhow::Result<usize> {
        let Transport::Smtp(delivery) = &*self.transport else {
            return Ok(0);
        };
        let _guard = delivery.pass.lock().await;
        self.refresh_status().await?;
        if self.last_status().waiting == 0 {
            return Ok(0);
        }
        let outcome = self.deliver_due(delivery).await;
        self.refresh_status().await?;
        outcome
    }

    async fn deliver_due(&self, delivery: &SmtpDelivery) -> anyhow::Result<usize> {
        let mut delivered = 0;
        loop {
            let now = self.clock.millis();
            let until = now + LEASE.as_millis() as i64;
            let Some(leased) = store::claim(&self.db, now, until).await? else {
                return Ok(delivered);
            };
            let outcome = self.deliver(delivery, &leased).await;
            match &outcome {
                Ok(()) => self.counters.sent.increment(1),
                Err(_) => self.counters.failed.increment(1),
            }
            match outcome {
                Ok(()) => {
                    store::remove(&self.db, leased.id).await?;
                    delivery.paused_until.store(0, Ordering::Relaxed);
                    delivered += 1;
                }
                Err(DeliveryError::Rejected(error)) => {
                    let error = format!("{error:#}");
                    tracing::error!(
                        error,
                        "the mail server rejected an email; it is kept and not retried"
                    );
                    store::fail(&self.db, &leased, self.clock.millis(), &error).await?;
                }
                Err(DeliveryError::Postponed(error)) => {
                    let error = format!("{error:#}");
                    tracing::warn!(
                        error,
                        "the mail server does not accept an email now; it is retried"
                    );
                    self.postpone(&leased, &error).await?;
                }
                Err(DeliveryError::Unreachable(error)) => {
                    self.postpone(&leased, &format!("{error:#}")).await?;
                    let pause = RETRY_INTERVAL.as_millis() as i64;
                    delivery
                        .paused_until
                        .store(self.clock.millis() + pause, Ordering::Relaxed);
                    return Err(error).context("it stays queued and will be retried");
                }
            }
        }
    }

    async fn postpone(&self, leased: &LeasedEmail, error: &str) -> sqlx::Result<()> {
        let due_at = self.clock.millis() + delay_millis(leased.attempts);
        store::postpone(&self.db, leased, due_at, error).await
    }

    async fn deliver(&self, delivery: &SmtpDelivery, leased: &LeasedEmail) -> Result<(), DeliveryError> {
        // Receivers recognize an email that was sent twice by its ID.
        let id = format!("<{}@{}>", leased.id.simple(), self.from.email.domain());
        let message = self.message(&leased.email, Some(id));
        let message = message.map_err(DeliveryError::Rejected)?;
        match tokio::time::timeout(SEND_TIMEOUT, delivery.smtp.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.is_permanent() => Err(DeliveryError::Rejected(error.into())),
            Ok(Err(error)) if error.is_transient() => Err(DeliveryError::Postponed(error.into())),
            Ok(Err(error)) => Err(DeliveryError::Unreachable(error.into())),
            Err(elapsed) => Err(DeliveryError::Unreachable(elapsed.into())),
        }
    }

    /// Counts the queue, gives up emails that are too old, and removes those that were given up long ago.
    async fn refresh_status(&self) -> anyhow::Result<()> {
        let now = self.clock.millis();
        let mut status = store::find_status(&self.db).await?;
        let is_before = |at: Option<i64>, limit: i64| at.is_some_and(|at| at < limit);
        let (queued_limit, failed_limit) = (now - MAX_AGE_MILLIS, now - FAILED_RETENTION_MILLIS);
        let is_old = is_before(status.oldest_queued_at, queued_limit);
        if is_old {
            let emails = store::fail_old(&self.db, now, queued_limit).await?;
            if emails > 0 {
                tracing::error!(
                    emails,
                    days = MAX_AGE_MILLIS / 86_400_000,
                    "could not deliver emails in time; they are kept and not retried"
                );
            }
        }
        let is_stale = is_before(status.oldest_failed_at, failed_limit);
        if is_stale {
            store::remove_failed(&self.db, failed_limit).await?;
        }
        if is_old || is_stale {
            status = store::find_status(&self.db).await?;
        }
        *self.status.write().unwrap_or_else(PoisonError::into_inner) = status;
        Ok(())
    }

    /// Returns the state of the queue as of the last pass, for metrics.
    pub fn last_status(&self) -> QueueStatus {
        *self.status.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the queued emails to an address, including those that were given up.
    pub async fn list_queued_to(&self, address: &EmailAddress) -> sqlx::Result<Vec<QueuedEmail>> {
        store::list_to(&self.db, address).await
    }

    /// Lists the files in the data folder with emails to an address.
    pub async fn list_files_to(&self, address: &EmailAddress) -> io::Result<Vec<PathBuf>> {
        stored::list(&self.folder, address).await
    }

    /// Removes the files in the data folder with emails to an address, and returns how many there were.
    pub async fn remove_files_to(&self, address: &EmailAddress) -> io::Result<usize> {
        stored::remove(&self.folder, address).await
    }

    fn message(&self, email: &Email, id: Option<String>) -> anyhow::Result<Message> {
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, email.to.parse()?))
            .subject(&email.subject);
        if id.is_some() {
            message = message.message_id(id);
        }
        if let Some(url) = &email.unsubscribe_url {
            // RFC 8058: the mail program sends a POST request to the URL, so that nobody has to sign in.
            let post = "List-Unsubscribe=One-Click".to_owned();
            message = message
                .raw_header(HeaderValue::new(UNSUBSCRIBE, format!("<{url}>")))
                .raw_header(HeaderValue::new(UNSUBSCRIBE_POST, post));
        }
        let html = html::render(self.from.name.as_deref(), &email.subject, &email.text);
        Ok(message.multipart(MultiPart::alternative_plain_html(email.text.clone(), html))?)
    }
}
