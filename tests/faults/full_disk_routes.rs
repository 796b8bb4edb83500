//! Every form and every write of the API on a full disk: the response is 503 with a time to try again, or says that the
//! request is invalid, but never an internal error.

use crate::client::{self, Response};
use crate::database::Database;
use crate::full_disk::{Disk, fill};
use crate::instance::{Instance, rounds};
use crate::ledger::Workload;
use crate::server::Server;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use uuid::Uuid;

/// The list of all pages, from which the forms are taken: a new form is tested without being added here.
const PAGES: &str = include_str!("../../src/server/pages.rs");
/// Rounds, unless `CAUSEWAY_DISK_ROUNDS` is set.
const ROUNDS: usize = 2;
const CLIENTS: usize = 4;
const PASSWORD: &str = "river+stone+lantern";
/// A transparent picture of one pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// Forms that write whatever they are sent, so that a full disk must refuse them.
const CERTAIN_WRITES: [&str; 7] = [
    "/dashboard/keys/new",
    "/dashboard/keys/{id}/revoke",
    "/dashboard/fundraisers/new",
    "/dashboard/fundraisers/{id}/close",
    "/dashboard/settings/origins",
    "/dashboard/operator/keys/{id}/block",
    "/{slug}/give",
];

#[test]
fn every_write_route_refuses_a_full_disk_with_503() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let Some(_disk) = Disk::mount(&data) else {
        println!("skipped: no file system can be mounted here");
        return;
    };
    let filler = data.join("filler");
    let mut workload = Workload::new(Instance::at(Database::Sqlite, 1_000, folder, data));
    let server = workload.instance.serve();
    workload.begin(server.address);
    let site = Site::new(&workload, &server);
    let mut refused = BTreeSet::new();
    for round in 0..rounds("CAUSEWAY_DISK_ROUNDS", ROUNDS) {
        let free = if round == 0 {
            0
        } else {
            workload.instance.random.below(60_000)
        };
        fill(&filler, free);
        let mut routes = form_routes();
        // They would succeed with a little space, and the other forms need the session.
        routes.retain(|route| round == 0 || !ends_session(route));
        thread::scope(|scope| {
            // After a failed write, the next one may be in progress already.
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| scope.spawn(|| site.write_everything(&workload, &server, &routes)))
                .collect();
            for client in clients {
                refused.extend(client.join().expect("no internal error"));
            }
        });
        assert_eq!(server.get("/").status, 200, "pages are shown");
        fs::remove_file(&filler).expect("a file");
    }
    let expected = CERTAIN_WRITES.into_iter().chain(["POST /v0.2/fundraiser"]);
    for route in expected {
        assert!(refused.contains(route), "{route} was not refused: {refused:?}");
    }
    let created = workload.create(server.address, "afterwards").expect("a response");
    assert_eq!(created.status, 200, "{}", String::from_utf8_lossy(&created.body));
    workload.instance.check();
}

/// The paths of all pages with a form, those that end the session or the account last.
fn form_routes() -> Vec<String> {
    let routes = PAGES.split(".route(").skip(1);
    let forms = routes.filter(|route| route.contains("form("));
    let paths = forms.filter_map(|route| route.split('"').nth(1));
    let mut paths: Vec<String> = paths.map(str::to_owned).collect();
    paths.sort_by_key(|path| ends_session(path));
    assert!(paths.len() > 20, "the routes cannot be read: {paths:?}");
    paths
}

fn ends_session(route: &str) -> bool {
    ["sign-out", "delete", "password", "sessions"]
        .iter()
        .any(|part| route.contains(part))
}

fn assert_never_internal(server: &Server, route: &str, response: &Response) {
    let body = String::from_utf8_lossy(&response.body);
    assert!(
        response.status < 500 || response.status == 503,
        "{route}: {} {body}\n{}",
        response.status,
        server.log()
    );
    if response.status == 503 {
        assert!(response.header("retry-after").is_some(), "{route}");
    }
}

/// A signed-in operator with a key, a fundraiser, and a donation that is not paid.
struct Site {
    cookie: String,
    /// What the parameters of a path stand for, by the beginning of the path.
    ids: BTreeMap<&'static str, String>,
    slug: String,
    fundraiser: String,
}

