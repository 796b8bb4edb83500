//! The messages of the Model Context Protocol: JSON-RPC 2.0 requests and what they answer.
//!
//! Version 2026-07-28 has no sessions: every request names its version and the capabilities of the client in `_meta`.
//! Earlier versions begin with `initialize`. We keep nothing between requests, so both work side by side.
//!
//! The library `rmcp` keeps sessions and streams that we do not need, brings 77 crates, and calls tools itself, where we want
//! the requests to go through our router. The conformance suite tests this code instead (`make test-mcp`).

use super::client::{Called, McpClient};
use super::tools::{self, ApiRequest, CallError};
use super::{donate_link, prompts, resources};
use crate::http::error::{Error, Problem};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// The version without sessions.
pub(super) const STATELESS: &str = "2026-07-28";
/// All versions, the newest first.
pub(super) const VERSIONS: [&str; 5] = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
pub(super) const INTERNAL_ERROR: i64 = -32_603;
/// The code of earlier versions for a resource that does not exist.
const RESOURCE_NOT_FOUND: i64 = -32_002;
const HEADER_MISMATCH: i64 = -32_020;
const UNSUPPORTED_VERSION: i64 = -32_022;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// The longest path and query of a request to the API, encoded and without the key. A URL has at most 64 KiB.
const MAX_PATH_BYTES: usize = 60 << 10;
/// How long clients may use lists, in milliseconds. They change only with a new version of the server.
const LIST_TTL_MS: u64 = 3_600_000;
/// How long clients may use what they read.
const READ_TTL_MS: u64 = 60_000;

const INSTRUCTIONS: &str = "A directory of nonprofits in the United States. Search by name, place or EIN; browse by \
     cause; show people the profileUrl of a nonprofit to donate. Amounts are in cents.";

/// The headers of a request over HTTP that repeat what the message says. Over standard input there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct MirroredHeaders {
    pub version: Option<String>,
    pub method: Option<String>,
    pub name: Option<String>,
}

/// What a message is answered with.
pub(super) enum Reply {
    Message(StatusCode, Value),
    /// Nothing: the message was a notification.
    Accepted,
    /// The key was refused, or its limit is exceeded.
    Refused(Box<Response>),
}

/// An error of JSON-RPC.
struct RpcError {
    status: StatusCode,
    code: i64,
    message: String,
    data: Option<Value>,
}

/// The reason why a request has no result.
enum Failure {
    Rpc(RpcError),
    Refused(Box<Response>),
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Failure {
        Failure::Rpc(error)
    }
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError {
            status: StatusCode::BAD_REQUEST,
            code,
            message: message.into(),
            data: None,
        }
    }

    fn with_data(self, data: Value) -> RpcError {
        RpcError {
            data: Some(data),
            ..self
        }
    }

    fn with_status(self, status: StatusCode) -> RpcError {
        RpcError { status, ..self }
    }

    fn body(self, id: &Value) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// Answers the bytes of a message.
pub(super) async fn answer_bytes(
    bytes: &[u8],
    headers: Option<&MirroredHeaders>,
    caller: &McpClient,
) -> Reply {
    let Ok(message) = serde_json::from_slice(bytes) else {
        let error = RpcError::new(
            PARSE_ERROR,
            "The message is not valid JSON. Send one JSON object.",
        );
        return Reply::Message(error.status, error.body(&Value::Null));
    };
    answer(&message, headers, caller).await
}

/// Answers a message.
async fn answer(message: &Value, headers: Option<&MirroredHeaders>, caller: &McpClient) -> Reply {
    let is_valid = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let id = message.get("id").filter(|id| id.is_string() || id.is_number());
    let Some(method) = message.get("method").and_then(Value::as_str).filter(|_| is_valid) else {
        if is_valid && (message.get("result").is_some() || message.get("error").is_some()) {
            // We send no requests, so this answers nothing.
            return Reply::Accepted;
        }
        let error = RpcError::new(
            INVALID_REQUEST,
            "Send one JSON-RPC 2.0 request with a method. Batches are not supported.",
        );
        return Reply::Message(error.status, error.body(id.unwrap_or(&Value::Null)));
    };
    let Some(id) = id else {
        return Reply::Accepted;
    };
    let empty = Map::new();
    let params = message.get("params").and_then(Value::as_object).unwrap_or(&empty);
    match respond(method, params, headers, caller).await {
        Ok(result) => Reply::Message(
            StatusCode::OK,
            json!({"jsonrpc": "2.0", "id": id, "result": result}),
        ),
        Err(Failure::Rpc(error)) => Reply::Message(error.status, error.body(id)),
        Err(Failure::Refused(response)) => Reply::Refused(response),
    }
}

