//! Documents of the search index: what is indexed of a nonprofit, and the labels that filters use.

use crate::nonprofits::causes::Causes;
use crate::nonprofits::size::Size;
use crate::nonprofits::zip_codes::zip_of;
use crate::nonprofits::{Nonprofit, aliases, kinds, location};
use crate::snapshot::squares::square_label;
use crate::snapshot::thesaurus::thesaurus;
use crate::snapshot::word_vectors::WORD_VECTORS;
use ::search::{BuildError, Document, IndexBuilder};
use platform::text::fold;

/// Returns the label of all nonprofits of a cause.
pub(crate) fn cause_label(name: &str) -> String {
    format!("cause:{}", name.trim().to_ascii_lowercase())
}

/// Returns the label of all nonprofits in a state.
pub(crate) fn state_label(code: &str) -> String {
    format!("state:{}", code.trim().to_ascii_uppercase())
}

/// Returns the label of all nonprofits in cities with a name, in any state.
///
/// Saint, Mount and Fort have the same label as their abbreviations.
pub(crate) fn city_label(name: &str) -> String {
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
pub(crate) const DISBURSABLE: &str = "disbursable";

/// The label of nonprofits to which donations are tax-deductible.
pub(crate) const DEDUCTIBLE: &str = "deductible";

/// Returns the label of all nonprofits of a size.
pub(crate) fn size_label(size: Size) -> String {
    format!("size:{}", size.name())
}

/// Creates a builder that knows the aliases, kinds and word vectors of the data files.
pub(crate) fn index_builder() -> IndexBuilder {
    IndexBuilder::with_thesaurus(thesaurus()).with_vectors(&WORD_VECTORS)
}

/// Adds a nonprofit to an index.
pub(crate) fn add(
    builder: &mut IndexBuilder,
    nonprofit: &Nonprofit<'_>,
    causes: &Causes,
) -> Result<u32, BuildError> {
    let other_names: Vec<&str> = nonprofit.aliases.lines().collect();
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
    labels.extend(zip_of(nonprofit).and_then(square_label));
    if nonprofit.is_disbursable() {
        labels.push(DISBURSABLE.to_owned());
    }
    if nonprofit.is_deductible() {
        labels.push(DEDUCTIBLE.to_owned());
    }
    labels.extend(Size::of(nonprofit).map(size_label));
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let ntee = nonprofit.ntee.map(|ntee| ntee.to_string());
    let names = [nonprofit.name, nonprofit.legal_name, nonprofit.chapter];
    let kinds = kinds::kinds_of(
        ntee.as_deref(),
        names.into_iter().chain(other_names.iter().copied()),
    );
    let common_website = nonprofit.ein.and_then(aliases::common_website);
    builder.add(&Document {
        name: nonprofit.name,
        aliases: &other_names,
        secondary_names: &[nonprofit.chapter, nonprofit.legal_name],
        location: &[
            nonprofit.city,
            nonprofit.state,
            location::state_name(nonprofit.state).unwrap_or_default(),
        ],
        postal_code: Some(nonprofit.zip).filter(|zip| !zip.is_empty()),
        kinds: &kinds,
        registration_number: ein.as_deref(),
        domain: nonprofit
            .website_url
            .filter(|_| !nonprofit.is_website_filed)
            .or(common_website),
        filed_domain: nonprofit.website_url.filter(|_| nonprofit.is_website_filed),
        mission: &[
            nonprofit.own_description.unwrap_or_default(),
            nonprofit.description_long.unwrap_or_default(),
            nonprofit.programs,
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
