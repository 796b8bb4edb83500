//! Why a search found what it found: the part of a search response that `explain=1` adds.

use crate::app::App;
use crate::app::bulk_work::Slice;
use crate::http::client::Client;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::switch;
use crate::http::public_key::{PublicKey, Search};
use crate::http::session;
use access::limits::call::Owner;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use directory::View;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::size::Size;
use directory::query::diagnosis::{Diagnosis, MAX_CONSIDERED};
use directory::query::ein_status::{EinStatus, Listing};
use directory::query::filter::{FilterField, SearchFilter};
use platform::clock::rfc3339;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Who may send a search: anybody with a public key, or, to have it explained, the owner of a private key or a signed-in
/// operator.
#[derive(Debug)]
pub struct SearchAccess {
    /// Who has the search explained, if anyone does.
    pub explain_for: Option<Owner>,
}

impl FromRequestParts<App> for SearchAccess {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        // Nearly all searches are without, and each keystroke is one.
        let explain = query.contains("explain") && switch(query, "explain")?;
        if !explain {
            PublicKey::<Search>::from_request_parts(parts, app).await?;
            return Ok(SearchAccess { explain_for: None });
        }
        let owner = match Credentials::<Search>::from_request_parts(parts, app).await {
            Ok(credentials) => Owner::Key(credentials.public_key),
            Err(error) => {
                let is_operator = matches!(error, Error::MissingCredentials)
                    && session::find(app, &parts.headers)
                        .await?
                        .is_some_and(|user| user.operator);
                if !is_operator {
                    return Err(error);
                }
                Client::of_request(&parts.extensions).owner()
            }
        };
        Ok(SearchAccess {
            explain_for: Some(owner),
        })
    }
}

/// Why a search found what it found.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExplanationBody {
    /// The words that no nonprofit has, as typed.
    pub unknown_words: Vec<String>,
    /// The words that were read as others, because they seem to have a typo.
    pub typos: Vec<TypoBody>,
    /// The words that the results may lack, because no nonprofit has all words.
    pub dropped_words: Vec<String>,
    /// What the kinds of nonprofits are called as which the words were read, because hardly any nonprofit has all words.
    pub kinds: Vec<String>,
    /// Each filter of the request.
    pub filters: Vec<FilterBody>,
    /// What is known about the EIN. Only if the search term is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ein: Option<EinBody>,
}

/// A word that was read as another one.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypoBody {
    #[schema(example = "docters")]
    pub typed: String,
    #[schema(example = "doctors")]
    pub read_as: String,
}

/// What a filter removed.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilterBody {
    /// The parameter: causes, state, city, disbursable or near.
    #[schema(example = "state")]
    pub name: String,
    #[schema(example = "OR")]
    pub value: String,
    /// How many of the first 50 results without this filter it removed.
    pub removed: usize,
}

/// What is known about an EIN.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EinBody {
    #[schema(example = "530196605")]
    pub ein: String,
    /// `listed`: it is in the directory. `gone`: it is no longer in the IRS files. `revoked`: it is not in the directory,
    /// and the IRS revoked its tax exemption. `too_new`: other IRS files have it, but not yet the master file.
    /// `not_listed`: no file has it.
    #[schema(example = "revoked")]
    pub status: String,
    /// When the IRS revoked its tax exemption, if it was not reinstated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "2015-05-15", nullable = false, format = Date)]
    pub revoked_on: Option<String>,
    /// The date of the import that did not have it any more, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = Date)]
    pub gone_on: Option<String>,
    /// The date of the last import of the master file, in UTC. Omitted if nothing was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "2026-11-16", nullable = false, format = Date)]
    pub as_of: Option<String>,
}

impl ExplanationBody {
    /// Explains the results of a search. `place` is the ZIP code or position of the filter, as sent.
    pub async fn new(
        app: &App,
        owner: Owner,
        view: &Arc<View>,
        term: &str,
        filter: &SearchFilter,
        place: Option<String>,
    ) -> Result<ExplanationBody> {
        let (of_view, text, of_filter) = (Arc::clone(view), term.to_owned(), filter.clone());
        let diagnose = move |_: &Slice| Some(of_view.diagnose(&text, &of_filter));
        let diagnosis = app.bulk_work.run(owner, diagnose).await?;
        let ein = match Ein::parse_lenient(term) {
            Some(ein) => {
                let imports = app.caches.provenance.list(&app.db, view.revision).await?;
                Some(EinStatus::find(&app.db, view, &imports, ein).await?)
            }
            None => None,
        };
        Ok(ExplanationBody::of(diagnosis, filter, place, ein.as_ref()))
    }

    fn of(
        diagnosis: Diagnosis,
        filter: &SearchFilter,
        place: Option<String>,
        ein: Option<&EinStatus>,
    ) -> ExplanationBody {
        const { assert!(MAX_CONSIDERED == 50, "the description says so") };
        let typo = |(typed, read_as)| TypoBody { typed, read_as };
        let mut place = place;
        let filters = diagnosis.removed.into_iter().map(|(field, removed)| {
            let (name, value) = match field {
                FilterField::Causes => ("causes", filter.causes.join(",")),
                FilterField::State => ("state", filter.state.clone().unwrap_or_default()),
                FilterField::City => ("city", filter.city.clone().unwrap_or_default()),
                FilterField::Size => ("size", filter.size.map_or("", Size::name).to_owned()),
                FilterField::Disbursable => ("disbursable", "1".to_owned()),
                FilterField::Deductible => ("deductible", "1".to_owned()),
                FilterField::Near => ("near", place.take().unwrap_or_default()),
            };
            FilterBody {
                name: name.to_owned(),
                value,
                removed,
            }
        });
        ExplanationBody {
            unknown_words: diagnosis.unknown_words,
            typos: diagnosis.typos.into_iter().map(typo).collect(),
            dropped_words: diagnosis.dropped_words,
            kinds: diagnosis.kinds,
            filters: filters.collect(),
            ein: ein.map(EinBody::new),
        }
    }
}

impl EinBody {
    fn new(status: &EinStatus) -> EinBody {
        let day = |millis: i64| rfc3339(millis)[..10].to_owned();
        let revoked_on = status.revoked_on();
        let name = match status.listing {
            Listing::Listed => "listed",
            Listing::NotListed if revoked_on.is_some() => "revoked",
            Listing::Gone(_) => "gone",
            Listing::TooNew => "too_new",
            Listing::NotListed => "not_listed",
        };
        EinBody {
            ein: status.ein.to_string(),
            status: name.to_owned(),
            revoked_on: revoked_on.map(|day| day.to_string()),
            gone_on: match status.listing {
                Listing::Gone(at) => Some(day(at)),
                _ => None,
            },
            as_of: status.as_of.map(day),
        }
    }
}
