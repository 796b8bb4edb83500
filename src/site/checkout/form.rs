//! The donation form. A donate link can fill it in; a form with errors is shown again with the submitted values.

use super::embedding::Embedder;
use super::link::{DonateLink, Frequency};
use super::target::Target;
use super::{MAX_MESSAGE_CHARS, MAX_NAME_CHARS, again, dedication, money};
use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, RawQuery};
use crate::site::own_site::OwnSite;
use crate::web::form::Choice;
use crate::web::form::amounts::submitted;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Meta, Page, Section, guard};
use access::limits::Class;
use access::limits::call::Call;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::checkout::amounts::AmountLimits;
use giving::checkout::partner::{Partner, ReturnUrls};
use giving::checkout::start::StartDonation;
use giving::checkout::store;
use giving::providers::Provider;
use giving::webhooks::endpoints;
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use platform::money::Cents;
use uuid::Uuid;

pub(super) const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");
/// The values of the frequency, as donate links have them.
const ONCE: &str = "once";
const MONTHLY: &str = "monthly";

#[derive(Template)]
#[template(path = "site/checkout/form.html")]
struct DonationForm {
    layout: Layout,
    meta: Meta,
    name: String,
    path: String,
    refusal: Option<&'static str>,
    /// Where people can give instead, if this server does not accept donations.
    own_site: Option<OwnSite>,
    link: DonateLink,
    /// Why the frequency that the link asks for is not offered.
    frequency_note: Option<&'static str>,
    /// Says that the way to pay that the link asks for is not offered.
    method_note: Option<String>,
    is_test_mode: bool,
    form: Form,
    return_urls: ReturnUrls,
    /// The URL and host of the partner's page for people who leave without giving.
    exit: Option<(String, String)>,
    /// The page of a partner that shows the form in a dialog.
    embedder: Option<Embedder>,
    /// The origin of the page to which the form leads.
    payment_page: Option<String>,
}

impl DonationForm {
    /// Renders the form with the policy that lets only its embedder show it in a frame, and that lets it lead to the payment
    /// page.
    fn into_response(self, status: StatusCode) -> Response {
        let policy = guard::policy(
            self.payment_page.as_deref(),
            self.embedder.as_ref().map(Embedder::origin),
        );
        let mut response = (status, Page(self)).into_response();
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        response
    }
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
    client: Client,
    PathText(nonprofit): PathText,
    RawQuery(query): RawQuery,
    data: FormData,
) -> Result<Response> {
    let target = Target::nonprofit(&app, &nonprofit).await?;
    start(&app, client, target, &query, &data).await
}

/// `POST /{nonprofit}/f/{fundraiser}/give`
pub async fn start_for_fundraiser(
    State(app): State<App>,
    client: Client,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
    data: FormData,
) -> Result<Response> {
    let target = Target::fundraiser(&app, &nonprofit, &name).await?;
    start(&app, client, target, &query, &data).await
}

