//! The ZIP codes of the United States and where they are.
//!
//! The data comes from GeoNames and the United States Census Bureau; `data/zip-codes.csv` has the credit.

use super::Nonprofit;
use super::position::{Position, degrees_of, squared_chord, squared_chord_of};
use std::sync::LazyLock;

/// The file, also a part of the rules by which a snapshot is built.
pub(crate) const FILE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/zip-codes.csv"));

const UNITS_PER_DEGREE: f64 = 10_000.0;

/// The index of a ZIP code in the sorted list of all. Two bytes, so that a snapshot has one for each nonprofit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ZipNumber(u16);

impl ZipNumber {
    /// Returns the bytes in a snapshot: zero if the ZIP code is unknown.
    pub fn to_bytes(number: Option<ZipNumber>) -> [u8; 2] {
        number.map_or(0, |number| number.0 + 1).to_le_bytes()
    }

    /// Reads the bytes in a snapshot.
    pub fn from_bytes(bytes: [u8; 2]) -> Option<ZipNumber> {
        u16::from_le_bytes(bytes).checked_sub(1).map(ZipNumber)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// All ZIP codes.
#[derive(Debug)]
pub struct ZipCodes {
    /// The ZIP codes as numbers, sorted.
    codes: Vec<u32>,
    positions: Vec<Position>,
    on_unit_sphere: Vec<[f64; 3]>,
    /// The indexes from south to north.
    by_latitude: Vec<u16>,
}

impl ZipCodes {
    /// Returns all ZIP codes.
    pub fn get() -> &'static ZipCodes {
        static ZIP_CODES: LazyLock<ZipCodes> =
            LazyLock::new(|| ZipCodes::parse(FILE).expect("data/zip-codes.csv is valid"));
        &ZIP_CODES
    }

    fn parse(file: &str) -> Option<ZipCodes> {
        let (mut codes, mut positions) = (Vec::new(), Vec::new());
        let rows = file.lines().filter(|line| !line.starts_with('#')).skip(1);
        for row in rows {
            let mut columns = row.split(',');
            codes.push(columns.next()?.parse().ok()?);
            let mut degrees = || Some(columns.next()?.parse::<f64>().ok()? / UNITS_PER_DEGREE);
            positions.push(Position::new(degrees()?, degrees()?)?);
        }
        let is_sorted = codes.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = codes.len() < usize::from(u16::MAX);
        let mut by_latitude: Vec<u16> = (0..codes.len() as u16).collect();
        by_latitude.sort_by(|a, b| {
            let latitude = |index: u16| positions[usize::from(index)].latitude();
            latitude(*a).total_cmp(&latitude(*b))
        });
        (is_sorted && fits).then(|| ZipCodes {
            on_unit_sphere: positions.iter().map(|at| at.on_unit_sphere()).collect(),
            codes,
            positions,
            by_latitude,
        })
    }

    /// Finds a ZIP code: exactly five digits.
    pub fn find(&self, zip: &str) -> Option<ZipNumber> {
        if zip.len() != 5 || !zip.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let index = self.codes.binary_search(&zip.parse().ok()?).ok()?;
        Some(ZipNumber(index as u16))
    }

    /// Returns where a ZIP code is. `None` for a number that is not in the list.
    pub fn position(&self, number: ZipNumber) -> Option<Position> {
        self.positions.get(number.index()).copied()
    }

    /// Returns the five digits of a ZIP code. `None` for a number that is not in the list.
    pub(crate) fn code(&self, number: ZipNumber) -> Option<String> {
        self.codes.get(number.index()).map(|code| format!("{code:05}"))
    }

    /// Returns the ZIP codes within a distance of a position, the nearest first.
    pub(crate) fn nearest(&self, center: Position, miles: f64) -> Vec<ZipNumber> {
        let mut found: Vec<ZipNumber> = self.within(center, miles).collect();
        let from = center.on_unit_sphere();
        found.sort_by(|a, b| {
            let [a, b] = [a, b].map(|number| squared_chord(from, self.on_unit_sphere[number.index()]));
            a.total_cmp(&b)
        });
        found
    }

    /// Returns the number of ZIP codes.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Iterates over the ZIP codes within a distance of a position.
    pub(crate) fn within(&self, center: Position, miles: f64) -> impl Iterator<Item = ZipNumber> {
        let from = center.on_unit_sphere();
        let max_chord = squared_chord_of(miles);
        // A little more than the radius, since only the chord decides.
        let degrees = degrees_of(miles) + 0.001;
        let latitude = |index: &u16| self.positions[usize::from(*index)].latitude();
        let start = self
            .by_latitude
            .partition_point(|index| latitude(index) < center.latitude() - degrees);
        let end = self
            .by_latitude
            .partition_point(|index| latitude(index) <= center.latitude() + degrees);
        let candidates = self.by_latitude[start..end].iter().copied();
        candidates
            .filter(move |index| squared_chord(from, self.on_unit_sphere[usize::from(*index)]) <= max_chord)
            .map(ZipNumber)
    }
}

/// Returns the ZIP code of a nonprofit, if it is known where that is.
pub fn zip_of(nonprofit: &Nonprofit<'_>) -> Option<ZipNumber> {
    if nonprofit.country.is_empty() {
        ZipCodes::get().find(nonprofit.zip)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_file_has_the_zip_codes_of_all_states() {
        let zips = ZipCodes::get();
        assert_eq!(zips.len(), 41_637);
        for (zip, latitude, longitude) in [
            ("10001", 40.75, -74.00),
            ("97201", 45.50, -122.69),
            ("99501", 61.22, -149.88),
            ("96813", 21.31, -157.85),
            ("00601", 18.18, -66.75),
        ] {
            let expected = Position::new(latitude, longitude).unwrap();
            let found = zips.position(zips.find(zip).unwrap()).unwrap();
            assert!(found.miles_to(expected) < 2.0, "{zip} {found}");
        }
        for unknown in ["00000", "99999", "1000", "100010", "1000a", "+1000", ""] {
            assert_eq!(zips.find(unknown), None, "{unknown}");
        }
        assert!(FILE.contains("GeoNames"), "the license requires the credit");
    }

    proptest! {
        // Each case computes the distance to every ZIP code.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn zip_codes_within_a_distance_are_those_of_a_plain_scan(
            latitude in -90.0..=90.0, longitude in -180.0..=180.0, at_zip in proptest::option::of(0usize..41_637),
            miles in 1.0..=500.0,
        ) {
            let zips = ZipCodes::get();
            // Few random positions have ZIP codes around them.
            let center = at_zip.map_or(Position::new(latitude, longitude).unwrap(), |at| zips.positions[at]);
            let mut found: Vec<ZipNumber> = zips.within(center, miles).collect();
            found.sort_unstable();
            let is_near = |number: &ZipNumber| center.miles_to(zips.positions[number.index()]) <= miles;
            let expected: Vec<ZipNumber> = (0..41_637).map(ZipNumber).filter(is_near).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_number_is_read_as_it_was_written(number in proptest::option::of(0u16..u16::MAX)) {
            let number = number.map(ZipNumber);
            prop_assert_eq!(ZipNumber::from_bytes(ZipNumber::to_bytes(number)), number);
        }
    }
}
