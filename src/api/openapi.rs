//! The OpenAPI description of the API, generated from the handlers.

use super::{
    browse, changes, directory, donations, events, examples, export, finances, fundraisers, matching,
    nonprofits, search, webhooks,
};
use crate::app::App;
use crate::app::admission::Cost;
use crate::app::compressible_text::CompressibleText;
use crate::app::event_json::{
    DirectoryEventBody, DisbursementEventBody, DonationBody, FundraiserEventBody, MonthlyGiftEventBody,
    NonprofitEventBody, PingEventBody,
};
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::ProblemBody;
use crate::http::routing::with_cost;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;
use axum::routing::MethodFilter;
use std::sync::LazyLock;
use utoipa::openapi::path::{PathItem, Paths};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Causeway",
        description = "A directory of nonprofits: look up nonprofits, search on every keystroke, browse by cause, and run fundraisers. Guides with samples in six languages, and a console to try each endpoint, are under /developers on every server.",
        contact(name = "The operator of this server", url = "https://causeway.example/developers"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/", description = "The server that this description comes from.")),
    tags(
        (name = "nonprofits", description = "Look up, search and browse nonprofits. A public key is enough."),
        (name = "webhooks", description = "Learn of donations and changes: webhook endpoints, and the log of events. All take a private key."),
        (name = "events", description = "The requests that webhooks make to your endpoint, one for each type of event."),
        (name = "fundraisers", description = "Read fundraisers with a public key; create and change those of your account with a private key."),
    ),
    components(schemas(
        ProblemBody,
        DonationBody,
        MonthlyGiftEventBody,
        FundraiserEventBody,
        NonprofitEventBody,
        DirectoryEventBody,
        DisbursementEventBody,
        PingEventBody
    )),
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
    let routes: [(Cost, UtoipaMethodRouter<App>); 30] = [
        (Cost::LIGHT, routes!(nonprofits::details)),
        (Cost::LIGHT, routes!(finances::finances)),
        (Cost::LIGHT, routes!(search::search)),
        (Cost::LIGHT, routes!(browse::browse)),
        (Cost::LIGHT, routes!(browse::causes)),
        (Cost::LIGHT, routes!(directory::directory)),
        (Cost::LARGE, routes!(matching::match_rows)),
        (Cost::HEAVY, routes!(export::export)),
        (Cost::LIGHT, routes!(changes::list_changes)),
        (Cost::LIGHT, routes!(fundraisers::reads::fundraiser)),
        (Cost::LIGHT, routes!(fundraisers::reads::raised)),
        (Cost::LARGE, routes!(fundraisers::writes::create)),
        (Cost::LARGE, routes!(fundraisers::own::change)),
        (Cost::LIGHT, routes!(fundraisers::own::close)),
        (Cost::LIGHT, routes!(fundraisers::own::reopen)),
        (Cost::LIGHT, routes!(fundraisers::own::fundraisers)),
        (Cost::FORM, routes!(webhooks::endpoints::create)),
        (Cost::LIGHT, routes!(webhooks::endpoints::list)),
        (Cost::LIGHT, routes!(webhooks::endpoints::read)),
        (Cost::FORM, routes!(webhooks::endpoints::change)),
        (Cost::LIGHT, routes!(webhooks::endpoints::delete)),
        (Cost::LIGHT, routes!(webhooks::endpoints::rotate)),
        (Cost::LIGHT, routes!(webhooks::endpoints::test)),
        (Cost::LIGHT, routes!(webhooks::endpoints::enable)),
        (Cost::FORM, routes!(webhooks::endpoints::replay)),
        (Cost::LIGHT, routes!(webhooks::deliveries::list)),
        (Cost::LIGHT, routes!(webhooks::deliveries::retry)),
        (Cost::LIGHT, routes!(events::list)),
        (Cost::LIGHT, routes!(donations::list)),
        (Cost::LIGHT, routes!(donations::read)),
    ];
    let described = OpenApiRouter::with_openapi(Description::openapi());
    let described = routes.into_iter().fold(described, |described, (cost, route)| {
        let (schemas, paths, route) = route;
        let route = with_cost(cost, methods(&paths), route);
        described.routes((schemas, paths, route))
    });
    let (router, mut description) = described.split_for_parts();
    webhooks::description::add(&mut description);
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

/// Returns the methods of a described route.
fn methods(paths: &Paths) -> MethodFilter {
    let of_item = |item: &PathItem| {
        let operations = [
            (&item.get, MethodFilter::GET),
            (&item.post, MethodFilter::POST),
            (&item.patch, MethodFilter::PATCH),
            (&item.put, MethodFilter::PUT),
            (&item.delete, MethodFilter::DELETE),
        ];
        let methods = operations
            .into_iter()
            .filter(|(operation, _)| operation.is_some());
        methods.map(|(_, method)| method).reduce(MethodFilter::or)
    };
    let methods = paths.paths.values().filter_map(of_item);
    methods.reduce(MethodFilter::or).expect("a route has a method")
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
pub async fn openapi(State(app): State<App>, if_none_match: IfNoneMatch) -> Response {
    let (text, tag) = app.caches.openapi.get_or_init(|| {
        let contact = app.site.urls.page("/developers");
        let text = text().replacen("https://causeway.example/developers", &contact, 1);
        let tag = cache::hash_tag(text.as_bytes());
        (CompressibleText::permanent(text), tag)
    });
    let mut response = cache::json(&if_none_match, Some(tag), || text.clone());
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response
}
