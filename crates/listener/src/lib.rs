//! An HTTP accept loop for servers that face the public Internet.
//!
//! hyper implements the protocol but leaves it to the server to decide how long a client may take. This crate adds
//! those decisions:
//!
//! - Each connection has one timer, which closes it when the request head, the next request or a blocked write takes
//!   too long.
//! - The number of open connections is limited, in total and per client, and so is the memory for responses that
//!   clients do not read: the connections that hold most are closed first.
//! - On a stop, requests in flight finish and idle connections are closed. Clients that hang cannot delay the stop
//!   beyond a timeout.
//! - Requests whose length or host is ambiguous, or that have a bare line feed in the head, are refused, so that none can
//!   be smuggled past a proxy.
//! - A client that is still sending its request when the response is complete gets to read it: the rest of the request
//!   is discarded for a while before the connection closes.
//! - [`ClientAddress`] is attached to every request, taken from `X-Forwarded-For` if the peer is a trusted proxy.
//!
//! The path of a request takes no lock that connections share, as long as the client reads the response.
//!
//! ```
//! use http_body_util::Full;
//! use hyper::body::{Bytes, Incoming};
//! use hyper::{Request, Response, StatusCode};
//! use listener::{ServeSettings, listen, serve};
//! use std::convert::Infallible;
//!
//! fn refuse(status: StatusCode) -> Response<String> {
//!     let mut response = Response::new(status.to_string());
//!     *response.status_mut() = status;
//!     response
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let service = tower::service_fn(|_: Request<Incoming>| async {
//!     Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("Hello".to_owned())))
//! });
//! let listener = listen("127.0.0.1:0".parse().unwrap(), false)?;
//! let stop = std::future::ready(tokio::time::Instant::now());
//! serve(listener, service, &ServeSettings::default(), refuse, stop).await
//! # }
//! ```

mod accept;
mod body;
mod client;
mod connection;
mod connections;
mod deadline;
mod executor;
mod framing;
mod host;
mod network;
mod refusal;
mod server;
mod service;
mod settings;
mod state;
mod stop;
mod stream;
#[cfg(test)]
mod tests;
mod timer;
mod unsent;

pub use accept::listen;
pub use client::{ClientAddress, TrustedPeer};
pub use network::{InvalidNetwork, client_network, parse_network};
pub use refusal::Refuse;
pub use server::serve;
pub use settings::ServeSettings;
