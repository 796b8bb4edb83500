//! The addresses of pages and pictures, as answers name them.

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

    /// An address of ours as our own pages write it: without the host.
    pub fn local<'a>(&self, url: &'a str) -> &'a str {
        url.strip_prefix(&self.public).unwrap_or(url)
    }

    /// The page of a nonprofit.
    pub fn profile(&self, slug: &str) -> String {
        format!("{}/{slug}", self.public)
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

    /// The hosted id and the address of a cause's picture.
    pub fn cause_picture(&self, name: &str) -> (String, String) {
        self.picture(format!("cause-{name}"), None)
    }

    fn picture(&self, hosted_id: String, own: Option<&str>) -> (String, String) {
        let url = own.map_or_else(|| format!("{}/media/{hosted_id}", self.public), str::to_owned);
        (hosted_id, url)
    }
}
