//! Extracts the address of the client, which the listener attaches to every request.

use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use listener::ClientAddress;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

/// A request that did not arrive through the listener, as in a test of the router alone, has the unspecified
/// address.
impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Infallible> {
        let attached = parts.extensions.get().copied();
        Ok(attached.unwrap_or(Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED))))
    }
}
