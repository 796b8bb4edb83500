//! The page of a monthly donation, where its donor changes, pauses or cancels it, and the form that emails a link to it.
//!
//! Whoever has the link can do all of that, so it goes only to the donor: in receipts and other emails. It expires after 60
//! days. The answer to the form is always the same, so it does not say who gives every month.

use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::site::checkout::form::path_of;
use crate::site::checkout::target::Target;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::texts::{MonthlyTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page, Section, guard};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use giving::checkout::receipt::format_date;
use giving::checkout::{State as DonationState, store as checkout};
use giving::donations::store as recorded;
use giving::monthly::manage::{self, Change, ChangeError};
use giving::monthly::token::{self, PATH};
use giving::monthly::{Cause, MonthlyGift, State as GiftState, store};
use giving::payments::error::PaymentError;
use giving::providers::stripe::client::StripeError;
use ipnet::IpNet;
use jiff::tz::TimeZone;
use platform::email_address::EmailAddress;
use platform::mail::Email;
use platform::money::Cents;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");
/// Payments that the page lists.
const MAX_HISTORY: i64 = 100;

#[derive(Template)]
#[template(path = "site/monthly.html")]
struct GiftPage {
    layout: Layout,
    gift: MonthlyGift,
    name: String,
    path: Option<String>,
    amount: String,
    badge: (&'static str, &'static str),
    next: Option<String>,
    started: String,
    card_expires: Option<String>,
    /// What was just changed.
    done: Option<&'static str>,
    /// What the state means for the donor.
    note: Option<String>,
    is_problem: bool,
    /// Why a change without fields was not made.
    error: Option<String>,
    change: Option<Form>,
    card: Option<Form>,
    pause: Option<Form>,
    resume: Option<Form>,
    cancel: Option<Form>,
    history: Vec<Row>,
    give_again: Option<String>,
}

/// A payment and where its receipt is.
struct Row {
    date: String,
    amount: String,
    path: String,
    is_refunded: bool,
}

/// `GET /donations/monthly`: the page of the gift that a `token` names, or the form that emails links.
pub async fn gift(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let Some(token) = values(&query, "token").next() else {
        return Ok(find_page(&app));
    };
    let Some(gift) = find(&app, &token).await? else {
        return Ok(stale_page());
    };
    let gift = manage::refresh(app.payments(), gift).await?;
    let done = values(&query, "done").next().unwrap_or_default();
    let shown = PageContent {
        token: &token,
        done: done_text(&Layout::new(Section::Other).f.monthly, &done),
        refused: None,
    };
    Ok(show(&app, gift, shown).await?.into_response(&app, StatusCode::OK))
}

/// `POST /donations/monthly`: changes the gift that a `token` names, or emails links.
pub async fn change(
    State(app): State<App>,
    Client { network, .. }: Client,
    RawQuery(query): RawQuery,
    data: FormData,
) -> Result<Response> {
    let Some(token) = values(&query, "token").next() else {
        return Ok(send(&app, network, &data));
    };
    let Some(gift) = find(&app, &token).await? else {
        return Ok(stale_page());
    };
    let refused = match DonorRequest::read(&app, &gift, &data) {
        Ok(DonorRequest::Card) => {
            match manage::card_page(app.payments(), &gift, &page_url(&app, &token, "card")).await {
                Ok(Some(url)) => return Ok(Redirect::to(&url).into_response()),
                Ok(None) => return Err(Error::NotFound),
                Err(error) => Refused::of(error)?,
            }
        }
        Ok(DonorRequest::Change(change)) => {
            match manage::change(app.settlement(), app.payments(), gift.clone(), change).await {
                Ok(()) => {
                    let page = page_path(&token, Some(name_of(change)));
                    return Ok(Redirect::to(&page).into_response());
                }
                Err(error) => Refused::of(error)?,
            }
        }
        Err(refused) => refused,
    };
    let shown = PageContent {
        token: &token,
        done: None,
        refused: Some((&data, refused)),
    };
    let page = show(&app, gift, shown).await?;
    Ok(page.into_response(&app, StatusCode::UNPROCESSABLE_ENTITY))
}

/// What a form asks for.
enum DonorRequest {
    Change(Change),
    Card,
}

/// Why it was not done.
struct Refused {
    /// The field that is wrong, if it is one.
    field: Option<&'static str>,
    text: String,
}

