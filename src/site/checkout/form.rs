//! The form of a gift: filled in by a link, sent, and shown again with what was typed.

use super::link::DonateLink;
use super::target::Target;
use crate::app::App;
use crate::http::error::Result;
use crate::http::params::{PathPair, PathText, RawQuery};
use crate::web::form::Choice;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Page, Place, Sent};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use giving::payments::partner::ReturnUrls;
use giving::payments::provider::Provider;
use giving::payments::{Donation, State as GiftState, amount, store};
use platform::money::Cents;
use uuid::Uuid;

const LONGEST_NAME: usize = 100;
const LONGEST_MESSAGE: usize = 500;

#[derive(Template)]
#[template(path = "site/checkout/form.html")]
struct Give {
    frame: Frame,
    name: String,
    address: String,
    refusal: Option<&'static str>,
    link: DonateLink,
    is_sandbox: bool,
    offered: Vec<(String, String)>,
    form: Form,
    return_urls: ReturnUrls,
    /// Address and host of where to go instead of giving.
    exit: Option<(String, String)>,
}

/// `GET /{nonprofit}/give`
pub async fn to_nonprofit(
    State(app): State<App>,
    PathText(nonprofit): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let target = Target::nonprofit(&app, &nonprofit).await?;
    show(&app, target, &query).await
}

/// `GET /{nonprofit}/f/{fundraiser}/give`
pub async fn to_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let target = Target::fundraiser(&app, &nonprofit, &name).await?;
    show(&app, target, &query).await
}

/// `POST /{nonprofit}/give`
pub async fn start_for_nonprofit(
    State(app): State<App>,
    PathText(nonprofit): PathText,
    RawQuery(query): RawQuery,
    sent: Sent,
) -> Result<Response> {
    let target = Target::nonprofit(&app, &nonprofit).await?;
    start(&app, target, &query, &sent).await
}

/// `POST /{nonprofit}/f/{fundraiser}/give`
pub async fn start_for_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
    sent: Sent,
) -> Result<Response> {
    let target = Target::fundraiser(&app, &nonprofit, &name).await?;
    start(&app, target, &query, &sent).await
}

async fn show(app: &App, target: Target, query: &str) -> Result<Response> {
    let link = DonateLink::read(query)?;
    let form = form(&target, &link, Uuid::now_v7());
    Ok(Page(give(app, target, link, form).await?).into_response())
}

async fn give(app: &App, target: Target, link: DonateLink, form: Form) -> Result<Give> {
    let there = format!("{}/give", target.address);
    let offer = |offered: &Cents| {
        let written = amount::written(*offered);
        (link.with_amount(&there, *offered), format!("${written}"))
    };
    let return_urls = link.partner.return_urls(&app.db).await?;
    let exit = return_urls.exit.as_ref();
    let exit = exit.map(|exit| {
        (
            link.partner.append_to(exit, None),
            exit.origin().host().to_owned(),
        )
    });
    Ok(Give {
        frame: Frame::new(Place::Elsewhere),
        offered: link.offered.iter().map(offer).collect(),
        is_sandbox: app.config.giving == Provider::Sandbox,
        name: target.name,
        address: target.address,
        refusal: target.refusal,
        link,
        form,
        return_urls,
        exit,
    })
}

fn form(target: &Target, link: &DonateLink, once: Uuid) -> Form {
    let t = &Frame::new(Place::Elsewhere).p.give;
    let chosen = link.amount.map(amount::written).unwrap_or_default();
    let choices = vec![
        Choice::new("no", t.private, ""),
        Choice::new("yes", t.public, t.public_hint),
    ];
    let fields = vec![
        Field::text("amount", t.amount).value(chosen).hint(t.amount_hint),
        Field::text("name", t.name)
            .value(&link.name)
            .autocomplete("name")
            .optional(),
        Field::choice("public", t.show_name, choices),
        Field::email("email", t.email)
            .value(&link.email)
            .hint(t.email_hint)
            .optional(),
        Field::text("message", t.message).optional(),
        Field::hidden("once", once.to_string()),
    ];
    let action = link.action(&format!("{}/give", target.address));
    Form::new(action, t.continue_to_payment, fields)
}

async fn start(app: &App, target: Target, query: &str, sent: &Sent) -> Result<Response> {
    let once = Uuid::try_parse(sent.text("once")).ok();
    if let Some(known) = once
        && store::find(&app.db, known).await?.is_some()
    {
        return Ok(to_gift(known));
    }
    let link = DonateLink::read(query)?;
    let mut form = form(&target, &link, Uuid::now_v7()).filled(sent);
    let amount = read(&target, &link, sent, &mut form);
    let (Some(amount), Some(id), false) = (amount, once, form.is_refused()) else {
        let page = Page(give(app, target, link, form).await?);
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let text = |name: &str| Some(sent.trimmed(name).to_owned()).filter(|text| !text.is_empty());
    let new = Donation {
        id,
        state: GiftState::Started,
        nonprofit: target.nonprofit,
        fundraiser: target.fundraiser,
        amount,
        is_public: sent.text("public") == "yes",
        name: text("name"),
        email: text("email"),
        message: text("message"),
        designation: Some(link.designation).filter(|text| !text.is_empty()),
        partner: link.partner,
        entry: None,
        started_at: app.clock.millis(),
    };
    store::insert(&app.db, &new, app.config.giving.name()).await?;
    Ok(to_gift(id))
}

/// Refuses what cannot be given, and keeps what was typed.
fn read(target: &Target, link: &DonateLink, sent: &Sent, form: &mut Form) -> Option<Cents> {
    let t = &Frame::new(Place::Elsewhere).p.give;
    if let Some(refusal) = target.refusal {
        form.refuse_all(refusal);
    }
    let given = amount::parse(sent.text("amount"));
    match (given, link.least) {
        (None, _) => form.refuse("amount", t.bad_amount),
        (Some(given), Some(least)) if given < least => {
            form.refuse("amount", fill(t.too_little, &[("min", &least.to_string())]));
        }
        _ => {}
    }
    let is_too_long = |name: &str, most: usize| sent.text(name).chars().count() > most;
    let has_control = |name: &str| sent.trimmed(name).contains(char::is_control);
    for (name, most) in [("name", LONGEST_NAME), ("message", LONGEST_MESSAGE)] {
        if is_too_long(name, most) || has_control(name) {
            form.refuse(name, fill(t.too_long, &[("max", &most.to_string())]));
        }
    }
    let email = sent.trimmed("email");
    let is_address = email.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty()
            && host.contains('.')
            && !email.contains(|c: char| c.is_whitespace() || c.is_control())
    });
    if !email.is_empty() && (!is_address || email.len() > 254) {
        form.refuse("email", t.bad_email);
    }
    given
}

/// To the page of a gift.
pub fn to_gift(id: Uuid) -> Response {
    Redirect::to(&format!("/gifts/{id}")).into_response()
}
