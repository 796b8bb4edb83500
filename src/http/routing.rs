//! `get` and `post` for the lists of routes, as in axum, but with the type of the handler erased.
//!
//! axum compiles its routing code again for each type of handler. Behind a box all handlers have one type, so it is
//! compiled once. A call costs one more allocation.

use crate::app::App;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// A handler of any type.
#[derive(Clone)]
struct ErasedHandler(Arc<dyn Fn(Request, App) -> BoxFuture<'static, Response> + Send + Sync>);

impl ErasedHandler {
    fn new<H: Handler<T, App> + Sync, T: 'static>(handler: H) -> ErasedHandler {
        ErasedHandler(Arc::new(move |request, app| {
            Box::pin(handler.clone().call(request, app))
        }))
    }
}

impl Handler<(), App> for ErasedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        (self.0)(request, app)
    }
}

/// Routes GET and HEAD requests to a handler.
pub fn get<H: Handler<T, App> + Sync, T: 'static>(handler: H) -> MethodRouter<App> {
    routing::get(ErasedHandler::new(handler))
}

/// Routes POST requests to a handler.
pub fn post<H: Handler<T, App> + Sync, T: 'static>(handler: H) -> MethodRouter<App> {
    routing::post(ErasedHandler::new(handler))
}

/// Routes GET requests to the page of a form, and POST requests to what the form does.
pub fn form<P, S, T: 'static, U: 'static>(page: P, submit: S) -> MethodRouter<App>
where
    P: Handler<T, App> + Sync,
    S: Handler<U, App> + Sync,
{
    get(page).post(ErasedHandler::new(submit))
}
