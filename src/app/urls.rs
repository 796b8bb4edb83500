//! The URLs of pages and pictures.

use directory::nonprofits::Nonprofit;
use pictures::drawn::card::ShareCard;
use platform::hosted::is_hosted_id;
use platform::ids::FundraiserId;

/// Builds URLs under the public URL of this server.
#[derive(Clone, Debug)]
pub struct Urls {
    public: String,
}

impl Urls {
    /// Creates a builder for a public URL without a trailing slash.
    pub fn new(public: &str) -> Urls {
        Urls {
            public: public.to_owned(),
        }
    }

    /// Returns the URL of a path, which begins with a slash.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.public)
    }

    /// Returns the path of the logo for our own pages, which load nothing from other hosts.
    pub fn logo_path(nonprofit: &Nonprofit<'_>) -> String {
        local_path(&format!("logo-{}", nonprofit.id), nonprofit.logo)
    }

    /// Returns the path of the cover for our own pages.
    pub fn cover_path(nonprofit: &Nonprofit<'_>) -> String {
        local_path(&format!("cover-{}", nonprofit.id), nonprofit.cover)
    }

    /// Returns the public URL, with which all URLs begin.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// Returns the URL of the page of a nonprofit.
    pub fn profile(&self, slug: &str) -> String {
        format!("{}/{slug}", self.public)
    }

    /// Returns the URL of the page of a fundraiser; `nonprofit` is the slug of the nonprofit that it supports.
    pub fn fundraiser(&self, nonprofit: &str, slug: &str) -> String {
        format!("{}/{nonprofit}/f/{slug}", self.public)
    }

    /// Returns the URL of a fundraiser in the API.
    pub fn fundraiser_api(&self, nonprofit: &str, slug: &str) -> String {
        format!("{}/v0.2/nonprofit/{nonprofit}/fundraiser/{slug}", self.public)
    }

    /// Returns the URL of the page of a cause.
    pub fn cause(&self, name: &str) -> String {
        format!("{}/causes/{name}", self.public)
    }

    /// Returns the URL of the logo of a nonprofit: its own, here or on another host, or a monogram.
    pub fn logo(&self, nonprofit: &Nonprofit<'_>) -> String {
        let external = nonprofit.logo.filter(|own| !is_hosted_id(own));
        external.map_or_else(|| self.page(&Urls::logo_path(nonprofit)), str::to_owned)
    }

    /// Returns the hosted ID and the URL of the cover of a fundraiser: its own, or a generated one.
    pub fn fundraiser_cover(&self, id: FundraiserId, hosted: Option<&str>) -> (String, String) {
        let hosted_id = hosted.map_or_else(|| format!("fundraiser-{id}"), str::to_owned);
        self.hosted(hosted_id)
    }

    /// Returns the hosted ID and the URL of the picture of a cause.
    pub fn cause_picture(&self, name: &str) -> (String, String) {
        self.hosted(format!("cause-{name}"))
    }

    /// Returns the URL of the share card of the page at `path`. It changes with the card.
    pub fn share_card(&self, path: &str, card: &ShareCard) -> String {
        let extension = card.kind().extension();
        self.page(&format!("/share{path}.{extension}?v={}", card.tag()))
    }

    fn hosted(&self, id: String) -> (String, String) {
        let url = self.page(&format!("/media/{id}"));
        (id, url)
    }
}

/// Returns the path of a picture that is served here: the own picture if it is hosted here, or else a generated one.
fn local_path(drawn_id: &str, own: Option<&str>) -> String {
    let hosted = own.filter(|own| is_hosted_id(own));
    format!("/media/{}", hosted.unwrap_or(drawn_id))
}
