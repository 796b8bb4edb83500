//! Giving, step by step: the form, paying, the receipt. Every step says whether money moves.

use super::link::DonateLink;
use super::provider::{Answer, Provider, try_card};
use super::settle::settle;
use super::{GiftRecord, State as GiftState, amount, store};
use crate::app::App;
use crate::error::{Error, Result};
use crate::fundraisers::pages as fundraisers;
use crate::fundraisers::store as fundraiser_store;
use crate::http::params::{PathPair, PathText, RawQuery};
use crate::ids::{FundraiserId, NonprofitId};
use crate::money::Cents;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::pages as nonprofits;
use crate::text::cut;
use crate::web::form::Choice;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Page, Place, Sent};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

const LONGEST_NAME: usize = 100;
const LONGEST_MESSAGE: usize = 500;

/// Whom a gift is for, as pages need it.
struct Target {
    nonprofit: NonprofitId,
    fundraiser: Option<FundraiserId>,
    name: String,
    address: String,
    /// Why nothing can be given to it.
    refusal: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "gifts/give.html")]
struct Give {
    frame: Frame,
    name: String,
    address: String,
    refusal: Option<&'static str>,
    link: DonateLink,
    is_sandbox: bool,
    offered: Vec<(String, String)>,
    form: Form,
}

#[derive(Template)]
#[template(path = "gifts/gift.html")]
struct GiftPage {
    frame: Frame,
    title: &'static str,
    name: String,
    address: String,
    gift: GiftRecord,
    is_sandbox: bool,
    pay: Option<Form>,
    elsewhere: Option<String>,
}

/// `GET /{nonprofit}/give`
pub async fn to_nonprofit(
    State(app): State<App>,
    PathText(nonprofit): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    Ok(show(&app, target_nonprofit(&app, &nonprofit).await?, &query))
}

/// `GET /{nonprofit}/f/{fundraiser}/give`
pub async fn to_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    Ok(show(
        &app,
        target_fundraiser(&app, &nonprofit, &name).await?,
        &query,
    ))
}

/// `POST /{nonprofit}/give`
pub async fn start_for_nonprofit(
    State(app): State<App>,
    PathText(nonprofit): PathText,
    sent: Sent,
) -> Result<Response> {
    let target = target_nonprofit(&app, &nonprofit).await?;
    start(&app, target, &sent).await
}

/// `POST /{nonprofit}/f/{fundraiser}/give`
pub async fn start_for_fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    sent: Sent,
) -> Result<Response> {
    let target = target_fundraiser(&app, &nonprofit, &name).await?;
    start(&app, target, &sent).await
}

async fn target_nonprofit(app: &App, text: &str) -> Result<Target> {
    let found = nonprofits::find(app, text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let texts = &Frame::new(Place::Elsewhere).p.give;
    Ok(Target {
        nonprofit: nonprofit.id,
        fundraiser: None,
        name: nonprofit.name.to_owned(),
        address: format!("/{}", nonprofit.slug),
        refusal: (!nonprofit.is_disbursable()).then_some(texts.not_possible),
    })
}

async fn target_fundraiser(app: &App, nonprofit: &str, name: &str) -> Result<Target> {
    let shown = fundraisers::find(app, nonprofit, name).await?;
    let fundraiser = &shown.fundraiser;
    let texts = &Frame::new(Place::Elsewhere).p.give;
    Ok(Target {
        nonprofit: fundraiser.nonprofit,
        fundraiser: Some(fundraiser.id),
        name: fundraiser.title.clone(),
        address: fundraisers::address(app, fundraiser).await?,
        refusal: (!fundraiser.is_active(app.clock.millis())).then_some(texts.not_open),
    })
}

/// The target of a gift that was started.
async fn target_of(app: &App, gift: &GiftRecord) -> Result<Target> {
    match gift.fundraiser {
        None => target_nonprofit(app, &gift.nonprofit.to_string()).await,
        Some(id) => {
            let found = fundraiser_store::find(&app.db, id).await?;
            let fundraiser = found.ok_or(Error::NotFound)?;
            let nonprofit = fundraiser.nonprofit.to_string();
            target_fundraiser(app, &nonprofit, &fundraiser.slug).await
        }
    }
}

fn show(app: &App, target: Target, query: &str) -> Response {
    let link = DonateLink::read(query);
    let form = form(&target, &link, Uuid::now_v7());
    Page(give(app, target, link, form)).into_response()
}

fn give(app: &App, target: Target, link: DonateLink, form: Form) -> Give {
    let offer = |offered: &Cents| {
        let written = amount::written(*offered);
        let address = format!("{}/give?amount={written}", target.address);
        (address, format!("${written}"))
    };
    Give {
        frame: Frame::new(Place::Elsewhere),
        offered: link.offered.iter().map(offer).collect(),
        is_sandbox: app.config.giving == Provider::Sandbox,
        name: target.name,
        address: target.address,
        refusal: target.refusal,
        link,
        form,
    }
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
        Field::hidden("designation", &link.designation),
        Field::hidden("partner_donation_id", &link.partner_id),
        Field::hidden("min_value", link.least.map(amount::written).unwrap_or_default()),
        Field::hidden("once", once.to_string()),
    ];
    Form::new(format!("{}/give", target.address), t.go_on, fields)
}

