//! The choice of nonprofits by name. With scripts it searches while a person types; without them, the form is shown
//! again with the matches of a name to choose from.

use super::FormData;
use crate::web::texts::{FUNDRAISING_EN, PickerTexts};
use askama::Template;
use askama::filters::HtmlSafe;

/// The number of nonprofits that a form has room for.
const MAX_ROWS: usize = 5;

/// Fields for nonprofits and their shares. In a template, `{{ picker }}` renders all of it.
#[derive(Clone, Debug, Template)]
#[template(path = "web/picker.html")]
pub struct NonprofitPicker {
    t: &'static PickerTexts,
    pub rows: Vec<PickerRow>,
}

impl HtmlSafe for NonprofitPicker {}

/// The field of one nonprofit.
#[derive(Clone, Debug, Default)]
pub struct PickerRow {
    /// Its position, from 0.
    index: usize,
    /// What was typed.
    pub text: String,
    /// The slug, EIN or ID that was chosen for this text.
    pub chosen_id: Option<String>,
    /// The nonprofit that it names.
    pub chosen: Option<NonprofitMatch>,
    /// The nonprofits that the text may mean.
    pub matches: Vec<NonprofitMatch>,
    pub share: String,
    pub error: Option<String>,
    pub share_error: Option<String>,
}

/// A nonprofit to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonprofitMatch {
    pub slug: String,
    pub name: String,
    /// What tells it apart from others of the same name, such as its location and EIN.
    pub details: String,
}

impl NonprofitPicker {
    /// Creates empty fields.
    pub fn empty() -> NonprofitPicker {
        let row = |index| PickerRow {
            index,
            ..PickerRow::default()
        };
        NonprofitPicker {
            t: &FUNDRAISING_EN.picker,
            rows: (0..MAX_ROWS).map(row).collect(),
        }
    }

    /// Fills in what was submitted. A choice counts only for the text that it was made for: without scripts, a person may
    /// change the text and leave the choice.
    pub fn fill_in(&mut self, data: &FormData) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            data.nth("nonprofit", index).trim().clone_into(&mut row.text);
            data.nth("share", index).trim().clone_into(&mut row.share);
            let chosen = data.text(&format!("id_{index}"));
            let is_current = data.text(&format!("for_{index}")).trim() == row.text;
            row.chosen_id = Some(chosen.to_owned()).filter(|chosen| is_current && !chosen.is_empty());
        }
    }

    /// Chooses the first nonprofit.
    pub fn choose(&mut self, nonprofit: NonprofitMatch) {
        let row = &mut self.rows[0];
        row.text.clone_from(&nonprofit.name);
        row.chosen = Some(nonprofit);
    }

    /// Adds an error to the first field that has none.
    pub fn add_error(&mut self, error: String) {
        if self.first_error().is_none() {
            self.rows[0].error = Some(error);
        }
    }

    /// Returns the first error of any field.
    pub fn first_error(&self) -> Option<String> {
        let mut rows = self.rows.iter();
        rows.find_map(|row| row.error.clone().or_else(|| row.share_error.clone()))
    }

    /// Returns whether the fields of further nonprofits are shown.
    fn is_open(&self) -> bool {
        self.rows.iter().skip(1).any(|row| !row.text.is_empty()) || self.rows[0].share_error.is_some()
    }
}

impl PickerRow {
    /// Returns the ID of its input.
    fn id(&self) -> String {
        match self.index {
            0 => "nonprofit".to_owned(),
            index => format!("nonprofit-{index}"),
        }
    }

    /// Returns the slug of the chosen nonprofit.
    fn slug(&self) -> &str {
        self.chosen.as_ref().map_or("", |chosen| &chosen.slug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_counts_only_for_the_text_that_it_was_made_for() {
        for (query, chosen) in [
            (
                "nonprofit=Red+Cross&for_0=Red+Cross&id_0=american-red-cross",
                Some("american-red-cross"),
            ),
            ("nonprofit=NYU&for_0=Red+Cross&id_0=american-red-cross", None),
            ("nonprofit=Red+Cross&for_0=Red+Cross", None),
            ("nonprofit=&for_0=&id_0=", None),
        ] {
            let mut picker = NonprofitPicker::empty();
            picker.fill_in(&FormData::parse(query));
            assert_eq!(picker.rows[0].chosen_id.as_deref(), chosen, "{query}");
        }
    }
}
