//! What stands around a page: the texts of its language, where in the site it is, and a message to show once.

use super::assets;
use super::flash::Flash;
use super::texts::{EN, Texts};

/// The part of a page that all pages have; templates that extend `web/base.html` keep it in a field `frame`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub t: &'static Texts,
    pub place: Place,
    pub flash: Option<Flash>,
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
            place,
            flash: None,
        }
    }

    /// The address of an asset; it changes with its content.
    pub fn asset(&self, name: &str) -> &'static str {
        assets::address(name)
    }

    /// Is this the part of the site that is open?
    pub fn is_at(&self, place: &Place) -> bool {
        self.place == *place
    }
}