async fn respond(
    method: &str,
    params: &Map<String, Value>,
    headers: Option<&MirroredHeaders>,
    caller: &McpClient,
) -> Result<Value, Failure> {
    let is_stateless = check_version(method, params, headers)?;
    // Calls and reads count as the request to the API that they are.
    if !matches!(method, "tools/call" | "resources/read") {
        caller.authenticate().await.map_err(Failure::Refused)?;
    }
    let mut result = match method {
        "server/discover" if is_stateless => listed(json!({
            "supportedVersions": VERSIONS,
            "capabilities": capabilities(),
            "instructions": INSTRUCTIONS,
        })),
        "initialize" if !is_stateless => {
            let requested = params.get("protocolVersion").and_then(Value::as_str);
            let version = VERSIONS[1..]
                .iter()
                .find(|version| Some(**version) == requested)
                .unwrap_or(&VERSIONS[1]);
            return Ok(json!({
                "protocolVersion": version,
                "capabilities": capabilities(),
                "serverInfo": server_info(),
                "instructions": INSTRUCTIONS,
            }));
        }
        "ping" if !is_stateless => json!({}),
        "tools/list" => listed(json!({"tools": tools::definitions()})),
        "tools/call" => call_tool(params, is_stateless, caller).await?,
        "resources/list" => listed(json!({"resources": resources::list(caller.causes())})),
        "resources/templates/list" => listed(json!({"resourceTemplates": resources::templates()})),
        "resources/read" => read_resource(params, is_stateless, caller).await?,
        "prompts/list" => listed(json!({"prompts": prompts::definitions()})),
        "prompts/get" => get_prompt(params)?,
        _ => {
            let status = status_of(is_stateless, StatusCode::NOT_FOUND);
            let error = RpcError::new(METHOD_NOT_FOUND, "There is no such method.");
            return Err(error.with_status(status).into());
        }
    };
    if is_stateless {
        result["resultType"] = json!("complete");
        result["_meta"] = json!({META_SERVER: server_info()});
    } else if let Some(result) = result.as_object_mut() {
        result.remove("ttlMs");
        result.remove("cacheScope");
    }
    Ok(result)
}

/// Earlier versions answer errors of requests with 200.
fn status_of(is_stateless: bool, status: StatusCode) -> StatusCode {
    if is_stateless { status } else { StatusCode::OK }
}

/// Adds how long a list may be cached. All clients get the same.
fn listed(mut result: Value) -> Value {
    result["ttlMs"] = json!(LIST_TTL_MS);
    result["cacheScope"] = json!("public");
    result
}

fn capabilities() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}})
}

fn server_info() -> Value {
    json!({"name": "causeway", "title": "Causeway", "version": env!("CARGO_PKG_VERSION")})
}

/// Checks the version and the headers. Returns whether the request is of the version without sessions.
fn check_version(
    method: &str,
    params: &Map<String, Value>,
    headers: Option<&MirroredHeaders>,
) -> Result<bool, RpcError> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let in_meta = meta
        .and_then(|meta| meta.get(META_VERSION))
        .and_then(Value::as_str);
    let in_header = headers.and_then(|headers| headers.version.as_deref());
    let is_earlier = |version: &str| VERSIONS[1..].contains(&version);
    let is_stateless = in_meta.is_some_and(|version| !is_earlier(version))
        || method == "server/discover"
        || in_header == Some(STATELESS);
    if !is_stateless {
        return match in_header {
            Some(version) if !is_earlier(version) => Err(unsupported(version)),
            _ => Ok(false),
        };
    }
    let has_capabilities = meta.is_some_and(|meta| meta.get(META_CAPABILITIES).is_some_and(Value::is_object));
    let Some(version) = in_meta.filter(|_| has_capabilities) else {
        return Err(RpcError::new(
            INVALID_PARAMS,
            format!("Send {META_VERSION} and {META_CAPABILITIES} in _meta."),
        ));
    };
    if let Some(headers) = headers {
        let name = match method {
            "tools/call" | "prompts/get" => params.get("name").and_then(Value::as_str),
            "resources/read" => params.get("uri").and_then(Value::as_str),
            _ => None,
        };
        let mismatch = |header: &str| {
            RpcError::new(
                HEADER_MISMATCH,
                format!("The header {header} does not have the value that the message has."),
            )
        };
        if in_header != Some(version) {
            return Err(mismatch("MCP-Protocol-Version"));
        }
        if version == STATELESS && headers.method.as_deref() != Some(method) {
            return Err(mismatch("Mcp-Method"));
        }
        if version == STATELESS && name.is_some() && headers.name.as_deref() != name {
            return Err(mismatch("Mcp-Name"));
        }
    }
    if version == STATELESS {
        Ok(true)
    } else {
        Err(unsupported(version))
    }
}