async fn show(app: &App, target: Target, query: &str) -> Result<Response> {
    let earlier = again::find(app, &target, query).await?;
    let link = DonateLink::parse(query)?.continuing(earlier.as_ref());
    let mut form = form(app, &target, &link, new_token());
    if let Some(earlier) = &earlier {
        form = form.with_values(&again::form_values(earlier));
    }
    let status = if app.config.giving == Provider::Off {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    let page = page(app, target, link, form, query).await?;
    let mut response = page.into_response(status);
    if earlier.is_some() {
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(ROBOTS_TAG, HeaderValue::from_static("noindex"));
    }
    Ok(response)
}

async fn page(app: &App, target: Target, link: DonateLink, form: Form, query: &str) -> Result<DonationForm> {
    let return_urls = link.partner.return_urls(&app.db, app.trusts_localhost()).await?;
    let exit = return_urls.exit.as_ref().filter(|_| !link.has_no_exit);
    let exit = exit.map(|exit| {
        (
            link.partner.append_to(exit, None),
            exit.origin().host().to_owned(),
        )
    });
    let layout = Layout::new(Section::Other);
    let meta = meta(app, &layout, &target);
    let form = form.note(layout.p.give.money_title, money::notes(app, &target).await?);
    let own_site = own_site(app, target.nonprofit).await?;
    Ok(DonationForm {
        frequency_note: frequency_note(app, &link),
        method_note: link
            .missing_method
            .map(|method| fill(layout.p.give.other_method, &[("method", method)])),
        layout,
        meta,
        is_test_mode: app.is_test_mode(),
        own_site,
        name: target.name,
        path: target.path,
        refusal: target.refusal,
        link,
        form,
        return_urls,
        exit,
        embedder: Embedder::find(app, query).await?,
        payment_page: app.payment_page().map(str::to_owned),
    })
}

/// Returns where people can give to a nonprofit, if this server does not accept donations.
async fn own_site(app: &App, nonprofit: NonprofitId) -> Result<Option<OwnSite>> {
    if app.config.giving != Provider::Off {
        return Ok(None);
    }
    let found = app.directory.find(&Identifier::Id(nonprofit)).await?;
    let Some(nonprofit) = found.as_ref().and_then(NonprofitRef::nonprofit) else {
        return Ok(None);
    };
    Ok(Some(OwnSite::find(app, &nonprofit).await?))
}

/// Says why the frequency that a link asks for is not offered.
fn frequency_note(app: &App, link: &DonateLink) -> Option<&'static str> {
    let t = &Layout::new(Section::Other).p.give;
    match link.frequency {
        Frequency::Monthly => (!app.config.giving.offers_monthly()).then_some(t.only_once),
        Frequency::Yearly => Some(t.not_yearly),
        Frequency::Once => None,
    }
}

/// Returns the metadata of the form. For search engines, it is part of the page of the nonprofit or fundraiser.
fn meta(app: &App, layout: &Layout, target: &Target) -> Meta {
    let (t, name) = (&layout.p.give, [("name", target.name.as_str())]);
    let meta = Meta::new(
        layout,
        &fill(t.title, &name),
        &fill(t.about, &name),
        app.site.urls.page(&target.path),
    );
    if target.refusal.is_some() {
        meta.noindex()
    } else {
        meta
    }
}

fn form(app: &App, target: &Target, link: &DonateLink, once: Uuid) -> Form {
    let t = &Layout::new(Section::Other).p.give;
    let mut fields = vec![Field::amounts(t.amount, link.amounts(app.config.amounts))];
    if app.config.giving.offers_monthly() {
        let choices = vec![
            Choice::new(ONCE, t.once, ""),
            Choice::new(MONTHLY, t.monthly, t.monthly_hint),
        ];
        let asked = match link.frequency {
            Frequency::Monthly => MONTHLY,
            Frequency::Once | Frequency::Yearly => ONCE,
        };
        fields.push(Field::choice("frequency", t.frequency, choices).value(asked));
    }
    fields.extend([
        Field::text("name", t.name)
            .value(&link.name)
            .hint(t.name_hint)
            .autocomplete("name")
            .optional(),
        Field::email("email", t.email)
            .value(&link.email)
            .hint(t.email_hint)
            .optional(),
    ]);
    let share = [
        Choice::new("no", t.keep_contact, t.keep_contact_hint),
        Choice::new(
            "yes",
            fill(t.share_contact, &[("name", target.name.as_str())]),
            t.share_contact_hint,
        ),
    ];
    let share = share
        .into_iter()
        .filter(|choice| !link.requires_contact || choice.is("yes"))
        .collect();
    let share = Field::choice("share_contact", t.share_question, share);
    let is_shared = link.shares_contact || link.requires_contact;
    fields.push(share.value(if is_shared { "yes" } else { "no" }));
    if app.payment_page().is_some() {
        let fee = app.config.fee.to_string();
        let choices = vec![
            Choice::new("no", t.keep_amount, t.keep_amount_hint),
            Choice::new("yes", t.cover, fill(t.cover_hint, &[("fee", fee.as_str())])),
        ];
        fields.push(Field::choice("cover", t.cover_question, choices));
    }
    // Only the page of a fundraiser shows names and messages.
    if target.fundraiser.is_some() {
        let choices = vec![
            Choice::new("no", t.private, t.private_hint),
            Choice::new("yes", t.public, t.public_hint),
        ];
        fields.push(Field::choice("public", t.show_name, choices));
        fields.push(Field::text("message", t.message).hint(t.message_hint).optional());
    }
    fields.extend(dedication::fields(app.mail.is_on()));
    fields.push(Field::hidden("once", once.to_string()));
    let action = link.action(&format!("{}/give", target.path));
    Form::new(action, t.continue_to_payment, fields).id("donate")
}

