//! The extractor of account credentials: HTTP Basic authentication (RFC 7617) with a public key as the username and a
//! private key of the same account as the password.
//!
//! All invalid pairs get the same error, so a response does not reveal which half was wrong. Both halves are always
//! looked up, and a private key by its SHA-256, so no comparison of a secret ends early.

use super::public_key::{self, RateLimitClass, check_limit, reject_private_keys};
use crate::app::App;
use crate::app::admission::Payer;
use crate::http::error::Error;
use crate::http::request_record::RequestRecord;
use crate::http::routing::charge;
use access::keys::{Class, Key, KeyText, Kind, SentKey, State};
use access::limits::call::{Call, Owner};
use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use platform::ids::{AccountId, KeyId};
use std::marker::PhantomData;
use std::sync::Arc;

const SCHEME: &[u8] = b"basic";

/// The maximum length of two keys with a colon between them.
const MAX_PAIR_LENGTH: usize = KeyText::MAX_PUBLIC_LENGTH + 1 + KeyText::LENGTH;
/// The maximum length of a pair in base64.
const MAX_ENCODED_LENGTH: usize = MAX_PAIR_LENGTH.div_ceil(3) * 4;

/// The public and private key of one account that authenticated a request of a class.
///
/// Create requests count against the limit of the account, all others against that of the public key.
#[derive(Debug)]
pub struct Credentials<C> {
    pub account: AccountId,
    pub public_key: KeyId,
    pub private_key: KeyId,
    creates_per_minute: u32,
    class: PhantomData<C>,
}

impl<C> Credentials<C> {
    /// Counts the request against the create limit too.
    pub async fn count_as_create(&self, app: &App) -> Result<(), Error> {
        let call = Call {
            owner: Owner::Account(self.account),
            class: Class::Create,
            per_minute: self.creates_per_minute,
            address: None,
        };
        let decision = app.access.limiter.admit(&call, app.clock.instant()).await;
        public_key::to_result(call.class, &decision)
    }
}

impl<C: RateLimitClass> FromRequestParts<App> for Credentials<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        reject_private_keys(app, parts.uri.query().unwrap_or_default()).await?;
        let sent = pair(&parts.headers)?;
        let (username, password) = sent.keys().ok_or(Error::InvalidCredentials)?;
        // One of the keys may have been revoked since the store last responded.
        if app.availability.is_stale() {
            return Err(Error::Unavailable);
        }
        let public = app.access.keys.find(username).await?;
        let private = app.access.keys.find(password).await?;
        let (public, private) = check_pair(public, private, app.clock.millis())?;
        let record = parts.extensions.get::<Arc<RequestRecord>>();
        record.inspect(|record| {
            _ = record.key.set(public.id);
            _ = record.private_key.set(private.id);
        });
        let own = private.limits[Class::Create as usize].or(public.limits[Class::Create as usize]);
        let creates_per_minute = own.unwrap_or_else(|| app.limits().of_class(Class::Create));
        let class = C::CLASS;
        let (owner, per_minute) = match class {
            Class::Create => (Owner::Account(public.account), creates_per_minute),
            _ => (Owner::Key(public.id), public.per_minute(class, &app.limits())),
        };
        let call = Call {
            owner,
            class,
            per_minute,
            // The limit per address of a public key is for the visitors of a page. These requests come from the servers
            // of its owner.
            address: None,
        };
        check_limit(app, parts, &call).await?;
        charge(&parts.extensions, Payer::Account(public.account))?;
        Ok(Credentials {
            account: public.account,
            public_key: public.id,
            private_key: private.id,
            creates_per_minute,
            class: PhantomData,
        })
    }
}

/// Checks that the two keys belong to one account and are active. Only the owner of both learns that one is blocked.
fn check_pair(
    public: Option<Arc<Key>>,
    private: Option<Arc<Key>>,
    now: i64,
) -> Result<(Arc<Key>, Arc<Key>), Error> {
    let (Some(public), Some(private)) = (public, private) else {
        return Err(Error::InvalidCredentials);
    };
    let states = [public.state_at(|| now), private.state_at(|| now)];
    if public.account != private.account || states.contains(&State::Revoked) {
        return Err(Error::InvalidCredentials);
    }
    if states.contains(&State::Blocked) {
        Err(Error::BlockedKey)
    } else {
        Ok((public, private))
    }
}

/// The decoded header, which is not longer than two keys and a colon.
struct Pair {
    bytes: [u8; MAX_ENCODED_LENGTH / 4 * 3],
    length: usize,
}

