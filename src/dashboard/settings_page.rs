//! The settings page of an account. Several forms on it are handled by other modules.

use crate::app::App;
use crate::dashboard::agent;
use crate::http::error::Result;
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::{Field, Form, Layout, Page};
use access::origins;
use access::sessions::SignedIn;
use access::sessions::store::{self as sessions, StoredSession};
use askama::Template;
use axum::response::{IntoResponse, Response};
use platform::text::hex;

/// The path of the page.
pub const PATH: &str = "/dashboard/settings";

#[derive(Template)]
#[template(path = "dashboard/settings.html")]
struct Settings {
    layout: Layout,
    user: SignedIn,
    forms: Forms,
    sessions: Vec<SessionRow>,
    origins: Vec<String>,
}

/// The forms of the page, one of which can have errors.
#[derive(Debug)]
pub struct Forms {
    pub password: Form,
    pub origin: Form,
}

impl Forms {
    pub fn new(layout: &Layout) -> Forms {
        Forms {
            password: password_form(layout),
            origin: origin_form(layout),
        }
    }
}

struct SessionRow {
    id: String,
    agent: String,
    last_active: RelativeTime,
    signed_in: RelativeTime,
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
    };
    let sessions = sessions.into_iter().map(row).collect();
    let page = Settings {
        layout: layout.with_menu(&user, Tab::Settings),
        origins: origins::store::list(&app.db, user.account).await?,
        user,
        forms,
        sessions,
    };
    Ok(Page(page).into_response())
}

fn password_form(layout: &Layout) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![
        Field::password("current", t.current_password, "current-password"),
        Field::password("password", t.new_password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/settings/password", t.change_password, fields)
}

fn origin_form(layout: &Layout) -> Form {
    let t = &layout.t.partners;
    let fields = vec![Field::text("origin", t.origin).hint(t.origin_hint)];
    Form::new("/dashboard/settings/origins", t.add, fields)
}
