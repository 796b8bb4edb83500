//! The facts of a return that the directory stores: readable texts and amounts, without the XML.

use crate::form990::filed_return::{FiledReturn, Program};
use crate::form990::texts::{description, display_name, program_text};
use crate::form990::website::website;
use directory::returns::facts::{OfficerFacts, ProgramFacts, ReturnFacts};
use std::cmp::Reverse;

/// The maximum number of programs of a return that are stored.
pub(crate) const MAX_PROGRAMS: usize = 5;
/// The maximum length of the text of a program, in characters.
pub(crate) const MAX_PROGRAM_TEXT_CHARS: usize = 500;

/// The maximum number of officers of a return that are stored, and the maximum length of a name and of a title.
pub(crate) const MAX_OFFICERS: usize = 6;
const MAX_OFFICER_CHARS: usize = 60;
/// What stays in capitals, and what does not begin with one, in names and titles that are filed in capitals.
const CAPITALS: [&str; 18] = [
    "CEO", "CFO", "COO", "CIO", "CTO", "CMO", "CAO", "EVP", "SVP", "VP", "II", "III", "IV", "MD", "DDS",
    "RN", "CPA", "US",
];
const SMALL_WORDS: [&str; 5] = ["OF", "AND", "THE", "FOR", "TO"];

/// Returns what is stored of a return.
pub fn facts(filed: &FiledReturn) -> ReturnFacts {
    let (description, description_long) = match description(filed) {
        Some(description) => (Some(description.short), description.long),
        None => (None, None),
    };
    ReturnFacts {
        form: filed.form.name().to_owned(),
        version: filed.version.clone(),
        period_begin: filed.period_begin,
        filed_at: filed.filed_at.clone(),
        is_amended: filed.is_amended,
        is_final: filed.is_final,
        is_group_return: filed.is_group_return,
        name: filed.name.clone(),
        display_name: display_name(filed),
        trade_name: filed.trade_name.clone(),
        website_url: filed.website.as_deref().and_then(website),
        description,
        description_long,
        programs: largest_programs(filed),
        officers: officers(filed),
        amounts: filed.amounts,
        employees: filed.employees,
        volunteers: filed.volunteers,
        formed: filed.formed,
    }
}

/// Returns the programs with the largest expenses, largest first. Those without a text or an amount are left out.
fn largest_programs(filed: &FiledReturn) -> Vec<ProgramFacts> {
    // Only the texts of those that are kept are made readable, which takes longer than parsing them.
    let mut programs: Vec<&Program> = filed
        .programs
        .iter()
        .filter(|program| **program != Program::default())
        .collect();
    programs.sort_by_key(|program| Reverse(program.expenses));
    let programs = programs.into_iter().map(|program| ProgramFacts {
        text: program_text(&program.text, filed)
            .map_or_else(String::new, |text| shorten(&text, MAX_PROGRAM_TEXT_CHARS)),
        expenses: program.expenses,
        grants: program.grants,
        revenue: program.revenue,
    });
    programs
        .filter(|program| *program != ProgramFacts::default())
        .take(MAX_PROGRAMS)
        .collect()
}

/// Returns the first officers, by name and title alone: what a return says about pay and addresses is left out.
fn officers(filed: &FiledReturn) -> Vec<OfficerFacts> {
    let mut officers: Vec<OfficerFacts> = Vec::new();
    for officer in &filed.officers {
        let name = shorten(&capitalize(&officer.name), MAX_OFFICER_CHARS);
        if officers.len() < MAX_OFFICERS && officers.iter().all(|known| known.name != name) {
            let title = shorten(&capitalize(&officer.title), MAX_OFFICER_CHARS);
            officers.push(OfficerFacts { name, title });
        }
    }
    officers
}

/// Writes a name or a title as people do, if it is in capitals.
fn capitalize(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().any(char::is_lowercase) {
        return text;
    }
    let is_letter = |c: char| c.is_alphabetic();
    let mut written = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !is_letter(c) && c != '\'') {
        let letters = word.trim_end_matches(|c: char| !is_letter(c));
        if CAPITALS.contains(&letters) {
            written.push_str(word);
            continue;
        }
        let is_small = SMALL_WORDS.contains(&letters) && !written.is_empty();
        let mut starts_name = !is_small;
        for c in word.chars() {
            if starts_name {
                written.push(c);
            } else {
                written.extend(c.to_lowercase());
            }
            // O'Brien, but not a possessive.
            starts_name = c == '\'' && written.ends_with("O'");
        }
    }
    written
}

/// Shortens a text to at most `max` characters, at a space if there is one, with an ellipsis.
fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max - 1).map_or(text.len(), |(at, _)| at);
    let cut = &text[..end];
    let cut = cut.rfind(' ').filter(|at| *at > 0).map_or(cut, |at| &cut[..at]);
    format!("{}…", cut.trim_end_matches([' ', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form990::filed_return::{Form, Officer};
    use directory::nonprofits::ein::Ein;
    use directory::returns::facts::Amounts;
    use proptest::prelude::*;

    fn program(text: &str, expenses: Option<i64>) -> Program {
        Program {
            text: text.to_owned(),
            expenses,
            ..Program::default()
        }
    }

    #[test]
    fn the_five_largest_programs_are_kept() {
        let programs: Vec<Program> = [Some(3), None, Some(9), Some(7), Some(1), Some(2), Some(8)]
            .into_iter()
            .map(|expenses| program("A program", expenses))
            .chain([program("", None)])
            .collect();
        let filed = FiledReturn {
            form: Form::Long,
            version: String::new(),
            ein: Ein::new(530_196_605).unwrap(),
            period_begin: None,
            period_end: 202_212,
            filed_at: None,
            is_amended: false,
            is_final: false,
            is_group_return: false,
            name: None,
            trade_name: None,
            website: Some("N/A".to_owned()),
            mission: Some("WE LEND BOOKS TO EVERYONE.".to_owned()),
            summary: None,
            programs,
            officers: [
                ("ADA O'BRIEN III", "VP OF FINANCE, CFO"),
                ("Max", ""),
                ("ADA O'BRIEN III", "x"),
            ]
            .map(|(name, title)| Officer {
                name: name.to_owned(),
                title: title.to_owned(),
                is_officer: true,
            })
            .to_vec(),
            explanations: Vec::new(),
            amounts: Amounts::default(),
            employees: None,
            volunteers: None,
            formed: None,
        };
        let stored = facts(&filed);
        assert_eq!(stored.website_url, None);
        assert_eq!(stored.description.as_deref(), Some("We lend books to everyone."));
        let expenses: Vec<Option<i64>> = stored.programs.iter().map(|program| program.expenses).collect();
        assert_eq!(expenses, [Some(9), Some(8), Some(7), Some(3), Some(2)]);
        let officer = |name: &str, title: &str| OfficerFacts {
            name: name.to_owned(),
            title: title.to_owned(),
        };
        assert_eq!(
            stored.officers,
            [
                officer("Ada O'Brien III", "VP of Finance, CFO"),
                officer("Max", "")
            ]
        );
    }

    proptest! {
        #[test]
        fn a_shortened_text_is_a_start_of_the_text(text in "\\PC{0,40}", max in 1usize..45) {
            let short = shorten(&text, max);
            prop_assert!(short.chars().count() <= max);
            prop_assert!(short == text || text.starts_with(short.trim_end_matches('…')));
        }
    }
}
