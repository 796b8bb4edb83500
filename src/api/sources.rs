//! The source of each field of a nonprofit, and what the IRS files say besides the fields of the details response:
//! `?include=sources`.

use directory::history::field_sources::{Field, FieldSource, FieldSources};
use directory::history::imports::SourceFile;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::sources::SourceKind;
use directory::nonprofits::tax_facts::TaxFacts;
use platform::clock::rfc3339;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Why the IRS revokes an exemption automatically.
const REVOCATION_REASON: &str = "It did not file a return or notice for three consecutive years (section 6033(j) of the Internal Revenue Code).";

/// The sources of the fields of a nonprofit, by the name of the field. The fields of `nonprofit` have their own name;
/// `revenue`, `deductibility`, `revocation`, `formationYear` and `form990N` are those of `irs`.
pub type SourcesBody = BTreeMap<String, SourceBody>;

/// Where the value of a field comes from. Unknown fields are omitted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceBody {
    /// irs-bmf (the master file of the IRS), irs-990 (a return of Form 990, 990-EZ or 990-PF), irs-990n, irs-pub78,
    /// irs-revocations, operator (imported by the operator of this server), nonprofit (stated by the nonprofit itself on
    /// this server) or generated (from other facts).
    #[schema(example = "irs-990")]
    pub source: String,
    /// The file that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "2024_TEOS_XML_05A.zip", nullable = false)]
    pub file: Option<String>,
    /// The SHA-256 hash of the file, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sha256: Option<String>,
    /// Instead of `file` and `sha256`: the files that were imported together, one of which it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFileBody>,
    /// The month in which the period that the value is about ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "2023-06", pattern = "^[0-9]{4}-[0-9]{2}$", nullable = false)]
    pub period: Option<String>,
    /// When the file was imported, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub imported_at: Option<String>,
    /// When the nonprofit stated it, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub stated_at: Option<String>,
    /// What the files say instead, if the nonprofit stated another value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub filed: Option<String>,
    /// The ID of the return at the IRS. Only in finances.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "202341319349301234", nullable = false)]
    pub object_id: Option<String>,
}

/// A file that was imported.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceFileBody {
    #[schema(example = "eo1.csv")]
    pub file: String,
    /// In hexadecimal.
    pub sha256: String,
}

/// What the IRS files say besides the fields of `nonprofit`. Unknown fields are omitted.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IrsBody {
    /// The latest revenue known, in whole dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub revenue: Option<i64>,
    /// Whether donations are tax-deductible. False if the exemption was revoked.
    pub deductible: bool,
    /// The codes of Publication 78. Empty if it does not list the nonprofit, which says nothing about a member of a group.
    pub deductibility: Vec<DeductibilityBody>,
    /// The newest entry of the automatic revocation list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub revocation: Option<RevocationBody>,
    /// The year in which it was formed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub formation_year: Option<u16>,
    /// The newest Form 990-N.
    #[serde(rename = "form990N", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub form_990n: Option<EpostcardBody>,
}

/// A code of Publication 78.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeductibilityBody {
    #[schema(example = "PC")]
    pub code: String,
    #[schema(example = "a public charity")]
    pub meaning: String,
}

/// An automatic revocation of the tax exemption.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevocationBody {
    /// Whether it is in force. False if the exemption was reinstated.
    pub active: bool,
    #[schema(example = "2015-05-15")]
    pub revoked_on: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reinstated_on: Option<String>,
    pub reason: String,
}

/// A Form 990-N, which the smallest nonprofits file.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EpostcardBody {
    pub tax_year: u16,
    /// Whether gross receipts are normally $50,000 or less.
    pub small_receipts: bool,
    /// Whether the nonprofit says that it ended.
    pub terminated: bool,
}

/// Returns the sources of fields.
pub fn bodies(sources: FieldSources) -> SourcesBody {
    let body = |(field, source)| (field_name(field).to_owned(), SourceBody::new(source));
    sources.fields.into_iter().map(body).collect()
}

/// Returns the name of a field in `nonprofit` or `irs`.
fn field_name(field: Field) -> &'static str {
    match field {
        Field::Name => "name",
        Field::Description => "description",
        Field::Causes => "nonprofitTags",
        Field::Logo => "logoUrl",
        Field::Cover => "coverImageUrl",
        Field::Ein => "ein",
        Field::Location => "locationAddress",
        Field::Ntee => "nteeCode",
        Field::DescriptionLong => "descriptionLong",
        Field::WebsiteUrl => "websiteUrl",
        Field::Revenue => "revenue",
        Field::Deductibility => "deductibility",
        Field::Revocation => "revocation",
        Field::FormationYear => "formationYear",
        Field::Epostcard => "form990N",
    }
}

/// Returns the name of a kind of source.
pub fn source_name(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::MasterFile => "irs-bmf",
        SourceKind::Returns => "irs-990",
        SourceKind::Epostcards => "irs-990n",
        SourceKind::Publication78 => "irs-pub78",
        SourceKind::Revocations => "irs-revocations",
        SourceKind::Operator => "operator",
        SourceKind::Nonprofit => "nonprofit",
        SourceKind::Generated => "generated",
    }
}

impl SourceBody {
    /// Returns the source of a field.
    pub fn new(source: FieldSource) -> SourceBody {
        let imported_at = source.files.first().map(|file| rfc3339(file.imported_at));
        let mut files: Vec<SourceFile> = source.files;
        let only = if files.len() == 1 { files.pop() } else { None };
        let (file, sha256) = only.map(|file| (file.name, file.sha256)).unzip();
        SourceBody {
            source: source_name(source.kind).to_owned(),
            file,
            sha256: sha256.filter(|hash| !hash.is_empty()),
            files: files
                .into_iter()
                .map(|file| SourceFileBody {
                    file: file.name,
                    sha256: file.sha256,
                })
                .collect(),
            period: source.period.map(month),
            imported_at,
            stated_at: source.stated_at.map(rfc3339),
            filed: source.filed,
            object_id: None,
        }
    }
}

impl IrsBody {
    /// Returns what the IRS files say about a nonprofit. `revenue` is the latest revenue known, in dollars.
    pub fn new(nonprofit: &Nonprofit<'_>, revenue: Option<i64>) -> IrsBody {
        let tax: &TaxFacts = &nonprofit.tax;
        IrsBody {
            revenue,
            deductible: nonprofit.is_deductible(),
            deductibility: tax
                .publication_78
                .iter()
                .map(|(code, meaning)| DeductibilityBody {
                    code: code.to_owned(),
                    meaning: meaning.to_owned(),
                })
                .collect(),
            revocation: tax.revocation.map(|revocation| RevocationBody {
                active: revocation.reinstated_on.is_none(),
                revoked_on: revocation.revoked_on.to_string(),
                reinstated_on: revocation.reinstated_on.map(|day| day.to_string()),
                reason: REVOCATION_REASON.to_owned(),
            }),
            formation_year: tax.formed,
            form_990n: tax.epostcard.map(|epostcard| EpostcardBody {
                tax_year: epostcard.tax_year,
                small_receipts: epostcard.has_small_receipts,
                terminated: epostcard.is_terminated,
            }),
        }
    }
}

/// Formats a month that is stored as YYYYMM: `2023-06`.
pub fn month(number: u32) -> String {
    format!("{:04}-{:02}", number / 100, number % 100)
}
