//! The form of a fundraiser. Its values become a request body of the API, so the same rules validate both.

use crate::dashboard::uploads;
use crate::web::form::picker::NonprofitPicker;
use crate::web::form::picture::PictureInput;
use crate::web::texts::{Fundraisers as Texts, FundraisingTexts};
use crate::web::{Field, Form, FormData};
use giving::fundraisers::Fundraiser;
use jiff::Timestamp;
use jiff::civil::Date;
use platform::field_error::FieldError;
use platform::ids::FundraiserId;
use platform::money::Cents;
use platform::text::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A start date means the start of that day, and an end date its end.
const START_OF_DAY: &str = "00:00:00Z";
const END_OF_DAY: &str = "23:59:59.999Z";
const FIELD_NAMES: [&str; 6] = [
    "title",
    "description",
    "startDate",
    "endDate",
    "goal",
    "raisedOffline",
];
/// The hidden field with the digests of the values that the form showed.
const SHOWN: &str = "shown";

/// The values of `action`, which the buttons of the form and of the preview send.
pub const PREVIEW: &str = "preview";
pub const PUBLISH: &str = "publish";
pub const EDIT: &str = "edit";

/// Returns the empty form of a new fundraiser.
pub fn new_form(t: &Texts, f: &FundraisingTexts) -> Form {
    let mut fields = vec![Field::nonprofits(t.nonprofit, NonprofitPicker::empty())];
    fields.extend(common_fields(t, f, None));
    // The ID of the new fundraiser, so that a form that is sent twice creates only one.
    fields.push(Field::hidden("once", FundraiserId::new().to_string()));
    Form::new("/dashboard/fundraisers/new", f.preview.button, fields).actions(
        PREVIEW,
        PUBLISH,
        f.preview.publish,
    )
}

/// Returns the form of an existing fundraiser. It contains digests of the values it shows: if another request changes
/// the fundraiser before the form is sent, fields that the user did not edit must not undo that change.
pub fn edit_form(t: &Texts, f: &FundraisingTexts, fundraiser: &Fundraiser) -> Form {
    let action = format!("/dashboard/fundraisers/{}/edit", fundraiser.id);
    let mut fields = common_fields(t, f, Some(fundraiser));
    fields.push(Field::hidden(SHOWN, digests(fundraiser)));
    Form::new(action, f.preview.button, fields).actions(PREVIEW, PUBLISH, t.save)
}

