//! What an owner can do with an endpoint: test, disable, enable, rotate, replay and delete it.

use super::form::show_secret;
use super::pages::{PATH, find_own, path_of, replay_form, show, to_error};
use crate::app::App;
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Form, FormData, Layout};
use access::sessions::SignedIn;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::webhooks::endpoints::{EndpointError, Owner};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Why an owner has disabled an endpoint.
const BY_OWNER: &str = "";

/// `POST /dashboard/webhooks/{id}/test`
pub async fn test(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let owner = Owner::of_account(user.account);
    let flash = match app.giving.webhooks.test(owner, endpoint.id).await {
        Ok(_) => Flash::WebhookTested,
        Err(EndpointError::Invalid(_)) => Flash::WebhookIsDisabled,
        Err(error) => return Err(to_error(error)),
    };
    Ok(flash.redirect(&app.site.public_url, &path_of(endpoint.id)))
}

/// `POST /dashboard/webhooks/{id}/disable`
pub async fn disable(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let owner = Owner::of_account(user.account);
    let disabled = app.giving.webhooks.disable(owner, endpoint.id, BY_OWNER).await;
    disabled.map_err(to_error)?;
    Ok(Flash::WebhookDisabled.redirect(&app.site.public_url, &path_of(endpoint.id)))
}

/// `POST /dashboard/webhooks/{id}/enable`
pub async fn enable(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let owner = Owner::of_account(user.account);
    app.giving
        .webhooks
        .enable(owner, endpoint.id)
        .await
        .map_err(to_error)?;
    Ok(Flash::WebhookEnabled.redirect(&app.site.public_url, &path_of(endpoint.id)))
}

/// `GET /dashboard/webhooks/{id}/rotate`
pub async fn rotate_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let endpoint = find_own(&app, &user, &id).await?;
    let t = &layout.t.webhooks;
    let form = Form::new(format!("{}/rotate", path_of(endpoint.id)), t.rotate, Vec::new());
    let page = FormPage::new(layout.with_menu(&user, Tab::Webhooks), t.rotate_title, form);
    Ok(page.lead(t.rotate_lead).link(path_of(endpoint.id), t.cancel))
}

/// `POST /dashboard/webhooks/{id}/rotate`. Only this response contains the new secret.
pub async fn rotate(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let owner = Owner::of_account(user.account);
    let shown = app
        .giving
        .webhooks
        .rotate(owner, endpoint.id)
        .await
        .map_err(to_error)?;
    Ok(show_secret(layout.with_menu(&user, Tab::Webhooks), false, shown))
}

/// `GET /dashboard/webhooks/{id}/delete`
pub async fn delete_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let endpoint = find_own(&app, &user, &id).await?;
    let t = &layout.t.webhooks;
    let form = Form::new(format!("{}/delete", path_of(endpoint.id)), t.delete, Vec::new()).dangerous();
    let page = FormPage::new(layout.with_menu(&user, Tab::Webhooks), t.delete_title, form);
    let lead = fill(t.delete_lead, &[("url", &endpoint.url)]);
    Ok(page.lead(lead).link(path_of(endpoint.id), t.cancel))
}

/// `POST /dashboard/webhooks/{id}/delete`
pub async fn delete(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let owner = Owner::of_account(user.account);
    app.giving
        .webhooks
        .delete(owner, endpoint.id)
        .await
        .map_err(to_error)?;
    Ok(Flash::WebhookDeleted.redirect(&app.site.public_url, PATH))
}

/// `POST /dashboard/webhooks/{id}/replay`
pub async fn replay(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let mut form = replay_form(&layout, &endpoint).with_values(&data);
    // A browser sends a time without a zone: the page says that it is in UTC.
    let since = data.trimmed("since").parse::<DateTime>().ok();
    let since = since.and_then(|since| since.to_zoned(TimeZone::UTC).ok());
    match since {
        None => form.add_error("since", layout.t.webhooks.invalid_since),
        Some(since) => {
            let owner = Owner::of_account(user.account);
            let since = since.timestamp().as_millisecond();
            match app.giving.webhooks.replay(owner, endpoint.id, since).await {
                Ok(_) => {
                    return Ok(Flash::WebhookReplayed.redirect(&app.site.public_url, &path_of(endpoint.id)));
                }
                Err(EndpointError::Invalid(errors)) => {
                    for error in errors {
                        form.add_error("since", error.detail);
                    }
                }
                Err(error) => return Err(to_error(error)),
            }
        }
    }
    let page = show(&app, &user, layout, endpoint, form, "").await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}
