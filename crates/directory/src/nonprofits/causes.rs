//! Causes, by which nonprofits are browsed and filtered.
//!
//! The list is in `data/causes.csv`, and operators can extend it. A [`CauseSet`] refers to positions in the list.

use super::cause_rules::{FIELDS, Rules};
use super::cause_set::CauseSet;
use super::ntee::Ntee;
use platform::text;
use std::collections::HashMap;
use std::sync::LazyLock;
use uuid::Uuid;

pub use super::cause_rules::CausesError;

/// The namespace of cause IDs: a name has the same ID on every server.
const NAMESPACE: Uuid = Uuid::from_u128(0x5b0c_6d5e_9a1f_4c8e_8f27_3d6a_1be0_94c7);

/// One cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Derived from the name.
    pub id: Uuid,
    /// The name in URLs and filters: `food-security`.
    pub name: String,
    /// The title on pages: `Food security`.
    pub title: String,
    pub category: Category,
}

/// The seven categories of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Category {
    Animals,
    Education,
    Environment,
    Health,
    HumanAndCivilRights,
    HumanServices,
    ResearchAndPublicPolicy,
}

impl Category {
    /// All categories, sorted by their names in the API.
    pub const ALL: [Category; 7] = [
        Category::Animals,
        Category::Education,
        Category::Environment,
        Category::Health,
        Category::HumanAndCivilRights,
        Category::HumanServices,
        Category::ResearchAndPublicPolicy,
    ];

    /// Returns the name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::Animals => "ANIMALS",
            Category::Education => "EDUCATION",
            Category::Environment => "ENVIRONMENT",
            Category::Health => "HEALTH",
            Category::HumanAndCivilRights => "HUMAN_AND_CIVIL_RIGHTS",
            Category::HumanServices => "HUMAN_SERVICES",
            Category::ResearchAndPublicPolicy => "RESEARCH_AND_PUBLIC_POLICY",
        }
    }
}

/// The list of causes, with the rules that assign them to nonprofits.
#[derive(Debug)]
pub struct Causes {
    list: Vec<Cause>,
    positions: HashMap<String, usize>,
    rules: Rules,
}

static BUILT_IN: LazyLock<Causes> = LazyLock::new(|| {
    Causes::read(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/causes.csv")),
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ntee-causes.csv")),
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/name-causes.csv")),
    )
    .expect("the built-in causes are valid")
});

impl Causes {
    /// Returns the built-in causes.
    pub fn built_in() -> &'static Causes {
        &BUILT_IN
    }

    /// Parses a list of causes (`name,category,title`) and the rules that assign them by NTEE code
    /// (`prefix,causes,when`) and by name (`words,causes,when`). Each is CSV with a header.
    pub fn read(list: &str, by_code: &str, by_word: &str) -> Result<Causes, CausesError> {
        let mut causes = Causes {
            list: Vec::new(),
            positions: HashMap::new(),
            rules: Rules::default(),
        };
        for [name, category, title] in rows(list, "causes")? {
            causes.add(name, &category, title)?;
        }
        let mut fields = CauseSet::default();
        for position in FIELDS.iter().filter_map(|name| causes.position(name)) {
            fields.insert(position);
        }
        causes.rules = Rules::new(fields);
        for [prefix, names, when] in rows(by_code, "causes by NTEE code")? {
            let set = causes.set(&names)?;
            causes.rules.add_code(prefix, set, &when)?;
        }
        for [words, names, when] in rows(by_word, "causes by name")? {
            let set = causes.set(&names)?;
            causes.rules.add_words(&words, set, &when)?;
        }
        Ok(causes)
    }

    fn add(&mut self, name: String, category: &str, title: String) -> Result<(), CausesError> {
        let category = Category::ALL
            .into_iter()
            .find(|known| known.as_str() == category)
            .ok_or_else(|| {
                CausesError(format!(
                    "cause {name}: {category} is not one of the seven categories"
                ))
            })?;
        if name.is_empty() || name != text::fold(&name, '-') {
            return Err(CausesError(format!(
                "cause {name}: a name is lowercase words joined by hyphens"
            )));
        }
        let position = self.list.len();
        if position == CauseSet::CAPACITY {
            return Err(CausesError(format!(
                "the list has more than {} causes",
                CauseSet::CAPACITY
            )));
        }
        if self.positions.insert(name.clone(), position).is_some() {
            return Err(CausesError(format!("cause {name} is listed twice")));
        }
        self.list.push(Cause {
            id: Uuid::new_v5(&NAMESPACE, name.as_bytes()),
            name,
            title,
            category,
        });
        Ok(())
    }

    fn set(&self, names: &str) -> Result<CauseSet, CausesError> {
        let mut set = CauseSet::default();
        for name in names.split_whitespace() {
            let position = self.position(name).ok_or_else(|| {
                CausesError(format!(
                    "a rule refers to {name}, which is not in the list of causes"
                ))
            })?;
            set.insert(position);
        }
        Ok(set)
    }

    /// Returns all causes, in the order of the list.
    pub fn list(&self) -> &[Cause] {
        &self.list
    }

    /// Finds a cause by name. Ignores letter case and surrounding whitespace.
    pub fn find(&self, name: &str) -> Option<&Cause> {
        self.position(name).map(|position| &self.list[position])
    }

    /// Returns the position of a cause in the list. Ignores letter case and surrounding whitespace.
    pub fn position(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        self.positions
            .get(name)
            .or_else(|| self.positions.get(&name.to_ascii_lowercase()))
            .copied()
    }

    /// Returns the causes of a set, in the order of the list.
    #[inline]
    pub fn of_set(&self, set: CauseSet) -> impl Iterator<Item = &Cause> {
        set.positions().filter_map(|position| self.list.get(position))
    }

    /// Returns the causes of a nonprofit according to its NTEE code and its name.
    pub fn of(&self, ntee: Option<Ntee>, name: &str) -> CauseSet {
        self.rules.of(ntee, name)
    }

    #[cfg(test)]
    fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// Parses CSV with `N` columns, and trims the values.
fn rows<const N: usize>(text: &str, what: &str) -> Result<Vec<[String; N]>, CausesError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| CausesError(format!("{what}: {error}")))?;
        if record.len() != N {
            return Err(CausesError(format!(
                "{what}: a row has {} columns instead of {N}",
                record.len()
            )));
        }
        rows.push(std::array::from_fn(|column| record[column].to_owned()));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
