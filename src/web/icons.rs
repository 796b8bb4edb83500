//! The icons of the site, as inline SVG in the color of the text around them.
//!
//! They are drawings of Lucide (ISC license, `assets/icons/license.txt`), without the attributes that we do not need.

use directory::nonprofits::causes::{Category, Cause};

macro_rules! icons {
    ($($name:literal)*) => {
        /// All icons: name and markup.
        pub const ICONS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../assets/icons/", $name, ".svg"))),)*
        ];
    };
}

icons! {
    "accessibility" "activity" "arrow-right" "atom" "baby" "bird" "book-open" "brain" "building-2" "calendar"
    "cat" "church" "circle-check" "circle-user" "clapperboard" "code" "dog" "drama" "droplets" "external-link"
    "feather" "fish" "flag" "flame" "flask-conical" "flower-2" "gavel" "gift" "globe" "graduation-cap"
    "hand-coins" "hand-heart" "hand-helping" "heart" "heart-handshake" "heart-pulse" "house" "landmark" "leaf"
    "library" "lock" "mail" "map-pin" "medal" "megaphone" "menu" "microscope" "moon-star" "music" "newspaper"
    "palette" "paw-print" "puzzle" "radio" "rainbow" "receipt" "ribbon" "rocket" "scale" "search" "share-2"
    "shield" "shield-check" "sprout" "star" "stethoscope" "store" "tent" "tornado" "tree-pine" "trophy"
    "users" "utensils" "venus" "vote" "waves" "wheat"
}

/// Returns the markup of an icon.
///
/// # Panics
///
/// Panics if there is no icon of this name: templates only name icons in `ICONS`.
pub fn svg(name: &str) -> &'static str {
    let found = ICONS.iter().find(|(known, _)| *known == name);
    found.expect("templates name existing icons").1
}

/// Returns the name of the icon of a cause: its own, or that of its category.
pub fn of_cause(cause: &Cause) -> &'static str {
    match cause.name.as_str() {
        "adoption" => "baby",
        "afghanistan" | "middle-east" | "ukraine" | "mena-led" => "globe",
        "agriculture" => "wheat",
        "art" | "visualart" => "palette",
        "athletics" => "trophy",
        "autism" => "puzzle",
        "buddhism" | "hinduism" => "flower-2",
        "cancer" => "ribbon",
        "cats" => "cat",
        "christianity" | "religion" => "church",
        "climate" | "parks" => "tree-pine",
        "conservation" => "sprout",
        "coronavirus" | "disease" | "womens-health" => "heart-pulse",
        "culture" | "museums" => "landmark",
        "disabilities" => "accessibility",
        "dogs" => "dog",
        "entrepreneurship" => "store",
        "filmandtv" => "clapperboard",
        "food-security" => "utensils",
        "freepress" => "newspaper",
        "gender-equality" | "women-led" | "reproductive-justice" => "venus",
        "housing" => "house",
        "humans" => "heart-handshake",
        "hurricane-ian" | "hurricane-laura" => "tornado",
        "immigrants" => "flag",
        "indigenous-led" | "indigenous-peoples" => "feather",
        "islam" => "moon-star",
        "dance" | "judaism" => "star",
        "legal" => "gavel",
        "lgbt" | "transgender" => "rainbow",
        "libraries" => "library",
        "maui-wildfires" | "wildfires" => "flame",
        "mental-health" => "brain",
        "music" => "music",
        "oceans" => "waves",
        "poverty" => "hand-helping",
        "radio" => "radio",
        "refugees" => "tent",
        "research" => "microscope",
        "seniors" => "users",
        "space" => "rocket",
        "theater" => "drama",
        "veterans" => "medal",
        "votingrights" => "vote",
        "water" => "droplets",
        "wildlife" => "bird",
        "youth" => "graduation-cap",
        _ => of_category(cause.category),
    }
}

/// Returns the name of the icon of a category.
pub fn of_category(category: Category) -> &'static str {
    match category {
        Category::Animals => "paw-print",
        Category::Education => "book-open",
        Category::Environment => "leaf",
        Category::Health => "stethoscope",
        Category::HumanAndCivilRights => "scale",
        Category::HumanServices => "hand-heart",
        Category::ResearchAndPublicPolicy => "atom",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use directory::nonprofits::causes::Causes;
    use std::collections::HashSet;

    #[test]
    fn every_cause_has_an_icon() {
        for cause in Causes::built_in().list() {
            let icon = svg(of_cause(cause));
            assert!(icon.contains("aria-hidden=\"true\""), "{}", cause.name);
        }
        for category in Category::ALL {
            assert!(svg(of_category(category)).ends_with("</svg>"));
        }
    }

    #[test]
    fn causes_that_are_shown_together_rarely_share_an_icon() {
        let causes = Causes::built_in().list();
        let icons: HashSet<&str> = causes.iter().map(of_cause).collect();
        assert!(
            icons.len() * 10 >= causes.len() * 6,
            "{} of {}",
            icons.len(),
            causes.len()
        );
    }

    #[test]
    fn an_icon_has_no_styles_scripts_or_links() {
        for (name, icon) in ICONS {
            assert!(
                icon.starts_with("<svg class=\"icon\" viewBox=\"0 0 24 24\""),
                "{name}"
            );
            for forbidden in ["style=", "<script", "href", "<style"] {
                assert!(!icon.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
