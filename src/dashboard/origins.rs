//! What a partner sets on the dashboard: the origins of its own site.

use crate::app::App;
use crate::dashboard::settings_page::{ADDRESS, Forms, show};
use crate::http::error::Result;
use crate::web::flash::Flash;
use crate::web::texts::fill;
use crate::web::{Frame, Sent};
use access::origins::Origin;
use access::origins::store::MAX_ORIGINS;
use access::origins::store::{self, InsertOutcome};
use access::sessions::SignedIn;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

/// `POST /dashboard/settings/origins`
pub async fn add(State(app): State<App>, who: SignedIn, frame: Frame, sent: Sent) -> Result<Response> {
    let mut forms = Forms::new(&frame);
    forms.origin = forms.origin.filled(&sent);
    let added = match Origin::parse(sent.text("origin")) {
        Ok(origin) => store::insert(&app.db, who.account, &origin, app.clock.millis()).await?,
        Err(fault) => {
            forms.origin.refuse("origin", fault.to_string());
            InsertOutcome::AlreadyRegistered
        }
    };
    if added == InsertOutcome::TooMany {
        let fault = fill(frame.t.partners.too_many, &[("max", &MAX_ORIGINS.to_string())]);
        forms.origin.refuse("origin", fault);
    }
    if forms.origin.is_refused() {
        let page = show(&app, who, frame, forms).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let flash = match added {
        InsertOutcome::Inserted => Flash::OriginAdded,
        InsertOutcome::AlreadyRegistered | InsertOutcome::TooMany => Flash::AlreadyDone,
    };
    Ok((flash.keep(&app.public_url), Redirect::to(ADDRESS)).into_response())
}

/// `POST /dashboard/settings/origins/remove`
pub async fn remove(State(app): State<App>, who: SignedIn, sent: Sent) -> Result<Response> {
    let flash = match store::remove(&app.db, who.account, sent.text("origin")).await? {
        true => Flash::OriginRemoved,
        false => Flash::AlreadyDone,
    };
    Ok((flash.keep(&app.public_url), Redirect::to(ADDRESS)).into_response())
}
