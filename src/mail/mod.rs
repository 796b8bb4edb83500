//! Mail: handed to a server, written to the data folder, or not sent at all.
//!
//! A mail goes its way off the request path, a few at a time; one that does not get through is tried again twice and
//! then told in the log, without its text.

use anyhow::Context;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Mails under way at the same time; more than that are not taken.
const UNDER_WAY: usize = 64;
const PAUSES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(20)];
const TIMEOUT: Duration = Duration::from_secs(20);

/// How mail leaves.
#[derive(Clone, Debug)]
pub struct MailSettings {
    pub way: Way,
    pub from: Mailbox,
}

/// The way that is set.
#[derive(Clone, Debug)]
pub enum Way {
    /// `smtps://user:password@host`
    Server(SecretString),
    /// One file for each mail, in the data folder.
    Folder,
    Off,
}

/// Sends mail.
#[derive(Clone, Debug)]
pub struct Mailer {
    post: Arc<Post>,
    from: Mailbox,
    places: Arc<Semaphore>,
}

#[derive(Debug)]
enum Post {
    Server(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
    Off,
}

/// One mail.
#[derive(Clone, Debug)]
pub struct Mail {
    pub to: String,
    pub subject: String,
    pub text: String,
}

impl Mailer {
    pub fn new(settings: &MailSettings, data: &Path) -> anyhow::Result<Mailer> {
        let post = match &settings.way {
            Way::Server(url) => Post::Server(
                AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
                    .context("mail.server cannot be used; write smtps://user:password@host")?
                    .timeout(Some(TIMEOUT))
                    .build(),
            ),
            Way::Folder => Post::Folder(data.join("mail")),
            Way::Off => Post::Off,
        };
        Ok(Mailer {
            post: Arc::new(post),
            from: settings.from.clone(),
            places: Arc::new(Semaphore::new(UNDER_WAY)),
        })
    }

    /// Can people be reached?
    pub fn is_on(&self) -> bool {
        !matches!(*self.post, Post::Off)
    }

    /// Sends a mail, later.
    pub fn send(&self, mail: &Mail) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::error!("too many mails are under way; one was not sent");
            return;
        };
        let message = match self.message(mail) {
            Ok(message) => message,
            Err(fault) => {
                tracing::error!(%fault, "a mail could not be written");
                return;
            }
        };
        let post = Arc::clone(&self.post);
        tokio::spawn(async move {
            post.deliver(message).await;
            drop(place);
        });
    }

    fn message(&self, mail: &Mail) -> anyhow::Result<Message> {
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, mail.to.parse()?))
            .subject(&mail.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone())?)
    }
}

impl Post {
    async fn deliver(&self, message: Message) {
        for pause in PAUSES.into_iter().map(Some).chain([None]) {
            let Err(fault) = self.try_deliver(message.clone()).await else {
                return;
            };
            let fault = format!("{fault:#}");
            tracing::error!(fault, again = pause.is_some(), "a mail did not get through");
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
    }

    async fn try_deliver(&self, message: Message) -> anyhow::Result<()> {
        match self {
            Post::Server(server) => _ = server.send(message).await?,
            Post::Folder(folder) => write(folder, &message.formatted()).await?,
            Post::Off => {}
        }
        Ok(())
    }
}

/// Written beside its name and renamed, so that a reader finds whole mails alone.
async fn write(folder: &Path, mail: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let name = Uuid::now_v7().simple().to_string();
    let beside = folder.join(format!("{name}.part"));
    let mut open = tokio::fs::OpenOptions::new();
    open.write(true).create_new(true);
    // Links in a mail are secrets of whom it is for.
    #[cfg(unix)]
    open.mode(0o600);
    let mut file = open.open(&beside).await?;
    file.write_all(mail).await?;
    file.flush().await?;
    tokio::fs::rename(&beside, folder.join(format!("{name}.eml"))).await
}
