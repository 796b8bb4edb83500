//! Forms: declared once in Rust, drawn by one template, shown again with what was typed and with each error beside
//! its field.

mod sent;

pub use sent::Sent;

use super::texts::{EN, Texts};
use askama::Template;
use askama::filters::HtmlSafe;

/// A form. In a template, `{{ form }}` draws all of it.
#[derive(Clone, Debug, Template)]
#[template(path = "web/form.html")]
pub struct Form {
    t: &'static Texts,
    action: String,
    submit: &'static str,
    is_dangerous: bool,
    fields: Vec<Field>,
    /// What is wrong with the form as a whole.
    fault: Option<String>,
}

impl HtmlSafe for Form {}

/// One thing to fill in.
#[derive(Clone, Debug)]
pub struct Field {
    name: &'static str,
    label: String,
    kind: Kind,
    value: String,
    hint: Option<String>,
    autocomplete: Option<&'static str>,
    is_optional: bool,
    fault: Option<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Text(&'static str),
    Hidden,
    Choice(Vec<Choice>),
}

/// One of several answers.
#[derive(Clone, Debug)]
pub struct Choice {
    value: String,
    label: String,
    hint: String,
}

impl Choice {
    pub fn new(value: impl Into<String>, label: impl Into<String>, hint: impl Into<String>) -> Choice {
        Choice {
            value: value.into(),
            label: label.into(),
            hint: hint.into(),
        }
    }
}

impl Field {
    fn new(name: &'static str, label: impl Into<String>, kind: Kind) -> Field {
        Field {
            name,
            label: label.into(),
            kind,
            value: String::new(),
            hint: None,
            autocomplete: None,
            is_optional: false,
            fault: None,
        }
    }

    pub fn text(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Text("text"))
    }

    pub fn email(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Text("email")).autocomplete("email")
    }

    pub fn number(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Text("number"))
    }

    /// A secret: it is never shown again, not even to the one who typed it.
    pub fn password(name: &'static str, label: impl Into<String>, autocomplete: &'static str) -> Field {
        Field::new(name, label, Kind::Text("password")).autocomplete(autocomplete)
    }

    pub fn hidden(name: &'static str, value: impl Into<String>) -> Field {
        Field::new(name, "", Kind::Hidden).value(value)
    }

    /// One of several, the first unless told otherwise.
    pub fn choice(name: &'static str, label: impl Into<String>, choices: Vec<Choice>) -> Field {
        let first = choices.first().map(|choice| choice.value.clone());
        Field::new(name, label, Kind::Choice(choices)).value(first.unwrap_or_default())
    }

    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Field {
        self.value = value.into();
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Field {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn autocomplete(mut self, purpose: &'static str) -> Field {
        self.autocomplete = Some(purpose);
        self
    }

    #[must_use]
    pub fn optional(mut self) -> Field {
        self.is_optional = true;
        self
    }

    fn is_secret(&self) -> bool {
        matches!(self.kind, Kind::Text("password"))
    }

    /// The ids of the texts that describe it, for `aria-describedby`.
    fn described_by(&self) -> Option<String> {
        let hint = self.hint.as_ref().map(|_| format!("{}-hint", self.name));
        let fault = self.fault.as_ref().map(|_| format!("{}-error", self.name));
        match (hint, fault) {
            (Some(hint), Some(fault)) => Some(format!("{hint} {fault}")),
            (hint, fault) => hint.or(fault),
        }
    }
}

impl Form {
    /// A form that is posted to `action` with the button `submit`.
    pub fn new(action: impl Into<String>, submit: &'static str, fields: Vec<Field>) -> Form {
        Form {
            t: &EN,
            action: action.into(),
            submit,
            is_dangerous: false,
            fields,
            fault: None,
        }
    }

    /// Marks that this cannot be taken back.
    #[must_use]
    pub fn dangerous(mut self) -> Form {
        self.is_dangerous = true;
        self
    }

    /// Keeps what was typed, but for secrets.
    #[must_use]
    pub fn filled(mut self, sent: &Sent) -> Form {
        for field in self.fields.iter_mut().filter(|field| !field.is_secret()) {
            if let Some(value) = sent.find(field.name) {
                value.clone_into(&mut field.value);
            }
        }
        self
    }

    /// Says what is wrong with one field; of several errors the first stays.
    pub fn refuse(&mut self, name: &str, fault: impl Into<String>) {
        let field = self.fields.iter_mut().find(|field| field.name == name);
        match field {
            Some(field) => _ = field.fault.get_or_insert(sentence(&fault.into())),
            None => self.refuse_all(fault),
        }
    }

    /// Says what is wrong with the form as a whole.
    pub fn refuse_all(&mut self, fault: impl Into<String>) {
        self.fault.get_or_insert(sentence(&fault.into()));
    }

    pub fn is_refused(&self) -> bool {
        self.fault.is_some() || self.fields.iter().any(|field| field.fault.is_some())
    }

    fn faults(&self) -> impl Iterator<Item = (&Field, &String)> {
        let fields = self.fields.iter();
        fields.filter_map(|field| Some((field, field.fault.as_ref()?)))
    }
}

/// Errors begin small where a command tells them; on a page they begin large.
fn sentence(fault: &str) -> String {
    let mut rest = fault.chars();
    let first: Vec<char> = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    first.into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let fields = vec![
            Field::text("name", "Name").hint("What it is for"),
            Field::password("password", "Password", "new-password"),
        ];
        Form::new("/there", "Send", fields)
    }

    #[test]
    fn a_refused_form_keeps_what_was_typed_but_no_secrets() {
        let mut form = form().filled(&Sent::read("name=%3Cb%3E%22&password=hush"));
        form.refuse("name", "too short");
        let html = form.render().unwrap();
        assert!(html.contains("value=\"&#60;b&#62;&#34;\""), "{html}");
        assert!(!html.contains("hush") && !html.contains("<b>"));
    }

    #[test]
    fn an_error_is_tied_to_its_field_and_stands_in_the_summary() {
        let mut form = form();
        assert!(!form.is_refused());
        form.refuse("name", "too short");
        form.refuse("name", "too long");
        let html = form.render().unwrap();
        assert!(form.is_refused());
        assert!(html.contains("href=\"#name\""), "{html}");
        assert!(
            html.contains("aria-describedby=\"name-hint name-error\""),
            "{html}"
        );
        assert!(html.contains("aria-invalid=\"true\""));
        assert!(html.contains("Too short") && !html.contains("oo long"));
    }
}
