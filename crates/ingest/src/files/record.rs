//! Splits a CSV line into its fields, in buffers that are reused for every line.

use std::mem;

use csv_core::{ReadRecordResult, Reader};

/// The fields of a CSV line.
pub(crate) struct Record {
    csv: Reader,
    clean: Vec<u8>,
    /// All fields of the line, concatenated.
    fields: String,
    /// The end of each field.
    ends: Vec<usize>,
    columns: usize,
}

impl Record {
    /// Creates a record for lines with this many columns.
    pub(crate) fn new(columns: usize) -> Record {
        Record {
            csv: Reader::new(),
            clean: Vec::new(),
            fields: String::new(),
            ends: vec![0; columns + 2],
            columns,
        }
    }

    /// Splits a line without its line ending. The error says what is wrong with the line.
    pub(crate) fn split(&mut self, line: &[u8]) -> Result<(), String> {
        let line = if line
            .iter()
            .fold(true, |plain, b| plain & matches!(b, b' '..=b'~'))
        {
            line
        } else {
            self.clean.clear();
            decode(line, &mut self.clean);
            &self.clean
        };
        let mut fields = mem::take(&mut self.fields).into_bytes();
        // The buffer is never full, so only the line itself can end the record.
        fields.clear();
        fields.resize(line.len() + 1, 0);
        self.csv.reset();
        let (_, _, written, ended) = self.csv.read_record(line, &mut fields, &mut self.ends);
        // The line ending is passed separately: a record that does not end with it has an unclosed quote.
        let (result, _, _, more) =
            self.csv
                .read_record(b"\n", &mut fields[written..], &mut self.ends[ended..]);
        fields.truncate(written);
        self.fields = String::from_utf8(fields).unwrap_or_default();
        match (result, ended + more) {
            (ReadRecordResult::Record, count) if count == self.columns => Ok(()),
            (ReadRecordResult::Record, count) => Err(format!(
                "the number of columns is {count}, but the header has {}",
                self.columns
            )),
            (ReadRecordResult::OutputEndsFull, _) => Err(format!(
                "the line has more columns than the header, which has {}",
                self.columns
            )),
            _ => Err("a quote is not closed".to_owned()),
        }
    }

    /// Returns the field in a column, counted from 0, of the last line.
    pub(crate) fn field(&self, column: usize) -> &str {
        self.fields.get(self.range(column)).unwrap_or_default()
    }

    pub(crate) fn make_uppercase(&mut self, column: usize) {
        let range = self.range(column);
        if let Some(field) = self.fields.get_mut(range) {
            field.make_ascii_uppercase();
        }
    }

    fn range(&self, column: usize) -> std::ops::Range<usize> {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        start..self.ends[column]
    }
}

/// Decodes UTF-8, or else Latin-1. Replaces tabs with spaces and removes other control characters.
fn decode(line: &[u8], clean: &mut Vec<u8>) {
    let mut push = |c: char| match c {
        '\t' => clean.push(b' '),
        c if c.is_control() => {}
        c => clean.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    match str::from_utf8(line) {
        Ok(text) => text.chars().for_each(&mut push),
        Err(_) => line.iter().for_each(|b| push(char::from(*b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &[u8], columns: usize) -> Result<Vec<String>, String> {
        let mut record = Record::new(columns);
        record.split(line)?;
        Ok((0..columns)
            .map(|column| record.field(column).to_owned())
            .collect())
    }

    #[test]
    fn quoted_fields_may_contain_commas_and_quotes() {
        assert_eq!(
            split(br#"1,"A, B","SAY ""HI""",,"#, 5).unwrap(),
            ["1", "A, B", "SAY \"HI\"", "", ""]
        );
        assert_eq!(split(br#"6" PIPE,x"#, 2).unwrap(), ["6\" PIPE", "x"]);
    }

    #[test]
    fn a_wrong_number_of_columns_is_an_error() {
        assert_eq!(
            split(b"a", 3).unwrap_err(),
            "the number of columns is 1, but the header has 3"
        );
        assert_eq!(
            split(b"a,b", 3).unwrap_err(),
            "the number of columns is 2, but the header has 3"
        );
        assert_eq!(
            split(b"a,b,c,d", 3).unwrap_err(),
            "the number of columns is 4, but the header has 3"
        );
        assert_eq!(
            split(b"a,b,c,d,e,f", 3).unwrap_err(),
            "the line has more columns than the header, which has 3"
        );
        assert_eq!(split(b"a,\"b,c", 3).unwrap_err(), "a quote is not closed");
    }

    #[test]
    fn a_record_can_be_reused_after_an_invalid_line() {
        let mut record = Record::new(2);
        for invalid in [&b"\"open"[..], b"a,b,c,d,e", b"a"] {
            assert!(record.split(invalid).is_err());
            record.split(b"one,two").unwrap();
            assert_eq!((record.field(0), record.field(1)), ("one", "two"));
        }
    }

    #[test]
    fn latin_1_and_utf_8_are_decoded_and_control_characters_removed() {
        assert_eq!(split(b"CAF\xC9,PE\xD1A", 2).unwrap(), ["CAFÉ", "PEÑA"]);
        assert_eq!(split("CAFÉ,PEÑA".as_bytes(), 2).unwrap(), ["CAFÉ", "PEÑA"]);
        assert_eq!(split(b"A\0B\x07,C\tD\rE\x7F\x85", 2).unwrap(), ["AB", "C DE"]);
    }
}
