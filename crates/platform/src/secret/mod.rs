//! The secret of a store: 32 random bytes in a file next to the database, for what the database alone must not reveal.
//!
//! A copy of the database, or an export of the ledger, can then not be matched against a list of email addresses. The
//! database has a fingerprint of the secret, so that a lost or wrong file is noticed at the start and not later, when
//! known donors are no longer recognized.

mod store;

use crate::data_folder;
use crate::db::{Db, Tx};
use crate::text::hex;
use anyhow::{Context, bail};
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The name of the file in the data folder.
pub const FILE_NAME: &str = "secret";
const LENGTH: usize = 32;
/// The bytes of a signature.
const SIGNATURE_LENGTH: usize = 16;

/// The secret of a store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoreSecret(Arc<SecretBox<[u8; LENGTH]>>);

impl StoreSecret {
    /// Reads the secret from its file. At the first start it is generated, and its fingerprint stored.
    ///
    /// # Errors
    ///
    /// If the file is missing or damaged, or has the secret of another store.
    pub async fn open(db: &Db, path: &Path) -> anyhow::Result<StoreSecret> {
        let stored = store::find(db).await?;
        if stored.is_some() {
            return find_matching(path, stored.as_deref());
        }
        let mut tx = db.write().await?;
        // If several processes start at once, one generates the secret and the others wait for it here.
        let stored = store::lock(&mut tx).await?;
        if stored.is_some() {
            return find_matching(path, stored.as_deref());
        }
        let secret = match find(path)? {
            Some(secret) => secret,
            None => create(path)?,
        };
        store::update(&mut tx, &secret.fingerprint()).await?;
        tx.commit().await?;
        Ok(secret)
    }

    /// Checks that the file has the secret of a store, and creates nothing. Returns `false` if the store has no secret yet.
    pub async fn check(db: &Db, path: &Path) -> anyhow::Result<bool> {
        match store::find(db).await? {
            Some(stored) => find_matching(path, Some(&stored)).map(|_| true),
            None => Ok(false),
        }
    }

    /// Reads the secret from its file while the store, and with it the fingerprint, is unavailable.
    ///
    /// # Errors
    ///
    /// If the file is missing or damaged.
    pub fn read_unchecked(path: &Path) -> anyhow::Result<StoreSecret> {
        find(path)?.with_context(|| {
            format!(
                "the secret {} is missing; restore it from a backup, or copy it from another server of this database",
                path.display()
            )
        })
    }

    /// Generates a new secret in place of one that is lost.
    ///
    /// # Errors
    ///
    /// If the file exists.
    pub async fn replace(tx: &mut Tx, path: &Path) -> anyhow::Result<StoreSecret> {
        let stored = store::lock(tx).await?;
        if let Some(secret) = find(path)? {
            if stored == Some(secret.fingerprint()) {
                bail!(
                    "the secret {} is not lost; there is nothing to replace",
                    path.display()
                );
            }
            bail!(
                "{} is the secret of another store; move it elsewhere and run this command again",
                path.display()
            );
        }
        let secret = create(path)?;
        store::update(tx, &secret.fingerprint()).await?;
        Ok(secret)
    }

    /// Returns an HMAC-SHA-256 of a message. HMACs for different purposes are unrelated.
    pub fn authenticate(&self, purpose: &str, message: &[u8]) -> [u8; 32] {
        self.mac(purpose, message).finalize().into_bytes().into()
    }

    /// Returns a signature of a message as 32 hexadecimal digits, for a link or a form.
    pub fn sign(&self, purpose: &str, message: &[u8]) -> String {
        hex(&self.authenticate(purpose, message)[..SIGNATURE_LENGTH])
    }

    /// Returns whether [`StoreSecret::sign`] has returned this signature for this message. The time that it takes says
    /// nothing about the right signature.
    pub fn is_signed(&self, purpose: &str, message: &[u8], signature: &str) -> bool {
        let bytes = parse_hex::<SIGNATURE_LENGTH>(signature);
        bytes.is_some_and(|bytes| self.mac(purpose, message).verify_truncated_left(&bytes).is_ok())
    }

    fn mac(&self, purpose: &str, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose_secret()).expect("any length is valid");
        mac.update(&(purpose.len() as u64).to_be_bytes());
        mac.update(purpose.as_bytes());
        mac.update(message);
        mac
    }

    /// Encrypts and authenticates a text for the database. It can only be decrypted with the same purpose and context,
    /// such as the ID of the row, so that a row is of no use in place of another one.
    pub fn encrypt(&self, purpose: &str, context: &[u8], text: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).expect("the system has random bytes");
        let mut sealed = text.to_vec();
        self.cipher(purpose)
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(context),
                &mut sealed,
            )
            .expect("the text is short");
        [nonce.as_slice(), &sealed].concat()
    }

    /// Decrypts what [`StoreSecret::encrypt`] returned. Returns `None` if it was changed or belongs elsewhere, or if this
    /// is another secret.
    pub fn decrypt(&self, purpose: &str, context: &[u8], encrypted: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = encrypted.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let text = self
            .cipher(purpose)
            .open_in_place(nonce, Aad::from(context), &mut sealed);
        text.ok().map(|text| text.to_vec())
    }

    fn cipher(&self, purpose: &str) -> LessSafeKey {
        let key = self.authenticate("encryption", purpose.as_bytes());
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).expect("the key has the right length");
        LessSafeKey::new(key)
    }

    /// Returns whether this is the same secret.
    pub fn is_same(&self, other: &StoreSecret) -> bool {
        self.fingerprint() == other.fingerprint()
    }

    fn fingerprint(&self) -> String {
        hex(&self.authenticate("fingerprint", b"")[..16])
    }

    fn parse(text: &str) -> Option<StoreSecret> {
        let bytes = parse_hex::<LENGTH>(text.trim_end())?;
        Some(StoreSecret(Arc::new(SecretBox::new(Box::new(bytes)))))
    }
}

