//! A nonprofit on the wire: alone, and as one of many in a search answer or on a browse page.
//!
//! Ten of them are written for every keystroke, so they are written straight into the answer. The types of `api::bodies`
//! say the same for the description of the interface, and a test holds the two together.

use crate::app::json;
use crate::app::urls::Urls;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::cause_set::CauseSet;
use directory::nonprofits::causes::{Cause, Causes};
use platform::hosted::is_hosted_id;
use platform::text::excerpt;
use uuid::Uuid;

/// Characters of a description.
const LONGEST_DESCRIPTION: usize = 249;

/// Writes nonprofits as JSON.
#[derive(Debug)]
pub struct NonprofitJson {
    causes: &'static Causes,
    /// The public address of this server, as it stands between quotes.
    public: Vec<u8>,
    /// Each cause as an element of `nonprofitTags`, in the order of the list.
    tags: Vec<Vec<u8>>,
}

impl NonprofitJson {
    pub fn new(causes: &'static Causes, urls: &Urls) -> NonprofitJson {
        let mut public = Vec::new();
        json::string(&mut public, urls.public());
        NonprofitJson {
            causes,
            public: public[1..public.len() - 1].to_vec(),
            tags: causes.list().iter().map(|cause| tag(cause, urls)).collect(),
        }
    }

