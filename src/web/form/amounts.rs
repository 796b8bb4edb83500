//! The choice of an amount: some suggested ones, and a field for any other.

use super::FormData;
use crate::web::texts::{PUBLIC_EN, PublicTexts};
use askama::Template;
use askama::filters::HtmlSafe;
use platform::money::Cents;

/// The amounts that are suggested unless a link has its own.
pub const DEFAULT_AMOUNTS: [Cents; 4] = [
    Cents::new(1_000),
    Cents::new(2_500),
    Cents::new(5_000),
    Cents::new(10_000),
];
/// The value of the choice of another amount.
const OTHER: &str = "other";
/// The name of the field for another amount.
const OTHER_FIELD: &str = "other_amount";

/// Suggested amounts of which one is selected. In a template, `{{ amounts }}` renders all of it.
#[derive(Clone, Debug, Template)]
#[template(path = "web/amounts.html")]
pub struct Amounts {
    p: &'static PublicTexts,
    /// In dollars, such as `25` or `2.50`.
    suggested: Vec<String>,
    /// The suggested amount that is selected, or `other`.
    selected: String,
    /// What is typed as another amount.
    other: String,
    error: Option<String>,
}

impl HtmlSafe for Amounts {}

impl Amounts {
    /// Creates the choice. If `amount` is not among the suggested ones, it is filled in as another amount.
    pub fn new(suggested: Vec<String>, amount: &str) -> Amounts {
        let mut amounts = Amounts {
            p: &PUBLIC_EN,
            suggested,
            selected: String::new(),
            other: String::new(),
            error: None,
        };
        amounts.select(amount);
        amounts
    }

    fn select(&mut self, amount: &str) {
        if self.suggested.iter().any(|suggested| suggested == amount) {
            amount.clone_into(&mut self.selected);
        } else {
            OTHER.clone_into(&mut self.selected);
            amount.clone_into(&mut self.other);
        }
    }

    /// Selects what was submitted.
    pub fn fill_in(&mut self, data: &FormData) {
        if data.find("amount").is_some() {
            self.select(submitted(data.text("amount"), data.text(OTHER_FIELD)));
        }
    }

    pub fn add_error(&mut self, error: String) {
        self.error.get_or_insert(error);
    }

    fn is_other(&self) -> bool {
        self.selected == OTHER
    }
}

/// Returns the amount that was chosen or typed, from the values of the two fields.
pub fn submitted<'a>(amount: &'a str, other: &'a str) -> &'a str {
    if amount == OTHER { other } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(amount: &str) -> Amounts {
        Amounts::new(vec!["10".to_owned(), "25".to_owned()], amount)
    }

    #[test]
    fn an_amount_that_is_not_suggested_is_another_amount() {
        let suggested = amounts("25").render().unwrap();
        assert!(suggested.contains("value=\"25\" checked"), "{suggested}");
        let other = amounts("17.50").render().unwrap();
        assert!(
            other.contains("value=\"other\" checked") && other.contains("value=\"17.50\""),
            "{other}"
        );
    }

    #[test]
    fn what_was_submitted_is_selected_again() {
        for (query, selected, other) in [
            ("amount=10&other_amount=7", "10", ""),
            ("amount=other&other_amount=7", "other", "7"),
            ("amount=8", "other", "8"),
            ("name=x", "25", ""),
        ] {
            let mut amounts = amounts("25");
            amounts.fill_in(&FormData::parse(query));
            assert_eq!(
                (amounts.selected.as_str(), amounts.other.as_str()),
                (selected, other),
                "{query}"
            );
        }
    }
}
