//! The redirect origins of an account, on its settings page: registering, proving and removing them.

use crate::app::App;
use crate::dashboard::settings_page::{Forms, PATH, show};
use crate::dashboard::sign_in::retry_message;
use crate::http::error::{Error, Result};
use crate::web::flash::Flash;
use crate::web::texts::fill;
use crate::web::{FormData, Layout};
use access::origins::Origin;
use access::origins::store::MAX_ORIGINS;
use access::origins::store::{self, InsertOutcome};
use access::sessions::SignedIn;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// `POST /dashboard/settings/origins`
pub async fn add(State(app): State<App>, user: SignedIn, layout: Layout, data: FormData) -> Result<Response> {
    let mut forms = Forms::new(&layout);
    forms.origin = forms.origin.with_values(&data);
    let added = match Origin::parse(data.text("origin")) {
        Ok(origin) => store::insert(&app.db, user.account, &origin, app.clock.millis()).await?,
        Err(error) => {
            forms.origin.add_error("origin", error.to_string());
            InsertOutcome::AlreadyRegistered
        }
    };
    if added == InsertOutcome::TooMany {
        let error = fill(layout.t.partners.too_many, &[("max", &MAX_ORIGINS.to_string())]);
        forms.origin.add_error("origin", error);
    }
    if forms.origin.has_errors() {
        let page = show(&app, user, layout, forms).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let flash = match added {
        InsertOutcome::Inserted => Flash::OriginAdded,
        InsertOutcome::AlreadyRegistered | InsertOutcome::TooMany => Flash::AlreadyDone,
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}

/// `POST /dashboard/settings/origins/check`: looks for the proof of an origin.
pub async fn check(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let registered = store::find(&app.db, user.account, data.text("origin")).await?;
    let registered = registered.ok_or(Error::NotFound)?;
    let origin = Origin::parse(&registered.origin).map_err(|_| Error::Internal)?;
    let mut forms = Forms::new(&layout);
    let refused = |app: App, user, layout, error: String, status: StatusCode| async move {
        forms.check_error = Some((registered.origin, error));
        let page = show(&app, user, layout, forms).await?;
        Ok((status, page).into_response())
    };
    let admitted = app
        .access
        .attempts
        .origin_check(&user.username, app.clock.instant());
    if let Err(wait) = admitted.await {
        let error = retry_message(&layout, wait);
        return refused(app, user, layout, error, StatusCode::TOO_MANY_REQUESTS).await;
    }
    if let Err(error) = app.origin_prover().prove(&origin, &registered.token).await {
        let error = error.to_string();
        return refused(app, user, layout, error, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    store::set_proven(&app.db, user.account, &origin, app.clock.millis()).await?;
    Ok(Flash::OriginProven.redirect(&app.site.public_url, PATH))
}

/// `POST /dashboard/settings/origins/remove`
pub async fn remove(State(app): State<App>, user: SignedIn, data: FormData) -> Result<Response> {
    let flash = if store::remove(&app.db, user.account, data.text("origin")).await? {
        Flash::OriginRemoved
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}
