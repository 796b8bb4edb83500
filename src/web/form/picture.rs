//! The choice of a picture: a file input that shows the picture of the form.
//!
//! A picture is stored when it is first sent. The form then has a token that stands for it, so that it is not lost when
//! the form is shown again.

use super::FormData;
use crate::web::texts::{FUNDRAISING_EN, PictureTexts};
use askama::Template;
use askama::filters::HtmlSafe;
use pictures::header::MAX_FILE_SIZE;

/// The name of the field with the token.
pub const TOKEN: &str = "picture";
/// The name of the checkbox that removes the picture.
pub const REMOVE: &str = "remove_picture";

/// A file input. In a template, `{{ picture }}` renders all of it.
#[derive(Clone, Debug, Template)]
#[template(path = "web/picture.html")]
pub struct PictureInput {
    t: &'static PictureTexts,
    label: String,
    hint: String,
    /// Where a script sends the file.
    upload_path: &'static str,
    /// The picture to show.
    url: Option<String>,
    /// The classes that choose the visible part of it.
    focus: String,
    token: String,
    is_removed: bool,
    error: Option<String>,
}

impl HtmlSafe for PictureInput {}

impl PictureInput {
    pub fn new(label: &str, hint: &str, upload_path: &'static str) -> PictureInput {
        PictureInput {
            t: &FUNDRAISING_EN.picture,
            label: label.to_owned(),
            hint: hint.to_owned(),
            upload_path,
            url: None,
            focus: String::new(),
            token: String::new(),
            is_removed: false,
            error: None,
        }
    }

    /// Shows the current picture.
    #[must_use]
    pub fn current(mut self, hosted_id: Option<&str>) -> PictureInput {
        self.url = hosted_id.map(path_of);
        self
    }

    /// Shows a part of the picture, by the classes that choose it.
    #[must_use]
    pub fn focus(mut self, classes: Option<String>) -> PictureInput {
        self.focus = classes.unwrap_or_default();
        self
    }

    /// Shows the picture that was sent with the form.
    pub fn show_sent(&mut self, hosted_id: &str, token: String) {
        self.url = Some(path_of(hosted_id));
        self.token = token;
        self.is_removed = false;
    }

    pub fn fill_in(&mut self, data: &FormData) {
        self.is_removed = data.find(REMOVE).is_some();
    }

    pub fn add_error(&mut self, error: String) {
        self.error.get_or_insert(error);
    }
}

/// Returns the path of a hosted picture, in a width that fits a page.
fn path_of(hosted_id: &str) -> String {
    format!("/media/{hosted_id}?w=1024")
}
