//! The schema of both databases, and opening an existing one.

use crate::database::PostgresDatabase;
use crate::world::{Database, World, run_story};
use giving::check::check;
use giving::ledger::entry::{Draft, Entry, GENESIS, Hash, Kind, Mode, Party, Posting};
use platform::data_folder;
use platform::db::Db;
use platform::ids::NonprofitId;
use platform::money::Cents;
use platform::text::hex;
use secrecy::SecretString;
use sqlx::migrate::{Migration, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use uuid::Uuid;

on_both_databases!(
    reopening_a_database_changes_nothing,
    a_database_of_a_newer_version_is_refused,
    a_ledger_is_upgraded_while_the_previous_version_writes_to_it,
);

/// Every column as `table.column type nullable`, with PostgreSQL type names.
async fn columns(world: &World) -> Vec<String> {
    let mut columns = match &world.app.db {
        Db::Sqlite { .. } => world
            .texts(SQLITE_COLUMNS)
            .await
            .iter()
            .map(|line| as_postgres_column(line))
            .collect(),
        Db::Postgres(_) => world.texts(POSTGRES_COLUMNS).await,
    };
    columns.sort();
    columns
}

const SQLITE_COLUMNS: &str = "select t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || \
     case when c.\"notnull\" = 1 or c.pk > 0 then 'no' else 'yes' end \
     from sqlite_master t join pragma_table_info(t.name) c \
     where t.type = 'table' and t.name not like 'sqlite_%' and t.name <> '_sqlx_migrations'";
const POSTGRES_COLUMNS: &str = "select table_name || '.' || column_name || ' ' || data_type || ' ' || lower(is_nullable) \
     from information_schema.columns join information_schema.tables using (table_schema, table_name) \
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> '_sqlx_migrations'";

/// Translates a column of SQLite, which has no types for UUID and boolean: these are recognized by name.
fn as_postgres_column(line: &str) -> String {
    let [column, kind, nullable] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let kind = match (kind, column.rsplit('.').next().unwrap()) {
        ("integer", "operator" | "listed" | "livemode" | "shares_contact") => "boolean",
        ("integer", name) if name.starts_with("is_") || name.starts_with("has_") => "boolean",
        ("integer", _) => "bigint",
        ("real", _) => "double precision",
        (
            "blob",
            "bank" | "bearer" | "content" | "document" | "hash" | "mac" | "old_secret" | "secret" | "sha256",
        ) => "bytea",
        ("blob", _) => "uuid",
        (kind, _) => kind,
    };
    format!("{column} {kind} {nullable}")
}

const SQLITE_INDEXES: &str =
    "select name from sqlite_master where type = 'index' and name not like 'sqlite_%'";
const POSTGRES_INDEXES: &str = "select indexname::text from pg_indexes where schemaname = 'public' \
     and indexname not like '%_pkey' and indexname not like '%_key' and indexname not like '\\_sqlx%'";

async fn indexes(world: &World) -> Vec<String> {
    let mut indexes = match &world.app.db {
        Db::Sqlite { .. } => world.texts(SQLITE_INDEXES).await,
        Db::Postgres(_) => world.texts(POSTGRES_INDEXES).await,
    };
    indexes.sort();
    indexes
}

#[test]
fn both_databases_have_the_same_tables_columns_and_indexes() {
    let schemas = RefCell::new(Vec::new());
    for database in [Database::Sqlite, Database::Postgres] {
        run_story(database, async |world| {
            let schema = (columns(world).await, indexes(world).await);
            schemas.borrow_mut().push(schema);
        });
    }
    let [sqlite, postgres] = schemas.into_inner().try_into().unwrap();
    assert!(sqlite.0.len() > 50, "{} columns", sqlite.0.len());
    assert_eq!(sqlite, postgres);
}

async fn reopening_a_database_changes_nothing(world: &World) {
    let before = columns(world).await;
    let (app, _) = world.restart().await;
    let other = app.db.identity(0).await.unwrap();
    assert_eq!(other, world.app.db.identity(1).await.unwrap());
    assert_eq!(columns(world).await, before);
    app.db.close().await;
}

async fn a_database_of_a_newer_version_is_refused(world: &World) {
    world
        .execute("update _sqlx_migrations set version = 9999 where version = 2")
        .await;
    let error = causeway::app::App::build(world.app.config.clone())
        .await
        .unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("newer version") && text.contains("9999"), "{text}");
}

/// The last migration before the one that renamed the tables of the ledger.
const BEFORE_LEDGER_NAMES: i64 = 23;

