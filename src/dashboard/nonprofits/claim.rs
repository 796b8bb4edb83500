//! Claiming a nonprofit and proving the claim.

use super::found::{Found, filed_domain, is_shared, name_of};
use crate::app::App;
use crate::dashboard::sign_in::retry_message;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{self, PathText};
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{ClaimTexts, EN, fill};
use crate::web::{Field, Form, FormData, Layout, Page, UploadForm};
use access::accounts::token::Token;
use access::accounts::two_factor::store as two_factor;
use access::claims::actions::{Evidence, NewClaim, ProveOutcome, RequestOutcome};
use access::claims::domain::FiledDomain;
use access::claims::store::{self, Claim};
use access::claims::{ClaimState, MAX_DOCUMENT_SIZE, MAX_NAME_CHARS, Proof};
use access::origins::proof;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use platform::email_address::EmailAddress;
use platform::mail::Email;
use uuid::Uuid;

pub const LIST_PATH: &str = "/dashboard/nonprofits";
const PROVE_PATH: &str = "/dashboard/nonprofits/prove";

#[derive(Template)]
#[template(path = "dashboard/nonprofits/claim.html")]
struct ClaimPage {
    layout: Layout,
    name: String,
    claim: Claim,
    state: &'static str,
    created: RelativeTime,
    /// The TXT record and the URL of the file, while they are looked for.
    places: Option<((String, String), String)>,
    error: Option<String>,
}

impl ClaimPage {
    fn waits_for_email(&self) -> bool {
        self.claim.state == ClaimState::Requested && self.claim.proof == Proof::Email
    }

    fn is_approved(&self) -> bool {
        self.claim.state == ClaimState::Approved
    }

    fn can_withdraw(&self) -> bool {
        self.claim.state.is_waiting() || self.is_approved()
    }
}

/// `GET /{nonprofit}/claim`
pub async fn new_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(slug): PathText,
) -> Result<Response> {
    let found = Found::by_slug(&app, &slug).await?;
    if let Some(refusal) = refuse_without_second_factor(&app, &user, &layout).await? {
        return Ok(refusal);
    }
    let domain = filed_domain(&app, found.id).await?;
    let form = form(&layout.t.claims, &found, domain.as_ref());
    Ok(page(&user, layout, &found, domain.as_ref(), form).into_response())
}

/// `POST /{nonprofit}/claim`
pub async fn request(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    PathText(slug): PathText,
    UploadForm { data, file, .. }: UploadForm,
) -> Result<Response> {
    let found = Found::by_slug(&app, &slug).await?;
    let domain = filed_domain(&app, found.id).await?;
    let t = &layout.t.claims;
    let mut form = form(t, &found, domain.as_ref()).with_values(&data);
    let [person, position] = ["person", "position"].map(|name| {
        let text = name_text(&data, name);
        if text.is_none() {
            form.add_error(name, t.bad_name);
        }
        text
    });
    let email = EmailAddress::parse(data.text("email")).map(|email| email.normalized());
    let evidence = evidence(
        t,
        domain.as_ref(),
        &data,
        email.as_deref().ok(),
        file.as_deref(),
        &mut form,
    );
    if let Some(Evidence::Email(_, email)) = &evidence
        && !form.has_errors()
        && let Err(wait) = app
            .access
            .attempts
            .email(email, network, app.clock.instant())
            .await
    {
        form.add_error("email", retry_message(&layout, wait));
    }
    let (Some(person), Some(position), Some(evidence), false) =
        (person, position, evidence, form.has_errors())
    else {
        return Ok(page(&user, layout, &found, domain.as_ref(), form).invalid());
    };
    let new = NewClaim {
        nonprofit: found.id,
        name: &found.name,
        account: user.account,
        person,
        position,
        evidence,
    };
    match app.claims().request(new).await? {
        RequestOutcome::Requested(claim, token) => {
            if let Some(token) = token {
                send_proof(&app, &claim, &found.name, &token);
            }
            return Ok(Redirect::to(&path_of(claim.id)).into_response());
        }
        RequestOutcome::AlreadyOpen => {
            return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, LIST_PATH));
        }
        RequestOutcome::NeedsTwoFactor => return Ok(needs_two_factor(&user, layout)),
        RequestOutcome::TooMany => form.add_form_error(t.too_many),
        RequestOutcome::NotAllowed => form.add_form_error(t.not_allowed),
    }
    Ok(page(&user, layout, &found, domain.as_ref(), form).invalid())
}

