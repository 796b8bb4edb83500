//! Email: handed to a server, written to the data folder, or not sent at all.
//!
//! A mail goes its way off the request path. For a mail server it waits in a folder of its own until the server has
//! taken it; one that does not get through is told in the log, without its text, and tried again.

mod message;
mod spool;

pub use message::Email;

use anyhow::Context;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use message::write;
use secrecy::{ExposeSecret, SecretString};
use spool::Spool;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Between two looks at the mails that wait.
pub const RETRY_INTERVAL: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(20);

/// How mail leaves.
#[derive(Clone, Debug)]
pub struct MailSettings {
    pub delivery: Delivery,
    pub from: Mailbox,
}

/// The way that is set.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// `smtps://user:password@host`
    Smtp(SecretString),
    /// One file for each mail, in the data folder.
    Folder,
    Off,
}

/// Sends mail.
#[derive(Clone, Debug)]
pub struct Mailer {
    post: Arc<Post>,
    from: Mailbox,
}

#[derive(Debug)]
enum Post {
    Server(Box<Server>),
    Folder(PathBuf),
    Off,
}

#[derive(Debug)]
struct Server {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    spool: Spool,
    /// One pass over the mails that wait at a time, so that none is sent twice.
    turn: Mutex<()>,
}

impl Mailer {
    pub fn new(settings: &MailSettings, data: &Path) -> anyhow::Result<Mailer> {
        let folder = data.join("mail");
        let post = match &settings.delivery {
            Delivery::Smtp(url) => Post::Server(Box::new(Server {
                transport: AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
                    .context("mail.smtp_url cannot be used; write smtps://user:password@host")?
                    .timeout(Some(TIMEOUT))
                    .build(),
                spool: Spool::new(folder.join("waiting")),
                turn: Mutex::default(),
            })),
            Delivery::Folder => Post::Folder(folder),
            Delivery::Off => Post::Off,
        };
        Ok(Mailer {
            post: Arc::new(post),
            from: settings.from.clone(),
        })
    }

    /// Can people be reached?
    pub fn is_on(&self) -> bool {
        !matches!(*self.post, Post::Off)
    }

    /// Sends a mail, later.
    pub fn send(&self, mail: &Email) {
        let (mailer, mail) = (self.clone(), mail.clone());
        tokio::spawn(async move {
            if let Err(fault) = mailer.try_send(&mail).await {
                let fault = format!("{fault:#}");
                tracing::error!(fault, "a mail did not get through");
            }
        });
    }

    async fn try_send(&self, mail: &Email) -> anyhow::Result<()> {
        match &*self.post {
            Post::Server(server) => {
                server.spool.put(mail).await?;
                self.deliver_queued().await?;
            }
            Post::Folder(folder) => write(folder, "eml", &self.message(mail)?.formatted()).await?,
            Post::Off => {}
        }
        Ok(())
    }

    /// Hands the mails that wait to the mail server, until one does not get through; returns how many did.
    pub async fn deliver_queued(&self) -> anyhow::Result<usize> {
        let Post::Server(server) = &*self.post else {
            return Ok(0);
        };
        let _turn = server.turn.lock().await;
        let mut delivered = 0;
        for path in server.spool.list().await? {
            let message = server.spool.read(&path).await;
            let message = message.and_then(|mail| self.message(&mail));
            let refused = match message {
                Ok(message) => match server.transport.send(message).await {
                    Ok(_) => {
                        server.spool.remove(&path).await?;
                        delivered += 1;
                        continue;
                    }
                    Err(fault) if fault.is_permanent() => fault.into(),
                    Err(fault) => return Err(fault).context("it waits and is tried again"),
                },
                Err(fault) => fault,
            };
            let fault = format!("{refused:#}");
            tracing::error!(fault, "a mail will never be taken and is set aside");
            server.spool.set_aside(&path).await?;
        }
        Ok(delivered)
    }

    fn message(&self, mail: &Email) -> anyhow::Result<Message> {
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, mail.to.parse()?))
            .subject(&mail.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone())?)
    }
}
