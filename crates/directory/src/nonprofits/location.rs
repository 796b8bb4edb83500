//! Locations: readable names of cities, names of states, and the location as one line.

use super::{capitalization, name};

/// Returns a city as people write it: `N LITTLE ROCK` is North Little Rock, `MC LEAN` is McLean, `SALT LAKE CTY` is Salt
/// Lake City. If a city already has lowercase letters, only its whitespace is cleaned.
pub fn city(filed: &str) -> String {
    let filed = filed.trim();
    if filed.chars().any(char::is_lowercase) || !filed.is_ascii() {
        return name::readable(filed);
    }
    if let Some(corrected) = corrected(filed) {
        return corrected.to_owned();
    }
    let mut out = String::with_capacity(filed.len() + 8);
    let mut words = filed.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_first = out.is_empty();
        let is_last = words.peek().is_none();
        match word {
            "MC" | "O" if is_first && !is_last => {
                out.push_str(if word == "MC" { "Mc" } else { "O'" });
                continue;
            }
            _ if !is_first && !out.ends_with("Mc") && !out.ends_with('\'') => out.push(' '),
            _ => {}
        }
        match direction(word).filter(|_| is_first && !is_last) {
            Some(direction) => out.push_str(direction),
            None => write_city_word(&mut out, word, is_first || is_last),
        }
    }
    out
}

fn direction(word: &str) -> Option<&'static str> {
    Some(match word {
        "N" | "NO" => "North",
        "S" | "SO" => "South",
        "E" => "East",
        "W" => "West",
        _ => return None,
    })
}

fn write_city_word(out: &mut String, word: &str, is_at_end: bool) {
    if let Some(written) = capitalization::lookup_city_word(word) {
        out.push_str(written);
    } else if !is_at_end && capitalization::is_minor_word(word) {
        capitalization::write_lowercase(out, word);
    } else {
        // In a city, a word without vowels is an abbreviation, not an acronym.
        for (index, piece) in word.split('-').enumerate() {
            if index > 0 {
                out.push('-');
            }
            if capitalization::is_pronounceable(piece) {
                capitalization::write_word(out, piece);
            } else {
                capitalization::write_capitalized(out, piece);
            }
        }
    }
}

/// Returns the correct form of places without their apostrophe, and of countries that the IRS files truncate or misspell.
fn corrected(filed: &str) -> Option<&'static str> {
    Some(match filed {
        "COEUR D ALENE" => "Coeur d'Alene",
        "NORTHERN MARIANA ISLAN" => "Northern Mariana Islands",
        "BRITISH VIRGIN ISLAN" => "British Virgin Islands",
        "ST VINCENT & GRENADINE" => "St Vincent & the Grenadines",
        "DEM REP OF CONGO" => "Democratic Republic of the Congo",
        "DOMINICAN REP" => "Dominican Republic",
        "ASHMORE & CARTIER IS" => "Ashmore & Cartier Islands",
        "PHILLIPINES" => "Philippines",
        "LUXENBOURG" => "Luxembourg",
        _ => return None,
    })
}

/// Returns a location as one line: `Washington, DC`, `Toronto, Canada`, `United Kingdom`.
///
/// For foreign organizations, the IRS files have the country in the city column and no state. `country` is empty for them
/// and for everything in the United States.
pub(crate) fn location_line(city_filed: &str, state: &str, country: &str) -> String {
    let mut line = city(city_filed);
    let state = state.trim();
    if !state.is_empty() {
        append(&mut line, &state.to_ascii_uppercase());
    }
    let country = country.trim();
    if !country.is_empty() && !is_united_states(country) {
        let country = name::readable(country);
        if line != country {
            append(&mut line, &country);
        }
    }
    line
}

fn append(line: &mut String, part: &str) {
    if !line.is_empty() {
        line.push_str(", ");
    }
    line.push_str(part);
}

fn is_united_states(country: &str) -> bool {
    [
        "US",
        "USA",
        "U.S.",
        "U.S.A.",
        "United States",
        "United States of America",
    ]
    .iter()
    .any(|name| country.eq_ignore_ascii_case(name))
}

/// Returns the name of a state, territory or armed forces region by its postal code. Ignores letter case.
pub fn state_name(code: &str) -> Option<&'static str> {
    STATES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(code.trim()))
        .map(|(_, name)| *name)
}

/// Returns the postal code of a state, territory or armed forces region by its code or name. Ignores letter case.
pub(crate) fn state_code(text: &str) -> Option<&'static str> {
    let text = text.trim();
    STATES
        .iter()
        .find(|(code, name)| code.eq_ignore_ascii_case(text) || name.eq_ignore_ascii_case(text))
        .map(|(code, _)| *code)
}

