//! Paying a gift, and its receipt. Every step says whether money moves.

use super::target::Target;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::checkout::form::to_gift;
use crate::web::texts::GiveTexts;
use crate::web::{Field, Form, Frame, Page, Place, Sent, guard};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Redirect, Response};
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store as nonprofit_store;
use giving::payments::partner::ReturnUrls;
use giving::payments::provider::{CardResult, Provider, try_card};
use giving::payments::{Donation, State as GiftState, store};
use uuid::Uuid;

#[derive(Template)]
#[template(path = "site/checkout/payment.html")]
struct GiftPage {
    frame: Frame,
    title: &'static str,
    name: String,
    address: String,
    gift: Donation,
    is_sandbox: bool,
    pay: Option<Form>,
    elsewhere: Option<String>,
    /// Why it cannot be paid elsewhere now.
    refusal: Option<&'static str>,
    return_urls: ReturnUrls,
    /// Address and host of the partner's page that this leads to.
    back: Option<(String, String)>,
}

/// `GET /gifts/{id}`: paying while it is not paid, then the receipt.
pub async fn gift(State(app): State<App>, PathText(id): PathText) -> Result<Response> {
    let gift = app.settlement().settle(find(&app, &id).await?).await?;
    let target = Target::of(&app, &gift).await?;
    let form = pay_form(&gift);
    show(&app, StatusCode::OK, gift, target, form).await
}

/// `POST /gifts/{id}`: a card of the sandbox. Paid, the giver is led back to where the partner asked for.
pub async fn pay(State(app): State<App>, PathText(id): PathText, sent: Sent) -> Result<Response> {
    let gift = find(&app, &id).await?;
    if !gift.is_open() || app.config.giving != Provider::Sandbox {
        return done(&app, &app.settlement().settle(gift).await?).await;
    }
    let (target, now) = (Target::of(&app, &gift).await?, app.clock.millis());
    let t = &Frame::new(Place::Elsewhere).p.give;
    let mut form = pay_form(&gift).filled(&sent);
    if let Some(refusal) = target.refusal {
        form.refuse_all(refusal);
        return show(&app, StatusCode::UNPROCESSABLE_ENTITY, gift, target, form).await;
    }
    let answer = try_card(sent.text("card"));
    let Some(fault) = refusal(answer, t) else {
        store::pay(&app.db, gift.id, now).await?;
        let gift = store::find(&app.db, gift.id).await?.ok_or(Error::Internal)?;
        return done(&app, &app.settlement().settle(gift).await?).await;
    };
    let status = match answer {
        CardResult::Down => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    if matches!(answer, CardResult::Declined | CardResult::NoFunds) {
        store::fail(&app.db, gift.id, fault, now).await?;
    }
    form.refuse("card", fault);
    show(&app, status, gift, target, form).await
}

/// What the donor reads if a card was not charged.
fn refusal(answer: CardResult, t: &GiveTexts) -> Option<&'static str> {
    match answer {
        CardResult::Paid => None,
        CardResult::Declined => Some(t.declined),
        CardResult::NoFunds => Some(t.no_funds),
        CardResult::Down => Some(t.down),
        CardResult::NoCard => Some(t.no_card),
    }
}

async fn find(app: &App, text: &str) -> Result<Donation> {
    let id = Uuid::try_parse(text).map_err(|_| Error::NotFound)?;
    store::find(&app.db, id).await?.ok_or(Error::NotFound)
}

/// Where somebody goes who has paid: to the partner, or to the receipt.
async fn done(app: &App, gift: &Donation) -> Result<Response> {
    let return_urls = gift.partner.return_urls(&app.db).await?;
    Ok(match return_urls.success {
        Some(address) if gift.state == GiftState::Completed => {
            Redirect::to(&gift.partner.append_to(&address, Some(gift.id))).into_response()
        }
        _ => to_gift(gift.id),
    })
}

fn pay_form(gift: &Donation) -> Form {
    let t = &Frame::new(Place::Elsewhere).p.give;
    let card = Field::text("card", t.card).hint(t.card_hint);
    Form::new(format!("/gifts/{}", gift.id), t.pay, vec![card])
}

async fn show(app: &App, status: StatusCode, gift: Donation, target: Target, form: Form) -> Result<Response> {
    let frame = Frame::new(Place::Elsewhere);
    let t = &frame.p.give;
    let is_sandbox = app.config.giving == Provider::Sandbox;
    let return_urls = gift.partner.return_urls(&app.db).await?;
    let back = match gift.state {
        GiftState::Completed => &return_urls.success,
        _ => &return_urls.exit,
    };
    let policy = return_urls.success.as_ref().filter(|_| gift.is_open());
    let policy = policy.map(|address| guard::policy_that_leads_to(address.origin()));
    let page = GiftPage {
        title: match gift.state {
            GiftState::Started | GiftState::Failed => t.pay_title,
            GiftState::Pending => t.pending_title,
            GiftState::Completed => t.receipt_title,
            GiftState::Refunded => t.refunded_title,
        },
        pay: (gift.is_open() && is_sandbox).then_some(form),
        refusal: target.refusal.filter(|_| gift.is_open() && !is_sandbox),
        elsewhere: elsewhere(app, &gift, &target).await?,
        back: back.as_ref().map(|address| {
            let there = gift.partner.append_to(address, Some(gift.id));
            (there, address.origin().host().to_owned())
        }),
        name: target.name,
        address: target.address,
        return_urls,
        gift,
        is_sandbox,
        frame,
    };
    let mut response = (status, Page(page)).into_response();
    if let Some(policy) = policy {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// Where the gift is paid, if not here.
async fn elsewhere(app: &App, gift: &Donation, target: &Target) -> Result<Option<String>> {
    if !gift.is_open() || target.refusal.is_some() || app.config.giving == Provider::Sandbox {
        return Ok(None);
    }
    let own = nonprofit_store::find_donate_url(&app.db, gift.nonprofit).await?;
    let view = app.directory.view();
    let nonprofit = view.find(&Identifier::Id(gift.nonprofit));
    let ein = nonprofit.and_then(|nonprofit| nonprofit.ein);
    let ein = ein.map(|ein| ein.to_string()).unwrap_or_default();
    let slug = nonprofit.map(|nonprofit| nonprofit.slug).unwrap_or_default();
    Ok(app.config.giving.payment_url(own.as_deref(), gift, &ein, slug))
}
