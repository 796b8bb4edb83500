//! The sources of what a profile shows, in words.

use crate::web::dates::format_time;
use crate::web::texts::{ProfileTexts, fill};
use directory::history::field_sources::{Field, FieldSource, FieldSources};
use directory::nonprofits::sources::SourceKind;
use directory::returns::store::StoredReturn;
use directory::returns::years::FinancialYear;
use jiff::civil::Date;
use platform::text::excerpt;

/// The characters that are shown of a value in the files besides that of the nonprofit.
const MAX_FILED_CHARS: usize = 200;

/// A source and what comes from it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// The names of fields.
    pub fields: String,
    pub source: String,
}

/// Lists the sources of the fields on a profile. Fields with the same source share a row.
pub fn rows(sources: &FieldSources, years: &[FinancialYear], t: &ProfileTexts) -> Vec<SourceRow> {
    let labels = [
        (Field::Name, t.field_name),
        (Field::Ein, t.ein),
        (Field::Location, t.location),
        (Field::Ntee, t.category),
        (Field::Description, t.field_description),
        (Field::DescriptionLong, t.field_description),
        (Field::WebsiteUrl, t.field_website),
        (Field::Deductibility, t.field_deductibility),
        (Field::Revocation, t.field_revocation),
        (Field::FormationYear, t.field_formed),
        (Field::Revenue, t.field_revenue),
    ];
    let of_fields = labels.into_iter().filter_map(|(field, label)| {
        let source = sources.of(field)?;
        Some((label, describe(source, None, t)?))
    });
    let of_years = years
        .iter()
        .filter_map(|year| Some((t.finances, describe(&year.source, Some(&year.filed), t)?)));
    let mut rows: Vec<SourceRow> = Vec::new();
    for (label, source) in of_fields.chain(of_years) {
        match rows.iter_mut().find(|row| row.source == source) {
            Some(row) if row.fields.split(", ").any(|field| field == label) => {}
            Some(row) => {
                row.fields.push_str(", ");
                row.fields.push_str(label);
            }
            None => rows.push(SourceRow {
                fields: label.to_owned(),
                source,
            }),
        }
    }
    rows
}

/// Describes a source: what it is, the period that it is about, its file, and when it was imported. Returns `None` for
/// what this server generated.
fn describe(source: &FieldSource, filed: Option<&StoredReturn>, t: &ProfileTexts) -> Option<String> {
    let mut text = match (source.kind, filed) {
        (SourceKind::Returns, Some(filed)) => fill(t.from_form, &[("form", &filed.form)]),
        (SourceKind::Returns, None) => t.from_return.to_owned(),
        (SourceKind::MasterFile, _) => t.from_master_file.to_owned(),
        (SourceKind::Epostcards, _) => t.from_epostcard.to_owned(),
        (SourceKind::Publication78, _) => t.from_publication_78.to_owned(),
        (SourceKind::Revocations, _) => t.from_revocations.to_owned(),
        (SourceKind::Operator, _) => t.from_operator.to_owned(),
        (SourceKind::Nonprofit, _) => {
            let day = source.stated_at.map(format_time).unwrap_or_default();
            fill(t.from_nonprofit, &[("day", &day)])
        }
        (SourceKind::Generated, _) => return None,
    };
    if let Some(period) = source.period {
        text += &fill(t.for_period, &[("period", &format_month(period))]);
    }
    let id = filed
        .map(|filed| filed.object_id.as_str())
        .filter(|id| !id.is_empty());
    let id = id.map(|id| fill(t.return_id, &[("id", id)]));
    let files = source.files.iter().map(|file| file.name.clone());
    let files: Vec<String> = id.into_iter().chain(files).collect();
    if !files.is_empty() {
        text += &fill(t.in_file, &[("file", &files.join(", "))]);
    }
    if let Some(filed) = &source.filed {
        text += &fill(
            t.filed_instead,
            &[("value", &excerpt(filed, None, MAX_FILED_CHARS))],
        );
    }
    if let Some(file) = source.files.first() {
        text += &fill(t.imported_on, &[("day", &format_time(file.imported_at))]);
    }
    text.push('.');
    Some(text)
}

/// Formats a month that is stored as YYYYMM: `June 2023`.
pub fn format_month(month: u32) -> String {
    let date = i16::try_from(month / 100)
        .ok()
        .and_then(|year| Date::new(year, (month % 100) as i8, 1).ok());
    date.map_or_else(|| month.to_string(), |date| date.strftime("%B %Y").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;
    use directory::history::imports::SourceFile;

    fn source(kind: SourceKind, period: Option<u32>) -> FieldSource {
        FieldSource {
            kind,
            files: vec![SourceFile {
                name: "a.zip".to_owned(),
                sha256: String::new(),
                imported_at: 1_794_787_200_000,
            }],
            period,
            stated_at: None,
            filed: None,
        }
    }

    #[test]
    fn fields_with_the_same_source_share_a_row() {
        let sources = FieldSources {
            fields: vec![
                (Field::Description, source(SourceKind::Returns, Some(202_306))),
                (Field::DescriptionLong, source(SourceKind::Returns, Some(202_306))),
                (Field::WebsiteUrl, source(SourceKind::Returns, Some(202_306))),
                (Field::Name, source(SourceKind::Publication78, None)),
                (
                    Field::Ntee,
                    FieldSource {
                        kind: SourceKind::Generated,
                        files: Vec::new(),
                        period: None,
                        stated_at: None,
                        filed: None,
                    },
                ),
            ],
            revenue: None,
        };
        let rows = rows(&sources, &[], &PUBLIC_EN.profile);
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.fields.as_str(), row.source.as_str()))
            .collect();
        assert_eq!(
            rows,
            [
                (
                    "Name",
                    "IRS Publication 78 (a.zip), imported on November 16, 2026."
                ),
                (
                    "Description, Website",
                    "IRS Form 990, 990-EZ or 990-PF for the period ending June 2023 (a.zip), imported on November 16, 2026."
                ),
            ]
        );
    }

    #[test]
    fn a_month_that_does_not_exist_is_shown_as_it_is() {
        assert_eq!(format_month(202_306), "June 2023");
        assert_eq!(format_month(202_313), "202313");
    }
}
