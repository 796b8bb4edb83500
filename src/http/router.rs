//! Every route, in one list.

use super::{deadline::DeadlineLayer, health, openapi, trail};
use crate::app::App;
use crate::error::Error;
use crate::{browse, fundraisers, media, nonprofits, search};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
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
        .routes(routes!(fundraisers::api::reads::fundraiser))
        .routes(routes!(fundraisers::api::reads::raised))
        .routes(routes!(fundraisers::api::writes::create))
        .routes(routes!(fundraisers::api::own::change))
        .routes(routes!(fundraisers::api::own::close))
        .routes(routes!(fundraisers::api::own::reopen))
        .routes(routes!(fundraisers::api::own::fundraisers))
        .split_for_parts()
}

/// All routes with all layers.
pub fn router(app: App) -> Router {
    let (interface, _) = described();
    let followed = interface
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/media/{id}", get(media::api::picture))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(DeadlineLayer::new(app.config.serve.request_timeout, || {
            Error::Overdue.into_response()
        }))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(DefaultBodyLimit::max(app.config.max_body))
        .layer(from_fn_with_state(app.clone(), trail::refuse_large))
        .layer(from_fn(open_to_browsers))
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
    let methods = HeaderValue::from_static(methods_of(request.uri().path()));
    let mut response = match is_preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let is_refused = response.status() == StatusCode::METHOD_NOT_ALLOWED;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("RateLimit, RateLimit-Policy, Retry-After, ETag, Location, X-Request-Id"),
    );
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_refused {
        headers.insert(ALLOW, methods.clone());
    }
    if is_preflight {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    }
    response
}

/// What an address of the interface takes. The wildcard for headers does not cover Authorization, so no page can be
/// made to write with a private key.
fn methods_of(path: &str) -> &'static str {
    let segments: Vec<&str> = path.trim_start_matches("/v0.2/").split('/').collect();
    match segments[..] {
        ["fundraiser"] | ["fundraiser", _, "close" | "reopen"] => "POST, OPTIONS",
        ["fundraiser", _] => "PATCH, OPTIONS",
        _ => "GET, HEAD, OPTIONS",
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("of unknown kind"), "a handler panicked");
    Error::Internal.into_response()
}
