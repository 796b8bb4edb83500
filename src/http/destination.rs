//! Where a visitor goes after signing up or in: the page that asked for it, which all forms and links on the way carry as
//! `next`.

use crate::app::App;
use crate::http::params;
use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use std::convert::Infallible;

/// The dashboard page that a visitor wants to see, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Destination(Option<String>);

impl Destination {
    /// A path outside the dashboard is ignored, so that no link can send people elsewhere.
    pub fn new(path: &str) -> Destination {
        Destination(
            Some(path)
                .filter(|path| is_dashboard_path(path))
                .map(str::to_owned),
        )
    }

    /// Returns the page of a request for which a visitor has to sign in.
    pub fn of_request(parts: &Parts) -> Destination {
        if parts.method != Method::GET {
            return Destination::default();
        }
        let path = parts.uri.path_and_query().map(PathAndQuery::as_str);
        let path = path.filter(|path| is_dashboard_path(path));
        Destination::new(path.unwrap_or(parts.uri.path()))
    }

    /// Returns the path for the hidden field of a form; empty if there is none.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the path, or another one if there is none.
    pub fn or<'a>(&'a self, otherwise: &'a str) -> &'a str {
        self.0.as_deref().unwrap_or(otherwise)
    }

    /// Adds the destination to the URL of a page on the way.
    pub fn add_to(&self, url: &str) -> String {
        let Some(path) = &self.0 else {
            return url.to_owned();
        };
        let separator = if url.contains('?') { '&' } else { '?' };
        let path = path.replace('?', "%3F").replace('=', "%3D");
        format!("{url}{separator}next={path}")
    }
}

impl FromRequestParts<App> for Destination {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Destination, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let next = params::values(query, "next").next();
        Ok(Destination::new(&next.unwrap_or_default()))
    }
}

/// Returns whether this is the path of a dashboard page, with at most one simple parameter.
fn is_dashboard_path(path: &str) -> bool {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    path.starts_with("/dashboard/")
        && path.bytes().all(|byte| is_word(byte) || byte == b'/')
        && query.bytes().all(|byte| is_word(byte) || byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dashboard_paths_are_destinations() {
        for good in [
            "/dashboard/keys/0190-abc",
            "/dashboard/fundraisers/new?nonprofit=american-red-cross",
        ] {
            assert_eq!(Destination::new(good).or("/"), good);
        }
        for bad in [
            "",
            "/dashboard",
            "//evil.example",
            "/dashboard/..//evil",
            "/dashboard/\\evil",
            "https://evil.example/dashboard/",
            "/dashboard/?next=//x",
            "/dashboard/?a=b&c=d",
            "/dashboard/x?y?z",
            "/dashboard/%2f%2fevil",
        ] {
            assert_eq!(Destination::new(bad).or("/"), "/", "{bad}");
        }
    }

    #[test]
    fn links_carry_the_destination_with_its_parameter() {
        let path = "/dashboard/fundraisers/new?nonprofit=american-red-cross";
        for url in ["/dashboard/sign-up", "/dashboard/confirm?token=abc"] {
            let link = Destination::new(path).add_to(url);
            let (_, query) = link.split_once('?').unwrap();
            assert_eq!(params::values(query, "next").next().unwrap(), path);
            assert_eq!(Destination::default().add_to(url), url);
        }
    }
}
