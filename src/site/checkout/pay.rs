//! The payment page of a donation, and its receipt. Every step says whether money moves.

use super::target::Target;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::checkout::form::redirect_to_donation;
use crate::web::texts::GiveTexts;
use crate::web::{Field, Form, FormData, Layout, Page, Section, guard};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Redirect, Response};
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store as nonprofit_store;
use giving::ledger::entry::Mode;
use giving::payments::partner::ReturnUrls;
use giving::payments::provider::{CardResult, try_card};
use giving::payments::{Donation, State as DonationState, store};
use uuid::Uuid;

#[derive(Template)]
#[template(path = "site/checkout/payment.html")]
struct DonationPage {
    layout: Layout,
    title: &'static str,
    name: String,
    path: String,
    donation: Donation,
    /// Says that no money is charged, or was charged.
    test_notice: Option<&'static str>,
    pay: Option<Form>,
    elsewhere: Option<String>,
    /// Why the donation cannot be paid on another site now.
    refusal: Option<&'static str>,
    return_urls: ReturnUrls,
    /// The URL and host of the partner's page to return to.
    back: Option<(String, String)>,
}

/// `GET /gifts/{id}`: the payment page until the donation is paid, then the receipt.
pub async fn donation(State(app): State<App>, PathText(id): PathText) -> Result<Response> {
    let donation = app.settlement().settle(find(&app, &id).await?).await?;
    let target = Target::of(&app, &donation).await?;
    let form = pay_form(&donation);
    show(&app, StatusCode::OK, donation, target, form).await
}

/// `POST /gifts/{id}`: pays with a test card, then redirects to the success URL of the partner, if any.
pub async fn pay(State(app): State<App>, PathText(id): PathText, data: FormData) -> Result<Response> {
    let donation = find(&app, &id).await?;
    if !donation.is_open() || !app.is_test_mode() {
        return redirect_after_payment(&app, &app.settlement().settle(donation).await?).await;
    }
    let (target, now) = (Target::of(&app, &donation).await?, app.clock.millis());
    let t = &Layout::new(Section::Other).p.give;
    let mut form = pay_form(&donation).with_values(&data);
    if let Some(refusal) = target.refusal {
        form.add_form_error(refusal);
        return show(&app, StatusCode::UNPROCESSABLE_ENTITY, donation, target, form).await;
    }
    let answer = try_card(data.text("card"));
    let Some(error) = refusal(answer, t) else {
        store::pay(&app.db, donation.id, &app.config.giving, now).await?;
        let donation = store::find(&app.db, donation.id).await?.ok_or(Error::Internal)?;
        return redirect_after_payment(&app, &app.settlement().settle(donation).await?).await;
    };
    let status = match answer {
        CardResult::Down => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    if matches!(answer, CardResult::Declined | CardResult::NoFunds) {
        store::fail(&app.db, donation.id, error, now).await?;
    }
    form.add_error("card", error);
    show(&app, status, donation, target, form).await
}

/// Returns the message for the donor if the card was not charged.
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

/// Redirects after a payment: to the partner, or to the receipt.
async fn redirect_after_payment(app: &App, donation: &Donation) -> Result<Response> {
    let return_urls = donation.partner.return_urls(&app.db).await?;
    Ok(match return_urls.success {
        Some(url) if donation.state == DonationState::Completed => {
            Redirect::to(&donation.partner.append_to(&url, Some(donation.id))).into_response()
        }
        _ => redirect_to_donation(donation.id),
    })
}

fn pay_form(donation: &Donation) -> Form {
    let t = &Layout::new(Section::Other).p.give;
    let card = Field::text("card", t.card).hint(t.card_hint);
    Form::new(format!("/gifts/{}", donation.id), t.pay, vec![card])
}

async fn show(
    app: &App,
    status: StatusCode,
    donation: Donation,
    target: Target,
    form: Form,
) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.p.give;
    let is_test_mode = app.is_test_mode();
    // A receipt says how the donation was paid, whatever the provider is now.
    let test_notice = match donation.mode {
        _ if donation.is_open() => is_test_mode.then_some(t.test_mode),
        Mode::Live => None,
        Mode::Test => Some(t.test_receipt),
    };
    let return_urls = donation.partner.return_urls(&app.db).await?;
    let back = match donation.state {
        DonationState::Completed => &return_urls.success,
        _ => &return_urls.exit,
    };
    let policy = return_urls.success.as_ref().filter(|_| donation.is_open());
    let policy = policy.map(|url| guard::policy_with_form_action(url.origin()));
    let page = DonationPage {
        title: match donation.state {
            DonationState::Started | DonationState::Failed => t.pay_title,
            DonationState::Pending => t.pending_title,
            DonationState::Completed => t.receipt_title,
            DonationState::Refunded => t.refunded_title,
        },
        pay: (donation.is_open() && is_test_mode).then_some(form),
        refusal: target.refusal.filter(|_| donation.is_open() && !is_test_mode),
        elsewhere: elsewhere(app, &donation, &target).await?,
        back: back.as_ref().map(|url| {
            let host = url.origin().host().to_owned();
            (donation.partner.append_to(url, Some(donation.id)), host)
        }),
        name: target.name,
        path: target.path,
        return_urls,
        donation,
        test_notice,
        layout,
    };
    let mut response = (status, Page(page)).into_response();
    if let Some(policy) = policy {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// Returns the URL of the payment page, if the donation is paid on another site.
async fn elsewhere(app: &App, donation: &Donation, target: &Target) -> Result<Option<String>> {
    if !donation.is_open() || target.refusal.is_some() || app.is_test_mode() {
        return Ok(None);
    }
    let own = nonprofit_store::find_donate_url(&app.db, donation.nonprofit).await?;
    let view = app.directory.view();
    let nonprofit = view.find(&Identifier::Id(donation.nonprofit));
    let ein = nonprofit.and_then(|nonprofit| nonprofit.ein);
    let ein = ein.map(|ein| ein.to_string()).unwrap_or_default();
    let slug = nonprofit.map(|nonprofit| nonprofit.slug).unwrap_or_default();
    Ok(app
        .config
        .giving
        .payment_url(own.as_deref(), donation, &ein, slug))
}
