//! The redirect origins that their accounts have not proven, which operators can allow.

use crate::app::App;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, with_times};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{FormData, Layout, Page};
use access::accounts::{Username, store as accounts};
use access::audit::Actor;
use access::origins::Origin;
use access::origins::store::{self, RegisteredOrigin};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};

const LIST_PATH: &str = "/dashboard/operator/origins";

#[derive(Template)]
#[template(path = "dashboard/operator/origins.html")]
struct OriginsPage {
    layout: Layout,
    pager: Pager,
    origins: Vec<(RegisteredOrigin, RelativeTime)>,
}

/// `GET /dashboard/operator/origins`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let list_page = ListPage::parse(query.as_deref(), store::count_waiting(&app.db).await?);
    let origins = store::list_waiting(&app.db, PAGE_SIZE, list_page.skipped()).await?;
    let page = OriginsPage {
        pager: list_page.pager(&layout, LIST_PATH, &[]),
        layout: with_menu(&app, layout, &user).await?,
        origins: with_times(origins.into_iter(), app.clock.millis(), |origin| {
            origin.created_at
        }),
    };
    Ok(Page(page).into_response())
}

/// `POST /dashboard/operator/origins`: allows an origin of an account.
pub async fn allow(State(app): State<App>, Operator(user): Operator, data: FormData) -> Result<Response> {
    let username = Username::parse(data.text("account")).map_err(|_| Error::NotFound)?;
    let account = accounts::find_id(&app.db, &username)
        .await?
        .ok_or(Error::NotFound)?;
    let origin = Origin::parse(data.text("origin")).map_err(|_| Error::NotFound)?;
    let (actor, now) = (Actor::Account(user.account), app.clock.millis());
    let flash = if store::allow(&app.db, (account, username.as_str()), &origin, actor, now).await? {
        Flash::OriginAllowed
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, LIST_PATH))
}
