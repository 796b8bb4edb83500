//! Secrets are nowhere: keys and passwords are used in every way there is, right and wrong, and then searched for in all
//! that a server leaves behind.

use super::person::Person;
use super::server::{Server, command, command_with, eventually, exchange};
use crate::dashboard::visitor::{between, hidden, mails};
use crate::world::World;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use causeway::db::Db;
use causeway::text::hex;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::fs;
use std::path::Path;

on_both_databases!(no_secret_is_left_behind_wherever_it_was_used,);

const TABLES: &str = "select table_name::text from information_schema.tables where table_schema = 'public'";

const IDS: &str =
    "select cast(k.id as text) from keys k join accounts a on a.id = k.account_id where a.username = 'grace'";
const IDS_OF_SQLITE: &str =
    "select lower(hex(k.id)) from keys k join accounts a on a.id = k.account_id where a.username = 'grace'";

const DASHBOARD: [&str; 13] = [
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
const PUBLIC: [&str; 9] = [
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

/// Every form in which a text may have been written down.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let mut forms = vec![
        bytes.to_vec(),
        hex(bytes).into_bytes(),
        hex(bytes).to_uppercase().into_bytes(),
    ];
    let coded = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    forms.extend([
        coded.to_lowercase().into_bytes(),
        coded.clone().into_bytes(),
        coded.replace("%20", "+").into_bytes(),
    ]);
    forms.extend(["&#38;", "&amp;"].map(|mark| secret.replace('&', mark).into_bytes()));
    // In base64 it looks different behind one or two other bytes; what its neighbours share is left out.
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in 0..3 {
            let coded = engine.encode([&vec![b'x'; before][..], bytes].concat());
            let (from, to) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
            forms.push(coded.as_bytes()[from..to].to_vec());
        }
    }
    forms
}

/// Whether a text, or of a key enough to matter, stands in some bytes.
fn holds(bytes: &[u8], secret: &str) -> bool {
    let secret = match secret.starts_with("cw") {
        true => &secret[5..35],
        false => secret,
    };
    forms(secret)
        .iter()
        .any(|form| memchr::memmem::find(bytes, form).is_some())
}

/// Every file of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found
}

/// All that the store holds: the files of SQLite, or every row of every table.
async fn stored(world: &World) -> Vec<u8> {
    let Db::Postgres(pool) = &world.app.db else {
        let files = files(world.data()).into_iter();
        return files
            .filter(|(name, _)| name.contains("causeway.db"))
            .flat_map(|(_, bytes)| bytes)
            .collect();
    };
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(pool).await.unwrap();
    let mut text = String::new();
    for table in tables {
        let rows = sqlx::AssertSqlSafe(format!("select t::text from {table} t"));
        let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(pool).await.unwrap();
        text.extend(rows);
    }
    text.into_bytes()
}

/// Calls of programs with a pair of keys, each in its place, in that of the other, and where keys do not belong.
fn call(server: &Server, public: &str, private: &str) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    let mut send = |method: &str, path: &str, headers: &str| {
        answers.push((path.to_owned(), server.send(method, path, headers)));
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
        let coded = key.replace('_', "%5F");
        for path in [
            format!("causes?apiKey={key}&apiKey={other}"),
            format!("causes?apiKey={key}x"),
            format!("causes?apiKey={}", &key[..40]),
            format!("causes?apiKey={coded}"),
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
    answers
}

/// The id of a key of grace, as its pages name it.
fn id_in(page: &str, key: &str) -> String {
    let shown = page.split_once(key);
    let (before, _) = shown.unwrap_or_else(|| panic!("{key} is not shown: {page}"));
    let (_, id) = before.rsplit_once("id=\"key-").unwrap();
    id[..36].to_owned()
}

/// Passwords that are refused, set, mistyped, changed and forgotten; the token of the mail.
async fn use_passwords(world: &World, grace: &Person<'_>) -> String {
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
    let mail = mails(world, 1).await.remove(0);
    let link = between(&mail, "/dashboard/reset/set", "\n").unwrap();
    let link = format!("/dashboard/reset/set{link}");
    let token = hidden(&grace.get(200, &link), "token");
    // The page behind the link holds the token, as the link does.
    grace.seen.borrow_mut().retain(|(path, _)| *path != link);
    for (status, password) in [(303, RESET), (410, CHANGED)] {
        let fields = [("token", token.as_str()), ("password", password)];
        grace.post(status, "/dashboard/reset/set", &fields);
    }
    token
}

/// Public and private keys, and what the calls with them were answered.
struct Keys {
    publics: Vec<String>,
    privates: Vec<String>,
    answers: Vec<(String, String)>,
}

/// Keys that are made on a page and by the command, rolled, revoked, exposed and blocked.
async fn use_keys(world: &World, server: &Server, grace: &Person<'_>) -> Keys {
    let (public, private) = (grace.make_key("public"), grace.make_key("private"));
    let made = |kind: &str| command(world, &["key", "create", "--account", "grace", "--kind", kind]);
    let text = |made: &Value, name: &str| made[name].as_str().unwrap().to_owned();
    let (other_public, other_private) = (made("public"), made("private"));
    let mut answers = call(server, &public, &private);
    answers.extend(call(
        server,
        &text(&other_public, "key"),
        &text(&other_private, "key"),
    ));
    let id = id_in(&grace.get(200, "/dashboard"), &public);
    let rolled = grace.roll(&id);
    let id_of_private = text(&other_private, "id");
    let private_rolled = command(world, &["key", "roll", &id_of_private, "--overlap", "1h"]);
    let revoke = format!("/dashboard/keys/{}/revoke", text(&other_public, "id"));
    grace.post(303, &revoke, &[]);
    command(world, &["key", "block", &id, "--reason", "a story"]);
    let blocked = format!("/v0.2/causes?apiKey={public}");
    eventually("the block holds", || server.status(&blocked) == 403);
    answers.extend(call(server, &public, &private));
    answers.extend(call(server, &rolled, &text(&private_rolled, "key")));
    let was = |told: &str| answers.iter().any(|(_, answer)| answer.contains(told));
    assert!(was("HTTP/1.1 200") && was("private_key_exposed") && was("blocked_key"));
    let told = mails(world, 2).await;
    assert!(told.iter().any(|mail| mail.contains("was exposed")), "{told:?}");
    Keys {
        publics: vec![public, rolled, text(&other_public, "key")],
        privates: vec![private, text(&other_private, "key"), text(&private_rolled, "key")],
        answers,
    }
}

/// Reads every page there is, as the owner of the keys and as an operator.
async fn read_pages(world: &World, grace: &Person<'_>, olga: &Person<'_>) {
    for path in DASHBOARD {
        grace.get(200, &format!("/dashboard{path}"));
    }
    for path in ["", "/keys", "/imports", "/errors", "/audit"] {
        olga.get(200, &format!("/dashboard/operator{path}"));
    }
    for path in PUBLIC {
        grace.get(200, path);
    }
    grace.get(404, "/dashboard/keys/x");
    let ids = match world.app.db {
        Db::Sqlite { .. } => IDS_OF_SQLITE,
        Db::Postgres(_) => IDS,
    };
    for id in world.texts(ids).await {
        let id = uuid::Uuid::try_parse(&id).unwrap();
        grace.get(200, &format!("/dashboard/keys/{id}"));
        olga.get(200, &format!("/dashboard/operator/keys/{id}"));
    }
}

/// No secret of anybody is in any of these texts.
fn assert_clean<'a>(
    texts: impl Iterator<Item = (&'a str, &'a [u8])>,
    secrets: &[&String],
    is_excused: impl Fn(&str, &str) -> bool,
) {
    for (name, text) in texts {
        for secret in secrets {
            let is_clean = is_excused(name, secret) || !holds(text, secret);
            assert!(
                is_clean,
                "{name} holds {secret}: {}",
                String::from_utf8_lossy(text)
            );
        }
    }
}

