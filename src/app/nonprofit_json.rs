//! Writes nonprofits as JSON: on their own, and as items of search and browse responses.
//!
//! Every keystroke writes ten items, so the snapshot has them ready; only what depends on the public URL of the server
//! is added here. The types of `api::bodies` describe the same JSON for the OpenAPI description, and a test checks that the
//! two agree.

use crate::app::urls::Urls;
use crate::config::CompatSettings;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::cause_set::CauseSet;
use directory::nonprofits::causes::{Cause, Causes};
use directory::query::near::rounded_miles;
use directory::snapshot::item::Item;
use platform::hosted::is_hosted_id;
use platform::json;
use std::io::Write;
use uuid::Uuid;

/// Writes nonprofits as JSON.
#[derive(Debug)]
pub struct NonprofitJson {
    /// The public URL of this server, escaped for a JSON string.
    public_url: Vec<u8>,
    /// What comes before the slug in an item without own pictures, and before its ID in the three fields that follow.
    before_slug: Vec<u8>,
    before_ids: [Vec<u8>; 3],
    /// Each cause as an element of `nonprofitTags`, in the order of the list of causes.
    tags: Vec<Vec<u8>>,
    /// Whether clients that were written for the hosted service get the fields that they read.
    existing_clients: bool,
}

impl NonprofitJson {
    pub fn new(causes: &'static Causes, urls: &Urls, compat: CompatSettings) -> NonprofitJson {
        let existing_clients = compat.existing_clients;
        let mut public_url = Vec::new();
        json::string(&mut public_url, urls.public());
        let public_url = public_url[1..public_url.len() - 1].to_vec();
        let with_url =
            |before: &str, after: &str| [before.as_bytes(), &public_url, after.as_bytes()].concat();
        NonprofitJson {
            before_slug: with_url(r#","profileUrl":""#, "/"),
            before_ids: [
                br#"","logoHostedId":"logo-"#.to_vec(),
                with_url(r#"","logoUrl":""#, "/media/logo-"),
                with_url(r#"","coverImageUrl":""#, "/media/cover-"),
            ],
            public_url,
            tags: causes
                .list()
                .iter()
                .map(|cause| tag(cause, urls, existing_clients))
                .collect(),
            existing_clients,
        }
    }

    /// Appends the response body of the details route.
    pub fn details(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        self.details_with(out, nonprofit, b"");
    }

    /// Appends the response body of the details route with more fields in `data`. `more` starts with a comma, unless it is
    /// empty.
    pub fn details_with(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>, more: &[u8]) {
        out.extend_from_slice(br#"{"data":{"nonprofit":"#);
        self.nonprofit(out, nonprofit);
        out.extend_from_slice(br#","nonprofitTags":"#);
        self.tags(out, nonprofit.causes);
        out.extend_from_slice(more);
        out.extend_from_slice(b"}}");
    }

    /// Appends a nonprofit with all of its fields.
    pub fn nonprofit(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        let id = &mut Uuid::encode_buffer();
        let id = nonprofit.id.0.hyphenated().encode_lower(id);
        let location = nonprofit.location();
        field(out, r#"{"id":"#, id);
        field(out, r#","name":"#, nonprofit.name);
        field(out, r#","primarySlug":"#, nonprofit.slug);
        ein(out, nonprofit);
        out.extend_from_slice(if nonprofit.is_disbursable() {
            br#","isDisbursable":true"#
        } else {
            br#","isDisbursable":false"#
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
        self.picture_url(out, r#","logoUrl":""#, &logo);
        self.picture_url(out, r#","coverImageUrl":""#, &cover);
        self.profile(out, nonprofit);
        if let Some(website) = nonprofit.website_url {
            field(out, r#","websiteUrl":"#, website);
        }
        if self.existing_clients {
            logo.hosted_id(out, r#","logoCloudinaryId":""#);
            cover.hosted_id(out, r#","coverImageCloudinaryId":""#);
            kind(out, nonprofit.is_disbursable());
        }
        out.push(b'}');
    }

    /// Appends causes with all of their fields.
    pub fn tags(&self, out: &mut Vec<u8>, causes: CauseSet) {
        let tags = causes.positions().filter_map(|position| self.tags.get(position));
        json::list(out, tags, |out, tag| out.extend_from_slice(tag));
    }

    /// Adds the distance to an item of [`NonprofitJson::open_item`].
    pub fn distance(out: &mut Vec<u8>, miles: f64) {
        let miles = rounded_miles(miles);
        write!(out, r#","distanceMiles":{miles}"#).expect("a vector can be written to");
    }

    /// Completes an item of [`NonprofitJson::open_item`] with the words that matched the search.
    pub fn close_item(out: &mut Vec<u8>, matched: &[String]) {
        out.extend_from_slice(br#","matchedTerms":"#);
        json::list(out, matched, |out, word| json::string(out, word));
        out.push(b'}');
    }

    /// Appends an item of a list, without the closing brace.
    #[inline]
    pub fn open_item(&self, out: &mut Vec<u8>, item: &Item<'_>) {
        out.extend_from_slice(item.head);
        out.extend_from_slice(&self.before_slug);
        out.extend_from_slice(item.slug);
        if item.logo.is_empty() && item.cover.is_empty() {
            for before in &self.before_ids {
                out.extend_from_slice(before);
                out.extend_from_slice(item.id);
            }
            out.push(b'"');
        } else {
            out.push(b'"');
            self.pictures(out, item);
        }
        out.extend_from_slice(item.website);
        if self.existing_clients {
            let [logo, cover] = item_pictures(item);
            logo.hosted_id(out, r#","logoCloudinaryId":""#);
            cover.hosted_id(out, r#","coverImageCloudinaryId":""#);
            kind(out, item.is_disbursable);
        }
    }

    /// Appends the pictures of an item that has pictures of its own.
    fn pictures(&self, out: &mut Vec<u8>, item: &Item<'_>) {
        let [logo, cover] = item_pictures(item);
        logo.hosted_id(out, r#","logoHostedId":""#);
        self.picture_url(out, r#","logoUrl":""#, &logo);
        self.picture_url(out, r#","coverImageUrl":""#, &cover);
    }

    fn profile(&self, out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
        out.extend_from_slice(br#","profileUrl":""#);
        out.extend_from_slice(&self.public_url);
        out.push(b'/');
        // A slug has only letters, digits and dashes, so it needs no escaping.
        out.extend_from_slice(nonprofit.slug.as_bytes());
        out.push(b'"');
    }

    /// Appends the URL of a picture. `name` ends with the opening quote of the value.
    fn picture_url(&self, out: &mut Vec<u8>, name: &str, picture: &Picture<'_>) {
        if let Some(url) = picture.external_url {
            return field(out, &name[..name.len() - 1], url);
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&self.public_url);
        picture.hosted_id(out, "/media/");
    }
}

/// A picture of a nonprofit: its own, hosted here or elsewhere, or a generated one.
struct Picture<'a> {
    /// The two halves of the hosted ID.
    hosted: [&'a str; 2],
    external_url: Option<&'a str>,
}

impl<'a> Picture<'a> {
    fn new(kind: &'a str, id: &'a str, own: Option<&'a str>) -> Picture<'a> {
        match own {
            Some(own) if is_hosted_id(own) => Picture {
                hosted: [own, ""],
                external_url: None,
            },
            external_url => Picture {
                hosted: [kind, id],
                external_url,
            },
        }
    }

    fn hosted_id(&self, out: &mut Vec<u8>, before: &str) {
        for part in [before, self.hosted[0], self.hosted[1], "\""] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// Appends the punctuation and name of a field as given, and its value as a string.
fn field(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    json::string(out, text);
}

/// Returns the logo and the cover of an item.
fn item_pictures<'a>(item: &Item<'a>) -> [Picture<'a>; 2] {
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let own = |bytes| Some(text(bytes)).filter(|own: &&str| !own.is_empty());
    [
        Picture::new("logo-", text(item.id), own(item.logo)),
        Picture::new("cover-", text(item.id), own(item.cover)),
    ]
}

/// Appends fields that only existing clients read.
fn kind(out: &mut Vec<u8>, donations: bool) {
    write!(
        out,
        r#","type":"NONPROFIT","donationsEnabled":{donations},"hasAdmin":false"#
    )
    .expect("a vector can be written to");
}

fn ein(out: &mut Vec<u8>, nonprofit: &Nonprofit<'_>) {
    if let Some(ein) = nonprofit.ein {
        out.extend_from_slice(br#","ein":""#);
        out.extend_from_slice(&ein.digits());
        out.push(b'"');
    }
}

fn tag(cause: &Cause, urls: &Urls, existing_clients: bool) -> Vec<u8> {
    let (hosted_id, picture) = urls.cause_picture(&cause.name);
    let mut out = Vec::new();
    field(&mut out, r#"{"id":"#, &cause.id.to_string());
    field(&mut out, r#","tagName":"#, &cause.name);
    field(&mut out, r#","causeCategory":"#, cause.category.as_str());
    field(&mut out, r#","title":"#, &cause.title);
    field(&mut out, r#","tagImageHostedId":"#, &hosted_id);
    field(&mut out, r#","tagUrl":"#, &urls.cause(&cause.name));
    field(&mut out, r#","tagImageUrl":"#, &picture);
    if existing_clients {
        field(&mut out, r#","tagImageCloudinaryId":"#, &hosted_id);
    }
    out.push(b'}');
    out
}
