//! How soon the wanted nonprofit stands in the list: four scores over a typing log, in which every prefix of what
//! a person types is one query with a known target.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::connection::Connection;
use crate::drive::require_success;
use crate::figures::{grouped, ratio, share};
use crate::input::open;
use crate::requests::{get, segment};
use crate::sample::Asking;
use crate::table::{Table, Verdict};

pub const TAKE: usize = 10;
const TOP: usize = 5;
const MRR: f64 = 0.56;
const SUCCESS: f64 = 0.93;
const TYPED: f64 = 0.43;

/// One keystroke: what stands in the field after it, and who is looked for.
pub struct Keystroke {
    pub query: String,
    target: String,
    session: u64,
    typed: u64,
    of: u64,
    full: bool,
    typo: bool,
}

pub fn read_log(file: &Path) -> Result<Vec<Keystroke>> {
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
            .with_context(|| format!("no text {name:?}"))
    };
    let number = |name: &str| {
        value[name]
            .as_u64()
            .with_context(|| format!("no number {name:?}"))
    };
    let flag = |name: &str| {
        value[name]
            .as_bool()
            .with_context(|| format!("no true or false {name:?}"))
    };
    Ok(Keystroke {
        query: text("q")?,
        target: text("target_ein")?,
        session: number("t")?,
        typed: number("k")?,
        of: number("n")?,
        full: flag("full")?,
        typo: flag("typo_target")?,
    })
}

pub fn search_path(ask: &Asking, query: &str, more: &str) -> String {
    ask.path(
        &format!("search/{}", segment(query)),
        &format!("&take={TAKE}{more}"),
    )
}

/// Asks every keystroke once; the place of the target in each answer, first = 1.
pub fn places(ask: &Asking, log: &[Keystroke]) -> Result<Vec<Option<usize>>> {
    let mut connection = Connection::open(ask.address)?;
    let mut places = Vec::with_capacity(log.len());
    for keystroke in log {
        let request = get(ask.address, &search_path(ask, &keystroke.query, ""));
        let answer = connection.call(request.as_bytes())?;
        require_success(&answer).with_context(|| format!("searching for {:?}", keystroke.query))?;
        let body: Value = serde_json::from_slice(answer.body).context("a search answer is not JSON")?;
        let found = body["nonprofits"]
            .as_array()
            .context("a search answer without nonprofits")?;
        let place = found
            .iter()
            .take(TAKE)
            .position(|nonprofit| nonprofit["ein"] == *keystroke.target);
        places.push(place.map(|index| index + 1));
    }
    Ok(places)
}

#[derive(Debug, Default, PartialEq)]
pub struct Scores {
    pub sessions: usize,
    /// Mean of 1 / place over all keystrokes, 0 where the target is not among the ten.
    pub mrr: f64,
    /// Share of full queries with the target among the ten.
    pub success: f64,
    /// Keystrokes until the target is among the first five, as a share of the full query; one more than all of them
    /// where it never is. Mean over sessions.
    pub typed: f64,
}

impl Scores {
    /// The scores of all sessions, or of those alone whose query has a typo.
    pub fn of(log: &[Keystroke], places: &[Option<usize>], typos_alone: bool) -> Self {
        let (mut keystrokes, mut reciprocals, mut full, mut found) = (0.0, 0.0, 0.0, 0.0);
        let mut sessions: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (keystroke, place) in log
            .iter()
            .zip(places)
            .filter(|(keystroke, _)| keystroke.typo || !typos_alone)
        {
            keystrokes += 1.0;
            reciprocals += place.map_or(0.0, |place| 1.0 / place as f64);
            if keystroke.full {
                full += 1.0;
                found += f64::from(u8::from(place.is_some()));
            }
            let (until, of) = sessions
                .entry(keystroke.session)
                .or_insert((keystroke.of + 1, keystroke.of));
            debug_assert_eq!(*of, keystroke.of);
            if place.is_some_and(|place| place <= TOP) {
                *until = (*until).min(keystroke.typed);
            }
        }
        let typed: f64 = sessions
            .values()
            .map(|(until, of)| share(*until as f64, *of as f64))
            .sum();
        Self {
            sessions: sessions.len(),
            mrr: share(reciprocals, keystrokes),
            success: share(found, full),
            typed: share(typed, sessions.len() as f64),
        }
    }
}

/// A score as a table shows it.
pub struct Line {
    pub what: String,
    pub score: f64,
    pub bound: Option<Bound>,
}

