//! Reads the rows of an IRS EO BMF file one at a time, in bounded memory.
//!
//! An invalid row is rejected with its line number and a reason, and reading continues. A wrong header, a truncated file or
//! a read error ends it. A row never extends past its line, so an unclosed quote affects one row and not the rest of the
//! file. Reasons never contain a value, because in a row with shifted columns any value may be the name of a person.

use std::io::{self, BufRead};

use thiserror::Error;

use crate::files::lines::{Line, Lines, RejectedLine, Text};
use crate::files::record::Record;
use crate::values;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::filing::Filing;
use directory::nonprofits::irs::IrsFacts;

/// The columns of the format, in the order of the IRS files. All are required, in any order.
pub const HEADER: [&str; 28] = [
    "EIN",
    "NAME",
    "ICO",
    "STREET",
    "CITY",
    "STATE",
    "ZIP",
    "GROUP",
    "SUBSECTION",
    "AFFILIATION",
    "CLASSIFICATION",
    "RULING",
    "DEDUCTIBILITY",
    "FOUNDATION",
    "ACTIVITY",
    "ORGANIZATION",
    "STATUS",
    "TAX_PERIOD",
    "ASSET_CD",
    "INCOME_CD",
    "FILING_REQ_CD",
    "PF_FILING_REQ_CD",
    "ACCT_PD",
    "ASSET_AMT",
    "INCOME_AMT",
    "REVENUE_AMT",
    "NTEE_CD",
    "SORT_NAME",
];

// Indexes in `HEADER` of the columns that are read. ICO is not read.
const EIN: usize = 0;
const NAME: usize = 1;
const STREET: usize = 3;
const CITY: usize = 4;
const STATE: usize = 5;
const ZIP: usize = 6;
const GROUP: usize = 7;
const SUBSECTION: usize = 8;
const AFFILIATION: usize = 9;
const RULING: usize = 11;
const DEDUCTIBILITY: usize = 12;
const FOUNDATION: usize = 13;
const STATUS: usize = 16;
const TAX_PERIOD: usize = 17;
const ASSET_AMT: usize = 23;
const INCOME_AMT: usize = 24;
const REVENUE_AMT: usize = 25;
const NTEE_CD: usize = 26;
const SORT_NAME: usize = 27;

/// A row of the IRS has about 150 bytes.
const MAX_LINE_LENGTH: usize = 64 * 1024;
/// The IRS truncates names to 70 characters.
const MAX_TEXT_LENGTH: usize = 200;
const MAX_NTEE_LENGTH: usize = 4;

/// One row. Its texts are borrowed from the reader until the next row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BmfRow<'a> {
    /// The line number in the file, counted from 1.
    pub line: u64,
    pub ein: Ein,
    /// Its state is two letters, or empty for a foreign organization, whose city is the country. The NTEE code has at most
    /// four characters, in uppercase, and may not be a valid code. The facts are always known.
    pub filing: Filing<'a>,
}

/// The reason why a file cannot be read any further.
#[derive(Debug, Error)]
pub(crate) enum BmfError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("{name} has no header line; download the file again")]
    NoHeader { name: String },
    #[error(
        "{name} is not an EO BMF file: the header on line {line} has no column {column}; \
         use eo1.csv to eo4.csv or eo_xx.csv as the IRS publishes them"
    )]
    MissingColumn {
        name: String,
        line: u64,
        column: &'static str,
    },
    #[error("{name} has the column {column} twice in its header on line {line}; remove one of them")]
    DuplicateColumn {
        name: String,
        line: u64,
        column: &'static str,
    },
    #[error("{name} is truncated in line {line}; download the file again")]
    Truncated { name: String, line: u64 },
}

/// Reads the rows of one EO BMF file.
pub(crate) struct BmfReader<R> {
    name: String,
    lines: Lines<R>,
    record: Record,
    columns: [usize; HEADER.len()],
    zip: String,
}

impl<R: BufRead> BmfReader<R> {
    /// Reads and checks the header. `name` is the name of the file in errors.
    pub(crate) fn open(input: R, name: impl Into<String>) -> Result<BmfReader<R>, BmfError> {
        let name = name.into();
        let mut lines = Lines::new(input, MAX_LINE_LENGTH);
        loop {
            let Some(line) = lines.next_line()? else {
                return Err(BmfError::NoHeader { name });
            };
            let number = line.number;
            let names = match line.text {
                Text::Complete(text) if is_blank(text) => continue,
                Text::Complete(text) => header_names(text),
                Text::TooLong => Vec::new(),
            };
            let columns = find_columns(&names, &name, number)?;
            let record = Record::new(names.len());
            return Ok(BmfReader {
                name,
                lines,
                record,
                columns,
                zip: String::with_capacity(9),
            });
        }
    }