fn unsupported(version: &str) -> RpcError {
    let error = RpcError::new(
        UNSUPPORTED_VERSION,
        "This version of the protocol is not supported.",
    );
    error.with_data(json!({"supported": VERSIONS, "requested": version}))
}

async fn call_tool(
    params: &Map<String, Value>,
    is_stateless: bool,
    caller: &McpClient,
) -> Result<Value, Failure> {
    let empty = Map::new();
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = params
        .get("arguments")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let request = match tools::to_request(name, arguments) {
        Ok(request) => request,
        Err(error) => {
            caller.authenticate().await.map_err(Failure::Refused)?;
            return match error {
                CallError::InvalidArgument(detail) => {
                    Ok(failed(&json!({"code": "invalid_argument", "detail": detail})))
                }
                CallError::NoSuchTool => {
                    let error = RpcError::new(
                        INVALID_PARAMS,
                        format!("There is no tool {name:?}. tools/list returns all tools."),
                    );
                    let status = status_of(is_stateless, StatusCode::BAD_REQUEST);
                    Err(error.with_status(status).into())
                }
            };
        }
    };
    if request.path.len() > MAX_PATH_BYTES {
        caller.authenticate().await.map_err(Failure::Refused)?;
        let refusal = Error::TooLarge(MAX_PATH_BYTES).into_response();
        return Err(Failure::Refused(Box::new(refusal)));
    }
    let needs_private_key = request.body.is_some() && !caller.has_private_key();
    match call(caller, request).await? {
        Called::Body(body) => {
            let body = match name {
                donate_link::NAME => donate_link::build(&body, arguments),
                _ => body,
            };
            Ok(json!({
                "content": [{"type": "text", "text": body.to_string()}],
                "structuredContent": body,
                "isError": false,
            }))
        }
        Called::Problem { code, detail, .. } => Ok(failed(&json!({"code": code, "detail": detail}))),
        Called::Refused(response) => explain_refusal(response, needs_private_key),
    }
}

/// Returns the result of a tool whose request was refused: models can wait for a limit, or tell people that a private key is
/// missing. A wrong key is an error of HTTP, which applications show.
fn explain_refusal(response: Box<Response>, needs_private_key: bool) -> Result<Value, Failure> {
    let is_wrong_key = response.status() == StatusCode::UNAUTHORIZED && !needs_private_key;
    let Some(problem) = response.extensions().get::<Problem>().filter(|_| !is_wrong_key) else {
        return Err(Failure::Refused(response));
    };
    let mut explained = json!({"code": problem.code(), "detail": problem.detail()});
    let seconds = response.headers().get(RETRY_AFTER);
    let seconds = seconds.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if let Some(seconds) = seconds {
        explained["retryAfterSeconds"] = json!(seconds);
    }
    Ok(failed(&explained))
}

/// Returns the result of a tool that failed. Models read it and try something else.
fn failed(problem: &Value) -> Value {
    json!({"content": [{"type": "text", "text": problem.to_string()}], "isError": true})
}

async fn read_resource(
    params: &Map<String, Value>,
    is_stateless: bool,
    caller: &McpClient,
) -> Result<Value, Failure> {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
    let not_found = |detail: &str| {
        let code = if is_stateless {
            INVALID_PARAMS
        } else {
            RESOURCE_NOT_FOUND
        };
        let error = RpcError::new(code, detail).with_data(json!({"uri": uri}));
        error.with_status(status_of(is_stateless, StatusCode::BAD_REQUEST))
    };
    let Some(request) = resources::to_request(uri) else {
        caller.authenticate().await.map_err(Failure::Refused)?;
        return Err(not_found("There is no resource with this URI.").into());
    };
    match call(caller, request).await? {
        Called::Body(body) => Ok(json!({
            "contents": [{"uri": uri, "mimeType": resources::MEDIA_TYPE, "text": body.to_string()}],
            "ttlMs": READ_TTL_MS,
            "cacheScope": "private",
        })),
        Called::Problem { detail, .. } => Err(not_found(&detail).into()),
        Called::Refused(response) => Err(Failure::Refused(response)),
    }
}

fn get_prompt(params: &Map<String, Value>) -> Result<Value, RpcError> {
    let empty = Map::new();
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = params
        .get("arguments")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let messages = prompts::messages(name, arguments).ok_or_else(|| {
        RpcError::new(
            INVALID_PARAMS,
            "There is no such prompt, or an argument is missing.",
        )
        .with_status(StatusCode::OK)
    })?;
    Ok(json!({"messages": messages}))
}

async fn call(caller: &McpClient, request: ApiRequest) -> Result<Called, Failure> {
    caller.call(request).await.ok_or_else(|| {
        let error = RpcError::new(INTERNAL_ERROR, "Something went wrong on the server. Try again.");
        error.with_status(StatusCode::INTERNAL_SERVER_ERROR).into()
    })
}
