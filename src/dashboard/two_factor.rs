//! Two-factor sign-in in the settings: turning it on and off, and new recovery codes.

use crate::app::App;
use crate::dashboard::emails::send_notice;
use crate::dashboard::settings::verify_password;
use crate::dashboard::sign_in::retry_message;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::qr_code::QrCode;
use crate::web::relative_time::RelativeTime;
use crate::web::{Field, Form, FormData, Layout, Page};
use access::accounts::two_factor::store::{self, EnableOutcome};
use access::accounts::two_factor::{RecoveryCode, TotpSecret};
use access::accounts::verified_password::VerifiedPassword;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

/// The path of the page.
pub const PATH: &str = "/dashboard/settings/two-factor";
const SETUP_PATH: &str = "/dashboard/settings/two-factor/setup";

#[derive(Template)]
#[template(path = "dashboard/two_factor/on.html")]
struct OnPage {
    layout: Layout,
    since: RelativeTime,
    recovery_codes: i64,
    forms: Forms,
}

#[derive(Template)]
#[template(path = "dashboard/two_factor/setup.html")]
struct SetupPage {
    layout: Layout,
    qr_code: Option<QrCode>,
    uri: String,
    /// The secret in groups of four characters.
    secret: String,
    form: Form,
}

#[derive(Template)]
#[template(path = "dashboard/two_factor/codes.html")]
struct CodesPage {
    layout: Layout,
    /// Whether two-factor sign-in was just turned on.
    is_new: bool,
    codes: Vec<String>,
    /// All codes, as a file to download.
    file: String,
}

/// The forms of the page while two-factor sign-in is on, one of which can have errors.
struct Forms {
    codes: Form,
    off: Form,
}

impl Forms {
    fn new(layout: &Layout) -> Forms {
        let t = &layout.t.two_factor;
        let fields = |password: &'static str, code: &'static str| {
            vec![
                Field::password(password, layout.t.accounts.current_password, "current-password"),
                Field::text(code, t.code)
                    .hint(t.code_hint)
                    .autocomplete("one-time-code"),
            ]
        };
        Forms {
            codes: Form::new(
                format!("{PATH}/codes"),
                t.new_codes,
                fields("codes-password", "codes-code"),
            ),
            off: Form::new(format!("{PATH}/off"), t.turn_off, fields("current", "code")).dangerous(),
        }
    }
}

/// `GET /dashboard/settings/two-factor`
pub async fn page(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let forms = Forms::new(&layout);
    show(&app, &user, layout, forms).await
}

/// `POST /dashboard/settings/two-factor`: begins to set it up.
pub async fn begin(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    if let Err(error) = verify_password(&app, &user, network, &layout, data.text("current")).await? {
        let mut form = begin_form(&layout);
        form.add_error("current", error);
        return Ok(off_page(&user, layout, form).invalid());
    }
    let (secret, now) = (TotpSecret::generate(), app.clock.millis());
    let is_begun = store::begin(&app.db, &app.secret, user.account, &secret, now).await?;
    let target = if is_begun { SETUP_PATH } else { PATH };
    Ok(Redirect::to(target).into_response())
}

/// `GET /dashboard/settings/two-factor/setup`
pub async fn setup_page(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let form = setup_form(&layout);
    show_setup(&app, &user, layout, form).await
}

