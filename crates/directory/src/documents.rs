//! Documents of the search index: what is indexed of a nonprofit, and the labels that filters use.

use crate::near;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::{Nonprofit, location};
use ::search::{BuildError, Document, IndexBuilder};
use platform::text::fold;

/// Returns the label of all nonprofits of a cause.
pub fn cause_label(name: &str) -> String {
    format!("cause:{}", name.trim().to_ascii_lowercase())
}

/// Returns the label of all nonprofits in a state.
pub fn state_label(code: &str) -> String {
    format!("state:{}", code.trim().to_ascii_uppercase())
}

/// Returns the label of all nonprofits in cities with a name, in any state.
///
/// Saint, Mount and Fort have the same label as their abbreviations.
pub fn city_label(name: &str) -> String {
    let mut label = String::from("city");
    for (index, word) in fold(name, ' ').split(' ').enumerate() {
        label.push(if index == 0 { ':' } else { ' ' });
        label.push_str(match word {
            "saint" => "st",
            "mount" => "mt",
            "fort" => "ft",
            _ => word,
        });
    }
    label
}

/// The label of nonprofits that can receive donations.
pub const DISBURSABLE: &str = "disbursable";

/// Adds a nonprofit to an index.
pub fn add(
    builder: &mut IndexBuilder,
    nonprofit: &Nonprofit<'_>,
    causes: &Causes,
) -> Result<u32, BuildError> {
    let aliases: Vec<&str> = nonprofit.aliases.lines().collect();
    let ein = nonprofit.ein.map(|ein| ein.to_string());
    let mut labels: Vec<String> = causes
        .of_set(nonprofit.causes)
        .map(|cause| cause_label(&cause.name))
        .collect();
    if !nonprofit.state.is_empty() {
        labels.push(state_label(nonprofit.state));
    }
    if !nonprofit.city.is_empty() {
        labels.push(city_label(nonprofit.city));
    }
    labels.extend(near::zip_of(nonprofit).and_then(near::square_label));
    if nonprofit.is_disbursable() {
        labels.push(DISBURSABLE.to_owned());
    }
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    builder.add(&Document {
        name: nonprofit.name,
        aliases: &aliases,
        secondary_names: &[nonprofit.chapter, nonprofit.legal_name],
        location: &[
            nonprofit.city,
            nonprofit.state,
            location::state_name(nonprofit.state).unwrap_or_default(),
        ],
        registration_number: ein.as_deref(),
        domain: nonprofit.website_url.filter(|_| !nonprofit.is_website_filed),
        filed_domain: nonprofit.website_url.filter(|_| nonprofit.is_website_filed),
        mission: &[
            nonprofit.own_description.unwrap_or_default(),
            nonprofit.description_long.unwrap_or_default(),
        ],
        prominence: nonprofit.prominence as f32 / 1_000.0,
        labels: &labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_city_share_a_label() {
        for (label, names) in [
            ("city:st louis", ["St. Louis", "saint louis", "ST LOUIS"]),
            (
                "city:port st lucie",
                ["Port Saint Lucie", "port st. lucie", "Port St Lucie"],
            ),
            ("city:mt vernon", ["Mount Vernon", "Mt. Vernon", "mt vernon"]),
            ("city:ft worth", ["Fort Worth", "Ft. Worth", "FT WORTH"]),
            (
                "city:mountain view",
                ["Mountain View", "mountain  view", "MOUNTAIN VIEW"],
            ),
        ] {
            assert_eq!(names.map(city_label), [label; 3]);
        }
    }
}
