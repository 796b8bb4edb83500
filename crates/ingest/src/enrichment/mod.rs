//! Enrichment files: JSON Lines with one object for each nonprofit, identified by its EIN or ID.
//!
//! A missing field stays as it is, null or blank text clears it, and any other value sets it. Field names may be in
//! camelCase, snake_case or a few other spellings that people use. Unknown fields are ignored.

use std::io::{self, BufRead};

use serde_json::error::Category;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use self::fields::Fields;
use crate::files::lines::{Lines, RejectedLine, Text};
use directory::nonprofits::ein::Ein;

mod change;
mod fields;
pub(crate) mod import;

pub(crate) use change::Change;

/// Enough for a logo and a cover image, each as a data URL of ten megabytes.
const MAX_LINE_LENGTH: usize = 32 << 20;

/// One line: a nonprofit, and the changes to its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrichment {
    /// At least one of `ein` and `id` is present.
    pub ein: Option<Ein>,
    pub id: Option<Uuid>,
    /// Cannot be cleared.
    pub name: Option<String>,
    pub legal_name: Change<String>,
    pub aliases: Change<Vec<String>>,
    pub description: Change<String>,
    pub description_long: Change<String>,
    pub website_url: Change<String>,
    /// The nonprofit's own donation page.
    pub donate_url: Change<String>,
    /// The nonprofit's own account at Stripe.
    pub stripe_account: Change<String>,
    /// In lowercase. The caller checks that they exist.
    pub causes: Change<Vec<String>>,
    pub ntee_code: Change<String>,
    pub city: Change<String>,
    pub state: Change<String>,
    pub zip: Change<String>,
    pub country: Change<String>,
    pub subsection: Change<u8>,
    /// As YYYYMM.
    pub ruling: Change<u32>,
    pub deductible: Change<bool>,
    /// In whole dollars, as in the IRS files.
    pub revenue: Change<i64>,
    pub assets: Change<i64>,
    /// A web URL, or a data URL whose bytes are not checked yet.
    pub logo: Change<String>,
    pub cover: Change<String>,
}

impl Enrichment {
    /// Parses one line. The error lists everything that is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Enrichment, String> {
        let object: Map<String, Value> =
            serde_json::from_slice(line).map_err(|error| json_error_message(&error))?;
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
            stripe_account: fields.stripe_account(&["stripeAccount"]),
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
            deductible: fields.boolean(&["deductible", "taxDeductible", "isTaxDeductible"]),
            revenue: fields.dollars(&["revenue", "revenueAmt", "revenueAmount"]),
            assets: fields.dollars(&["assets", "assetAmt", "assetAmount"]),
            logo: fields.picture(&["logo", "logoUrl"]),
            cover: fields.picture(&["cover", "coverUrl", "coverImage", "coverImageUrl"]),
        };
        fields.finish()?;
        Ok(enrichment)
    }
}

/// The reason why a file cannot be read any further.
#[derive(Debug, Error)]
pub(crate) enum EnrichmentError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("{name} is a JSON array; put each object on its own line")]
    NotLines { name: String },
    #[error("{name} is truncated in line {line}; copy the file again")]
    Truncated { name: String, line: u64 },
}

/// Reads one JSON Lines file.
pub(crate) struct EnrichmentReader<R> {
    name: String,
    lines: Lines<R>,
}

impl<R: BufRead> EnrichmentReader<R> {
    /// Creates a reader. `name` is the name of the file in errors.
    pub(crate) fn new(input: R, name: impl Into<String>) -> EnrichmentReader<R> {
        EnrichmentReader {
            name: name.into(),
            lines: Lines::new(input, MAX_LINE_LENGTH),
        }
    }

    /// Returns the number of the last line.
    pub(crate) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next line. Returns `None` at the end of the file.
    pub(crate) fn next_entry(&mut self) -> Result<Option<Result<Enrichment, RejectedLine>>, EnrichmentError> {
        loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            let number = line.number;
            let text = match line.text {
                Text::Complete(text) if number == 1 => text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text),
                Text::Complete(text) => text,
                Text::TooLong => {
                    let reason = format!("the line is longer than {} MiB", MAX_LINE_LENGTH >> 20);
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
                text if !line.has_line_ending && is_truncated(text) => {
                    return Err(EnrichmentError::Truncated {
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

fn is_truncated(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text)
        .is_err_and(|error| error.classify() == Category::Eof)
}

fn json_error_message(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Data => "the line is not a JSON object".to_owned(),
        _ => format!("the line is not JSON (column {})", error.column()),
    }
}

#[cfg(test)]
mod tests;
