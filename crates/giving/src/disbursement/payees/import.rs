//! The import of payees from a CSV file: all rows or none.

use super::save::SavedPayees;
use super::{PayeeField, PayeeInput};
use crate::disbursement::error::PayeeFileError;
use crate::disbursement::{DisburseError, Disbursements};
use access::audit::Actor;
use csv::ReaderBuilder;
use directory::NonprofitRef;
use std::collections::HashMap;

/// The largest file.
const MAX_FILE_BYTES: usize = 20 << 20;
/// The column that names the nonprofit.
const EIN: &str = "ein";

fn refuse<T>(problem: impl Into<String>) -> Result<T, DisburseError> {
    let problems = vec![problem.into()];
    Err(PayeeFileError { problems }.into())
}

impl Disbursements<'_> {
    /// Imports payees from the content of a CSV file with a header: `ein` and the names of [`PayeeField`], in any order.
    pub async fn import_payees(self, content: &[u8], actor: Actor) -> Result<SavedPayees, DisburseError> {
        let rows = read(content)?;
        let (mut inputs, mut problems) = (Vec::with_capacity(rows.len()), Vec::new());
        let mut seen = HashMap::new();
        for row in &rows {
            match self.parse_row(row).await? {
                Err(problem) => problems.push(format!("row {}: {problem}", row.line)),
                Ok(input) => match seen.insert(input.nonprofit, row.line) {
                    Some(first) => problems.push(format!(
                        "row {}: row {first} is about the same nonprofit; remove one of the two",
                        row.line
                    )),
                    None => inputs.push(input),
                },
            }
        }
        if !problems.is_empty() {
            return Err(PayeeFileError { problems }.into());
        }
        self.save_payees(inputs, actor).await
    }

    async fn parse_row(self, row: &Row) -> Result<Result<PayeeInput, String>, DisburseError> {
        let ein = row.value(EIN);
        let digits: String = ein.chars().filter(|sign| *sign != '-').collect();
        if digits.len() != 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Err(
                "the EIN is not nine digits; write one such as 53-0196605".to_owned()
            ));
        }
        let found = self.directory.resolve(&digits).await.ok();
        let Some(nonprofit) = found.as_ref().and_then(NonprofitRef::nonprofit) else {
            return Ok(Err(format!(
                "there is no nonprofit {digits} in the directory; correct the EIN, or import the files of the IRS"
            )));
        };
        let name = match nonprofit.legal_name {
            "" => nonprofit.name,
            legal => legal,
        };
        let parsed = PayeeInput::parse(nonprofit.id, name, None, |field: PayeeField| {
            row.value(field.name())
        });
        Ok(parsed.map_err(|error| error.problem))
    }
}

/// A row of the file.
struct Row {
    /// The line number, counted from 1.
    line: u64,
    values: HashMap<String, String>,
}

impl Row {
    fn value(&self, column: &str) -> &str {
        self.values.get(column).map_or("", |text| text.trim())
    }
}

/// Reads all rows, and checks the header.
fn read(content: &[u8]) -> Result<Vec<Row>, DisburseError> {
    if content.len() > MAX_FILE_BYTES {
        return refuse("the file has more than 20 MB; import it in parts");
    }
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let Ok(text) = str::from_utf8(content) else {
        return refuse("the file is not UTF-8; save it as CSV UTF-8");
    };
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(_) => {
            return refuse(
                "the first line is no header; begin the file with ein,method,routing_number,account_number",
            );
        }
    };
    let header: Vec<String> = header
        .iter()
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let known: Vec<&str> = PayeeField::ALL
        .iter()
        .map(|field| field.name())
        .chain([EIN])
        .collect();
    for (index, name) in header.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return refuse(format!(
                "row 1: there is no column {name:?}; use {}",
                known.join(", ")
            ));
        }
        if header[..index].contains(name) {
            return refuse(format!(
                "row 1: the column {name} appears twice; remove one of them"
            ));
        }
    }
    for required in [EIN, PayeeField::Method.name()] {
        if !header.iter().any(|name| name == required) {
            return refuse(format!(
                "row 1: the column {required} is missing; add it to the header"
            ));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let Ok(record) = record else {
            return refuse("the file is not valid CSV; save it again as CSV");
        };
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(|value| value.trim().is_empty()) {
            continue;
        }
        if record.len() != header.len() {
            return refuse(format!(
                "row {line}: it has {} columns, but the header has {}; quote values that contain commas",
                record.len(),
                header.len()
            ));
        }
        let values = header
            .iter()
            .cloned()
            .zip(record.iter().map(str::to_owned))
            .collect();
        rows.push(Row { line, values });
    }
    if rows.is_empty() {
        return refuse("the file has no rows; add one for each nonprofit");
    }
    Ok(rows)
}