/// Returns how the claim is going to be proven. Without a domain that proves anything, only a document does.
fn evidence<'a>(
    t: &ClaimTexts,
    domain: Option<&'a FiledDomain>,
    data: &FormData,
    email: Option<&'a str>,
    file: Option<&'a [u8]>,
    form: &mut Form,
) -> Option<Evidence<'a>> {
    let Some(domain) = domain else {
        let document =
            file.filter(|content| content.len() <= MAX_DOCUMENT_SIZE && document_type(content).is_some());
        if document.is_none() {
            form.add_error("document", t.bad_document);
        }
        return document.map(Evidence::Document);
    };
    if data.text("proof") != "email" {
        return Some(Evidence::Domain(domain));
    }
    let email = email.filter(|email| domain.has_mailbox(email));
    if email.is_none() {
        form.add_error("email", fill(t.wrong_email, &[("domain", domain.as_str())]));
    }
    email.map(|email| Evidence::Email(domain, email))
}

/// Returns the media type and the file name ending of a document, by its first bytes.
pub(in crate::dashboard) fn document_type(content: &[u8]) -> Option<(&'static str, &'static str)> {
    let types: [(&[u8], _); 3] = [
        (b"%PDF-", ("application/pdf", "pdf")),
        (b"\x89PNG\r\n\x1a\n", ("image/png", "png")),
        (b"\xff\xd8\xff", ("image/jpeg", "jpg")),
    ];
    types
        .into_iter()
        .find_map(|(start, found)| content.starts_with(start).then_some(found))
}

/// `GET /dashboard/nonprofits/claims/{id}`
pub async fn claim(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let claim = find_own(&app, &user, &id).await?;
    Ok(show(&app, &user, layout, claim, None).await?.into_response())
}

/// `POST /dashboard/nonprofits/claims/{id}/check`: looks for the token at the domain.
pub async fn check(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let claim = find_own(&app, &user, &id).await?;
    if claim.state != ClaimState::Requested || claim.proof != Proof::Domain {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path_of(claim.id)));
    }
    let t = &layout.t.claims;
    let admitted = app
        .access
        .attempts
        .origin_check(&user.username, app.clock.instant());
    if admitted.await.is_err() {
        return invalid(&app, &user, layout, claim, t.too_often.to_owned()).await;
    }
    let filed = filed_domain(&app, claim.nonprofit).await?;
    // The token is only looked for at the domain that the nonprofit files now.
    let is_filed = |domain: &&FiledDomain| claim.domain.as_deref() == Some(domain.as_str());
    let Some(origin) = filed.as_ref().filter(is_filed).and_then(FiledDomain::origin) else {
        return invalid(&app, &user, layout, claim, t.other_domain.to_owned()).await;
    };
    let token = claim.evidence.clone().unwrap_or_default();
    if let Err(error) = app.origin_prover().prove(&origin, &token).await {
        return invalid(&app, &user, layout, claim, error.to_string()).await;
    }
    let is_shared = is_shared(&app, claim.nonprofit, filed.as_ref()).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    let outcome = app
        .claims()
        .prove_domain(&claim, &name, filed.as_ref(), is_shared)
        .await?;
    let path = path_of(claim.id);
    Ok(flash_of(outcome).redirect(&app.site.public_url, &path))
}

/// `POST /dashboard/nonprofits/claims/{id}/resend`: sends the link to the address again.
pub async fn resend(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let claim = find_own(&app, &user, &id).await?;
    let email = claim.evidence.clone().unwrap_or_default();
    if claim.state != ClaimState::Requested || claim.proof != Proof::Email {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path_of(claim.id)));
    }
    if let Err(wait) = app
        .access
        .attempts
        .email(&email, network, app.clock.instant())
        .await
    {
        let error = retry_message(&layout, wait);
        return invalid(&app, &user, layout, claim, error).await;
    }
    let token = app.claims().renew_link(&claim).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    send_proof(&app, &claim, &name, &token);
    Ok(Flash::LinkSent.redirect(&app.site.public_url, &path_of(claim.id)))
}

