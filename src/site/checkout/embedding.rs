//! The checkout in a dialog on the page of a partner.
//!
//! The parameter `embed` names the origin of that page. If its owner has proven it, and only then, the pages of the
//! checkout may be shown in a frame there; all other pages never may. Without a proven origin the parameter means nothing.

use crate::app::App;
use crate::http::error::Result;
use crate::http::params::values;
use access::origins::{Origin, store};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The name of the parameter.
pub const PARAMETER: &str = "embed";

/// The origin of a page that may show the checkout in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedder(Origin);

impl Embedder {
    /// Returns the embedder that a query names, if its origin may show the checkout.
    pub async fn find(app: &App, query: &str) -> Result<Option<Embedder>> {
        match values(query, PARAMETER).next() {
            Some(origin) => Embedder::admit(app, &origin).await,
            None => Ok(None),
        }
    }

    /// Returns an origin as an embedder, if it may show the checkout: its owner has proven it, or an operator allowed it.
    pub async fn admit(app: &App, origin: &str) -> Result<Option<Embedder>> {
        let Ok(origin) = Origin::parse(origin) else {
            return Ok(None);
        };
        let needs_no_proof = app.trusts_localhost() && origin.is_localhost();
        let is_usable = store::is_usable(&app.db, &origin, needs_no_proof).await?;
        Ok(is_usable.then_some(Embedder(origin)))
    }

    pub fn origin(&self) -> &Origin {
        &self.0
    }

    /// Adds the parameter to a path without a query.
    pub fn add_to(&self, path: &str) -> String {
        let origin = utf8_percent_encode(self.0.as_str(), NON_ALPHANUMERIC);
        format!("{path}?{PARAMETER}={origin}")
    }
}
