//! The extractor of public keys: a handler that takes `PublicKey<Details>` only runs for a valid key within its rate
//! limit.

use crate::app::App;
use crate::app::admission::Payer;
use crate::http::client::Client;
use crate::http::error::Error;
use crate::http::request_record::RequestRecord;
use crate::http::routing::charge;
use access::keys::{Class, Key, Kind, SentKey, State};
use access::limits::call::{AddressLimit, Call, Decision, Owner};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// A valid public key, within its rate limit for requests of a class.
#[derive(Debug)]
pub struct PublicKey<C> {
    pub key: Arc<Key>,
    class: PhantomData<C>,
}

/// A class of requests as a type, for [`PublicKey`] and [`Credentials`](super::credentials::Credentials).
pub trait RateLimitClass: Send {
    const CLASS: Class;
}

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $class;

            impl RateLimitClass for $class {
                const CLASS: Class = Class::$class;
            }
        )*
    };
}

classes! {
    /// Lookups of one nonprofit.
    Details,
    /// Searches.
    Search,
    /// Pages of a cause.
    Browse,
    /// The list of causes.
    Causes,
    /// Reads of fundraisers.
    Fundraisers,
    /// Creating fundraisers.
    Create,
    /// Matching lists of nonprofits.
    Match,
    /// Exporting the directory.
    Export,
    /// Managing webhook endpoints.
    Webhooks,
    /// Reading events and donations.
    Events,
}

impl<C: RateLimitClass> FromRequestParts<App> for PublicKey<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let key = find_key(parts, app).await?;
        let call = Call {
            owner: Owner::Key(key.id),
            class: C::CLASS,
            per_minute: key.per_minute(C::CLASS, &app.limits()),
            address: key.address_limit.map(|per_minute| AddressLimit {
                network: Client::of_request(&parts.extensions).network.addr(),
                per_minute,
            }),
        };
        check_limit(app, parts, &call).await?;
        charge(&parts.extensions, Payer::Key(key.id))?;
        Ok(PublicKey {
            key,
            class: PhantomData,
        })
    }
}

/// Finds the public key of a request, and refuses one that is not valid. The request does not count against a limit.
pub async fn find_key(parts: &Parts, app: &App) -> Result<Arc<Key>, Error> {
    let query = parts.uri.query().unwrap_or_default();
    let text = match (api_key(query), bearer(app, &parts.headers)) {
        (Ok(text), _) => text,
        (Err(Error::MissingKey), Some(text)) => Cow::Borrowed(text),
        (Err(error), _) => {
            reject_private_keys(app, query).await?;
            return Err(error);
        }
    };
    let text = SentKey::parse(&text).ok_or(Error::InvalidKey)?;
    if text.kind() == Kind::Private {
        app.access.exposures.report(text).await;
        return Err(Error::PrivateKeyExposed);
    }
    if app.availability.is_too_stale_to_read() {
        return Err(Error::Unavailable);
    }
    let key = app.access.keys.find(text).await?.ok_or(Error::InvalidKey)?;
    let record = parts.extensions.get::<Arc<RequestRecord>>();
    record.inspect(|record| _ = record.key.set(key.id));
    match key.state_at(|| app.clock.millis()) {
        State::Active => Ok(key),
        State::Blocked => Err(Error::BlockedKey),
        State::Revoked => Err(Error::InvalidKey),
    }
}

/// A public key, or none: existing clients read some things without one, if the settings allow them to.
#[derive(Debug)]
pub struct OptionalKey<C>(PhantomData<C>);

impl<C: RateLimitClass> FromRequestParts<App> for OptionalKey<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        match PublicKey::<C>::from_request_parts(parts, app).await {
            Ok(_) => {}
            Err(Error::MissingKey | Error::InvalidKey) if app.config.compat.existing_clients => {
                let call = Call {
                    owner: Client::of_request(&parts.extensions).owner(),
                    class: C::CLASS,
                    per_minute: app.limits().anonymous,
                    address: None,
                };
                check_limit(app, parts, &call).await?;
            }
            Err(error) => return Err(error),
        }
        Ok(OptionalKey(PhantomData))
    }
}

/// Returns the public key in `Authorization: Bearer`, if the settings allow existing clients to send it there. A private
/// key is not exposed in a header, but it is not accepted there either.
fn bearer<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    if !app.config.compat.existing_clients {
        return None;
    }
    let (scheme, key) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let is_private = |key: &str| SentKey::parse(key).is_some_and(|key| key.kind() == Kind::Private);
    let key = scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())?;
    (!is_private(key)).then_some(key)
}

/// Reports every private key among the values of `apiKey` as exposed, and rejects a request with one.
pub async fn reject_private_keys(app: &App, query: &str) -> Result<(), Error> {
    let mut is_exposed = false;
    for value in super::params::values(query, "apiKey") {
        if let Some(text) = SentKey::parse(&value).filter(|text| text.kind() == Kind::Private) {
            app.access.exposures.report(text).await;
            is_exposed = true;
        }
    }
    if is_exposed {
        Err(Error::PrivateKeyExposed)
    } else {
        Ok(())
    }
}

/// Counts a request against its limits, and records the decision for the response headers.
pub async fn check_limit(app: &App, parts: &Parts, call: &Call) -> Result<(), Error> {
    let decision = app.access.limiter.admit(call, app.clock.instant()).await;
    let record = parts.extensions.get::<Arc<RequestRecord>>();
    record.inspect(|record| _ = record.limit.set((call.class, decision)));
    to_result(call.class, &decision)
}

/// Converts a decision into an error if the request was not admitted: the one of the limit with the longer wait.
pub fn to_result(class: Class, decision: &Decision) -> Result<(), Error> {
    match decision.address {
        _ if decision.is_admitted() => Ok(()),
        Some(verdict) if verdict.retry_after > decision.owner.retry_after => {
            Err(Error::AddressLimited { verdict })
        }
        _ => Err(Error::RateLimited {
            class,
            verdict: decision.owner,
        }),
    }
}

/// Returns the value of `apiKey` in a query. Two values are rejected, because a proxy and this server might read
/// different ones.
fn api_key(query: &str) -> Result<Cow<'_, str>, Error> {
    let mut values = super::params::values(query, "apiKey");
    let key = values
        .next()
        .filter(|key| !key.is_empty())
        .ok_or(Error::MissingKey)?;
    match values.next() {
        None => Ok(key),
        Some(_) => Err(Error::InvalidParameter(
            "The URL has more than one apiKey. Send it once.".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_found_anywhere_in_the_query() {
        assert_eq!(api_key("apiKey=x").unwrap(), "x");
        assert_eq!(api_key("take=5&apiKey=x%79&page=1").unwrap(), "xy");
    }

    #[test]
    fn a_missing_key_and_a_repeated_key_get_different_errors() {
        assert!(matches!(api_key(""), Err(Error::MissingKey)));
        assert!(matches!(api_key("apiKey="), Err(Error::MissingKey)));
        assert!(matches!(api_key("apikey=x"), Err(Error::MissingKey)));
        assert!(matches!(
            api_key("apiKey=x&apiKey=x"),
            Err(Error::InvalidParameter(_))
        ));
    }
}
