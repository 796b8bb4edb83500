//! Identifies a nonprofit by its ID, EIN or slug.

use super::ein::Ein;
use super::slug::Slug;
use platform::ids::NonprofitId;
use uuid::Uuid;

/// An identifier of a nonprofit. A UUID is an ID, nine digits are an EIN, and anything else is a slug.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identifier {
    Id(NonprofitId),
    Ein(Ein),
    Slug(Slug),
}

/// The reason why a text is not an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifierError {
    /// The text is an EIN with a dash or a prefix.
    FormattedEin(Ein),
    /// The text is not an ID, an EIN or a slug.
    Invalid,
}

impl Identifier {
    /// Parses an identifier as typed. Ignores letter case and surrounding whitespace.
    pub fn parse(text: &str) -> Result<Identifier, IdentifierError> {
        let text = text.trim();
        if let Some(ein) = Ein::parse(text) {
            return Ok(Identifier::Ein(ein));
        }
        if text.len() == 36
            && let Ok(id) = Uuid::try_parse(text)
        {
            return Ok(Identifier::Id(NonprofitId(id)));
        }
        if let Some(slug) = Slug::parse(text) {
            return Ok(Identifier::Slug(slug));
        }
        match Ein::parse_lenient(text) {
            Some(ein) => Err(IdentifierError::FormattedEin(ein)),
            None => Err(IdentifierError::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shape_determines_the_kind_of_identifier() {
        assert!(matches!(Identifier::parse(" 530196605 "), Ok(Identifier::Ein(_))));
        let id = "DDACC399-20C5-462E-80E1-97FA958071EA";
        assert!(matches!(Identifier::parse(id), Ok(Identifier::Id(_))));
        assert!(matches!(
            Identifier::parse("American-Red-Cross"),
            Ok(Identifier::Slug(_))
        ));
    }

    #[test]
    fn an_ein_with_a_dash_is_reported_as_such() {
        let ein = Ein::parse("530196605").unwrap();
        assert_eq!(
            Identifier::parse("53-0196605"),
            Err(IdentifierError::FormattedEin(ein))
        );
        for invalid in ["", " ", "..", "a/b", "\0", "é", "media"] {
            assert_eq!(
                Identifier::parse(invalid),
                Err(IdentifierError::Invalid),
                "{invalid:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn slugs_eins_and_ids_never_collide(name in "[A-Za-z0-9 &'./-]{1,60}", city in "[A-Z ]{0,12}", ein in 1u32..1_000_000_000) {
            let ein = Ein::new(ein).unwrap();
            let id = ein.nonprofit_id();
            for slug in Slug::candidates(&name, &city, "OR", Some(ein), id.0) {
                prop_assert_eq!(Identifier::parse(slug.as_str()), Ok(Identifier::Slug(slug.clone())));
            }
            prop_assert_eq!(Identifier::parse(&ein.to_string()), Ok(Identifier::Ein(ein)));
            prop_assert_eq!(Identifier::parse(&id.to_string()), Ok(Identifier::Id(id)));
        }
    }
}
