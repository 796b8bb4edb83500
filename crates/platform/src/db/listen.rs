//! Waits for the notifications that PostgreSQL sends when a transaction with a new revision commits.
//!
//! The connection is of its own, because it may have to bypass a connection pooler. A server relies on it only after a
//! notification of its own has arrived: a pooler accepts LISTEN and then passes nothing on. The connection is tested
//! twice a second, without a transaction: one that died in silence would look like a database without changes.

use super::changes::Changes;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Acquire, Connection, PgPool};
use std::io;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use uuid::Uuid;

/// The channel that the triggers of migration 11 notify.
const CHANNEL: &str = "causeway";
/// The interval between two tests of the connection, and between two attempts to connect.
const TEST_INTERVAL: Duration = Duration::from_millis(500);
/// How long a new connection may take, including its first notification.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const NOTIFY: &str = "select pg_notify('causeway', $1)";

/// Records the notified revisions until the task is dropped, and says in `is_listening` whether notifications arrive.
///
/// `pool` returns the connections of all other queries.
pub(super) async fn listen(
    options: &PgConnectOptions,
    pool: impl Fn() -> PgPool,
    response_timeout: Duration,
    changes: &Changes,
    is_listening: &watch::Sender<bool>,
) {
    let mut was_reported = false;
    loop {
        let error = match connect(options, &pool()).await {
            Ok(mut listener) => {
                if was_reported {
                    tracing::info!("the database sends notifications again");
                    was_reported = false;
                }
                is_listening.send_replace(true);
                let Err(error) = receive(&mut listener, response_timeout, changes).await;
                is_listening.send_replace(false);
                error
            }
            Err(error) => error,
        };
        if !was_reported {
            tracing::warn!(%error, "the database sends no notifications; checking for changes twice a second");
            was_reported = true;
        }
        sleep(TEST_INTERVAL).await;
    }
}

async fn connect(options: &PgConnectOptions, others: &PgPool) -> sqlx::Result<PgListener> {
    // A pool of its own: a connection that never responds stays behind in it.
    let own = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(CONNECT_TIMEOUT)
        .connect_lazy_with(options.clone());
    let listening = async {
        let mut listener = PgListener::connect_with(&own).await?;
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        // Not the form of a revision, so other servers ignore it.
        let greeting = Uuid::now_v7().to_string();
        sqlx::query(NOTIFY).bind(&greeting).execute(others).await?;
        while listener.recv().await?.payload() != greeting {}
        Ok(listener)
    };
    timeout(CONNECT_TIMEOUT, listening).await.unwrap_or_else(|_| {
        let message = "no notification arrived; if database_url names a connection pooler, set \
             database.listen_url to the database itself";
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, message)))
    })
}

/// Records notifications until the connection is lost.
async fn receive(
    listener: &mut PgListener,
    response_timeout: Duration,
    changes: &Changes,
) -> Result<std::convert::Infallible, sqlx::Error> {
    let mut ticks = interval(TEST_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let received = tokio::select! {
            received = listener.try_recv() => received?,
            _ = ticks.tick() => {
                let ping = async { listener.acquire().await?.ping().await };
                timeout(response_timeout, ping)
                    .await
                    .unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
                // What arrived during the test is returned by the next `try_recv`.
                continue;
            }
        };
        match received {
            Some(notification) => changes.record_notification(notification.payload()),
            None => return Err(sqlx::Error::PoolClosed),
        }
    }
}
