//! The payment page of a donation, and its receipt. Every step says whether money moves.
//!
//! Both are at `/donations/{receipt ID}`. Whoever knows this URL sees the receipt, so it goes to nobody but the donor:
//! partners, payment links and exports get the ID of the donation instead.

use super::check::{self, Challenge, Outcome};
use super::embedding::Embedder;
use super::target::Target;
use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery, values};
use crate::site::checkout::again;
use crate::site::checkout::form::{ROBOTS_TAG, path_of, path_within, redirect_to_donation};
use crate::site::find::redirect_permanently;
use crate::site::own_site::Website;
use crate::web::share_links::ShareLinks;
use crate::web::texts::{GiveTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page, Section, guard};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store as nonprofit_store;
use giving::checkout::partner::ReturnUrls;
use giving::checkout::receipt::{DONEE_IS_CHARITY, NO_GOODS_OR_SERVICES, Receipt};
use giving::checkout::{Donation, State as DonationState, store};
use giving::ledger::entry::Mode;
use giving::monthly::{self, token};
use giving::payments::Payments;
use giving::payments::error::PaymentError;
use giving::providers::Provider;
use giving::providers::link::Payment;
use giving::providers::test::{CardResult, charge};
use uuid::Uuid;

/// The parameter of the URL to which donors return after they have paid.
const RETURNED: &str = "paid";

#[derive(Template)]
#[template(path = "site/checkout/payment.html")]
struct DonationPage {
    layout: Layout,
    title: &'static str,
    /// The URL of this site, which issues the receipt.
    site_url: String,
    name: String,
    path: String,
    donation: Donation,
    /// Once the donation is in the ledger.
    receipt: Option<Receipt>,
    /// The page of its monthly gift.
    manage_monthly: Option<String>,
    /// Whether the receipt is emailed to the donor.
    is_emailed: bool,
    /// Says that no money is charged, or was charged.
    test_notice: Option<&'static str>,
    pay: Option<Form>,
    /// What is asked of the donor first.
    asked: Option<Challenge>,
    /// Whether the last attempt to pay failed.
    has_failed: bool,
    /// Where it is paid instead, and the label of the link.
    elsewhere: Option<(String, String)>,
    /// The form with the values of a donation that can no longer be paid.
    start_again: Option<String>,
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
    let donation = refresh(&app, find(&app, &id).await?).await?;
    let donation = app.settlement().settle(donation).await?;
    let embedder = Embedder::find(&app, &query).await?;
    if values(&query, RETURNED).next().is_some() && donation.state == DonationState::Completed {
        let return_urls = donation
            .partner
            .return_urls(&app.db, app.trusts_localhost())
            .await?;
        if let Some(url) = return_urls.success {
            return Ok(Redirect::to(&donation.partner.append_to(&url, Some(donation.id))).into_response());
        }
    }
    let target = Target::of(&app, &donation).await?;
    let form = pay_form(&app, &donation, embedder.as_ref());
    let asked = (donation.screening.is_held() && can_be_paid(&app, &donation))
        .then(|| Challenge::new(&app, &donation, values(&query, check::TOKEN).next().as_deref()));
    show_with(&app, StatusCode::OK, donation, target, form, embedder, asked).await
}

/// Returns what pays at Stripe, if that is the provider now.
fn stripe(app: &App) -> Option<Payments<'_>> {
    app.payments().filter(|_| app.payment_page().is_some())
}

/// Asks Stripe what became of a donation that is not paid yet. If Stripe cannot be reached, the page shows what is known.
async fn refresh(app: &App, donation: Donation) -> Result<Donation> {
    let Some(payments) = app.payments() else {
        return Ok(donation);
    };
    match payments.refresh(donation.clone()).await {
        Err(PaymentError::Stripe(error)) => {
            tracing::warn!(%error, donation = %donation.id, "could not ask Stripe about a donation");
            Ok(donation)
        }
        refreshed => Ok(refreshed?),
    }
}

