//! Signing up, in and out.

use crate::app::App;
use crate::dashboard::emails::send_link;
use crate::http::client::Client;
use crate::http::destination::Destination;
use crate::http::error::Result;
use crate::http::session::{self, Browser, SignIn};
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout};
use access::accounts::attempts::RetryAfter;
use access::accounts::links::Purpose;
use access::accounts::password::NewPassword;
use access::accounts::store::{self, NewAccount};
use access::accounts::two_factor::store as two_factor;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{Account, SignUp, Username};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;
use platform::email_address::EmailAddress;

/// The path of the second step.
pub const CODE_PATH: &str = "/dashboard/sign-in/code";
/// The page that asks what a new account is for.
const WELCOME_PATH: &str = "/dashboard/welcome";

/// `GET /dashboard/sign-up`
pub async fn sign_up_page(State(app): State<App>, layout: Layout, destination: Destination) -> FormPage {
    if app.config.accounts.sign_up == SignUp::Closed {
        return closed(layout, &destination);
    }
    let form = sign_up_form(&app, &layout, &destination);
    sign_up_with(&app, layout, form, &destination)
}

/// `POST /dashboard/sign-up`
pub async fn sign_up(
    State(app): State<App>,
    Client { network, .. }: Client,
    layout: Layout,
    browser: Browser,
    data: FormData,
) -> Result<Response> {
    let destination = Destination::new(data.text("next"));
    if app.config.accounts.sign_up == SignUp::Closed {
        return Ok((StatusCode::FORBIDDEN, closed(layout, &destination)).into_response());
    }
    let mut form = sign_up_form(&app, &layout, &destination).with_values(&data);
    let Some((username, email, password)) = parse_sign_up(&app, &layout, &data, &mut form) else {
        return Ok(sign_up_with(&app, layout, form, &destination).invalid());
    };
    if let Err(wait) = app.access.attempts.sign_up(network, app.clock.instant()).await {
        form.add_form_error(retry_message(&layout, wait));
        return Ok(sign_up_with(&app, layout, form, &destination).too_many_requests(wait.0));
    }
    let needs_confirmation = app.config.accounts.requires_confirmation();
    let hash = app.access.hashing.hash(password).await;
    let account = NewAccount {
        username: &username,
        email: Some(&email),
        operator: false,
        password: Some(&hash),
        is_confirmed: !needs_confirmation,
    };
    if let Some(id) = store::insert(&app.db, &account, app.clock.millis()).await? {
        if needs_confirmation {
            let destination = Destination::new(destination.or(WELCOME_PATH));
            return ask_to_confirm(&app, layout, username.as_str(), network, &destination).await;
        }
        let proof = VerifiedPassword::new(id, hash);
        let page = destination.or(WELCOME_PATH);
        return start_session(&app, &proof, &browser.expected(), Flash::Welcome, page).await;
    }
    // If the button was pressed twice, the account was created a moment ago with the same password. An older account
    // must use the sign-in page, which limits attempts.
    let now = app.clock.millis();
    let taken = store::find(&app.db, username.as_str()).await?;
    let taken = taken.filter(|account| account.is_new(now));
    let proof = VerifiedPassword::verify(&app.access.hashing, taken.as_ref(), data.text("password")).await;
    match taken.zip(proof) {
        Some((account, _)) if account.confirmed_at.is_none() => {
            ask_to_confirm(&app, layout, &account.username, network, &destination).await
        }
        Some((_, proof)) => {
            let page = destination.or(WELCOME_PATH);
            start_session(&app, &proof, &browser.expected(), Flash::Welcome, page).await
        }
        None => {
            form.add_error("username", layout.t.accounts.username_taken);
            Ok(sign_up_with(&app, layout, form, &destination).invalid())
        }
    }
}

/// `GET /dashboard/sign-in`
pub async fn sign_in_page(State(app): State<App>, layout: Layout, destination: Destination) -> FormPage {
    let form = sign_in_form(&layout, &destination);
    sign_in_with(&app, layout, form, &destination)
}

