//! The state of the connection pool, for metrics.

use super::Db;

/// The connections for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    /// Open connections.
    pub connections: u32,
    /// Those of them that are idle.
    pub idle: usize,
    /// Queries and transactions that wait for a connection. SQLite does not count them.
    pub waiting: Option<usize>,
}

impl Db {
    /// Returns the current state of the pool.
    pub fn pool_status(&self) -> PoolStatus {
        match self {
            Db::Sqlite { readers, .. } => PoolStatus {
                connections: readers.size(),
                idle: readers.num_idle(),
                waiting: None,
            },
            Db::Postgres(postgres) => {
                let pool = postgres.pool();
                // Each permit occupies one connection, or waits for one.
                let max = pool.options().get_max_connections() as usize;
                PoolStatus {
                    connections: pool.size(),
                    idle: pool.num_idle(),
                    waiting: Some(postgres.permits().saturating_sub(max)),
                }
            }
        }
    }
}
