//! The JSON of a nonprofit as an item of search and browse responses, ready to be copied.
//!
//! Every keystroke shows ten nonprofits, so the snapshot holds the JSON of each. What depends on the server, such as its
//! public URL, is not part of it: a snapshot can be built by one process and served by another. The JSON therefore ends
//! before the first URL, and the parts that complete it follow.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::causes::Causes;
use crate::snapshot::record::{Reader, write_number};
use platform::json;
use platform::text::excerpt;
use uuid::Uuid;

/// The maximum length of the description, in characters.
const MAX_DESCRIPTION_LENGTH: usize = 249;
const ID_FIELD: &[u8] = br#"{"id":""#;
const ID_LENGTH: usize = 36;

/// An item, read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The JSON from the opening brace to the field before `profileUrl`.
    pub head: &'a [u8],
    /// The ID with hyphens.
    pub id: &'a [u8],
    pub slug: &'a [u8],
    /// The hosted ID or the URL of its own logo, empty if it has none.
    pub logo: &'a [u8],
    /// The hosted ID or the URL of its own cover, empty if it has none.
    pub cover: &'a [u8],
    /// Whether it can receive donations.
    pub is_disbursable: bool,
    /// The field `websiteUrl` with the comma before it, empty if it has no website.
    pub website: &'a [u8],
}