/// Returns what the link says about its partner, with the account that the token of the link belongs to.
async fn attribute(app: &App, link: &DonateLink) -> Result<Partner> {
    let account = endpoints::store::find_account_of_token(&app.db, &link.webhook_token).await?;
    Ok(Partner {
        account: account.or(link.partner.account),
        ..link.partner.clone()
    })
}

async fn start(app: &App, client: Client, target: Target, query: &str, data: &FormData) -> Result<Response> {
    if app.config.giving == Provider::Off {
        return show(app, target, query).await;
    }
    let earlier = again::find(app, &target, query).await?;
    let link = DonateLink::parse(query)?.continuing(earlier.as_ref());
    let token = Uuid::try_parse(data.text("once")).ok();
    let mut form = form(app, &target, &link, new_token()).with_values(data);
    let valid = validate(app.config.amounts, &target, &link, data, &mut form);
    let dedication = dedication::parse(data, &mut form);
    // Without it, the donor could neither change nor cancel the gift.
    if is_monthly(app, data) && data.trimmed("email").is_empty() {
        form.add_error("email", Layout::new(Section::Other).p.give.monthly_needs_email);
    }
    let (Some((amount, email)), Some(token), false) = (valid, token, form.has_errors()) else {
        let page = page(app, target, link, form, query).await?;
        return Ok(page.into_response(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let is_covered = app.payment_page().is_some() && data.text("cover") == "yes";
    let charged = if is_covered {
        app.config.fee.cover(amount)
    } else {
        amount
    };
    let text = |name: &str| Some(data.trimmed(name).to_owned()).filter(|text| !text.is_empty());
    let new = StartDonation {
        token,
        nonprofit: target.nonprofit,
        fundraiser: target.fundraiser,
        amount: charged,
        covered: charged.plus(amount.reversed()).unwrap_or_default(),
        is_public: data.text("public") == "yes",
        name: text("name"),
        email,
        shares_contact: data.text("share_contact") == "yes",
        message: text("message"),
        partner: attribute(app, &link).await?,
        designation: Some(link.designation).filter(|text| !text.is_empty()),
        dedication,
        is_monthly: is_monthly(app, data),
    };
    let mut new = new.into_donation(&app.secret, &app.config.giving, app.clock.millis());
    // A form that is sent twice starts one donation and counts once.
    if store::find(&app.db, new.id).await?.is_none() {
        admit(app, client).await?;
        if app.payment_page().is_some() {
            new.account.clone_from(&target.account);
            new.screening = app.guard().screen(client.network, new.nonprofit).await?;
        }
        store::insert(&app.db, &new).await?;
    }
    let embedder = Embedder::find(app, query).await?;
    let donation = store::find(&app.db, new.id).await?.ok_or(Error::NotFound)?;
    // The payment page cannot be shown in a dialog of another page, so a dialog shows the page of the donation first.
    if let (Some(payments), None) = (app.payments(), &embedder)
        && app.payment_page().is_some()
        && donation.is_open()
        && !donation.screening.is_held()
    {
        match payments.open_session(&donation).await {
            Ok(url) => return Ok(Redirect::to(&url).into_response()),
            // The page of the donation says what became of it, or lets the donor try again.
            Err(error) => tracing::warn!(%error, donation = %donation.id, "no payment page could be opened"),
        }
    }
    Ok(redirect_to_donation(new.receipt_id, embedder.as_ref()))
}

/// Returns whether the form asks for a monthly gift, and can.
fn is_monthly(app: &App, data: &FormData) -> bool {
    let asked = Frequency::parse(data.text("frequency"));
    asked == Frequency::Monthly && app.config.giving.offers_monthly()
}

/// Fails if the network of the client has started too many donations within a minute.
async fn admit(app: &App, client: Client) -> Result<()> {
    let call = Call {
        owner: client.owner(),
        // Checkouts have a limiter of their own, with one class. Earlier versions share its windows in Redis.
        class: Class::Details,
        per_minute: app.config.checkout.starts_per_minute,
        address: None,
    };
    let decision = app.giving.checkouts.admit(&call, app.clock.instant()).await;
    if decision.is_admitted() {
        Ok(())
    } else {
        Err(Error::TooManyDonations {
            per_minute: call.per_minute,
            retry_after: decision.retry_after(),
        })
    }
}

/// Returns a random token for a form.
fn new_token() -> Uuid {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// Adds an error to the form for each invalid field, and returns the amount and the email address.
fn validate(
    limits: AmountLimits,
    target: &Target,
    link: &DonateLink,
    data: &FormData,
    form: &mut Form,
) -> Option<(Cents, Option<EmailAddress>)> {
    let t = &Layout::new(Section::Other).p.give;
    if let Some(refusal) = target.refusal {
        form.add_form_error(refusal);
    }
    let amount = Cents::from_positive_dollars(submitted(data.text("amount"), data.text("other_amount")));
    let min = link.min_amount.unwrap_or(limits.min).max(limits.min);
    match amount {
        None => form.add_error("amount", t.bad_amount),
        Some(amount) if amount < min => {
            form.add_error("amount", fill(t.too_little, &[("min", &min.to_string())]));
        }
        Some(amount) if amount > limits.max => {
            form.add_error("amount", fill(t.too_much, &[("max", &limits.max.to_string())]));
        }
        Some(_) => {}
    }
    let shares_contact = data.text("share_contact") == "yes";
    if link.requires_contact && !shares_contact {
        form.add_error("share_contact", t.must_share_contact);
    }
    if shares_contact && data.trimmed("email").is_empty() {
        form.add_error("email", t.share_needs_email);
    }
    let is_too_long = |name: &str, max: usize| data.text(name).chars().count() > max;
    let has_control = |name: &str| data.trimmed(name).contains(char::is_control);
    for (name, max) in [("name", MAX_NAME_CHARS), ("message", MAX_MESSAGE_CHARS)] {
        if is_too_long(name, max) || has_control(name) {
            form.add_error(name, fill(t.too_long, &[("max", &max.to_string())]));
        }
    }
    let email = match data.trimmed("email") {
        "" => None,
        text => EmailAddress::parse(text)
            .map_err(|_| form.add_error("email", t.bad_email))
            .ok(),
    };
    Some((amount?, email))
}

/// Redirects to the page of a donation: the payment page, and then the receipt.
pub fn redirect_to_donation(receipt_id: Uuid, embedder: Option<&Embedder>) -> Response {
    Redirect::to(&path_within(receipt_id, embedder)).into_response()
}

/// Returns the path of the page of a donation, with the embedder that shows it in a dialog.
pub fn path_within(receipt_id: Uuid, embedder: Option<&Embedder>) -> String {
    let path = path_of(receipt_id);
    embedder.map_or_else(|| path.clone(), |embedder| embedder.add_to(&path))
}

/// Returns the path of the page of a donation.
pub fn path_of(receipt_id: Uuid) -> String {
    format!("/donations/{receipt_id}")
}
