//! Every route, in one list.

use super::deadline::{Awaited, DeadlineLayer};
use super::trail::TrailLayer;
use super::{health, openapi, pages};
use crate::app::App;
use crate::error::Error;
use crate::web::assets;
use crate::{browse, embed, fundraisers, media, nonprofits, search, share};
use axum::Router;
use axum::extract::DefaultBodyLimit;
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
    let deadline = DeadlineLayer::new(app.config.serve.request_timeout, |awaited| match awaited {
        Awaited::Client => Error::SlowBody.into_response(),
        Awaited::Us => Error::Overdue.into_response(),
    });
    let followed = interface
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/media/{id}", get(media::api::picture))
        .route("/assets/{file}", get(assets::asset))
        .route("/share/{file}", get(share::of_nonprofit))
        .route("/share/{nonprofit}/f/{file}", get(share::of_fundraiser))
        .route("/embed/{script}", get(embed::script))
        .merge(pages::pages(&app))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer((
            TrailLayer { app: app.clone() },
            DefaultBodyLimit::max(app.config.max_body),
            deadline,
        ));
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(followed)
        .with_state(app)
}
