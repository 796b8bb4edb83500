//! PostgreSQL: a pool of connections behind a circuit breaker.

use super::PING_TIMEOUT;
use super::breaker::{CircuitBreaker, Permit};
use super::changes::Changes;
use super::listen::listen;
use super::revision::ALL_CURRENT;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool, Transaction};
use std::future::pending;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// The interval between two probes.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between two probes while the database does not respond.
const OUTAGE_PROBE_INTERVAL: Duration = Duration::from_millis(250);
/// The interval between two checks for changes while notifications arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The interval between two checks for changes while they do not: a revoked key must stop working within a second.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The class of SQLSTATE of a server that is starting or stopping.
const OPERATOR_INTERVENTION: &str = "57";

/// A PostgreSQL database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Postgres(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    options: PgConnectOptions,
    pool_options: PgPoolOptions,
    pool: RwLock<PgPool>,
    breaker: Arc<CircuitBreaker>,
    probe_timeout: Duration,
}

/// A transaction, which ends when the breaker opens.
#[derive(Debug)]
pub struct PostgresTx {
    transaction: Transaction<'static, sqlx::Postgres>,
    permit: Permit,
}

impl Postgres {
    /// Connects to the database.
    pub async fn connect(
        options: PgConnectOptions,
        pool_options: PgPoolOptions,
        probe_timeout: Duration,
    ) -> sqlx::Result<Postgres> {
        let pool = pool_options.clone().connect_with(options.clone()).await?;
        Ok(Postgres::with_pool(options, pool_options, pool, probe_timeout))
    }

    /// Creates a database without a connection. It counts as down until [`adopt`](Postgres::adopt) is called.
    pub fn disconnected(
        options: PgConnectOptions,
        pool_options: PgPoolOptions,
        probe_timeout: Duration,
    ) -> Postgres {
        let pool = pool_options.clone().connect_lazy_with(options.clone());
        let postgres = Postgres::with_pool(options, pool_options, pool, probe_timeout);
        postgres.0.breaker.record(false);
        postgres
    }

    fn with_pool(
        options: PgConnectOptions,
        pool_options: PgPoolOptions,
        pool: PgPool,
        probe_timeout: Duration,
    ) -> Postgres {
        Postgres(Arc::new(Parts {
            options,
            pool_options,
            pool: RwLock::new(pool),
            breaker: Arc::default(),
            probe_timeout,
        }))
    }

    /// Uses the connections of `connected` from now on, and counts as up.
    pub fn adopt(&self, connected: &Postgres) {
        *self.0.pool.write().unwrap_or_else(PoisonError::into_inner) = connected.pool();
        self.0.breaker.record(true);
    }

    /// Returns whether the database responds to a new connection, if only with a refusal.
    pub async fn responds(&self) -> bool {
        self.probe(&mut None).await
    }

