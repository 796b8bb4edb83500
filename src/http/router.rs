//! Every route, in one list.

use super::{deadline::DeadlineLayer, health, openapi, pages, trail};
use crate::app::App;
use crate::error::Error;
use crate::web::{assets, guard};
use crate::{browse, media, nonprofits, search};
use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes of the interface, with their description.
pub fn described() -> (Router<App>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(nonprofits::api::details))
        .routes(routes!(search::api::search))
        .routes(routes!(browse::api::browse))
        .routes(routes!(browse::api::causes))
        .split_for_parts()
}

/// All routes with all layers.
pub fn router(app: App) -> Router {
    let (interface, _) = described();
    let followed = interface
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/media/{id}", get(media::api::picture))
        .route("/assets/{file}", get(assets::asset))
        .merge(pages::pages(&app))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(DeadlineLayer::new(app.config.serve.request_timeout, || {
            Error::Overdue.into_response()
        }))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), trail::refuse_large))
        .layer(from_fn(open_to_browsers))
        .layer(from_fn(guard::guard))
        .layer(from_fn_with_state(app.clone(), trail::follow));
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(followed)
        .with_state(app)
}

/// A page of any origin may read the interface; it sends no cookies, and the key is in the address.
async fn open_to_browsers(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/v0.2/") {
        return next.run(request).await;
    }
    let is_preflight = request.method() == Method::OPTIONS;
    let mut response = match is_preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("RateLimit, RateLimit-Policy, Retry-After, ETag, X-Request-Id"),
    );
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_preflight {
        headers.insert(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET, HEAD, OPTIONS"),
        );
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    }
    response
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("of unknown kind"), "a handler panicked");
    Error::Internal.into_response()
}
