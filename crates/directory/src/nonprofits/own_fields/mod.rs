//! What a nonprofit says about itself.
//!
//! It is kept apart from what was imported: an import never changes it, and what was filed is shown again when the
//! nonprofit removes it.

mod apply;
pub mod editable;
pub mod store;

/// A field that the administrators of a nonprofit can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnField {
    /// The short description.
    Description,
    /// The long description.
    Mission,
    Website,
    /// Names of causes, separated by spaces.
    Causes,
    Logo,
    Cover,
    /// What donors read after a donation. It is not part of the profile.
    Thanks,
    /// It consents to be listed and to receive donations through this site.
    Consent,
    /// It receives no donations, at its own request.
    Closed,
}

impl OwnField {
    pub(crate) const ALL: [OwnField; 9] = [
        OwnField::Description,
        OwnField::Mission,
        OwnField::Website,
        OwnField::Causes,
        OwnField::Logo,
        OwnField::Cover,
        OwnField::Thanks,
        OwnField::Consent,
        OwnField::Closed,
    ];

    /// Its name in the database and in forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            OwnField::Description => "description",
            OwnField::Mission => "mission",
            OwnField::Website => "website",
            OwnField::Causes => "causes",
            OwnField::Logo => "logo",
            OwnField::Cover => "cover",
            OwnField::Thanks => "thanks",
            OwnField::Consent => "consent",
            OwnField::Closed => "closed",
        }
    }

    pub(crate) fn find(name: &str) -> Option<OwnField> {
        OwnField::ALL.into_iter().find(|field| field.as_str() == name)
    }

    /// Returns the maximum length of a value in characters.
    pub const fn max_chars(self) -> usize {
        match self {
            OwnField::Description => 300,
            OwnField::Mission => 5_000,
            OwnField::Thanks => 1_000,
            OwnField::Website
            | OwnField::Causes
            | OwnField::Logo
            | OwnField::Cover
            | OwnField::Consent
            | OwnField::Closed => 2_000,
        }
    }
}

/// The fields of a profile that come from the nonprofit itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnFields(u16);

impl OwnFields {
    pub(crate) fn contains(self, field: OwnField) -> bool {
        self.0 & 1 << field as u8 != 0
    }

    pub(crate) fn insert(&mut self, field: OwnField) {
        self.0 |= 1 << field as u8;
    }
}

/// A value that a nonprofit states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnValue {
    pub field: OwnField,
    pub value: String,
    /// In milliseconds since 1970.
    pub stated_at: i64,
}