async fn start(app: &App, target: Target, sent: &Sent) -> Result<Response> {
    let once = Uuid::try_parse(sent.text("once")).ok();
    if let Some(known) = once
        && store::find(&app.db, known).await?.is_some()
    {
        return Ok(to_gift(known));
    }
    let link = DonateLink::read("");
    let mut form = form(&target, &link, Uuid::now_v7()).filled(sent);
    let amount = read(&target, sent, &mut form);
    let (Some(amount), Some(id), false) = (amount, once, form.is_refused()) else {
        let page = Page(give(app, target, link, form));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let text = |name: &str| Some(sent.trimmed(name).to_owned()).filter(|text| !text.is_empty());
    let new = GiftRecord {
        id,
        state: GiftState::Started,
        nonprofit: target.nonprofit,
        fundraiser: target.fundraiser,
        amount,
        is_public: sent.text("public") == "yes",
        name: text("name"),
        email: text("email"),
        message: text("message"),
        designation: text("designation").map(|text| cut(&text, 255).to_owned()),
        partner_id: text("partner_donation_id").map(|text| cut(&text, 255).to_owned()),
        entry: None,
        started_at: app.clock.millis(),
    };
    store::insert(&app.db, &new, app.config.giving.name()).await?;
    Ok(to_gift(id))
}

/// Refuses what cannot be given, and keeps what was typed.
fn read(target: &Target, sent: &Sent, form: &mut Form) -> Option<Cents> {
    let t = &Frame::new(Place::Elsewhere).p.give;
    if let Some(refusal) = target.refusal {
        form.refuse_all(refusal);
    }
    let given = amount::parse(sent.text("amount"));
    let least = amount::parse(sent.text("min_value"));
    match (given, least) {
        (None, _) => form.refuse("amount", t.bad_amount),
        (Some(given), Some(least)) if given < least => {
            form.refuse("amount", fill(t.too_little, &[("least", &least.to_string())]));
        }
        _ => {}
    }
    let is_too_long = |name: &str, most: usize| sent.text(name).chars().count() > most;
    let has_control = |name: &str| sent.trimmed(name).contains(char::is_control);
    for (name, most) in [("name", LONGEST_NAME), ("message", LONGEST_MESSAGE)] {
        if is_too_long(name, most) || has_control(name) {
            form.refuse(name, fill(t.too_long, &[("most", &most.to_string())]));
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

fn to_gift(id: Uuid) -> Response {
    Redirect::to(&format!("/gifts/{id}")).into_response()
}

async fn find(app: &App, text: &str) -> Result<GiftRecord> {
    let id = Uuid::try_parse(text).map_err(|_| Error::NotFound)?;
    store::find(&app.db, id).await?.ok_or(Error::NotFound)
}

/// `GET /gifts/{id}`: paying while it is not paid, then the receipt.
pub async fn gift(State(app): State<App>, PathText(id): PathText) -> Result<Response> {
    let gift = settle(&app, find(&app, &id).await?).await?;
    let target = target_of(&app, &gift).await?;
    let form = pay_form(&gift);
    Ok(Page(gift_page(&app, gift, target, form)).into_response())
}

/// `POST /gifts/{id}`: a card of the sandbox.
pub async fn pay(State(app): State<App>, PathText(id): PathText, sent: Sent) -> Result<Response> {
    let gift = find(&app, &id).await?;
    let is_open = matches!(gift.state, GiftState::Started | GiftState::Failed);
    if !is_open || app.config.giving != Provider::Sandbox {
        return Ok(to_gift(gift.id));
    }
    let (target, now) = (target_of(&app, &gift).await?, app.clock.millis());
    let t = &Frame::new(Place::Elsewhere).p.give;
    let mut form = pay_form(&gift).filled(&sent);
    if let Some(refusal) = target.refusal {
        form.refuse_all(refusal);
        let page = Page(gift_page(&app, gift, target, form));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let answer = try_card(sent.text("card"));
    let Some(fault) = answer.fault(t) else {
        store::pay(&app.db, gift.id, now).await?;
        let gift = store::find(&app.db, gift.id).await?.ok_or(Error::Internal)?;
        return Ok(to_gift(settle(&app, gift).await?.id));
    };
    let status = match answer {
        Answer::Down => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    if matches!(answer, Answer::Declined | Answer::NoFunds) {
        store::fail(&app.db, gift.id, fault, now).await?;
    }
    form.refuse("card", fault);
    Ok((status, Page(gift_page(&app, gift, target, form))).into_response())
}

fn pay_form(gift: &GiftRecord) -> Form {
    let t = &Frame::new(Place::Elsewhere).p.give;
    let card = Field::text("card", t.card).hint(t.card_hint);
    Form::new(format!("/gifts/{}", gift.id), t.pay, vec![card])
}

fn gift_page(app: &App, gift: GiftRecord, target: Target, form: Form) -> GiftPage {
    let frame = Frame::new(Place::Elsewhere);
    let t = &frame.p.give;
    let is_open = matches!(gift.state, GiftState::Started | GiftState::Failed);
    let is_sandbox = app.config.giving == Provider::Sandbox;
    GiftPage {
        title: match gift.state {
            GiftState::Started | GiftState::Failed => t.pay_title,
            GiftState::Pending => t.pending_title,
            GiftState::Completed => t.receipt_title,
            GiftState::Refunded => t.refunded_title,
        },
        pay: (is_open && is_sandbox).then_some(form),
        elsewhere: is_open
            .then(|| {
                let view = app.directory.view();
                let nonprofit = view.find(&Identifier::Id(gift.nonprofit));
                let ein = nonprofit.and_then(|nonprofit| nonprofit.ein);
                let ein = ein.map(|ein| ein.to_string()).unwrap_or_default();
                let slug = nonprofit.map(|nonprofit| nonprofit.slug).unwrap_or_default();
                app.config.giving.address(&gift, &ein, slug)
            })
            .flatten(),
        name: target.name,
        address: target.address,
        gift,
        is_sandbox,
        frame,
    }
}
