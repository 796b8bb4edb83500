//! The second step of signing in: a code from the authenticator app, or a recovery code.

use crate::app::App;
use crate::dashboard::emails::send_notice;
use crate::dashboard::sign_in::{CODE_PATH, home_of, retry_message, start_session};
use crate::http::client::Client;
use crate::http::destination::Destination;
use crate::http::error::Result;
use crate::http::session::{self, Browser};
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::{Field, Form, FormData, Layout};
use access::accounts::two_factor::{AcceptedCode, store as two_factor};
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{Account, store};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};

/// `GET /dashboard/sign-in/code`
pub async fn page(
    State(app): State<App>,
    layout: Layout,
    headers: HeaderMap,
    destination: Destination,
) -> Result<Response> {
    if find_account(&app, &headers).await?.is_none() {
        return Ok(start_again(&destination));
    }
    let form = form(&layout, &destination);
    Ok(page_with(layout, form, &destination).into_response())
}

/// `POST /dashboard/sign-in/code`
pub async fn sign_in(
    State(app): State<App>,
    Client { network, .. }: Client,
    layout: Layout,
    browser: Browser,
    headers: HeaderMap,
    data: FormData,
) -> Result<Response> {
    let destination = Destination::new(data.text("next"));
    let Some((account, proof)) = find_account(&app, &headers).await? else {
        return Ok(start_again(&destination));
    };
    let mut form = form(&layout, &destination);
    let now = app.clock.instant();
    if let Err(wait) = app.access.attempts.code(&account.username, network, now).await {
        form.add_form_error(retry_message(&layout, wait));
        return Ok(page_with(layout, form, &destination).too_many_requests(wait.0));
    }
    let millis = app.clock.millis();
    let code = data.text("code");
    let accepted = two_factor::accept_code(&app.db, &app.secret, account.id, code, millis).await?;
    let Some(accepted) = accepted else {
        form.add_error("code", layout.t.two_factor.wrong_code);
        return Ok(page_with(layout, form, &destination).invalid());
    };
    app.access
        .attempts
        .record_right_code(&account.username, network, now)
        .await;
    if accepted == AcceptedCode::Recovery {
        let emails = &layout.t.emails;
        let text = (emails.recovery_code_used_subject, emails.recovery_code_used);
        send_notice(&app, &account.username, account.email.as_deref(), text);
    }
    // End the previous session of this browser, if any: it gets a new cookie.
    session::forget(&app, &headers).await?;
    let proof = proof.with_second_factor();
    let page = destination.or(home_of(&account));
    start_session(&app, &proof, &browser, Flash::SignedIn, page).await
}

/// Finds the account whose password this browser has proven a moment ago.
async fn find_account(app: &App, headers: &HeaderMap) -> Result<Option<(Account, VerifiedPassword)>> {
    let Some(pending) = session::find_pending(app, headers) else {
        return Ok(None);
    };
    let Some(account) = store::find_by_id(&app.db, pending.account).await? else {
        return Ok(None);
    };
    let proof = pending.verify(&app.secret, &account, app.clock.millis());
    Ok(proof.map(|proof| (account, proof)))
}

fn start_again(destination: &Destination) -> Response {
    Redirect::to(&destination.add_to("/dashboard/sign-in")).into_response()
}

fn form(layout: &Layout, destination: &Destination) -> Form {
    let t = &layout.t.two_factor;
    let fields = vec![
        Field::text("code", t.code)
            .hint(t.code_hint)
            .autocomplete("one-time-code"),
        Field::hidden("next", destination.as_str()),
    ];
    Form::new(CODE_PATH, layout.t.accounts.sign_in, fields)
}

fn page_with(layout: Layout, form: Form, destination: &Destination) -> FormPage {
    let t = &layout.t.two_factor;
    FormPage::new(layout, t.code_title, form)
        .lead(t.code_lead)
        .link(destination.add_to("/dashboard/sign-in"), t.start_again)
}