impl Site {
    fn new(workload: &Workload, server: &Server) -> Site {
        let instance = &workload.instance;
        let mut site = Site {
            cookie: String::new(),
            ids: BTreeMap::new(),
            slug: workload.profile(server).trim_start_matches('/').to_owned(),
            fundraiser: "run-first".to_owned(),
        };
        let signed_up = site.send_form(server, "/dashboard/sign-up");
        assert_eq!(
            signed_up.status,
            303,
            "{}",
            String::from_utf8_lossy(&signed_up.body)
        );
        let cookies = signed_up.headers.iter().filter(|(name, _)| name == "set-cookie");
        let session = cookies
            .filter_map(|(_, value)| value.split(';').next())
            .find(|cookie| cookie.contains("session"));
        session.expect("a session").clone_into(&mut site.cookie);
        instance.run(&["account", "operator", "olga", "on"]);
        let key = instance.run(&["key", "create", "--account", "olga", "--kind", "public"]);
        let key = key["id"].as_str().expect("an ID").to_owned();
        site.ids.insert("/dashboard/keys/", key.clone());
        site.ids.insert("/dashboard/operator/keys/", key);
        for (form, prefix) in [
            ("/dashboard/fundraisers/new", "/dashboard/fundraisers/"),
            ("/{slug}/give", "/"),
        ] {
            let created = site.send_form(server, form);
            assert_eq!(created.status, 303, "{}", String::from_utf8_lossy(&created.body));
            let location = created.header("location").expect("a location");
            let path = location.split('?').next().unwrap_or_default();
            let id = path.split('/').find(|part| Uuid::parse_str(part).is_ok());
            site.ids.insert(prefix, id.expect("an ID").to_owned());
        }
        site
    }

    /// Sends a form with every field that any form has.
    fn send_form(&self, server: &Server, route: &str) -> Response {
        let ids = self.ids.iter().rev();
        let id = ids.clone().find(|(prefix, _)| route.starts_with(**prefix));
        let path = route
            .replace("{slug}", &self.slug)
            .replace("{fundraiser}", &self.fundraiser)
            .replace("{id}", id.map_or("", |(_, id)| id));
        let username = if route.ends_with("/sign-up") && !self.cookie.is_empty() {
            "another"
        } else {
            "olga"
        };
        let fields = format!(
            "username={username}&email=olga%40example.org&password={PASSWORD}&current={PASSWORD}&name=Full&kind=public\
             &overlap=1h&title=Full+disk&description=Text&nonprofit={}&goal=100&amount=2.50&public=no&who=olga\
             &card=4242424242424242&reason=Too+much&details=5&wrong=A&right=B&search=5&origin=https%3A%2F%2Fexample.org&once={}",
            self.slug,
            Uuid::now_v7()
        );
        let headers = format!("Cookie: {}\r\nSec-Fetch-Site: same-origin\r\n", self.cookie);
        client::post_form_with(server.address, &path, &headers, &fields).expect("a response")
    }

    /// Sends every form and every write of the API, and returns those that were refused.
    fn write_everything(&self, workload: &Workload, server: &Server, routes: &[String]) -> Vec<String> {
        let forms = routes
            .iter()
            .map(|route| (route.clone(), self.send_form(server, route)));
        let mut refused = Vec::new();
        for (route, response) in forms.chain(send_api_writes(workload, server)) {
            assert_never_internal(server, &route, &response);
            if response.status == 503 {
                refused.push(route);
            }
        }
        refused
    }
}

/// Sends every kind of write of the API.
fn send_api_writes(workload: &Workload, server: &Server) -> Vec<(String, Response)> {
    let mut responses = Vec::new();
    let mut send = |method: &str, path: &str, body: &str| {
        let headers = &workload.authorization;
        let response = client::send_json(method, server.address, path, headers, body);
        responses.push((format!("{method} {path}"), response.expect("a response")));
    };
    let nonprofit = workload.nonprofit();
    for picture in ["null".to_owned(), format!("\"{PICTURE}\"")] {
        let body = format!(
            r#"{{"nonprofitId":"{nonprofit}","title":"Full","imageBase64":{picture},"raisedOffline":1}}"#
        );
        send("POST", "/v0.2/fundraiser", &body);
    }
    let own = format!("/v0.2/fundraiser/{}", workload.fundraiser());
    send("PATCH", &own, r#"{"title":"Changed"}"#);
    send("POST", &format!("{own}/close"), "{}");
    send("POST", &format!("{own}/reopen"), "{}");
    responses
}
