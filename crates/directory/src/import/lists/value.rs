//! Values of columns, as both databases take them.

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Integer(i64),
    Bool(bool),
    Text(String),
    OptionalText(Option<String>),
}

impl Value {
    /// Appends the value in the text format of PostgreSQL's `copy`: `\N` for null.
    pub fn copy_to(&self, text: &mut String) {
        match self {
            Value::Integer(number) => text.push_str(&number.to_string()),
            Value::Bool(true) => text.push('t'),
            Value::Bool(false) => text.push('f'),
            Value::Text(value) | Value::OptionalText(Some(value)) => copy_text(value, text),
            Value::OptionalText(None) => text.push_str("\\N"),
        }
    }
}

fn copy_text(value: &str, text: &mut String) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            character => text.push(character),
        }
    }
}
