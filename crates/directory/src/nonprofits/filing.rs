//! The IRS data of a nonprofit as one stored text: up to eight fields separated by tabs. Rows of earlier versions have no street.
//!
//! No query needs a single field, and an import spends half its time on binding and reading columns.

use super::irs::IrsFacts;

/// The fields of a filing. None contains a tab or a line break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filing<'a> {
    pub name: &'a str,
    /// The second name line, such as a chapter, a lodge or a trade name. May be empty.
    pub chapter: &'a str,
    pub city: &'a str,
    pub state: &'a str,
    pub zip: &'a str,
    pub ntee: &'a str,
    /// `None` if no codes and amounts are known.
    pub facts: Option<IrsFacts>,
    /// Where checks are mailed. May be empty.
    pub street: &'a str,
}

impl<'a> Filing<'a> {
    /// Parses the stored text.
    pub fn parse(text: &'a str) -> Filing<'a> {
        let mut fields = text.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        Filing {
            name: field(),
            chapter: field(),
            city: field(),
            state: field(),
            zip: field(),
            ntee: field(),
            facts: IrsFacts::parse(field()),
            street: field(),
        }
    }

    /// Appends the stored text.
    pub fn write(&self, out: &mut String) {
        for field in [
            self.name,
            self.chapter,
            self.city,
            self.state,
            self.zip,
            self.ntee,
        ] {
            out.push_str(field);
            out.push('\t');
        }
        if let Some(facts) = &self.facts {
            facts.write(out);
        }
        if !self.street.is_empty() {
            out.push('\t');
            out.push_str(self.street);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_filing_is_parsed_as_it_was_written(fields in proptest::collection::vec("[^\t\n\r]{0,30}", 7), codes in proptest::option::of(any::<[u8; 5]>()), revenue in proptest::option::of(any::<i64>())) {
            let filing = Filing {
                name: &fields[0],
                chapter: &fields[1],
                city: &fields[2],
                state: &fields[3],
                zip: &fields[4],
                ntee: &fields[5],
                facts: codes.map(|codes| IrsFacts {
                    subsection: codes[0],
                    deductibility: codes[1],
                    foundation: codes[2],
                    status: codes[3],
                    affiliation: codes[4],
                    group: 9_386,
                    ruling: 193_812,
                    tax_period: 0,
                    assets: None,
                    income: Some(0),
                    revenue,
                }),
                street: &fields[6],
            };
            let mut text = String::new();
            filing.write(&mut text);
            prop_assert_eq!(Filing::parse(&text), filing);
        }
    }
}
