//! Shows what a nonprofit states in place of what was imported.

use super::{OwnField, OwnValue};
use crate::nonprofits::rows::Profile;

/// Puts a value of the nonprofit in place of the imported one.
pub(super) fn apply(profile: &mut Profile, own: OwnValue) {
    let field = match own.field {
        OwnField::Description => &mut profile.description,
        OwnField::Mission => &mut profile.description_long,
        OwnField::Website => &mut profile.website_url,
        OwnField::Causes => &mut profile.causes,
        OwnField::Logo => &mut profile.logo,
        OwnField::Cover => &mut profile.cover,
        OwnField::Thanks => return,
        OwnField::Consent | OwnField::Closed => {
            profile.own.insert(own.field);
            return;
        }
    };
    *field = Some(own.value);
    profile.own.insert(own.field);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_own_value_replaces_only_its_field(field in proptest::sample::select(&OwnField::ALL[..6])) {
            let mut profile = Profile::default();
            apply(&mut profile, OwnValue { field, value: "x".to_owned(), stated_at: 0 });
            let own: Vec<OwnField> = OwnField::ALL.into_iter().filter(|field| profile.own.contains(*field)).collect();
            prop_assert_eq!(own, [field]);
            let texts = [
                profile.description, profile.description_long, profile.website_url, profile.causes, profile.logo,
                profile.cover,
            ];
            prop_assert_eq!(texts.iter().flatten().count(), 1);
            prop_assert_eq!(OwnField::find(field.as_str()), Some(field));
        }
    }
}
