//! The addresses of pages and pictures, as answers name them.

use directory::nonprofits::Nonprofit;
use pictures::drawn::card::ShareCard;
use platform::hosted::is_hosted_id;
use platform::ids::FundraiserId;

/// Makes addresses under the public one.
#[derive(Clone, Debug)]
pub struct Urls {
    public: String,
}

impl Urls {
    /// `public` has no slash at its end.
    pub fn new(public: &str) -> Urls {
        Urls {
            public: public.to_owned(),
        }
    }

    /// A page of ours by its path, which begins with a slash.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.public)
    }

    /// The logo as our own pages show it: they load nothing from elsewhere.
    pub fn logo_here(nonprofit: &Nonprofit<'_>) -> String {
        here(&format!("logo-{}", nonprofit.id), nonprofit.logo)
    }

    /// The cover as our own pages show it.
    pub fn cover_here(nonprofit: &Nonprofit<'_>) -> String {
        here(&format!("cover-{}", nonprofit.id), nonprofit.cover)
    }

    /// What all addresses begin with.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The page of a nonprofit.
    pub fn profile(&self, slug: &str) -> String {
        format!("{}/{slug}", self.public)
    }

    /// The page of a fundraiser; `nonprofit` is the slug of the nonprofit it is for.
    pub fn fundraiser(&self, nonprofit: &str, slug: &str) -> String {
        format!("{}/{nonprofit}/f/{slug}", self.public)
    }

    /// Where the interface reads a fundraiser.
    pub fn fundraiser_read(&self, nonprofit: &str, slug: &str) -> String {
        format!("{}/v0.2/nonprofit/{nonprofit}/fundraiser/{slug}", self.public)
    }

    /// The page of a cause.
    pub fn cause(&self, name: &str) -> String {
        format!("{}/causes/{name}", self.public)
    }

    /// The address of a nonprofit's logo: its own, wherever that is, or a monogram.
    pub fn logo(&self, nonprofit: &Nonprofit<'_>) -> String {
        let elsewhere = nonprofit.logo.filter(|own| !is_hosted_id(own));
        elsewhere.map_or_else(|| self.page(&Urls::logo_here(nonprofit)), str::to_owned)
    }

    /// The hosted id and the address of a fundraiser's cover: a hosted picture, or a drawn one.
    pub fn fundraiser_cover(&self, id: FundraiserId, hosted: Option<&str>) -> (String, String) {
        let hosted_id = hosted.map_or_else(|| format!("fundraiser-{id}"), str::to_owned);
        self.hosted(hosted_id)
    }

    /// The hosted id and the address of a cause's picture.
    pub fn cause_picture(&self, name: &str) -> (String, String) {
        self.hosted(format!("cause-{name}"))
    }

    /// The share card of the page at `path`; the URL changes with the card.
    pub fn share_card(&self, path: &str, card: &ShareCard) -> String {
        self.page(&format!("/share{path}.png?v={}", card.tag()))
    }

    fn hosted(&self, id: String) -> (String, String) {
        let address = self.page(&format!("/media/{id}"));
        (id, address)
    }
}

/// A picture that is served here, without the host: the nonprofit's own where it was sent to us, else a drawn one.
fn here(drawn_id: &str, own: Option<&str>) -> String {
    let hosted = own.filter(|own| is_hosted_id(own));
    format!("/media/{}", hosted.unwrap_or(drawn_id))
}
