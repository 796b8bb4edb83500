//! Scores search relevance over everyday queries: queries as donors type them, by kind, each with the
//! nonprofits that are right answers and the rank within which one of them must be.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::connection::Connection;
use crate::format::fraction;
use crate::input::open;
use crate::relevance::{Bound, ScoreRow, TAKE, search};
use crate::sample::ApiClient;

const MIN_SATISFIED: f64 = 0.95;
/// Fraction of the queries of a kind that may fail. One may always fail.
const MAX_FAILING_OF_KIND: f64 = 0.15;
/// Number of results that are listed for a failing query.
const LISTED_RESULTS: usize = 3;

/// A query with its right answers.
pub(crate) struct EverydayQuery {
    text: String,
    kind: String,
    /// The EINs of the right answers, any of which satisfies the query.
    expected: Vec<String>,
    max_rank: usize,
    /// What was judged to be right, in words.
    note: String,
}

/// The results of a query.
pub(crate) struct Answer {
    /// The 1-based rank of the first right answer.
    rank: Option<usize>,
    /// The first results, in words.
    shown: Vec<String>,
}

impl EverydayQuery {
    fn is_satisfied(&self, answer: &Answer) -> bool {
        answer.rank.is_some_and(|rank| rank <= self.max_rank)
    }
}

