//! Saves the last known keys to a file, so that a server can start and answer reads while its database is down.
//!
//! The file has public keys as text and private keys as SHA-256 hashes, like the database. It names the store that the
//! keys belong to and the time at which they were last compared with it. The first line is a checksum of the rest.

use super::ring::{KeyRing, Keys};
use super::{Class, Key, Kind, State};
use platform::data_folder;
use platform::ids::{AccountId, KeyId};
use platform::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::Mutex;
use uuid::Uuid;

/// The version of the format. A file with another one is not used.
const FORMAT: u32 = 1;

/// How old the time in the file may become while the keys do not change, in milliseconds.
const CONFIRM_INTERVAL_MILLIS: i64 = 60_000;

/// The file in the data folder, next to the snapshot.
pub fn path(data: &Path) -> PathBuf {
    data.join("directory").join("keys")
}

/// The keys in a file.
#[derive(Debug)]
pub struct SavedKeys {
    /// The ID of the store that the keys belong to.
    pub store: Uuid,
    /// When the keys were last compared with the store, in milliseconds since the Unix epoch.
    pub confirmed_at: i64,
    pub keys: Keys,
}

/// The reason why a file cannot be used.
#[derive(Debug, Error)]
pub enum SavedKeysError {
    #[error("could not read the saved keys")]
    Io(#[from] io::Error),
    #[error("the saved keys are damaged, or another version wrote them")]
    Unusable,
}

#[derive(Deserialize, Serialize)]
struct Document {
    format: u32,
    store: Uuid,
    confirmed_at: i64,
    keys: Vec<Record>,
}

#[derive(Deserialize, Serialize)]
struct Record {
    id: Uuid,
    account: Uuid,
    is_operator: bool,
    /// The text of a public key.
    #[serde(skip_serializing_if = "Option::is_none")]
    public: Option<String>,
    /// The hash of a private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<[u8; 32]>,
    state: String,
    exposed: bool,
    ends_at: Option<i64>,
    limits: BTreeMap<String, u32>,
    address_limit: Option<u32>,
}

impl SavedKeys {
    /// Reads a file. Returns `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<SavedKeys>, SavedKeysError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        decode(&bytes).map(Some).ok_or(SavedKeysError::Unusable)
    }
}

/// Saves the keys of a running server when they change, and at intervals that they are still current.
#[derive(Debug)]
pub struct KeySaver {
    path: PathBuf,
    store: Uuid,
    /// What was saved last, and when it was confirmed.
    saved: Mutex<Option<(Arc<Keys>, i64)>>,
}

impl KeySaver {
    /// `data` is the data folder, and `store` the ID of the store.
    pub fn new(data: &Path, store: Uuid) -> KeySaver {
        KeySaver {
            path: path(data),
            store,
            saved: Mutex::default(),
        }
    }

    /// Saves the keys, unless the file has them and is recent. They were last compared with the store at `confirmed_at`, in
    /// milliseconds since the Unix epoch.
    pub async fn save(&self, ring: &KeyRing, confirmed_at: i64) -> io::Result<()> {
        let keys = ring.keys();
        let mut saved = self.saved.lock().await;
        let is_current = saved.as_ref().is_some_and(|(last, last_confirmed_at)| {
            Arc::ptr_eq(last, &keys) && confirmed_at - last_confirmed_at < CONFIRM_INTERVAL_MILLIS
        });
        if is_current || keys.is_saved {
            return Ok(());
        }
        let (path, store, written) = (self.path.clone(), self.store, Arc::clone(&keys));
        let write = move || {
            if let Some(folder) = path.parent() {
                data_folder::create_folder(folder)?;
            }
            data_folder::replace_file(&path, &encode(store, confirmed_at, &written)?)
        };
        tokio::task::spawn_blocking(write)
            .await
            .map_err(io::Error::other)??;
        *saved = Some((keys, confirmed_at));
        Ok(())
    }
}

