//! What the IRS files besides the master file say about a nonprofit, as one text that a query puts together.
//!
//! The snapshot is built from millions of rows, and reading one text column takes less time than reading eighteen, most of
//! which are null. The text is not stored anywhere.

use super::tax_facts::{Day, Epostcard, LatestReturn, Publication78Codes, Revocation, TaxFacts};

/// Separates the fields. Texts in the store have no control characters other than line breaks.
const SEPARATOR: char = '\u{1f}';

/// The parsed text. Empty texts are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaxRecord<'a> {
    pub facts: TaxFacts,
    /// The name in the latest return, if it is not in capitals.
    pub name: &'a str,
    /// Other names in returns, one per line.
    pub aliases: &'a str,
    pub description: &'a str,
    pub description_long: &'a str,
    /// The facts of the latest return, as JSON.
    pub latest_return_json: &'a str,
    /// The website in the latest return that states one, and the month in which its period ends, as YYYYMM.
    pub return_website: (&'a str, u32),
    /// The website in the latest Form 990-N, and the month in which its period ends.
    pub epostcard_website: (&'a str, u32),
}

impl<'a> TaxRecord<'a> {
    /// Parses the text. Fields that are missing or invalid are unknown.
    pub(crate) fn parse(text: &'a str) -> TaxRecord<'a> {
        let mut fields = text.split(SEPARATOR);
        let mut field = || fields.next().unwrap_or_default();
        let flags = field().as_bytes();
        let is_set = |index: usize| flags.get(index) == Some(&b'1');
        let formed = field().parse().ok();
        let latest_return = LatestReturn {
            period: field().parse().unwrap_or_default(),
            revenue: field().parse().ok(),
            expenses: field().parse().ok(),
            assets: field().parse().ok(),
            is_final: is_set(1),
            is_private_foundation: is_set(5),
        };
        let publication_78 = Publication78Codes::parse(field());
        let revoked_on = Day::parse(field());
        let reinstated_on = Day::parse(field());
        let epostcard = Epostcard {
            tax_year: field().parse().unwrap_or_default(),
            has_small_receipts: is_set(3),
            is_terminated: is_set(4),
        };
        let period_end = Day::parse(field());
        TaxRecord {
            facts: TaxFacts {
                latest_return: is_set(0).then_some(latest_return),
                formed,
                publication_78,
                revocation: revoked_on.map(|revoked_on| Revocation {
                    revoked_on,
                    reinstated_on,
                }),
                epostcard: is_set(2).then_some(epostcard),
            },
            epostcard_website: (
                field(),
                period_end.map_or(u32::from(epostcard.tax_year) * 100 + 12, |day| day.number() / 100),
            ),
            return_website: {
                let period = field().parse().unwrap_or_default();
                (field(), period)
            },
            name: field(),
            aliases: field(),
            description: field(),
            description_long: field(),
            latest_return_json: field(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_parsed() {
        let text = [
            "111101",
            "1987",
            "202306",
            "-5",
            "",
            "700",
            "PC,GROUP",
            "2015-05-15",
            "2016-01-02",
            "2014",
            "2014-08-31",
            "https://small.example",
            "202206",
            "https://large.example",
            "Food for All",
            "FFA\nFood4All",
            "Feeds all.",
            "Every day.",
            r#"{"form":"990"}"#,
        ];
        let text = text.join("\u{1f}");
        let record = TaxRecord::parse(&text);
        let latest = record.facts.latest_return.unwrap();
        assert_eq!(latest.period, 202_306);
        assert_eq!(
            (latest.revenue, latest.expenses, latest.assets),
            (Some(-5), None, Some(700))
        );
        assert!(latest.is_final && latest.is_private_foundation);
        assert_eq!(record.facts.formed, Some(1987));
        assert_eq!(record.facts.publication_78.iter().count(), 2);
        let revocation = record.facts.revocation.unwrap();
        assert_eq!(revocation.revoked_on.to_string(), "2015-05-15");
        assert_eq!(revocation.reinstated_on.unwrap().to_string(), "2016-01-02");
        let epostcard = record.facts.epostcard.unwrap();
        assert_eq!(epostcard.tax_year, 2014);
        assert!(epostcard.has_small_receipts && !epostcard.is_terminated);
        assert_eq!(record.epostcard_website, ("https://small.example", 201_408));
        assert_eq!(record.return_website, ("https://large.example", 202_206));
        assert_eq!(
            [
                record.name,
                record.aliases,
                record.description,
                record.description_long,
                record.latest_return_json
            ],
            [
                "Food for All",
                "FFA\nFood4All",
                "Feeds all.",
                "Every day.",
                r#"{"form":"990"}"#
            ]
        );
    }

    #[test]
    fn a_text_without_fields_says_nothing() {
        for text in ["", "00000", "x\u{1f}y"] {
            assert_eq!(TaxRecord::parse(text).facts, TaxFacts::default(), "{text:?}");
        }
    }
}