/// `POST /dashboard/settings/two-factor/setup`: turns it on, if the code is right.
pub async fn confirm(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let account = (user.account, user.session);
    let now = app.clock.millis();
    match store::enable(&app.db, &app.secret, account, data.text("code"), now).await? {
        EnableOutcome::Enabled(codes) => {
            let emails = &layout.t.emails;
            let text = (emails.two_factor_on_subject, emails.two_factor_on);
            send_notice(&app, &user.username, user.email.as_deref(), text);
            Ok(show_codes(&user, layout, &codes, true))
        }
        EnableOutcome::WrongCode => {
            let mut form = setup_form(&layout);
            form.add_error("code", layout.t.two_factor.wrong_new_code);
            let page = show_setup(&app, &user, layout, form).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        EnableOutcome::NotPending => Ok(Redirect::to(PATH).into_response()),
    }
}

/// `POST /dashboard/settings/two-factor/codes`: replaces the recovery codes.
pub async fn replace_codes(
    State(app): State<App>,
    client: Client,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let typed = (data.text("codes-password"), data.text("codes-code"));
    let mut forms = Forms::new(&layout);
    match verify_both(&app, &user, client, &layout, typed).await? {
        Ok(verified) => {
            if let Some(codes) = store::replace_codes(&app.db, &app.secret, &verified).await? {
                return Ok(show_codes(&user, layout, &codes, false));
            }
            return Ok(Redirect::to(PATH).into_response());
        }
        Err((Wrong::Password, error)) => forms.codes.add_error("codes-password", error),
        Err((Wrong::Code, error)) => forms.codes.add_error("codes-code", error),
    }
    let page = show(&app, &user, layout, forms).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// `POST /dashboard/settings/two-factor/off`
pub async fn turn_off(
    State(app): State<App>,
    client: Client,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let typed = (data.text("current"), data.text("code"));
    let mut forms = Forms::new(&layout);
    match verify_both(&app, &user, client, &layout, typed).await? {
        Ok(verified) => {
            let flash = if store::disable(&app.db, &verified).await? {
                let emails = &layout.t.emails;
                let text = (emails.two_factor_off_subject, emails.two_factor_off);
                send_notice(&app, &user.username, user.email.as_deref(), text);
                Flash::TwoFactorOff
            } else {
                Flash::AlreadyDone
            };
            return Ok(flash.redirect(&app.site.public_url, PATH));
        }
        Err((Wrong::Password, error)) => forms.off.add_error("current", error),
        Err((Wrong::Code, error)) => forms.off.add_error("code", error),
    }
    let page = show(&app, &user, layout, forms).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// Which of two fields is wrong.
enum Wrong {
    Password,
    Code,
}

/// Verifies the password and a code, with the limits on attempts of both.
async fn verify_both(
    app: &App,
    user: &SignedIn,
    Client { network, .. }: Client,
    layout: &Layout,
    (password, code): (&str, &str),
) -> Result<Result<VerifiedPassword, (Wrong, String)>> {
    let verified = match verify_password(app, user, network, layout, password).await? {
        Ok(verified) => verified,
        Err(error) => return Ok(Err((Wrong::Password, error))),
    };
    let now = app.clock.instant();
    if let Err(wait) = app.access.attempts.code(&user.username, network, now).await {
        return Ok(Err((Wrong::Code, retry_message(layout, wait))));
    }
    let millis = app.clock.millis();
    let accepted = store::accept_code(&app.db, &app.secret, user.account, code, millis).await?;
    if accepted.is_none() {
        let error = layout.t.two_factor.wrong_code.to_owned();
        return Ok(Err((Wrong::Code, error)));
    }
    app.access
        .attempts
        .record_right_code(&user.username, network, now)
        .await;
    Ok(Ok(verified))
}

async fn show(app: &App, user: &SignedIn, layout: Layout, forms: Forms) -> Result<Response> {
    let state = store::find_state(&app.db, user.account).await?;
    let Some(enabled_at) = state.enabled_at else {
        let form = begin_form(&layout);
        return Ok(off_page(user, layout, form).into_response());
    };
    let page = OnPage {
        layout: layout.with_menu(user, Tab::Settings),
        since: RelativeTime::new(enabled_at, app.clock.millis()),
        recovery_codes: state.recovery_codes,
        forms,
    };
    Ok(Page(page).into_response())
}

async fn show_setup(app: &App, user: &SignedIn, layout: Layout, form: Form) -> Result<Response> {
    let Some(secret) = store::find_pending(&app.db, &app.secret, user.account).await? else {
        return Ok(Redirect::to(PATH).into_response());
    };
    let uri = secret.to_uri(app.site.public_url.host(), &user.username);
    let text = secret.to_base32();
    let groups: Vec<&str> = (0..text.len())
        .step_by(4)
        .map(|at| &text[at..(at + 4).min(text.len())])
        .collect();
    let page = SetupPage {
        qr_code: QrCode::new(&uri, layout.t.two_factor.qr_code),
        layout: layout.with_menu(user, Tab::Settings),
        uri,
        secret: groups.join(" "),
        form,
    };
    Ok(Page(page).into_response())
}

fn show_codes(user: &SignedIn, layout: Layout, codes: &[RecoveryCode], is_new: bool) -> Response {
    let codes: Vec<String> = codes.iter().map(RecoveryCode::to_text).collect();
    let page = CodesPage {
        layout: layout.with_menu(user, Tab::Settings),
        is_new,
        file: codes.join("%0A"),
        codes,
    };
    Page(page).into_response()
}

fn begin_form(layout: &Layout) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![Field::password("current", t.current_password, "current-password")];
    Form::new(PATH, layout.t.two_factor.set_up, fields)
}

fn setup_form(layout: &Layout) -> Form {
    let t = &layout.t.two_factor;
    let code = Field::text("code", t.new_code)
        .hint(t.new_code_hint)
        .autocomplete("one-time-code");
    Form::new(SETUP_PATH, t.turn_on, vec![code])
}

fn off_page(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = layout.t;
    FormPage::new(layout.with_menu(user, Tab::Settings), t.two_factor.title, form)
        .lead(t.two_factor.lead)
        .link("/dashboard/settings", t.two_factor.back)
}