async fn a_ledger_is_upgraded_while_the_previous_version_writes_to_it(world: &World) {
    let mut config = world.app.config.clone();
    config.data = world.data().join("previous");
    data_folder::create_folder(&config.data).unwrap();
    let postgres = match &world.app.db {
        Db::Sqlite { .. } => None,
        Db::Postgres(_) => Some(PostgresDatabase::create_empty().await),
    };
    config.database.url = postgres
        .as_ref()
        .map(|database| SecretString::from(database.url()));
    let previous = match &postgres {
        None => PreviousVersion::Sqlite(config.data.join(data_folder::DATABASE)),
        Some(database) => PreviousVersion::Postgres(database.url()),
    };
    previous.migrate().await;
    let first = donation(1, &GENESIS);
    previous.append(&first).await;
    let db = Db::open(&config.data, &config.database).await.unwrap();
    let checked = check(&db).await.unwrap();
    assert_eq!((checked.entries, checked.errors), (1, Vec::new()));
    previous.append(&donation(2, &first.hash)).await;
    let checked = check(&db).await.unwrap();
    assert_eq!((checked.entries, checked.errors), (2, Vec::new()));
    db.close().await;
    if let Some(database) = postgres {
        database.remove().await;
    }
}

/// A donation to a nonprofit.
fn donation(sequence: i64, before: &Hash) -> Entry {
    let (nonprofit, amount) = (NonprofitId(Uuid::from_u128(7)), Cents::new(500));
    let posting = |party, amount| Posting { party, amount };
    let draft = Draft {
        kind: Kind::Donation,
        mode: Mode::Live,
        source: "test".to_owned(),
        external_id: sequence.to_string(),
        nonprofit: Some(nonprofit),
        fundraiser: None,
        donor: Some("ana".to_owned()),
        amount,
        refunds: None,
        origin: None,
        note: None,
        postings: vec![
            posting(Party::Donor("ana".to_owned()), amount.reversed()),
            posting(Party::Nonprofit(nonprofit), amount),
        ],
        recorded_at: sequence,
    };
    Entry::new(sequence, before, draft, None)
}

/// A server that was built before the tables of the ledger were renamed.
enum PreviousVersion {
    /// The path of the database.
    Sqlite(PathBuf),
    /// The URL of the database.
    Postgres(String),
}

impl PreviousVersion {
    async fn migrate(&self) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let is_old = |migration: &Migration| migration.version <= BEFORE_LEDGER_NAMES;
        match self {
            PreviousVersion::Sqlite(path) => {
                let mut migrator = Migrator::new(folder.join("sqlite")).await.unwrap();
                migrator.migrations.to_mut().retain(is_old);
                let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
                let mut connection = options.connect().await.unwrap();
                migrator.run(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            PreviousVersion::Postgres(url) => {
                let mut migrator = Migrator::new(folder.join("postgres")).await.unwrap();
                migrator.migrations.to_mut().retain(is_old);
                let mut connection = PgConnection::connect(url).await.unwrap();
                migrator.run(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// Appends an entry with the statements of that version.
    async fn append(&self, entry: &Entry) {
        let (sequence, draft) = (entry.sequence, &entry.draft);
        let (nonprofit, hash) = (draft.nonprofit.expect("a recipient").0, hex(&entry.hash));
        let (nonprofit, hash, lock) = match self {
            PreviousVersion::Sqlite(_) => (
                format!("x'{}'", nonprofit.simple()),
                format!("x'{hash}'"),
                "select entries from journal_head where id = 1",
            ),
            PreviousVersion::Postgres(_) => (
                format!("'{nonprofit}'::uuid"),
                format!("'\\x{hash}'::bytea"),
                "update journal_head set entries = entries where id = 1 returning entries, hash, events, \
                 set_config('idle_in_transaction_session_timeout', '10s', true)",
            ),
        };
        let legs = (0..).zip(&draft.postings).map(|(position, posting)| {
            let (party, id, amount) = (posting.party.kind(), posting.party.id(), posting.amount.get());
            format!("({sequence}, {position}, '{party}', '{id}', {amount})")
        });
        let legs = legs.collect::<Vec<_>>().join(", ");
        let (amount, at) = (draft.amount.get(), draft.recorded_at);
        let script = format!(
            "begin; {lock}; \
             insert into journal (sequence, kind, mode, source, external_id, nonprofit_id, donor, amount, recorded_at, hash) \
             select * from (values ({sequence}, 'donation', 'live', 'test', '{sequence}', {nonprofit}, 'ana', {amount}, \
             {at}, {hash})) rows where column1 is not null; \
             insert into journal_legs (sequence, position, party, party_id, amount) \
             select * from (values {legs}) rows where column1 is not null; \
             insert into outbox (sequence, kind, body, created_at) values ({sequence}, 'donation', '{{}}', {at}); \
             update journal_head set entries = {sequence}, hash = {hash}, events = {sequence} where id = 1; commit"
        );
        let script = sqlx::raw_sql(AssertSqlSafe(script));
        match self {
            PreviousVersion::Sqlite(path) => {
                let mut connection = SqliteConnectOptions::new()
                    .filename(path)
                    .connect()
                    .await
                    .unwrap();
                script.execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            PreviousVersion::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                script.execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }
}
