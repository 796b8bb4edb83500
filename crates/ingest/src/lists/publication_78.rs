//! Publication 78: organizations to which donations are deductible, each with codes such as `PC` or `EO,LODGE`.

use super::kind::ListKind;
use super::list::List;
use directory::nonprofits::lists::Publication78;
use std::collections::HashMap;

const CODES: usize = 5;
/// The longest code of the IRS has five letters.
const MAX_CODE_LENGTH: usize = 12;

/// The different combinations of codes in a file, of which there are a few dozen. A row holds the number of its own.
#[derive(Default)]
pub(crate) struct Publication78List {
    combinations: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Publication78List {
    fn number_of(&mut self, codes: &str) -> u32 {
        if let Some(number) = self.numbers.get(codes) {
            return *number;
        }
        let number = self.combinations.len() as u32;
        self.combinations.push(codes.to_owned());
        self.numbers.insert(codes.to_owned(), number);
        number
    }
}

impl List for Publication78List {
    const KIND: ListKind = ListKind::Publication78;
    type Compact = u32;
    type Row = Publication78;

    fn read(&mut self, fields: &[&str]) -> Result<u32, &'static str> {
        let codes = fields[CODES];
        if let Some(number) = self.numbers.get(codes) {
            return Ok(*number);
        }
        let is_code = |code: &&str| {
            (1..=MAX_CODE_LENGTH).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        let codes: Vec<&str> = codes.split(',').map(str::trim).collect();
        if !codes.iter().all(is_code) {
            return Err("the deductibility codes are invalid");
        }
        Ok(self.number_of(&codes.join(",").to_ascii_uppercase()))
    }

    /// Both rows apply, so their codes are joined.
    fn merge(&mut self, first: u32, second: u32) -> u32 {
        if first == second {
            return first;
        }
        let both = [first, second].map(|number| self.combinations[number as usize].as_str());
        let mut codes: Vec<&str> = both.iter().flat_map(|codes| codes.split(',')).collect();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.join(",");
        self.number_of(&codes)
    }

    fn row(&self, ein: u32, codes: &u32, source: i64) -> Publication78 {
        Publication78 {
            ein: i64::from(ein),
            codes: self.combinations[*codes as usize].clone(),
            source,
        }
    }

    fn history_fields(row: &Publication78) -> Vec<(&'static str, Option<String>)> {
        vec![("deductibilityCodes", Some(row.codes.clone()))]
    }
}
