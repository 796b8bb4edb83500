//! Causes: what a nonprofit stands for, as browse and search know it.
//!
//! The list is data (`data/causes.csv`) that an operator can extend; a set of causes is a set of places in that list.

use super::cause_rules::Rules;
use super::cause_set::CauseSet;
use super::ntee::Ntee;
use platform::text;
use std::collections::HashMap;
use std::sync::LazyLock;
use uuid::Uuid;

pub use super::cause_rules::CausesError;

/// The namespace of cause ids: the same name has the same id everywhere.
const NAMESPACE: Uuid = Uuid::from_u128(0x5b0c_6d5e_9a1f_4c8e_8f27_3d6a_1be0_94c7);

/// One cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Stable, made from the name.
    pub id: Uuid,
    /// As in addresses and filters: `food-security`.
    pub name: String,
    /// For people: `Food security`.
    pub title: String,
    /// Which of the seven categories it belongs to.
    pub category: Category,
}

/// The seven categories of the interface.
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
    /// All of them, in the order of their wire names.
    pub const ALL: [Category; 7] = [
        Category::Animals,
        Category::Education,
        Category::Environment,
        Category::Health,
        Category::HumanAndCivilRights,
        Category::HumanServices,
        Category::ResearchAndPublicPolicy,
    ];

    /// As on the wire.
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

/// The causes of this installation with the rules that assign them.
#[derive(Debug)]
pub struct Causes {
    list: Vec<Cause>,
    places: HashMap<String, usize>,
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
    /// The list that comes with the program.
    pub fn built_in() -> &'static Causes {
        &BUILT_IN
    }

    /// Reads a list (`name,category,title`) with its rules by NTEE code (`prefix,causes`) and by name
    /// (`words,causes,when`), each a CSV text with a header.
    pub fn read(list: &str, by_code: &str, by_word: &str) -> Result<Causes, CausesError> {
        let mut causes = Causes {
            list: Vec::new(),
            places: HashMap::new(),
            rules: Rules::default(),
        };
        for [name, category, title] in rows(list, "causes")? {
            causes.add(name, &category, title)?;
        }
        for [prefix, names] in rows(by_code, "causes by NTEE code")? {
            let told = causes.set(&names)?;
            causes.rules.add_code(prefix, told);
        }
        for [words, names, when] in rows(by_word, "causes by name")? {
            let told = causes.set(&names)?;
            causes.rules.add_words(&words, told, &when)?;
        }
        Ok(causes)
    }

    fn add(&mut self, name: String, category: &str, title: String) -> Result<(), CausesError> {
        let category = Category::ALL
            .into_iter()
            .find(|known| known.as_str() == category)
            .ok_or_else(|| {
                CausesError(format!(
                    "cause {name}: {category} is none of the seven categories"
                ))
            })?;
        if name.is_empty() || name != text::fold(&name, '-') {
            return Err(CausesError(format!(
                "cause {name}: a name is lower-case words joined by dashes"
            )));
        }
        let place = self.list.len();
        if place == CauseSet::CAPACITY {
            return Err(CausesError(format!(
                "there are more than {} causes",
                CauseSet::CAPACITY
            )));
        }
        if self.places.insert(name.clone(), place).is_some() {
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
            let place = self
                .place(name)
                .ok_or_else(|| CausesError(format!("a rule names {name}, which is no cause")))?;
            set.insert(place);
        }
        Ok(set)
    }

    /// Every cause, in the order of the list.
    pub fn list(&self) -> &[Cause] {
        &self.list
    }

    /// The cause of this name, whatever the case and the blanks around it.
    pub fn find(&self, name: &str) -> Option<&Cause> {
        self.place(name).map(|place| &self.list[place])
    }

    /// Where the cause of this name stands in the list.
    pub fn place(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        self.places
            .get(name)
            .or_else(|| self.places.get(&name.to_ascii_lowercase()))
            .copied()
    }

    /// The causes of a set, in the order of the list.
    #[inline]
    pub fn of_set(&self, set: CauseSet) -> impl Iterator<Item = &Cause> {
        set.positions().filter_map(|place| self.list.get(place))
    }

    /// The causes of a body by its code and its name.
    pub fn of(&self, ntee: Option<Ntee>, name: &str) -> CauseSet {
        self.rules.of(ntee, name)
    }

    #[cfg(test)]
    fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// The rows of a CSV text with N columns, trimmed.
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
