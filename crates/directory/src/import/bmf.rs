//! Rows of an IRS EO BMF file, one at a time, in bounded memory.
//!
//! A bad row is refused with its line number and a reason, and reading goes on; only input that cannot be trusted
//! any further (a wrong header, a file cut off, a read error) ends it. A row never reaches past its line: a quote
//! left open spoils one row, not the rest of the file. Reasons never repeat a value, because in a row whose
//! columns have slipped any value may be a private person's name.

use std::io::{self, BufRead};

use thiserror::Error;

use super::lines::{Line, Lines, RejectedLine, Text};
use super::record::Record;
use super::values;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::irs::IrsFacts;

/// The columns of the format, in the order in which the IRS writes them. All must be there, in any order.
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

// Places in `HEADER` of the columns that are read. ICO and STREET are not among them.
const EIN: usize = 0;
const NAME: usize = 1;
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

/// A row of the IRS takes about 150 bytes.
const LONGEST_LINE: usize = 64 * 1024;
/// The IRS cuts names at 70 characters.
const LONGEST_TEXT: usize = 200;
const LONGEST_NTEE: usize = 4;

/// One row, borrowed from the reader until the next is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IrsRow<'a> {
    /// Where it stands in its file, counted from 1.
    pub line: u64,
    pub ein: Ein,
    pub name: &'a str,
    /// The second name line, empty where there is none or where it says nothing.
    pub sort_name: &'a str,
    pub city: &'a str,
    /// Two letters, empty for a foreign body, whose `city` then holds the country.
    pub state: &'a str,
    /// Five digits, or empty.
    pub zip: &'a str,
    /// As the IRS has it, in upper case: at most four characters, perhaps no code of the table.
    pub ntee: &'a str,
    pub facts: IrsFacts,
}

/// Why reading a file had to end.
#[derive(Debug, Error)]
pub enum BmfError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("{name} holds no header line; download the file again")]
    NoHeader { name: String },
    #[error(
        "{name} is no EO BMF file: the header on line {line} has no column {column}; \
         use eo1.csv to eo4.csv or eo_xx.csv as the IRS publishes them"
    )]
    MissingColumn {
        name: String,
        line: u64,
        column: &'static str,
    },
    #[error("{name} has the column {column} twice in its header on line {line}; remove one of them")]
    DoubledColumn {
        name: String,
        line: u64,
        column: &'static str,
    },
    #[error("{name} is cut off in line {line}; download the file again")]
    CutOff { name: String, line: u64 },
}

/// Reads rows out of one EO BMF file.
pub struct BmfReader<R> {
    name: String,
    lines: Lines<R>,
    record: Record,
    columns: [usize; HEADER.len()],
    zip: String,
}

impl<R: BufRead> BmfReader<R> {
    /// Reads and checks the header. `name` is what errors call the file.
    pub fn open(input: R, name: impl Into<String>) -> Result<BmfReader<R>, BmfError> {
        let name = name.into();
        let mut lines = Lines::new(input, LONGEST_LINE);
        loop {
            let Some(line) = lines.next_line()? else {
                return Err(BmfError::NoHeader { name });
            };
            let number = line.number;
            let names = match line.text {
                Text::Whole(text) if is_blank(text) => continue,
                Text::Whole(text) => header_names(text),
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

    /// The next row, or its refusal; nothing at the end of the file.
    pub fn next_row(&mut self) -> Result<Option<Result<IrsRow<'_>, RejectedLine>>, BmfError> {
        let line = loop {
            match self.lines.next_line()? {
                None => return Ok(None),
                Some(Line {
                    text: Text::Whole(text),
                    ..
                }) if is_blank(text) => {}
                Some(Line { number, text, ended }) => {
                    let split = match text {
                        Text::Whole(text) => self.record.split(text),
                        Text::TooLong => Err(format!("the line is longer than {LONGEST_LINE} bytes")),
                    };
                    match split {
                        Ok(()) => break number,
                        Err(_) if !ended => {
                            return Err(BmfError::CutOff {
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

    /// The EIN of the row read last, where that much of it could be read: a refused row still names its body.
    pub fn ein(&self) -> Option<Ein> {
        values::ein(self.value(EIN))
    }

    fn row(&mut self) -> Result<IrsRow<'_>, String> {
        self.record.make_upper_case(self.columns[STATE]);
        self.record.make_upper_case(self.columns[NTEE_CD]);
        values::zip(values::known(self.record.field(self.columns[ZIP])), &mut self.zip);

        let ein = match self.value(EIN) {
            "" => return Err("EIN is missing".to_owned()),
            written => values::ein(written).ok_or("EIN is not a number of one to nine digits, zero aside")?,
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
        Ok(IrsRow {
            line: self.lines.number(),
            ein,
            name,
            sort_name: if values::names_something(sort_name, name) {
                sort_name
            } else {
                ""
            },
            city: self.text(CITY)?,
            state,
            zip: if state.is_empty() { "" } else { &self.zip },
            ntee: if ntee.is_ascii() {
                &ntee[..ntee.len().min(LONGEST_NTEE)]
            } else {
                ""
            },
            facts: self.facts()?,
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
        values::known(self.record.field(self.columns[column]))
    }

    fn text(&self, column: usize) -> Result<&str, String> {
        let text = self.value(column);
        if text.len() > LONGEST_TEXT && text.chars().count() > LONGEST_TEXT {
            return Err(format!(
                "{} is longer than {LONGEST_TEXT} characters",
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

    /// Nothing for a blank; a refusal for what is no number of this column, for then columns have slipped.
    fn number<T>(&self, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, String> {
        match self.value(column) {
            "" => Ok(None),
            value => match read(value) {
                Some(number) => Ok(Some(number)),
                None => Err(format!(
                    "{} is no number that this column can hold",
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
    for (place, column) in columns.iter_mut().zip(HEADER) {
        let mut found = names.iter().enumerate().filter(|(_, name)| *name == column);
        let Some((first, _)) = found.next() else {
            return Err(BmfError::MissingColumn {
                name: file.to_owned(),
                line,
                column,
            });
        };
        if found.next().is_some() {
            return Err(BmfError::DoubledColumn {
                name: file.to_owned(),
                line,
                column,
            });
        }
        *place = first;
    }
    Ok(columns)
}

#[cfg(test)]
mod tests;
