//! Where a nonprofit accepts donations itself, for servers that accept none.

use crate::app::App;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::store::find_donate_url;
use giving::providers::link::own_donate_url;

/// A link to another website.
#[derive(Debug)]
pub struct Website {
    pub url: String,
    pub host: String,
}

/// Where a nonprofit accepts donations itself. `site/checkout/own_site.html` shows it.
#[derive(Debug)]
pub enum OwnSite {
    DonatePage(Website),
    Website(Website),
    Unknown,
}

impl OwnSite {
    /// Finds the page on which a nonprofit accepts donations, or else its website.
    pub async fn find(app: &App, nonprofit: &Nonprofit<'_>) -> sqlx::Result<OwnSite> {
        let donate_url = find_donate_url(&app.db, nonprofit.id).await?;
        Ok(OwnSite::new(nonprofit, donate_url.as_deref()))
    }

    /// Returns the page at a template that the operator has imported, or else the website.
    pub fn new(nonprofit: &Nonprofit<'_>, donate_url: Option<&str>) -> OwnSite {
        let ein = nonprofit.ein.map(|ein| ein.to_string()).unwrap_or_default();
        let donate_url = donate_url.map(|url| own_donate_url(url, &ein, nonprofit.slug));
        if let Some(page) = donate_url.as_deref().and_then(Website::new) {
            return OwnSite::DonatePage(page);
        }
        match nonprofit.website_url.and_then(Website::new) {
            Some(website) => OwnSite::Website(website),
            None => OwnSite::Unknown,
        }
    }
}

impl Website {
    /// Returns the link, or `None` if the URL is not an `http` or `https` URL.
    pub fn new(url: &str) -> Option<Website> {
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        Some(Website {
            url: url.to_owned(),
            host: host.strip_prefix("www.").unwrap_or(host).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_urls_become_links() {
        assert_eq!(
            Website::new("https://www.redcross.org/give?x").unwrap().host,
            "redcross.org"
        );
        for url in ["javascript:alert(1)", "data:text/html,x", "//evil", ""] {
            assert!(Website::new(url).is_none(), "{url}");
        }
    }
}
