//! Who asks for what only an account may do: HTTP Basic authentication (RFC 7617) with a public key as the name and
//! a private key of the same account as the password.
//!
//! Every other pair is refused in the same words, so an answer tells nothing about which half was wrong. Both halves
//! are looked up in any case, and a private key by its SHA-256: no comparison ends early on a secret.

use super::public_key::{self, Counted, admit, refuse_private};
use crate::app::App;
use crate::http::error::Error;
use crate::http::request_record::RequestRecord;
use access::keys::{Class, Key, KeyText, Kind, SentKey, State};
use access::limits::shares::Visitor;
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

/// Two keys with a colon between them, and the length of that in base64.
const PAIR: usize = 2 * KeyText::LENGTH + 1;
const ENCODED: usize = PAIR.div_ceil(3) * 4;

/// The two keys of one account that a privileged call of a class was made with.
///
/// Creating is counted for the account, all else for the public key.
#[derive(Debug)]
pub struct Credentials<C> {
    pub account: AccountId,
    pub public_key: KeyId,
    pub private_key: KeyId,
    creates_per_minute: u32,
    class: PhantomData<C>,
}

impl<C> Credentials<C> {
    /// Counts the call as one that creates, too.
    pub fn count_as_create(&self, app: &App) -> Result<(), Error> {
        let per_minute = self.creates_per_minute;
        let verdict = public_key::judge(app, Class::Create, self.account.0, per_minute, Visitor::UNKNOWN);
        public_key::admitted(Class::Create, per_minute, verdict)
    }
}

impl<C: Counted> FromRequestParts<App> for Credentials<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        refuse_private(app, parts.uri.query().unwrap_or_default()).await?;
        let sent = pair(&parts.headers)?;
        let (name, password) = sent.keys().ok_or(Error::InvalidCredentials)?;
        let public = app.keys.find(name).await?;
        let private = app.keys.find(password).await?;
        let (public, private) = judge(public, private, app.clock.millis())?;
        let record = parts.extensions.get::<Arc<RequestRecord>>();
        record.inspect(|record| {
            _ = record.key.set(public.id);
            _ = record.private_key.set(private.id);
        });
        let own = private.limits[Class::Create as usize].or(public.limits[Class::Create as usize]);
        let creates_per_minute = own.unwrap_or_else(|| app.config.limits.of_class(Class::Create));
        let class = C::CLASS;
        let (counted, per_minute) = match class {
            Class::Create => (public.account.0, creates_per_minute),
            _ => (public.id.0, public.per_minute(class, &app.config.limits)),
        };
        // Servers call, not visitors of a page: their calls are shared out among no addresses.
        admit(app, parts, class, counted, per_minute, Visitor::UNKNOWN)?;
        // The body behind it takes room in the name of the account.
        parts.extensions.insert(public.account);
        Ok(Credentials {
            account: public.account,
            public_key: public.id,
            private_key: private.id,
            creates_per_minute,
            class: PhantomData,
        })
    }
}

/// The two keys, where they belong together and both work. That one is blocked is told only to who has both.
fn judge(
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
    match states.contains(&State::Blocked) {
        true => Err(Error::BlockedKey),
        false => Ok((public, private)),
    }
}

/// What stood in the header, decoded. It is as long as two keys and a colon.
struct Pair([u8; PAIR]);

impl Pair {
    /// The two keys in their places, with their form and checksums right.
    fn keys(&self) -> Option<(SentKey<'_>, SentKey<'_>)> {
        let (name, password) = std::str::from_utf8(&self.0).ok()?.split_once(':')?;
        let (name, password) = (SentKey::parse(name)?, SentKey::parse(password)?);
        (name.kind() == Kind::Public && password.kind() == Kind::Private).then_some((name, password))
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
    if !scheme.eq_ignore_ascii_case(SCHEME) || encoded.len() == rest.len() || encoded.len() != ENCODED {
        return None;
    }
    // Room for the padding, which the decoder counts before it looks at it.
    let mut decoded = [0; ENCODED / 4 * 3];
    let length = STANDARD.decode_slice(encoded, &mut decoded).ok()?;
    Some(Pair(decoded[..length].try_into().ok()?))
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
        let (name, password) = pair.keys().ok_or(Error::InvalidCredentials)?;
        Ok((name.expose().to_owned(), password.expose().to_owned()))
    }

    fn basic(pair: &str) -> String {
        format!("Basic {}", STANDARD.encode(pair))
    }

    #[test]
    fn the_name_is_a_public_key_and_the_password_a_private_one() {
        let (public, private) = keys();
        let (public, private) = (public.expose(), private.expose());
        let sent = basic(&format!("{public}:{private}"));
        for value in [
            sent.clone(),
            sent.replace("Basic", "bASIC"),
            sent.replace(' ', "  "),
        ] {
            let (name, password) = read(value).unwrap();
            assert_eq!((name.as_str(), password.as_str()), (public, private));
        }
    }

    #[test]
    fn a_header_that_is_no_such_pair_is_refused_in_the_same_words() {
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
    fn no_header_and_two_headers_are_told_apart() {
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
        fn bytes_of_any_kind_are_judged_without_a_panic(bytes in prop::collection::vec(32..=255_u8, 0..200)) {
            prop_assume!(HeaderValue::from_bytes(&bytes).is_ok());
            prop_assert!(read(&bytes).is_err());
            prop_assert!(read([b"Basic ", STANDARD.encode(&bytes).as_bytes()].concat()).is_err());
        }
    }
}