fn encode(store: Uuid, confirmed_at: i64, keys: &Keys) -> io::Result<Vec<u8>> {
    let public = keys
        .public
        .iter()
        .map(|(text, key)| record(key, Some(text.to_string()), None));
    let private = keys
        .private
        .iter()
        .map(|(hash, key)| record(key, None, Some(*hash)));
    let mut records: Vec<Record> = public.chain(private).collect();
    records.sort_unstable_by_key(|record| record.id);
    let document = serde_json::to_vec(&Document {
        format: FORMAT,
        store,
        confirmed_at,
        keys: records,
    })?;
    let mut bytes = format!("{}\n", hex(&Sha256::digest(&document))).into_bytes();
    bytes.extend(document);
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Option<SavedKeys> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (checksum, document) = (&bytes[..end], &bytes[end + 1..]);
    if checksum != hex(&Sha256::digest(document)).as_bytes() {
        return None;
    }
    let document: Document = serde_json::from_slice(document).ok()?;
    if document.format != FORMAT {
        return None;
    }
    let mut keys = Keys {
        is_saved: true,
        ..Keys::default()
    };
    for record in document.keys {
        match (&record.public, record.hash) {
            (Some(text), None) => {
                let text = text.as_str().into();
                keys.public.insert(text, Arc::new(key(&record, Kind::Public)?));
            }
            (None, Some(hash)) => {
                keys.private.insert(hash, Arc::new(key(&record, Kind::Private)?));
            }
            _ => return None,
        }
    }
    Some(SavedKeys {
        store: document.store,
        confirmed_at: document.confirmed_at,
        keys,
    })
}

fn record(key: &Key, public: Option<String>, hash: Option<[u8; 32]>) -> Record {
    let limits = Class::ALL.into_iter().filter_map(|class| {
        let per_minute = key.limits[class as usize]?;
        Some((class.name().to_owned(), per_minute))
    });
    Record {
        id: key.id.0,
        account: key.account.0,
        is_operator: key.is_operator,
        public,
        hash,
        state: key.state.as_str().to_owned(),
        exposed: key.exposed,
        ends_at: key.ends_at,
        limits: limits.collect(),
        address_limit: key.address_limit,
    }
}

fn key(record: &Record, kind: Kind) -> Option<Key> {
    let states = [State::Active, State::Blocked, State::Revoked];
    let mut key = Key {
        id: KeyId(record.id),
        account: AccountId(record.account),
        is_operator: record.is_operator,
        kind,
        state: states.into_iter().find(|state| state.as_str() == record.state)?,
        exposed: record.exposed,
        ends_at: record.ends_at,
        limits: Default::default(),
        address_limit: record.address_limit,
    };
    for (class, per_minute) in &record.limits {
        key.limits[Class::find(class)? as usize] = Some(*per_minute);
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        let mut keys = Keys::default();
        for (number, state) in [State::Active, State::Blocked, State::Revoked]
            .into_iter()
            .enumerate()
        {
            let mut key = Key {
                id: KeyId(Uuid::now_v7()),
                account: AccountId(Uuid::now_v7()),
                is_operator: number == 1,
                kind: Kind::Public,
                state,
                exposed: false,
                ends_at: (number == 2).then_some(7),
                limits: Default::default(),
                address_limit: Some(60),
            };
            key.limits[Class::Search as usize] = Some(5_000);
            keys.public
                .insert(format!("public {number}").into(), Arc::new(key.clone()));
            key.id = KeyId(Uuid::now_v7());
            key.kind = Kind::Private;
            key.exposed = true;
            keys.private.insert([number as u8; 32], Arc::new(key));
        }
        keys
    }

    #[test]
    fn saved_keys_are_read_back_as_they_were() {
        let (store, keys) = (Uuid::now_v7(), keys());
        let read = decode(&encode(store, 42, &keys).unwrap()).unwrap();
        assert_eq!((read.store, read.confirmed_at), (store, 42));
        assert_eq!(read.keys.public, keys.public);
        assert_eq!(read.keys.private, keys.private);
    }

    #[test]
    fn a_changed_bit_anywhere_makes_the_file_unusable() {
        let bytes = encode(Uuid::now_v7(), 42, &keys()).unwrap();
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(decode(&damaged).is_none(), "at {position}");
        }
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_none(), "of length {length}");
        }
    }

    #[test]
    fn a_missing_file_is_no_error_and_a_damaged_one_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        assert!(matches!(SavedKeys::read(&file), Ok(None)));
        fs::write(&file, b"nothing\n{}").unwrap();
        assert!(matches!(SavedKeys::read(&file), Err(SavedKeysError::Unusable)));
    }
}
