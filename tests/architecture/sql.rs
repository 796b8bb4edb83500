//! SQL lives in stores, and each table is written by one store.
//!
//! A store is a file `store.rs` or a folder `store/` of a crate. It may read the tables of others, to join them.

use crate::findings::{Exception, Finding, check, texts};
use crate::source::{Source, crate_names, read_sources};
use std::collections::{BTreeMap, BTreeSet};

/// Files outside stores that may contain SQL, and tables that several stores may write.
const EXCEPTIONS: &[Exception] = &[
    (
        "crates/platform/src/db/",
        "the database layer: it opens, inspects, copies and dumps databases, and counts their revisions",
    ),
    (
        "ledger_head",
        "each batch locks its row and writes it together with its entries; pruning the outbox records its end there",
    ),
];

/// The starts of statements, in lower case as in all our SQL. `*` stands for a name.
const STATEMENTS: &[&str] = &[
    "select",
    "insert into",
    "insert or",
    "update * set",
    "delete from",
    "with * as",
    "with * (",
    "with recursive",
    "create table",
    "create index",
    "create unique",
    "create temp",
    "drop table",
    "alter table",
    "truncate table",
    "lock table",
    "copy * from",
    "vacuum",
    "pragma",
];

/// Calls that run SQL.
const CALLS: &[&str] = &["sqlx::query", "sqlx::raw_sql", "QueryBuilder::new", BULK_INSERT];

/// The call that writes many rows. The name of the table follows.
const BULK_INSERT: &str = ".insert_many(";

/// The starts of statements that write, before the name of the table.
const WRITES: &[&[&str]] = &[
    &["insert", "into"],
    &["insert", "or", "ignore", "into"],
    &["insert", "or", "replace", "into"],
    &["update"],
    &["delete", "from"],
];

/// Returns whether a string literal begins with a statement.
fn is_sql(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    STATEMENTS.iter().any(|statement| {
        let mut expected = statement.split(' ').enumerate();
        expected.all(|(index, expected)| match words.get(index) {
            Some(word) => match expected {
                "*" => is_name(word),
                "(" => word.starts_with('('),
                expected => *word == expected,
            },
            None => false,
        })
    })
}

fn is_name(word: &str) -> bool {
    word.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_')
}

/// Returns the store that a file belongs to: its path up to `store.rs` or `store/`.
fn store_of(path: &str) -> Option<&str> {
    let path = path.strip_suffix(".rs")?;
    let is_in_crate = path.starts_with("crates/");
    let end = path.strip_suffix("/store").map(str::len);
    let end = end.or_else(|| path.find("/store/"));
    end.filter(|_| is_in_crate).map(|end| &path[..end])
}

/// Returns the tables that a string literal writes.
fn written_tables(text: &str) -> BTreeSet<String> {
    let words: Vec<&str> = text
        .split(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut tables = BTreeSet::new();
    for index in 0..words.len() {
        let rest = &words[index..];
        let write = WRITES.iter().find(|write| rest.starts_with(write));
        if let Some(write) = write
            && let Some(table) = rest.get(write.len())
            // `on conflict do update set` and `for update` name no table.
            && (**write != ["update"] || rest.get(2) == Some(&"set"))
        {
            tables.insert((*table).to_owned());
        }
    }
    tables
}

/// Returns the tables that a file writes, with statements and in bulk.
fn tables_written_by(source: &Source) -> BTreeSet<String> {
    let statements = source.strings.iter().filter(|(_, text)| is_sql(text));
    let mut tables: BTreeSet<String> = statements.flat_map(|(_, text)| written_tables(text)).collect();
    for (index, line) in source.code.lines().enumerate() {
        if line.contains(BULK_INSERT) {
            let next = source.strings.iter().find(|(line, _)| *line > index);
            tables.extend(next.map(|(_, table)| table.clone()));
        }
    }
    tables
}

fn findings(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut writers: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        if let Some(store) = store_of(&source.path) {
            for table in tables_written_by(source) {
                writers.entry(table).or_default().insert(store);
            }
        } else {
            found.extend(outside_stores(source));
        }
    }
    let shared = writers.into_iter().filter(|(_, stores)| stores.len() > 1);
    found.extend(shared.map(|(table, stores)| {
        let stores: Vec<&str> = stores.into_iter().collect();
        Finding {
            text: format!("several stores write {table}: {}", stores.join(", ")),
            subject: table,
        }
    }));
    found
}

