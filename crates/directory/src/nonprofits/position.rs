//! Positions on the Earth and the distance between them.

use std::fmt;
use std::hash::{Hash, Hasher};

/// The mean radius of the Earth in miles.
const EARTH_RADIUS_MILES: f64 = 3_958.761_3;

/// A position in degrees.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    latitude: f64,
    longitude: f64,
}

impl Position {
    /// By which positions are compared and hashed.
    fn bits(self) -> [u64; 2] {
        [self.latitude.to_bits(), self.longitude.to_bits()]
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Position) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Position {}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl Position {
    /// Returns the position, if the latitude is between -90 and 90 and the longitude between -180 and 180.
    pub fn new(latitude: f64, longitude: f64) -> Option<Position> {
        let is_valid = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        is_valid.then_some(Position { latitude, longitude })
    }

    pub fn latitude(self) -> f64 {
        self.latitude
    }

    pub fn longitude(self) -> f64 {
        self.longitude
    }

    /// Returns the great-circle distance to another position in miles.
    pub fn miles_to(self, other: Position) -> f64 {
        let (from, to) = (self.on_unit_sphere(), other.on_unit_sphere());
        2.0 * EARTH_RADIUS_MILES * (squared_chord(from, to).sqrt() / 2.0).min(1.0).asin()
    }

    /// Returns the coordinates of the position on a sphere with a radius of one. Comparing chords between them takes no
    /// trigonometry.
    pub(super) fn on_unit_sphere(self) -> [f64; 3] {
        let (latitude, longitude) = (self.latitude.to_radians(), self.longitude.to_radians());
        [
            latitude.cos() * longitude.cos(),
            latitude.cos() * longitude.sin(),
            latitude.sin(),
        ]
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.latitude, self.longitude)
    }
}

/// Returns the square of the straight line between two points on the unit sphere.
pub(super) fn squared_chord(from: [f64; 3], to: [f64; 3]) -> f64 {
    (0..3).map(|axis| (from[axis] - to[axis]).powi(2)).sum()
}

/// Returns the square of the chord that belongs to a distance along the surface.
pub(super) fn squared_chord_of(miles: f64) -> f64 {
    (2.0 * (miles / EARTH_RADIUS_MILES / 2.0).sin()).powi(2)
}

/// Returns how many degrees of latitude a distance is.
pub(super) fn degrees_of(miles: f64) -> f64 {
    (miles / EARTH_RADIUS_MILES).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The distance by the formula of Vincenty for a sphere, which is accurate for all angles.
    fn great_circle_miles(from: Position, to: Position) -> f64 {
        let (start, end) = (from.latitude.to_radians(), to.latitude.to_radians());
        let turn = (to.longitude - from.longitude).to_radians();
        let across = end.cos() * turn.sin();
        let along = start.cos() * end.sin() - start.sin() * end.cos() * turn.cos();
        let inward = start.sin() * end.sin() + start.cos() * end.cos() * turn.cos();
        across.hypot(along).atan2(inward) * 6_371.008_8 / 1.609_344
    }

    fn positions() -> impl Strategy<Value = Position> {
        (-90.0..=90.0, -180.0..=180.0)
            .prop_map(|(latitude, longitude)| Position::new(latitude, longitude).unwrap())
    }

    proptest! {
        #[test]
        fn distances_are_great_circle_distances(a in positions(), b in positions(), share in 0.0..1.0f64) {
            // The second one is often close to the first.
            let near = Position {
                latitude: a.latitude + (b.latitude - a.latitude) * share.powi(6),
                longitude: a.longitude + (b.longitude - a.longitude) * share.powi(6),
            };
            for other in [b, near] {
                let (found, expected) = (a.miles_to(other), great_circle_miles(a, other));
                prop_assert!((found - expected).abs() <= expected * 0.001 + 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn known_distances_are_right() {
        // New York to Los Angeles, and two points on both sides of the 180th meridian.
        for (from, to, miles) in [
            ((40.7128, -74.0060), (34.0522, -118.2437), 2_445.6),
            ((51.88, -179.9), (51.88, 179.9), 8.53),
        ] {
            let [from, to] =
                [from, to].map(|(latitude, longitude)| Position::new(latitude, longitude).unwrap());
            assert!(
                (from.miles_to(to) / miles - 1.0).abs() < 0.001,
                "{}",
                from.miles_to(to)
            );
        }
    }

    #[test]
    fn a_position_is_on_the_earth() {
        assert!(Position::new(90.0, -180.0).is_some());
        for (latitude, longitude) in [(90.1, 0.0), (0.0, 180.1), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert_eq!(Position::new(latitude, longitude), None);
        }
    }
}
