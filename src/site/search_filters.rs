//! The filters of the results page: cause, state, city, size, deductibility and the distance from a place; and the order.

use crate::http::params::values;
use crate::web::texts::{SearchTexts, fill};
use directory::nonprofits::causes::Causes;
use directory::nonprofits::location::{STATES, state_name};
use directory::nonprofits::size::Size;
use directory::query::filter::{FilterField, Order, SearchFilter};
use directory::query::near::{DEFAULT_RADIUS, Near, NearError, nearest_zip, parse_radius};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::text::cut;

/// The radii to choose from, in miles.
const RADII: [f64; 6] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0];

/// The maximum length of a place in characters.
const MAX_PLACE_CHARS: usize = 60;

/// The orders of results and their names in URLs.
const ORDERS: [(Order, &str); 4] = [
    (Order::Best, "best"),
    (Order::Largest, "largest"),
    (Order::Name, "name"),
    (Order::Nearest, "nearest"),
];

/// The filters and the order of a search, as chosen on the results page.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Has at most one cause, and a circle only if the place is valid.
    pub filter: SearchFilter,
    pub order: Order,
    /// The ZIP code or position, as typed.
    pub place: String,
    /// The city and state of the place, if they are known.
    pub city_of_place: Option<String>,
    place_error: Option<NearError>,
    radius_miles: f64,
}

