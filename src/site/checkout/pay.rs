//! The payment page of a donation, and its receipt. Every step says whether money moves.
//!
//! Both are at `/donations/{receipt ID}`. Whoever knows this URL sees the receipt, so it goes to nobody but the donor:
//! partners, payment links and exports get the ID of the donation instead.

use super::embedding::Embedder;
use super::target::Target;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery};
use crate::site::checkout::form::{path_of, path_within, redirect_to_donation};
use crate::site::find::redirect_permanently;
use crate::site::share_links::ShareLinks;
use crate::web::texts::GiveTexts;
use crate::web::{Field, Form, FormData, Layout, Page, Section, guard};
use access::origins::ReturnUrl;
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store as nonprofit_store;
use giving::checkout::partner::ReturnUrls;
use giving::checkout::receipt::{NO_GOODS_OR_SERVICES, Receipt};
use giving::checkout::{Donation, State as DonationState, store};
use giving::ledger::entry::Mode;
use giving::providers::link::Payment;
use giving::providers::test::{CardResult, charge};
use uuid::Uuid;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "site/checkout/payment.html")]
struct DonationPage {
    layout: Layout,
    title: &'static str,
    name: String,
    path: String,
    donation: Donation,
    /// Once the donation is in the ledger.
    receipt: Option<Receipt>,
    /// Whether the receipt is emailed to the donor.
    is_emailed: bool,
    /// Says that no money is charged, or was charged.
    test_notice: Option<&'static str>,
    pay: Option<Form>,
    elsewhere: Option<String>,
    /// Why the donation cannot be paid on another site now.
    refusal: Option<&'static str>,
    return_urls: ReturnUrls,
    /// Once it is completed.
    share: Option<ShareLinks>,
    /// The URL and host of the partner's page to return to.
    back: Option<(String, String)>,
    /// The page of a partner that shows this page in a dialog.
    embedder: Option<Embedder>,
}

/// `GET /donations/{id}`: the payment page until the donation is paid, then the receipt.
pub async fn donation(
    State(app): State<App>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let donation = app.settlement().settle(find(&app, &id).await?).await?;
    let target = Target::of(&app, &donation).await?;
    let embedder = Embedder::find(&app, &query).await?;
    let form = pay_form(&donation, embedder.as_ref());
    show(&app, StatusCode::OK, donation, target, form, embedder).await
}

/// `POST /donations/{id}`: pays with a test card, then redirects to the success URL of the partner, if any.
pub async fn pay(
    State(app): State<App>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
    data: FormData,
) -> Result<Response> {
    let donation = find(&app, &id).await?;
    let embedder = Embedder::find(&app, &query).await?;
    if !can_be_paid(&app, &donation) || !app.is_test_mode() {
        let donation = app.settlement().settle(donation).await?;
        return redirect_after_payment(&app, &donation, embedder.as_ref()).await;
    }
    let (target, now) = (Target::of(&app, &donation).await?, app.clock.millis());
    let t = &Layout::new(Section::Other).p.give;
    let mut form = pay_form(&donation, embedder.as_ref()).with_values(&data);
    if let Some(refusal) = target.refusal {
        form.add_form_error(refusal);
        return show(
            &app,
            StatusCode::UNPROCESSABLE_ENTITY,
            donation,
            target,
            form,
            embedder,
        )
        .await;
    }
    let result = charge(data.text("card"));
    let Some(error) = refusal(result, t) else {
        store::pay(&app.db, donation.id, now).await?;
        // It may have expired meanwhile.
        let donation = store::find(&app.db, donation.id).await?.ok_or(Error::NotFound)?;
        let donation = app.settlement().settle(donation).await?;
        return redirect_after_payment(&app, &donation, embedder.as_ref()).await;
    };
    let status = match result {
        CardResult::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    if matches!(result, CardResult::Declined | CardResult::InsufficientFunds) {
        store::fail(&app.db, donation.id, error, now).await?;
    }
    form.add_error("card", error);
    show(&app, status, donation, target, form, embedder).await
}

/// Returns whether the donor can pay now. A donation that was started in test mode is never paid with real money, nor the
/// other way around.
fn can_be_paid(app: &App, donation: &Donation) -> bool {
    donation.is_open() && donation.mode == app.config.giving.mode()
}

/// Returns the message for the donor if the card was not charged.
fn refusal(result: CardResult, t: &GiveTexts) -> Option<&'static str> {
    match result {
        CardResult::Paid => None,
        CardResult::Declined => Some(t.declined),
        CardResult::InsufficientFunds => Some(t.no_funds),
        CardResult::Unavailable => Some(t.down),
        CardResult::InvalidNumber => Some(t.no_card),
    }
}

/// `GET /gifts/{id}`: the former URL.
pub async fn former_url(PathText(id): PathText) -> Result<Response> {
    let receipt_id = Uuid::try_parse(&id).map_err(|_| Error::NotFound)?;
    Ok(redirect_permanently(&path_of(receipt_id), None))
}

