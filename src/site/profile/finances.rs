//! The finances on a profile: a chart and a table of the periods for which returns are known, how the latest expenses are
//! divided, and the programs.

use crate::site::profile::chart::{Chart, ExpenseSplit};
use crate::site::profile::facts::{format_dollars, format_dollars_short};
use crate::site::profile::sources::format_month;
use crate::web::numbers::thousands;
use crate::web::texts::{ProfileTexts, fill};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::tax_facts::LatestReturn;
use directory::returns::facts::{OfficerFacts, ProgramFacts, ReturnFacts};
use directory::returns::years::FinancialYear;

/// What a profile shows of returns.
#[derive(Debug, Default)]
pub struct Finances {
    /// Newest first.
    pub years: Vec<YearRow>,
    /// If several periods are known.
    pub chart: Option<Chart>,
    /// How the expenses of the latest period are divided. Empty if that is not known.
    pub expenses: ExpenseSplit,
    /// How many people work for the nonprofit, in sentences.
    pub people: Vec<String>,
    pub programs: Vec<ProgramRow>,
    /// The return that the programs are from.
    pub programs_of: String,
    /// The officers that the latest return names, and where they are from.
    pub officers: Vec<OfficerFacts>,
    pub officers_of: String,
    /// Whether a row has the amounts of several affiliates together.
    pub has_group_return: bool,
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct YearRow {
    pub period: String,
    /// The name of the form, with notes such as "amended". Empty if it is not known.
    pub form: String,
    /// The URL of the whole return.
    pub filing: Option<String>,
    pub revenue: String,
    pub expenses: String,
    pub program_expenses: String,
    pub assets: String,
}

/// A program.
#[derive(Debug, PartialEq, Eq)]
pub struct ProgramRow {
    pub description: String,
    /// Amounts with their names.
    pub amounts: String,
}

impl Finances {
    /// Returns what the returns of a nonprofit say.
    pub fn new(ein: Option<Ein>, years: &[FinancialYear], t: &ProfileTexts) -> Finances {
        let facts = |year: &FinancialYear| year.filed.facts.clone();
        let people = years.first().map(facts).map(|facts| people(&facts, t));
        let with_programs = years.iter().find(|year| !year.filed.facts.programs.is_empty());
        // Former officers are of no use to donors.
        let with_officers = years.first().filter(|year| !year.filed.facts.officers.is_empty());
        Finances {
            years: years.iter().map(|year| YearRow::new(ein, year, t)).collect(),
            chart: Chart::new(years, t),
            expenses: ExpenseSplit::new(years.first(), t),
            people: people.unwrap_or_default(),
            programs: with_programs.map_or_else(Vec::new, |year| {
                let programs = year.filed.facts.programs.iter();
                programs.map(|program| ProgramRow::new(program, t)).collect()
            }),
            programs_of: with_programs.map_or_else(String::new, |year| {
                fill(t.programs_of, &[("period", &format_month(year.filed.period))])
            }),
            officers: with_officers.map_or_else(Vec::new, |year| year.filed.facts.officers.clone()),
            officers_of: with_officers.map_or_else(String::new, |year| {
                fill(t.programs_of, &[("period", &format_month(year.filed.period))])
            }),
            has_group_return: years.iter().any(|year| year.filed.facts.is_group_return),
        }
    }