fn common_fields(t: &Texts, f: &FundraisingTexts, fundraiser: Option<&Fundraiser>) -> Vec<Field> {
    let [title, description, starts, ends, goal, offline] = fundraiser.map(values).unwrap_or_default();
    let picture = PictureInput::new(f.picture.cover, f.picture.cover_hint, uploads::PATH)
        .current(fundraiser.and_then(|fundraiser| fundraiser.cover.as_deref()));
    vec![
        Field::text("title", t.name).hint(t.name_hint).value(title),
        Field::area("description", t.description)
            .hint(t.description_hint)
            .optional()
            .value(description),
        Field::picture(f.picture.cover, picture),
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

/// Returns the values of a fundraiser as its form shows them, in the order of [`FIELD_NAMES`].
fn values(fundraiser: &Fundraiser) -> [String; 6] {
    let amount = |amount: Option<Cents>| amount.map(|amount| amount.to_string()).unwrap_or_default();
    [
        fundraiser.title.clone(),
        fundraiser.description.clone().unwrap_or_default(),
        fundraiser.starts_at.map(format_date).unwrap_or_default(),
        fundraiser.ends_at.map(format_date).unwrap_or_default(),
        amount(fundraiser.goal),
        amount(fundraiser.offline),
    ]
}

/// Returns the digests of all values of a fundraiser.
fn digests(fundraiser: &Fundraiser) -> String {
    let digests = FIELD_NAMES
        .iter()
        .zip(values(fundraiser))
        .map(|(name, text)| digest(name, &text));
    digests.collect::<Vec<_>>().join(" ")
}

/// Returns a short digest of a value, which is the same for all spellings of an amount and all kinds of line breaks.
fn digest(name: &str, text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    let amount = Cents::from_dollars(&text).filter(|_| matches!(name, "goal" | "raisedOffline"));
    let text = amount.map_or(text, |amount| amount.to_string());
    hex(&Sha256::digest(text)[..8])
}

/// The values of a form. If it edits a fundraiser, only those that differ from what the form showed.
struct EditedValues<'a> {
    data: &'a FormData,
    shown: Vec<String>,
}

impl<'a> EditedValues<'a> {
    /// A form without digests is assumed to have shown the current values of the fundraiser.
    fn new(data: &'a FormData, fundraiser: Option<&Fundraiser>) -> EditedValues<'a> {
        let shown = fundraiser.map(|fundraiser| {
            data.find(SHOWN)
                .map_or_else(|| digests(fundraiser), str::to_owned)
        });
        let shown = shown.unwrap_or_default();
        EditedValues {
            data,
            shown: shown.split(' ').map(str::to_owned).collect(),
        }
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        let mut shown = FIELD_NAMES.iter().zip(&self.shown);
        let shown = shown.find(|(field, _)| **field == name).map(|(_, digest)| digest);
        let value = self.data.find(name);
        value.filter(|value| shown.is_none_or(|shown| *shown != digest(name, value)))
    }
}

/// Converts the values to a request body of the API. Invalid values are left out, and an error is added to the form. If a
/// fundraiser is edited, unchanged values are left out too.
pub fn to_body(
    form: &mut Form,
    data: &FormData,
    fundraiser: Option<&Fundraiser>,
    t: &Texts,
) -> Map<String, Value> {
    let values = EditedValues::new(data, fundraiser);
    let mut body = Map::new();
    if let Some(title) = values.find("title") {
        body.insert("title".to_owned(), json!(title));
    }
    if let Some(description) = values.find("description") {
        body.insert("description".to_owned(), json!(description.replace("\r\n", "\n")));
    }
    for (name, time) in [("startDate", START_OF_DAY), ("endDate", END_OF_DAY)] {
        match values.find(name).map(str::trim) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(value) => match value.parse::<Date>() {
                Ok(date) => _ = body.insert(name.to_owned(), json!(format!("{date}T{time}"))),
                Err(_) => form.add_error(name, t.invalid_date),
            },
        }
    }
    for (name, min, too_small) in [
        ("goal", 1, t.invalid_goal),
        ("raisedOffline", 0, t.invalid_amount),
    ] {
        match values.find(name).map(str::trim) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(value) => match Cents::from_dollars(value) {
                Some(amount) if amount.get() >= min => {
                    _ = body.insert(name.to_owned(), json!(amount.get()));
                }
                Some(_) => form.add_error(name, too_small),
                None => form.add_error(name, t.invalid_amount),
            },
        }
    }
    body
}

/// Adds the validation errors of the API to the fields of the form.
pub fn add_errors(form: &mut Form, errors: Vec<FieldError>) {
    for error in errors {
        match error.field.as_str() {
            field if field == "nonprofitId" || field.starts_with("forNonprofit") => {
                form.add_error("nonprofit", error.detail);
            }
            field => form.add_error(field, error.detail),
        }
    }
}

/// Formats the date in UTC as a form field: `2026-05-01`.
fn format_date(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::{EN, FUNDRAISING_EN};

    fn body(form_data: &str) -> (Map<String, Value>, bool) {
        let mut form = new_form(&EN.fundraisers, &FUNDRAISING_EN);
        let body = to_body(&mut form, &FormData::parse(form_data), None, &EN.fundraisers);
        (body, form.has_errors())
    }

    #[test]
    fn dates_cover_whole_days() {
        let (body, has_errors) = body("startDate=2026-05-01&endDate=2026-05-01");
        assert_eq!(body["startDate"], "2026-05-01T00:00:00Z");
        assert_eq!(body["endDate"], "2026-05-01T23:59:59.999Z");
        assert!(!has_errors);
    }

    #[test]
    fn empty_fields_are_cleared_and_missing_fields_stay() {
        let (body, has_errors) = body("goal=+&endDate=&description=a%0D%0Ab");
        assert_eq!(
            Value::Object(body),
            json!({"goal": null, "endDate": null, "description": "a\nb"})
        );
        assert!(!has_errors);
    }

    #[test]
    fn invalid_values_are_rejected_and_left_out() {
        for form_data in [
            "goal=lots",
            "goal=0",
            "raisedOffline=-1",
            "startDate=soon",
            "endDate=2026-02-30",
        ] {
            assert_eq!(body(form_data), (Map::new(), true), "{form_data}");
        }
        assert_eq!(body("raisedOffline=0").0["raisedOffline"], 0);
    }
}
