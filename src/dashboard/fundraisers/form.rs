//! The form of a fundraiser: what people type becomes a body of the interface, so the same rules judge both.

use crate::web::texts::Fundraisers as Texts;
use crate::web::{Field, Form, Sent};
use giving::fundraisers::Fundraiser;
use jiff::Timestamp;
use jiff::civil::Date;
use platform::field_error::FieldError;
use platform::ids::FundraiserId;
use platform::money::Cents;
use platform::text::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A first day begins with its first moment, and a last day ends with its last one.
const FIRST_MOMENT: &str = "00:00:00Z";
const LAST_MOMENT: &str = "23:59:59.999Z";
const NAMES: [&str; 6] = [
    "title",
    "description",
    "startDate",
    "endDate",
    "goal",
    "raisedOffline",
];
/// The hidden field with what a form showed.
const SHOWN: &str = "shown";

/// The empty form of a new fundraiser.
pub fn new_form(t: &Texts) -> Form {
    let mut fields = vec![Field::text("nonprofit", t.nonprofit).hint(t.nonprofit_hint)];
    fields.extend(fields_of(t, None));
    // The id of the fundraiser to be: a form that is sent twice makes one.
    fields.push(Field::hidden("once", FundraiserId::new().to_string()));
    Form::new("/dashboard/fundraisers/new", t.create, fields)
}

/// The form of a fundraiser as it is. It goes along what it shows: somebody else may change the fundraiser before it is
/// sent, and what nobody touched here must not undo that.
pub fn edit_form(t: &Texts, known: &Fundraiser) -> Form {
    let action = format!("/dashboard/fundraisers/{}/edit", known.id);
    let mut fields = fields_of(t, Some(known));
    fields.push(Field::hidden(SHOWN, marks(known)));
    Form::new(action, t.save, fields)
}

fn fields_of(t: &Texts, known: Option<&Fundraiser>) -> Vec<Field> {
    let [title, description, starts, ends, goal, offline] = known.map(texts).unwrap_or_default();
    vec![
        Field::text("title", t.name).hint(t.name_hint).value(title),
        Field::area("description", t.description)
            .optional()
            .value(description),
        Field::date("startDate", t.start)
            .hint(t.start_hint)
            .optional()
            .value(starts),
        Field::date("endDate", t.end)
            .hint(t.end_hint)
            .optional()
            .value(ends),
        Field::text("goal", t.goal)
            .hint(t.goal_hint)
            .optional()
            .value(goal),
        Field::text("raisedOffline", t.offline)
            .hint(t.offline_hint)
            .optional()
            .value(offline),
    ]
}

/// The fields of a fundraiser as its form shows them, in the order of [`NAMES`].
fn texts(known: &Fundraiser) -> [String; 6] {
    let amount = |amount: Option<Cents>| amount.map(|amount| amount.to_string()).unwrap_or_default();
    [
        known.title.clone(),
        known.description.clone().unwrap_or_default(),
        known.starts_at.map(day).unwrap_or_default(),
        known.ends_at.map(day).unwrap_or_default(),
        amount(known.goal),
        amount(known.offline),
    ]
}

/// What a form shows of a fundraiser, a short mark for each field.
fn marks(known: &Fundraiser) -> String {
    let marks = NAMES
        .iter()
        .zip(texts(known))
        .map(|(name, text)| mark(name, &text));
    marks.collect::<Vec<_>>().join(" ")
}

/// The same for all ways to write the same.
fn mark(name: &str, text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    let amount = Cents::from_dollars(&text).filter(|_| matches!(name, "goal" | "raisedOffline"));
    let text = amount.map_or(text, |amount| amount.to_string());
    hex(&Sha256::digest(text)[..8])
}

/// What was typed into a form, of an edited fundraiser only what is no longer as it was shown.
struct Typed<'a> {
    sent: &'a Sent,
    shown: Vec<String>,
}

