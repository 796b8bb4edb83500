//! Reads the fields of a JSON object, each under any of its spellings, and collects all errors.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::change::Change;
use crate::values;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::web_url::{is_data_url, is_web_url};

const MAX_NAME_LENGTH: usize = 200;
const MAX_CAUSES: usize = 20;
const MAX_CAUSE_LENGTH: usize = 64;
/// Ten megabytes in base64, and the prefix of a data URL.
const MAX_PICTURE_LENGTH: usize = 14 << 20;

/// The fields of a JSON object that have not been read yet, and the errors so far.
pub(super) struct Fields {
    /// By name in lowercase without `_` and `-`, so that `website_url` and `websiteUrl` are the same field.
    fields: BTreeMap<String, Value>,
    errors: Vec<String>,
}

impl Fields {
    pub(super) fn new(object: Map<String, Value>) -> Fields {
        let mut fields = BTreeMap::new();
        let mut errors = Vec::new();
        for (name, value) in object {
            if fields.insert(fold_name(&name), value).is_some() {
                errors.push(format!("{} is given twice", printable_name(&name)));
            }
        }
        Fields { fields, errors }
    }

    /// Returns all errors as one text.
    pub(super) fn finish(self) -> Result<(), String> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(self.errors.join("; "))
        }
    }

    /// Reads the identifiers of the nonprofit. At least one is required.
    pub(super) fn identity(&mut self) -> (Option<Ein>, Option<Uuid>) {
        let ein = self.parsed(&["ein"], 20, "must be nine digits", |text| values::ein(&text));
        let id = self.parsed(&["id"], 60, "must be a UUID", |text| Uuid::try_parse(&text).ok());
        match (ein, id) {
            (Change::Set(ein), Change::Set(id)) => (Some(ein), Some(id)),
            (Change::Set(ein), _) => (Some(ein), None),
            (_, Change::Set(id)) => (None, Some(id)),
            _ => {
                if self.errors.is_empty() {
                    self.add_error("ein", "or id is required");
                }
                (None, None)
            }
        }
    }

    pub(super) fn name(&mut self) -> Option<String> {
        match self.text(&["name"], MAX_NAME_LENGTH) {
            Change::Keep => None,
            Change::Set(name) => Some(name),
            Change::Clear => {
                self.add_error("name", "cannot be empty (leave it out to keep the current name)");
                None
            }
        }
    }

    pub(super) fn text(&mut self, names: &[&'static str], max_length: usize) -> Change<String> {
        self.cleaned(names, max_length, |c| {
            if c.is_whitespace() {
                Some(' ')
            } else {
                printable(c)
            }
        })
    }

    /// Reads text that may have several lines.
    pub(crate) fn long_text(&mut self, names: &[&'static str], max_length: usize) -> Change<String> {
        self.cleaned(names, max_length, |c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            c => printable(c),
        })
    }

    pub(super) fn texts(
        &mut self,
        names: &[&'static str],
        max_entries: usize,
        max_length: usize,
    ) -> Change<Vec<String>> {
        let name = names[0];
        let items = match self.take(names) {
            None => return Change::Keep,
            Some(Value::Null) => return Change::Clear,
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.add_error(name, "must be a list of strings or null");
                return Change::Keep;
            }
        };
        self.require(
            items.len() <= max_entries,
            name,
            &format!("has more than {max_entries} entries"),
        );
        let mut texts: Vec<String> = Vec::new();
        for item in items.iter().take(max_entries) {
            let Value::String(text) = item else {
                self.add_error(name, "must contain only strings");
                break;
            };
            let text: String = text.chars().filter_map(printable).collect();
            let text = text.trim();
            self.require(
                text.chars().count() <= max_length,
                name,
                &format!("has an entry with more than {max_length} characters"),
            );
            if !text.is_empty() && !texts.iter().any(|other| other == text) {
                texts.push(text.to_owned());
            }
        }
        if texts.is_empty() {
            Change::Clear
        } else {
            Change::Set(texts)
        }
    }

    pub(super) fn causes(&mut self, names: &[&'static str]) -> Change<Vec<String>> {
        let causes = self.texts(names, MAX_CAUSES, MAX_CAUSE_LENGTH);
        causes.map(|causes| causes.into_iter().map(|cause| cause.to_lowercase()).collect())
    }

    pub(super) fn website(&mut self, names: &[&'static str]) -> Change<String> {
        let rule = "must be a URL that starts with http:// or https://";
        self.parsed(names, usize::MAX, rule, |text| is_web_url(&text).then_some(text))
    }

    pub(super) fn stripe_account(&mut self, names: &[&'static str]) -> Change<String> {
        let rule = "must be the ID of an account at Stripe, such as acct_1A2b3C4d5E6f7G8h";
        self.parsed(names, 64, rule, |text| {
            let id = text.strip_prefix("acct_")?;
            let is_valid = !id.is_empty()
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            is_valid.then_some(text)
        })
    }

    pub(super) fn picture(&mut self, names: &[&'static str]) -> Change<String> {
        let rule = "must be a web URL, or a data URL of a PNG, JPEG or WebP picture of at most 10 MiB";
        self.parsed(names, MAX_PICTURE_LENGTH, rule, |text| {
            (is_data_url(&text) || is_web_url(&text)).then_some(text)
        })
    }

    pub(super) fn ntee(&mut self, names: &[&'static str]) -> Change<String> {
        self.parsed(
            names,
            8,
            "must be a letter followed by two or three letters or digits, such as B70",
            |text| {
                let code = text.to_ascii_uppercase();
                let has_valid_characters =
                    (3..=4).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric());
                (has_valid_characters && code.as_bytes()[0].is_ascii_alphabetic()).then_some(code)
            },
        )
    }

    pub(super) fn state(&mut self, names: &[&'static str]) -> Change<String> {
        self.parsed(names, 8, "must be two letters, such as NY", |text| {
            let state = text.to_ascii_uppercase();
            (state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())).then_some(state)
        })
    }

    pub(super) fn zip(&mut self, names: &[&'static str]) -> Change<String> {
        self.parsed(names, 12, "must be a ZIP code of five or nine digits", |text| {
            let mut five = String::new();
            values::zip(&text, &mut five);
            (!five.is_empty()).then_some(five)
        })
    }

    pub(super) fn number(&mut self, names: &[&'static str], range: RangeInclusive<u32>) -> Change<u32> {
        let rule = format!("must be a whole number from {} to {}", range.start(), range.end());
        self.parsed(names, 20, &rule, |text| {
            values::code(&text, *range.end()).filter(|number| range.contains(number))
        })
    }

    pub(super) fn month(&mut self, names: &[&'static str]) -> Change<u32> {
        self.parsed(names, 20, "must be a month as YYYYMM", |text| {
            let digits: String = text.chars().filter(|c| *c != '-').take(6).collect();
            values::month(&digits).filter(|month| *month != 0)
        })
    }

    pub(super) fn dollars(&mut self, names: &[&'static str]) -> Change<i64> {
        self.parsed(names, 30, "must be an amount in whole dollars", |text| {
            values::amount(&text).ok().flatten()
        })
    }

    pub(super) fn boolean(&mut self, names: &[&'static str]) -> Change<bool> {
        match self.take(names) {
            None => Change::Keep,
            Some(Value::Null) => Change::Clear,
            Some(Value::Bool(value)) => Change::Set(value),
            Some(_) => {
                self.add_error(names[0], "must be true, false or null");
                Change::Keep
            }
        }
    }

    /// Reads a text or a number, and parses it.
    fn parsed<T>(
        &mut self,
        names: &[&'static str],
        max_length: usize,
        rule: &str,
        parse: impl FnOnce(String) -> Option<T>,
    ) -> Change<T> {
        match self.text(names, max_length) {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(text) => parse(text).map_or_else(
                || {
                    self.add_error(names[0], rule);
                    Change::Keep
                },
                Change::Set,
            ),
        }
    }

    fn cleaned(
        &mut self,
        names: &[&'static str],
        max_length: usize,
        keep: fn(char) -> Option<char>,
    ) -> Change<String> {
        let text = match self.take(names) {
            None => return Change::Keep,
            Some(Value::Null) => return Change::Clear,
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => {
                self.add_error(names[0], "must be a string or null");
                return Change::Keep;
            }
        };
        // Data URLs are long and need no cleaning.
        let is_clean = text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        let text = if is_clean {
            text
        } else {
            text.chars()
                .filter_map(keep)
                .collect::<String>()
                .trim()
                .to_owned()
        };
        if text.is_empty() {
            return Change::Clear;
        }
        self.require(
            text.len() <= max_length || text.chars().count() <= max_length,
            names[0],
            &format!("is longer than {max_length} characters"),
        );
        Change::Set(text)
    }

    /// Removes the field with one of these names. Two of them with different values are an error.
    fn take(&mut self, names: &[&'static str]) -> Option<Value> {
        let mut taken: Option<(&str, Value)> = None;
        for name in names {
            let Some(value) = self.fields.remove(&fold_name(name)) else {
                continue;
            };
            match &taken {
                None => taken = Some((name, value)),
                Some((first, other)) if *other != value => {
                    self.errors
                        .push(format!("{first} and {name} have different values"));
                }
                Some(_) => {}
            }
        }
        taken.map(|(_, value)| value)
    }

    fn add_error(&mut self, name: &str, rule: &str) {
        self.errors.push(format!("{name} {rule}"));
    }

    fn require(&mut self, is_valid: bool, name: &str, rule: &str) {
        if !is_valid {
            self.add_error(name, rule);
        }
    }
}

fn printable(c: char) -> Option<char> {
    (!c.is_control()).then_some(c)
}

fn fold_name(name: &str) -> String {
    name.replace(['_', '-', ' '], "").to_lowercase()
}

fn printable_name(name: &str) -> String {
    name.chars().filter_map(printable).take(40).collect()
}
