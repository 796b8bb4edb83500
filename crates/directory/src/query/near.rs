//! Nonprofits near a place: the circle of a query, and which ZIP codes are in it.
//!
//! A nonprofit is where its ZIP code is. The snapshot has the number of the ZIP code of each nonprofit, so that a filter
//! tests one bit per nonprofit, and labels for squares of two degrees, so that a search reads only the nonprofits around.

use crate::nonprofits::position::Position;
use crate::nonprofits::zip_codes::{ZipCodes, ZipNumber};
use crate::snapshot::squares::{label_of, square_of};
use crate::snapshot::view::View;
use ::search::Index;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use thiserror::Error;

/// The radius in miles if none is sent.
pub const DEFAULT_RADIUS: f64 = 25.0;
/// The smallest and the largest radius in miles.
pub(crate) const MIN_RADIUS: f64 = 1.0;
pub(crate) const MAX_RADIUS: f64 = 500.0;

/// Labels narrow a search down only if fewer than one in this many nonprofits carries one of them.
const MIN_SELECTIVITY: usize = 16;

/// The circle of a query.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    pub center: Position,
    pub radius_miles: f64,
}

impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        self.center == other.center && self.radius_miles.to_bits() == other.radius_miles.to_bits()
    }
}

impl Eq for Near {}

impl Hash for Near {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.center.hash(state);
        self.radius_miles.to_bits().hash(state);
    }
}

/// The reason why a circle is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NearError {
    #[error("the center is neither a ZIP code nor a position")]
    Malformed,
    #[error("there is no ZIP code {0}")]
    UnknownZip(String),
    #[error("the center is not on the Earth")]
    OutOfRange,
    #[error("the radius is not a number of miles from 1 to 500")]
    Radius,
    #[error("there is a radius without a center")]
    RadiusWithoutCenter,
}

impl Near {
    /// Parses a center, which is a ZIP code or a position, and a radius in miles. Returns `None` without both.
    pub fn parse(center: Option<&str>, radius: Option<&str>) -> Result<Option<Near>, NearError> {
        let radius_miles = radius.map_or(Ok(DEFAULT_RADIUS), parse_radius)?;
        match (center, radius) {
            (Some(center), _) => Ok(Some(Near {
                center: parse_center(center)?,
                radius_miles,
            })),
            (None, Some(_)) => Err(NearError::RadiusWithoutCenter),
            (None, None) => Ok(None),
        }
    }

    /// Returns the distance in miles from the center to a ZIP code.
    pub fn miles_to(&self, zip: ZipNumber) -> Option<f64> {
        Some(self.center.miles_to(ZipCodes::get().position(zip)?))
    }
}

/// How far the ZIP code of a city may be from a position that is described by it, in miles.
const MAX_MILES_TO_CITY: f64 = 30.0;
/// The maximum number of ZIP codes in which a city is looked for.
const MAX_ZIP_CODES: usize = 24;

impl View {
    /// Returns the city and the state of a position, such as "Tulsa, OK": those of the best-known nonprofit in the nearest ZIP
    /// code that has one.
    pub fn city_at(&self, position: Position) -> Option<String> {
        let zip_codes = ZipCodes::get();
        let nearest = zip_codes.nearest(position, MAX_MILES_TO_CITY);
        nearest.into_iter().take(MAX_ZIP_CODES).find_map(|number| {
            let zip = zip_codes.code(number)?;
            let found = self.search(&zip, 1);
            let nonprofit = found.first().map(|found| found.nonprofit)?;
            (nonprofit.zip.starts_with(&zip) && !nonprofit.city.is_empty()).then(|| nonprofit.location())
        })
    }
}

/// Returns the ZIP code nearest to a position, if one is near.
pub fn nearest_zip(position: Position) -> Option<String> {
    let zip_codes = ZipCodes::get();
    let nearest = zip_codes.nearest(position, MAX_MILES_TO_CITY);
    zip_codes.code(*nearest.first()?)
}

/// Parses a radius in miles.
pub fn parse_radius(text: &str) -> Result<f64, NearError> {
    match parse_decimal(text) {
        Some(miles) if (MIN_RADIUS..=MAX_RADIUS).contains(&miles) => Ok(miles),
        _ => Err(NearError::Radius),
    }
}

fn parse_center(text: &str) -> Result<Position, NearError> {
    if let Some((latitude, longitude)) = text.split_once(',') {
        let longitude = longitude.strip_prefix(' ').unwrap_or(longitude);
        let degrees = |text: &str| parse_decimal(text).ok_or(NearError::Malformed);
        return Position::new(degrees(latitude)?, degrees(longitude)?).ok_or(NearError::OutOfRange);
    }
    // ZIP+4 is in its ZIP code.
    let zip = match text.split_once('-') {
        Some((zip, rest)) if rest.len() == 4 && is_digits(rest) => zip,
        _ => text,
    };
    if zip.len() != 5 || !is_digits(zip) {
        return Err(NearError::Malformed);
    }
    let zips = ZipCodes::get();
    let position = zips.find(zip).and_then(|number| zips.position(number));
    position.ok_or_else(|| NearError::UnknownZip(zip.to_owned()))
}

