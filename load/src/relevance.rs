//! Scores search relevance over a typing log, in which every prefix that a person types is a query with a
//! known target.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::client::require_success;
use crate::connection::Connection;
use crate::format::{fraction, ratio, with_commas};
use crate::input::open;
use crate::requests::{encode_segment, get_request};
use crate::sample::ApiClient;
use crate::table::{Table, Verdict};

/// Number of results per query.
pub(crate) const TAKE: usize = 10;
/// Number of results in which a person notices the target while typing.
const TOP: usize = 5;
const MIN_MRR: f64 = 0.56;
const MIN_SUCCESS: f64 = 0.93;
const MAX_TYPED: f64 = 0.43;

/// One keystroke: the text in the search field after it, and the nonprofit that the person is looking for.
pub(crate) struct Keystroke {
    pub query: String,
    target_ein: String,
    session: u64,
    /// Number of characters typed so far, out of `length`.
    typed: u64,
    length: u64,
    is_full: bool,
    has_typo: bool,
}

pub(crate) fn read_log(file: &Path) -> Result<Vec<Keystroke>> {
    let mut log = Vec::new();
    for (index, line) in BufReader::new(open(file)?).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        if !line.trim().is_empty() {
            let keystroke =
                parse(&line).with_context(|| format!("{}, line {}", file.display(), index + 1))?;
            log.push(keystroke);
        }
    }
    ensure!(!log.is_empty(), "{} has no keystrokes", file.display());
    Ok(log)
}

fn parse(line: &str) -> Result<Keystroke> {
    let value: Value = serde_json::from_str(line)?;
    let text = |name: &str| {
        value[name]
            .as_str()
            .map(String::from)
            .with_context(|| format!("{name:?} is not a string"))
    };
    let number = |name: &str| {
        value[name]
            .as_u64()
            .with_context(|| format!("{name:?} is not a number"))
    };
    let flag = |name: &str| {
        value[name]
            .as_bool()
            .with_context(|| format!("{name:?} is not a boolean"))
    };
    Ok(Keystroke {
        query: text("q")?,
        target_ein: text("target_ein")?,
        session: number("t")?,
        typed: number("k")?,
        length: number("n")?,
        is_full: flag("full")?,
        has_typo: flag("typo_target")?,
    })
}

pub(crate) fn search_path(api: &ApiClient, query: &str, filter: &str) -> String {
    api.path(
        &format!("search/{}", encode_segment(query)),
        &format!("&take={TAKE}{filter}"),
    )
}

/// Searches for a query and returns the nonprofits of the response.
pub(crate) fn search(api: &ApiClient, connection: &mut Connection, query: &str) -> Result<Vec<Value>> {
    let request = get_request(api.address, &search_path(api, query, ""));
    let response = connection.request(request.as_bytes())?;
    require_success(&response).with_context(|| format!("searching for {query:?}"))?;
    let mut body: Value = serde_json::from_slice(response.body).context("the search response is not JSON")?;
    match body["nonprofits"].take() {
        Value::Array(nonprofits) => Ok(nonprofits),
        _ => bail!("the search response has no nonprofits"),
    }
}

