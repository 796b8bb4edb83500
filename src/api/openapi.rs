//! The description of the interface, generated from the handlers.

use crate::http::error::ProblemBody;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Causeway",
        description = "A directory of nonprofits: look one up, search on every keystroke, browse by cause, raise funds for it.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(ProblemBody)),
    modifiers(&Keys),
)]
struct Description;

struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let public = ApiKeyValue::with_description("apiKey", "A public key, cwpk_ and 36 characters.");
        components.add_security_scheme("publicKey", SecurityScheme::ApiKey(ApiKey::Query(public)));
        let mut private = Http::new(HttpAuthScheme::Basic);
        private.description = Some(
            "A public key of the account as the name, a private key of the same account as the password."
                .to_owned(),
        );
        components.add_security_scheme("privateKey", SecurityScheme::Http(private));
    }
}

/// The description with nothing in it yet; the router adds each route.
pub fn base() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

/// The description of all routes, as committed in `openapi.json`.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = crate::server::routes::described()
            .1
            .to_pretty_json()
            .expect("the description is plain data");
        text.push('\n');
        text
    });
    &TEXT
}

/// `GET /v0.2/openapi.json`
pub async fn openapi() -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=300"),
    ];
    (headers, text()).into_response()
}