/// Parses two hexadecimal digits for each byte.
fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

/// Reads the secret that has the stored fingerprint.
fn find_matching(path: &Path, stored: Option<&str>) -> anyhow::Result<StoreSecret> {
    let name = path.display();
    let Some(secret) = find(path)? else {
        bail!(
            "the secret {name} of this database is missing; restore it from a backup, or copy it from another server \
             of this database; if it is lost, run causeway secret replace"
        );
    };
    if stored != Some(secret.fingerprint().as_str()) {
        bail!(
            "{name} is not the secret of this database; restore the right one from a backup, or copy it from another \
             server of this database"
        );
    }
    Ok(secret)
}

fn find(path: &Path) -> anyhow::Result<Option<StoreSecret>> {
    let name = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let context = format!("could not read the secret {name}; run this as the user of the server");
            return Err(error).context(context);
        }
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(path)?.permissions().mode() & 0o007 != 0 {
            bail!("other users can read the secret {name}; run: chmod 600 {name}");
        }
    }
    match StoreSecret::parse(&text) {
        Some(secret) => Ok(Some(secret)),
        None => bail!("the secret {name} is damaged; restore it from a backup"),
    }
}

/// Generates a secret and writes it to a file. The file is complete and survives a power failure before the
/// fingerprint is committed.
fn create(path: &Path) -> anyhow::Result<StoreSecret> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).context("could not get random bytes from the operating system")?;
    let text = hex(&bytes);
    data_folder::replace_file(path, format!("{text}\n").as_bytes()).with_context(|| {
        format!(
            "could not write the secret {}; check that its folder exists and is writable",
            path.display()
        )
    })?;
    StoreSecret::parse(&text).context("a new secret is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hmac_depends_on_the_secret_and_the_purpose() {
        let secret = StoreSecret::parse(&"0b".repeat(LENGTH)).unwrap();
        let (one, other) = (
            secret.authenticate("donor", b"ada@example.org"),
            secret.authenticate("receipt", b"ada@example.org"),
        );
        assert_ne!(one, other);
        assert_ne!(secret.authenticate("ab", b"c"), secret.authenticate("a", b"bc"));
        // python3: hmac.new(bytes([11]) * 32, (5).to_bytes(8, "big") + b"donor" + b"ada@example.org", "sha256")
        assert_eq!(
            hex(&one),
            "6b3876dad3f262ac6003e067a9249331714fba25f845af17ec49d41efe808fad"
        );
    }

    #[test]
    fn a_text_is_decrypted_only_with_its_secret_purpose_and_context() {
        let secret = StoreSecret::parse(&"0b".repeat(LENGTH)).unwrap();
        let encrypted = secret.encrypt("code", b"ada", b"hush");
        assert_eq!(
            secret.decrypt("code", b"ada", &encrypted).as_deref(),
            Some(&b"hush"[..])
        );
        assert_ne!(secret.encrypt("code", b"ada", b"hush"), encrypted);
        assert_eq!(secret.decrypt("code", b"bob", &encrypted), None);
        assert_eq!(secret.decrypt("other", b"ada", &encrypted), None);
        let other = StoreSecret::parse(&"0c".repeat(LENGTH)).unwrap();
        assert_eq!(other.decrypt("code", b"ada", &encrypted), None);
        for at in 0..encrypted.len() {
            let mut changed = encrypted.clone();
            changed[at] ^= 1;
            assert_eq!(secret.decrypt("code", b"ada", &changed), None);
            assert_eq!(secret.decrypt("code", b"ada", &encrypted[..at]), None);
        }
    }

    #[test]
    fn a_secret_is_64_hexadecimal_digits() {
        assert!(StoreSecret::parse(&format!("{}\n", "0f".repeat(LENGTH))).is_some());
        for bad in [
            "",
            "0f",
            &"0g".repeat(LENGTH),
            &"0f".repeat(LENGTH + 1),
            &"é".repeat(LENGTH),
        ] {
            assert!(StoreSecret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_secret_is_not_in_debug_output() {
        let secret = StoreSecret::parse(&"0f".repeat(LENGTH)).unwrap();
        assert!(!format!("{secret:?}").contains("15"));
    }

    #[test]
    fn a_new_secret_is_a_file_of_its_owner_and_different_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let created = create(&one).unwrap();
        assert_eq!(find(&one).unwrap().unwrap().fingerprint(), created.fingerprint());
        assert_ne!(create(&other).unwrap().fingerprint(), created.fingerprint());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |mode| fs::Permissions::from_mode(mode);
            assert_eq!(fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&one, mode(0o644)).unwrap();
            assert!(find(&one).unwrap_err().to_string().contains("chmod 600"));
        }
    }
}