impl DonorRequest {
    fn read(app: &App, gift: &MonthlyGift, data: &FormData) -> std::result::Result<DonorRequest, Refused> {
        let layout = Layout::new(Section::Other);
        let (t, give) = (&layout.f.monthly, &layout.p.give);
        let invalid = |field, text: String| {
            Err(Refused {
                field: Some(field),
                text,
            })
        };
        match data.text("action") {
            "amount" => {
                let limits = app.config.amounts;
                let amount = match Cents::from_positive_dollars(data.trimmed("amount")) {
                    None => return invalid("amount", give.bad_amount.to_owned()),
                    Some(amount) if amount < limits.min => {
                        let text = fill(give.too_little, &[("min", &limits.min.to_string())]);
                        return invalid("amount", text);
                    }
                    Some(amount) if amount > limits.max => {
                        let text = fill(give.too_much, &[("max", &limits.max.to_string())]);
                        return invalid("amount", text);
                    }
                    Some(amount) => amount,
                };
                let covers = data.text("cover") == "yes" && can_cover(app, gift);
                let charged = if covers {
                    app.config.fee.cover(amount)
                } else {
                    amount
                };
                let covered = charged.plus(amount.reversed()).unwrap_or_default();
                Ok(DonorRequest::Change(Change::Amount {
                    amount: charged,
                    covered,
                }))
            }
            "pause" => match data.trimmed("months").parse() {
                Ok(months @ 1..=12) => Ok(DonorRequest::Change(Change::Pause { months })),
                _ => invalid("months", t.bad_months.to_owned()),
            },
            "resume" => Ok(DonorRequest::Change(Change::Resume)),
            "cancel" => Ok(DonorRequest::Change(Change::Cancel)),
            "card" => Ok(DonorRequest::Card),
            _ => Err(Refused {
                field: None,
                text: t.unknown.to_owned(),
            }),
        }
    }
}

impl Refused {
    fn of(error: ChangeError) -> Result<Refused> {
        let t = &Layout::new(Section::Other).f.monthly;
        let text = match error {
            ChangeError::Canceled => t.is_canceled.to_owned(),
            ChangeError::Months => t.bad_months.to_owned(),
            ChangeError::NoRecipient => t.no_recipient.to_owned(),
            ChangeError::OtherProvider => t.other_provider.to_owned(),
            ChangeError::Payment(PaymentError::Stripe(error)) => {
                tracing::warn!(%error, "a monthly gift was not changed");
                match error {
                    StripeError::Unavailable(_) => t.unavailable.to_owned(),
                    StripeError::Unknown(_) => t.unknown.to_owned(),
                    StripeError::Refused { error, .. } => {
                        let reason = error.message.as_deref().unwrap_or_default();
                        fill(t.refused, &[("reason", reason)])
                    }
                }
            }
            ChangeError::Payment(error) => return Err(error.into()),
        };
        Ok(Refused { field: None, text })
    }
}

const fn name_of(change: Change) -> &'static str {
    match change {
        Change::Amount { .. } => "amount",
        Change::Pause { .. } => "pause",
        Change::Resume => "resume",
        Change::Cancel => "cancel",
    }
}