/// `POST /donations/{id}`: leads to the payment page of Stripe, or pays with a test card and redirects to the success URL of the
/// partner, if any.
pub async fn pay(
    State(app): State<App>,
    client: Client,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
    data: FormData,
) -> Result<Response> {
    let mut donation = find(&app, &id).await?;
    let embedder = Embedder::find(&app, &query).await?;
    if donation.screening.is_held() && can_be_paid(&app, &donation) {
        match check::submit(&app, client, &donation, &data).await? {
            Outcome::Passed => donation = find(&app, &id).await?,
            Outcome::Challenged(asked) => {
                let target = Target::of(&app, &donation).await?;
                let form = pay_form(&app, &donation, embedder.as_ref());
                return show_with(
                    &app,
                    asked.status(),
                    donation,
                    target,
                    form,
                    embedder,
                    Some(*asked),
                )
                .await;
            }
        }
    }
    if let Some(page) = failed_monthly_gift(&app, &donation).await? {
        return Ok(Redirect::to(&page).into_response());
    }
    if let (Some(payments), true) = (stripe(&app), can_be_paid(&app, &donation)) {
        return match payments.open_session(&donation).await {
            Ok(url) => Ok(Redirect::to(&url).into_response()),
            Err(PaymentError::Closed) => Ok(redirect_to_donation(donation.receipt_id, embedder.as_ref())),
            Err(error) => Err(error.into()),
        };
    }
    if !can_be_paid(&app, &donation) || app.config.giving != Provider::Test {
        let donation = app.settlement().settle(donation).await?;
        return redirect_after_payment(&app, &donation, embedder.as_ref()).await;
    }
    let (target, now) = (Target::of(&app, &donation).await?, app.clock.millis());
    let t = &Layout::new(Section::Other).p.give;
    let mut form = pay_form(&app, &donation, embedder.as_ref()).with_values(&data);
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
/// other way around. One that was started with another provider may still be paid there.
fn can_be_paid(app: &App, donation: &Donation) -> bool {
    let provider = &app.config.giving;
    donation.is_open() && donation.mode == provider.mode() && donation.provider == provider.name()
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

fn pay_form(app: &App, donation: &Donation, embedder: Option<&Embedder>) -> Form {
    let t = &Layout::new(Section::Other).p.give;
    if app.payment_page().is_some() {
        // The payment page cannot be shown in a dialog of another page.
        return Form::new(path_of(donation.receipt_id), t.elsewhere, Vec::new()).in_top_window();
    }
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
    show_with(app, status, donation, target, form, embedder, None).await
}

/// Shows the page of a donation, with what is asked of the donor before the payment page opens.
async fn show_with(
    app: &App,
    status: StatusCode,
    donation: Donation,
    target: Target,
    form: Form,
    embedder: Option<Embedder>,
    asked: Option<Challenge>,
) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.p.give;
    let is_test_mode = app.is_test_mode();
    let can_be_paid = can_be_paid(app, &donation);
    let has_test_cards = app.config.giving == Provider::Test;
    let is_paid_here = has_test_cards || app.payment_page().is_some();
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
    let success = return_urls.success.as_ref().map(|url| url.origin().as_str());
    let form_actions = success
        .into_iter()
        .chain(app.payment_page())
        .filter(|_| donation.is_open());
    let policy = guard::policy(form_actions, embedder.as_ref().map(Embedder::origin));
    let receipt = match donation.entry {
        Some(entry) => {
            let dated = (&app.config.time_zone, app.config.recipient.as_ref());
            Receipt::find(&app.db, &app.directory, dated, &donation, entry).await?
        }
        None => None,
    };
    let monthly_page = failed_monthly_gift(app, &donation).await?;
    let start_again = start_again(app, &donation, &target, embedder.as_ref());
    let page = DonationPage {
        manage_monthly: manage_monthly(app, &donation),
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
        pay: (can_be_paid && is_paid_here && (has_test_cards || target.refusal.is_none()))
            .then_some(form)
            .filter(|_| asked.is_none() && monthly_page.is_none()),
        asked: asked.filter(|_| target.refusal.is_none()),
        has_failed: can_be_paid && donation.state == DonationState::Failed && !has_test_cards,
        refusal: match target.refusal {
            Some(refusal) => (donation.is_open() && !has_test_cards).then_some(refusal),
            None => (donation.is_open() && !can_be_paid).then_some(t.not_payable),
        },
        elsewhere: match monthly_page {
            Some(page) => Some((page, layout.f.monthly.card.to_owned())),
            None => elsewhere(app, &donation, &target).await?,
        },
        start_again,
        back: back.as_ref().map(|url| {
            let host = url.origin().host().to_owned();
            (donation.partner.append_to(url, Some(donation.id)), host)
        }),
        // Not for a fundraiser that was hidden or has ended since, and not in a dialog on another site.
        share: (donation.state == DonationState::Completed && target.refusal.is_none() && embedder.is_none())
            .then(|| ShareLinks::new(&target.name, app.site.urls.page(&target.path))),
        site_url: app.site.urls.public().to_owned(),
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

/// Returns the path of the page of a donation's monthly gift. The link works as long as the one in the email with the receipt,
/// and then leads to the form for a new one.
fn manage_monthly(app: &App, donation: &Donation) -> Option<String> {
    let paid_at = donation.payment.paid_at.unwrap_or(donation.started_at);
    let until = paid_at.saturating_add(token::LINK_MILLIS);
    let token = token::create(&app.secret, donation.monthly_gift?, until);
    Some(format!("{}?token={token}", token::PATH))
}

/// Returns the path of the page of the monthly gift that a donation has started, if its first payment failed afterwards. There the
/// donor enters another card: another visit of the payment page would start another gift.
async fn failed_monthly_gift(app: &App, donation: &Donation) -> Result<Option<String>> {
    if !donation.is_open() || !donation.starts_monthly_gift() {
        return Ok(None);
    }
    let gift = monthly::store::find(&app.db, donation.id).await?;
    let gift = gift.filter(|gift| gift.status.state != monthly::State::Canceled);
    Ok(gift.and_then(|_| manage_monthly(app, donation)))
}

/// Returns the form with the values of a donation that can no longer be paid.
fn start_again(
    app: &App,
    donation: &Donation,
    target: &Target,
    embedder: Option<&Embedder>,
) -> Option<String> {
    let is_over = donation.state == DonationState::Expired || donation.is_open();
    if !is_over || can_be_paid(app, donation) || target.refusal.is_some() {
        return None;
    }
    let form = format!("{}/give", target.path);
    let query = again::query(donation);
    Some(match embedder {
        Some(embedder) => format!("{}&{query}", embedder.add_to(&form)),
        None => format!("{form}?{query}"),
    })
}

/// Returns the URL of the payment page and the label of the link, if the donation is paid on another site.
async fn elsewhere(app: &App, donation: &Donation, target: &Target) -> Result<Option<(String, String)>> {
    if !can_be_paid(app, donation)
        || target.refusal.is_some()
        || !matches!(app.config.giving, Provider::Link(_))
    {
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
    let t = &Layout::new(Section::Other).p.give;
    let url = app.config.giving.payment_url(own.as_deref(), &payment);
    Ok(url.map(|url| {
        let site = Website::new(&url);
        let label = site.map(|site| fill(t.continue_on, &[("host", &site.host)]));
        (url, label.unwrap_or_else(|| t.elsewhere.to_owned()))
    }))
}