/// An active filter, with the URL of the search without it.
#[derive(Debug, PartialEq, Eq)]
pub struct Chip {
    pub text: String,
    pub url: String,
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
        let sort = value("sort");
        let order = ORDERS.iter().find(|(_, name)| *name == sort);
        let order = order.map(|(order, _)| *order).unwrap_or_default();
        let city = cut(value("city").trim(), MAX_PLACE_CHARS).to_owned();
        Filters {
            filter: SearchFilter {
                causes: cause.map(|cause| cause.name.clone()).into_iter().collect(),
                state: state.map(|(code, _)| (*code).to_owned()),
                city: Some(city).filter(|city| !city.is_empty()),
                size: Size::find(&value("size")),
                is_deductible: value("deductible") == "1",
                near,
                words_only: value("words") == "all",
                ..SearchFilter::default()
            },
            // Without a place, nothing is nearest.
            order: if order == Order::Nearest && near.is_none() {
                Order::Best
            } else {
                order
            },
            place,
            city_of_place: None,
            place_error,
            radius_miles,
        }
    }

    /// Returns the ZIP code to edit in the form: that of the place if the browser sent a position.
    pub fn zip(&self) -> String {
        let is_position = self.place.contains(',');
        let zip = self.filter.near.filter(|_| is_position);
        zip.and_then(|near| nearest_zip(near.center))
            .unwrap_or_else(|| self.place.clone())
    }

    pub fn is_active(&self) -> bool {
        self.filter.fields().next().is_some()
    }

    /// Returns the name of the chosen cause, or an empty text for any.
    pub fn cause(&self) -> &str {
        self.filter.causes.first().map_or("", String::as_str)
    }

    /// Returns the code of the chosen state, or an empty text for any.
    pub fn state(&self) -> &str {
        self.filter.state.as_deref().unwrap_or_default()
    }

    /// Returns the chosen city, or an empty text for any.
    pub fn city(&self) -> &str {
        self.filter.city.as_deref().unwrap_or_default()
    }

    /// Returns the name of the order in URLs.
    pub fn order_name(&self) -> &'static str {
        let found = ORDERS.iter().find(|(order, _)| *order == self.order);
        found.map_or("", |(_, name)| name)
    }

    /// Returns the same without one of the filters.
    fn without(&self, field: FilterField) -> Filters {
        Filters {
            filter: self.filter.without(field),
            ..self.clone()
        }
    }

    /// Returns the filters with another order.
    #[must_use]
    pub fn with_order(self, order: Order) -> Filters {
        Filters { order, ..self }
    }

    /// Returns the filters for nonprofits that have all words.
    #[must_use]
    pub fn with_words_only(mut self) -> Filters {
        self.filter.words_only = true;
        self
    }

    /// Returns the active filters in words, each with the URL of the search without it.
    pub fn chips(&self, typed: &str, causes: &Causes, t: &SearchTexts) -> Vec<Chip> {
        let mut chips = Vec::new();
        let mut add = |text: String, remaining: Filters| {
            let url = remaining.url(typed);
            chips.push(Chip { text, url });
        };
        if let Some(cause) = causes.find(self.cause()) {
            add(cause.title.clone(), self.without(FilterField::Causes));
        }
        if let Some(name) = state_name(self.state()) {
            add(name.to_owned(), self.without(FilterField::State));
        }
        if let Some(city) = &self.filter.city {
            let text = fill(t.in_city, &[("city", city)]);
            add(text, self.without(FilterField::City));
        }
        if let Some(size) = self.filter.size {
            let text = fill(t.in_size, &[("size", t.size(size))]);
            add(text, self.without(FilterField::Size));
        }
        if self.filter.is_deductible {
            add(t.deductible.to_owned(), self.without(FilterField::Deductible));
        }
        if let Some(text) = self.describe_near(t) {
            let order = if self.order == Order::Nearest {
                Order::Best
            } else {
                self.order
            };
            add(
                text,
                Filters {
                    place: String::new(),
                    order,
                    ..self.without(FilterField::Near)
                },
            );
        }
        chips
    }

    /// Returns whether a size is the chosen one.
    pub fn has_size(&self, name: &str) -> bool {
        self.filter.size.is_some_and(|size| size.name() == name)
    }

    /// Returns the URL of a search for another term with the same filters.
    pub fn url(&self, typed: &str) -> String {
        let mut url = format!("/search?q={}", utf8_percent_encode(typed, NON_ALPHANUMERIC));
        for (name, value) in [
            ("cause", self.cause()),
            ("state", self.state()),
            ("city", self.city()),
            ("size", self.filter.size.map_or("", Size::name)),
            ("deductible", if self.filter.is_deductible { "1" } else { "" }),
            ("near", self.place.as_str()),
        ] {
            if !value.is_empty() {
                url = format!("{url}&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
            }
        }
        if self.filter.near.is_some() {
            url = format!("{url}&radius={}", self.radius_miles);
        }
        if self.order != Order::Best {
            url = format!("{url}&sort={}", self.order_name());
        }
        if self.filter.words_only {
            url.push_str("&words=all");
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
        self.filter.near?;
        let radius = self.radius_miles.to_string();
        if let Some(city) = &self.city_of_place {
            return Some(fill(t.within_city, &[("miles", &radius), ("city", city)]));
        }
        let text = if self.place.contains(',') {
            t.within_position
        } else {
            t.within_zip
        };
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
        let all =
            "cause=animals&state=OR&city=Bend&size=1m%2D10m&deductible=1&near=97201&radius=50&sort=nearest";
        assert_eq!(parse(all).url("a"), format!("/search?q=a&{all}"));
        let nonsense = "cause=x&state=x&size=x&deductible=x&sort=nearest";
        assert_eq!(parse(nonsense).url("a"), "/search?q=a");
    }

    #[test]
    fn a_chip_removes_one_filter() {
        let filters = parse(
            "cause=animals&state=or&city=Bend&size=1m-10m&deductible=1&near=97201&radius=50&sort=nearest",
        );
        let chips = filters.chips("a", Causes::built_in(), &PUBLIC_EN.search);
        let texts: Vec<_> = chips.iter().map(|chip| chip.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Animals",
                "Oregon",
                "City: Bend",
                "Revenue: $1 million to $10 million",
                "Tax-deductible",
                "Within 50 miles of ZIP code 97201"
            ]
        );
        let query = filters.url("a").split_once('?').unwrap().1.len();
        for chip in &chips {
            assert!(chip.url.len() < query + "/search?".len(), "{}", chip.url);
            assert_eq!(
                parse(chip.url.split_once('?').unwrap().1)
                    .chips("a", Causes::built_in(), &PUBLIC_EN.search)
                    .len(),
                5
            );
        }
        assert!(
            !chips[5].url.contains("sort="),
            "without a place, nothing is nearest"
        );
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
        assert!(
            unknown
                .place_error(t)
                .unwrap()
                .contains("could not find ZIP code 00000")
        );
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