fn as_bytes(texts: &[(String, String)]) -> impl Iterator<Item = (&str, &[u8])> {
    texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes()))
}

async fn no_secret_is_left_behind_wherever_it_was_used(world: &World) {
    world.load_demo().await;
    let server = Server::start(world, "server");
    let (grace, olga) = (Person::new(&server), Person::new(&server));
    let token = use_passwords(world, &grace).await;
    command_with(
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
        answers,
    } = use_keys(world, &server, &grace).await;
    read_pages(world, &grace, &olga).await;

    let lists: String = [["key", "list"], ["account", "list"], ["limit", "list"]]
        .map(|asked| command(world, &asked).to_string())
        .concat();
    let metrics = exchange(&server.metrics, "GET", "/metrics", "");
    assert!(metrics.contains("causeway_requests_total"));
    eventually("the log has the last page", || {
        server.log().contains("/dashboard/operator/keys/")
    });
    let log = server.log();
    assert!(
        log.contains("/v0.2/fundraiser") && log.lines().count() > 200,
        "{log}"
    );
    let (pages, cookies) = (
        [grace.seen.take(), olga.seen.take()].concat(),
        [grace.cookies(), olga.cookies()].concat(),
    );
    server.stop();
    let stored = stored(world).await;
    let files = files(world.data());

    let passwords = [FIRST, WRONG, CHANGED, RESET, OPERATOR, REFUSED].map(str::to_owned);
    let secrets: Vec<&String> = privates.iter().chain(&passwords).collect();
    let with_tokens: Vec<&String> = secrets.iter().copied().chain(&cookies).chain([&token]).collect();
    let kept = || {
        [
            ("the log", log.as_bytes()),
            ("the metrics", metrics.as_bytes()),
            ("the lists", lists.as_bytes()),
        ]
        .into_iter()
    };
    let of_store = [("the store", &stored[..])].into_iter();
    assert_clean(
        kept().chain(of_store).chain(as_bytes(&answers)),
        &with_tokens,
        |_, _| false,
    );
    assert_clean(
        files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])),
        &secrets,
        |_, _| false,
    );
    // What was typed into a field that shows what is typed comes back in that field.
    assert_clean(as_bytes(&pages), &secrets, |path, secret| {
        path == "/dashboard/sign-in" && secret == WRONG
    });

    // Public keys are where the dashboard shows them, and in the store that it shows them from.
    let publics: Vec<&String> = publics.iter().collect();
    assert!(
        publics.iter().all(|key| holds(&stored, key)),
        "nothing was searched"
    );
    assert!(
        pages.iter().any(|(_, page)| holds(page.as_bytes(), publics[0])),
        "its owner is shown it"
    );
    assert_clean(kept().take(2).chain(as_bytes(&answers)), &publics, |_, _| false);
    assert_clean(as_bytes(&pages), &publics, |path, _| {
        path.starts_with("/dashboard")
    });
    let others = files.iter().filter(|(name, _)| !name.contains("causeway.db"));
    assert_clean(
        others.map(|(name, bytes)| (name.as_str(), &bytes[..])),
        &publics,
        |_, _| false,
    );
}

#[test]
fn a_secret_is_found_in_every_form() {
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
        assert!(holds(format!("...{hidden}...").as_bytes(), secret), "{hidden}");
    }
    assert!(!holds(b"canary & co: 1/3", secret));
}
