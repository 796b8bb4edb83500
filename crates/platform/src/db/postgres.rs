//! PostgreSQL: a pool of connections behind a circuit breaker.

use super::breaker::{CircuitBreaker, Permit};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool, Transaction};
use std::future::pending;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The interval between two probes.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);
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
        Ok(Postgres(Arc::new(Parts {
            options,
            pool_options,
            pool: RwLock::new(pool),
            breaker: Arc::default(),
            probe_timeout,
        })))
    }

    /// Returns the current pool.
    pub fn pool(&self) -> PgPool {
        self.0.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the permission to query the database, which ends when it is known to be down.
    pub fn permit(&self) -> Permit {
        self.0.breaker.permit()
    }

    /// Begins a transaction with this statement.
    pub async fn begin(&self, statement: &'static str) -> sqlx::Result<PostgresTx> {
        let (permit, pool) = (self.permit(), self.pool());
        // Connecting is a large future, which would become part of every caller.
        let transaction = permit.run(Box::pin(pool.begin_with(statement))).await?;
        Ok(PostgresTx { transaction, permit })
    }

    /// Probes the database four times a second until the task is dropped, and opens and closes the breaker.
    pub async fn watch(&self) {
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
            tokio::select! {
                () = sleep(PROBE_INTERVAL) => {}
                () = suspected => {}
            }
        }
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