/// Searches for every keystroke once and returns the 1-based rank of the target in each response.
pub(crate) fn ranks(api: &ApiClient, log: &[Keystroke]) -> Result<Vec<Option<usize>>> {
    let mut connection = Connection::open(api.address)?;
    let mut ranks = Vec::with_capacity(log.len());
    for keystroke in log {
        let found = search(api, &mut connection, &keystroke.query)?;
        let index = found
            .iter()
            .take(TAKE)
            .position(|nonprofit| nonprofit["ein"] == *keystroke.target_ein);
        ranks.push(index.map(|index| index + 1));
    }
    Ok(ranks)
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Scores {
    pub sessions: usize,
    /// Mean of 1 / rank over all keystrokes, or 0 where the target is not in the top ten.
    pub mrr: f64,
    /// Fraction of full queries with the target in the top ten.
    pub success: f64,
    /// Keystrokes until the target is in the top five, as a fraction of the full query, averaged over
    /// sessions. A session in which it never is counts as one keystroke more than the full query.
    pub typed: f64,
}

impl Scores {
    /// Computes the scores of all sessions, or only of those with a typo.
    pub(crate) fn new(log: &[Keystroke], ranks: &[Option<usize>], only_typos: bool) -> Self {
        let (mut keystrokes, mut reciprocals, mut full, mut found) = (0.0, 0.0, 0.0, 0.0);
        let mut sessions: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (keystroke, rank) in log
            .iter()
            .zip(ranks)
            .filter(|(keystroke, _)| keystroke.has_typo || !only_typos)
        {
            keystrokes += 1.0;
            reciprocals += rank.map_or(0.0, |rank| 1.0 / rank as f64);
            if keystroke.is_full {
                full += 1.0;
                found += f64::from(u8::from(rank.is_some()));
            }
            let (until, length) = sessions
                .entry(keystroke.session)
                .or_insert((keystroke.length + 1, keystroke.length));
            debug_assert_eq!(*length, keystroke.length);
            if rank.is_some_and(|rank| rank <= TOP) {
                *until = (*until).min(keystroke.typed);
            }
        }
        let typed: f64 = sessions
            .values()
            .map(|(until, length)| fraction(*until as f64, *length as f64))
            .sum();
        Self {
            sessions: sessions.len(),
            mrr: fraction(reciprocals, keystrokes),
            success: fraction(found, full),
            typed: fraction(typed, sessions.len() as f64),
        }
    }
}

/// A row of the table.
pub(crate) struct ScoreRow {
    pub name: String,
    pub score: f64,
    /// The mean of 1 / rank, where it is shown next to another score.
    pub mrr: Option<f64>,
    pub bound: Option<Bound>,
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl ScoreRow {
    pub(crate) fn verdict(&self) -> Verdict {
        match self.bound {
            Some(Bound::AtLeast(bound)) => Verdict::of(self.score >= bound),
            Some(Bound::AtMost(bound)) => Verdict::of(self.score <= bound),
            None => Verdict::Unbounded,
        }
    }

    /// Returns the bound as text, and the score as a multiple of it.
    pub(crate) fn bound_and_ratio(&self) -> (String, String) {
        match self.bound {
            Some(Bound::AtLeast(bound)) => (format!(">= {bound}"), ratio(self.score / bound)),
            Some(Bound::AtMost(bound)) => (format!("<= {bound}"), ratio(self.score / bound)),
            None => (String::new(), String::new()),
        }
    }
}

pub(crate) fn score_rows(log: &[Keystroke], ranks: &[Option<usize>]) -> Vec<ScoreRow> {
    let all = Scores::new(log, ranks, false);
    let typos = Scores::new(log, ranks, true);
    let row = |name: &str, score, bound| ScoreRow {
        name: name.to_owned(),
        score,
        mrr: None,
        bound,
    };
    let mut rows = vec![
        row("MRR@10, all keystrokes", all.mrr, Some(Bound::AtLeast(MIN_MRR))),
        row(
            "success@10, full query",
            all.success,
            Some(Bound::AtLeast(MIN_SUCCESS)),
        ),
        row(
            "fraction typed until in the top 5",
            all.typed,
            Some(Bound::AtMost(MAX_TYPED)),
        ),
    ];
    if typos.sessions > 0 {
        rows.extend([
            row("with a typo: MRR@10, all keystrokes", typos.mrr, None),
            row(
                "with a typo: success@10, full query",
                typos.success,
                Some(Bound::AtLeast(MIN_SUCCESS)),
            ),
            row(
                "with a typo: fraction typed until in the top 5",
                typos.typed,
                None,
            ),
        ]);
    }
    rows
}

/// Returns a table of the scores of a typing log, followed by the rows of `others`.
pub(crate) fn table(log: &[Keystroke], ranks: &[Option<usize>], others: Vec<ScoreRow>) -> Table {
    let sessions = Scores::new(log, ranks, false).sessions as u64;
    let title = format!(
        "Relevance, {} keystrokes in {} sessions",
        with_commas(log.len() as u64),
        with_commas(sessions)
    );
    let columns = ["measurement", "score", "MRR@10", "ratio to the bound", "bound"];
    let mut table = Table::new(title, &columns);
    for row in score_rows(log, ranks).into_iter().chain(others) {
        let (bound, relative) = row.bound_and_ratio();
        let score = format!("{:.3}", row.score);
        let mrr = row.mrr.map(|mrr| format!("{mrr:.3}")).unwrap_or_default();
        table.add_row(&[&row.name, &score, &mrr, &relative, &bound], row.verdict());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three sessions: the target is found at once, late and despite a typo, and never.
    const LOG: &str = r#"
        {"q":"a","target_ein":"1","typo":false,"t":7,"k":1,"n":2,"full":false,"typo_target":false,"kind":"x"}
        {"q":"ab","target_ein":"1","typo":false,"t":7,"k":2,"n":2,"full":true,"typo_target":false,"kind":"x"}
        {"q":"c","target_ein":"2","typo":false,"t":9,"k":1,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cx","target_ein":"2","typo":true,"t":9,"k":2,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cxd","target_ein":"2","typo":true,"t":9,"k":3,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cxde","target_ein":"2","typo":true,"t":9,"k":4,"n":4,"full":true,"typo_target":true,"kind":"x"}
        {"q":"z","target_ein":"3","typo":false,"t":11,"k":1,"n":1,"full":true,"typo_target":false,"kind":"x"}
    "#;
    const RANKS: [Option<usize>; 7] = [Some(1), Some(2), None, Some(6), Some(5), Some(10), None];

    fn log() -> Vec<Keystroke> {
        LOG.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| parse(line).unwrap())
            .collect()
    }

    fn is_close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn the_scores_of_a_small_log_match_manual_calculation() {
        let scores = Scores::new(&log(), &RANKS, false);
        assert_eq!(scores.sessions, 3);
        assert!(is_close(
            scores.mrr,
            (1.0 + 1.0 / 2.0 + 1.0 / 6.0 + 1.0 / 5.0 + 1.0 / 10.0) / 7.0
        ));
        assert!(is_close(scores.success, 2.0 / 3.0));
        assert!(is_close(scores.typed, (1.0 / 2.0 + 3.0 / 4.0 + 2.0 / 1.0) / 3.0));
    }

    #[test]
    fn sessions_with_a_typo_are_scored_from_the_first_keystroke() {
        let scores = Scores::new(&log(), &RANKS, true);
        assert_eq!(scores.sessions, 1);
        assert!(is_close(scores.mrr, (1.0 / 6.0 + 1.0 / 5.0 + 1.0 / 10.0) / 4.0));
        assert!(is_close(scores.success, 1.0));
        assert!(is_close(scores.typed, 3.0 / 4.0));
    }

    #[test]
    fn a_log_without_typos_has_no_typo_rows() {
        assert_eq!(score_rows(&log(), &RANKS).len(), 6);
        assert_eq!(score_rows(&log()[..2], &RANKS[..2]).len(), 3);
    }

    #[test]
    fn the_error_names_a_missing_field() {
        let error = parse(r#"{"q":"a","target_ein":"1","t":7}"#).err().unwrap();
        assert!(error.to_string().contains("\"k\""), "{error}");
    }
}
