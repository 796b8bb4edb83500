//! Simulates the part of Stripe that Causeway uses, with the objects of API version `2026-10-28.endive`.
//!
//! It is a program of its own, and a library for tests that want it in their own process. Objects are JSON as the API shows
//! them, in one `Store`; each module below `objects` has the operations of one object. All money is in balance
//! transactions, and the balance is their sum. Everything that takes time is a `Job` that runs
//! by a clock which tests can move. The control interface below `/simulator` arms faults and makes decisions that banks
//! make; see the README of this folder.

#![recursion_limit = "256"]

mod cards;
mod control;
mod error;
mod expand;
mod faults;
mod hex;
mod ids;
mod jobs;
mod json;
mod lists;
mod objects;
mod pages;
mod params;
mod records;
mod routes;
mod server;
mod shared;
mod state;
mod store;
mod transactions;
mod tuning;
mod webhooks;

#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
use shared::Shared;
use state::{Endpoint, State};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::Store;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use state::API_VERSION;

/// How to start the simulator. The default listens on a free port of the loopback interface and sends no events.
#[derive(Clone, Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    /// The address in the URLs of hosted pages, if it is not the one that the simulator listens on.
    pub public_url: Option<String>,
    /// Where events go: plain HTTP, with a port.
    pub webhook_url: Option<String>,
    /// The secret that signs events. During a rotation there are several, separated by commas.
    pub webhook_secret: String,
    /// The secret for events of connected accounts, if it is another one.
    pub connect_webhook_secret: Option<String>,
    /// The keys that are accepted; any `sk_` or `rk_` key if empty.
    pub api_keys: Vec<String>,
    /// A file that keeps the state if the process is killed.
    pub state_file: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            public_url: None,
            webhook_url: None,
            webhook_secret: "whsec_simulator".to_owned(),
            connect_webhook_secret: None,
            api_keys: Vec::new(),
            state_file: None,
        }
    }
}

/// A running simulator. It stops when it is dropped.
pub struct Simulator {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl Simulator {
    /// Starts a simulator inside of a Tokio runtime.
    pub async fn start(settings: Settings) -> Result<Simulator> {
        if let Some(url) = &settings.webhook_url {
            webhooks::split_url(url)?;
        }
        let listener = TcpListener::bind(settings.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", settings.listen))?;
        let address = listener.local_addr()?;
        let store = settings
            .state_file
            .as_deref()
            .map_or_else(|| Ok(Store::default()), Store::open)?;
        let endpoint = Endpoint {
            url: settings.webhook_url,
            connect_secret: settings
                .connect_webhook_secret
                .unwrap_or_else(|| settings.webhook_secret.clone()),
            secret: settings.webhook_secret,
        };
        let base_url = settings.public_url.unwrap_or_else(|| format!("http://{address}"));
        let shared = Arc::new(Shared::new(
            State::new(store, endpoint, base_url),
            settings.api_keys,
        ));
        let router = server::router(shared.clone());
        let serve = tokio::spawn(async move {
            // It accepts connections until the task is aborted.
            let _ = axum::serve(listener, router).await;
        });
        let deliver = tokio::spawn(webhooks::run(shared.clone()));
        Ok(Simulator {
            address,
            shared,
            tasks: vec![serve, deliver],
        })
    }

    /// Returns the base URL of the API: `http://127.0.0.1:12345`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Runs until the process ends.
    pub async fn run(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            // A task ends only with the process.
            let _ = task.await;
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        for task in &self.tasks {
            task.abort();
        }
    }
}
