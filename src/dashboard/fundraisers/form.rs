//! The form of a fundraiser.

use crate::dashboard::uploads;
use crate::web::form::Choice;
use crate::web::form::picker::NonprofitPicker;
use crate::web::form::picture::PictureInput;
use crate::web::fundraiser_article::focus_classes;
use crate::web::texts::{FocusTexts, Fundraisers as Texts, FundraisingTexts};
use crate::web::{Field, Form, FormData};
use giving::fundraisers::Fundraiser;
use giving::fundraisers::change::FundraiserChange;
use giving::fundraisers::cover::Focus;
use giving::fundraisers::input::{FundraiserInput, SupportedInput};
use giving::fundraisers::rules::{FieldProblem, FundraiserField, InvalidField};
use jiff::Timestamp;
use jiff::civil::Date;
use platform::ids::FundraiserId;
use platform::money::Cents;
use platform::text::hex;
use sha2::{Digest, Sha256};

const EPOCH: Date = Date::constant(1970, 1, 1);
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// The fields of the part of the cover that stays visible, in percent.
const FOCUS_X: &str = "focusX";
const FOCUS_Y: &str = "focusY";
const FIELD_NAMES: [&str; 8] = [
    "title",
    "description",
    "startDate",
    "endDate",
    "goal",
    "raisedOffline",
    FOCUS_X,
    FOCUS_Y,
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
    let [title, description, starts, ends, goal, offline, ..] = fundraiser.map(values).unwrap_or_default();
    let picture = PictureInput::new(f.picture.cover, f.picture.cover_hint, uploads::PATH)
        .current(fundraiser.and_then(|fundraiser| fundraiser.cover.as_deref()))
        .focus(fundraiser.map(|fundraiser| focus_classes(fundraiser.focus)));
    let focus = fundraiser.map_or_else(Focus::default, |fundraiser| fundraiser.focus);
    vec![
        Field::text("title", t.name).hint(t.name_hint).value(title),
        Field::area("description", t.description)
            .hint(t.description_hint)
            .optional()
            .value(description),
        Field::picture(f.picture.cover, picture),
        focus_field(FOCUS_X, f.focus.x, focus.x(), &across(&f.focus)).hint(f.focus.hint),
        focus_field(FOCUS_Y, f.focus.y, focus.y(), &down(&f.focus)),
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

fn across(t: &FocusTexts) -> [&'static str; 5] {
    [t.left, t.left_half, t.center, t.right_half, t.right]
}

fn down(t: &FocusTexts) -> [&'static str; 5] {
    [t.top, t.top_half, t.center, t.bottom_half, t.bottom]
}

fn focus_field(name: &'static str, label: &str, percent: u8, labels: &[&'static str; 5]) -> Field {
    let choice = |(step, label): (u8, &&'static str)| Choice::new(step.to_string(), *label, "");
    let choices = Focus::STEPS.into_iter().zip(labels).map(choice);
    Field::select(name, label, choices.collect()).value(percent.to_string())
}

/// Returns the values of a fundraiser as its form shows them, in the order of [`FIELD_NAMES`].
fn values(fundraiser: &Fundraiser) -> [String; 8] {
    let amount = |amount: Option<Cents>| amount.map(|amount| amount.to_string()).unwrap_or_default();
    [
        fundraiser.title.clone(),
        fundraiser.description.clone().unwrap_or_default(),
        fundraiser.starts_at.map(format_date).unwrap_or_default(),
        fundraiser.ends_at.map(format_date).unwrap_or_default(),
        amount(fundraiser.goal),
        amount(fundraiser.offline),
        fundraiser.focus.x().to_string(),
        fundraiser.focus.y().to_string(),
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

/// Converts the values to a new fundraiser that supports `supported`. Invalid values are left out, and an error is added
/// to the form.
pub fn to_input(form: &mut Form, data: &FormData, supported: SupportedInput, t: &Texts) -> FundraiserInput {
    let change = parse(form, &EditedValues::new(data, None), t);
    FundraiserInput {
        title: change.title.unwrap_or_default(),
        description: change.description.flatten(),
        starts_at: change.starts_at.flatten(),
        ends_at: change.ends_at.flatten(),
        goal: change.goal.flatten(),
        offline: change.offline.flatten(),
        focus: change.focus.unwrap_or_default(),
        supported,
    }
}

/// Converts the values that were edited to a change of a fundraiser. Invalid values are left out, and an error is added
/// to the form.
pub fn to_change(form: &mut Form, data: &FormData, fundraiser: &Fundraiser, t: &Texts) -> FundraiserChange {
    let change = parse(form, &EditedValues::new(data, Some(fundraiser)), t);
    let focus = change.focus.filter(|focus| *focus != fundraiser.focus);
    FundraiserChange { focus, ..change }
}

/// Reads the part of the cover that stays visible. Both values count, also if only one was edited.
fn parse_focus(data: &FormData) -> Option<Focus> {
    let percent = |name| data.find(name).and_then(|text| text.parse().ok());
    Focus::new(percent(FOCUS_X)?, percent(FOCUS_Y)?)
}

fn parse(form: &mut Form, values: &EditedValues<'_>, t: &Texts) -> FundraiserChange {
    FundraiserChange {
        title: values.find("title").map(str::to_owned),
        description: values
            .find("description")
            .map(|text| Some(text.replace("\r\n", "\n"))),
        starts_at: parse_with(form, values, "startDate", start_of_day, t.invalid_date),
        ends_at: parse_with(form, values, "endDate", end_of_day, t.invalid_date),
        goal: parse_with(form, values, "goal", Cents::from_dollars, t.invalid_amount),
        offline: parse_with(
            form,
            values,
            "raisedOffline",
            Cents::from_dollars,
            t.invalid_amount,
        ),
        cover: None,
        focus: parse_focus(values.data).filter(|_| {
            let is_edited = |name| values.find(name).is_some();
            is_edited(FOCUS_X) || is_edited(FOCUS_Y)
        }),
    }
}

/// Parses an optional value. An empty one clears the field.
fn parse_with<T>(
    form: &mut Form,
    values: &EditedValues<'_>,
    name: &'static str,
    parse: impl Fn(&str) -> Option<T>,
    error: &'static str,
) -> Option<Option<T>> {
    let text = values.find(name)?.trim();
    if text.is_empty() {
        return Some(None);
    }
    let parsed = parse(text);
    if parsed.is_none() {
        form.add_error(name, error);
    }
    parsed.map(Some)
}

/// Returns the first millisecond of a day in UTC.
fn start_of_day(text: &str) -> Option<i64> {
    let date: Date = text.parse().ok()?;
    Some(date.duration_since(EPOCH).as_millis() as i64)
}

/// Returns the last millisecond of a day in UTC.
fn end_of_day(text: &str) -> Option<i64> {
    start_of_day(text).map(|start| start + DAY_MILLIS - 1)
}

/// Adds an error to each field of the form that is invalid.
pub fn add_errors(form: &mut Form, errors: Vec<InvalidField>, t: &Texts) {
    for InvalidField { field, problem } in errors {
        let name = match field {
            FundraiserField::Title => "title",
            FundraiserField::Description => "description",
            FundraiserField::StartsAt => "startDate",
            FundraiserField::EndsAt => "endDate",
            FundraiserField::Goal => "goal",
            FundraiserField::Offline => "raisedOffline",
            FundraiserField::Supported | FundraiserField::SupportedAt(_) | FundraiserField::WeightAt(_) => {
                "nonprofit"
            }
        };
        match (problem, field) {
            (FieldProblem::AmountRange, FundraiserField::Goal) => form.add_error(name, t.invalid_goal),
            (FieldProblem::AmountRange, _) => form.add_error(name, t.invalid_amount),
            (problem, _) => form.add_error(name, problem.to_string()),
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

    fn parse(form_data: &str) -> (FundraiserChange, bool) {
        let mut form = new_form(&EN.fundraisers, &FUNDRAISING_EN);
        let data = FormData::parse(form_data);
        let change = super::parse(&mut form, &EditedValues::new(&data, None), &EN.fundraisers);
        (change, form.has_errors())
    }

    #[test]
    fn dates_cover_whole_days() {
        let (change, has_errors) = parse("startDate=2026-05-01&endDate=2026-05-01");
        let time = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        assert_eq!(change.starts_at, Some(Some(time("2026-05-01T00:00:00Z"))));
        assert_eq!(change.ends_at, Some(Some(time("2026-05-01T23:59:59.999Z"))));
        assert!(!has_errors);
        // The rules for dates refuse years that are too far away.
        assert!(!parse("startDate=-009999-01-01&endDate=9999-12-31").1);
    }

    #[test]
    fn empty_fields_are_cleared_and_missing_fields_stay() {
        let expected = FundraiserChange {
            description: Some(Some("a\nb".to_owned())),
            ends_at: Some(None),
            goal: Some(None),
            ..FundraiserChange::default()
        };
        assert_eq!(parse("goal=+&endDate=&description=a%0D%0Ab"), (expected, false));
    }

    #[test]
    fn invalid_values_are_rejected_and_left_out() {
        for form_data in [
            "goal=lots",
            "raisedOffline=-1",
            "startDate=soon",
            "endDate=2026-02-30",
        ] {
            assert_eq!(
                parse(form_data),
                (FundraiserChange::default(), true),
                "{form_data}"
            );
        }
        assert_eq!(parse("raisedOffline=0").0.offline, Some(Some(Cents::ZERO)));
    }
}
