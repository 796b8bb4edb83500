//! Usage as a CSV file (RFC 4180). No cell is a formula, so opening it in a spreadsheet is safe.

use access::usage::Period;
use jiff::Timestamp;
use platform::text::escape_formula;
use std::collections::BTreeMap;
use std::fmt::Write;
use uuid::Uuid;

const HEADER: &str = "hour,key_id,key_name,endpoint,succeeded,client_errors,refused,server_errors\r\n";

/// Returns the CSV file of the hours, with the names of their keys.
pub fn export(hours: &[Period], names: &BTreeMap<Uuid, String>) -> String {
    let mut text = String::from(HEADER);
    for hour in hours {
        let name = names.get(&hour.key).map_or("", String::as_str);
        let at = Timestamp::from_millisecond(hour.start).unwrap_or_default();
        let _ = write!(
            text,
            "{},{},{},{},{},{},{},{}\r\n",
            at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            hour.key,
            cell(name),
            cell(&hour.endpoint),
            hour.counts.succeeded,
            hour.counts.client_errors,
            hour.counts.refused,
            hour.counts.server_errors,
        );
    }
    text
}

/// Quotes a cell with user-provided text.
pub fn cell(text: &str) -> String {
    format!("\"{}\"", escape_formula(text).replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use access::usage::Counts;

    #[test]
    fn a_line_for_each_hour_and_endpoint() {
        let key = Uuid::from_u128(7);
        let hour = Period {
            key,
            start: 1_800_000_000_000,
            endpoint: "/v0.2/causes".to_owned(),
            counts: Counts {
                succeeded: 12,
                client_errors: 2,
                refused: 1,
                server_errors: 0,
            },
        };
        let names = BTreeMap::from([(key, "My \"site\", live".to_owned())]);
        assert_eq!(
            export(&[hour], &names),
            "hour,key_id,key_name,endpoint,succeeded,client_errors,refused,server_errors\r\n\
             2027-01-15T08:00:00Z,00000000-0000-0000-0000-000000000007,\"My \"\"site\"\", live\",\"/v0.2/causes\",12,2,1,0\r\n"
        );
    }

    #[test]
    fn a_name_is_never_a_formula() {
        for begin in ["=", "+", "-", "@", "\t=", "\r=", "\n=", "＝"] {
            let name = format!("{begin}HYPERLINK(\"//example.org\")");
            assert!(cell(&name).starts_with(&format!("\"'{begin}")), "{name:?}");
        }
        assert_eq!(cell("plain = fine"), "\"plain = fine\"");
        assert_eq!(cell(""), "\"\"");
    }
}