/// All postal codes with their names, sorted by code.
pub const STATES: [(&str, &str); 62] = [
    ("AA", "Armed Forces Americas"),
    ("AE", "Armed Forces Europe"),
    ("AK", "Alaska"),
    ("AL", "Alabama"),
    ("AP", "Armed Forces Pacific"),
    ("AR", "Arkansas"),
    ("AS", "American Samoa"),
    ("AZ", "Arizona"),
    ("CA", "California"),
    ("CO", "Colorado"),
    ("CT", "Connecticut"),
    ("DC", "District of Columbia"),
    ("DE", "Delaware"),
    ("FL", "Florida"),
    ("FM", "Federated States of Micronesia"),
    ("GA", "Georgia"),
    ("GU", "Guam"),
    ("HI", "Hawaii"),
    ("IA", "Iowa"),
    ("ID", "Idaho"),
    ("IL", "Illinois"),
    ("IN", "Indiana"),
    ("KS", "Kansas"),
    ("KY", "Kentucky"),
    ("LA", "Louisiana"),
    ("MA", "Massachusetts"),
    ("MD", "Maryland"),
    ("ME", "Maine"),
    ("MH", "Marshall Islands"),
    ("MI", "Michigan"),
    ("MN", "Minnesota"),
    ("MO", "Missouri"),
    ("MP", "Northern Mariana Islands"),
    ("MS", "Mississippi"),
    ("MT", "Montana"),
    ("NC", "North Carolina"),
    ("ND", "North Dakota"),
    ("NE", "Nebraska"),
    ("NH", "New Hampshire"),
    ("NJ", "New Jersey"),
    ("NM", "New Mexico"),
    ("NV", "Nevada"),
    ("NY", "New York"),
    ("OH", "Ohio"),
    ("OK", "Oklahoma"),
    ("OR", "Oregon"),
    ("PA", "Pennsylvania"),
    ("PR", "Puerto Rico"),
    ("PW", "Palau"),
    ("RI", "Rhode Island"),
    ("SC", "South Carolina"),
    ("SD", "South Dakota"),
    ("TN", "Tennessee"),
    ("TX", "Texas"),
    ("UT", "Utah"),
    ("VA", "Virginia"),
    ("VI", "US Virgin Islands"),
    ("VT", "Vermont"),
    ("WA", "Washington"),
    ("WI", "Wisconsin"),
    ("WV", "West Virginia"),
    ("WY", "Wyoming"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cities_become_readable() {
        for (filed, expected) in [
            ("ST LOUIS", "St Louis"),
            ("WINSTON SALEM", "Winston Salem"),
            ("MCALLEN", "McAllen"),
            ("MC LEAN", "McLean"),
            ("N LITTLE ROCK", "North Little Rock"),
            ("KING OF PRUSSIA", "King of Prussia"),
            ("OFALLON", "O'Fallon"),
            ("O NEILL", "O'Neill"),
            ("COEUR D ALENE", "Coeur d'Alene"),
            ("APO", "APO"),
            ("LA PLATA", "La Plata"),
            ("WILKES-BARRE", "Wilkes-Barre"),
            ("SALT LAKE CTY", "Salt Lake City"),
            ("LONG IS CITY", "Long Island City"),
            ("FT WAYNE", "Fort Wayne"),
            ("ST HELENS", "St Helens"),
            ("LUDLOW FLS", "Ludlow Falls"),
            ("TN OF TONA", "Tn of Tona"),
            ("USA", "USA"),
        ] {
            assert_eq!(city(filed), expected);
        }
    }

    #[test]
    fn a_location_is_one_line() {
        assert_eq!(location_line("WASHINGTON", "DC", ""), "Washington, DC");
        assert_eq!(location_line("UNITED KINGDOM", "", ""), "United Kingdom");
        assert_eq!(location_line("TORONTO", "ON", "CANADA"), "Toronto, ON, Canada");
        assert_eq!(location_line("Canada", "", "CANADA"), "Canada");
        assert_eq!(location_line("Portland", "or", "USA"), "Portland, OR");
        assert_eq!(location_line("", "NY", ""), "NY");
        assert_eq!(location_line("", "", ""), "");
    }

    #[test]
    fn states_are_sorted_and_found_in_any_letter_case() {
        assert!(STATES.is_sorted());
        assert_eq!(state_name("dc"), Some("District of Columbia"));
        assert_eq!(state_name("XX"), None);
    }

    proptest! {
        #[test]
        fn formatting_a_location_never_panics(filed in any::<String>(), state in "[A-Z]{0,2}") {
            let _ = location_line(&filed, &state, "");
        }
    }
}
