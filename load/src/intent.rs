//! Scores search relevance over intent queries, which say what somebody wants: how many of the first results are of a
//! right kind, judged by the category, the name and the place in the imported file.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::connection::Connection;
use crate::format::fraction;
use crate::input::open;
use crate::relevance::{Bound, ScoreRow, TAKE, search};
use crate::sample::ApiClient;

const MIN_SATISFIED: f64 = 0.85;

/// The columns of an EO BMF file that decide.
const COLUMNS: [&str; 6] = ["EIN", "NTEE_CD", "NAME", "SORT_NAME", "STATE", "CITY"];

/// A query, and which nonprofits are right answers.
pub(crate) struct IntentQuery {
    pub text: String,
    kind: String,
    /// What the NTEE code of a right answer starts with, any of them.
    codes: Vec<String>,
    /// What is found in the names of a right answer, if its code does not decide.
    name: Option<Regex>,
    state: Option<String>,
    cities: Vec<String>,
    /// How many of the first results must be right.
    min_right: usize,
}

/// What the imported file says about a nonprofit.
struct Facts {
    code: String,
    names: String,
    state: String,
    city: String,
}

impl IntentQuery {
    fn is_right(&self, facts: &Facts) -> bool {
        let is_in_state = self.state.as_ref().is_none_or(|state| *state == facts.state);
        let is_in_city = self.cities.is_empty() || self.cities.contains(&facts.city);
        let has_code = self.codes.iter().any(|code| facts.code.starts_with(code));
        let has_name = || self.name.as_ref().is_some_and(|name| name.is_match(&facts.names));
        is_in_state && is_in_city && (has_code || has_name())
    }
}

pub(crate) fn read_queries(file: &Path) -> Result<Vec<IntentQuery>> {
    let mut queries = Vec::new();
    for (index, line) in BufReader::new(open(file)?).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        if !line.trim().is_empty() {
            let query = parse(&line).with_context(|| format!("{}, line {}", file.display(), index + 1))?;
            queries.push(query);
        }
    }
    ensure!(!queries.is_empty(), "{} has no queries", file.display());
    Ok(queries)
}

fn parse(line: &str) -> Result<IntentQuery> {
    let value: Value = serde_json::from_str(line)?;
    let text = |name: &str| value[name].as_str().map(String::from);
    let codes = value["ntee"].as_array().context("\"ntee\" is not an array")?;
    let name = text("name").filter(|pattern| !pattern.is_empty());
    let compile = |pattern: String| RegexBuilder::new(&pattern).case_insensitive(true).build();
    let cities = text("city").unwrap_or_default();
    let min_right = value["need"].as_u64().context("\"need\" is not a number")?;
    Ok(IntentQuery {
        text: text("q").context("\"q\" is not a string")?,
        kind: text("kind").context("\"kind\" is not a string")?,
        codes: codes
            .iter()
            .filter_map(|code| code.as_str().map(String::from))
            .collect(),
        name: name.map(compile).transpose()?,
        state: text("state"),
        cities: cities
            .split('|')
            .filter(|city| !city.is_empty())
            .map(String::from)
            .collect(),
        min_right: min_right as usize,
    })
}

/// Searches for every query once, and returns a row for each kind, in the order of the queries, and one for all: the
/// fraction of queries with enough right results. `file` is the EO BMF file that was imported.
pub(crate) fn score_rows(api: &ApiClient, queries: &[IntentQuery], file: &Path) -> Result<Vec<ScoreRow>> {
    let mut connection = Connection::open(api.address)?;
    let mut results: Vec<Vec<String>> = Vec::with_capacity(queries.len());
    for query in queries {
        let found = search(api, &mut connection, &query.text)?;
        let eins = found
            .iter()
            .take(TAKE)
            .filter_map(|nonprofit| nonprofit["ein"].as_str());
        results.push(eins.map(String::from).collect());
    }
    let facts = read_facts(file, &results.iter().flatten().map(String::as_str).collect())?;
    let is_satisfied = |query: &IntentQuery, eins: &[String]| {
        let right = eins.iter().filter_map(|ein| facts.get(ein));
        right.filter(|facts| query.is_right(facts)).count() >= query.min_right
    };
    let mut kinds: Vec<(&str, u32, u32)> = vec![];
    for (query, eins) in queries.iter().zip(&results) {
        let index = kinds.iter().position(|(kind, ..)| *kind == query.kind);
        let index = index.unwrap_or_else(|| {
            kinds.push((&query.kind, 0, 0));
            kinds.len() - 1
        });
        kinds[index].1 += 1;
        kinds[index].2 += u32::from(is_satisfied(query, eins));
    }
    let total = kinds.iter().fold(("total", 0, 0), |total, kind| {
        (total.0, total.1 + kind.1, total.2 + kind.2)
    });
    let row = |&(kind, count, satisfied): &(&str, u32, u32)| ScoreRow {
        name: format!("intent queries: {kind}, {count}"),
        score: fraction(f64::from(satisfied), f64::from(count)),
        mrr: None,
        bound: (kind == total.0).then_some(Bound::AtLeast(MIN_SATISFIED)),
    };
    Ok(kinds.iter().chain([&total]).map(row).collect())
}

/// Reads the facts about these nonprofits from an EO BMF file.
fn read_facts(file: &Path, eins: &HashSet<&str>) -> Result<HashMap<String, Facts>> {
    let mut lines = BufReader::new(open(file)?).lines();
    let header = lines.next().context("the file of nonprofits is empty")??;
    let header = split_line(&header);
    let column = |name: &str| {
        let index = header.iter().position(|column| column == name);
        index.with_context(|| format!("{} has no column {name}", file.display()))
    };
    let mut columns = [0; COLUMNS.len()];
    for (index, name) in columns.iter_mut().zip(COLUMNS) {
        *index = column(name)?;
    }
    let mut facts = HashMap::new();
    for line in lines {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        let fields = split_line(&line);
        let [ein, code, name, sort_name, state, city] =
            columns.map(|index| fields.get(index).cloned().unwrap_or_default());
        if eins.contains(ein.as_str()) {
            let names = format!("{name} {sort_name}");
            let code = code.to_uppercase();
            facts.insert(
                ein,
                Facts {
                    code,
                    names,
                    state,
                    city,
                },
            );
        }
    }
    Ok(facts)
}

/// Splits a line of a CSV file. A field with a comma is quoted.
fn split_line(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut is_quoted = false;
    for character in line.trim_end().chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(character),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_right_by_its_code_or_name_in_the_place() {
        let query = parse(
            r#"{"q":"free dental care in oregon","kind":"place","ntee":["E32"],"name":"DENT(AL|IST)","state":"OR","city":null,"need":4}"#,
        )
        .unwrap();
        let is_right = |code: &str, names: &str, state: &str| {
            query.is_right(&Facts {
                code: code.to_owned(),
                names: names.to_owned(),
                state: state.to_owned(),
                city: "PORTLAND".to_owned(),
            })
        };
        assert!(is_right("E32Z", "SMILES", "OR"));
        assert!(is_right("", "Dental Aid", "OR"));
        assert!(!is_right("", "SMILES", "OR"));
        assert!(!is_right("E32Z", "DENTAL AID", "WA"));
    }

    #[test]
    fn a_quoted_field_may_have_a_comma() {
        assert_eq!(split_line("1,\"A, B\",,C\r"), ["1", "A, B", "", "C"]);
    }
}
