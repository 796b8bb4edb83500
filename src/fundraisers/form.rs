//! The form of a fundraiser: what people type becomes a body of the interface, so the same rules judge both.

use super::Fundraiser;
use crate::error::FieldFault;
use crate::ids::FundraiserId;
use crate::money::Cents;
use crate::web::texts::Fundraisers as Texts;
use crate::web::{Field, Form, Sent};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

/// A first day begins with its first moment, and a last day ends with its last one.
const FIRST_MOMENT: &str = "00:00:00Z";
const LAST_MOMENT: &str = "23:59:59.999Z";

/// The empty form of a new fundraiser.
pub fn new_form(t: &Texts) -> Form {
    let mut fields = vec![Field::text("nonprofit", t.nonprofit).hint(t.nonprofit_hint)];
    fields.extend(fields_of(t, None));
    // The id of the fundraiser to be: a form that is sent twice makes one.
    fields.push(Field::hidden("once", FundraiserId::new().to_string()));
    Form::new("/dashboard/fundraisers/new", t.create, fields)
}

/// The form of a fundraiser as it is.
pub fn edit_form(t: &Texts, known: &Fundraiser) -> Form {
    let action = format!("/dashboard/fundraisers/{}/edit", known.id);
    Form::new(action, t.save, fields_of(t, Some(known)))
}

fn fields_of(t: &Texts, known: Option<&Fundraiser>) -> Vec<Field> {
    let title = known.map(|known| known.title.clone());
    let description = known.and_then(|known| known.description.clone());
    let starts = known.and_then(|known| known.starts_at).map(day);
    let ends = known.and_then(|known| known.ends_at).map(day);
    let goal = known.and_then(|known| known.goal).map(|goal| goal.to_string());
    let offline = known.and_then(|known| known.offline);
    let offline = offline.map(|offline| offline.to_string());
    vec![
        Field::text("title", t.name)
            .hint(t.name_hint)
            .value(title.unwrap_or_default()),
        Field::area("description", t.description)
            .optional()
            .value(description.unwrap_or_default()),
        Field::date("startDate", t.start)
            .hint(t.start_hint)
            .optional()
            .value(starts.unwrap_or_default()),
        Field::date("endDate", t.end)
            .hint(t.end_hint)
            .optional()
            .value(ends.unwrap_or_default()),
        Field::text("goal", t.goal)
            .hint(t.goal_hint)
            .optional()
            .value(goal.unwrap_or_default()),
        Field::text("raisedOffline", t.offline)
            .hint(t.offline_hint)
            .optional()
            .value(offline.unwrap_or_default()),
    ]
}

/// What was typed as a body of the interface; what cannot be read is refused in the form and left out.
pub fn read(form: &mut Form, sent: &Sent, known: Option<&Fundraiser>, t: &Texts) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(title) = sent.find("title") {
        body.insert("title".to_owned(), json!(title));
    }
    if let Some(description) = sent.find("description") {
        body.insert("description".to_owned(), json!(description.replace("\r\n", "\n")));
    }
    let starts = known.and_then(|known| known.starts_at);
    let ends = known.and_then(|known| known.ends_at);
    for (name, known, moment) in [
        ("startDate", starts, FIRST_MOMENT),
        ("endDate", ends, LAST_MOMENT),
    ] {
        let typed = sent.find(name).map(str::trim);
        // The interface takes the hour too: a day that nobody touched keeps it.
        match typed.filter(|typed| known.is_none_or(|known| day(known) != *typed)) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(typed) => match typed.parse::<Date>() {
                Ok(date) => _ = body.insert(name.to_owned(), json!(format!("{date}T{moment}"))),
                Err(_) => form.refuse(name, t.no_date),
            },
        }
    }
    for (name, least, too_small) in [("goal", 1, t.no_goal), ("raisedOffline", 0, t.no_amount)] {
        match sent.find(name).map(str::trim) {
            None => {}
            Some("") => _ = body.insert(name.to_owned(), Value::Null),
            Some(typed) => match Cents::from_dollars(typed) {
                Some(amount) if amount.0 >= least => _ = body.insert(name.to_owned(), json!(amount.0)),
                Some(_) => form.refuse(name, too_small),
                None => form.refuse(name, t.no_amount),
            },
        }
    }
    body
}

/// Shows what the rules of the interface found, each beside its field.
pub fn refuse(form: &mut Form, faults: Vec<FieldFault>) {
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
