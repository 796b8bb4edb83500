//! The revisions of all topics as a server last saw them, and tasks that wait for them to change.
//!
//! [`Db::watch`](super::Db::watch) records them, from one statement for all topics or from notifications. Those who wait
//! then load what changed, so a revision that is recorded late or twice does no harm.

use super::revision::{Revision, RevisionRow, Topic};
use tokio::sync::watch;

/// The latest revisions, by topic; `None` until the first is seen.
type Latest = [Option<Revision>; Topic::ALL.len()];

/// The latest revisions that a server has seen.
#[derive(Debug)]
pub struct Changes {
    latest: watch::Sender<Latest>,
    /// Whether the database responded to the last check, so that a change would have been noticed.
    responses: watch::Sender<bool>,
}

impl Default for Changes {
    fn default() -> Changes {
        Changes {
            latest: watch::Sender::new(Latest::default()),
            responses: watch::Sender::new(true),
        }
    }
}

impl Changes {
    /// Records the revision of a topic.
    pub fn record(&self, topic: Topic, revision: Revision) {
        self.latest.send_if_modified(|latest| {
            let of_topic = &mut latest[topic as usize];
            let is_new = *of_topic != Some(revision);
            *of_topic = Some(revision);
            is_new
        });
    }

    pub(super) fn record_rows(&self, rows: Vec<RevisionRow>) {
        for row in rows {
            if let Some(topic) = Topic::find(&row.0) {
                self.record(topic, Revision::from_row(row));
            }
        }
    }

    /// Records the revision in the payload of a notification: topic, number and token.
    pub(super) fn record_notification(&self, payload: &str) {
        let mut words = payload.split(' ');
        let mut parse = || {
            let topic = Topic::find(words.next()?)?;
            let (number, token) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some((topic, Revision { number, token }))
        };
        if let Some((topic, revision)) = parse() {
            self.record(topic, revision);
        }
    }

    /// Records whether changes are noticed: the database responded, and its revisions could be read.
    pub(super) fn record_response(&self, responds: bool) {
        self.responses.send_replace(responds);
    }

    /// Follows whether changes are noticed. Every check counts as a change of the value.
    pub fn responses(&self) -> watch::Receiver<bool> {
        self.responses.subscribe()
    }

    /// Returns the latest revision of a topic; `None` if none was seen yet.
    pub fn latest(&self, topic: Topic) -> Option<Revision> {
        self.latest.borrow()[topic as usize]
    }

    /// Follows a topic from its next revision on, or from the latest if one was seen.
    pub fn follow(&self, topic: Topic) -> Follower {
        Follower {
            latest: self.latest.subscribe(),
            topic,
            handled: None,
        }
    }
}

/// Waits for the revisions of a topic.
#[derive(Debug)]
pub struct Follower {
    latest: watch::Receiver<Latest>,
    topic: Topic,
    handled: Option<Revision>,
}

impl Follower {
    /// Returns the latest revision as soon as it is another than the one that was handled.
    pub async fn changed(&mut self) -> Revision {
        let (index, handled) = (self.topic as usize, self.handled);
        let is_unhandled = |latest: &Latest| latest[index].is_some() && latest[index] != handled;
        let found = match self.latest.wait_for(is_unhandled).await {
            Ok(latest) => latest[index],
            Err(_) => None,
        };
        match found {
            Some(revision) => revision,
            // Nothing is recorded any more.
            None => std::future::pending().await,
        }
    }

    /// Marks a revision as handled. Until then, [`changed`](Follower::changed) returns it again.
    pub fn mark_handled(&mut self, revision: Revision) {
        self.handled = Some(revision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn revision(number: i64, token: u128) -> Revision {
        Revision {
            number,
            token: Uuid::from_u128(token),
        }
    }

    #[tokio::test]
    async fn a_revision_is_returned_until_it_is_handled() {
        let changes = Changes::default();
        let mut keys = changes.follow(Topic::Keys);
        changes.record(Topic::Keys, revision(3, 1));
        assert_eq!(keys.changed().await, revision(3, 1));
        assert_eq!(keys.changed().await, revision(3, 1));
        keys.mark_handled(revision(3, 1));
        // The same number with another token is another revision.
        changes.record(Topic::Directory, revision(9, 9));
        changes.record(Topic::Keys, revision(3, 2));
        assert_eq!(keys.changed().await, revision(3, 2));
    }

    #[test]
    fn a_notification_names_topic_number_and_token() {
        let changes = Changes::default();
        changes.record_notification("keys 7 00000000-0000-0000-0000-000000000005");
        assert_eq!(changes.latest(Topic::Keys), Some(revision(7, 5)));
        for invalid in [
            "",
            "keys",
            "keys 8",
            "keys x y",
            "mail 8 00000000-0000-0000-0000-000000000005",
        ] {
            changes.record_notification(invalid);
        }
        assert_eq!(changes.latest(Topic::Keys), Some(revision(7, 5)));
        assert_eq!(changes.latest(Topic::Directory), None);
    }
}
