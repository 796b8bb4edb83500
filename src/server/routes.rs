//! All routes, in one list.

use super::{health, pages};
use crate::api::openapi;
use crate::app::App;
use crate::http::deadline::{DeadlineLayer, TimeoutCause};
use crate::http::error::Error;
use crate::server::request_log::RequestLogLayer;
use crate::site::{embed, media, share};
use crate::web::assets;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::IntoResponse;
use axum::routing::get;

/// Returns the router with all routes and layers.
pub fn router(app: App) -> Router {
    let (api, description) = openapi::described();
    let deadline = DeadlineLayer::new(app.config.serve.request_timeout, |cause| match cause {
        TimeoutCause::RequestBody => Error::BodyTimeout.into_response(),
        TimeoutCause::Handler => Error::Timeout.into_response(),
    });
    let logged = api
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/media/{id}", get(media::picture))
        .route("/assets/{file}", get(assets::asset))
        .route("/share/{file}", get(share::of_nonprofit))
        .route("/share/{nonprofit}/f/{file}", get(share::of_fundraiser))
        .route("/embed/{script}", get(embed::script))
        .merge(pages::pages(&app, &description))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer((
            RequestLogLayer { app: app.clone() },
            DefaultBodyLimit::max(app.config.max_body),
            deadline,
        ));
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(logged)
        .with_state(app)
}