pub(crate) fn read_queries(file: &Path) -> Result<Vec<EverydayQuery>> {
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

fn parse(line: &str) -> Result<EverydayQuery> {
    let value: Value = serde_json::from_str(line)?;
    let text = |name: &str| {
        value[name]
            .as_str()
            .map(String::from)
            .with_context(|| format!("{name:?} is not a string"))
    };
    let eins = value["want"].as_array().context("\"want\" is not an array")?;
    let max_rank = value["max_rank"]
        .as_u64()
        .context("\"max_rank\" is not a number")?;
    Ok(EverydayQuery {
        text: text("q")?,
        kind: text("kind")?,
        expected: eins
            .iter()
            .filter_map(|ein| ein.as_str().map(String::from))
            .collect(),
        max_rank: max_rank as usize,
        note: text("note").unwrap_or_default(),
    })
}

/// Searches for every query once.
pub(crate) fn answers(api: &ApiClient, queries: &[EverydayQuery]) -> Result<Vec<Answer>> {
    let mut connection = Connection::open(api.address)?;
    let answer = |query: &EverydayQuery| {
        let found = search(api, &mut connection, &query.text)?;
        let text = |nonprofit: &Value, name: &str| nonprofit[name].as_str().unwrap_or_default().to_owned();
        let is_right = |nonprofit: &Value| query.expected.contains(&text(nonprofit, "ein"));
        let show = |nonprofit: &Value| {
            let [ein, name, location] = ["ein", "name", "location"].map(|field| text(nonprofit, field));
            format!("{ein} {name} [{location}]")
        };
        Ok(Answer {
            rank: found.iter().take(TAKE).position(is_right).map(|index| index + 1),
            shown: found.iter().take(LISTED_RESULTS).map(show).collect(),
        })
    };
    queries.iter().map(answer).collect()
}

/// Returns a row for each kind, in the order of the queries, and one for all of them: the fraction of queries
/// that are satisfied, with the mean of 1 / rank.
pub(crate) fn score_rows(queries: &[EverydayQuery], answers: &[Answer]) -> Vec<ScoreRow> {
    let mut kinds: Vec<&str> = Vec::new();
    for query in queries {
        if !kinds.contains(&query.kind.as_str()) {
            kinds.push(&query.kind);
        }
    }
    let of_kind = |kind| score_row(queries, answers, Some(kind));
    let rows = kinds.into_iter().map(of_kind);
    rows.chain([score_row(queries, answers, None)]).collect()
}

/// Computes the row of a kind, or of all queries.
fn score_row(queries: &[EverydayQuery], answers: &[Answer], kind: Option<&str>) -> ScoreRow {
    let (mut count, mut satisfied, mut reciprocals) = (0, 0, 0.0);
    for (query, answer) in queries.iter().zip(answers) {
        if kind.is_none_or(|kind| query.kind == kind) {
            count += 1;
            satisfied += usize::from(query.is_satisfied(answer));
            reciprocals += answer.rank.map_or(0.0, |rank| 1.0 / rank as f64);
        }
    }
    let bound = if kind.is_some() {
        min_satisfied(count)
    } else {
        MIN_SATISFIED
    };
    ScoreRow {
        name: format!("everyday queries: {}, {count}", kind.unwrap_or("total")),
        score: fraction(satisfied as f64, f64::from(count)),
        mrr: Some(fraction(reciprocals, f64::from(count))),
        bound: Some(Bound::AtLeast(bound)),
    }
}

/// Returns the fraction of the queries of a kind that must be satisfied, rounded down to three digits.
fn min_satisfied(count: u32) -> f64 {
    let may_fail = (f64::from(count) * MAX_FAILING_OF_KIND).floor().max(1.0);
    let fraction = fraction(f64::from(count) - may_fail, f64::from(count));
    (fraction * 1_000.0).floor() / 1_000.0
}

/// Lists the queries that are not satisfied, with the first results of each.
pub(crate) fn failing_queries(queries: &[EverydayQuery], answers: &[Answer]) -> String {
    let pairs = queries.iter().zip(answers);
    let failing: Vec<_> = pairs
        .filter(|(query, answer)| !query.is_satisfied(answer))
        .collect();
    let mut list = format!("{} everyday queries fail:\n", failing.len());
    for (query, answer) in failing {
        let rank = answer
            .rank
            .map_or_else(|| "not found".to_owned(), |rank| format!("rank {rank}"));
        let EverydayQuery {
            text,
            kind,
            max_rank,
            note,
            ..
        } = query;
        let _ = write!(
            list,
            "\n- {kind}: {text:?}, {rank}, allowed {max_rank}; expected {note}"
        );
        for shown in &answer.shown {
            let _ = write!(list, "\n  - {shown}");
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries() -> Vec<EverydayQuery> {
        [
            r#"{"q":"red cross","kind":"brand","want":["1"],"max_rank":1,"note":"AMERICAN RED CROSS"}"#,
            r#"{"q":"zoo boise","kind":"place","want":["2","3"],"max_rank":3,"note":"ZOO BOISE"}"#,
            r#"{"q":"ywca","kind":"brand","want":["4"],"max_rank":3,"note":"YWCA"}"#,
        ]
        .map(|line| parse(line).unwrap())
        .into()
    }

    fn answers() -> Vec<Answer> {
        [Some(2), Some(3), None]
            .map(|rank| Answer {
                rank,
                shown: vec!["9 OTHER [BOISE, ID]".to_owned()],
            })
            .into()
    }

    #[test]
    fn each_kind_is_scored_and_then_all() {
        let rows = score_rows(&queries(), &answers());
        let figures: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.name.as_str(),
                    format!("{:.3} {:.3}", row.score, row.mrr.unwrap()),
                )
            })
            .collect();
        assert_eq!(
            figures,
            [
                ("everyday queries: brand, 2", "0.000 0.250".to_owned()),
                ("everyday queries: place, 1", "1.000 0.333".to_owned()),
                ("everyday queries: total, 3", "0.333 0.278".to_owned()),
            ]
        );
    }

    #[test]
    fn failing_queries_are_listed_with_their_results() {
        let list = failing_queries(&queries(), &answers());
        assert_eq!(
            list,
            "2 everyday queries fail:\n\n\
             - brand: \"red cross\", rank 2, allowed 1; expected AMERICAN RED CROSS\n  - 9 OTHER [BOISE, ID]\n\
             - brand: \"ywca\", not found, allowed 3; expected YWCA\n  - 9 OTHER [BOISE, ID]"
        );
    }

    #[test]
    fn one_query_of_a_small_kind_may_fail_and_15_percent_of_a_large_one() {
        for (count, bound) in [(1, 0.0), (5, 0.8), (13, 0.923), (20, 0.85), (38, 0.868)] {
            assert!(
                (min_satisfied(count) - bound).abs() < 1e-9,
                "{count}: {}",
                min_satisfied(count)
            );
        }
    }
}
