//! All routes, in one list.

use super::{health, pages};
use crate::api::mcp::transport as mcp;
use crate::api::reconcile::{preview, properties, service as reconcile, suggest};
use crate::api::{openapi, search};
use crate::app::App;
use crate::app::admission::Cost;
use crate::http::deadline::{DeadlineLayer, TimeoutCause};
use crate::http::error::Error;
use crate::http::routing::{get, heavy_get, post};
use crate::server::requests::RequestLayer;
use crate::site::checkout::webhooks;
use crate::site::fundraiser_links::ShortUrl;
use crate::site::{embed, media, share};
use crate::web::asset_route;
use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::http::{Request, Uri};
use axum::response::{IntoResponse, Response};
use giving::fundraisers::SPECIAL_SLUG;
use std::convert::Infallible;
use std::task::{Context, Poll};
use tower::Service;

/// All routes and layers. A trailing slash of a path is ignored, and `/api` before a version if existing clients are served.
#[derive(Clone, Debug)]
pub struct Routes {
    router: Router,
    existing_clients: bool,
}

impl<B> Service<Request<B>> for Routes
where
    Router: Service<Request<B>, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = <Router as Service<Request<B>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<B>>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if let Some(trimmed) = without_trailing_slash(request.uri()) {
            *request.uri_mut() = trimmed;
        }
        if let Some(uri) = with_special_nonprofit(request.uri()) {
            *request.uri_mut() = uri;
            request.extensions_mut().insert(ShortUrl);
        }
        if self.existing_clients
            && let Some(path) = request.uri().path_and_query()
            && let Some(rest) = path.as_str().strip_prefix("/api/v0.2/")
            && let Some(uri) = with_path(request.uri(), &format!("/v0.2/{rest}"))
        {
            *request.uri_mut() = uri;
        }
        self.router.call(request)
    }
}

impl From<Router> for Routes {
    fn from(router: Router) -> Routes {
        Routes {
            router,
            existing_clients: false,
        }
    }
}

/// Returns the URI without the slashes at the end of its path, if there are any.
fn without_trailing_slash(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let trimmed = path.trim_end_matches('/');
    if trimmed.len() == path.len() || trimmed.is_empty() {
        return None;
    }
    let path_and_query = match uri.query() {
        Some(query) => format!("{trimmed}?{query}"),
        None => trimmed.to_owned(),
    };
    with_path(uri, &path_and_query)
}

/// Returns the URI of a fundraiser for several nonprofits, or of its picture, as the routes have it, for the short one that
/// people share.
fn with_special_nonprofit(uri: &Uri) -> Option<Uri> {
    let path = uri.path_and_query()?.as_str();
    let (start, rest) = match path.strip_prefix("/f/") {
        Some(rest) => ("", rest),
        None => ("/share", path.strip_prefix("/share/f/")?),
    };
    with_path(uri, &format!("{start}/{SPECIAL_SLUG}/f/{rest}"))
}

/// Returns the URI with another path and query.
fn with_path(uri: &Uri, path_and_query: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.try_into().ok()?);
    Uri::from_parts(parts).ok()
}

/// Returns all routes and layers.
pub fn router(app: App) -> Routes {
    let api = openapi::routes();
    let deadline = DeadlineLayer::new(app.config.serve.request_timeout, |cause| match cause {
        TimeoutCause::RequestBody => Error::BodyTimeout.into_response(),
        TimeoutCause::Handler => Error::Timeout.into_response(),
    });
    let tools = api.clone().with_state(app.clone());
    let mcp_app = app.clone();
    let logged = api
        .route("/v0.2/openapi.json", get(openapi::openapi))
        .route("/v0.2/search/{start}/{*rest}", get(search::search_with_slash))
        .route(
            "/reconcile",
            heavy_get(reconcile::get).merge(post(Cost::BATCH, reconcile::post)),
        )
        .route("/reconcile/properties", get(properties::propose))
        .route("/reconcile/suggest/entity", get(suggest::entities))
        .route("/reconcile/suggest/property", get(suggest::suggest_properties))
        .route("/reconcile/suggest/type", get(suggest::types))
        .route("/reconcile/flyout/{kind}", get(preview::flyout))
        .route("/reconcile/preview", get(preview::preview))
        .route(
            "/mcp",
            post(Cost::MESSAGE, async move |request: Request<Body>| {
                mcp::post(mcp_app.clone(), tools.clone(), request).await
            }),
        )
        .route("/webhooks/stripe", post(Cost::FORM, webhooks::stripe))
        .route("/webhooks/link", post(Cost::FORM, webhooks::link))
        .route("/media/{id}", heavy_get(media::picture))
        .route("/image/upload/{*path}", heavy_get(media::uploaded))
        .route("/assets/{file}", get(asset_route::asset))
        .route("/share/{file}", heavy_get(share::of_nonprofit))
        .route("/share/{nonprofit}/f/{file}", heavy_get(share::of_fundraiser))
        .route("/embed/{script}", get(embed::script))
        .route("/embed/theme/{file}", get(embed::theme))
        .route("/{slug}/button.js", get(embed::former_button))
        .route("/embed/origin", get(embed::data::origin))
        .route("/embed/causes.json", get(embed::data::causes))
        .route(
            "/embed/fundraisers/{nonprofit}/{fundraiser}",
            get(embed::data::fundraiser),
        )
        .merge(pages::pages(&app, openapi::description()))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer((
            RequestLayer::new(app.clone()),
            DefaultBodyLimit::max(app.config.max_body),
            deadline,
        ));
    let existing_clients = app.config.compat.existing_clients;
    let router = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/readyz/write", get(health::readyz_write))
        .merge(logged)
        .with_state(app);
    Routes {
        existing_clients,
        ..router.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_urls_of_fundraisers_are_those_of_several_nonprofits() {
        let long = |uri: &str| with_special_nonprofit(&uri.parse().unwrap()).map(|uri| uri.to_string());
        let run = Some("/special-fundraiser/f/run/give?amount=5".to_owned());
        assert_eq!(long("/f/run/give?amount=5"), run);
        let picture = Some("/share/special-fundraiser/f/run.png".to_owned());
        assert_eq!(long("/share/f/run.png"), picture);
        for other in [
            "/f",
            "/fx/y",
            "/red-cross/f/run",
            "/share/red-cross/f/run.png",
            "/share/f.png",
        ] {
            assert_eq!(long(other), None, "{other}");
        }
    }

    #[test]
    fn slashes_at_the_end_of_a_path_are_removed_and_the_query_is_kept() {
        let trimmed = |uri: &str| without_trailing_slash(&uri.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(
            trimmed("/v0.2/causes/?apiKey=x/").as_deref(),
            Some("/v0.2/causes?apiKey=x/")
        );
        assert_eq!(
            trimmed("http://localhost/a//").as_deref(),
            Some("http://localhost/a")
        );
        for unchanged in ["/", "//", "/a", "/a?b=/", "*"] {
            assert_eq!(trimmed(unchanged), None, "{unchanged}");
        }
    }
}
