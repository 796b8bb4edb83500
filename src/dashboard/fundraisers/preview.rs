//! The preview of a fundraiser: the page as it will look, with the values of the form, which the page sends again.

use super::form::{EDIT, PUBLISH};
use crate::app::App;
use crate::http::error::Result;
use crate::web::cover_motif::motif_of_causes;
use crate::web::form::amounts::{Amounts, DEFAULT_AMOUNTS};
use crate::web::fundraiser_article::{
    FundraiserArticle, Organizer, SupporterRow, find_beneficiaries, list_supporters,
};
use crate::web::layout::Tab;
use crate::web::markdown;
use crate::web::meta::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, shorten};
use crate::web::{FormData, Layout, Page};
use access::accounts::store::profile;
use access::sessions::SignedIn;
use askama::Template;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use giving::fundraisers::Fundraiser;
use giving::ledger::entry::TotalsByMode;
use giving::providers::Provider;
use pictures::drawn::cover::{Motif, cover_svg};
use platform::money::Cents;

#[derive(Template)]
#[template(path = "dashboard/fundraisers/preview.html")]
struct PreviewPage {
    layout: Layout,
    article: FundraiserArticle,
    action: String,
    lead: &'static str,
    publish: &'static str,
    /// The values of the form.
    fields: Vec<(String, String)>,
    supporters: Vec<SupporterRow>,
    /// Whether the page will have a form to give.
    has_form: bool,
    amounts: Amounts,
    /// What messengers show of a link to the page.
    meta_title: String,
    meta_description: String,
}

/// Whether a preview is of a new fundraiser, or of changes to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    New,
    Change,
}

/// Shows a fundraiser as it will look. `data` is sent again to `action` by its buttons.
pub(super) async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    (subject, action): (Subject, String),
    fundraiser: &Fundraiser,
    totals: TotalsByMode,
    data: &FormData,
) -> Result<Response> {
    let found = find_beneficiaries(&app.directory, fundraiser).await?;
    let is_test_mode = app.is_test_mode();
    let totals = totals.counted(is_test_mode);
    let profile = profile::find(&app.db, user.account).await?;
    let t = &layout.f.preview;
    let article = FundraiserArticle {
        organizer: profile.as_ref().map(Organizer::from),
        status: t.title.to_owned(),
        ..FundraiserArticle::new(fundraiser, totals, &found, is_test_mode)
    };
    let cover = if fundraiser.cover.is_some() {
        article.cover
    } else {
        // The generated cover of the page contains the stored title, which may not exist yet.
        // As the page draws it: one for several nonprofits has no nonprofit of its own.
        let nonprofit = found.first().filter(|_| !fundraiser.is_multiple());
        let nonprofit = nonprofit.and_then(|(found, _)| found.nonprofit());
        let motif = nonprofit.map_or_else(Motif::default, |nonprofit| {
            motif_of_causes(app.directory.causes(), nonprofit.causes)
        });
        svg_url(&cover_svg(&fundraiser.title, fundraiser.id.0.as_u128(), motif))
    };
    let about = fundraiser.description.as_deref().map(markdown::plain_beginning);
    let about = about.unwrap_or_else(|| layout.p.fundraiser.about.to_owned());
    let supporters = match subject {
        Subject::New => Vec::new(),
        Subject::Change => list_supporters(app, fundraiser.id).await?,
    };
    let fields = data.fields().filter(|(name, _)| *name != "action");
    let page = PreviewPage {
        meta_title: shorten(&fundraiser.title, MAX_TITLE_CHARS),
        meta_description: shorten(&about, MAX_DESCRIPTION_CHARS),
        has_form: app.config.giving != Provider::Off && fundraiser.is_active(app.clock.millis()),
        amounts: amounts(),
        supporters,
        article: FundraiserArticle { cover, ..article },
        action,
        lead: if subject == Subject::New {
            t.lead
        } else {
            t.lead_of_change
        },
        publish: if subject == Subject::New {
            t.publish
        } else {
            t.save
        },
        fields: fields
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        layout: layout.with_menu(user, Tab::Fundraisers),
    };
    Ok(Page(page).into_response())
}

/// Returns the amounts that the page suggests.
fn amounts() -> Amounts {
    let suggested = DEFAULT_AMOUNTS.map(Cents::to_input_value);
    let selected = suggested[1].clone();
    Amounts::new(suggested.to_vec(), &selected)
}

fn svg_url(svg: &str) -> String {
    format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(svg))
}
