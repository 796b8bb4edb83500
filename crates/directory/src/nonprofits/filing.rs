//! What was filed of a body, as one text: seven parts with tabs between them.

use super::irs::IrsFacts;

/// The parts. None of them holds a tab or a line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filing<'a> {
    pub name: &'a str,
    /// The second name line: a chapter, a lodge, a trade name; or empty.
    pub chapter: &'a str,
    pub city: &'a str,
    pub state: &'a str,
    pub zip: &'a str,
    pub ntee: &'a str,
    /// Nothing, where no codes and amounts are known.
    pub facts: Option<IrsFacts>,
}

impl<'a> Filing<'a> {
    /// Reads the stored text.
    pub fn read(text: &'a str) -> Filing<'a> {
        let mut parts = text.split('\t');
        let mut part = || parts.next().unwrap_or_default();
        Filing {
            name: part(),
            chapter: part(),
            city: part(),
            state: part(),
            zip: part(),
            ntee: part(),
            facts: IrsFacts::read(part()),
        }
    }

    /// Appends the stored text.
    pub fn write(&self, out: &mut String) {
        for part in [
            self.name,
            self.chapter,
            self.city,
            self.state,
            self.zip,
            self.ntee,
        ] {
            out.push_str(part);
            out.push('\t');
        }
        if let Some(facts) = &self.facts {
            facts.write(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(parts in proptest::collection::vec("[^\t\n\r]{0,30}", 6), codes in proptest::option::of(any::<[u8; 5]>()), revenue in proptest::option::of(any::<i64>())) {
            let filed = Filing {
                name: &parts[0],
                chapter: &parts[1],
                city: &parts[2],
                state: &parts[3],
                zip: &parts[4],
                ntee: &parts[5],
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
            };
            let mut text = String::new();
            filed.write(&mut text);
            prop_assert_eq!(Filing::read(&text), filed);
        }
    }
}
