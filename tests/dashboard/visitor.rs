//! A browser without scripts: keeps cookies, fills in forms, follows redirects one by one.

use crate::client::{Answer, Client};
use crate::world::World;
use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

pub const PASSWORD: &str = "river stone lantern";

/// Somebody with a browser.
pub struct Visitor {
    client: Client,
    pub cookies: RefCell<BTreeMap<String, String>>,
}

impl Visitor {
    pub fn new(world: &World) -> Visitor {
        Visitor::of(&world.client)
    }

    pub fn of(client: &Client) -> Visitor {
        Visitor {
            client: client.clone(),
            cookies: RefCell::default(),
        }
    }

    pub async fn get(&self, expected: u16, address: &str) -> Answer {
        self.send(expected, &Method::GET, address, &[], String::new())
            .await
    }

    /// Sends a form of ours.
    pub async fn post(&self, expected: u16, address: &str, fields: &[(&str, &str)]) -> Answer {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(expected, &Method::POST, address, &headers, encode(fields))
            .await
    }

    /// Sends a form and takes any answer; its status.
    pub async fn post_any(&self, address: &str, fields: &[(&str, &str)]) -> u16 {
        let cookies = self.cookies();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("cookie", cookies.as_str()),
        ];
        let sent = self
            .client
            .send_any(&Method::POST, address, &headers, encode(fields))
            .await;
        sent.0
    }

    pub async fn send(
        &self,
        expected: u16,
        method: &Method,
        address: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        let cookies = self.cookies();
        let mut headers = headers.to_vec();
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        let answer = self
            .client
            .send_body(expected, method, address, &headers, body)
            .await;
        self.keep_cookies(&answer);
        answer
    }

    fn cookies(&self) -> String {
        let cookies = self.cookies.borrow();
        let pairs = cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    fn keep_cookies(&self, answer: &Answer) {
        let mut cookies = self.cookies.borrow_mut();
        for field in answer.headers.get_all("set-cookie") {
            let field = field.to_str().unwrap();
            let (name, value) = field.split(';').next().unwrap().split_once('=').unwrap();
            match field.contains("Max-Age=0") {
                true => _ = cookies.remove(name),
                false => _ = cookies.insert(name.to_owned(), value.to_owned()),
            }
        }
    }

    /// Makes an account and is signed in to it.
    pub async fn sign_up(&self, username: &str) {
        let email = format!("{username}@example.org");
        let fields = [("username", username), ("email", &email), ("password", PASSWORD)];
        let answer = self.post(303, "/dashboard/sign-up", &fields).await;
        assert_eq!(answer.header("location"), "/dashboard");
    }

    pub async fn sign_in(&self, expected: u16, username: &str, password: &str) -> Answer {
        let fields = [("username", username), ("password", password)];
        self.post(expected, "/dashboard/sign-in", &fields).await
    }

    /// Makes a key; what the page shows of it.
    pub async fn make_key(&self, kind: &str, name: &str) -> String {
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

pub fn between(page: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = page.split_once(before)?;
    Some(rest.split_once(after)?.0.to_owned())
}

pub fn encode(fields: &[(&str, &str)]) -> String {
    let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect();
    pairs.join("&")
}

/// The mails in the data folder, once there are as many.
pub async fn mails(world: &World, count: usize) -> Vec<String> {
    let folder = world.data().join("mail");
    for _ in 0..200 {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "eml"));
        if files.len() >= count {
            files.sort();
            for file in &files {
                let mode = std::fs::metadata(file).unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "others can read a mail");
            }
            let read = |path| std::fs::read_to_string(path).unwrap();
            return files.into_iter().map(read).map(|mail| plain(&mail)).collect();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{count} mails did not come");
}

/// Long lines of a mail may be folded.
fn plain(mail: &str) -> String {
    mail.replace("=\r\n", "")
        .replace("=3D", "=")
        .replace("\r\n", "\n")
}

/// The link of a mail, without the host.
pub fn link(mail: &str) -> String {
    let link = between(mail, "http://causeway.test", "\n");
    link.unwrap_or_else(|| panic!("{mail}"))
}
