//! `get`, `post` and `form` for the lists of routes, with the worst cost of each route.
//!
//! A request is admitted here, before its handler runs and before any of its body is read. axum compiles its routing code
//! again for each type of handler; behind a box all handlers have one type, so it is compiled once. A call costs one more
//! allocation.

use crate::app::App;
use crate::app::admission::{Admission, Cost, Payer};
use crate::http::body::declared_length;
use crate::http::client::Client;
use crate::http::error::Error;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Extensions;
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodFilter, MethodRouter};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// A handler of any type, and what its requests may cost.
#[derive(Clone)]
struct ErasedHandler {
    cost: Cost,
    call: Arc<dyn Fn(Request, App) -> BoxFuture<'static, Response> + Send + Sync>,
}

impl ErasedHandler {
    fn new<H: Handler<T, App> + Sync, T: 'static>(cost: Cost, handler: H) -> ErasedHandler {
        ErasedHandler {
            cost,
            call: Arc::new(move |request, app| Box::pin(handler.clone().call(request, app))),
        }
    }
}

impl Handler<(), App> for ErasedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, mut request: Request, app: App) -> Self::Future {
        if !self.cost.needs_admission() {
            return (self.call)(request, app);
        }
        Box::pin(async move {
            // What the request holds is given back when its response is ready, or when its client has gone.
            match admit(self.cost, &mut request, &app) {
                Ok(_admission) => (self.call)(request, app).await,
                Err(error) => error.into_response(),
            }
        })
    }
}

/// Admits a request, or refuses it because of its declared length or of what is in progress.
fn admit(cost: Cost, request: &mut Request, app: &App) -> Result<Arc<Admission>, Error> {
    let max = cost.body.min(app.config.max_body);
    if cost.body > 0 && declared_length(request.headers()).is_some_and(|length| length > max as u64) {
        return Err(Error::TooLarge(max));
    }
    let network = Client::of_request(request.extensions()).network;
    let admission = app.admission.admit(network, cost)?;
    request.extensions_mut().insert(Arc::clone(&admission));
    Ok(admission)
}

/// Charges a request to the key or account that it was made with, if its route has a cost.
pub fn charge(extensions: &Extensions, payer: Payer) -> Result<(), Error> {
    match extensions.get::<Arc<Admission>>() {
        Some(admission) => Ok(admission.charge(payer)?),
        None => Ok(()),
    }
}

/// Routes GET and HEAD requests of light work to a handler.
pub fn get<H: Handler<T, App> + Sync, T: 'static>(handler: H) -> MethodRouter<App> {
    routing::get(ErasedHandler::new(Cost::LIGHT, handler))
}

/// Routes GET and HEAD requests of heavy work to a handler.
pub fn heavy_get<H: Handler<T, App> + Sync, T: 'static>(handler: H) -> MethodRouter<App> {
    routing::get(ErasedHandler::new(Cost::HEAVY, handler))
}

/// Routes POST requests to a handler.
pub fn post<H: Handler<T, App> + Sync, T: 'static>(cost: Cost, handler: H) -> MethodRouter<App> {
    routing::post(ErasedHandler::new(cost, handler))
}

/// Routes GET requests to the page of a form, and POST requests to what the form does.
pub fn form<P, S, T: 'static, U: 'static>(page: P, submit: S) -> MethodRouter<App>
where
    P: Handler<T, App> + Sync,
    S: Handler<U, App> + Sync,
{
    get(page).post(ErasedHandler::new(Cost::FORM, submit))
}

/// The same for a form that can contain a picture.
pub fn upload_form<P, S, T: 'static, U: 'static>(page: P, submit: S) -> MethodRouter<App>
where
    P: Handler<T, App> + Sync,
    S: Handler<U, App> + Sync,
{
    get(page).post(ErasedHandler::new(Cost::LARGE, submit))
}

/// Adds a cost to the route of a handler that was described for `openapi.json`.
pub fn with_cost(cost: Cost, methods: MethodFilter, route: MethodRouter<App>) -> MethodRouter<App> {
    if cost.needs_admission() {
        routing::on(methods, ErasedHandler::new(cost, route))
    } else {
        route
    }
}
