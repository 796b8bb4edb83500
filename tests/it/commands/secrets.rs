//! Keys are nowhere but where they belong, after calls of every kind with keys that are searched for afterwards.

use super::server::{Server, command, eventually, exchange};
use crate::world::World;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::db::Db;
use std::fs;

const TABLES: &str = "select table_name::text from information_schema.tables where table_schema = 'public'";

/// All that the store holds, as bytes of its files or as text of its rows.
async fn stored(world: &World) -> Vec<u8> {
    let Db::Postgres(pool) = &world.app.db else {
        let files = fs::read_dir(world.data())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.to_str().unwrap().contains("causeway.db"));
        return files.flat_map(|path| fs::read(path).unwrap()).collect();
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

/// Whether a key, or enough of it to matter, stands in a text.
fn holds(text: &[u8], key: &str) -> bool {
    let secret = &key.as_bytes()[5..35];
    text.windows(secret.len()).any(|part| part == secret)
}

on_both! {
    async fn no_key_is_where_it_does_not_belong(world: &World) {
        let server = Server::start(world, "server");
        let made = |kind: &str| command(world, &["key", "create", "--account", "ada", "--kind", kind])["key"].as_str().unwrap().to_owned();
        let (public, private) = (made("public"), made("private"));
        let basic = |name: &str, password: &str| format!("Authorization: Basic {}\r\n", STANDARD.encode(format!("{name}:{password}")));
        let mut answers = Vec::new();
        for (key, other) in [(&public, &private), (&private, &public)] {
            for path in ["nonprofit/530196605", "nonprofit/nobody", "search/red", "browse/animals", "causes", "nowhere"] {
                answers.push(server.send("GET", &format!("/v0.2/{path}?apiKey={key}"), ""));
            }
            for address in [
                format!("/v0.2/causes?apiKey={key}&apiKey={other}"),
                format!("/v0.2/causes?apiKey={key}x"),
                format!("/v0.2/causes?take=x&apiKey=%20{key}"),
                format!("/v0.2/browse/animals?take={key}&apiKey={public}"),
            ] {
                answers.push(server.send("GET", &address, ""));
            }
            for headers in [basic(key, other), basic(key, key), basic(other, ""), format!("Authorization: Bearer {key}\r\n"), format!("X-Api-Key: {key}\r\n")] {
                answers.push(server.send("POST", "/v0.2/fundraiser", &headers));
                answers.push(server.send("GET", &format!("/v0.2/causes?apiKey={public}"), &headers));
            }
        }
        assert!(answers.iter().any(|answer| answer.starts_with("HTTP/1.1 200")));
        assert!(answers.iter().any(|answer| answer.contains("private_key_exposed")));
        let metrics = exchange(&server.metrics, "GET", "/metrics", "");
        assert!(metrics.contains("causeway_requests_total"));
        eventually("the log has the privileged calls", || server.log().contains("/v0.2/fundraiser"));
        let log = server.log();
        server.stop();
        for key in [&public, &private] {
            assert!(!answers.iter().any(|answer| holds(answer.as_bytes(), key)), "an answer holds {key}");
            assert!(!holds(metrics.as_bytes(), key), "the metrics hold {key}");
            assert!(!holds(log.as_bytes(), key), "the log holds {key}");
        }
        let stored = stored(world).await;
        assert!(holds(&stored, &public), "nothing was searched");
        assert!(!holds(&stored, &private), "the store holds a private key");
    }
}