/// `POST /dashboard/sign-in`
pub async fn sign_in(
    State(app): State<App>,
    Client { network, .. }: Client,
    layout: Layout,
    browser: Browser,
    headers: HeaderMap,
    data: FormData,
) -> Result<Response> {
    let destination = Destination::new(data.text("next"));
    let mut form = sign_in_form(&layout, &destination).with_values(&data);
    let typed = data.trimmed("username").to_lowercase();
    let account = find_account(&app, &typed).await?;
    // Attempts with the username and with the email address are attempts on the same account.
    let username = account.as_ref().map_or(typed, |account| account.username.clone());
    let admitted = app
        .access
        .attempts
        .sign_in(&username, network, app.clock.instant());
    if let Err(wait) = admitted.await {
        form.add_form_error(retry_message(&layout, wait));
        return Ok(sign_in_with(&app, layout, form, &destination).too_many_requests(wait.0));
    }
    let proof = VerifiedPassword::verify(&app.access.hashing, account.as_ref(), data.text("password")).await;
    let Some((account, proof)) = account.zip(proof) else {
        form.add_form_error(layout.t.accounts.wrong_credentials);
        return Ok(sign_in_with(&app, layout, form, &destination).invalid());
    };
    // With a second factor, the password alone does not make a network trusted.
    if !two_factor::is_on(&app.db, account.id).await? {
        app.access
            .attempts
            .record_success(&username, network, app.clock.instant())
            .await;
    }
    // Only those who know the password learn that the account is suspended.
    if account.suspended_at.is_some() {
        let reason = account.suspend_reason.as_deref().unwrap_or_default();
        form.add_form_error(fill(layout.t.accounts.suspended, &[("reason", reason)]));
        return Ok((
            StatusCode::FORBIDDEN,
            sign_in_with(&app, layout, form, &destination),
        )
            .into_response());
    }
    if account.confirmed_at.is_none() {
        return ask_to_confirm(&app, layout, &account.username, network, &destination).await;
    }
    // End the previous session of this browser, if any: it gets a new cookie.
    session::forget(&app, &headers).await?;
    let page = destination.or(home_of(&account));
    start_session(&app, &proof, &browser, Flash::SignedIn, page).await
}

/// Finds an account by its username or by its confirmed email address, if no other account has the same one.
async fn find_account(app: &App, typed: &str) -> sqlx::Result<Option<Account>> {
    if let Ok(username) = Username::parse(typed) {
        return store::find(&app.db, username.as_str()).await;
    }
    let Ok(email) = EmailAddress::parse(typed) else {
        return Ok(None);
    };
    let mut accounts = store::list_by_email(&app.db, &email.normalized()).await?;
    accounts.retain(|account| account.confirmed_at.is_some());
    Ok(accounts.pop().filter(|_| accounts.is_empty()))
}

/// Returns where people with this account begin.
pub fn home_of(account: &Account) -> &'static str {
    if account.operator {
        "/dashboard/operator"
    } else {
        "/dashboard"
    }
}

/// `GET /dashboard/sign-out`
pub async fn sign_out_page(layout: Layout) -> FormPage {
    let t = &layout.t.accounts;
    let form = Form::new("/dashboard/sign-out", t.sign_out, Vec::new());
    FormPage::new(layout, t.sign_out_title, form)
}

/// `POST /dashboard/sign-out`
pub async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    let removal = session::end(&app, &headers).await?;
    let target = Redirect::to("/dashboard/sign-in");
    Ok((Flash::SignedOut.cookie(&app.site.public_url), removal, target).into_response())
}

/// Starts a session and redirects to a page; to the second step if it is missing; or to the sign-in page if the password
/// was changed in the meantime.
pub async fn start_session(
    app: &App,
    proof: &VerifiedPassword,
    browser: &Browser,
    flash: Flash,
    page: &str,
) -> Result<Response> {
    Ok(match session::begin(app, proof, browser).await? {
        SignIn::Started(cookies) => {
            (flash.cookie(&app.site.public_url), cookies, Redirect::to(page)).into_response()
        }
        SignIn::NeedsSecondFactor(cookies) => {
            let target = Redirect::to(&Destination::new(page).add_to(CODE_PATH));
            (cookies, target).into_response()
        }
        SignIn::PasswordChanged => {
            Redirect::to(&Destination::new(page).add_to("/dashboard/sign-in")).into_response()
        }
    })
}