    /// Returns what is known without the store: the amounts of the latest return.
    pub fn of_latest(latest: Option<LatestReturn>, t: &ProfileTexts) -> Finances {
        let latest = latest.filter(|latest| latest.period != 0);
        let row = latest.map(|latest| YearRow {
            period: format_month(latest.period),
            form: String::new(),
            filing: None,
            revenue: amount(latest.revenue, t),
            expenses: amount(latest.expenses, t),
            program_expenses: amount(None, t),
            assets: amount(latest.assets, t),
        });
        Finances {
            years: row.into_iter().collect(),
            ..Finances::default()
        }
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.years.is_empty()
    }
}

impl YearRow {
    fn new(ein: Option<Ein>, year: &FinancialYear, t: &ProfileTexts) -> YearRow {
        let (filed, amounts) = (&year.filed, &year.filed.facts.amounts);
        let notes = [
            (filed.facts.is_amended, t.amended),
            (filed.facts.is_group_return, t.group_return),
        ];
        let mut form = fill(t.form, &[("form", &filed.form)]);
        for (_, note) in notes.into_iter().filter(|(applies, _)| *applies) {
            form = format!("{form}, {note}");
        }
        YearRow {
            period: format_month(filed.period),
            form,
            filing: ein.and_then(|ein| filing_url(ein, &filed.object_id)),
            revenue: amount(amounts.revenue, t),
            expenses: amount(amounts.expenses, t),
            program_expenses: amount(amounts.program_expenses, t),
            assets: amount(amounts.assets, t),
        }
    }
}

impl ProgramRow {
    fn new(program: &ProgramFacts, t: &ProfileTexts) -> ProgramRow {
        let amounts = [
            (t.expenses, program.expenses),
            (t.grants, program.grants),
            (t.revenue, program.revenue),
        ];
        let named = amounts.into_iter().filter_map(|(label, amount)| {
            let amount = format_dollars(amount.filter(|dollars| *dollars != 0)?, t);
            Some(fill(t.program_amounts, &[("label", label), ("amount", &amount)]))
        });
        ProgramRow {
            description: program.text.clone(),
            amounts: named.collect::<Vec<_>>().join(" · "),
        }
    }
}

/// Returns the URL of a whole return. The IRS itself publishes returns in archives only.
fn filing_url(ein: Ein, object_id: &str) -> Option<String> {
    let is_id = !object_id.is_empty() && object_id.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then(|| format!("https://projects.propublica.org/nonprofits/organizations/{ein}/{object_id}/full"))
}

fn people(facts: &ReturnFacts, t: &ProfileTexts) -> Vec<String> {
    let counts = [(t.employees, facts.employees), (t.volunteers, facts.volunteers)];
    let sentence = |(text, count): (&str, Option<u32>)| {
        let count = count.filter(|count| *count > 0)?;
        Some(fill(text, &[("count", &thousands(u64::from(count)))]))
    };
    counts.into_iter().filter_map(sentence).collect()
}

fn amount(dollars: Option<i64>, t: &ProfileTexts) -> String {
    dollars.map_or_else(
        || t.unknown.to_owned(),
        |dollars| format_dollars_short(dollars, t),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;

    #[test]
    fn without_the_store_the_latest_amounts_are_shown() {
        let t = &PUBLIC_EN.profile;
        let latest = LatestReturn {
            period: 202_306,
            revenue: Some(3_200_000),
            expenses: None,
            assets: Some(-5),
            is_final: false,
            is_private_foundation: false,
        };
        let finances = Finances::of_latest(Some(latest), t);
        assert_eq!(finances.years.len(), 1);
        let row = &finances.years[0];
        assert_eq!(
            [&row.period, &row.revenue, &row.expenses, &row.assets],
            ["June 2023", "$3.2M", "—", "−$5"]
        );
        let without_amounts = LatestReturn { period: 0, ..latest };
        assert!(Finances::of_latest(Some(without_amounts), t).is_empty());
        assert!(Finances::of_latest(None, t).is_empty());
    }

    #[test]
    fn only_returns_with_an_id_have_a_link() {
        let ein = Ein::new(530_196_605).unwrap();
        assert_eq!(
            filing_url(ein, "202301349349301234").unwrap(),
            "https://projects.propublica.org/nonprofits/organizations/530196605/202301349349301234/full"
        );
        for invalid in ["", "../x", "12 3"] {
            assert_eq!(filing_url(ein, invalid), None);
        }
    }

    #[test]
    fn amounts_of_a_program_that_are_zero_are_left_out() {
        let program = ProgramFacts {
            text: "Meals".to_owned(),
            expenses: Some(64_000),
            grants: Some(0),
            revenue: None,
        };
        let row = ProgramRow::new(&program, &PUBLIC_EN.profile);
        assert_eq!(row.amounts, "Expenses: $64,000");
    }
}
