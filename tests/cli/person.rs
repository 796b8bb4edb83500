//! Somebody with a browser in front of a server that is a process of its own. Every page that comes is remembered.

use super::server::{Server, exchange_body};
use crate::dashboard::visitor::{between, encode, hidden};
use std::cell::RefCell;

pub struct Person<'a> {
    server: &'a Server,
    cookies: RefCell<Vec<(String, String)>>,
    /// Addresses and answers, but for those that show a new key.
    pub seen: RefCell<Vec<(String, String)>>,
}

impl<'a> Person<'a> {
    pub fn new(server: &'a Server) -> Person<'a> {
        Person {
            server,
            cookies: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    pub fn get(&self, expected: u16, path: &str) -> String {
        self.remember(path, self.send(expected, "GET", path, ""))
    }

    pub fn post(&self, expected: u16, path: &str, fields: &[(&str, &str)]) -> String {
        self.remember(path, self.send(expected, "POST", path, &encode(fields)))
    }

    /// Makes a key; the page is the one place that shows it.
    pub fn make_key(&self, kind: &str) -> String {
        let form = self.get(200, "/dashboard/keys/new");
        let once = hidden(&form, "once");
        let fields = [("name", "of the story"), ("kind", kind), ("once", &once)];
        shown(&self.send(200, "POST", "/dashboard/keys/new", &encode(&fields)))
    }

    /// Rolls a key; again the page is the one place that shows the new one.
    pub fn roll(&self, id: &str) -> String {
        let path = format!("/dashboard/keys/{id}/roll");
        self.get(200, &path);
        shown(&self.send(200, "POST", &path, &encode(&[("overlap", "1h")])))
    }

    /// Secrets of the browser.
    pub fn cookies(&self) -> Vec<String> {
        self.cookies
            .borrow()
            .iter()
            .map(|(_, value)| value.clone())
            .collect()
    }

    fn remember(&self, path: &str, answer: String) -> String {
        self.seen.borrow_mut().push((path.to_owned(), answer.clone()));
        answer
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
        let answer = exchange_body(&self.server.address, method, path, &headers, body);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert_eq!(status, expected.to_string(), "{method} {path}: {answer}");
        let mut kept = self.cookies.borrow_mut();
        let fields = answer.lines().take_while(|line| !line.is_empty());
        for field in fields.filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = field.split(';').next().unwrap().split_once('=').unwrap();
            kept.retain(|(known, _)| known != name);
            if !field.contains("Max-Age=0") {
                kept.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }
}

fn shown(page: &str) -> String {
    between(page, "tabindex=\"0\">cw", "<").map_or_else(|| panic!("{page}"), |key| format!("cw{key}"))
}
