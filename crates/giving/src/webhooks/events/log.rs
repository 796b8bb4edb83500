//! The log of events that an account may read, page by page. A cursor names the last event that was read, and is encrypted
//! for the account: that of another account or store, or of an event that a restored database does not have, is refused.

use super::content::Content;
use super::store;
use crate::webhooks::{EventKind, Webhooks};
use platform::ids::AccountId;
use platform::text::hex;
use thiserror::Error;

const CURSOR: &str = "event cursor";

/// Some of the events after a cursor, oldest first.
#[derive(Debug)]
pub struct EventPage {
    pub events: Vec<Content>,
    /// Where the next page starts.
    pub cursor: String,
    pub has_more: bool,
}

/// Where to start.
#[derive(Clone, Copy, Debug)]
pub enum After<'a> {
    /// At the oldest event that is retained.
    Start,
    /// After the newest event.
    Latest,
    Cursor(&'a str),
}

/// Why events cannot be listed.
#[derive(Debug, Error)]
pub enum LogError {
    #[error("this is no cursor")]
    Malformed,
    #[error("the cursor is not part of the history of this account and this store")]
    Lost,
    #[error(transparent)]
    Store(#[from] sqlx::Error),
}

impl Webhooks {
    /// Lists the next events that an account may see.
    pub async fn list_events(
        &self,
        account: AccountId,
        after: After<'_>,
        kinds: &[EventKind],
        take: usize,
    ) -> Result<EventPage, LogError> {
        let mut position = match after {
            After::Start => (0, String::new()),
            After::Latest => {
                let newest = store::find_newest(&self.db, account).await?;
                let position = newest.map_or((0, String::new()), |newest| (newest.sequence, newest.id));
                return Ok(EventPage {
                    events: Vec::new(),
                    cursor: self.cursor(account, &position),
                    has_more: false,
                });
            }
            After::Cursor(text) => self.open_cursor(account, text).await?,
        };
        let mut found = store::list(&self.db, account, position.0, kinds, take + 1).await?;
        let has_more = found.len() > take;
        found.truncate(take);
        let mut events = Vec::with_capacity(found.len());
        for event in found {
            events.extend(self.content(account, &event).await?);
            position = (event.sequence, event.id);
        }
        Ok(EventPage {
            events,
            cursor: self.cursor(account, &position),
            has_more,
        })
    }

    fn cursor(&self, account: AccountId, (sequence, id): &(i64, String)) -> String {
        let text = format!("{sequence} {id}");
        hex(&self.secret.encrypt(CURSOR, account.0.as_bytes(), text.as_bytes()))
    }

    async fn open_cursor(&self, account: AccountId, text: &str) -> Result<(i64, String), LogError> {
        let bytes = parse_hex(text).ok_or(LogError::Malformed)?;
        let text = self.secret.decrypt(CURSOR, account.0.as_bytes(), &bytes);
        let text = text
            .and_then(|text| String::from_utf8(text).ok())
            .ok_or(LogError::Lost)?;
        let (sequence, id) = text.split_once(' ').ok_or(LogError::Lost)?;
        let sequence = sequence.parse().map_err(|_| LogError::Lost)?;
        if sequence > 0 && store::find_id(&self.db, account, sequence).await?.as_deref() != Some(id) {
            return Err(LogError::Lost);
        }
        Ok((sequence, id.to_owned()))
    }
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || text.len() > 1_000 || !text.is_ascii() {
        return None;
    }
    let digits = text.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}
