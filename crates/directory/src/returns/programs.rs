//! The texts of the programs in a return, for search.

use platform::text::cut;
use serde::Deserialize;
use std::borrow::Cow;

/// The maximum length of all texts together, in characters. What a nonprofit spends most on comes first.
const MAX_CHARS: usize = 1_000;

/// The part of [`ReturnFacts`](super::facts::ReturnFacts) that is read.
#[derive(Default, Deserialize)]
struct Facts<'a> {
    #[serde(borrow, default)]
    programs: Vec<Program<'a>>,
}

#[derive(Deserialize)]
struct Program<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

/// Returns the texts of the programs in a return, one per line, without those that one of `known` says already. The
/// return is a [`ReturnFacts`](super::facts::ReturnFacts) as JSON.
pub(crate) fn program_texts(facts: &str, known: [Option<&str>; 2]) -> String {
    let facts: Facts<'_> = serde_json::from_str(facts).unwrap_or_default();
    let mut lines = String::new();
    for program in &facts.programs {
        let text = program.text.trim();
        let is_known = known
            .into_iter()
            .flatten()
            .any(|known| known.contains(text) || text.starts_with(known.trim_end_matches('…')));
        if text.is_empty() || is_known {
            continue;
        }
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.extend(text.chars().map(|c| if c == '\n' { ' ' } else { c }));
    }
    cut(&lines, MAX_CHARS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::returns::facts::{ProgramFacts, ReturnFacts};

    fn texts(programs: &[&str], known: [Option<&str>; 2]) -> String {
        let programs = programs.iter().map(|text| ProgramFacts {
            text: (*text).to_owned(),
            expenses: Some(1),
            ..ProgramFacts::default()
        });
        let facts = ReturnFacts {
            form: "990".to_owned(),
            programs: programs.collect(),
            ..ReturnFacts::default()
        };
        program_texts(&serde_json::to_string(&facts).unwrap(), known)
    }

    #[test]
    fn each_program_is_a_line_unless_the_description_says_it() {
        let programs = [
            "\"Meals\" for\nseniors",
            "",
            "Rides to doctors and shops.",
            "We sew",
        ];
        assert_eq!(
            texts(&programs, [Some("Rides to doctors…"), Some("We sew. We teach.")]),
            "\"Meals\" for seniors"
        );
        assert_eq!(texts(&["One", "Two"], [None, None]), "One\nTwo");
    }

    #[test]
    fn the_texts_are_bounded_and_anything_else_says_nothing() {
        assert_eq!(texts(&["word "; 500], [None, None]).chars().count(), MAX_CHARS);
        for other in ["", "{}", "[1]", "{\"programs\":3}"] {
            assert_eq!(program_texts(other, [None, None]), "");
        }
    }
}