impl<'a> Typed<'a> {
    /// A form that does not say what it showed is taken to have shown what is `known` now.
    fn new(sent: &'a Sent, known: Option<&Fundraiser>) -> Typed<'a> {
        let shown = known.map(|known| sent.find(SHOWN).map_or_else(|| marks(known), str::to_owned));
        let shown = shown.unwrap_or_default();
        Typed {
            sent,
            shown: shown.split(' ').map(str::to_owned).collect(),
        }
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        let mut shown = NAMES.iter().zip(&self.shown);
        let shown = shown.find(|(known, _)| **known == name).map(|(_, mark)| mark);
        let typed = self.sent.find(name);
        typed.filter(|typed| shown.is_none_or(|shown| *shown != mark(name, typed)))
    }
}

/// What was typed as a body of the interface; what cannot be read is refused in the form and left out. Of an edited
/// fundraiser, what was not touched is left out too.
pub fn read(form: &mut Form, sent: &Sent, known: Option<&Fundraiser>, t: &Texts) -> Map<String, Value> {
    let typed = Typed::new(sent, known);
    let mut body = Map::new();
    if let Some(title) = typed.find("title") {
        body.insert("title".to_owned(), json!(title));
    }
    if let Some(description) = typed.find("description") {
        body.insert("description".to_owned(), json!(description.replace("\r\n", "\n")));
    }
    for (name, moment) in [("startDate", FIRST_MOMENT), ("endDate", LAST_MOMENT)] {
        match typed.find(name).map(str::trim) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(typed) => match typed.parse::<Date>() {
                Ok(date) => _ = body.insert(name.to_owned(), json!(format!("{date}T{moment}"))),
                Err(_) => form.refuse(name, t.invalid_date),
            },
        }
    }
    for (name, least, too_small) in [
        ("goal", 1, t.invalid_goal),
        ("raisedOffline", 0, t.invalid_amount),
    ] {
        match typed.find(name).map(str::trim) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(typed) => match Cents::from_dollars(typed) {
                Some(amount) if amount.get() >= least => {
                    _ = body.insert(name.to_owned(), json!(amount.get()))
                }
                Some(_) => form.refuse(name, too_small),
                None => form.refuse(name, t.invalid_amount),
            },
        }
    }
    body
}

/// Shows what the rules of the interface found, each beside its field.
pub fn refuse(form: &mut Form, faults: Vec<FieldError>) {
    for fault in faults {
        match fault.field.as_str() {
            "nonprofitId" => form.refuse("nonprofit", fault.detail),
            field => form.refuse(field, fault.detail),
        }
    }
}

/// The day of a moment in UTC, as a form has it.
fn day(millis: i64) -> String {
    let moment = Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::EN;

    fn body(typed: &str) -> (Map<String, Value>, bool) {
        let mut form = new_form(&EN.fundraisers);
        let body = read(&mut form, &Sent::read(typed), None, &EN.fundraisers);
        (body, form.is_refused())
    }

    #[test]
    fn days_reach_from_their_first_to_their_last_moment() {
        let (body, refused) = body("startDate=2026-05-01&endDate=2026-05-01");
        assert_eq!(body["startDate"], "2026-05-01T00:00:00Z");
        assert_eq!(body["endDate"], "2026-05-01T23:59:59.999Z");
        assert!(!refused);
    }

    #[test]
    fn what_is_empty_is_cleared_and_what_was_not_asked_stays() {
        let (body, refused) = body("goal=+&endDate=&description=a%0D%0Ab");
        assert_eq!(
            Value::Object(body),
            json!({"goal": null, "endDate": null, "description": "a\nb"})
        );
        assert!(!refused);
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_left_out() {
        for typed in [
            "goal=lots",
            "goal=0",
            "raisedOffline=-1",
            "startDate=soon",
            "endDate=2026-02-30",
        ] {
            assert_eq!(body(typed), (Map::new(), true), "{typed}");
        }
        assert_eq!(body("raisedOffline=0").0["raisedOffline"], 0);
    }
}