/// Parses a decimal number without an exponent, such as `-122.68`.
fn parse_decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if is_digits(whole) && is_digits(fraction) {
        text.parse().ok()
    } else {
        None
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Rounds a distance to three significant digits, or to whole miles from 100 miles on.
pub fn rounded_miles(miles: f64) -> f64 {
    if miles <= 0.0 {
        return 0.0;
    }
    let decimals = (2 - miles.log10().floor() as i32).max(0);
    let scale = 10f64.powi(decimals);
    (miles * scale).round() / scale
}

/// The ZIP codes in a circle.
#[derive(Debug)]
pub struct Area {
    /// One bit for each ZIP code.
    zips: Box<[u64]>,
    /// The labels of the squares with these ZIP codes.
    labels: Vec<String>,
}

impl Area {
    /// Finds the ZIP codes in a circle.
    pub fn new(near: &Near) -> Area {
        let zip_codes = ZipCodes::get();
        let mut zips = vec![0; zip_codes.len().div_ceil(64)].into_boxed_slice();
        let mut squares = BTreeSet::new();
        for zip in zip_codes.within(near.center, near.radius_miles) {
            zips[zip.index() / 64] |= 1 << (zip.index() % 64);
            squares.extend(zip_codes.position(zip).map(square_of));
        }
        Area {
            zips,
            labels: squares.into_iter().map(label_of).collect(),
        }
    }

    /// Returns whether a ZIP code is in the circle. Where it is unknown, it is not.
    #[inline]
    pub fn contains(&self, zip: Option<ZipNumber>) -> bool {
        zip.is_some_and(|zip| {
            let word = self.zips.get(zip.index() / 64);
            word.is_some_and(|word| word >> (zip.index() % 64) & 1 == 1)
        })
    }

    /// Returns the labels, one of which every nonprofit in the circle carries.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the number of documents of an index that carry one of the labels.
    pub(crate) fn count_candidates<B: AsRef<[u8]>>(&self, index: &Index<B>) -> usize {
        let labels = self.labels.iter();
        labels
            .filter_map(|label| index.documents_with_label(label))
            .map(|list| list.len())
            .sum()
    }

    /// Returns whether the labels narrow a search of an index down. A circle around much of the directory is tested
    /// for each result instead.
    pub(crate) fn is_selective<B: AsRef<[u8]>>(&self, index: &Index<B>) -> bool {
        self.count_candidates(index) <= index.len() / MIN_SELECTIVITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::squares::square_label;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_a_zip_code_or_a_position_with_a_radius() {
        let parse = |near, radius| Near::parse(near, radius).unwrap().unwrap();
        let portland = parse(Some("97201"), None);
        assert_eq!(portland.radius_miles.to_string(), "25");
        assert_eq!(parse(Some("97201-1234"), None), portland);
        let near = parse(Some("45.52, -122.68"), Some("2.5"));
        assert_eq!(near.center.to_string(), "45.52,-122.68");
        assert_eq!(near.radius_miles.to_string(), "2.5");
        assert_eq!(
            parse(Some("45,-122"), Some("500")).radius_miles.to_string(),
            "500"
        );
        assert_eq!(Near::parse(None, None), Ok(None));
    }

    #[test]
    fn an_invalid_circle_is_refused_with_a_reason() {
        for (near, radius, error) in [
            (Some(""), None, NearError::Malformed),
            (Some("Portland"), None, NearError::Malformed),
            (Some("9720"), None, NearError::Malformed),
            (Some("45.52"), None, NearError::Malformed),
            (Some("45.52,"), None, NearError::Malformed),
            (Some("45.52,-122.68,3"), None, NearError::Malformed),
            (Some("4e1,1e2"), None, NearError::Malformed),
            (Some(".5,5."), None, NearError::Malformed),
            (Some(" 97201"), None, NearError::Malformed),
            (Some("nan,inf"), None, NearError::Malformed),
            (Some("97201-12"), None, NearError::Malformed),
            (Some("00000"), None, NearError::UnknownZip("00000".into())),
            (Some("91,0"), None, NearError::OutOfRange),
            (Some("0,-180.1"), None, NearError::OutOfRange),
            (Some("97201"), Some("0"), NearError::Radius),
            (Some("97201"), Some("0.9"), NearError::Radius),
            (Some("97201"), Some("501"), NearError::Radius),
            (Some("97201"), Some("-5"), NearError::Radius),
            (Some("97201"), Some(""), NearError::Radius),
            (Some("97201"), Some("ten"), NearError::Radius),
            (None, Some("10"), NearError::RadiusWithoutCenter),
        ] {
            assert_eq!(Near::parse(near, radius), Err(error), "{near:?} {radius:?}");
        }
    }

    #[test]
    fn a_distance_has_three_significant_digits() {
        for (miles, shown) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.234, "1.23"),
            (12.345, "12.3"),
            (99.96, "100"),
            (123.45, "123"),
        ] {
            assert_eq!(rounded_miles(miles).to_string(), shown);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(near in ".{0,30}", radius in ".{0,10}") {
            let _ = Near::parse(Some(&near), Some(&radius));
        }

        #[test]
        fn rounding_changes_a_distance_by_less_than_a_percent(miles in 0.0..13_000.0f64, divisor in 1.0..10_000.0f64) {
            let miles = miles / divisor;
            prop_assert!((rounded_miles(miles) - miles).abs() <= miles * 0.0051);
        }

        #[test]
        fn an_area_has_the_zip_codes_of_its_circle_and_their_squares(
            zip in 0usize..41_637, other in 0usize..41_637, neighbor in 0usize..40, miles in MIN_RADIUS..=MAX_RADIUS
        ) {
            let number = |index: usize| ZipNumber::from_bytes((index as u16 + 1).to_le_bytes()).unwrap();
            let center = ZipCodes::get().position(number(zip)).unwrap();
            let near = Near { center, radius_miles: miles };
            let area = Area::new(&near);
            // ZIP codes with neighboring numbers are close to each other.
            for other in [number(other), number((zip + neighbor).min(41_636))] {
                let is_inside = near.miles_to(other).unwrap() <= miles;
                prop_assert_eq!(area.contains(Some(other)), is_inside);
                prop_assert!(!is_inside || area.labels().contains(&square_label(other).unwrap()));
            }
            prop_assert!(!area.contains(None));
        }
    }
}
