//! The fields of one object, each taken by any of its spellings; what is wrong is collected, not thrown.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::change::Change;
use super::url::{is_inline, is_web_address};
use crate::import::values;
use crate::nonprofits::ein::Ein;

const LONGEST_NAME: usize = 200;
const MOST_CAUSES: usize = 20;
const LONGEST_CAUSE: usize = 64;
/// Ten megabytes in base64, and the words in front.
const LONGEST_PICTURE: usize = 14 << 20;

pub struct Fields {
    /// By their names in lower case without `_` and `-`, so that `website_url` and `websiteUrl` are one.
    fields: BTreeMap<String, Value>,
    faults: Vec<String>,
}

impl Fields {
    pub fn new(object: Map<String, Value>) -> Fields {
        let mut fields = BTreeMap::new();
        let mut faults = Vec::new();
        for (name, value) in object {
            if fields.insert(folded(&name), value).is_some() {
                faults.push(format!("{} is given twice", shown(&name)));
            }
        }
        Fields { fields, faults }
    }

    /// Everything that was wrong, in one sentence.
    pub fn finish(self) -> Result<(), String> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(self.faults.join("; "))
        }
    }

    /// Which nonprofit is meant: at least one of the two must be there.
    pub fn identity(&mut self) -> (Option<Ein>, Option<Uuid>) {
        let ein = self.checked(&["ein"], 20, "must be nine digits", |text| values::ein(&text));
        let id = self.checked(&["id"], 60, "must be a UUID", |text| Uuid::try_parse(&text).ok());
        match (ein, id) {
            (Change::Set(ein), Change::Set(id)) => (Some(ein), Some(id)),
            (Change::Set(ein), _) => (Some(ein), None),
            (_, Change::Set(id)) => (None, Some(id)),
            _ => {
                if self.faults.is_empty() {
                    self.fault("ein", "or id must be there, to say which nonprofit is meant");
                }
                (None, None)
            }
        }
    }

    pub fn name(&mut self) -> Option<String> {
        match self.text(&["name"], LONGEST_NAME) {
            Change::Keep => None,
            Change::Set(name) => Some(name),
            Change::Clear => {
                self.fault("name", "cannot be empty, leave it out to keep it as it is");
                None
            }
        }
    }

    pub fn text(&mut self, names: &[&'static str], longest: usize) -> Change<String> {
        self.cleaned(names, longest, |c| {
            if c.is_whitespace() {
                Some(' ')
            } else {
                printable(c)
            }
        })
    }

    /// Text of several lines.
    pub fn long_text(&mut self, names: &[&'static str], longest: usize) -> Change<String> {
        self.cleaned(names, longest, |c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            c => printable(c),
        })
    }

    pub fn texts(&mut self, names: &[&'static str], most: usize, longest: usize) -> Change<Vec<String>> {
        let name = names[0];
        let items = match self.take(names) {
            None => return Change::Keep,
            Some(Value::Null) => return Change::Clear,
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.fault(name, "must be a list of texts or null");
                return Change::Keep;
            }
        };
        self.fault_unless(
            items.len() <= most,
            name,
            &format!("has more than {most} entries"),
        );
        let mut texts: Vec<String> = Vec::new();
        for item in items.iter().take(most) {
            let Value::String(text) = item else {
                self.fault(name, "must hold texts only");
                break;
            };
            let text: String = text.chars().filter_map(printable).collect();
            let text = text.trim();
            self.fault_unless(
                text.chars().count() <= longest,
                name,
                &format!("has an entry over {longest} characters"),
            );
            if !text.is_empty() && !texts.iter().any(|known| known == text) {
                texts.push(text.to_owned());
            }
        }
        if texts.is_empty() {
            Change::Clear
        } else {
            Change::Set(texts)
        }
    }

    pub fn causes(&mut self, names: &[&'static str]) -> Change<Vec<String>> {
        let causes = self.texts(names, MOST_CAUSES, LONGEST_CAUSE);
        causes.map(|causes| causes.into_iter().map(|cause| cause.to_lowercase()).collect())
    }

    pub fn website(&mut self, names: &[&'static str]) -> Change<String> {
        let rule = "must be a web address that begins with http:// or https://";
        self.checked(names, usize::MAX, rule, |text| {
            is_web_address(&text).then_some(text)
        })
    }

    pub fn picture(&mut self, names: &[&'static str]) -> Change<String> {
        let rule = "must be a web address, or a data URL of a PNG, JPEG or WebP picture of at most 10 MiB";
        self.checked(names, LONGEST_PICTURE, rule, |text| {
            (is_inline(&text) || is_web_address(&text)).then_some(text)
        })
    }

    pub fn ntee(&mut self, names: &[&'static str]) -> Change<String> {
        self.checked(
            names,
            8,
            "must be a letter and two or three letters or digits, such as B70",
            |text| {
                let code = text.to_ascii_uppercase();
                let shaped = (3..=4).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric());
                (shaped && code.as_bytes()[0].is_ascii_alphabetic()).then_some(code)
            },
        )
    }

    pub fn state(&mut self, names: &[&'static str]) -> Change<String> {
        self.checked(names, 8, "must be two letters, such as NY", |text| {
            let state = text.to_ascii_uppercase();
            (state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())).then_some(state)
        })
    }

    pub fn zip(&mut self, names: &[&'static str]) -> Change<String> {
        self.checked(
            names,
            12,
            "must be five digits, with or without four more",
            |text| {
                let mut five = String::new();
                values::zip(&text, &mut five);
                (!five.is_empty()).then_some(five)
            },
        )
    }

    pub fn number(&mut self, names: &[&'static str], range: RangeInclusive<u32>) -> Change<u32> {
        let rule = format!("must be a whole number from {} to {}", range.start(), range.end());
        self.checked(names, 20, &rule, |text| {
            values::code(&text, *range.end()).filter(|number| range.contains(number))
        })
    }

    pub fn month(&mut self, names: &[&'static str]) -> Change<u32> {
        self.checked(names, 20, "must be a month as YYYYMM", |text| {
            let digits: String = text.chars().filter(|c| *c != '-').take(6).collect();
            values::month(&digits).filter(|month| *month != 0)
        })
    }

    pub fn dollars(&mut self, names: &[&'static str]) -> Change<i64> {
        self.checked(names, 30, "must be an amount in whole dollars", |text| {
            values::amount(&text).ok().flatten()
        })
    }

    pub fn truth(&mut self, names: &[&'static str]) -> Change<bool> {
        match self.take(names) {
            None => Change::Keep,
            Some(Value::Null) => Change::Clear,
            Some(Value::Bool(truth)) => Change::Set(truth),
            Some(_) => {
                self.fault(names[0], "must be true, false or null");
                Change::Keep
            }
        }
    }

    /// A text, or a number written as one, that must pass `read`.
    fn checked<T>(
        &mut self,
        names: &[&'static str],
        longest: usize,
        rule: &str,
        read: impl FnOnce(String) -> Option<T>,
    ) -> Change<T> {
        match self.text(names, longest) {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(text) => read(text).map_or_else(
                || {
                    self.fault(names[0], rule);
                    Change::Keep
                },
                Change::Set,
            ),
        }
    }

    fn cleaned(
        &mut self,
        names: &[&'static str],
        longest: usize,
        keep: fn(char) -> Option<char>,
    ) -> Change<String> {
        let text = match self.take(names) {
            None => return Change::Keep,
            Some(Value::Null) => return Change::Clear,
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => {
                self.fault(names[0], "must be text or null");
                return Change::Keep;
            }
        };
        // Pictures are long, and plain.
        let is_plain = text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        let text = match is_plain {
            true => text,
            false => text
                .chars()
                .filter_map(keep)
                .collect::<String>()
                .trim()
                .to_owned(),
        };
        if text.is_empty() {
            return Change::Clear;
        }
        self.fault_unless(
            text.len() <= longest || text.chars().count() <= longest,
            names[0],
            &format!("is longer than {longest} characters"),
        );
        Change::Set(text)
    }

    /// Takes the first of these names that is there; a second with another value is a fault.
    fn take(&mut self, names: &[&'static str]) -> Option<Value> {
        let mut taken: Option<(&str, Value)> = None;
        for name in names {
            let Some(value) = self.fields.remove(&folded(name)) else {
                continue;
            };
            match &taken {
                None => taken = Some((name, value)),
                Some((first, other)) if *other != value => {
                    self.faults
                        .push(format!("{first} and {name} say different things"));
                }
                Some(_) => {}
            }
        }
        taken.map(|(_, value)| value)
    }

    fn fault(&mut self, name: &str, rule: &str) {
        self.faults.push(format!("{name} {rule}"));
    }

    fn fault_unless(&mut self, holds: bool, name: &str, rule: &str) {
        if !holds {
            self.fault(name, rule);
        }
    }
}

fn printable(c: char) -> Option<char> {
    (!c.is_control()).then_some(c)
}

fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

fn shown(name: &str) -> String {
    name.chars().filter_map(printable).take(40).collect()
}