impl Pair {
    /// Returns the public and the private key if both have a valid form and checksum.
    fn keys(&self) -> Option<(SentKey<'_>, SentKey<'_>)> {
        let (username, password) = std::str::from_utf8(&self.bytes[..self.length])
            .ok()?
            .split_once(':')?;
        let (username, password) = (SentKey::parse(username)?, SentKey::parse(password)?);
        (username.kind() == Kind::Public && password.kind() == Kind::Private).then_some((username, password))
    }
}

fn pair(headers: &HeaderMap) -> Result<Pair, Error> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let first = sent.next().ok_or(Error::MissingCredentials)?;
    let pair = match sent.next() {
        None => decode(first),
        Some(_) => None,
    };
    pair.ok_or(Error::InvalidCredentials)
}

fn decode(header: &HeaderValue) -> Option<Pair> {
    let (scheme, rest) = header.as_bytes().split_at_checked(SCHEME.len())?;
    let encoded = rest.trim_ascii_start();
    if !scheme.eq_ignore_ascii_case(SCHEME)
        || encoded.len() == rest.len()
        || encoded.len() > MAX_ENCODED_LENGTH
    {
        return None;
    }
    let mut bytes = [0; MAX_ENCODED_LENGTH / 4 * 3];
    let length = STANDARD.decode_slice(encoded, &mut bytes).ok()?;
    Some(Pair { bytes, length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys() -> (KeyText, KeyText) {
        (KeyText::generate(Kind::Public), KeyText::generate(Kind::Private))
    }

    fn read(value: impl AsRef<[u8]>) -> Result<(String, String), Error> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_bytes(value.as_ref()).unwrap());
        let pair = pair(&headers)?;
        let (username, password) = pair.keys().ok_or(Error::InvalidCredentials)?;
        Ok((username.expose().to_owned(), password.expose().to_owned()))
    }

    fn basic(pair: &str) -> String {
        format!("Basic {}", STANDARD.encode(pair))
    }

    #[test]
    fn the_username_is_a_public_key_and_the_password_a_private_one() {
        let (public, private) = keys();
        let (public, private) = (public.expose(), private.expose());
        let sent = basic(&format!("{public}:{private}"));
        for value in [
            sent.clone(),
            sent.replace("Basic", "bASIC"),
            sent.replace(' ', "  "),
        ] {
            let (username, password) = read(value).unwrap();
            assert_eq!((username.as_str(), password.as_str()), (public, private));
        }
    }

    #[test]
    fn all_invalid_headers_get_the_same_error() {
        let (public, private) = keys();
        let (public, private) = (public.expose(), private.expose());
        let right = basic(&format!("{public}:{private}"));
        for wrong in [
            String::new(),
            "Basic".to_owned(),
            "Basic ".to_owned(),
            "Basic:".to_owned(),
            right.replace(' ', ""),
            right.replace("Basic", "Bearer"),
            right.replace('=', ""),
            format!("{right}="),
            right.replacen(' ', " !", 1),
            format!("Basic {public}:{private}"),
            basic(&format!("{public}{private}:")),
            basic(&format!("{public};{private}")),
            basic(&format!("{private}:{public}")),
            basic(&format!("{public}:{public}")),
            basic(&format!("{public} :{private}")),
            basic(&format!("{public}: {private}")),
            basic(&format!("{}:{private}", public.to_uppercase())),
            basic(&format!("{public}:{}", private.to_lowercase())),
            format!("Basic {}", "QUJD".repeat(16_384)),
        ] {
            assert!(
                matches!(read(&wrong), Err(Error::InvalidCredentials)),
                "{wrong:.100}"
            );
        }
    }

    #[test]
    fn a_missing_header_and_two_headers_get_different_errors() {
        assert!(matches!(pair(&HeaderMap::new()), Err(Error::MissingCredentials)));
        let (public, private) = keys();
        let right = basic(&format!("{}:{}", public.expose(), private.expose()));
        let mut headers = HeaderMap::new();
        for _ in 0..2 {
            headers.append(AUTHORIZATION, right.parse().unwrap());
        }
        assert!(matches!(pair(&headers), Err(Error::InvalidCredentials)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_rejected_without_a_panic(bytes in prop::collection::vec(32..=255_u8, 0..200)) {
            prop_assume!(HeaderValue::from_bytes(&bytes).is_ok());
            prop_assert!(read(&bytes).is_err());
            prop_assert!(read([b"Basic ", STANDARD.encode(&bytes).as_bytes()].concat()).is_err());
        }
    }
}
