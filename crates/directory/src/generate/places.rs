//! Where made-up bodies sit: real cities by their weight, made-up towns of every state, and a few abroad.

use super::rng::{Rng, Weighted};
use super::words::{Composed, Entry, number, table};

/// Towns that are made up; a town has the same name, state and ZIP code in every row.
const TOWNS: u64 = 1 << 15;
/// Schools, lakes and neighbourhoods bear the names of many more.
const NAMED_AFTER_TOWNS: u64 = 1 << 17;
const TOWN_SALT: u64 = 0x70A7;

pub struct State {
    code: &'static str,
    name: &'static str,
    lowest_zip: u64,
    highest_zip: u64,
}

struct City {
    name: &'static str,
    state: &'static str,
    zip: u64,
}

pub struct Places {
    states: Weighted<State>,
    cities: Weighted<City>,
    towns: Composed,
    abroad: Vec<Entry>,
}

/// Where one body sits.
#[derive(Debug, Default)]
pub struct Place {
    /// The country, for a body abroad.
    pub city: String,
    /// Two letters; empty abroad.
    pub state: &'static str,
    pub state_name: &'static str,
    /// Five digits, all 0 abroad.
    pub zip: u64,
}

impl Places {
    pub fn new(abroad: Vec<Entry>) -> Places {
        Places {
            states: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/states.txt"
                )),
                2,
                |[code, name, _, low, high]| State {
                    code,
                    name,
                    lowest_zip: number(low),
                    highest_zip: number(high),
                },
            ),
            cities: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/cities.txt"
                )),
                3,
                |[name, state, zip, _]| City {
                    name,
                    state,
                    zip: number(zip),
                },
            ),
            towns: Composed::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/towns.txt"
                )),
                TOWN_SALT,
            ),
            abroad,
        }
    }

    /// Draws a place into `place`, whose buffer is used again.
    pub fn draw(&self, rng: &mut Rng, place: &mut Place) {
        place.city.clear();
        match rng.below(1000) {
            0..3 => {
                place.city.push_str(rng.choose_skewed(&self.abroad).text);
                (place.state, place.state_name, place.zip) = ("", "", 0);
            }
            3..520 => {
                let city = self.cities.draw(rng);
                let state = self.states.find(|state| state.code == city.state);
                place.city.push_str(city.name);
                (place.state, place.state_name) = (city.state, state.map_or(city.name, |state| state.name));
                place.zip = city.zip * 100 + 1 + rng.rank(60, 8);
            }
            _ => {
                let town = rng.rank(TOWNS, 256);
                let mut fixed = Rng::for_row(TOWN_SALT, town);
                let state = self.states.draw(&mut fixed);
                self.towns.write(town, &mut place.city);
                (place.state, place.state_name) = (state.code, state.name);
                let three = state.lowest_zip + fixed.below(state.highest_zip - state.lowest_zip + 1);
                place.zip = three * 100 + 1 + fixed.below(99);
            }
        }
    }

    /// Writes the name of some town.
    pub fn write_town(&self, rng: &mut Rng, out: &mut String) {
        self.towns.write(rng.rank(NAMED_AFTER_TOWNS, 512), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::words::Lists;
    use std::collections::HashMap;

    #[test]
    fn a_town_always_has_the_same_state_and_the_zip_code_of_that_state() {
        let places = Places::new(
            Lists::new(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../data/generate/lists.txt"
            )))
            .take("foreign"),
        );
        let mut place = Place::default();
        let mut abroad = 0;
        let mut three_digits: HashMap<(String, &str), Vec<u64>> = HashMap::new();
        for row in 0..20_000 {
            places.draw(&mut Rng::for_row(5, row), &mut place);
            if place.state.is_empty() {
                assert_eq!(place.zip, 0);
                abroad += 1;
                continue;
            }
            assert_ne!(place.state_name, "", "{}", place.city);
            let state = places.states.find(|state| state.code == place.state).unwrap();
            let three = place.zip / 100;
            assert!(
                (state.lowest_zip..=state.highest_zip).contains(&three),
                "{place:?}"
            );
            three_digits
                .entry((place.city.clone(), place.state))
                .or_default()
                .push(three);
        }
        assert!((30..120).contains(&abroad), "{abroad}");
        assert!(three_digits.len() > 3_000);
    }
}