/// `POST /dashboard/nonprofits/claims/{id}/withdraw`: also ends a claim that was approved.
pub async fn withdraw(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let claim = find_own(&app, &user, &id).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    let flash = if app.claims().withdraw(&claim, &name).await? {
        Flash::ClaimWithdrawn
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, LIST_PATH))
}

/// `GET /dashboard/nonprofits/prove?token=`: shows a button, because programs that scan emails also open links.
pub async fn prove_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let token = params::values(&query, "token").next().unwrap_or_default();
    let Some(claim) = app.claims().find_by_link(&token, user.account).await? else {
        return Ok(stale(&user, layout));
    };
    let t = &layout.t.claims;
    let name = name_of(&app, claim.nonprofit).await?;
    let values = [
        ("email", claim.evidence.as_deref().unwrap_or_default()),
        ("name", &name),
    ];
    let form = Form::new(PROVE_PATH, t.prove, vec![Field::hidden("token", token)]);
    let lead = fill(t.prove_lead, &values);
    let layout = layout.with_menu(&user, Tab::Nonprofits);
    Ok(FormPage::new(layout, t.prove_title, form)
        .lead(lead)
        .into_response())
}

/// `POST /dashboard/nonprofits/prove`
pub async fn prove(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let token = data.text("token");
    let Some(claim) = app.claims().find_by_link(token, user.account).await? else {
        return Ok(stale(&user, layout));
    };
    let filed = filed_domain(&app, claim.nonprofit).await?;
    let is_shared = is_shared(&app, claim.nonprofit, filed.as_ref()).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    let proven = app
        .claims()
        .prove_email(token, user.account, &name, filed.as_ref(), is_shared);
    match proven.await? {
        ProveOutcome::NotWaiting => Ok(stale(&user, layout)),
        ProveOutcome::OtherDomain => {
            let error = layout.t.claims.other_domain.to_owned();
            invalid(&app, &user, layout, claim, error).await
        }
        outcome => Ok(flash_of(outcome).redirect(&app.site.public_url, &path_of(claim.id))),
    }
}

/// Returns the page that asks for two-factor sign-in, unless it is on.
pub(super) async fn refuse_without_second_factor(
    app: &App,
    user: &SignedIn,
    layout: &Layout,
) -> Result<Option<Response>> {
    let is_on = two_factor::is_on(&app.db, user.account).await?;
    Ok((!is_on).then(|| needs_two_factor(user, layout.clone())))
}

pub(super) fn needs_two_factor(user: &SignedIn, layout: Layout) -> Response {
    let t = &layout.t.claims;
    let page = FormPage::without_form(layout.with_menu(user, Tab::Nonprofits), t.needs_two_factor_title);
    page.lead(t.needs_two_factor)
        .link("/dashboard/settings/two-factor", t.set_up_two_factor)
        .into_response()
}

/// Returns the page of a link that no longer works.
pub(super) fn stale(user: &SignedIn, layout: Layout) -> Response {
    let t = &layout.t.claims;
    let page = FormPage::without_form(layout.with_menu(user, Tab::Nonprofits), t.stale_title);
    (
        StatusCode::GONE,
        page.lead(t.stale).link(LIST_PATH, t.your_claims),
    )
        .into_response()
}

/// Reads the name or the position of a person.
pub(super) fn name_text<'a>(data: &'a FormData, name: &str) -> Option<&'a str> {
    let text = data.trimmed(name);
    let is_valid =
        !text.is_empty() && text.chars().count() <= MAX_NAME_CHARS && !text.contains(char::is_control);
    is_valid.then_some(text)
}

/// Returns the fields for the name and the position of a person.
pub(super) fn name_fields(t: &ClaimTexts) -> [Field; 2] {
    [
        Field::text("person", t.person).autocomplete("name"),
        Field::text("position", t.position)
            .hint(t.position_hint)
            .autocomplete("organization-title"),
    ]
}

