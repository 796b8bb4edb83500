//! The source of each field of a nonprofit: the file, the period that it is about, and when it was imported.

use crate::history::imports::store::find_files;
use crate::history::imports::{LastImports, NamedFile, SourceFile};
use crate::nonprofits::assemble::statements;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::own_fields::store as own_fields;
use crate::nonprofits::own_fields::{OwnField, OwnValue};
use crate::nonprofits::precedence::{Origin, Statements};
use crate::nonprofits::sources::{SourceId, SourceKind};
use crate::nonprofits::store::{self, SourceNumbers};
use crate::nonprofits::tax_facts::Day;
use platform::db::Db;
use platform::ids::NonprofitId;
use std::collections::HashMap;

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSource {
    pub kind: SourceKind,
    /// The file that it comes from. Several if it is one of the files of an import, but it is not known which one. Empty
    /// if the value was generated.
    pub files: Vec<SourceFile>,
    /// The month in which the period that it is about ends, as YYYYMM.
    pub period: Option<u32>,
    /// When the nonprofit stated it.
    pub stated_at: Option<i64>,
    /// What would be shown if the nonprofit had not stated anything.
    pub filed: Option<String>,
}

/// A field of a nonprofit that has a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Name,
    Description,
    Causes,
    Logo,
    Cover,
    Ein,
    Location,
    Ntee,
    DescriptionLong,
    WebsiteUrl,
    Revenue,
    Deductibility,
    Revocation,
    FormationYear,
    Epostcard,
}

/// The sources of the fields of a nonprofit.
#[derive(Clone, Debug, Default)]
pub struct FieldSources {
    /// Unknown fields are left out.
    pub fields: Vec<(Field, FieldSource)>,
    /// The latest revenue known, in dollars.
    pub revenue: Option<i64>,
}

impl FieldSources {
    /// Returns the source of a field.
    pub fn of(&self, field: Field) -> Option<&FieldSource> {
        let found = self.fields.iter().find(|(other, _)| *other == field);
        found.map(|(_, source)| source)
    }
}

/// Lists the sources of the fields of a nonprofit. Returns `None` if the store does not have it.
pub async fn list(
    db: &Db,
    last_imports: &LastImports,
    id: NonprofitId,
) -> sqlx::Result<Option<FieldSources>> {
    let mut tx = db.view().await?;
    let Some(row) = store::find_row(&mut tx, &Identifier::Id(id)).await? else {
        return Ok(None);
    };
    let imported = store::find_profile(&mut tx, id.0).await?;
    let profile = store::find_shown_profile(&mut tx, id.0).await?;
    let own = own_fields::list_values(&mut tx, id).await?;
    let numbers = store::find_sources(&mut tx, id).await?.unwrap_or_default();
    let files = find_files(&mut tx, &numbers.ids()).await?;
    let sources = Sources {
        last_imports,
        files,
        numbers,
        own,
        imported: statements(&row, imported.as_ref()),
    };
    let stated = statements(&row, profile.as_ref());
    Ok(Some(FieldSources {
        fields: sources.of_fields(&stated, row.stored.ein.is_some()),
        revenue: stated.revenue().map(|(dollars, _)| dollars),
    }))
}

impl SourceNumbers {
    fn ids(&self) -> Vec<SourceId> {
        let mut numbers: Vec<i64> = [
            self.profile,
            self.description,
            self.website,
            self.amounts,
            self.publication_78,
            self.revocation,
            self.epostcard,
        ]
        .into_iter()
        .flatten()
        .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(SourceId::from_number).collect()
    }
}

struct Sources<'a> {
    last_imports: &'a LastImports,
    files: HashMap<SourceId, SourceFile>,
    numbers: SourceNumbers,
    own: Vec<OwnValue>,
    /// What is stated without the nonprofit itself.
    imported: Statements<'a>,
}

