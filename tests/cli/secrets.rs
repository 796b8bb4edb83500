//! Keys and passwords are used in every way, right and wrong, and must not appear in anything that a server writes.

use super::server::{Server, run, run_with_input, send};
use super::user::User;
use crate::dashboard::visitor::{between, emails, hidden};
use crate::wait::wait_until;
use crate::world::World;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::db::Db;
use platform::text::hex;
use serde_json::Value;
use std::fs;
use std::path::Path;

on_both_databases!(secrets_are_never_stored_logged_or_shown,);

const TABLES: &str = "select table_name::text from information_schema.tables where table_schema = 'public'";

const KEY_IDS: &str =
    "select cast(k.id as text) from keys k join accounts a on a.id = k.account_id where a.username = 'grace'";
const KEY_IDS_ON_SQLITE: &str =
    "select lower(hex(k.id)) from keys k join accounts a on a.id = k.account_id where a.username = 'grace'";

const DASHBOARD_PATHS: [&str; 13] = [
    "",
    "/keys/new",
    "/first-steps",
    "/usage",
    "/usage.csv",
    "/settings",
    "/settings/delete",
    "/fundraisers",
    "/fundraisers/new",
    "/sign-in",
    "/sign-up",
    "/sign-out",
    "/reset",
];
const PUBLIC_PATHS: [&str; 9] = [
    "/",
    "/causes",
    "/causes/animals",
    "/developers",
    "/american-red-cross",
    "/search?q=red",
    "/robots.txt",
    "/sitemap.xml",
    "/v0.2/openapi.json",
];

const FIRST: &str = "canary one: river & stone";
const WRONG: &str = "canary two: guessed / it";
const CHANGED: &str = "canary three: meadow + cloud";
const RESET: &str = "canary four: teapot % lantern";
const OPERATOR: &str = "canary five: behind the counter";
const REFUSED: &str = "canary6";

/// Every encoding in which a secret may have been written.
fn encodings(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let mut encodings = vec![
        bytes.to_vec(),
        hex(bytes).into_bytes(),
        hex(bytes).to_uppercase().into_bytes(),
    ];
    let percent_encoded = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    encodings.extend([
        percent_encoded.to_lowercase().into_bytes(),
        percent_encoded.clone().into_bytes(),
        percent_encoded.replace("%20", "+").into_bytes(),
    ]);
    encodings.extend(["&#38;", "&amp;"].map(|mark| secret.replace('&', mark).into_bytes()));
    // In Base64 the encoding depends on the offset modulo 3. Characters shared with neighboring bytes are left out.
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for offset in 0..3 {
            let encoded = engine.encode([&vec![b'x'; offset][..], bytes].concat());
            let (from, to) = ((offset * 8).div_ceil(6), (offset + bytes.len()) * 8 / 6);
            encodings.push(encoded.as_bytes()[from..to].to_vec());
        }
    }
    encodings
}

/// Whether some bytes contain a secret, or the significant part of a key.
pub fn contains(bytes: &[u8], secret: &str) -> bool {
    let secret = if secret.starts_with("cw") {
        &secret[5..35]
    } else {
        secret
    };
    encodings(secret)
        .iter()
        .any(|encoding| memchr::memmem::find(bytes, encoding).is_some())
}

/// Every file in a folder and its subfolders.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

/// The content of the database: the files of SQLite, or every row of every table.
pub async fn database_content(world: &World) -> Vec<u8> {
    let Db::Postgres(postgres) = &world.app.db else {
        let files = files(world.data()).into_iter();
        return files
            .filter(|(name, _)| name.contains("causeway.db"))
            .flat_map(|(_, bytes)| bytes)
            .collect();
    };
    let pool = &postgres.pool();
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(pool).await.unwrap();
    let mut text = String::new();
    for table in tables {
        let rows = sqlx::AssertSqlSafe(format!("select t::text from {table} t"));
        let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(pool).await.unwrap();
        text.extend(rows);
    }
    text.into_bytes()
}