/// Returns what a claim waits for, or how it ended.
pub(super) fn state_text(claim: &Claim, t: &ClaimTexts) -> &'static str {
    match claim.state {
        ClaimState::Requested if claim.proof == Proof::Document => t.state_document,
        ClaimState::Requested => t.state_requested,
        ClaimState::Proven => t.state_proven,
        ClaimState::Approved => t.state_approved,
        ClaimState::Rejected => t.state_rejected,
        ClaimState::Withdrawn => t.state_withdrawn,
        ClaimState::Revoked => t.state_revoked,
    }
}

fn flash_of(outcome: ProveOutcome) -> Flash {
    match outcome {
        ProveOutcome::Proven => Flash::ClaimProven,
        ProveOutcome::Approved => Flash::ClaimApproved,
        ProveOutcome::NotWaiting | ProveOutcome::OtherDomain => Flash::AlreadyDone,
    }
}

fn path_of(claim: Uuid) -> String {
    format!("{LIST_PATH}/claims/{claim}")
}

async fn find_own(app: &App, user: &SignedIn, id: &str) -> Result<Claim> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let claim = store::find(&app.db, id).await?;
    claim
        .filter(|claim| claim.account == user.account)
        .ok_or(Error::NotFound)
}

fn send_proof(app: &App, claim: &Claim, name: &str, token: &Token) {
    let Some(to) = &claim.evidence else { return };
    let link = format!("{}{PROVE_PATH}?token={}", app.site.public_url, token.expose());
    let values = [
        ("name", name),
        ("username", &claim.username),
        ("site", &app.config.site.name),
        ("link", &link),
    ];
    let t = &EN.claims;
    app.mail.send(&Email::new(
        to,
        fill(t.proof_subject, &values),
        fill(t.proof_email, &values),
    ));
}

fn form(t: &ClaimTexts, found: &Found, domain: Option<&FiledDomain>) -> Form {
    let mut fields = Vec::from(name_fields(t));
    if let Some(domain) = domain {
        let values = [("domain", domain.as_str())];
        let choices = vec![
            Choice::new("email", fill(t.by_email, &values), t.by_email_hint),
            Choice::new("domain", fill(t.by_domain, &values), t.by_domain_hint),
        ];
        fields.push(Field::choice("proof", t.how, choices));
        let email = Field::email("email", fill(t.email, &values));
        fields.push(email.hint(t.email_hint).optional());
    } else {
        let types = "application/pdf,image/png,image/jpeg";
        fields.push(Field::file("document", t.document, types).hint(t.document_hint));
    }
    Form::new(format!("{}/claim", found.path), t.request, fields)
}

fn page(
    user: &SignedIn,
    layout: Layout,
    found: &Found,
    domain: Option<&FiledDomain>,
    form: Form,
) -> FormPage {
    let t = &layout.t.claims;
    let name = [("name", found.name.as_str())];
    let filed = match domain {
        Some(domain) => fill(t.filed, &[("domain", domain.as_str())]),
        None => t.no_website.to_owned(),
    };
    let (title, lead) = (fill(t.title, &name), format!("{} {filed}", fill(t.lead, &name)));
    FormPage::new(layout.with_menu(user, Tab::Nonprofits), title, form)
        .lead(lead)
        .link(found.path.clone(), t.back)
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    claim: Claim,
    error: Option<String>,
) -> Result<Page<ClaimPage>> {
    let is_searched = claim.state == ClaimState::Requested && claim.proof == Proof::Domain;
    let website = claim.domain.as_ref().map(|domain| format!("https://{domain}"));
    let origin = website
        .as_deref()
        .and_then(FiledDomain::of_website)
        .and_then(|domain| domain.origin());
    let places = origin.filter(|_| is_searched).map(|origin| {
        let token = claim.evidence.as_deref().unwrap_or_default();
        (proof::record(&origin, token), proof::file_url(&origin))
    });
    Ok(Page(ClaimPage {
        name: name_of(app, claim.nonprofit).await?,
        state: state_text(&claim, &layout.t.claims),
        created: RelativeTime::new(claim.created_at, app.clock.millis()),
        layout: layout.with_menu(user, Tab::Nonprofits),
        claim,
        places,
        error,
    }))
}

async fn invalid(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    claim: Claim,
    error: String,
) -> Result<Response> {
    let page = show(app, user, layout, claim, Some(error)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}
