//! Forms, declared in Rust and rendered by one template. A form with errors is shown again with the submitted values and
//! with each error next to its field.

pub mod amounts;
mod data;
mod multipart;
pub mod picker;
pub mod picture;
mod upload;

pub use data::FormData;
pub use upload::UploadForm;

use self::amounts::Amounts;
use self::picker::NonprofitPicker;
use self::picture::PictureInput;
use super::texts::{EN, Texts};
use askama::Template;
use askama::filters::HtmlSafe;

/// A form. In a template, `{{ form }}` renders all of it.
#[derive(Clone, Debug, Template)]
#[template(path = "web/form.html")]
pub struct Form {
    t: &'static Texts,
    id: Option<&'static str>,
    action: String,
    submit: &'static str,
    /// The value of `action` that the button sends.
    submit_action: Option<&'static str>,
    /// A second button: the value of `action` that it sends, and its label.
    other_action: Option<(&'static str, &'static str)>,
    is_dangerous: bool,
    /// Whether the response replaces the page that shows this one in a frame.
    is_for_top_window: bool,
    fields: Vec<Field>,
    /// What to know before the form is sent: a title and sentences.
    note: Option<(&'static str, Vec<String>)>,
    /// An error of the form as a whole.
    error: Option<String>,
}

impl HtmlSafe for Form {}

/// A field of a form.
#[derive(Clone, Debug)]
pub struct Field {
    name: &'static str,
    label: String,
    kind: Kind,
    value: String,
    hint: Option<String>,
    autocomplete: Option<&'static str>,
    is_optional: bool,
    error: Option<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Text(&'static str),
    /// A text of several lines.
    Area,
    Hidden,
    Choice(Vec<Choice>),
    /// One of many options, in little space.
    Select(Vec<Choice>),
    /// Any number of options; the value has the checked ones, separated by spaces.
    Checks(Vec<Choice>),
    Amounts(Amounts),
    Nonprofits(NonprofitPicker),
    Picture(PictureInput),
    /// A file of one of these types.
    File(&'static str),
}

/// An option of a choice field.
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

impl Choice {
    /// Returns whether this option has a value.
    pub fn is(&self, value: &str) -> bool {
        self.value == value
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
            error: None,
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

    /// Creates a date field; its value has the form `2026-05-01`.
    pub fn date(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Text("date"))
    }

    /// Creates a field for several lines of text.
    pub fn area(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Area)
    }

    /// Creates a password field. Its value is never rendered, not even in a form with errors.
    pub fn password(name: &'static str, label: impl Into<String>, autocomplete: &'static str) -> Field {
        Field::new(name, label, Kind::Text("password")).autocomplete(autocomplete)
    }

    pub fn hidden(name: &'static str, value: impl Into<String>) -> Field {
        Field::new(name, "", Kind::Hidden).value(value)
    }

    /// Creates a field with several options. The first is selected by default.
    pub fn choice(name: &'static str, label: impl Into<String>, choices: Vec<Choice>) -> Field {
        let first = choices.first().map(|choice| choice.value.clone());
        Field::new(name, label, Kind::Choice(choices)).value(first.unwrap_or_default())
    }

    /// Creates a field with several options that are shown as a list. Choose the selected one with [`Field::value`].
    pub fn select(name: &'static str, label: impl Into<String>, choices: Vec<Choice>) -> Field {
        Field::new(name, label, Kind::Select(choices))
    }

    /// Creates a field with options of which any number can be checked. Each is sent under its own name.
    pub fn checks(name: &'static str, label: impl Into<String>, choices: Vec<Choice>) -> Field {
        Field::new(name, label, Kind::Checks(choices))
    }

    /// Creates a field for a date and a time without a zone; its value has the form `2026-05-01T10:30`.
    pub fn time(name: &'static str, label: impl Into<String>) -> Field {
        Field::new(name, label, Kind::Text("datetime-local"))
    }

    /// Returns whether an option is checked.
    fn is_checked(&self, option: &str) -> bool {
        self.value.split(' ').any(|checked| checked == option)
    }

    /// Creates the choice of an amount.
    pub fn amounts(label: impl Into<String>, amounts: Amounts) -> Field {
        Field::new("amount", label, Kind::Amounts(amounts))
    }

    /// Creates the choice of nonprofits.
    pub fn nonprofits(label: impl Into<String>, picker: NonprofitPicker) -> Field {
        Field::new("nonprofit", label, Kind::Nonprofits(picker))
    }

    /// Creates the choice of a picture.
    pub fn picture(label: impl Into<String>, picture: PictureInput) -> Field {
        Field::new("image", label, Kind::Picture(picture))
    }

    /// Creates the choice of a file of one of these types, as in the attribute `accept`.
    pub fn file(name: &'static str, label: impl Into<String>, types: &'static str) -> Field {
        Field::new(name, label, Kind::File(types))
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

    fn add_error(&mut self, error: String) {
        match &mut self.kind {
            Kind::Amounts(amounts) => amounts.add_error(error.clone()),
            Kind::Nonprofits(picker) => picker.add_error(error.clone()),
            Kind::Picture(picture) => picture.add_error(error.clone()),
            _ => {}
        }
        self.error.get_or_insert(error);
    }

    fn is_secret(&self) -> bool {
        matches!(self.kind, Kind::Text("password"))
    }

    /// Returns the IDs of the hint and the error, for `aria-describedby`.
    fn described_by(&self) -> Option<String> {
        let hint = self.hint.as_ref().map(|_| format!("{}-hint", self.name));
        let error = self.error.as_ref().map(|_| format!("{}-error", self.name));
        match (hint, error) {
            (Some(hint), Some(error)) => Some(format!("{hint} {error}")),
            (hint, error) => hint.or(error),
        }
    }
}

impl Form {
    /// Creates a form that is posted to `action`. `submit` is the label of its button.
    pub fn new(action: impl Into<String>, submit: &'static str, fields: Vec<Field>) -> Form {
        Form {
            t: &EN,
            id: None,
            action: action.into(),
            submit,
            submit_action: None,
            other_action: None,
            is_dangerous: false,
            is_for_top_window: false,
            fields,
            note: None,
            error: None,
        }
    }

    /// Adds what to know before the form is sent, above its button. Without sentences it is left out.
    #[must_use]
    pub fn note(mut self, title: &'static str, sentences: Vec<String>) -> Form {
        self.note = Some((title, sentences)).filter(|(_, sentences)| !sentences.is_empty());
        self
    }

    /// Sets an ID, so that a URL can point to the form.
    #[must_use]
    pub fn id(mut self, id: &'static str) -> Form {
        self.id = Some(id);
        self
    }

    /// Shows the response in the whole window, also if the form is in a frame.
    #[must_use]
    pub fn in_top_window(mut self) -> Form {
        self.is_for_top_window = true;
        self
    }

    /// Marks an action that cannot be undone.
    #[must_use]
    pub fn dangerous(mut self) -> Form {
        self.is_dangerous = true;
        self
    }

    /// Lets the button send a value of `action`, and adds another button that sends another one.
    #[must_use]
    pub fn actions(mut self, submit: &'static str, other: &'static str, label: &'static str) -> Form {
        self.submit_action = Some(submit);
        self.other_action = Some((other, label));
        self
    }

    /// Returns the choice of nonprofits.
    pub fn picker_mut(&mut self) -> Option<&mut NonprofitPicker> {
        self.fields.iter_mut().find_map(|field| match &mut field.kind {
            Kind::Nonprofits(picker) => Some(picker),
            _ => None,
        })
    }

    /// Returns the choice of a picture.
    pub fn picture_mut(&mut self) -> Option<&mut PictureInput> {
        self.fields.iter_mut().find_map(|field| match &mut field.kind {
            Kind::Picture(picture) => Some(picture),
            _ => None,
        })
    }

    /// Returns whether it can contain a file.
    fn has_file(&self) -> bool {
        let is_file = |field: &Field| matches!(field.kind, Kind::Picture(_) | Kind::File(_));
        self.fields.iter().any(is_file)
    }

    /// Fills in the submitted values, except passwords.
    #[must_use]
    pub fn with_values(mut self, data: &FormData) -> Form {
        for field in self.fields.iter_mut().filter(|field| !field.is_secret()) {
            match &mut field.kind {
                Kind::Amounts(amounts) => amounts.fill_in(data),
                Kind::Nonprofits(picker) => picker.fill_in(data),
                Kind::Picture(picture) => picture.fill_in(data),
                Kind::File(_) => {}
                Kind::Checks(choices) => {
                    let names = choices.iter().map(|choice| choice.value.as_str());
                    let checked: Vec<&str> = names.filter(|name| data.find(name).is_some()).collect();
                    field.value = checked.join(" ");
                }
                _ => {
                    if let Some(value) = data.find(field.name) {
                        value.clone_into(&mut field.value);
                    }
                }
            }
        }
        self
    }

    /// Adds an error to a field. Only the first error of a field is shown.
    pub fn add_error(&mut self, name: &str, error: impl Into<String>) {
        let field = self.fields.iter_mut().find(|field| field.name == name);
        match field {
            Some(field) => field.add_error(capitalize(&error.into())),
            None => self.add_form_error(error),
        }
    }

    /// Adds an error to the form as a whole.
    pub fn add_form_error(&mut self, error: impl Into<String>) {
        self.error.get_or_insert(capitalize(&error.into()));
    }

    pub fn has_errors(&self) -> bool {
        self.error.is_some() || self.fields.iter().any(|field| field.error.is_some())
    }

    fn errors(&self) -> impl Iterator<Item = (&Field, &String)> {
        let fields = self.fields.iter();
        fields.filter_map(|field| Some((field, field.error.as_ref()?)))
    }
}

/// Capitalizes the first letter: errors start with a lowercase letter in commands and with a capital on pages.
fn capitalize(error: &str) -> String {
    let mut rest = error.chars();
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
    fn a_form_with_errors_keeps_the_submitted_values_except_passwords() {
        let mut form = form().with_values(&FormData::parse("name=%3Cb%3E%22&password=hush"));
        form.add_error("name", "too short");
        let html = form.render().unwrap();
        assert!(html.contains("value=\"&#60;b&#62;&#34;\""), "{html}");
        assert!(!html.contains("hush") && !html.contains("<b>"));
    }

    #[test]
    fn an_error_is_linked_to_its_field_and_appears_in_the_summary() {
        let mut form = form();
        assert!(!form.has_errors());
        form.add_error("name", "too short");
        form.add_error("name", "too long");
        let html = form.render().unwrap();
        assert!(form.has_errors());
        assert!(html.contains("href=\"#name\""), "{html}");
        assert!(
            html.contains("aria-describedby=\"name-hint name-error\""),
            "{html}"
        );
        assert!(html.contains("aria-invalid=\"true\""));
        assert!(html.contains("Too short") && !html.contains("oo long"));
    }
}