/// Sends a pair of keys in the right places, swapped, and where keys do not belong.
fn send_keys(server: &Server, public: &str, private: &str) -> Vec<(String, String)> {
    let mut responses = Vec::new();
    let mut send = |method: &str, path: &str, headers: &str| {
        responses.push((path.to_owned(), server.send(method, path, headers)));
    };
    let basic = |name: &str, password: &str| {
        format!(
            "Authorization: Basic {}\r\n",
            STANDARD.encode(format!("{name}:{password}"))
        )
    };
    for (key, other) in [(public, private), (private, public)] {
        for path in [
            "nonprofit/530196605",
            "nonprofit/nobody",
            "search/red",
            "browse/animals",
            "causes",
            "nowhere",
            "nonprofit/530196605/fundraiser/x",
        ] {
            send("GET", &format!("/v0.2/{path}?apiKey={key}"), "");
        }
        let encoded = key.replace('_', "%5F");
        for path in [
            format!("causes?apiKey={key}&apiKey={other}"),
            format!("causes?apiKey={key}x"),
            format!("causes?apiKey={}", &key[..40]),
            format!("causes?apiKey={encoded}"),
            format!("causes?take=x&apiKey=%20{key}"),
            format!("browse/animals?take={key}&apiKey={public}"),
            format!("nonprofit/{key}?apiKey={public}"),
            format!("browse/{key}?apiKey={public}"),
            format!("search/{key}?apiKey={public}"),
        ] {
            send("GET", &format!("/v0.2/{path}"), "");
        }
        send("GET", &format!("/{key}"), "");
        for headers in [
            basic(key, other),
            basic(key, key),
            basic(other, ""),
            basic("", key),
            format!("Authorization: Basic {key}\r\n"),
            format!("Authorization: Basic {key}:{other}\r\n"),
            format!("Authorization: Basic {}=\r\n", STANDARD.encode(key)),
            format!("Authorization: Bearer {key}\r\n"),
            format!("Authorization: {key}\r\n"),
            format!(
                "Authorization: Basic {}\r\n{}",
                STANDARD.encode(key),
                basic(key, other)
            ),
            format!(
                "X-Api-Key: {key}\r\nCookie: key={key}\r\nReferer: http://x/?apiKey={key}\r\nUser-Agent: {key}\r\n"
            ),
        ] {
            send("POST", "/v0.2/fundraiser", &headers);
            send("GET", "/v0.2/fundraisers", &headers);
            send("GET", &format!("/v0.2/causes?apiKey={public}"), &headers);
        }
    }
    responses
}

/// The ID of a key on the dashboard.
fn key_id_on(page: &str, key: &str) -> String {
    let shown = page.split_once(key);
    let (before, _) = shown.unwrap_or_else(|| panic!("the page does not show {key}: {page}"));
    let (_, id) = before.rsplit_once("id=\"key-").unwrap();
    id[..36].to_owned()
}

/// Has passwords refused, set, mistyped, changed and reset, and returns the token from the email.
async fn use_passwords(world: &World, grace: &User<'_>) -> String {
    for (status, password) in [(422, REFUSED), (303, FIRST)] {
        let fields = [
            ("username", "grace"),
            ("email", "grace@example.org"),
            ("password", password),
        ];
        grace.post(status, "/dashboard/sign-up", &fields);
    }
    for (username, password) in [("grace", WRONG), (WRONG, "grace")] {
        let fields = [("username", username), ("password", password)];
        grace.post(422, "/dashboard/sign-in", &fields);
    }
    for (status, current) in [(422, WRONG), (303, FIRST)] {
        let fields = [("current", current), ("password", CHANGED)];
        grace.post(status, "/dashboard/settings/password", &fields);
    }
    grace.post(200, "/dashboard/reset", &[("who", "grace")]);
    let email = emails(world, 1).await.remove(0);
    let link = between(&email, "/dashboard/reset/set", "\n").unwrap();
    let link = format!("/dashboard/reset/set{link}");
    let token = hidden(&grace.get(200, &link), "token");
    // The page of the link contains the token, as the link does.
    grace.pages.borrow_mut().retain(|(path, _)| *path != link);
    for (status, password) in [(303, RESET), (410, CHANGED)] {
        let fields = [("token", token.as_str()), ("password", password)];
        grace.post(status, "/dashboard/reset/set", &fields);
    }
    token
}