    /// Returns the current pool.
    pub fn pool(&self) -> PgPool {
        self.0.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the permission to query the database, which ends when it is known to be down.
    pub fn permit(&self) -> Permit {
        self.0.breaker.permit()
    }

    /// Returns the number of permits in use: one for each query and each transaction.
    pub fn permits(&self) -> usize {
        self.0.breaker.permits()
    }

    /// Begins a transaction with this statement.
    pub async fn begin(&self, statement: &'static str) -> sqlx::Result<PostgresTx> {
        let (permit, pool) = (self.permit(), self.pool());
        // In a task of its own: a caller that is dropped meanwhile, such as a request whose client disconnects, would leave a
        // transaction open on a connection that returns to the pool.
        let begin = tokio::spawn(async move { pool.begin_with(statement).await });
        let begin = async { begin.await.unwrap_or(Err(sqlx::Error::WorkerCrashed)) };
        let transaction = permit.run(begin).await?;
        Ok(PostgresTx { transaction, permit })
    }

    /// Records changes and probes the database until the task is dropped. `listen_url` is where notifications come from,
    /// if not from the database itself.
    pub async fn watch(&self, changes: &Changes, listen_url: Option<&str>) {
        let Parts {
            options,
            probe_timeout,
            ..
        } = &*self.0;
        let listen_options = listen_url.map_or(Ok(options.clone()), |url| {
            PgConnectOptions::from_str(url).map(|options| options.application_name("causeway"))
        });
        let is_listening = watch::Sender::new(false);
        let listening = async {
            match listen_options {
                Ok(options) => {
                    // A false alarm only causes a check.
                    let timeout = (*probe_timeout / 2).min(PING_TIMEOUT);
                    listen(&options, || self.pool(), timeout, changes, &is_listening).await;
                }
                Err(error) => tracing::error!(%error, "database.listen_url is not a PostgreSQL URL"),
            }
        };
        tokio::join!(
            self.probe_repeatedly(),
            self.check_repeatedly(changes, is_listening.subscribe()),
            listening
        );
    }

    /// Probes the database once a second, and opens and closes the breaker. A query or a listener that loses its
    /// connection causes a probe at once.
    async fn probe_repeatedly(&self) {
        let Parts { breaker, .. } = &*self.0;
        let mut connection = None;
        loop {
            let responds = self.probe(&mut connection).await;
            if breaker.record(responds) {
                if responds {
                    tracing::info!("the database responds again");
                } else {
                    self.replace_pool();
                    tracing::error!(
                        "the database does not respond; requests that need it fail until it does"
                    );
                }
            }
            let suspected = async {
                if breaker.is_open() {
                    pending::<()>().await;
                }
                breaker.suspected().await;
            };
            let pause = if breaker.is_open() {
                OUTAGE_PROBE_INTERVAL
            } else {
                PROBE_INTERVAL
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = suspected => {}
            }
        }
    }

    /// Checks for changes every five seconds, and twice a second while no notifications arrive. A listener that starts or
    /// stops causes a check at once, since notifications may have been missed.
    async fn check_repeatedly(&self, changes: &Changes, mut is_listening: watch::Receiver<bool>) {
        let mut is_healthy = true;
        loop {
            let listens = *is_listening.borrow_and_update();
            let result = self.check(changes).await;
            if let (Err(error), true) = (&result, is_healthy) {
                tracing::error!(%error, "the database cannot be checked for changes; the last state stays in use");
            }
            is_healthy = result.is_ok();
            changes.record_response(is_healthy);
            let pause = if listens && is_healthy {
                CHECK_INTERVAL
            } else {
                POLL_INTERVAL
            };
            tokio::select! {
                () = sleep(pause) => {}
                Ok(()) = is_listening.changed() => {
                    if !*is_listening.borrow() {
                        self.0.breaker.suspect();
                    }
                }
            }
        }
    }

    /// Records the revisions of all topics, with one statement.
    async fn check(&self, changes: &Changes) -> sqlx::Result<()> {
        let (permit, pool) = (self.permit(), self.pool());
        let query = permit.run(sqlx::query_as(ALL_CURRENT).fetch_all(&pool));
        let rows = timeout(PING_TIMEOUT, query).await;
        changes.record_rows(rows.unwrap_or(Err(sqlx::Error::PoolTimedOut))?);
        Ok(())
    }

    /// Returns whether the database responds within the timeout: on the connection of the last probe, or else on a new
    /// one, since a connection can break while the database is up.
    async fn probe(&self, connection: &mut Option<PgConnection>) -> bool {
        let Parts {
            options,
            probe_timeout,
            ..
        } = &*self.0;
        let attempt_timeout = *probe_timeout / 2;
        if let Some(open) = connection
            && let Ok(Ok(())) = timeout(attempt_timeout, open.ping()).await
        {
            return true;
        }
        *connection = None;
        match timeout(attempt_timeout, PgConnection::connect_with(options)).await {
            Ok(Ok(new)) => {
                *connection = Some(new);
                true
            }
            // Any other refusal is a response too, such as too many connections or a changed password.
            Ok(Err(sqlx::Error::Database(error))) => !error
                .code()
                .is_some_and(|code| code.starts_with(OPERATOR_INTERVENTION)),
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Replaces the pool by an empty one. A connection of the old pool may never respond, and would occupy its slot.
    fn replace_pool(&self) {
        let new = self
            .0
            .pool_options
            .clone()
            .connect_lazy_with(self.0.options.clone());
        let mut pool = self.0.pool.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *pool, new);
        // Waits for the connections in use, which nobody else waits for.
        tokio::spawn(async move { old.close().await });
    }
}

impl PostgresTx {
    /// Returns the permission of the transaction and its connection.
    pub fn parts(&mut self) -> (&Permit, &mut PgConnection) {
        (&self.permit, &mut self.transaction)
    }

    /// Commits the transaction. If the breaker opens meanwhile, the commit may or may not have happened.
    pub async fn commit(self) -> sqlx::Result<()> {
        self.permit.run(self.transaction.commit()).await
    }
}
