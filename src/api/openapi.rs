//! The OpenAPI description of the API, generated from the handlers.

use super::{
    browse, changes, directory, examples, export, finances, fundraisers, matching, nonprofits, search,
};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::ProblemBody;
use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;
use std::sync::LazyLock;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Causeway",
        description = "A directory of nonprofits: look up nonprofits, search on every keystroke, browse by cause, and run fundraisers. Guides with samples in six languages, and a console to try each endpoint, are under /developers on every server.",
        contact(name = "The operator of this server", url = "/developers"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/", description = "The server that this description comes from.")),
    tags(
        (name = "nonprofits", description = "Look up, search and browse nonprofits. A public key is enough."),
        (name = "fundraisers", description = "Read fundraisers with a public key; create and change those of your account with a private key."),
    ),
    components(schemas(ProblemBody)),
    modifiers(&Keys),
)]
struct Description;

struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let public =
            ApiKeyValue::with_description("apiKey", "A public key: cwpk_ followed by 36 characters.");
        components.add_security_scheme("publicKey", SecurityScheme::ApiKey(ApiKey::Query(public)));
        let mut private = Http::new(HttpAuthScheme::Basic);
        private.description = Some(
            "A public key as the username and a private key of the same account as the password.".to_owned(),
        );
        components.add_security_scheme("privateKey", SecurityScheme::Http(private));
    }
}

/// The routes of the API and their description, which are the same for every server in a process.
static DESCRIBED: LazyLock<(Router<App>, utoipa::openapi::OpenApi)> = LazyLock::new(|| {
    let (router, mut description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(nonprofits::details))
        .routes(routes!(finances::finances))
        .routes(routes!(search::search))
        .routes(routes!(browse::browse))
        .routes(routes!(browse::causes))
        .routes(routes!(directory::directory))
        .routes(routes!(matching::match_rows))
        .routes(routes!(export::export))
        .routes(routes!(changes::list_changes))
        .routes(routes!(fundraisers::reads::fundraiser))
        .routes(routes!(fundraisers::reads::raised))
        .routes(routes!(fundraisers::writes::create))
        .routes(routes!(fundraisers::own::change))
        .routes(routes!(fundraisers::own::close))
        .routes(routes!(fundraisers::own::reopen))
        .routes(routes!(fundraisers::own::fundraisers))
        .split_for_parts();
    examples::add(&mut description);
    (router, description)
});

/// Returns the routes of the API.
pub fn routes() -> Router<App> {
    DESCRIBED.0.clone()
}

/// Returns the description of the API.
pub fn description() -> &'static utoipa::openapi::OpenApi {
    &DESCRIBED.1
}

/// Returns the description of all routes, as committed in `openapi.json`.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = description()
            .to_pretty_json()
            .expect("the description is plain data");
        text.push('\n');
        text
    });
    &TEXT
}

/// `GET /v0.2/openapi.json`
pub async fn openapi(if_none_match: IfNoneMatch) -> Response {
    let mut response = cache::hashed_json(&if_none_match, text().into());
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response
}
