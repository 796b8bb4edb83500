//! Signatures of anchors (Ed25519).
//!
//! Whoever can write to the database and to the place of the anchors can rewrite the ledger and its anchors alike. A
//! signature prevents that, if its key is where neither of them is: a server may have the key, or only know the public one
//! and leave it to another machine to write anchors.

use super::{Anchor, AnchorSettings};
use anyhow::{Context, bail};
use platform::text::hex;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

const SEED_LENGTH: usize = 32;
const PUBLIC_KEY_LENGTH: usize = 32;

/// The keys that anchors are signed and verified with. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct AnchorKeys {
    signing: Option<Arc<Ed25519KeyPair>>,
    public: Option<[u8; PUBLIC_KEY_LENGTH]>,
}

impl AnchorKeys {
    /// Reads the keys that the settings name.
    ///
    /// # Errors
    ///
    /// If a key is missing or damaged, others can read the signing key, or the two keys do not belong together.
    pub fn load(settings: &AnchorSettings) -> anyhow::Result<AnchorKeys> {
        let mut keys = AnchorKeys::default();
        if !settings.public_key.is_empty() {
            let public = parse::<PUBLIC_KEY_LENGTH>(&settings.public_key);
            keys.public =
                Some(public.context(
                    "anchors.public_key is not 64 hexadecimal digits; causeway anchor key prints it",
                )?);
        }
        if settings.signing_key_file.is_empty() {
            return Ok(keys);
        }
        let pair = read_signing_key(Path::new(&settings.signing_key_file))?;
        let public: [u8; PUBLIC_KEY_LENGTH] = pair.public_key().as_ref().try_into()?;
        if keys.public.is_some_and(|known| known != public) {
            bail!(
                "anchors.public_key is not that of the key in anchors.signing_key_file; causeway anchor key prints the right one"
            );
        }
        keys.public = Some(public);
        keys.signing = Some(Arc::new(pair));
        Ok(keys)
    }

    /// Creates a signing key in a file that does not exist yet. Returns its public key in hexadecimal digits.
    pub fn create(path: &Path) -> anyhow::Result<String> {
        let mut seed = [0; SEED_LENGTH];
        getrandom::fill(&mut seed).context("could not get random bytes from the operating system")?;
        let context = || {
            format!(
                "could not create {}; choose a file that does not exist",
                path.display()
            )
        };
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(path);
        let mut file = file.with_context(context)?;
        file.write_all(format!("{}\n", hex(&seed)).as_bytes())
            .and_then(|()| file.sync_all())
            .with_context(context)?;
        AnchorKeys::public_key_of(path)
    }

    /// Returns the public key of a signing key, in hexadecimal digits.
    pub fn public_key_of(path: &Path) -> anyhow::Result<String> {
        Ok(hex(read_signing_key(path)?.public_key().as_ref()))
    }

    /// Returns whether this process may write anchors: either it has the signing key, or anchors are not signed.
    pub(super) fn can_write(&self) -> bool {
        self.public.is_none() || self.signing.is_some()
    }

    /// Returns whether anchors have to be signed.
    pub(super) fn are_required(&self) -> bool {
        self.public.is_some()
    }

    /// Signs an anchor, if there is a key.
    pub(super) fn sign(&self, anchor: &mut Anchor) {
        let signing = self.signing.as_ref();
        anchor.signature = signing.map(|key| hex(key.sign(&anchor.message()).as_ref()));
    }

    /// Returns whether an anchor is signed with the key. Without a key, every anchor counts as signed.
    pub(super) fn is_signed(&self, anchor: &Anchor) -> bool {
        let Some(public) = &self.public else {
            return true;
        };
        let signature = anchor.signature.as_deref().and_then(parse::<64>);
        signature.is_some_and(|signature| {
            UnparsedPublicKey::new(&ED25519, public)
                .verify(&anchor.message(), &signature)
                .is_ok()
        })
    }
}

fn read_signing_key(path: &Path) -> anyhow::Result<Ed25519KeyPair> {
    let name = path.display();
    let text = fs::read_to_string(path).with_context(|| {
        format!(
            "could not read anchors.signing_key_file {name}; create the key with causeway anchor key {name}"
        )
    })?;
    if fs::metadata(path)?.permissions().mode() & 0o007 != 0 {
        bail!("other users can read the signing key {name}; run: chmod 600 {name}");
    }
    let seed = parse::<SEED_LENGTH>(text.trim_end());
    let seed = seed.with_context(|| {
        format!("{name} is not a signing key, 64 hexadecimal digits; restore it from where you keep it")
    })?;
    Ed25519KeyPair::from_seed_unchecked(&seed)
        .map_err(|error| anyhow::anyhow!("{name} is not a signing key: {error}; restore it"))
}

/// Parses two hexadecimal digits for each byte.
fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn settings(file: &Path, public_key: &str) -> AnchorSettings {
        AnchorSettings {
            signing_key_file: file.display().to_string(),
            public_key: public_key.to_owned(),
            ..AnchorSettings::default()
        }
    }

    #[test]
    fn only_the_signing_key_signs_and_everybody_with_the_public_key_verifies() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let public = AnchorKeys::create(&file).unwrap();
        assert!(AnchorKeys::create(&file).is_err(), "overwrote a key");
        let signer = AnchorKeys::load(&settings(&file, "")).unwrap();
        let verifier = AnchorKeys::load(&AnchorSettings {
            public_key: public.clone(),
            ..AnchorSettings::default()
        })
        .unwrap();
        assert!(signer.can_write() && !verifier.can_write() && AnchorKeys::default().can_write());
        let mut anchor = Anchor {
            store: Uuid::from_u128(7),
            entries: 3,
            hash: [1; 32],
            at: 5_000,
            signature: None,
        };
        assert!(AnchorKeys::default().is_signed(&anchor) && !verifier.is_signed(&anchor));
        signer.sign(&mut anchor);
        assert!(verifier.is_signed(&Anchor::from_json(&anchor.to_json()).unwrap()));
        for changed in [
            Anchor {
                entries: 2,
                ..anchor.clone()
            },
            Anchor {
                hash: [2; 32],
                ..anchor.clone()
            },
            Anchor {
                at: 6_000,
                ..anchor.clone()
            },
            Anchor {
                store: Uuid::from_u128(8),
                ..anchor.clone()
            },
        ] {
            assert!(!verifier.is_signed(&changed), "{changed:?}");
        }
        let other = folder.path().join("other");
        let other_public = AnchorKeys::create(&other).unwrap();
        let error = AnchorKeys::load(&settings(&file, &other_public)).unwrap_err();
        assert!(
            error.to_string().contains("anchors.public_key is not that"),
            "{error}"
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = AnchorKeys::load(&settings(&file, &public)).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}
