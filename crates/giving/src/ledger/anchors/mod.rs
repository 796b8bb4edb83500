//! Anchors: records outside the database of how far the ledger reached, and the hash of its last entry.
//!
//! The hash chain proves that no entry was changed, but not that none is missing at the end: an older copy of the database
//! has a valid ledger too. An anchor in another place proves that there were more entries.
//!
//! An anchor is evidence because of the place where it is stored. The database records up to which entry each place has
//! anchors, so one that was emptied is noticed, and a second place that does not allow deletion helps against somebody who
//! can change both. [Signatures](signing) help against somebody who can write to all of them.
//!
//! Every server compares the ledger with its anchors once per minute. One of them writes a new anchor if the ledger
//! grew; a claim in the database decides which.
//!
//! A loss that an operator accepts is recorded in the database for each anchor, with an HMAC. It belongs to the
//! restored database: if the lost copy is found again, nothing is excused there.

pub mod comparison;
pub mod log;
pub mod place;
pub mod signing;
mod store;
mod thinning;

use super::entry::Hash;
use jiff::Timestamp;
use platform::clock::rfc3339;
use platform::text::hex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where anchors are written to, in addition to the blob store.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AnchorSettings {
    /// A folder or the URL of a blob store. Empty for none.
    pub second_url: String,
    /// The file of the key that anchors are signed with. Empty for none.
    pub signing_key_file: String,
    /// The public key of anchors that another machine writes and signs. Empty for none.
    pub public_key: String,
}

/// How far the ledger of a store reached at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub store: Uuid,
    /// The sequence number of the last entry.
    pub entries: i64,
    /// The hash of the last entry.
    pub hash: Hash,
    pub at: i64,
    /// In hexadecimal digits.
    pub signature: Option<String>,
}

/// The JSON of an anchor.
#[derive(Serialize, Deserialize)]
struct AnchorJson {
    store: Uuid,
    entries: i64,
    hash: String,
    time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

impl Anchor {
    pub fn name(&self) -> AnchorName {
        AnchorName {
            minute: minute(self.at),
            entries: self.entries,
            hash_prefix: hash_prefix(&self.hash),
        }
    }

    pub fn to_json(&self) -> Vec<u8> {
        let json = AnchorJson {
            store: self.store,
            entries: self.entries,
            hash: hex(&self.hash),
            time: rfc3339(self.at),
            signature: self.signature.clone(),
        };
        let mut bytes = serde_json::to_vec(&json).expect("texts and numbers are valid JSON");
        bytes.push(b'\n');
        bytes
    }

    /// What is signed.
    fn message(&self) -> Vec<u8> {
        let (store, time) = (self.store, rfc3339(self.at));
        format!(
            "causeway anchor\n{store}\n{}\n{}\n{time}\n",
            self.entries,
            hex(&self.hash)
        )
        .into_bytes()
    }

    /// Reads an anchor back. Returns `None` if it is damaged.
    pub fn from_json(bytes: &[u8]) -> Option<Anchor> {
        let json: AnchorJson = serde_json::from_slice(bytes).ok()?;
        let time: Timestamp = json.time.parse().ok()?;
        Some(Anchor {
            store: json.store,
            entries: json.entries,
            hash: parse_hash(&json.hash)?,
            at: time.as_millisecond(),
            signature: json.signature,
        })
    }
}

/// The name of an anchor in its folder, which sorts by time and then by the number of entries. Servers that write the
/// same anchor within a minute choose the same name, and different anchors never have the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnchorName {
    /// Such as `2026-11-16T05-34Z`.
    pub minute: String,
    pub entries: i64,
    /// The first 16 hexadecimal digits of the hash.
    pub hash_prefix: String,
}

const EXTENSION: &str = ".json";
const MINUTE_LENGTH: usize = "2026-11-16T05-34Z".len();
const DAY_LENGTH: usize = "2026-11-16".len();

impl AnchorName {
    pub fn file_name(&self) -> String {
        format!(
            "{}-{:015}-{}{EXTENSION}",
            self.minute, self.entries, self.hash_prefix
        )
    }

    /// Reads the name of a file. Returns `None` if it is not the name of an anchor.
    pub fn parse(file_name: &str) -> Option<AnchorName> {
        let stem = file_name.strip_suffix(EXTENSION)?;
        let (minute, rest) = stem.split_at_checked(MINUTE_LENGTH)?;
        let (entries, hash_prefix) = rest.strip_prefix('-')?.split_once('-')?;
        Some(AnchorName {
            minute: minute.to_owned(),
            entries: entries.parse().ok()?,
            hash_prefix: hash_prefix.to_owned(),
        })
    }

    /// Such as `2026-11-16`.
    pub fn day(&self) -> &str {
        self.minute.get(..DAY_LENGTH).unwrap_or_default()
    }
}

/// Formats the minute of a time for names.
pub fn minute(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H-%MZ").to_string()
}

/// The digits of a hash that are part of names.
pub(crate) fn hash_prefix(hash: &Hash) -> String {
    hex(&hash[..8])
}

/// The folder of the anchors of a store.
pub fn folder(store: Uuid) -> String {
    format!("anchors/{}", store.simple())
}

fn parse_hash(text: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    if text.len() != 2 * hash.len() || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(entries: i64, at: i64) -> Anchor {
        Anchor {
            store: Uuid::from_u128(7),
            entries,
            hash: [0xab; 32],
            at,
            signature: None,
        }
    }

    #[test]
    fn an_anchor_is_read_back_from_its_json_and_its_name() {
        let anchor = anchor(984, 1_794_807_255_123);
        assert_eq!(Anchor::from_json(&anchor.to_json()), Some(anchor.clone()));
        let name = anchor.name();
        assert_eq!(
            name.file_name(),
            "2026-11-16T05-34Z-000000000000984-abababababababab.json"
        );
        assert_eq!(AnchorName::parse(&name.file_name()), Some(name.clone()));
        assert_eq!(name.day(), "2026-11-16");
        for damaged in ["", "{}", "{\"store\":1}", "é.json"] {
            assert_eq!(Anchor::from_json(damaged.as_bytes()), None);
            assert_eq!(AnchorName::parse(damaged), None);
        }
    }

    #[test]
    fn names_sort_by_time_and_then_by_the_number_of_entries() {
        const MINUTE: i64 = 60_000;
        let names = [(10, 0), (9, MINUTE), (99, MINUTE), (100, MINUTE), (1, 2 * MINUTE)];
        let names = names.map(|(entries, at)| anchor(entries, at).name().file_name());
        assert!(names.is_sorted(), "{names:?}");
    }
}
