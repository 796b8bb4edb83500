//! The layout that all pages share: header, menus, footer, texts, and the flash message.

use super::flash::Flash;
use super::icons;
use super::identity::{self, Identity};
use super::texts::{FUNDRAISING_EN, FundraisingTexts, PUBLIC_EN, PublicTexts, Texts};
use crate::app::App;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::fmt::Display;

/// The data of `web/base.html`. Templates that extend it keep a `Layout` in a field named `layout`.
#[derive(Clone, Debug)]
pub struct Layout {
    pub t: &'static Texts,
    /// The name, logo, colors and operator of the site.
    pub site: &'static Identity,
    /// The texts of the public site.
    pub p: &'static PublicTexts,
    /// The texts of fundraisers.
    pub f: &'static FundraisingTexts,
    pub section: Section,
    pub flash: Option<Flash>,
    /// The work that waits for an operator, shown in the menu of the operator pages.
    pub open_work: OpenWork,
    /// The dashboard menu, if a user is signed in.
    pub dashboard_menu: Option<DashboardMenu>,
}

// Templates of their own, although only `web/base.html` uses them: askama compiles a base template again for each page
// that extends it.

#[derive(Template)]
#[template(path = "web/head.html")]
struct Head<'a> {
    layout: &'a Layout,
}

#[derive(Template)]
#[template(path = "web/header.html")]
struct Header<'a> {
    layout: &'a Layout,
}

#[derive(Template)]
#[template(path = "web/footer_start.html")]
struct FooterStart<'a> {
    layout: &'a Layout,
}

#[derive(Template)]
#[template(path = "web/footer_end.html")]
struct FooterEnd<'a> {
    layout: &'a Layout,
}

/// How much waits for an operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenWork {
    /// Fundraisers in review.
    pub reviews: i64,
    /// Open reports.
    pub reports: i64,
    /// Pairs of similar names to compare.
    pub eligibility: i64,
    /// Claims that wait.
    pub claims: i64,
    /// Unexplained differences, and disputes that need a response. `None` unless donors pay with Stripe.
    pub money: Option<i64>,
    /// Whether donors can give every month.
    pub has_monthly: bool,
    /// Batches that wait for their approval or export. `None` if nobody can give.
    pub disburse: Option<i64>,
}

/// The menu of the dashboard, with the tab that is open.
#[derive(Clone, Debug)]
pub struct DashboardMenu {
    pub is_operator: bool,
    pub tab: Tab,
}

/// The tabs of the dashboard menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Keys,
    Fundraisers,
    Nonprofits,
    Webhooks,
    Usage,
    FirstSteps,
    Settings,
    Operator,
    /// A page that no tab leads to.
    None,
}

/// The sections of the site, which the main menu highlights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Home,
    Causes,
    Fundraisers,
    Developers,
    Dashboard,
    /// A page that no menu item leads to.
    Other,
}

impl Layout {
    /// Returns the layout of a page that is the same for every visitor.
    pub fn new(section: Section) -> Layout {
        let site = identity::current();
        Layout {
            t: site.texts,
            site,
            p: &PUBLIC_EN,
            f: &FUNDRAISING_EN,
            section,
            flash: None,
            open_work: OpenWork::default(),
            dashboard_menu: None,
        }
    }

    /// Returns the layout of a dashboard page, with the flash message from the request's cookie.
    pub fn of_dashboard(headers: &HeaderMap) -> Layout {
        Layout {
            flash: Flash::find(headers),
            ..Layout::new(Section::Dashboard)
        }
    }

    /// Adds the dashboard menu of a signed-in user.
    #[must_use]
    pub fn with_menu(mut self, user: &SignedIn, tab: Tab) -> Layout {
        self.dashboard_menu = Some(DashboardMenu {
            is_operator: user.operator,
            tab,
        });
        self
    }

    /// Returns the links in the head of every page.
    pub fn head(&self) -> impl Display {
        Head { layout: self }
    }

    /// Returns the top of every page, to the start of its content.
    pub fn header(&self) -> impl Display {
        Header { layout: self }
    }

    /// Returns the footer of every page up to its own notes.
    pub fn footer_start(&self) -> impl Display {
        FooterStart { layout: self }
    }

    /// Returns the rest of the footer.
    pub fn footer_end(&self) -> impl Display {
        FooterEnd { layout: self }
    }

    /// Returns the URL of an asset, which contains a hash of its content.
    pub fn asset(&self, name: &str) -> &'static str {
        self.site.asset(name)
    }

    /// Returns the markup of an icon.
    pub fn icon(&self, name: &str) -> &'static str {
        icons::svg(name)
    }

    /// Returns the `aria-current` value of a section in the main menu.
    pub fn aria_current(&self, section: Section) -> &'static str {
        aria_bool(self.section == section)
    }
}

impl DashboardMenu {
    /// Returns the `aria-current` value of a tab.
    pub fn aria_current(&self, tab: Tab) -> &'static str {
        aria_bool(self.tab == tab)
    }
}

fn aria_bool(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

impl FromRequestParts<App> for Layout {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Layout, Infallible> {
        Ok(Layout::of_dashboard(&parts.headers))
    }
}
