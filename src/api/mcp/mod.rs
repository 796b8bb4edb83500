//! The server of the [Model Context Protocol](https://modelcontextprotocol.io): `/mcp`, and `causeway mcp` over standard
//! input and output.
//!
//! A tool is one request to the API, sent to the same router that serves `/v0.2`, so it has the same limits, the same
//! errors and the same usage counts. Responses are plain JSON: nothing here takes long enough for a stream of events.

mod client;
mod donate_link;
mod output;
mod prompts;
mod protocol;
mod resources;
pub mod stdio;
mod tools;
pub mod transport;
