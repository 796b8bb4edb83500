//! Sends email over SMTP, writes it to the data folder, or drops it.
//!
//! Emails are sent outside the request that causes them. For SMTP they are queued in a folder until the mail server
//! accepts them. A failure is logged without the text of the email, and retried.

mod greeting;
mod message;
mod spool;
mod stored;

pub use greeting::greet;
pub use message::Email;

use crate::email_address::EmailAddress;
use anyhow::Context;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use message::write;
use secrecy::{ExposeSecret, SecretString};
use spool::Spool;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};

/// The interval between two attempts to deliver queued emails.
pub const RETRY_INTERVAL: Duration = Duration::from_secs(30);
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

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
    /// Where emails may be stored, now or with other settings.
    folders: Arc<[PathBuf]>,
    /// The number of emails that are being sent in the background.
    in_flight: Arc<watch::Sender<usize>>,
}

#[derive(Debug)]
enum Transport {
    Smtp(Box<SmtpQueue>),
    Folder(PathBuf),
    Off,
}

#[derive(Debug)]
struct SmtpQueue {
    smtp: AsyncSmtpTransport<Tokio1Executor>,
    spool: Spool,
    /// Held during a pass over the queue, so that no email is sent twice.
    delivery_lock: Mutex<()>,
}

impl Mailer {
    pub fn new(settings: &MailSettings, data: &Path) -> anyhow::Result<Mailer> {
        let folder = data.join("mail");
        let queue = folder.join("waiting");
        let folders = [folder.clone(), queue.clone()].into();
        let transport = match &settings.delivery {
            Delivery::Smtp(url) => Transport::Smtp(Box::new(SmtpQueue {
                smtp: AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
                    .context("mail.smtp_url is not an SMTP URL; write smtps://user:password@host")?
                    .timeout(Some(SMTP_TIMEOUT))
                    .build(),
                spool: Spool::new(queue),
                delivery_lock: Mutex::default(),
            })),
            Delivery::Folder => Transport::Folder(folder),
            Delivery::Off => Transport::Off,
        };
        Ok(Mailer {
            transport: Arc::new(transport),
            from: settings.from.clone(),
            folders,
            in_flight: Arc::new(watch::Sender::new(0)),
        })
    }

    /// Returns whether emails are sent at all.
    pub fn is_on(&self) -> bool {
        !matches!(*self.transport, Transport::Off)
    }

    /// Sends an email in the background.
    pub fn send(&self, email: &Email) {
        let (mailer, email) = (self.clone(), email.clone());
        self.in_flight.send_modify(|count| *count += 1);
        tokio::spawn(async move {
            if let Err(error) = mailer.try_send(&email).await {
                let error = format!("{error:#}");
                tracing::error!(error, "could not deliver an email");
            }
            mailer.in_flight.send_modify(|count| *count -= 1);
        });
    }

    /// Waits until the emails sent so far are delivered or queued. A command calls this before its process ends.
    pub async fn finish(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.in_flight.subscribe().wait_for(|count| *count == 0).await;
    }

    async fn try_send(&self, email: &Email) -> anyhow::Result<()> {
        match &*self.transport {
            Transport::Smtp(queue) => {
                queue.spool.put(email).await?;
                self.deliver_queued().await?;
            }
            Transport::Folder(folder) => write(folder, "eml", &self.message(email)?.formatted()).await?,
            Transport::Off => {}
        }
        Ok(())
    }

    /// Delivers queued emails to the mail server until one fails, and returns the number of those delivered.
    pub async fn deliver_queued(&self) -> anyhow::Result<usize> {
        let Transport::Smtp(queue) = &*self.transport else {
            return Ok(0);
        };
        let _guard = queue.delivery_lock.lock().await;
        let mut delivered = 0;
        for path in queue.spool.list().await? {
            let message = queue.spool.read(&path).await;
            let message = message.and_then(|email| self.message(&email));
            let rejection = match message {
                Ok(message) => match queue.smtp.send(message).await {
                    Ok(_) => {
                        queue.spool.remove(&path).await?;
                        delivered += 1;
                        continue;
                    }
                    Err(error) if error.is_permanent() => error.into(),
                    Err(error) => return Err(error).context("it stays queued and will be retried"),
                },
                Err(error) => error,
            };
            let error = format!("{rejection:#}");
            tracing::error!(
                error,
                "could not deliver an email; it is set aside and not retried"
            );
            queue.spool.set_aside(&path).await?;
        }
        Ok(delivered)
    }

    /// Lists the files in the data folder with emails to an address.
    pub async fn list_to(&self, address: &EmailAddress) -> io::Result<Vec<PathBuf>> {
        stored::list(&self.folders, address).await
    }

    /// Removes the emails to an address from the data folder, and returns how many there were.
    pub async fn remove_to(&self, address: &EmailAddress) -> io::Result<usize> {
        stored::remove(&self.folders, address).await
    }

    fn message(&self, email: &Email) -> anyhow::Result<Message> {
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, email.to.parse()?))
            .subject(&email.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(email.text.clone())?)
    }
}
