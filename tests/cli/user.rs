//! A browser user of a server process, who records every page.

use super::server::{Server, send_body};
use crate::dashboard::visitor::{between, encode, hidden};
use std::cell::RefCell;

pub struct User<'a> {
    server: &'a Server,
    cookies: RefCell<Vec<(String, String)>>,
    /// Paths and responses, except those that show a new key.
    pub pages: RefCell<Vec<(String, String)>>,
}

impl<'a> User<'a> {
    pub fn new(server: &'a Server) -> User<'a> {
        User {
            server,
            cookies: RefCell::default(),
            pages: RefCell::default(),
        }
    }

    pub fn get(&self, expected: u16, path: &str) -> String {
        self.record(path, self.send(expected, "GET", path, ""))
    }

    pub fn post(&self, expected: u16, path: &str, fields: &[(&str, &str)]) -> String {
        self.record(path, self.send(expected, "POST", path, &encode(fields)))
    }

    /// Creates a key. Its page is not recorded, because only this page shows the key.
    pub fn create_key(&self, kind: &str) -> String {
        let form = self.get(200, "/dashboard/keys/new");
        let once = hidden(&form, "once");
        let fields = [("name", "story"), ("kind", kind), ("once", &once)];
        key_on(&self.send(200, "POST", "/dashboard/keys/new", &encode(&fields)))
    }

    /// Rotates a key. Its page is not recorded, because only this page shows the new key.
    pub fn rotate(&self, id: &str) -> String {
        let path = format!("/dashboard/keys/{id}/rotate");
        self.get(200, &path);
        key_on(&self.send(200, "POST", &path, &encode(&[("overlap", "1h")])))
    }

    /// The values of all cookies that are secret. That somebody is signed in is not.
    pub fn cookies(&self) -> Vec<String> {
        self.cookies
            .borrow()
            .iter()
            .filter(|(name, _)| name != "causeway_signed_in")
            .map(|(_, value)| value.clone())
            .collect()
    }

    fn record(&self, path: &str, response: String) -> String {
        self.pages.borrow_mut().push((path.to_owned(), response.clone()));
        response
    }

    fn send(&self, expected: u16, method: &str, path: &str, body: &str) -> String {
        let cookies = self
            .cookies
            .borrow()
            .iter()
            .fold(String::new(), |text, (name, value)| {
                format!("{text}{name}={value}; ")
            });
        let headers = format!(
            "Cookie: {cookies}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        );
        let response = send_body(&self.server.address, method, path, &headers, body);
        let status = response.split(' ').nth(1).unwrap_or_default();
        assert_eq!(status, expected.to_string(), "{method} {path}: {response}");
        let mut cookies = self.cookies.borrow_mut();
        let fields = response.lines().take_while(|line| !line.is_empty());
        for field in fields.filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = field.split(';').next().unwrap().split_once('=').unwrap();
            cookies.retain(|(known, _)| known != name);
            if !field.contains("Max-Age=0") {
                cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        response
    }
}

/// The new key that a page shows.
fn key_on(page: &str) -> String {
    between(page, "tabindex=\"0\">cw", "<").map_or_else(|| panic!("{page}"), |key| format!("cw{key}"))
}
