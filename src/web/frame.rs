//! What stands around a page: the texts of its language, where in the site it is, and a message to show once.

use super::assets;
use super::flash::Flash;
use super::texts::{EN, PUBLIC_EN, PublicTexts, Texts};
use crate::app::App;
use access::sessions::SignedIn;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use std::convert::Infallible;

/// The part of a page that all pages have; templates that extend `web/base.html` keep it in a field `frame`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub t: &'static Texts,
    /// The texts of the public site.
    pub p: &'static PublicTexts,
    pub place: Place,
    pub flash: Option<Flash>,
    /// The menu of somebody who is signed in.
    pub desk: Option<Desk>,
}

/// Who is signed in, and which part of the dashboard is open.
#[derive(Clone, Debug)]
pub struct Desk {
    pub username: String,
    pub operator: bool,
    pub tab: Tab,
}

/// The parts of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Keys,
    Fundraisers,
    Usage,
    FirstSteps,
    Settings,
    Operator,
}

/// Which part of the site a page belongs to, marked in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Home,
    Causes,
    Developers,
    Dashboard,
    Elsewhere,
}

impl Frame {
    /// The frame of a page that is the same for everybody.
    pub fn new(place: Place) -> Frame {
        Frame {
            t: &EN,
            p: &PUBLIC_EN,
            place,
            flash: None,
            desk: None,
        }
    }

    /// The frame of a page of the dashboard, with the message that the request brings.
    pub fn of_dashboard(headers: &HeaderMap) -> Frame {
        Frame {
            flash: Flash::find(headers),
            ..Frame::new(Place::Dashboard)
        }
    }

    /// With the menu of somebody who is signed in.
    #[must_use]
    pub fn at(mut self, who: &SignedIn, tab: Tab) -> Frame {
        self.desk = Some(Desk {
            username: who.username.clone(),
            operator: who.operator,
            tab,
        });
        self
    }

    /// The address of an asset; it changes with its content.
    pub fn asset(&self, name: &str) -> &'static str {
        assets::address(name)
    }

    /// How the menu marks a part of the site.
    pub fn mark(&self, place: Place) -> &'static str {
        marked(self.place == place)
    }
}

impl Desk {
    /// How the menu marks a part of the dashboard.
    pub fn mark(&self, tab: Tab) -> &'static str {
        marked(self.tab == tab)
    }
}

fn marked(is_open: bool) -> &'static str {
    if is_open { "true" } else { "false" }
}

impl FromRequestParts<App> for Frame {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Frame, Infallible> {
        Ok(Frame::of_dashboard(&parts.headers))
    }
}