/// Returns the lines of a file with a statement or a call that runs one.
fn outside_stores(source: &Source) -> Vec<Finding> {
    let statements = source.strings.iter().filter(|(_, text)| is_sql(text));
    let start = |text: &str| text.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    let mut lines: BTreeMap<usize, String> = statements
        .map(|(line, text)| (*line, format!("\"{} …\"", start(text))))
        .collect();
    for (index, line) in source.code.lines().enumerate() {
        if let Some(call) = CALLS.iter().find(|call| line.contains(**call)) {
            lines.entry(index + 1).or_insert_with(|| (*call).to_owned());
        }
    }
    let path = &source.path;
    let findings = lines.into_iter().map(|(line, what)| Finding {
        subject: path.clone(),
        text: format!("{path}:{line}: SQL outside a store: {what}"),
    });
    findings.collect()
}

#[test]
fn sql_is_in_stores_and_each_table_is_written_by_one() {
    let mut sources = read_sources("src");
    for name in crate_names() {
        sources.extend(read_sources(&format!("crates/{name}/src")));
    }
    check(&findings(&sources), EXCEPTIONS);
}

#[test]
fn planted_sql_outside_a_store_is_found() {
    let text = "const FIND: &str =\n    \"select id from keys\";\nconst HINT: &str = \"update the keys\";\n\
                fn f() { sqlx::query(FIND); }\nconst WITH: &str = \"with a key\";";
    assert_eq!(
        texts(&findings(&[Source::parse(
            "crates/access/src/keys/ring.rs",
            text
        )])),
        [
            "crates/access/src/keys/ring.rs:2: SQL outside a store: \"select id from keys …\"",
            "crates/access/src/keys/ring.rs:4: SQL outside a store: sqlx::query",
        ]
    );
    for path in [
        "crates/access/src/keys/store.rs",
        "crates/access/src/keys/store/row.rs",
    ] {
        assert!(findings(&[Source::parse(path, text)]).is_empty(), "{path}");
    }
    assert_eq!(findings(&[Source::parse("src/cli/store.rs", text)]).len(), 2);
}

#[test]
fn a_planted_write_to_the_table_of_another_store_is_found() {
    let keys = "const A: &str = \"update keys set revision = $1\";\n\
                const B: &str = \"insert into key_limits (key_id) values ($1) on conflict do update set class = $2\";";
    let limits = "const C: &str = \"select id from keys\";\nconst D: &str = \"delete from recent_calls\";";
    let usage = "fn f() { tx.insert_many(\"key_usage\", columns, &rows); }";
    let accounts = "const E: &str = \"with gone as (delete from keys returning id) select id from gone\";";
    let planted = [
        Source::parse("crates/access/src/keys/store/mod.rs", keys),
        Source::parse("crates/access/src/limits/store.rs", limits),
        Source::parse("crates/access/src/usage/store.rs", usage),
    ];
    assert!(findings(&planted).is_empty());
    let accounts = Source::parse("crates/access/src/accounts/store.rs", accounts);
    let other_usage = Source::parse("crates/access/src/other/store.rs", usage);
    let planted: Vec<Source> = planted.into_iter().chain([accounts, other_usage]).collect();
    assert_eq!(
        texts(&findings(&planted)),
        [
            "several stores write key_usage: crates/access/src/other, crates/access/src/usage",
            "several stores write keys: crates/access/src/accounts, crates/access/src/keys",
        ]
    );
}
