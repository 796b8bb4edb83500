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
use std::fs;
use std::path::Path;

const TABLES: &str = "select table_name::text from information_schema.tables where table_schema = 'public'";
const IDS: &str = "select name || '=' || cast(id as text) from keys where account_id = (select id from accounts where username = 'grace')";

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
    forms.push(
        format!("{:?}", secret)[1..]
            .trim_end_matches('"')
            .as_bytes()
            .to_vec(),
    );
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
    let (before, _) = page
        .split_once(key)
        .unwrap_or_else(|| panic!("{key} is not shown: {page}"));
    let (_, id) = before.rsplit_once("id=\"key-").unwrap();
    id[..36].to_owned()
}

on_both! {
    async fn no_secret_is_left_behind_wherever_it_was_used(world: &World) {
        world.load_demo().await;
        let server = Server::start(world, "server");
        let grace = Person::new(&server);

        // Passwords: set, mistyped, refused, changed, forgotten.
        let sign_up = |password: &str| [("username", "grace".to_owned()), ("email", "grace@example.org".to_owned()), ("password", password.to_owned())];
        let fields = sign_up(REFUSED);
        grace.post(422, "/dashboard/sign-up", &fields.each_ref().map(|(name, value)| (*name, value.as_str())));
        let fields = sign_up(FIRST);
        grace.post(303, "/dashboard/sign-up", &fields.each_ref().map(|(name, value)| (*name, value.as_str())));
        grace.post(422, "/dashboard/sign-in", &[("username", "grace"), ("password", WRONG)]);
        grace.post(422, "/dashboard/sign-in", &[("username", WRONG), ("password", "grace")]);
        grace.post(422, "/dashboard/settings/password", &[("current", WRONG), ("password", CHANGED)]);
        grace.post(303, "/dashboard/settings/password", &[("current", FIRST), ("password", CHANGED)]);
        grace.post(200, "/dashboard/reset", &[("who", "grace")]);
        let mail = mails(world, 1).await.remove(0);
        let link = format!("/dashboard/reset/set{}", between(&mail, "/dashboard/reset/set", "\n").unwrap());
        let token = hidden(&grace.get(200, &link), "token");
        grace.seen.borrow_mut().retain(|(path, _)| *path != link);
        grace.post(303, "/dashboard/reset/set", &[("token", &token), ("password", RESET)]);
        grace.post(410, "/dashboard/reset/set", &[("token", &token), ("password", CHANGED)]);
        command_with(world, &["account", "create", "olga", "--operator", "--password-stdin"], OPERATOR);
        let olga = Person::new(&server);
        olga.post(303, "/dashboard/sign-in", &[("username", "olga"), ("password", OPERATOR)]);

        // Keys: made on a page and by the command, rolled, revoked, exposed, blocked.
        let (public, private) = (grace.make_key("public"), grace.make_key("private"));
        let made = |kind: &str| command(world, &["key", "create", "--account", "grace", "--kind", kind]);
        let (other_public, other_private) = (made("public"), made("private"));
        let text = |made: &serde_json::Value| made["key"].as_str().unwrap().to_owned();
        let mut answers = call(&server, &public, &private);
        answers.extend(call(&server, &text(&other_public), &text(&other_private)));
        let list = grace.get(200, "/dashboard");
        let id = id_in(&list, &public);
        let rolled = grace.roll(&id);
        let private_rolled = command(world, &["key", "roll", other_private["id"].as_str().unwrap(), "--overlap", "1h"]);
        grace.post(303, &format!("/dashboard/keys/{}/revoke", other_public["id"].as_str().unwrap()), &[]);
        command(world, &["key", "block", &id, "--reason", "a story"]);
        answers.extend(call(&server, &rolled, &text(&private_rolled)));
        assert!(answers.iter().any(|(_, answer)| answer.starts_with("HTTP/1.1 200")));
        assert!(answers.iter().any(|(_, answer)| answer.contains("private_key_exposed")));
        let exposed = mails(world, 2).await;
        assert!(exposed.iter().any(|mail| mail.contains("was exposed")), "{exposed:?}");

        // All pages, of everybody.
        let ids = world.texts(match world.app.db { Db::Sqlite { .. } => IDS_OF_SQLITE, Db::Postgres(_) => IDS }).await;
        for path in ["", "/keys/new", "/first-steps", "/usage", "/usage.csv", "/settings", "/fundraisers", "/fundraisers/new", "/sign-in", "/sign-up", "/reset", "/sign-out", "/settings/delete"] {
            grace.get(200, &format!("/dashboard{path}"));
        }
        for id in ids.iter().map(|id| id.rsplit('=').next().unwrap().to_lowercase()) {
            let id = uuid::Uuid::try_parse(&id).unwrap();
            grace.get(200, &format!("/dashboard/keys/{id}"));
            olga.get(200, &format!("/dashboard/operator/keys/{id}"));
        }
        for path in ["", "/keys", "/imports", "/errors", "/audit"] {
            olga.get(200, &format!("/dashboard/operator{path}"));
        }
        for path in ["/", "/causes", "/causes/animals", "/developers", "/american-red-cross", "/search?q=red", "/robots.txt", "/sitemap.xml"] {
            grace.get(200, path);
        }
        grace.get(404, "/dashboard/keys/x");
        answers.push(("/v0.2/openapi.json".to_owned(), server.send("GET", "/v0.2/openapi.json", "")));
        let lists: String = [&["key", "list"][..], &["account", "list"], &["limit", "list"]].map(|asked| command(world, asked).to_string()).concat();
        let metrics = exchange(&server.metrics, "GET", "/metrics", "");
        assert!(metrics.contains("causeway_requests_total"));
        eventually("the log has the last calls", || server.log().contains("openapi.json"));
        let log = server.log();
        assert!(log.contains("/v0.2/fundraiser") && log.lines().count() > 200, "{log}");
        let (pages, cookies) = ([grace.seen.take(), olga.seen.take()].concat(), [grace.cookies(), olga.cookies()].concat());
        server.stop();

        let stored = stored(world).await;
        let publics = [&public, &rolled, &text(&other_public)];
        let privates = [&private, &text(&other_private), &text(&private_rolled)];
        let passwords = [FIRST, WRONG, CHANGED, RESET, OPERATOR, REFUSED].map(str::to_owned);
        let mut secrets: Vec<&String> = privates.to_vec();
        secrets.extend(&passwords);
        // What was typed into a field that shows what is typed comes back in that field.
        let typed_openly = |path: &str, secret: &str| path == "/dashboard/sign-in" && secret == WRONG;
        for secret in secrets.iter().copied().chain(&cookies).chain([&token]) {
            assert!(!holds(log.as_bytes(), secret), "the log holds {secret}");
            assert!(!holds(metrics.as_bytes(), secret), "the metrics hold {secret}");
            assert!(!holds(lists.as_bytes(), secret), "a list holds {secret}");
            assert!(!holds(&stored, secret), "the store holds {secret}");
            for (path, answer) in &answers {
                assert!(!holds(answer.as_bytes(), secret), "{path} holds {secret}");
            }
        }
        for secret in secrets {
            for (path, page) in &pages {
                assert!(typed_openly(path, secret) || !holds(page.as_bytes(), secret), "{path} holds {secret}: {page}");
            }
            for (file, bytes) in files(world.data()) {
                assert!(!holds(&bytes, secret), "{file} holds {secret}");
            }
        }
        for key in publics {
            assert!(holds(&stored, key), "nothing was searched");
            assert!(!holds(log.as_bytes(), key), "the log holds {key}");
            assert!(!holds(metrics.as_bytes(), key), "the metrics hold {key}");
            for (path, answer) in &answers {
                assert!(!holds(answer.as_bytes(), key), "{path} holds {key}: {answer}");
            }
            let shown: Vec<&str> = pages.iter().filter(|(_, page)| holds(page.as_bytes(), key)).map(|(path, _)| path.as_str()).collect();
            assert!(shown.iter().all(|path| path.starts_with("/dashboard")), "{key} is shown on {shown:?}");
        }
        assert!(pages.iter().any(|(_, page)| holds(page.as_bytes(), &public)), "its owner is shown it");
        for (file, bytes) in files(world.data()).into_iter().filter(|(name, _)| !name.contains("causeway.db")) {
            assert!(publics.iter().all(|key| !holds(&bytes, key)), "{file} holds a public key");
        }
    }
}

const IDS_OF_SQLITE: &str = "select name || '=' || hex(id) from keys where account_id = (select id from accounts where username = 'grace')";

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
    ] {
        assert!(holds(format!("...{hidden}...").as_bytes(), secret), "{hidden}");
    }
    assert!(!holds(b"canary & co: 1/3", secret));
}
