//! Usage as a CSV file (RFC 4180). No cell is a formula, so opening it in a spreadsheet is safe.

use access::usage::Hour;
use jiff::Timestamp;
use platform::text::escape_formula;
use std::collections::BTreeMap;
use std::fmt::Write;
use uuid::Uuid;

const HEADER: &str = "hour,key_id,key_name,class,calls,refused,errors\r\n";

/// Returns the CSV file of the hours, with the names of their keys.
pub fn export(hours: &[Hour], names: &BTreeMap<Uuid, String>) -> String {
    let mut text = String::from(HEADER);
    for hour in hours {
        let name = names.get(&hour.key).map_or("", String::as_str);
        let at = Timestamp::from_millisecond(hour.hour).unwrap_or_default();
        let _ = write!(
            text,
            "{},{},{},{},{},{},{}\r\n",
            at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            hour.key,
            cell(name),
            cell(&hour.class),
            hour.counts.calls,
            hour.counts.refused,
            hour.counts.errors,
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
    fn a_line_for_each_hour_and_class() {
        let key = Uuid::from_u128(7);
        let hour = Hour {
            key,
            hour: 1_800_000_000_000,
            class: "search".to_owned(),
            counts: Counts {
                calls: 12,
                refused: 1,
                errors: 2,
            },
        };
        let names = BTreeMap::from([(key, "My \"site\", live".to_owned())]);
        assert_eq!(
            export(&[hour], &names),
            "hour,key_id,key_name,class,calls,refused,errors\r\n\
             2027-01-15T08:00:00Z,00000000-0000-0000-0000-000000000007,\"My \"\"site\"\", live\",\"search\",12,1,2\r\n"
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