/// Returns the bytes of an item.
pub fn to_vec(nonprofit: &Nonprofit<'_>, causes: &Causes) -> Vec<u8> {
    let (head, slug_start) = head(nonprofit, causes);
    let (logo, cover) = (
        nonprofit.logo.unwrap_or_default(),
        nonprofit.cover.unwrap_or_default(),
    );
    let mut out = Vec::with_capacity(head.len() + 16);
    for number in [
        head.len(),
        slug_start,
        nonprofit.slug.len(),
        logo.len(),
        cover.len(),
        usize::from(nonprofit.is_disbursable()),
    ] {
        write_number(&mut out, number as u64);
    }
    for part in [&head, logo.as_bytes(), cover.as_bytes()] {
        out.extend_from_slice(part);
    }
    if let Some(website) = nonprofit.website_url {
        field(&mut out, r#","websiteUrl":"#, website);
    }
    out
}

/// Returns the JSON before the first URL, and where the slug starts in it.
fn head(nonprofit: &Nonprofit<'_>, causes: &Causes) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(512);
    let location = nonprofit.location();
    out.extend_from_slice(ID_FIELD);
    let id = nonprofit.id.0.hyphenated();
    out.extend_from_slice(id.encode_lower(&mut Uuid::encode_buffer()).as_bytes());
    field(&mut out, r#"","name":"#, nonprofit.name);
    out.extend_from_slice(br#","slug":""#);
    let slug_start = out.len();
    // A slug has only letters, digits and dashes, so it needs no escaping.
    out.extend_from_slice(nonprofit.slug.as_bytes());
    out.push(b'"');
    if let Some(ein) = nonprofit.ein {
        out.extend_from_slice(br#","ein":""#);
        out.extend_from_slice(&ein.digits());
        out.push(b'"');
    }
    let description = nonprofit.description(&location);
    let description = excerpt(&description, nonprofit.description_long, MAX_DESCRIPTION_LENGTH);
    field(&mut out, r#","description":"#, &description);
    if !location.is_empty() {
        field(&mut out, r#","location":"#, &location);
    }
    out.extend_from_slice(br#","tags":"#);
    let causes = causes.of_set(nonprofit.causes);
    json::list(&mut out, causes, |out, cause| json::string(out, &cause.name));
    (out, slug_start)
}

fn field(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    json::string(out, text);
}

impl<'a> Item<'a> {
    /// Returns the EIN, if the nonprofit has one. It follows the slug.
    pub(crate) fn ein(&self) -> Option<u32> {
        let slug_start = self.slug.as_ptr() as usize - self.head.as_ptr() as usize;
        let rest = self.head.get(slug_start + self.slug.len()..)?;
        let digits = rest.strip_prefix(br#"","ein":""#)?.get(..9)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Reads an item. Returns `None` if the bytes are not an item.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Option<Item<'a>> {
        let mut from = Reader::new(bytes);
        let mut length = || Some(from.number()? as usize);
        let (head, slug_start, slug) = (length()?, length()?, length()?);
        let (logo, cover, is_disbursable) = (length()?, length()?, length()? == 1);
        let (head, rest) = from.rest().split_at_checked(head)?;
        let (logo, rest) = rest.split_at_checked(logo)?;
        let (cover, website) = rest.split_at_checked(cover)?;
        Some(Item {
            head,
            id: head.get(ID_FIELD.len()..ID_FIELD.len() + ID_LENGTH)?,
            slug: head.get(slug_start..)?.get(..slug)?,
            logo,
            cover,
            is_disbursable,
            website,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonprofits::cause_set::CauseSet;
    use crate::nonprofits::ein::Ein;
    use crate::nonprofits::tax_facts::TaxFacts;
    use platform::ids::NonprofitId;
    use proptest::prelude::*;

    fn item_of(nonprofit: &Nonprofit<'_>) -> (serde_json::Value, Vec<u8>) {
        let bytes = to_vec(nonprofit, Causes::built_in());
        let item = Item::read(&bytes).unwrap();
        let json = [item.head, item.website, b"}"].concat();
        (serde_json::from_slice(&json).unwrap(), bytes)
    }

    proptest! {
        #[test]
        fn an_item_is_read_as_it_was_written(
            id in any::<u128>(), name in "\\PC{0,60}", slug in "[a-z0-9-]{1,80}", city in ".{0,40}",
            description in proptest::option::of(".{1,400}"), website in proptest::option::of(".{1,90}"),
            logo in proptest::option::of(".{1,90}"), cover in proptest::option::of(".{1,200}"),
        ) {
            let id = NonprofitId(Uuid::from_u128(id));
            let nonprofit = Nonprofit {
                id,
                ein: Ein::new(7),
                name: &name,
                slug: &slug,
                city: &city,
                own_description: description.as_deref(),
                website_url: website.as_deref(),
                logo: logo.as_deref(),
                cover: cover.as_deref(),
                legal_name: "",
                chapter: "",
                aliases: "",
                state: "OR",
                zip: "",
                country: "",
                ntee: None,
                causes: CauseSet::default(),
                facts: None,
                tax: TaxFacts::default(),
                description_long: None,
                programs: "",
                is_website_filed: false,
                has_consented: false,
                is_closed: false,
                gone_at: None,
                prominence: 0,
                is_held: false,
            };
            let (json, bytes) = item_of(&nonprofit);
            let item = Item::read(&bytes).unwrap();
            let id = id.0.to_string();
            prop_assert_eq!(item.id, id.as_bytes());
            prop_assert_eq!(item.ein(), Some(7));
            prop_assert_eq!(item.slug, slug.as_bytes());
            prop_assert_eq!(item.logo, logo.as_deref().unwrap_or_default().as_bytes());
            prop_assert_eq!(item.cover, cover.as_deref().unwrap_or_default().as_bytes());
            prop_assert_eq!(json["name"].as_str(), Some(name.as_str()));
            prop_assert_eq!(json["slug"].as_str(), Some(slug.as_str()));
            prop_assert_eq!(json["ein"].as_str(), Some("000000007"));
            prop_assert_eq!(json["websiteUrl"].as_str(), website.as_deref());
            prop_assert!(json["description"].as_str().unwrap().chars().count() <= MAX_DESCRIPTION_LENGTH);
        }

        #[test]
        fn bytes_that_are_not_an_item_are_rejected_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some(item) = Item::read(&bytes) {
                prop_assert!(item.head.len() <= bytes.len());
            }
        }
    }
}
