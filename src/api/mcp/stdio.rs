//! Messages over standard input and output, one on each line.

use super::client::McpClient;
use super::protocol::{self, INTERNAL_ERROR, Reply};
use crate::app::App;
use crate::http::error::Problem;
use axum::Router;
use serde_json::{Value, json};

/// A server for one client, with its keys.
pub struct StdioServer(McpClient);

impl StdioServer {
    /// Creates a server with a public key and, to create fundraisers, a private key.
    pub fn new(app: App, api: Router, public_key: &str, private_key: Option<&str>) -> StdioServer {
        StdioServer(McpClient::new(app, api, public_key, private_key))
    }

    /// Answers a message. Returns `None` for a notification.
    pub async fn answer(&self, line: &[u8]) -> Option<Value> {
        match protocol::answer_bytes(line, None, &self.0).await {
            Reply::Message(_, message) => Some(message),
            Reply::Accepted => None,
            Reply::Refused(response) => {
                let problem = response.extensions().get::<Problem>();
                let detail = problem.map_or("The key was refused.", Problem::detail);
                let message: Value = serde_json::from_slice(line).ok()?;
                Some(json!({
                    "jsonrpc": "2.0",
                    "id": message.get("id"),
                    "error": {
                        "code": INTERNAL_ERROR,
                        "message": detail,
                        "data": {"code": problem.map(Problem::code)},
                    },
                }))
            }
        }
    }
}