impl Sources<'_> {
    fn of_fields(&self, stated: &Statements<'_>, has_ein: bool) -> Vec<(Field, FieldSource)> {
        let filing = &stated.filing;
        let facts = filing.facts.unwrap_or_default();
        let tax = &stated.tax_record.facts;
        let numbers = &self.numbers;
        let by_filing = || self.of_filing(stated, None);
        // The newest return decides names and the year of formation, and it is also the one whose amounts are shown.
        let newest_return = || self.of_return(numbers.amounts, numbers.amounts_period);
        let by_profile = |is_stated: bool, own: OwnField| {
            if is_stated {
                self.of_profile(stated, own)
            } else {
                FieldSource::generated()
            }
        };
        let mut fields = vec![
            (
                Field::Name,
                match stated.name() {
                    Some((_, Origin::Return)) => newest_return(),
                    Some(_) => self.of_operator(),
                    None => by_filing(),
                },
            ),
            (
                Field::Description,
                match stated.description() {
                    Some((_, Origin::Return)) => {
                        self.of_return(numbers.description, numbers.description_period)
                    }
                    text => by_profile(text.is_some(), OwnField::Description),
                },
            ),
        ];
        for (field, own) in [
            (Field::Causes, OwnField::Causes),
            (Field::Logo, OwnField::Logo),
            (Field::Cover, OwnField::Cover),
        ] {
            fields.push((field, by_profile(stated.of_field(own).is_some(), own)));
        }
        if has_ein {
            fields.push((Field::Ein, by_filing()));
        }
        if !filing.city.is_empty() || !filing.state.is_empty() {
            fields.push((Field::Location, by_filing()));
        }
        if !filing.ntee.is_empty() {
            fields.push((Field::Ntee, by_filing()));
        }
        if let Some((_, origin)) = stated.description_long() {
            let source = match origin {
                Origin::Return => self.of_return(numbers.description, numbers.description_period),
                _ => self.of_profile(stated, OwnField::Mission),
            };
            fields.push((Field::DescriptionLong, source));
        }
        if let Some((_, origin)) = stated.website_url() {
            let source = match origin {
                Origin::Return => self.of_return(numbers.website, numbers.website_period),
                Origin::Epostcard => self.of_epostcard(),
                _ => self.of_profile(stated, OwnField::Website),
            };
            fields.push((Field::WebsiteUrl, source));
        }
        if let Some((_, origin)) = stated.revenue() {
            let source = match origin {
                Origin::Return => newest_return(),
                _ => self.of_filing(stated, Some(facts.tax_period).filter(|period| *period != 0)),
            };
            fields.push((Field::Revenue, source));
        }
        if !tax.publication_78.is_empty() {
            let source = self.of_file(SourceKind::Publication78, numbers.publication_78, None);
            fields.push((Field::Deductibility, source));
        } else if facts.deductibility != 0 {
            fields.push((Field::Deductibility, by_filing()));
        }
        if tax.revocation.is_some() {
            let source = self.of_file(SourceKind::Revocations, numbers.revocation, None);
            fields.push((Field::Revocation, source));
        }
        if tax.formed.is_some() {
            fields.push((Field::FormationYear, newest_return()));
        }
        if tax.epostcard.is_some() {
            fields.push((Field::Epostcard, self.of_epostcard()));
        }
        fields
    }

    /// Returns the source of what the filing says.
    fn of_filing(&self, stated: &Statements<'_>, period: Option<u32>) -> FieldSource {
        if !stated.is_listed {
            return self.of_operator();
        }
        let import = self.last_imports.of_kind("irs");
        let files = import.map_or_else(Vec::new, |import| {
            let file = |file: &NamedFile| SourceFile {
                name: file.name.clone(),
                sha256: file.sha256.clone(),
                imported_at: import.finished_at,
            };
            import.files.iter().map(file).collect()
        });
        FieldSource {
            kind: SourceKind::MasterFile,
            files,
            period,
            stated_at: None,
            filed: None,
        }
    }

    fn of_operator(&self) -> FieldSource {
        self.of_file(SourceKind::Operator, self.numbers.profile, None)
    }

    /// Returns the source of a field of the profile: the nonprofit itself or an operator.
    fn of_profile(&self, stated: &Statements<'_>, field: OwnField) -> FieldSource {
        if stated.profile_origin(field) != Origin::Nonprofit {
            return self.of_operator();
        }
        let own = self.own.iter().find(|own| own.field == field);
        FieldSource {
            kind: SourceKind::Nonprofit,
            files: Vec::new(),
            period: None,
            stated_at: own.map(|own| own.stated_at),
            filed: self.imported.of_field(field),
        }
    }

    fn of_return(&self, source: Option<i64>, period: Option<i64>) -> FieldSource {
        let period = period.and_then(|period| u32::try_from(period).ok());
        self.of_file(SourceKind::Returns, source, period)
    }

    fn of_epostcard(&self) -> FieldSource {
        let end = self.numbers.epostcard_end.as_deref().and_then(Day::parse);
        let year = self.numbers.epostcard_year;
        let period = end.map(|day| day.number() / 100).or_else(|| {
            let year = u32::try_from(year?).ok()?;
            Some(year * 100 + 12)
        });
        self.of_file(SourceKind::Epostcards, self.numbers.epostcard, period)
    }

    fn of_file(&self, kind: SourceKind, source: Option<i64>, period: Option<u32>) -> FieldSource {
        let file = source.and_then(|source| self.files.get(&SourceId::from_number(source)));
        FieldSource {
            kind,
            files: file.cloned().into_iter().collect(),
            period,
            stated_at: None,
            filed: None,
        }
    }
}

impl FieldSource {
    fn generated() -> FieldSource {
        FieldSource {
            kind: SourceKind::Generated,
            files: Vec::new(),
            period: None,
            stated_at: None,
            filed: None,
        }
    }
}
