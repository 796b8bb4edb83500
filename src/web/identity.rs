//! The identity of the site: its name, logo, colors, operator and legal texts, from the settings in `[site]`.
//!
//! Every page shows it, also error pages and pages whose handlers know nothing of the settings. So the outermost layer
//! makes the identity of its server the current one while a request is handled, in the same way as tracing does with
//! spans. The identity lives as long as the process.

use super::assets::{self, Asset};
use super::markdown;
use super::texts::{EN, Site as SiteTexts, Texts};
use crate::app::site::SiteFiles;
use crate::config::SiteSettings;
use std::cell::Cell;
use std::sync::{Arc, LazyLock};

/// Logos that are wider than this in relation to their height are taken to contain the name.
const WORDMARK_RATIO: u32 = 2;

/// What makes this site look and read as that of its operator.
#[derive(Debug)]
pub struct Identity {
    /// All texts, with the name of the site.
    pub texts: &'static Texts,
    /// Who runs the site, if the settings say so.
    pub operator: Option<String>,
    pub contact_email: Option<String>,
    logo: Option<Logo>,
    stylesheet: Option<Asset>,
    /// The texts of the operator as HTML. Without them the pages have their default texts.
    pub privacy: Option<Arc<str>>,
    pub terms: Option<Arc<str>>,
    pub about: Option<Arc<str>>,
}

#[derive(Debug)]
struct Logo {
    asset: Asset,
    is_wordmark: bool,
}

static DEFAULT: LazyLock<Identity> = LazyLock::new(|| Identity {
    texts: &EN,
    operator: None,
    contact_email: None,
    logo: None,
    stylesheet: None,
    privacy: None,
    terms: None,
    about: None,
});

thread_local! {
    static CURRENT: Cell<Option<&'static Identity>> = const { Cell::new(None) };
}

/// Returns the identity of the server that handles the current request.
pub fn current() -> &'static Identity {
    CURRENT.get().unwrap_or(&DEFAULT)
}

/// Makes an identity the current one of this thread until the guard is dropped.
#[must_use]
pub fn enter(identity: &'static Identity) -> Entered {
    Entered(CURRENT.replace(Some(identity)))
}

/// Restores the previous identity of the thread.
#[derive(Debug)]
pub struct Entered(Option<&'static Identity>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl Identity {
    /// Creates the identity from the settings. It is never freed, and the default one is shared.
    pub fn new(settings: &SiteSettings, files: &SiteFiles) -> &'static Identity {
        if *settings == SiteSettings::default() {
            return &DEFAULT;
        }
        let texts: &'static Texts = if settings.name == EN.site.name {
            &EN
        } else {
            let name: &'static str = settings.name.clone().leak();
            Box::leak(Box::new(Texts {
                site: SiteTexts { name, ..EN.site },
                ..EN
            }))
        };
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let html = |text: Option<&str>| text.map(markdown::render_trusted);
        Box::leak(Box::new(Identity {
            texts,
            operator: some(&settings.operator),
            contact_email: some(&settings.contact_email),
            logo: files.logo.as_ref().map(|picture| Logo {
                asset: Asset::new(
                    match picture.kind {
                        pictures::picture::Kind::Jpeg => "logo.jpg",
                        pictures::picture::Kind::Png => "logo.png",
                        pictures::picture::Kind::WebP => "logo.webp",
                    },
                    picture.kind.content_type(),
                    picture.bytes.clone().into(),
                ),
                is_wordmark: picture.width > picture.height * WORDMARK_RATIO,
            }),
            stylesheet: settings.accent_color.as_ref().map(Asset::stylesheet_with),
            privacy: html(files.privacy.as_deref()),
            terms: html(files.terms.as_deref()),
            about: html(files.about.as_deref()),
        }))
    }

    /// Iterates over the assets that only this site has, or has its own version of.
    pub(super) fn assets(&self) -> impl Iterator<Item = &Asset> {
        let logo = self.logo.as_ref().map(|logo| &logo.asset);
        self.stylesheet.iter().chain(logo)
    }

    /// Returns the URL of the logo, if there is one.
    pub fn logo(&self) -> Option<&str> {
        self.logo.as_ref().map(|logo| logo.asset.url())
    }

    /// Returns whether the name is written next to the logo.
    pub fn shows_name(&self) -> bool {
        self.logo.as_ref().is_none_or(|logo| !logo.is_wordmark)
    }

    /// Returns the URL of an asset in the version of this site.
    pub fn asset(&'static self, name: &str) -> &'static str {
        match &self.stylesheet {
            Some(stylesheet) if name == assets::STYLESHEET => stylesheet.url(),
            _ => assets::url(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_current_until_its_guard_is_dropped() {
        let settings = SiteSettings {
            name: "Giving Tree".to_owned(),
            operator: "Tree Fund".to_owned(),
            ..SiteSettings::default()
        };
        let identity = Identity::new(&settings, &SiteFiles::default());
        assert_eq!(current().texts.site.name, "Causeway");
        {
            let _entered = enter(identity);
            assert_eq!(current().texts.site.name, "Giving Tree");
            assert_eq!(current().operator.as_deref(), Some("Tree Fund"));
            assert_eq!(current().texts.site.menu, EN.site.menu);
        }
        assert_eq!(current().texts.site.name, "Causeway");
    }

    #[test]
    fn the_default_settings_share_one_identity() {
        let one = Identity::new(&SiteSettings::default(), &SiteFiles::default());
        let other = Identity::new(&SiteSettings::default(), &SiteFiles::default());
        assert!(std::ptr::eq(one, other));
    }
}
