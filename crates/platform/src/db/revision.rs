//! Revisions: which state of the data a server has, and whether that state is part of the history of the database.
//!
//! A number alone does not identify a state: after an older copy of the database is restored, the same numbers are
//! assigned to other contents. Therefore every revision has a random token, which a trigger of the database writes, so that
//! whoever raises a revision, such as a previous version or a person with `psql`, cannot forget it. The database remembers
//! the tokens of earlier revisions. A server whose revision is not among them has a state that was lost, and reloads
//! everything.

use super::{Db, Tx, query};
use tokio::time::timeout;
use uuid::Uuid;

const NUMBER: &str = "select revision from revisions where topic = $1";
const INCREMENT: &str = "update revisions set revision = revision + 1 where topic = $1 returning revision";
macro_rules! current {
    ($rest:literal) => {
        concat!(
            "select r.topic, r.revision, t.token from revisions r ",
            "left join revision_tokens t on t.topic = r.topic and t.revision = r.revision ",
            $rest
        )
    };
}
const CURRENT: &str = current!("where r.topic = $1");
/// All topics in one statement.
pub(super) const ALL_CURRENT: &str = current!("");
const HAS_REVISION: &str =
    "select exists (select 1 from revision_tokens where topic = $1 and revision = $2 and token = $3)";
const TOKEN: &str = "select token from revision_tokens where topic = $1 and revision = $2";
const PRUNE: &str = "delete from revision_tokens where revision < \
     (select r.revision - $1 from revisions r where r.topic = revision_tokens.topic)";

/// How many numbers back the tokens of a topic are retained. A server whose revision is older reloads everything.
const RETAINED_REVISIONS: i64 = 100_000;

/// Data that running servers follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Directory,
    Keys,
    /// The events of the outbox: fundraisers and their totals. The number is that of the last event.
    Events,
}

impl Topic {
    pub const ALL: [Topic; 3] = [Topic::Directory, Topic::Keys, Topic::Events];

    pub fn name(self) -> &'static str {
        match self {
            Topic::Directory => "directory",
            Topic::Keys => "keys",
            Topic::Events => "events",
        }
    }

    /// Finds a topic by its name in the database.
    pub fn find(name: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|topic| topic.name() == name)
    }
}

/// A state of a topic. The default is no state of any database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Grows with every change, until an older copy of the database is restored.
    pub number: i64,
    /// Random, so that two histories of a database never have the same.
    pub token: Uuid,
}

/// A row of [`ALL_CURRENT`].
pub(super) type RevisionRow = (String, i64, Option<Uuid>);

impl Revision {
    pub(super) fn from_row((_, number, token): RevisionRow) -> Revision {
        Revision {
            number,
            token: token.unwrap_or_default(),
        }
    }
}

impl Db {
    /// Returns the number of the current revision of a topic.
    pub async fn revision(&self, topic: Topic) -> sqlx::Result<i64> {
        let query = async { self.fetch_scalar(query(NUMBER).bind(topic.name())).await };
        self.with_timeout(query).await
    }

    /// Returns the current revision of a topic.
    pub async fn current_revision(&self, topic: Topic) -> sqlx::Result<Revision> {
        let query = async { self.fetch_one(query(CURRENT).bind(topic.name())).await };
        self.with_timeout(query).await.map(Revision::from_row)
    }

    /// Without a timeout, a dead connection would block the servers that follow a topic forever.
    async fn with_timeout<T>(&self, query: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
        timeout(self.response_timeout(), query)
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Removes the tokens of revisions that no server can still have. Returns how many.
    pub async fn prune_revision_tokens(&self) -> sqlx::Result<u64> {
        let mut tx = self.write().await?;
        let removed = tx.execute(query(PRUNE).bind(RETAINED_REVISIONS)).await?;
        tx.commit().await?;
        Ok(removed)
    }
}

impl Tx {
    /// Returns the number of the revision of a topic as this transaction sees it.
    pub async fn revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        self.fetch_scalar(query(NUMBER).bind(topic.name())).await
    }

    /// Returns the revision of a topic as this transaction sees it.
    pub async fn current_revision(&mut self, topic: Topic) -> sqlx::Result<Revision> {
        let row = self.fetch_one(query(CURRENT).bind(topic.name())).await?;
        Ok(Revision::from_row(row))
    }

    /// Returns whether a revision is part of the history of the database. It is not if an older copy was restored since,
    /// or if it is very old.
    pub async fn has_revision(&mut self, topic: Topic, revision: Revision) -> sqlx::Result<bool> {
        self.fetch_scalar(
            query(HAS_REVISION)
                .bind(topic.name())
                .bind(revision.number)
                .bind(revision.token),
        )
        .await
    }

    /// Returns the token of a revision of a topic, if it is still known.
    pub async fn revision_token(&mut self, topic: Topic, number: i64) -> sqlx::Result<Option<Uuid>> {
        self.fetch_optional_scalar(query(TOKEN).bind(topic.name()).bind(number))
            .await
    }

    /// Increments the revision of a topic, and returns its number. On PostgreSQL this also serializes the writers of a
    /// topic, and notifies all servers when the transaction commits.
    pub async fn increment_revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        self.fetch_scalar(query(INCREMENT).bind(topic.name())).await
    }
}
