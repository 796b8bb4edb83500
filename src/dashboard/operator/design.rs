//! The design of the site, shown with its own colors, fonts, icons and components. `docs/design.md` describes it.

use crate::app::App;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::session::Operator;
use crate::web::icons::ICONS;
use crate::web::{Layout, Page};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

/// The color tokens in `assets/styles/tokens.css`, and what they are for.
pub const COLORS: [(&str, &str); 20] = [
    ("ground", "Background of the page"),
    ("surface", "Cards, fields, the header"),
    ("sunken", "Code, table heads, the footer"),
    ("ink", "Text"),
    ("ink-soft", "Secondary text"),
    ("line", "Borders of cards"),
    ("line-strong", "Borders of fields"),
    ("accent", "Links and buttons"),
    ("accent-strong", "Links and buttons under the pointer"),
    ("accent-soft", "Background of what is selected"),
    ("on-accent", "Text on buttons"),
    ("warm", "Illustrations"),
    ("warm-soft", "Background of illustrations"),
    ("good", "Success"),
    ("good-soft", "Background of success"),
    ("warn", "Warnings"),
    ("warn-soft", "Background of warnings"),
    ("bad", "Errors and dangerous actions"),
    ("bad-soft", "Background of errors"),
    ("on-bad", "Text on dangerous buttons"),
];

/// The sizes of text, and where they are used.
pub const SIZES: [(&str, &str); 7] = [
    ("3xl", "The title of the home page"),
    ("2xl", "Titles of pages"),
    ("xl", "Sections"),
    ("l", "Cards, leads"),
    ("m", "Text"),
    ("s", "Secondary text"),
    ("xs", "Badges, labels"),
];

#[derive(Template)]
#[template(path = "dashboard/operator/design.html")]
struct DesignPage {
    layout: Layout,
    colors: &'static [(&'static str, &'static str)],
    sizes: &'static [(&'static str, &'static str)],
    icons: &'static [(&'static str, &'static str)],
}

/// `GET /dashboard/operator/design`
pub async fn design(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    let page = DesignPage {
        layout: with_menu(&app, layout, &user).await?,
        colors: &COLORS,
        sizes: &SIZES,
        icons: ICONS,
    };
    Ok(Page(page).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: &str = include_str!("../../../assets/styles/tokens.css");

    /// Returns the names of the tokens that begin with a prefix and have a color or a size.
    fn tokens(section: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<&str> {
        let lines = section.lines().filter_map(|line| line.trim().strip_prefix("--"));
        let pairs = lines.filter_map(|line| line.split_once(": "));
        pairs
            .filter(|(_, value)| is_wanted(value))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn the_page_shows_every_color_and_every_size() {
        let (light, dark) = TOKENS.split_once("prefers-color-scheme: dark").unwrap();
        let known = COLORS.map(|(name, _)| name);
        assert_eq!(tokens(light, |value| value.starts_with('#')), known);
        assert_eq!(tokens(dark, |value| value.starts_with('#')), known);
        let sizes = tokens(light, |_| true);
        let mut sizes: Vec<&str> = sizes
            .into_iter()
            .filter_map(|name| name.strip_prefix("text-"))
            .collect();
        sizes.reverse();
        assert_eq!(sizes, SIZES.map(|(name, _)| name));
    }
}