/// Says how long to wait before the next attempt, rounded up to whole minutes.
pub fn retry_message(layout: &Layout, wait: RetryAfter) -> String {
    let t = &layout.t.accounts;
    match wait.0.as_millis().div_ceil(60_000) {
        0 | 1 => t.wait_one_minute.to_owned(),
        minutes => fill(t.wait, &[("minutes", &minutes.to_string())]),
    }
}

/// Sends a confirmation link, unless too many were sent. The response is the same in both cases.
async fn ask_to_confirm(
    app: &App,
    layout: Layout,
    username: &str,
    network: IpNet,
    destination: &Destination,
) -> Result<Response> {
    if let Some(account) = store::find(&app.db, username).await? {
        let to = account.email.as_deref().unwrap_or(username);
        let admitted = app.access.attempts.email(to, network, app.clock.instant());
        if admitted.await.is_ok() {
            send_link(app, &account, Purpose::Confirm, destination).await?;
        }
    }
    let t = &layout.t.accounts;
    let page = FormPage::without_form(layout, t.confirm_sent_title).lead(t.confirm_sent);
    Ok(page.into_response())
}

fn closed(layout: Layout, destination: &Destination) -> FormPage {
    let t = &layout.t.accounts;
    FormPage::without_form(layout, t.closed_title)
        .lead(t.closed)
        .link(destination.add_to("/dashboard/sign-in"), t.sign_in)
}

fn sign_up_form(app: &App, layout: &Layout, destination: &Destination) -> Form {
    let t = &layout.t.accounts;
    let domains = &app.config.accounts.mail_domains;
    let email = if domains.is_empty() {
        t.email_hint.to_owned()
    } else {
        fill(t.email_domains_hint, &[("domains", &domains.join(", "))])
    };
    let fields = vec![
        Field::text("username", t.username)
            .hint(t.username_hint)
            .autocomplete("username"),
        Field::email("email", t.email).hint(email),
        Field::password("password", t.password, "new-password").hint(t.password_hint),
        Field::hidden("next", destination.as_str()),
    ];
    Form::new("/dashboard/sign-up", t.sign_up, fields)
}

fn sign_up_with(app: &App, layout: Layout, form: Form, destination: &Destination) -> FormPage {
    let t = &layout.t.accounts;
    let lead = if app.mail.is_on() {
        t.sign_up_lead
    } else {
        t.sign_up_lead_without_email
    };
    FormPage::new(layout, t.sign_up_title, form)
        .lead(lead)
        .link(destination.add_to("/dashboard/sign-in"), t.have_account)
}

/// Validates every field, so that all errors are shown at once.
fn parse_sign_up(
    app: &App,
    layout: &Layout,
    data: &FormData,
    form: &mut Form,
) -> Option<(Username, String, NewPassword)> {
    let username = Username::parse(data.text("username"))
        .map_err(|error| form.add_error("username", error.to_string()))
        .ok();
    let email = EmailAddress::parse(data.text("email")).map(|email| email.normalized());
    if let Ok(email) = &email
        && !app.config.accounts.admits(email)
    {
        let domains = app.config.accounts.mail_domains.join(", ");
        form.add_error(
            "email",
            fill(layout.t.accounts.wrong_domain, &[("domains", &domains)]),
        );
    }
    if email.is_err() {
        form.add_error("email", layout.t.accounts.invalid_email);
    }
    let username_text = username.as_ref().map_or("", Username::as_str);
    let password = NewPassword::parse(data.text("password"), username_text)
        .map_err(|error| form.add_error("password", error.to_string()))
        .ok();
    if form.has_errors() {
        None
    } else {
        Some((username?, email.ok()?, password?))
    }
}

fn sign_in_form(layout: &Layout, destination: &Destination) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![
        Field::text("username", t.username_or_email).autocomplete("username"),
        Field::password("password", t.password, "current-password"),
        Field::hidden("next", destination.as_str()),
    ];
    Form::new("/dashboard/sign-in", t.sign_in, fields)
}

fn sign_in_with(app: &App, layout: Layout, form: Form, destination: &Destination) -> FormPage {
    let t = &layout.t.accounts;
    let page = FormPage::new(layout, t.sign_in_title, form);
    let page = match app.config.accounts.sign_up {
        SignUp::Open => page.link(destination.add_to("/dashboard/sign-up"), t.no_account),
        SignUp::Closed => page,
    };
    page.link(destination.add_to("/dashboard/reset"), t.forgot)
}
