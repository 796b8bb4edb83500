//! What the results of a search are restricted to, and their order.

use crate::nonprofits::size::Size;
use crate::query::near::Near;
use crate::snapshot::documents::{DEDUCTIBLE, DISBURSABLE, cause_label, city_label, size_label, state_label};

/// Restricts a search. By default, nothing is required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SearchFilter {
    /// The names of causes, one of which a nonprofit must have. Empty for any.
    pub causes: Vec<String>,
    /// The two-letter code of the state, in any case.
    pub state: Option<String>,
    /// The name of the city, in any common spelling.
    pub city: Option<String>,
    pub size: Option<Size>,
    /// Whether a nonprofit must be able to receive donations.
    pub is_disbursable: bool,
    /// Whether donations must be tax-deductible.
    pub is_deductible: bool,
    /// The circle in which a nonprofit must be.
    pub near: Option<Near>,
    /// Whether a nonprofit must have all words. Otherwise those that match only a part of the words or their meaning
    /// follow, if few have all.
    pub words_only: bool,
}

/// A field of a [`SearchFilter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterField {
    Causes,
    State,
    City,
    Size,
    Disbursable,
    Deductible,
    Near,
}

impl FilterField {
    const ALL: [FilterField; 7] = [
        FilterField::Causes,
        FilterField::State,
        FilterField::City,
        FilterField::Size,
        FilterField::Disbursable,
        FilterField::Deductible,
        FilterField::Near,
    ];
}

/// The order of a list of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    #[default]
    Best,
    /// The largest revenue first.
    Largest,
    Name,
    /// The shortest distance first.
    Nearest,
}

impl SearchFilter {
    /// Iterates over the fields that require something.
    pub fn fields(&self) -> impl Iterator<Item = FilterField> {
        FilterField::ALL.into_iter().filter(|field| self.has(*field))
    }

    /// Returns whether a field requires something.
    fn has(&self, field: FilterField) -> bool {
        match field {
            FilterField::Causes => !self.causes.is_empty(),
            FilterField::State => self.state.is_some(),
            FilterField::City => self.city.is_some(),
            FilterField::Size => self.size.is_some(),
            FilterField::Disbursable => self.is_disbursable,
            FilterField::Deductible => self.is_deductible,
            FilterField::Near => self.near.is_some(),
        }
    }

    /// Returns the filter without what a field requires.
    #[must_use]
    pub fn without(&self, field: FilterField) -> SearchFilter {
        let mut filter = self.clone();
        match field {
            FilterField::Causes => filter.causes.clear(),
            FilterField::State => filter.state = None,
            FilterField::City => filter.city = None,
            FilterField::Size => filter.size = None,
            FilterField::Disbursable => filter.is_disbursable = false,
            FilterField::Deductible => filter.is_deductible = false,
            FilterField::Near => filter.near = None,
        }
        filter
    }

    /// Returns the labels of the search index, one of which a field requires. Empty if it requires none.
    pub(crate) fn labels(&self, field: FilterField) -> Vec<String> {
        match field {
            FilterField::Causes => self.causes.iter().map(|name| cause_label(name)).collect(),
            FilterField::State => self.state.iter().map(|code| state_label(code)).collect(),
            FilterField::City => self.city.iter().map(|name| city_label(name)).collect(),
            FilterField::Size => self.size.into_iter().map(size_label).collect(),
            FilterField::Disbursable if self.is_disbursable => vec![DISBURSABLE.to_owned()],
            FilterField::Deductible if self.is_deductible => vec![DEDUCTIBLE.to_owned()],
            FilterField::Disbursable | FilterField::Deductible | FilterField::Near => Vec::new(),
        }
    }

    /// Returns the labels of all fields for the search index, a group for each.
    pub(crate) fn label_groups(&self) -> Vec<Vec<String>> {
        let groups = FilterField::ALL.into_iter().map(|field| self.labels(field));
        groups.filter(|group| !group.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_without_one_of_its_fields_has_the_others() {
        let filter = SearchFilter {
            causes: vec!["animals".to_owned(), "Arts".to_owned()],
            state: Some("or".to_owned()),
            city: Some("Saint Helens".to_owned()),
            size: Some(Size::Tiny),
            is_disbursable: true,
            is_deductible: true,
            near: Near::parse(Some("97201"), None).unwrap(),
            words_only: false,
        };
        assert_eq!(filter.fields().collect::<Vec<_>>(), FilterField::ALL);
        assert_eq!(filter.label_groups()[0], ["cause:animals", "cause:arts"]);
        assert_eq!(
            filter.label_groups()[1..].concat(),
            [
                "state:OR",
                "city:st helens",
                "size:under-100k",
                DISBURSABLE,
                DEDUCTIBLE
            ]
        );
        for field in FilterField::ALL {
            let fewer = filter.without(field);
            assert_eq!(fewer.fields().count(), FilterField::ALL.len() - 1);
            assert!(!fewer.fields().any(|other| other == field));
            assert!(fewer.labels(field).is_empty());
        }
        assert_eq!(SearchFilter::default().label_groups().len(), 0);
    }
}
