//! Enrichment files: JSON Lines, one object for each nonprofit, found by its EIN or its id.
//!
//! A field that is left out stays as it is, null or blank text clears it, anything else sets it. Names of fields
//! are taken in camelCase, snake_case and in the other spellings that people use; unknown ones are passed over.

use std::io::{self, BufRead};

use serde_json::error::Category;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use self::fields::Fields;
use super::lines::{Lines, RejectedLine, Text};
use crate::nonprofits::ein::Ein;

mod change;
mod fields;
mod url;

pub use change::Change;
pub use url::is_inline;

/// Room for a logo and a cover, each as a data URL of ten megabytes.
const LONGEST_LINE: usize = 32 << 20;

/// One line: which nonprofit, and what to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrichment {
    /// At least one of `ein` and `id` is there.
    pub ein: Option<Ein>,
    pub id: Option<Uuid>,
    /// Never cleared: a nonprofit has a name.
    pub name: Option<String>,
    pub legal_name: Change<String>,
    pub aliases: Change<Vec<String>>,
    pub description: Change<String>,
    pub description_long: Change<String>,
    pub website_url: Change<String>,
    /// Where it takes gifts itself.
    pub donate_url: Change<String>,
    /// In lower case; whether they are causes of ours is for the caller to say.
    pub causes: Change<Vec<String>>,
    pub ntee_code: Change<String>,
    pub city: Change<String>,
    pub state: Change<String>,
    pub zip: Change<String>,
    pub country: Change<String>,
    pub subsection: Change<u8>,
    /// YYYYMM.
    pub ruling: Change<u32>,
    pub deductible: Change<bool>,
    /// Whole dollars, as in the files of the IRS.
    pub revenue: Change<i64>,
    pub assets: Change<i64>,
    /// A web address or a data URL, whose bytes are still to be judged.
    pub logo: Change<String>,
    pub cover: Change<String>,
}

impl Enrichment {
    /// Reads one line, or tells everything that is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Enrichment, String> {
        let object: Map<String, Value> = serde_json::from_slice(line).map_err(|fault| explain(&fault))?;
        let mut fields = Fields::new(object);
        let (ein, id) = fields.identity();
        let enrichment = Enrichment {
            ein,
            id,
            name: fields.name(),
            legal_name: fields.text(&["legalName"], 200),
            aliases: fields.texts(&["aliases", "alias", "otherNames", "aka"], 20, 200),
            description: fields.text(&["description", "shortDescription"], 500),
            description_long: fields.long_text(&["descriptionLong", "longDescription"], 20_000),
            website_url: fields.website(&["websiteUrl", "website", "url", "homepage"]),
            donate_url: fields.website(&["donateUrl", "donationUrl"]),
            causes: fields.causes(&["causes", "tags", "nonprofitTags"]),
            ntee_code: fields.ntee(&["nteeCode", "ntee", "nteeCd"]),
            city: fields.text(&["city"], 100),
            state: fields.state(&["state"]),
            zip: fields.zip(&["zip", "zipCode", "postalCode"]),
            country: fields.text(&["country"], 60),
            subsection: fields
                .number(&["subsection", "subsectionCode"], 1..=99)
                .map(|number| number as u8),
            ruling: fields.month(&["ruling", "rulingDate"]),
            deductible: fields.truth(&["deductible", "taxDeductible", "isTaxDeductible"]),
            revenue: fields.dollars(&["revenue", "revenueAmt", "revenueAmount"]),
            assets: fields.dollars(&["assets", "assetAmt", "assetAmount"]),
            logo: fields.picture(&["logo", "logoUrl"]),
            cover: fields.picture(&["cover", "coverUrl", "coverImage", "coverImageUrl"]),
        };
        fields.finish()?;
        Ok(enrichment)
    }
}

/// Why reading a file had to end.
#[derive(Debug, Error)]
pub enum EnrichmentError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("{name} is one JSON array; write each object on a line of its own")]
    NotLines { name: String },
    #[error("{name} is cut off in line {line}; copy the file again")]
    CutOff { name: String, line: u64 },
}

/// Reads one JSON Lines file.
pub struct EnrichmentReader<R> {
    name: String,
    lines: Lines<R>,
}

impl<R: BufRead> EnrichmentReader<R> {
    /// `name` is what errors call the file.
    pub fn new(input: R, name: impl Into<String>) -> EnrichmentReader<R> {
        EnrichmentReader {
            name: name.into(),
            lines: Lines::new(input, LONGEST_LINE),
        }
    }

    /// The number of the line read last.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The next line as read, or its refusal; nothing at the end of the file.
    pub fn next_entry(&mut self) -> Result<Option<Result<Enrichment, RejectedLine>>, EnrichmentError> {
        loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            let number = line.number;
            let text = match line.text {
                Text::Whole(text) if number == 1 => text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text),
                Text::Whole(text) => text,
                Text::TooLong => {
                    let reason = format!("the line is longer than {} MiB", LONGEST_LINE >> 20);
                    return Ok(Some(Err(RejectedLine { line: number, reason })));
                }
            };
            match text.trim_ascii() {
                [] => {}
                [b'[', ..] if number == 1 => {
                    return Err(EnrichmentError::NotLines {
                        name: self.name.clone(),
                    });
                }
                text if !line.ended && ends_early(text) => {
                    return Err(EnrichmentError::CutOff {
                        name: self.name.clone(),
                        line: number,
                    });
                }
                text => {
                    let entry = Enrichment::parse(text);
                    return Ok(Some(
                        entry.map_err(|reason| RejectedLine { line: number, reason }),
                    ));
                }
            }
        }
    }
}

fn ends_early(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text)
        .is_err_and(|fault| fault.classify() == Category::Eof)
}

fn explain(fault: &serde_json::Error) -> String {
    match fault.classify() {
        Category::Data => "the line is not a JSON object".to_owned(),
        _ => format!("the line is not JSON (column {})", fault.column()),
    }
}

#[cfg(test)]
mod tests;