/// Public and private keys, and the responses to calls with them.
struct Keys {
    publics: Vec<String>,
    privates: Vec<String>,
    responses: Vec<(String, String)>,
}

/// Creates keys on a page and by command, then rotates, revokes, exposes and blocks them.
async fn use_keys(world: &World, server: &Server, grace: &User<'_>) -> Keys {
    let (public, private) = (grace.create_key("public"), grace.create_key("private"));
    let created = |kind: &str| run(world, &["key", "create", "--account", "grace", "--kind", kind]);
    let text = |created: &Value, name: &str| created[name].as_str().unwrap().to_owned();
    let (other_public, other_private) = (created("public"), created("private"));
    let mut responses = send_keys(server, &public, &private);
    responses.extend(send_keys(
        server,
        &text(&other_public, "key"),
        &text(&other_private, "key"),
    ));
    let id = key_id_on(&grace.get(200, "/dashboard"), &public);
    let rotated = grace.rotate(&id);
    let id_of_private = text(&other_private, "id");
    let private_rotated = run(world, &["key", "rotate", &id_of_private, "--overlap", "1h"]);
    let revoke = format!("/dashboard/keys/{}/revoke", text(&other_public, "id"));
    grace.post(303, &revoke, &[]);
    run(world, &["key", "block", &id, "--reason", "a test"]);
    let blocked = format!("/v0.2/causes?apiKey={public}");
    wait_until("the key is blocked", || server.status(&blocked) == 403);
    responses.extend(send_keys(server, &public, &private));
    responses.extend(send_keys(server, &rotated, &text(&private_rotated, "key")));
    let has = |text: &str| responses.iter().any(|(_, response)| response.contains(text));
    assert!(has("HTTP/1.1 200") && has("private_key_exposed") && has("blocked_key"));
    // While one of its keys is blocked, an account cannot create keys.
    run(world, &["key", "unblock", &id]);
    let emails = emails(world, 2).await;
    assert!(
        emails.iter().any(|email| email.contains("was exposed")),
        "{emails:?}"
    );
    Keys {
        publics: vec![public, rotated, text(&other_public, "key")],
        privates: vec![
            private,
            text(&other_private, "key"),
            text(&private_rotated, "key"),
        ],
        responses,
    }
}

/// Opens every page, as the owner of the keys and as an operator.
async fn open_pages(world: &World, grace: &User<'_>, olga: &User<'_>) {
    for path in DASHBOARD_PATHS {
        grace.get(200, &format!("/dashboard{path}"));
    }
    for path in ["", "/keys", "/imports", "/errors", "/audit"] {
        olga.get(200, &format!("/dashboard/operator{path}"));
    }
    for path in PUBLIC_PATHS {
        grace.get(200, path);
    }
    grace.get(404, "/dashboard/keys/x");
    let ids = match world.app.db {
        Db::Sqlite { .. } => KEY_IDS_ON_SQLITE,
        Db::Postgres(_) => KEY_IDS,
    };
    for id in world.texts(ids).await {
        let id = uuid::Uuid::try_parse(&id).unwrap();
        grace.get(200, &format!("/dashboard/keys/{id}"));
        olga.get(200, &format!("/dashboard/operator/keys/{id}"));
    }
}

/// Asserts that none of the texts contains any of the secrets.
fn assert_clean<'a>(
    texts: impl Iterator<Item = (&'a str, &'a [u8])>,
    secrets: &[&String],
    is_allowed: impl Fn(&str, &str) -> bool,
) {
    for (name, text) in texts {
        for secret in secrets {
            let is_clean = is_allowed(name, secret) || !contains(text, secret);
            assert!(
                is_clean,
                "{name} contains {secret}: {}",
                String::from_utf8_lossy(text)
            );
        }
    }
}

fn as_bytes(texts: &[(String, String)]) -> impl Iterator<Item = (&str, &[u8])> {
    texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes()))
}