    /// Appends the answer of the details route.
    pub fn details(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        out.extend_from_slice(br#"{"data":{"nonprofit":"#);
        self.nonprofit(out, nonprofit);
        out.extend_from_slice(br#","nonprofitTags":"#);
        self.tags(out, nonprofit.causes);
        out.extend_from_slice(b"}}");
    }

    /// Appends a nonprofit with all that is known of it.
    pub fn nonprofit(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        let id = &mut Uuid::encode_buffer();
        let id = nonprofit.id.0.hyphenated().encode_lower(id);
        let location = nonprofit.location();
        field(out, r#"{"id":"#, id);
        field(out, r#","name":"#, nonprofit.name);
        field(out, r#","primarySlug":"#, nonprofit.slug);
        ein(out, nonprofit);
        out.extend_from_slice(match nonprofit.is_disbursable() {
            true => br#","isDisbursable":true"#,
            false => br#","isDisbursable":false"#,
        });
        field(out, r#","description":"#, &nonprofit.description(&location));
        match nonprofit.description_long {
            Some(long) => field(out, r#","descriptionLong":"#, long),
            None => out.extend_from_slice(br#","descriptionLong":null"#),
        }
        if !location.is_empty() {
            field(out, r#","locationAddress":"#, &location);
        }
        if let Some(ntee) = nonprofit.ntee {
            let meaning = ntee.meaning();
            field(out, r#","nteeCode":"#, ntee.code());
            field(out, r#","nteeCodeMeaning":{"majorCode":"#, meaning.major_code);
            field(out, r#","majorMeaning":"#, meaning.major_meaning);
            field(out, r#","decileCode":"#, meaning.decile_code);
            field(out, r#","decileMeaning":"#, meaning.decile_meaning);
            out.push(b'}');
        }
        let logo = Picture::new("logo-", id, nonprofit.logo);
        let cover = Picture::new("cover-", id, nonprofit.cover);
        logo.hosted_id(out, r#","logoHostedId":""#);
        cover.hosted_id(out, r#","coverImageHostedId":""#);
        self.address(out, r#","logoUrl":""#, &logo);
        self.address(out, r#","coverImageUrl":""#, &cover);
        self.profile(out, nonprofit);
        if let Some(website) = nonprofit.website_url {
            field(out, r#","websiteUrl":"#, website);
        }
        out.push(b'}');
    }

    /// Appends causes, in full.
    pub fn tags(&self, out: &mut Vec<u8>, causes: CauseSet) {
        let tags = causes.positions().filter_map(|position| self.tags.get(position));
        json::list(out, tags, |out, tag| out.extend_from_slice(tag));
    }

    /// Appends a nonprofit as one of many.
    pub fn item(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        self.open_item(out, nonprofit);
        out.push(b'}');
    }

    /// Appends what [`NonprofitJson::open_item`] leaves open: the words that matched where it was searched for.
    pub fn close_item(out: &mut Vec<u8>, matched: &[String]) {
        out.extend_from_slice(br#","matchedTerms":"#);
        json::list(out, matched, |out, word| json::string(out, word));
        out.push(b'}');
    }

    /// Appends a nonprofit as one of many, but for its end.
    pub fn open_item(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        let id = &mut Uuid::encode_buffer();
        let id = nonprofit.id.0.hyphenated().encode_lower(id);
        let location = nonprofit.location();
        field(out, r#"{"id":"#, id);
        field(out, r#","name":"#, nonprofit.name);
        field(out, r#","slug":"#, nonprofit.slug);
        ein(out, nonprofit);
        let description = nonprofit.description(&location);
        let description = excerpt(&description, nonprofit.description_long, LONGEST_DESCRIPTION);
        field(out, r#","description":"#, &description);
        if !location.is_empty() {
            field(out, r#","location":"#, &location);
        }
        out.extend_from_slice(br#","tags":"#);
        let causes = self.causes.of_set(nonprofit.causes);
        json::list(out, causes, |out, cause| json::string(out, &cause.name));
        self.profile(out, nonprofit);
        let logo = Picture::new("logo-", id, nonprofit.logo);
        logo.hosted_id(out, r#","logoHostedId":""#);
        self.address(out, r#","logoUrl":""#, &logo);
        let cover = Picture::new("cover-", id, nonprofit.cover);
        self.address(out, r#","coverImageUrl":""#, &cover);
        if let Some(website) = nonprofit.website_url {
            field(out, r#","websiteUrl":"#, website);
        }
    }

    fn profile(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        out.extend_from_slice(br#","profileUrl":""#);
        out.extend_from_slice(&self.public);
        out.push(b'/');
        // A slug is letters, digits and dashes.
        out.extend_from_slice(nonprofit.slug.as_bytes());
        out.push(b'"');
    }

    /// `name` ends with the first quote.
    fn address(&self, out: &mut Vec<u8>, name: &str, picture: &Picture<'_>) {
        if let Some(address) = picture.elsewhere {
            return field(out, &name[..name.len() - 1], address);
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&self.public);
        picture.hosted_id(out, "/media/");
    }
}

/// A picture of a nonprofit: its own, here or elsewhere, or the one that is drawn for it.
struct Picture<'a> {
    /// The two halves of the hosted id.
    hosted: [&'a str; 2],
    elsewhere: Option<&'a str>,
}

impl<'a> Picture<'a> {
    fn new(kind: &'a str, id: &'a str, own: Option<&'a str>) -> Picture<'a> {
        match own {
            Some(own) if is_hosted_id(own) => Picture {
                hosted: [own, ""],
                elsewhere: None,
            },
            elsewhere => Picture {
                hosted: [kind, id],
                elsewhere,
            },
        }
    }

    fn hosted_id(&self, out: &mut Vec<u8>, before: &str) {
        for part in [before, self.hosted[0], self.hosted[1], "\""] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// Appends a name with what stands before it, and a text.
fn field(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    json::string(out, text);
}

fn ein(out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
    if let Some(ein) = nonprofit.ein {
        out.extend_from_slice(br#","ein":""#);
        out.extend_from_slice(&ein.digits());
        out.push(b'"');
    }
}

fn tag(cause: &Cause, urls: &Urls) -> Vec<u8> {
    let (hosted_id, picture) = urls.cause_picture(&cause.name);
    let mut out = Vec::new();
    field(&mut out, r#"{"id":"#, &cause.id.to_string());
    field(&mut out, r#","tagName":"#, &cause.name);
    field(&mut out, r#","causeCategory":"#, cause.category.as_str());
    field(&mut out, r#","title":"#, &cause.title);
    field(&mut out, r#","tagImageHostedId":"#, &hosted_id);
    field(&mut out, r#","tagUrl":"#, &urls.cause(&cause.name));
    field(&mut out, r#","tagImageUrl":"#, &picture);
    out.push(b'}');
    out
}
