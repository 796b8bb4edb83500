//! The settings page of an account, which several forms post to.

use crate::app::App;
use crate::dashboard::agent;
use crate::http::error::Result;
use crate::web::frame::Tab;
use crate::web::moment::Moment;
use crate::web::{Field, Form, Frame, Page};
use access::origins;
use access::sessions::SignedIn;
use access::sessions::store::{self as sessions, StoredSession};
use askama::Template;
use axum::response::{IntoResponse, Response};
use platform::text::hex;

/// The path of the page.
pub const ADDRESS: &str = "/dashboard/settings";

#[derive(Template)]
#[template(path = "dashboard/settings.html")]
struct Settings {
    frame: Frame,
    who: SignedIn,
    forms: Forms,
    sessions: Vec<SessionLine>,
    origins: Vec<String>,
}

/// The forms of the page; of these one may have to be looked at again.
#[derive(Debug)]
pub struct Forms {
    pub password: Form,
    pub origin: Form,
}

impl Forms {
    pub fn new(frame: &Frame) -> Forms {
        Forms {
            password: password_form(frame),
            origin: origin_form(frame),
        }
    }
}

struct SessionLine {
    id: String,
    agent: String,
    seen: Moment,
    begun: Moment,
    is_this: bool,
}

/// The page, with its forms as they are to be shown.
pub async fn show(app: &App, who: SignedIn, frame: Frame, forms: Forms) -> Result<Response> {
    let now = app.clock.millis();
    let sessions = sessions::list(&app.db, who.account).await?;
    let line = |session: StoredSession| SessionLine {
        is_this: session.hash == who.session,
        id: hex(&session.hash),
        agent: agent::describe(&session.agent).unwrap_or_else(|| frame.t.accounts.unknown_browser.to_owned()),
        seen: Moment::new(session.seen_at, now),
        begun: Moment::new(session.created_at, now),
    };
    let sessions = sessions.into_iter().map(line).collect();
    let page = Settings {
        frame: frame.at(&who, Tab::Settings),
        origins: origins::store::list(&app.db, who.account).await?,
        who,
        forms,
        sessions,
    };
    Ok(Page(page).into_response())
}

fn password_form(frame: &Frame) -> Form {
    let t = &frame.t.accounts;
    let fields = vec![
        Field::password("current", t.current_password, "current-password"),
        Field::password("password", t.new_password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/settings/password", t.change_password, fields)
}

fn origin_form(frame: &Frame) -> Form {
    let t = &frame.t.partners;
    let fields = vec![Field::text("origin", t.origin).hint(t.origin_hint)];
    Form::new("/dashboard/settings/origins", t.add, fields)
}
