//! Who calls, and how often: a handler that takes `PublicKey<Details>` cannot run without a key that may.

use crate::app::App;
use crate::http::error::Error;
use crate::http::request_record::RequestRecord;
use access::keys::{Class, Key, Kind, SentKey, State};
use access::limits::shares::Visitor;
use access::limits::window::Verdict;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use listener::{ClientAddress, client_network};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;
use uuid::Uuid;

/// A public key that was judged for one call of a class.
#[derive(Debug)]
pub struct PublicKey<C> {
    pub key: Arc<Key>,
    class: PhantomData<C>,
}

/// A class of calls as a type, for [`PublicKey`] and [`Credentials`](super::credentials::Credentials).
pub trait Counted: Send {
    const CLASS: Class;
}

macro_rules! counted {
    ($($(#[$doc:meta])* $class:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $class;

            impl Counted for $class {
                const CLASS: Class = Class::$class;
            }
        )*
    };
}

counted! {
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
}

impl<C: Counted> FromRequestParts<App> for PublicKey<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let query = parts.uri.query().unwrap_or_default();
        let text = match api_key(query) {
            Ok(text) => text,
            Err(fault) => {
                refuse_private(app, query).await?;
                return Err(fault);
            }
        };
        let text = SentKey::parse(&text).ok_or(Error::InvalidKey)?;
        if text.kind() == Kind::Private {
            app.exposures.report(text).await;
            return Err(Error::PrivateKeyExposed);
        }
        let key = app.keys.find(text).await?.ok_or(Error::InvalidKey)?;
        let record = parts.extensions.get::<Arc<RequestRecord>>();
        record.inspect(|record| _ = record.key.set(key.id));
        match key.state_at(|| app.clock.millis()) {
            State::Active => {}
            State::Blocked => return Err(Error::BlockedKey),
            State::Revoked => return Err(Error::InvalidKey),
        }
        let class = C::CLASS;
        let per_minute = key.per_minute(class, &app.config.limits);
        let address = parts.extensions.get().map(|ClientAddress(address)| *address);
        let visitor = app.limiter.visitor(&address.map(client_network));
        admit(app, parts, class, key.id.0, per_minute, visitor)?;
        Ok(PublicKey {
            key,
            class: PhantomData,
        })
    }
}

/// Flags every private key among the values of `apiKey`, and refuses the call that sent one.
pub async fn refuse_private(app: &App, query: &str) -> Result<(), Error> {
    let mut seen = false;
    for value in super::params::values(query, "apiKey") {
        if let Some(text) = SentKey::parse(&value).filter(|text| text.kind() == Kind::Private) {
            app.exposures.report(text).await;
            seen = true;
        }
    }
    match seen {
        true => Err(Error::PrivateKeyExposed),
        false => Ok(()),
    }
}

/// Judges a call of a key, or of an account, and notes what its limit said.
pub fn admit(
    app: &App,
    parts: &Parts,
    class: Class,
    counted: Uuid,
    per_minute: u32,
    visitor: Visitor,
) -> Result<(), Error> {
    let verdict = judge(app, class, counted, per_minute, visitor);
    let record = parts.extensions.get::<Arc<RequestRecord>>();
    record.inspect(|record| _ = record.limit.set((class, per_minute, verdict)));
    admitted(class, per_minute, verdict)
}

/// What a limit says to one more call.
pub fn judge(app: &App, class: Class, counted: Uuid, per_minute: u32, visitor: Visitor) -> Verdict {
    let now = app.clock.instant();
    app.limiter
        .admit(counted.as_u128(), class as u32, now, per_minute, visitor)
}

pub fn admitted(class: Class, per_minute: u32, verdict: Verdict) -> Result<(), Error> {
    match verdict.admitted {
        true => Ok(()),
        false => Err(Error::RateLimited {
            class,
            per_minute,
            verdict,
        }),
    }
}

/// The value of `apiKey` in a query. Twice is refused: a proxy and we might read different ones.
fn api_key(query: &str) -> Result<Cow<'_, str>, Error> {
    let mut values = super::params::values(query, "apiKey");
    let key = values
        .next()
        .filter(|key| !key.is_empty())
        .ok_or(Error::MissingKey)?;
    match values.next() {
        None => Ok(key),
        Some(_) => Err(Error::InvalidParameter(
            "apiKey is given twice; send it once".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_found_wherever_it_stands_in_the_query() {
        assert_eq!(api_key("apiKey=x").unwrap(), "x");
        assert_eq!(api_key("take=5&apiKey=x%79&page=1").unwrap(), "xy");
    }

    #[test]
    fn a_key_that_is_missing_or_doubled_is_told_apart() {
        assert!(matches!(api_key(""), Err(Error::MissingKey)));
        assert!(matches!(api_key("apiKey="), Err(Error::MissingKey)));
        assert!(matches!(api_key("apikey=x"), Err(Error::MissingKey)));
        assert!(matches!(
            api_key("apiKey=x&apiKey=x"),
            Err(Error::InvalidParameter(_))
        ));
    }
}
