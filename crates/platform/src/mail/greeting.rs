//! Connects to the mail server without sending anything, for `causeway doctor`.

use anyhow::{Context, bail};
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// How long the mail server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to a mail server, signs in if the URL has a user, and waits for its answer.
pub async fn greet(url: &SecretString) -> anyhow::Result<()> {
    let transport: AsyncSmtpTransport<Tokio1Executor> =
        AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret())
            .context("mail.smtp_url is not an SMTP URL")?
            .timeout(Some(TIMEOUT))
            .build();
    let connected = tokio::time::timeout(2 * TIMEOUT, transport.test_connection());
    if !connected.await.context("it does not answer")?? {
        bail!("it closed the connection");
    }
    Ok(())
}