fn done_text(t: &'static MonthlyTexts, done: &str) -> Option<&'static str> {
    match done {
        "amount" => Some(t.saved_amount),
        "pause" => Some(t.saved_pause),
        "resume" => Some(t.saved_resume),
        "cancel" => Some(t.saved_cancel),
        "card" => Some(t.saved_card),
        _ => None,
    }
}

/// Returns whether the donor can cover the fee: only Stripe takes one.
fn can_cover(app: &App, gift: &MonthlyGift) -> bool {
    app.payment_page().is_some() && gift.status.subscription.is_some()
}

async fn find(app: &App, token: &str) -> Result<Option<MonthlyGift>> {
    match token::parse(&app.secret, token, app.clock.millis()) {
        Some(id) => Ok(store::find(&app.db, id).await?),
        None => Ok(None),
    }
}

fn page_path(token: &str, done: Option<&str>) -> String {
    let done = done.map(|done| format!("&done={done}")).unwrap_or_default();
    format!("{PATH}?token={token}{done}")
}

fn page_url(app: &App, token: &str, done: &str) -> String {
    format!("{}{}", app.site.public_url, page_path(token, Some(done)))
}

fn stale_page() -> Response {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.receipts;
    let page = FormPage::without_form(layout, t.stale_title).lead(t.stale);
    (StatusCode::NOT_FOUND, page.link(PATH, t.again)).into_response()
}

fn find_form() -> Form {
    let t = &Layout::new(Section::Other).f.receipts;
    Form::new(
        PATH,
        t.send,
        vec![Field::email("email", t.email).hint(t.email_hint)],
    )
}

fn find_page(app: &App) -> Response {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.monthly;
    if app.mail.is_on() {
        FormPage::new(layout, t.find_title, find_form())
            .lead(t.find_lead)
            .into_response()
    } else {
        FormPage::without_form(layout, t.find_title)
            .lead(t.without_email)
            .into_response()
    }
}

/// Sends links, if there are gifts with the address.
fn send(app: &App, network: IpNet, data: &FormData) -> Response {
    let layout = Layout::new(Section::Other);
    let t = layout.f;
    let Ok(email) = EmailAddress::parse(data.trimmed("email")) else {
        let mut form = find_form().with_values(data);
        form.add_error("email", t.receipts.bad_email);
        return FormPage::new(layout, t.monthly.find_title, form)
            .lead(t.monthly.find_lead)
            .invalid();
    };
    let app = app.clone();
    // In the background, so that the time of the answer does not say whether there are gifts.
    tokio::spawn(async move {
        if let Err(error) = send_links(&app, &email, network).await {
            tracing::error!(%error, "failed to send links to monthly gifts");
        }
    });
    FormPage::without_form(layout, t.receipts.sent_title)
        .lead(t.monthly.sent)
        .into_response()
}

async fn send_links(app: &App, email: &EmailAddress, network: IpNet) -> Result<()> {
    let (per_hour, now) = (app.config.checkout.receipts_per_hour, app.clock.instant());
    let admitted = app
        .access
        .attempts
        .receipt_link(&email.mailbox(), per_hour as usize, network, now)
        .await;
    if admitted.is_err() || !app.mail.is_on() {
        return Ok(());
    }
    let t = &Layout::new(Section::Other).f.monthly;
    let mut gifts = String::new();
    for gift in store::list_by_email(&app.db, email).await? {
        let name = name_and_path(app, &gift).await?.0;
        // The token is in the query, which is never logged.
        let link = token::link(&app.site.public_url, &app.secret, gift.id, app.clock.millis());
        let values = [
            ("amount", gift.status.amount.to_string()),
            ("name", name),
            ("state", badge(t, gift.status.state).1.to_lowercase()),
            ("link", link),
        ];
        gifts.push_str(&fill(
            t.email_gift,
            &values.each_ref().map(|(key, value)| (*key, value.as_str())),
        ));
    }
    if !gifts.is_empty() {
        let text = fill(t.email_text, &[("gifts", &gifts)]);
        app.mail
            .send(&Email::new(email.to_string(), t.email_subject.to_owned(), text));
    }
    Ok(())
}

/// Returns the name of the recipient, and the path of its page.
async fn name_and_path(app: &App, gift: &MonthlyGift) -> Result<(String, Option<String>)> {
    let first = checkout::find(&app.db, gift.id).await?.ok_or(Error::NotFound)?;
    match Target::of(app, &first).await {
        Ok(target) => Ok((target.name, Some(target.path))),
        Err(Error::NotFound) => Ok((gift.nonprofit.to_string(), None)),
        Err(error) => Err(error),
    }
}

fn badge(t: &MonthlyTexts, state: GiftState) -> (&'static str, &'static str) {
    match state {
        GiftState::Active => ("badge-good", t.active),
        GiftState::PastDue => ("badge-bad", t.past_due),
        GiftState::Paused => ("badge-warn", t.paused),
        GiftState::Canceled => ("", t.canceled),
    }
}

/// What the page shows besides the gift.
struct PageContent<'a> {
    token: &'a str,
    done: Option<&'static str>,
    refused: Option<(&'a FormData, Refused)>,
}

async fn show(app: &App, gift: MonthlyGift, shown: PageContent<'_>) -> Result<GiftPage> {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.monthly;
    let (name, path) = name_and_path(app, &gift).await?;
    let status = &gift.status;
    let date = |at: i64| format_date(at, &app.config.time_zone);
    let next = status.next_charge_at().filter(|_| status.cause.is_none());
    let forms = Forms::new(app, t, &gift, &shown);
    let is_canceled = status.state == GiftState::Canceled;
    let is_problem = status.state == GiftState::PastDue || status.cause == Some(Cause::Payment);
    Ok(GiftPage {
        amount: status.amount.to_string(),
        badge: badge(t, status.state),
        next: next.map(date),
        started: date(gift.started_at),
        // The last day on which it can be charged.
        card_expires: status
            .card_expires_at
            .map(|at| format_date(at - 1, &TimeZone::UTC)),
        // What was just changed says the same, unless a payment has failed.
        note: note(t, &gift, &name, date).filter(|_| is_problem || shown.done.is_none()),
        is_problem,
        done: shown.done,
        error: forms.error,
        change: forms.change,
        card: forms.card,
        pause: forms.pause,
        resume: forms.resume,
        cancel: forms.cancel,
        history: history(app, &gift).await?,
        give_again: path
            .as_ref()
            .filter(|_| is_canceled)
            .map(|path| format!("{path}/give?frequency=monthly")),
        name,
        path,
        gift,
        layout,
    })
}

/// Says what the state of a gift means for its donor.
fn note(t: &MonthlyTexts, gift: &MonthlyGift, name: &str, date: impl Fn(i64) -> String) -> Option<String> {
    let status = &gift.status;
    let failure = status.failure.as_ref().map(|failure| {
        let about = fill(t.about_failure, &[("reason", &failure.reason)]);
        let next = failure
            .next_attempt_at
            .map(|at| fill(t.retry, &[("date", &date(at))]));
        format!("{about} {}", next.unwrap_or_else(|| t.no_retry.to_owned()))
    });
    match (status.state, status.cause) {
        (GiftState::Active, _) => None,
        (GiftState::Canceled, _) => Some(t.about_cancel.to_owned()),
        (GiftState::Paused, Some(Cause::Recipient)) => Some(fill(t.about_no_recipient, &[("name", name)])),
        (GiftState::Paused, None) => Some(t.about_pause.to_owned()),
        (GiftState::PastDue | GiftState::Paused, _) => failure,
    }
}

async fn history(app: &App, gift: &MonthlyGift) -> Result<Vec<Row>> {
    let donations = checkout::list_of_monthly_gift(&app.db, gift.id, MAX_HISTORY).await?;
    let mut rows = Vec::new();
    for donation in donations {
        if !donation.state.is_paid() {
            continue;
        }
        let donation = recorded::as_recorded(&app.db, donation).await?;
        rows.push(Row {
            date: format_date(
                donation.payment.paid_at.unwrap_or(donation.started_at),
                &app.config.time_zone,
            ),
            amount: donation.amount.to_string(),
            path: path_of(donation.receipt_id),
            is_refunded: matches!(donation.state, DonationState::Refunded | DonationState::Disputed),
        });
    }
    Ok(rows)
}

/// The forms of the page: those that the state of the gift allows.
struct Forms {
    error: Option<String>,
    change: Option<Form>,
    card: Option<Form>,
    pause: Option<Form>,
    resume: Option<Form>,
    cancel: Option<Form>,
}

impl Forms {
    fn new(app: &App, t: &'static MonthlyTexts, gift: &MonthlyGift, shown: &PageContent<'_>) -> Forms {
        let status = &gift.status;
        let is_canceled = status.state == GiftState::Canceled;
        let action = page_path(shown.token, None);
        let form = |name: &'static str, submit, mut fields: Vec<Field>| {
            fields.push(Field::hidden("action", name));
            let mut form = Form::new(action.clone(), submit, fields);
            if let Some((data, refused)) = &shown.refused
                && let Some(field) = refused.field
                && data.text("action") == name
            {
                form = form.with_values(data);
                form.add_error(field, refused.text.clone());
            }
            form
        };
        let months = Field::number("months", t.months).value("1").hint(t.months_hint);
        let no_field = shown
            .refused
            .as_ref()
            .filter(|(_, refused)| refused.field.is_none());
        Forms {
            error: no_field.map(|(_, refused)| refused.text.clone()),
            change: (!is_canceled).then(|| form("amount", t.change, amount_fields(app, t, gift))),
            card: (!is_canceled && status.customer.is_some()).then(|| form("card", t.card, Vec::new())),
            pause: (status.state == GiftState::Active).then(|| form("pause", t.pause, vec![months])),
            resume: (status.state == GiftState::Paused && status.cause.is_none())
                .then(|| form("resume", t.resume, Vec::new())),
            cancel: (!is_canceled).then(|| form("cancel", t.cancel, Vec::new()).dangerous()),
        }
    }
}