    /// Reads the next row. Returns `None` at the end of the file.
    pub(crate) fn next_row(&mut self) -> Result<Option<Result<BmfRow<'_>, RejectedLine>>, BmfError> {
        let line = loop {
            match self.lines.next_line()? {
                None => return Ok(None),
                Some(Line {
                    text: Text::Complete(text),
                    ..
                }) if is_blank(text) => {}
                Some(Line {
                    number,
                    text,
                    has_line_ending,
                }) => {
                    let split = match text {
                        Text::Complete(text) => self.record.split(text),
                        Text::TooLong => Err(format!("the line is longer than {MAX_LINE_LENGTH} bytes")),
                    };
                    match split {
                        Ok(()) => break number,
                        Err(_) if !has_line_ending => {
                            return Err(BmfError::Truncated {
                                name: self.name.clone(),
                                line: number,
                            });
                        }
                        Err(reason) => return Ok(Some(Err(RejectedLine { line: number, reason }))),
                    }
                }
            }
        };
        Ok(Some(self.row().map_err(|reason| RejectedLine { line, reason })))
    }

    /// Returns the EIN of the last row, if it could be read. A rejected row may still have a valid EIN.
    pub(crate) fn ein(&self) -> Option<Ein> {
        values::ein(self.value(EIN))
    }

    fn row(&mut self) -> Result<BmfRow<'_>, String> {
        self.record.make_uppercase(self.columns[STATE]);
        self.record.make_uppercase(self.columns[NTEE_CD]);
        values::zip(values::clean(self.record.field(self.columns[ZIP])), &mut self.zip);

        let ein = match self.value(EIN) {
            "" => return Err("EIN is missing".to_owned()),
            value => values::ein(value).ok_or("EIN is not a number from 1 to 999999999")?,
        };
        let name = self.text(NAME)?;
        if name.is_empty() {
            return Err("NAME is empty".to_owned());
        }
        let state = self.value(STATE);
        if !(state.is_empty() || state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())) {
            return Err("STATE is not two letters".to_owned());
        }
        let sort_name = self.text(SORT_NAME)?;
        let ntee = self.value(NTEE_CD);
        let filing = Filing {
            name,
            chapter: if values::is_meaningful_sort_name(sort_name, name) {
                sort_name
            } else {
                ""
            },
            city: self.text(CITY)?,
            state,
            zip: if state.is_empty() { "" } else { &self.zip },
            ntee: if ntee.is_ascii() {
                &ntee[..ntee.len().min(MAX_NTEE_LENGTH)]
            } else {
                ""
            },
            facts: Some(self.facts()?),
            // A street that is too long is no reason to reject a row.
            street: self.text(STREET).unwrap_or_default(),
        };
        Ok(BmfRow {
            line: self.lines.number(),
            ein,
            filing,
        })
    }

    fn facts(&self) -> Result<IrsFacts, String> {
        Ok(IrsFacts {
            subsection: self.code(SUBSECTION)?,
            deductibility: self.code(DEDUCTIBILITY)?,
            foundation: self.code(FOUNDATION)?,
            status: self.code(STATUS)?,
            affiliation: self.code(AFFILIATION)?,
            group: self
                .number(GROUP, |value| values::code(value, 9999))?
                .unwrap_or(0) as u16,
            ruling: self.number(RULING, values::month)?.unwrap_or(0),
            tax_period: self.number(TAX_PERIOD, values::month)?.unwrap_or(0),
            assets: self.amount(ASSET_AMT)?,
            income: self.amount(INCOME_AMT)?,
            revenue: self.amount(REVENUE_AMT)?,
        })
    }

    fn value(&self, column: usize) -> &str {
        values::clean(self.record.field(self.columns[column]))
    }

    fn text(&self, column: usize) -> Result<&str, String> {
        let text = self.value(column);
        if text.len() > MAX_TEXT_LENGTH && text.chars().count() > MAX_TEXT_LENGTH {
            return Err(format!(
                "{} is longer than {MAX_TEXT_LENGTH} characters",
                HEADER[column]
            ));
        }
        Ok(text)
    }

    fn code(&self, column: usize) -> Result<u8, String> {
        Ok(self.number(column, |value| values::code(value, 99))?.unwrap_or(0) as u8)
    }

    fn amount(&self, column: usize) -> Result<Option<i64>, String> {
        self.number(column, |value| values::amount(value).ok())
            .map(Option::flatten)
    }

    /// Parses a number. Rejects the row if the value is not valid in this column, because then the columns are shifted.
    fn number<T>(&self, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, String> {
        match self.value(column) {
            "" => Ok(None),
            value => match read(value) {
                Some(number) => Ok(Some(number)),
                None => Err(format!(
                    "{} is not a valid number for this column",
                    HEADER[column]
                )),
            },
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter()
        .all(|b| b.is_ascii_whitespace() || b.is_ascii_control())
}

fn header_names(line: &[u8]) -> Vec<String> {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{FEFF}');
    line.split(',')
        .map(|name| name.trim().trim_matches('"').trim().to_ascii_uppercase())
        .collect()
}

fn find_columns(names: &[String], file: &str, line: u64) -> Result<[usize; HEADER.len()], BmfError> {
    let mut columns = [0; HEADER.len()];
    for (index, column) in columns.iter_mut().zip(HEADER) {
        let mut found = names.iter().enumerate().filter(|(_, name)| *name == column);
        let Some((first, _)) = found.next() else {
            return Err(BmfError::MissingColumn {
                name: file.to_owned(),
                line,
                column,
            });
        };
        if found.next().is_some() {
            return Err(BmfError::DuplicateColumn {
                name: file.to_owned(),
                line,
                column,
            });
        }
        *index = first;
    }
    Ok(columns)
}

#[cfg(test)]
mod tests;