async fn find(app: &App, text: &str) -> Result<Donation> {
    let receipt_id = Uuid::try_parse(text).map_err(|_| Error::NotFound)?;
    store::find_by_receipt(&app.db, receipt_id)
        .await?
        .ok_or(Error::NotFound)
}

/// Redirects after a payment: to the partner, or to the receipt. A dialog on the partner's own page shows the receipt.
async fn redirect_after_payment(
    app: &App,
    donation: &Donation,
    embedder: Option<&Embedder>,
) -> Result<Response> {
    if embedder.is_some() {
        return Ok(redirect_to_donation(donation.receipt_id, embedder));
    }
    let return_urls = donation
        .partner
        .return_urls(&app.db, app.trusts_localhost())
        .await?;
    Ok(match return_urls.success {
        Some(url) if donation.state == DonationState::Completed => {
            Redirect::to(&donation.partner.append_to(&url, Some(donation.id))).into_response()
        }
        _ => redirect_to_donation(donation.receipt_id, None),
    })
}

fn pay_form(donation: &Donation, embedder: Option<&Embedder>) -> Form {
    let t = &Layout::new(Section::Other).p.give;
    let card = Field::text("card", t.card).hint(t.card_hint);
    Form::new(path_within(donation.receipt_id, embedder), t.pay, vec![card])
}

async fn show(
    app: &App,
    status: StatusCode,
    donation: Donation,
    target: Target,
    form: Form,
    embedder: Option<Embedder>,
) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.p.give;
    let is_test_mode = app.is_test_mode();
    let can_be_paid = can_be_paid(app, &donation);
    // A receipt says how the donation was paid, whatever the provider is now.
    let test_notice = match donation.mode {
        _ if can_be_paid => is_test_mode.then_some(t.test_mode),
        Mode::Live => None,
        Mode::Test => Some(t.test_receipt),
    };
    let return_urls = donation
        .partner
        .return_urls(&app.db, app.trusts_localhost())
        .await?;
    let back = match donation.state {
        DonationState::Completed => &return_urls.success,
        _ => &return_urls.exit,
    };
    let policy = return_urls.success.as_ref().filter(|_| donation.is_open());
    let policy = guard::policy(
        policy.map(ReturnUrl::origin),
        embedder.as_ref().map(Embedder::origin),
    );
    let receipt = match donation.entry {
        Some(entry) => Receipt::find(&app.db, &app.directory, &app.config.time_zone, entry).await?,
        None => None,
    };
    let page = DonationPage {
        is_emailed: app.mail.is_on()
            && donation.email.is_some()
            && donation.state == DonationState::Completed,
        receipt,
        title: match donation.state {
            DonationState::Started | DonationState::Failed => t.pay_title,
            DonationState::Processing | DonationState::Pending => t.pending_title,
            DonationState::Completed => t.receipt_title,
            DonationState::Expired => t.expired_title,
            DonationState::Refunded => t.refunded_title,
            DonationState::Disputed => t.disputed_title,
        },
        pay: (can_be_paid && is_test_mode).then_some(form),
        refusal: match target.refusal {
            Some(refusal) => (donation.is_open() && !is_test_mode).then_some(refusal),
            None => (donation.is_open() && !can_be_paid).then_some(t.start_again),
        },
        elsewhere: elsewhere(app, &donation, &target).await?,
        back: back.as_ref().map(|url| {
            let host = url.origin().host().to_owned();
            (donation.partner.append_to(url, Some(donation.id)), host)
        }),
        // Not for a fundraiser that was hidden or has ended since, and not in a dialog on another site.
        share: (donation.state == DonationState::Completed && target.refusal.is_none() && embedder.is_none())
            .then(|| ShareLinks::new(&target.name, app.site.urls.page(&target.path))),
        name: target.name,
        path: target.path,
        return_urls,
        donation,
        test_notice,
        embedder,
        layout,
    };
    let is_paid = !page.donation.is_open();
    let mut response = (status, Page(page)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(ROBOTS_TAG, HeaderValue::from_static("noindex"));
    if is_paid {
        // The payment page needs a referrer for itself: without one, browsers send its form with the origin "null".
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    Ok(response)
}

/// Returns the URL of the payment page, if the donation is paid on another site.
async fn elsewhere(app: &App, donation: &Donation, target: &Target) -> Result<Option<String>> {
    if !can_be_paid(app, donation) || target.refusal.is_some() || app.is_test_mode() {
        return Ok(None);
    }
    let own = nonprofit_store::find_donate_url(&app.db, donation.nonprofit).await?;
    let view = app.directory.view();
    let nonprofit = view.find(&Identifier::Id(donation.nonprofit));
    let ein = nonprofit.and_then(|nonprofit| nonprofit.ein);
    let ein = ein.map(|ein| ein.to_string()).unwrap_or_default();
    let slug = nonprofit.map(|nonprofit| nonprofit.slug).unwrap_or_default();
    let payment = Payment {
        donation: donation.id,
        amount: donation.amount,
        ein: &ein,
        slug,
    };
    Ok(app.config.giving.payment_url(own.as_deref(), &payment))
}
