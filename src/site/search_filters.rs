//! The filters of the results page: cause, state, and the distance from a place.

use crate::app::search_answers::Filter;
use crate::http::params::values;
use crate::web::texts::{SearchTexts, fill};
use directory::documents::{cause_label, state_label};
use directory::near::{DEFAULT_RADIUS, Near, NearError, parse_radius};
use directory::nonprofits::causes::Causes;
use directory::nonprofits::location::STATES;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::text::cut;

/// The radii to choose from, in miles.
const RADII: [f64; 6] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0];

/// The maximum length of a place in characters.
const MAX_PLACE_CHARS: usize = 60;

/// The filters of a search; an empty string means any.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    pub cause: String,
    pub state: String,
    /// The ZIP code or position, as typed.
    pub place: String,
    /// The circle, if the place is valid.
    pub near: Option<Near>,
    place_error: Option<NearError>,
    radius_miles: f64,
}

impl Filters {
    /// Reads the filters from a query. Unknown causes and states are ignored, and so is a radius that is out of range.
    pub fn parse(query: &str, causes: &Causes) -> Filters {
        let value = |name| values(query, name).next().unwrap_or_default();
        let cause = causes.find(&value("cause"));
        let state = value("state");
        let state = STATES
            .iter()
            .find(|(code, _)| code.eq_ignore_ascii_case(state.trim()));
        let place = cut(value("near").trim(), MAX_PLACE_CHARS).to_owned();
        let typed_place = Some(place.as_str()).filter(|place| !place.is_empty());
        // The form always sends a radius, which means nothing without a place.
        let radius_miles = parse_radius(value("radius").trim()).unwrap_or(DEFAULT_RADIUS);
        let (near, place_error) = match Near::parse(typed_place, None) {
            Ok(near) => (near, None),
            Err(error) => (None, Some(error)),
        };
        let near = near.map(|near| Near { radius_miles, ..near });
        Filters {
            cause: cause.map(|cause| cause.name.clone()).unwrap_or_default(),
            state: state.map(|(code, _)| (*code).to_owned()).unwrap_or_default(),
            place,
            near,
            place_error,
            radius_miles,
        }
    }

    pub fn is_active(&self) -> bool {
        !self.cause.is_empty() || !self.state.is_empty() || self.near.is_some()
    }

    /// Returns the filter of the search.
    pub fn to_filter(&self) -> Filter {
        let mut filter = Filter::default();
        if !self.cause.is_empty() {
            filter.require_any("causes", &self.cause, [cause_label(&self.cause)]);
        }
        if !self.state.is_empty() {
            filter.require_any("state", &self.state, [state_label(&self.state)]);
        }
        filter.require_near(&self.place, self.near);
        filter
    }

    /// Returns the URL of a search for another term with the same filters.
    pub fn url(&self, typed: &str) -> String {
        let mut url = format!("/search?q={}", utf8_percent_encode(typed, NON_ALPHANUMERIC));
        for (name, value) in [
            ("cause", &self.cause),
            ("state", &self.state),
            ("near", &self.place),
        ] {
            if !value.is_empty() {
                url = format!("{url}&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
            }
        }
        if self.near.is_some() {
            url = format!("{url}&radius={}", self.radius_miles);
        }
        url
    }

    /// Returns what is wrong with the place.
    pub fn place_error(&self, t: &SearchTexts) -> Option<String> {
        Some(match self.place_error.as_ref()? {
            NearError::UnknownZip(zip) => fill(t.near_unknown, &[("zip", zip)]),
            _ => t.near_invalid.to_owned(),
        })
    }

    /// Returns the circle in words.
    pub fn describe_near(&self, t: &SearchTexts) -> Option<String> {
        self.near?;
        let text = if self.place.contains(',') {
            t.within_position
        } else {
            t.within_zip
        };
        let radius = self.radius_miles.to_string();
        Some(fill(text, &[("miles", &radius), ("place", &self.place)]))
    }

    /// Returns the radii to choose from, in miles, and whether each is the chosen one.
    pub fn radii(&self) -> Vec<(String, bool)> {
        let chosen = self.radius_miles;
        let mut radii = RADII.to_vec();
        if !radii.contains(&chosen) {
            radii.push(chosen);
            radii.sort_by(f64::total_cmp);
        }
        let radii = radii.into_iter();
        radii
            .map(|miles| (miles.to_string(), miles.to_bits() == chosen.to_bits()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;

    fn parse(query: &str) -> Filters {
        Filters::parse(query, Causes::built_in())
    }

    #[test]
    fn a_url_has_the_filters_that_it_is_parsed_into() {
        let url = parse("state=or&near=97201&radius=50").url("food bank");
        assert_eq!(url, "/search?q=food%20bank&state=OR&near=97201&radius=50");
        let query = url.split_once('?').unwrap().1;
        assert_eq!(parse(query).url("food bank"), url);
        assert_eq!(parse("near=&radius=50").url("a"), "/search?q=a");
    }

    #[test]
    fn a_place_is_described_or_refused() {
        let t = &PUBLIC_EN.search;
        let near = parse("near=97201&radius=7");
        assert_eq!(near.describe_near(t).unwrap(), "Within 7 miles of ZIP code 97201");
        assert_eq!(near.radii()[1], ("7".to_owned(), true));
        assert_eq!(near.place_error(t), None);
        let position = parse("near=45.52,-122.68&radius=9999");
        assert_eq!(
            position.describe_near(t).unwrap(),
            "Within 25 miles of 45.52,-122.68"
        );
        let unknown = parse("near=00000");
        assert!(unknown.place_error(t).unwrap().contains("no ZIP code 00000"));
        assert!(
            parse("near=00000&radius=50")
                .radii()
                .contains(&("50".to_owned(), true))
        );
        assert!(!unknown.is_active() && unknown.describe_near(t).is_none());
        assert_eq!(
            parse("near=Salem").place_error(t).as_deref(),
            Some(t.near_invalid)
        );
    }
}
