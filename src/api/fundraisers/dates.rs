//! Dates without a zone, which existing clients send.

use serde_json::{Map, Value};

/// Completes dates that have no zone, or no time: they are in UTC. Everything else is left to the check of the field.
pub fn assume_utc(fields: &mut Map<String, Value>) {
    for name in ["startDate", "endDate"] {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            text.push_str(missing_part(text));
        }
    }
}

fn missing_part(text: &str) -> &'static str {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return "";
    }
    let Some((_, time)) = text.split_once(['T', 't', ' ']) else {
        return "T00:00:00Z";
    };
    match time {
        _ if time.contains(['Z', 'z', '+', '-']) => "",
        _ if time.len() == "10:00".len() => ":00Z",
        _ => "Z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_added() {
        for (sent, expected) in [
            ("2026-05-01", "2026-05-01T00:00:00Z"),
            ("2026-05-01T10:00", "2026-05-01T10:00:00Z"),
            ("2026-05-01T10:00:00", "2026-05-01T10:00:00Z"),
            ("2026-05-01T10:00:00.5", "2026-05-01T10:00:00.5Z"),
            ("2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
            ("2026-05-01T10:00:00-07:00", "2026-05-01T10:00:00-07:00"),
            ("tomorrow", "tomorrow"),
        ] {
            let mut fields = Map::from_iter([("startDate".to_owned(), sent.into())]);
            assume_utc(&mut fields);
            assert_eq!(fields["startDate"], expected);
        }
    }
}
