//! Every route, in one list.

use super::deadline::DeadlineLayer;
use super::trail::TrailLayer;
use super::{health, openapi, pages};
use crate::app::App;
use crate::error::Error;
use crate::web::assets;
use crate::{browse, media, nonprofits, search};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
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
    let deadline = DeadlineLayer::new(app.config.serve.request_timeout, || {
        Error::Overdue.into_response()
    });
    let followed = interface
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/media/{id}", get(media::api::picture))
        .route("/assets/{file}", get(assets::asset))
        .merge(pages::pages(&app))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer((TrailLayer { app: app.clone() }, deadline));
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(followed)
        .with_state(app)
}
