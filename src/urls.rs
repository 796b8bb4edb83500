//! The addresses of pages and pictures, as answers name them.

use crate::ids::FundraiserId;
use crate::media::hosting::is_hosted_id;
use crate::nonprofits::Nonprofit;

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

    /// The hosted id and the address of a nonprofit's logo: its own, or a monogram.
    pub fn logo(&self, nonprofit: &Nonprofit<'_>) -> (String, String) {
        self.picture(format!("logo-{}", nonprofit.id), nonprofit.logo)
    }

    /// The hosted id and the address of a nonprofit's cover: its own, or a generated one.
    pub fn cover(&self, nonprofit: &Nonprofit<'_>) -> (String, String) {
        self.picture(format!("cover-{}", nonprofit.id), nonprofit.cover)
    }

    /// The hosted id and the address of a fundraiser's cover: a hosted picture, or a drawn one.
    pub fn fundraiser_cover(&self, id: FundraiserId, hosted: Option<&str>) -> (String, String) {
        let hosted_id = hosted.map_or_else(|| format!("fundraiser-{id}"), str::to_owned);
        self.picture(hosted_id, None)
    }

    /// The hosted id and the address of a cause's picture.
    pub fn cause_picture(&self, name: &str) -> (String, String) {
        self.picture(format!("cause-{name}"), None)
    }

    /// The address of a picture that is served here.
    pub fn media(&self, hosted_id: &str) -> String {
        format!("{}/media/{hosted_id}", self.public)
    }

    /// A nonprofit's own picture is one that was sent to us, or the address of one elsewhere.
    fn picture(&self, drawn_id: String, own: Option<&str>) -> (String, String) {
        match own {
            Some(own) if is_hosted_id(own) => (own.to_owned(), self.media(own)),
            Some(own) => (drawn_id, own.to_owned()),
            None => {
                let url = self.media(&drawn_id);
                (drawn_id, url)
            }
        }
    }
}

/// A picture that is served here, without the host: the nonprofit's own where it was sent to us, else a drawn one.
fn here(drawn_id: &str, own: Option<&str>) -> String {
    let hosted = own.filter(|own| is_hosted_id(own));
    format!("/media/{}", hosted.unwrap_or(drawn_id))
}