async fn secrets_are_never_stored_logged_or_shown(world: &World) {
    world.load_demo().await;
    let server = Server::start(world, "server");
    let (grace, olga) = (User::new(&server), User::new(&server));
    let token = use_passwords(world, &grace).await;
    run_with_input(
        world,
        &["account", "create", "olga", "--operator", "--password-stdin"],
        OPERATOR,
    );
    olga.post(
        303,
        "/dashboard/sign-in",
        &[("username", "olga"), ("password", OPERATOR)],
    );
    let Keys {
        publics,
        privates,
        responses,
    } = use_keys(world, &server, &grace).await;
    open_pages(world, &grace, &olga).await;

    let lists: String = [["key", "list"], ["account", "list"], ["limit", "list"]]
        .map(|arguments| run(world, &arguments).to_string())
        .concat();
    let metrics = send(&server.metrics, "GET", "/metrics", "");
    assert!(metrics.contains("causeway_requests_total"));
    wait_until("the log contains the last page", || {
        server.log().contains("/dashboard/operator/keys/")
    });
    let log = server.log();
    assert!(
        log.contains("/v0.2/fundraiser") && log.lines().count() > 200,
        "{log}"
    );
    let (pages, cookies) = (
        [grace.pages.take(), olga.pages.take()].concat(),
        [grace.cookies(), olga.cookies()].concat(),
    );
    server.stop();
    let database = database_content(world).await;
    let files = files(world.data());

    let passwords = [FIRST, WRONG, CHANGED, RESET, OPERATOR, REFUSED].map(str::to_owned);
    let secrets: Vec<&String> = privates.iter().chain(&passwords).collect();
    let with_tokens: Vec<&String> = secrets.iter().copied().chain(&cookies).chain([&token]).collect();
    let written = || {
        [
            ("the log", log.as_bytes()),
            ("the metrics", metrics.as_bytes()),
            ("the lists", lists.as_bytes()),
        ]
        .into_iter()
    };
    let in_database = [("the database", &database[..])].into_iter();
    assert_clean(
        written().chain(in_database).chain(as_bytes(&responses)),
        &with_tokens,
        |_, _| false,
    );
    assert_clean(
        files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])),
        &secrets,
        |_, _| false,
    );
    // The username field shows what was typed into it.
    assert_clean(as_bytes(&pages), &secrets, |path, secret| {
        path == "/dashboard/sign-in" && secret == WRONG
    });

    // Public keys may only appear on the dashboard, in the database, and in the keys that are saved for a start without it.
    let publics: Vec<&String> = publics.iter().collect();
    assert!(
        publics.iter().all(|key| contains(&database, key)),
        "the search finds nothing"
    );
    assert!(
        pages
            .iter()
            .any(|(_, page)| contains(page.as_bytes(), publics[0])),
        "the dashboard does not show the key"
    );
    assert_clean(written().take(2).chain(as_bytes(&responses)), &publics, |_, _| {
        false
    });
    assert_clean(as_bytes(&pages), &publics, |path, _| {
        path.starts_with("/dashboard")
    });
    let others = files
        .iter()
        .filter(|(name, _)| !name.contains("causeway.db") && !name.ends_with("directory/keys"));
    assert_clean(
        others.map(|(name, bytes)| (name.as_str(), &bytes[..])),
        &publics,
        |_, _| false,
    );
}

#[test]
fn a_secret_is_detected_in_every_encoding() {
    let secret = "canary & co: 1/2";
    for hidden in [
        secret.to_owned(),
        STANDARD.encode(format!("ab{secret}yz")),
        STANDARD.encode(format!("{secret}:x")),
        URL_SAFE_NO_PAD.encode(format!("name:{secret}")),
        hex(secret.as_bytes()),
        "password=canary%20%26%20co%3A%201%2F2&".to_owned(),
        "password=canary+%26+co%3A+1%2F2&".to_owned(),
        "value=\"canary &#38; co: 1/2\"".to_owned(),
    ] {
        assert!(contains(format!("...{hidden}...").as_bytes(), secret), "{hidden}");
    }
    assert!(!contains(b"canary & co: 1/3", secret));
}
