//! A browser without scripts: keeps cookies, sends forms, and does not follow redirects.

use crate::client::{Client, Response};
use crate::wait::eventually;
use crate::world::World;
use axum::body::Body;
use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

pub const PASSWORD: &str = "river stone lantern";

/// A visitor with a cookie jar.
pub struct Visitor {
    client: Client,
    pub cookies: RefCell<BTreeMap<String, String>>,
}

impl Visitor {
    pub fn new(world: &World) -> Visitor {
        Visitor::with_client(&world.client)
    }

    pub fn with_client(client: &Client) -> Visitor {
        Visitor {
            client: client.clone(),
            cookies: RefCell::default(),
        }
    }

    /// The same browser at another server.
    pub fn at(&self, client: &Client) -> Visitor {
        Visitor {
            client: client.clone(),
            cookies: self.cookies.clone(),
        }
    }

    pub async fn get(&self, expected: u16, url: &str) -> Response {
        self.send(expected, &Method::GET, url, &[], String::new()).await
    }

    /// Sends a form from a page of the same origin.
    pub async fn post(&self, expected: u16, url: &str, fields: &[(&str, &str)]) -> Response {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(expected, &Method::POST, url, &headers, encode(fields))
            .await
    }

    /// Sends a form with a file input, as a browser does.
    pub async fn upload(
        &self,
        expected: u16,
        url: &str,
        fields: &[(&str, &str)],
        file: Option<&[u8]>,
    ) -> Response {
        let mut body = Vec::new();
        for (name, value) in fields {
            let part = format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(part.as_bytes());
        }
        let name = if file.is_some() { "run.png" } else { "" };
        let head = format!(
            "--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(file.unwrap_or_default());
        body.extend_from_slice(b"\r\n--x--\r\n");
        let headers = [
            ("content-type", "multipart/form-data; boundary=x"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(expected, &Method::POST, url, &headers, body).await
    }

    /// Sends a form and returns the status, whatever it is.
    pub async fn post_any(&self, url: &str, fields: &[(&str, &str)]) -> u16 {
        let cookies = self.cookies();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("cookie", cookies.as_str()),
        ];
        let (status, _) = self
            .client
            .send_any(&Method::POST, url, &headers, encode(fields))
            .await;
        status
    }

    pub async fn send(
        &self,
        expected: u16,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let cookies = self.cookies();
        let mut headers = headers.to_vec();
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        let response = self.client.send_body(expected, method, url, &headers, body).await;
        self.store_cookies(&response);
        response
    }

    fn cookies(&self) -> String {
        let cookies = self.cookies.borrow();
        let pairs = cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    fn store_cookies(&self, response: &Response) {
        let mut cookies = self.cookies.borrow_mut();
        for field in response.headers.get_all("set-cookie") {
            let field = field.to_str().unwrap();
            let (name, value) = field.split(';').next().unwrap().split_once('=').unwrap();
            if field.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// Creates an account and signs in to it.
    pub async fn sign_up(&self, username: &str) {
        let email = format!("{username}@example.org");
        let fields = [("username", username), ("email", &email), ("password", PASSWORD)];
        let response = self.post(303, "/dashboard/sign-up", &fields).await;
        assert_eq!(response.header("location"), "/dashboard/welcome");
    }

    pub async fn sign_in(&self, expected: u16, username: &str, password: &str) -> Response {
        let fields = [("username", username), ("password", password)];
        self.post(expected, "/dashboard/sign-in", &fields).await
    }

    /// Creates a key and returns it.
    pub async fn create_key(&self, kind: &str, name: &str) -> String {
        let form = self.get(200, "/dashboard/keys/new").await.text();
        let once = hidden(&form, "once");
        let fields = [("name", name), ("kind", kind), ("once", &once)];
        let page = self.post(200, "/dashboard/keys/new", &fields).await.text();
        between(&page, "tabindex=\"0\">cw", "<").map_or_else(|| panic!("{page}"), |key| format!("cw{key}"))
    }
}

/// The value of a hidden field.
pub fn hidden(page: &str, name: &str) -> String {
    between(page, &format!("name=\"{name}\" value=\""), "\"").unwrap_or_else(|| panic!("no {name} in {page}"))
}

/// The text between two markers.
pub fn between(page: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = page.split_once(before)?;
    Some(rest.split_once(after)?.0.to_owned())
}

/// Encodes the fields of a form.
pub fn encode(fields: &[(&str, &str)]) -> String {
    let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect();
    pairs.join("&")
}

/// The emails in the data folder, once there are at least `count`.
pub async fn emails(world: &World, count: usize) -> Vec<String> {
    let folder = world.data().join("mail");
    let files = eventually(&format!("{count} emails are sent"), async || {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
        files.sort();
        (files.len() >= count).then_some(files)
    })
    .await;
    for file in &files {
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others can read an email");
    }
    let read = |path| std::fs::read_to_string(path).unwrap();
    files.into_iter().map(read).map(|email| decode(&email)).collect()
}

/// Undoes the quoted-printable encoding of long lines.
fn decode(email: &str) -> String {
    email
        .replace("=\r\n", "")
        .replace("=3D", "=")
        .replace("\r\n", "\n")
}

/// The link in an email, without the host.
pub fn link(email: &str) -> String {
    let link = between(email, "http://causeway.test", "\n");
    link.unwrap_or_else(|| panic!("{email}"))
}