fn amount_fields(app: &App, t: &MonthlyTexts, gift: &MonthlyGift) -> Vec<Field> {
    let give = &Layout::new(Section::Other).p.give;
    let status = &gift.status;
    let whole = status
        .amount
        .plus(status.covered.reversed())
        .unwrap_or(status.amount);
    let mut fields = vec![
        Field::text("amount", t.amount)
            .value(whole.to_input_value())
            .hint(t.change_hint),
    ];
    if can_cover(app, gift) {
        let fee = app.config.fee.to_string();
        let choices = vec![
            Choice::new("no", give.keep_amount, give.keep_amount_hint),
            Choice::new("yes", give.cover, fill(give.cover_hint, &[("fee", &fee)])),
        ];
        let is_covered = status.covered > Cents::ZERO;
        fields.push(
            Field::choice("cover", give.cover_question, choices).value(if is_covered { "yes" } else { "no" }),
        );
    }
    fields
}

impl GiftPage {
    /// Renders the page with the policy that lets its form lead to the page for a new card.
    fn into_response(self, app: &App, status: StatusCode) -> Response {
        let portal = app
            .payment_page()
            .is_some()
            .then(|| app.config.stripe.portal_origin());
        let policy = guard::policy(portal, None);
        let mut response = (status, Page(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(ROBOTS_TAG, HeaderValue::from_static("noindex"));
        response
    }
}
