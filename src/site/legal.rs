//! The pages about the site: about, contact, privacy, terms of use and accessibility.
//!
//! The operator can replace their texts with Markdown files. The default texts say what the software does with data and
//! donations, so they depend on the settings.

use crate::app::App;
use crate::web::identity::Identity;
use crate::web::markdown;
use crate::web::texts::fill;
use crate::web::texts::legal::{ABOUT, ACCESSIBILITY, CONTACT, LEGAL_EN, LegalPageTexts, PRIVACY, TERMS};
use crate::web::{Layout, Meta, PublicPage, Section};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::ledger::entry::Mode;
use giving::providers::Provider;
use std::sync::Arc;

const TEXTS: &LegalPageTexts = &LEGAL_EN.pages;

#[derive(Template)]
#[template(path = "site/legal/page.html")]
struct LegalPage {
    layout: Layout,
    meta: Meta,
    title: String,
    html: Arc<str>,
    /// The path of the page.
    path: &'static str,
}

/// `GET /about`
pub async fn about(State(app): State<App>) -> Response {
    let page = (TEXTS.about, TEXTS.about_description);
    respond(&app, "/about", page, |site| site.about.clone(), ABOUT)
}

/// `GET /contact`
pub async fn contact(State(app): State<App>) -> Response {
    let page = (TEXTS.contact, TEXTS.contact_description);
    respond(&app, "/contact", page, |_| None, CONTACT)
}

/// `GET /privacy`
pub async fn privacy(State(app): State<App>) -> Response {
    let page = (TEXTS.privacy, TEXTS.privacy_description);
    respond(&app, "/privacy", page, |site| site.privacy.clone(), PRIVACY)
}

/// `GET /terms`
pub async fn terms(State(app): State<App>) -> Response {
    let page = (TEXTS.terms, TEXTS.terms_description);
    respond(&app, "/terms", page, |site| site.terms.clone(), TERMS)
}

/// `GET /accessibility`
pub async fn accessibility(State(app): State<App>) -> Response {
    let page = (TEXTS.accessibility, TEXTS.accessibility_description);
    respond(&app, "/accessibility", page, |_| None, ACCESSIBILITY)
}

/// Responds with the text of the operator, or with the default text.
fn respond(
    app: &App,
    path: &'static str,
    (title, description): (&str, &str),
    own_html: impl FnOnce(&Identity) -> Option<Arc<str>>,
    default: &str,
) -> Response {
    let layout = Layout::new(Section::Other);
    let name = layout.t.site.name;
    let (title, description) = (
        fill(title, &[("name", name)]),
        fill(description, &[("name", name)]),
    );
    let html = own_html(layout.site).unwrap_or_else(|| default_html(app, &layout, default));
    let page = LegalPage {
        meta: Meta::new(&layout, &title, &description, app.site.urls.page(path)),
        title,
        html,
        path,
        layout,
    };
    PublicPage(page).into_response()
}

/// Renders a default text with what the settings say.
fn default_html(app: &App, layout: &Layout, text: &str) -> Arc<str> {
    let operator = match &layout.site.operator {
        Some(operator) => fill(TEXTS.operator_known, &[("operator", operator)]),
        None => TEXTS.operator_unknown.to_owned(),
    };
    // The contact page itself does not link to the contact page.
    let (known, unknown) = if text == CONTACT {
        (TEXTS.contact_known, TEXTS.contact_unknown)
    } else {
        (TEXTS.contact_link_known, TEXTS.contact_link_unknown)
    };
    let contact = match &layout.site.contact_email {
        Some(email) => fill(known, &[("email", email)]),
        None => unknown.to_owned(),
    };
    let security = app.config.security_contact.url();
    let security = security.map_or_else(String::new, |url| fill(TEXTS.security_contact, &[("url", url)]));
    let giving = match (&app.config.giving, &app.config.recipient) {
        (Provider::Off, _) => TEXTS.giving_off.to_owned(),
        (Provider::Stripe(Mode::Live), Some(donee)) => {
            fill(TEXTS.giving_stripe, &[("recipient", &donee.legal_name)])
        }
        _ if app.is_test_mode() => TEXTS.giving_test.to_owned(),
        _ => TEXTS.giving_link.to_owned(),
    };
    markdown::render_trusted(&fill(
        text,
        &[
            ("name", layout.t.site.name),
            ("operator", &operator),
            ("contact", &contact),
            ("security", &security),
            ("giving", &giving),
        ],
    ))
}
