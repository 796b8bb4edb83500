//! The settings page of an account. Several forms on it are handled by other modules.

use crate::app::App;
use crate::dashboard::email_choices::{self, ChoiceRow};
use crate::http::agent;
use crate::http::error::Result;
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{Partners, fill};
use crate::web::{Field, Form, Layout, Page};
use access::accounts::two_factor::store as two_factor;
use access::origins::store::RegisteredOrigin;
use access::origins::{self, Origin, proof};
use access::sessions::SignedIn;
use access::sessions::store::{self as sessions, StoredSession};
use askama::Template;
use axum::response::{IntoResponse, Response};
use platform::text::hex;

const MIB: u64 = 1 << 20;

/// The path of the page.
pub const PATH: &str = email_choices::SETTINGS_PATH;

#[derive(Template)]
#[template(path = "dashboard/settings.html")]
struct Settings {
    layout: Layout,
    user: SignedIn,
    forms: Forms,
    sessions: Vec<SessionRow>,
    has_two_factor: bool,
    sends_email: bool,
    picture_usage: String,
    origins: Vec<OriginRow>,
    email_choices: Vec<ChoiceRow>,
}

/// The forms of the page, one of which can have errors.
#[derive(Debug)]
pub struct Forms {
    pub password: Form,
    pub email: Form,
    pub origin: Form,
    /// The origin whose proof was not found, and why.
    pub check_error: Option<(String, String)>,
}

impl Forms {
    pub fn new(layout: &Layout) -> Forms {
        Forms {
            password: password_form(layout),
            email: email_form(layout),
            origin: origin_form(layout),
            check_error: None,
        }
    }
}

struct OriginRow {
    origin: String,
    state: OriginState,
    token: String,
    file_url: String,
    /// The name and the value of the TXT record.
    record: (String, String),
    error: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OriginState {
    Proven,
    Allowed,
    /// On the machine of the browser, in test mode.
    Local,
    NotProven,
}

impl OriginRow {
    fn new(
        app: &App,
        registered: RegisteredOrigin,
        check_error: Option<&(String, String)>,
    ) -> Option<OriginRow> {
        let origin = Origin::parse(&registered.origin).ok()?;
        let state = match (registered.proven_at, registered.allowed_at) {
            (Some(_), _) => OriginState::Proven,
            (None, Some(_)) => OriginState::Allowed,
            (None, None) if origin.is_localhost() && app.trusts_localhost() => OriginState::Local,
            (None, None) => OriginState::NotProven,
        };
        let error = check_error.filter(|(failed, _)| *failed == registered.origin);
        Some(OriginRow {
            state,
            file_url: proof::file_url(&origin),
            record: proof::record(&origin, &registered.token),
            error: error.map(|(_, error)| error.clone()),
            origin: registered.origin,
            token: registered.token,
        })
    }

    fn is_usable(&self) -> bool {
        self.state != OriginState::NotProven
    }

    fn badge(&self) -> &'static str {
        if self.is_usable() {
            "badge badge-good"
        } else {
            "badge badge-warn"
        }
    }

    fn state_text(&self, t: &Partners) -> &'static str {
        match self.state {
            OriginState::Proven => t.proven,
            OriginState::Allowed => t.allowed,
            OriginState::Local => t.local,
            OriginState::NotProven => t.not_proven,
        }
    }
}

struct SessionRow {
    id: String,
    agent: String,
    last_active: RelativeTime,
    signed_in: RelativeTime,
    address: String,
    is_current: bool,
}

/// Renders the page with the given forms.
pub async fn show(app: &App, user: SignedIn, layout: Layout, forms: Forms) -> Result<Response> {
    let now = app.clock.millis();
    let sessions = sessions::list(&app.db, user.account).await?;
    let row = |session: StoredSession| SessionRow {
        is_current: session.hash == user.session,
        id: hex(&session.hash),
        agent: agent::describe(&session.agent)
            .unwrap_or_else(|| layout.t.accounts.unknown_browser.to_owned()),
        last_active: RelativeTime::new(session.seen_at, now),
        signed_in: RelativeTime::new(session.created_at, now),
        address: session.address,
    };
    let sessions = sessions.into_iter().map(row).collect();
    let registered = origins::store::list(&app.db, user.account).await?;
    let origins = registered
        .into_iter()
        .filter_map(|registered| OriginRow::new(app, registered, forms.check_error.as_ref()))
        .collect();
    let picture_usage = picture_usage(&layout, app.pictures.usage(user.account).await?);
    let email_choices = email_choices::list(app, &layout, user.account).await?;
    let page = Settings {
        layout: layout.with_menu(&user, Tab::Settings),
        has_two_factor: two_factor::is_on(&app.db, user.account).await?,
        sends_email: app.mail.is_on(),
        picture_usage,
        origins,
        email_choices,
        user,
        forms,
        sessions,
    };
    Ok(Page(page).into_response())
}

/// Writes how much of the quota for pictures is used. A small picture is more than nothing, so the size is rounded up.
fn picture_usage(layout: &Layout, (used, quota): (u64, u64)) -> String {
    let used = used.div_ceil(MIB / 10);
    let used = format!("{}.{}", used / 10, used % 10);
    let quota = (quota / MIB).to_string();
    fill(layout.f.picture.usage, &[("used", &used), ("quota", &quota)])
}

fn password_form(layout: &Layout) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![
        Field::password("current", t.current_password, "current-password"),
        Field::password("password", t.new_password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/settings/password", t.change_password, fields)
}

fn email_form(layout: &Layout) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![
        Field::email("email", t.new_email),
        Field::password("email-password", t.current_password, "current-password"),
    ];
    Form::new("/dashboard/settings/email", t.change_email, fields)
}

fn origin_form(layout: &Layout) -> Form {
    let t = &layout.t.partners;
    let fields = vec![Field::text("origin", t.origin).hint(t.origin_hint)];
    Form::new("/dashboard/settings/origins", t.add, fields)
}