#[derive(Clone, Copy)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Line {
    pub fn verdict(&self) -> Verdict {
        match self.bound {
            Some(Bound::AtLeast(bound)) => Verdict::of(self.score >= bound),
            Some(Bound::AtMost(bound)) => Verdict::of(self.score <= bound),
            None => Verdict::Shown,
        }
    }

    /// The bound in words, and the score as a multiple of it.
    pub fn bound_and_ratio(&self) -> (String, String) {
        match self.bound {
            Some(Bound::AtLeast(bound)) => (format!(">= {bound}"), ratio(self.score / bound)),
            Some(Bound::AtMost(bound)) => (format!("<= {bound}"), ratio(self.score / bound)),
            None => (String::new(), String::new()),
        }
    }
}

pub fn lines(log: &[Keystroke], places: &[Option<usize>]) -> Vec<Line> {
    let all = Scores::of(log, places, false);
    let typos = Scores::of(log, places, true);
    let line = |what: &str, score, bound| Line {
        what: what.to_owned(),
        score,
        bound,
    };
    let mut lines = vec![
        line("MRR@10, all keystrokes", all.mrr, Some(Bound::AtLeast(MRR))),
        line(
            "success@10, full query",
            all.success,
            Some(Bound::AtLeast(SUCCESS)),
        ),
        line(
            "share typed until in the top 5",
            all.typed,
            Some(Bound::AtMost(TYPED)),
        ),
    ];
    if typos.sessions > 0 {
        lines.extend([
            line("with a typo: MRR@10, all keystrokes", typos.mrr, None),
            line(
                "with a typo: success@10, full query",
                typos.success,
                Some(Bound::AtLeast(SUCCESS)),
            ),
            line("with a typo: share typed until in the top 5", typos.typed, None),
        ]);
    }
    lines
}

/// The scores alone.
pub fn table(log: &[Keystroke], places: &[Option<usize>]) -> Table {
    let sessions = Scores::of(log, places, false).sessions as u64;
    let title = format!(
        "Relevance, {} keystrokes of {} sessions",
        grouped(log.len() as u64),
        grouped(sessions)
    );
    let mut table = Table::new(title, &["what", "score", "ratio to the bound", "bound"]);
    for line in lines(log, places) {
        let (bound, times) = line.bound_and_ratio();
        table.row(
            &[&line.what, &format!("{:.3}", line.score), &times, &bound],
            line.verdict(),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three sessions: found at once, found late and only by its typo's correction, never found.
    const LOG: &str = r#"
        {"q":"a","target_ein":"1","typo":false,"t":7,"k":1,"n":2,"full":false,"typo_target":false,"kind":"x"}
        {"q":"ab","target_ein":"1","typo":false,"t":7,"k":2,"n":2,"full":true,"typo_target":false,"kind":"x"}
        {"q":"c","target_ein":"2","typo":false,"t":9,"k":1,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cx","target_ein":"2","typo":true,"t":9,"k":2,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cxd","target_ein":"2","typo":true,"t":9,"k":3,"n":4,"full":false,"typo_target":true,"kind":"x"}
        {"q":"cxde","target_ein":"2","typo":true,"t":9,"k":4,"n":4,"full":true,"typo_target":true,"kind":"x"}
        {"q":"z","target_ein":"3","typo":false,"t":11,"k":1,"n":1,"full":true,"typo_target":false,"kind":"x"}
    "#;
    const PLACES: [Option<usize>; 7] = [Some(1), Some(2), None, Some(6), Some(5), Some(10), None];

    fn log() -> Vec<Keystroke> {
        LOG.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| parse(line).unwrap())
            .collect()
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn the_scores_of_a_small_log_are_those_worked_out_by_hand() {
        let scores = Scores::of(&log(), &PLACES, false);
        assert_eq!(scores.sessions, 3);
        assert!(close(
            scores.mrr,
            (1.0 + 1.0 / 2.0 + 1.0 / 6.0 + 1.0 / 5.0 + 1.0 / 10.0) / 7.0
        ));
        assert!(close(scores.success, 2.0 / 3.0));
        assert!(close(scores.typed, (1.0 / 2.0 + 3.0 / 4.0 + 2.0 / 1.0) / 3.0));
    }

    #[test]
    fn sessions_with_a_typo_are_scored_from_their_first_keystroke_on() {
        let scores = Scores::of(&log(), &PLACES, true);
        assert_eq!(scores.sessions, 1);
        assert!(close(scores.mrr, (1.0 / 6.0 + 1.0 / 5.0 + 1.0 / 10.0) / 4.0));
        assert!(close(scores.success, 1.0));
        assert!(close(scores.typed, 3.0 / 4.0));
    }

    #[test]
    fn a_log_without_typos_has_no_lines_for_them() {
        assert_eq!(lines(&log(), &PLACES).len(), 6);
        assert_eq!(lines(&log()[..2], &PLACES[..2]).len(), 3);
    }

    #[test]
    fn a_line_that_lacks_a_field_is_refused_by_its_name() {
        let error = parse(r#"{"q":"a","target_ein":"1","t":7}"#).err().unwrap();
        assert!(error.to_string().contains("\"k\""), "{error}");
    }
}
