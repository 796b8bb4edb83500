//! Checks of the store and what belongs to it: the database, its secret, the snapshot and backups.

use super::finding::Finding;
use crate::config::Config;
use directory::snapshot::Snapshot;
use platform::backup;
use platform::clock::{Clock, Stopwatch, rfc3339};
use platform::db::{DatabaseKind, Db, Inspection, Topic};
use platform::secret::StoreSecret;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The oldest version of PostgreSQL that is supported.
const MIN_POSTGRES: u32 = 15;
/// A slower database makes every write slow.
const SLOW_PING: Duration = Duration::from_millis(100);
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
const DAMAGED: &str = "follow the runbook \"The database is damaged\" in docs/operate.md";
/// An older backup is worth a warning.
const OLD_BACKUP_MILLIS: i64 = 2 * DAY_MILLIS;

/// Opens the store. Returns what was found and, if it can be used, the database.
pub(super) async fn open(config: &Config) -> (Finding, Option<(Db, Inspection)>) {
    const SUBJECT: &str = "store";
    let db = match Db::open_existing(&config.data, &config.database).await {
        Ok(Some(db)) => db,
        Ok(None) => {
            let seen = format!("there is no database in {} yet", config.data.display());
            let remedy = "start the server, which creates it, or restore a backup with causeway restore";
            return (Finding::warning(SUBJECT, seen, remedy), None);
        }
        Err(error) => {
            let remedy = match config.database.kind() {
                DatabaseKind::Sqlite => "check the permissions of the data folder, or restore a backup",
                DatabaseKind::Postgres => {
                    "check database_url, and that PostgreSQL runs and accepts connections"
                }
            };
            let error = error.context("the database could not be opened");
            return (Finding::from_error(SUBJECT, &error, remedy), None);
        }
    };
    let stopwatch = Stopwatch::start();
    let pinged = db.ping().await;
    let latency = stopwatch.elapsed();
    let inspected = async {
        pinged?;
        db.inspect().await
    };
    match inspected.await {
        Ok(inspection) => {
            // A damaged page may be one that no other query reads.
            let checked = if inspection.has_rights {
                db.check_integrity_quickly().await
            } else {
                Ok(())
            };
            let finding = match checked {
                Ok(()) => judge(&inspection, latency),
                Err(error) => Finding::from_error(SUBJECT, &error, DAMAGED),
            };
            // Nothing else can be said about a store that cannot be read.
            let opened = inspection.has_rights.then_some((db, inspection));
            (finding, opened)
        }
        Err(error) => {
            let error = anyhow::Error::from(error).context("the database could not be read");
            (Finding::from_error(SUBJECT, &error, DAMAGED), None)
        }
    }
}

fn judge(inspection: &Inspection, latency: Duration) -> Finding {
    const SUBJECT: &str = "store";
    let seen = format!(
        "{} {}, answers in {:.1} ms",
        inspection.kind.name(),
        inspection.version,
        latency.as_secs_f64() * 1e3
    );
    let is_postgres = inspection.kind == DatabaseKind::Postgres;
    if is_postgres && inspection.major_version() < MIN_POSTGRES {
        return Finding::problem(
            SUBJECT,
            seen,
            format!("upgrade PostgreSQL to version {MIN_POSTGRES} or later"),
        );
    }
    if !inspection.has_rights {
        return Finding::problem(
            SUBJECT,
            format!("{seen}; its role may not read and write the tables"),
            "use the role that created them in database_url, or grant this one all rights on them",
        );
    }
    if inspection.synchronous_commit.as_deref() == Some("off") {
        return Finding::problem(
            SUBJECT,
            format!("{seen}; synchronous_commit is off, so acknowledged donations can be lost"),
            "set synchronous_commit = on in PostgreSQL",
        );
    }
    if inspection.is_replica {
        return Finding::problem(
            SUBJECT,
            format!("{seen}; it is a replica, which accepts no writes"),
            "set database_url to the primary, or promote this server",
        );
    }
    if let [first, ..] = inspection.unknown_migrations.as_slice() {
        return Finding::problem(
            SUBJECT,
            format!("{seen}; it was written by a newer version of Causeway (migration {first})"),
            "run that version, or restore a backup made by this one",
        );
    }
    if inspection.pending_migrations > 0 {
        return Finding::warning(
            SUBJECT,
            format!(
                "{seen}; migrations that have not run yet: {}",
                inspection.pending_migrations
            ),
            "back up, and restart the server, which runs them",
        );
    }
    if latency > SLOW_PING {
        return Finding::warning(
            SUBJECT,
            seen,
            "run the server closer to the database, or find out what slows it down",
        );
    }
    Finding::ok(SUBJECT, seen)
}

/// Whether the secret is that of the store.
pub(super) async fn secret(config: &Config, db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "secret";
    let Some(db) = db else {
        return Finding::warning(
            SUBJECT,
            "not compared, because the store cannot be read",
            "see store",
        );
    };
    match StoreSecret::check(db, &config.secret_file).await {
        Ok(true) => Finding::ok(
            SUBJECT,
            format!("{} is the secret of this store", config.secret_file.display()),
        ),
        Ok(false) => Finding::ok(SUBJECT, "the first start creates it"),
        Err(error) => Finding::from_error(
            SUBJECT,
            &error,
            "restore the secret from a backup, or copy it from another server of this store",
        ),
    }
}

/// Whether the snapshot of the directory is usable and current.
pub(super) async fn snapshot(config: &Config, db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "snapshot";
    const REBUILD: &str = "start the server, which builds one";
    let revision = match db {
        Some(db) => db.revision(Topic::Directory).await.ok(),
        None => None,
    };
    if revision == Some(0) {
        return Finding::ok(SUBJECT, "not needed yet, because the directory is empty");
    }
    let Some(path) = newest_snapshot(config) else {
        return Finding::warning(SUBJECT, "there is no snapshot of the directory", REBUILD);
    };
    let opened = {
        let path = path.clone();
        tokio::task::spawn_blocking(move || Snapshot::open(&path)).await
    };
    let snapshot = match opened {
        Ok(Ok(snapshot)) => snapshot,
        Ok(Err(error)) => {
            let seen = format!("{} is unusable: {error}", path.display());
            return Finding::problem(SUBJECT, seen, REBUILD);
        }
        Err(error) => return Finding::problem(SUBJECT, error.to_string(), REBUILD),
    };
    let age = fs::metadata(&path).and_then(|found| found.modified()).ok();
    let age = age
        .and_then(|modified| modified.elapsed().ok())
        .unwrap_or_default();
    let seen = format!(
        "{} nonprofits, revision {}, built {} ago",
        snapshot.len(),
        snapshot.meta().revision,
        describe_age(age.as_millis() as i64)
    );
    let is_of_this_store = match db {
        Some(db) => is_part_of_store(db, &snapshot).await.unwrap_or(true),
        None => true,
    };
    match revision {
        Some(current) if !is_of_this_store => Finding::problem(
            SUBJECT,
            format!(
                "{seen}; the store, which is at revision {current}, never had these contents: it was restored to an older state"
            ),
            format!(
                "remove {} and restart the server, which builds a new one",
                path.display()
            ),
        ),
        // A running server applies the changes since then.
        Some(current) if snapshot.meta().revision < current => Finding::ok(
            SUBJECT,
            format!("{seen}; changes up to revision {current} are applied on top"),
        ),
        _ => Finding::ok(SUBJECT, seen),
    }
}

/// Returns whether the revision of a snapshot is part of the history of the store. It is not after an older copy of the
/// database was restored.
async fn is_part_of_store(db: &Db, snapshot: &Snapshot) -> sqlx::Result<bool> {
    let mut tx = db.view().await?;
    tx.has_revision(Topic::Directory, snapshot.meta().revision())
        .await
}

fn newest_snapshot(config: &Config) -> Option<PathBuf> {
    let entries = fs::read_dir(config.data.join("directory")).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let revision: i64 = name.strip_suffix(".snapshot")?.parse().ok()?;
        Some((revision, entry.path()))
    });
    numbered.max().map(|(_, path)| path)
}

/// How old the last backup is.
pub(super) async fn backups(db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "backups";
    const REMEDY: &str = "run causeway backup, and schedule it";
    let Some(db) = db else {
        return Finding::warning(SUBJECT, "unknown, because the store cannot be read", "see store");
    };
    // A store that was not migrated yet has no table of backups.
    let Ok(Some(last)) = backup::store::find(db).await else {
        return Finding::warning(SUBJECT, "no backup of this store is known", REMEDY);
    };
    let age = Clock::default().millis() - last.created_at;
    let checked = if last.verified_at.is_some() {
        "restored and checked"
    } else {
        "not verified"
    };
    let seen = format!(
        "the last one was taken {} ago ({}) to {}, {checked}",
        describe_age(age),
        rfc3339(last.created_at),
        last.destination
    );
    if age > OLD_BACKUP_MILLIS {
        Finding::warning(SUBJECT, seen, REMEDY)
    } else {
        Finding::ok(SUBJECT, seen)
    }
}

/// Describes a duration in its largest unit.
fn describe_age(millis: i64) -> String {
    let minutes = millis.max(0) / 60_000;
    match minutes {
        1 => "1 minute".to_owned(),
        0 | 2..120 => format!("{minutes} minutes"),
        120..2_880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::Status;

    fn postgres() -> Inspection {
        Inspection {
            kind: DatabaseKind::Postgres,
            version: "17.6 (Debian 17.6-1)".to_owned(),
            clock_skew: Some(0),
            synchronous_commit: Some("on".to_owned()),
            is_replica: false,
            has_rights: true,
            pending_migrations: 0,
            unknown_migrations: Vec::new(),
        }
    }

    #[test]
    fn a_store_is_judged_by_what_can_lose_donations_or_stop_the_server() {
        let fast = Duration::from_millis(1);
        assert_eq!(judge(&postgres(), fast).status, Status::Ok);
        let problems = [
            Inspection {
                version: "14.9".to_owned(),
                ..postgres()
            },
            Inspection {
                synchronous_commit: Some("off".to_owned()),
                ..postgres()
            },
            Inspection {
                is_replica: true,
                ..postgres()
            },
            Inspection {
                has_rights: false,
                ..postgres()
            },
            Inspection {
                unknown_migrations: vec![9_999],
                ..postgres()
            },
        ];
        for problem in problems {
            let finding = judge(&problem, fast);
            assert_eq!(finding.status, Status::Problem, "{}", finding.seen);
            assert!(!finding.remedy.is_empty());
        }
        let pending = Inspection {
            pending_migrations: 1,
            ..postgres()
        };
        assert_eq!(judge(&pending, fast).status, Status::Warning);
        assert_eq!(judge(&postgres(), 2 * SLOW_PING).status, Status::Warning);
    }

    #[test]
    fn an_age_has_one_unit() {
        let minute = 60_000;
        for (minutes, text) in [
            (0, "0 minutes"),
            (1, "1 minute"),
            (119, "119 minutes"),
            (121, "2 hours"),
            (3 * 1_440, "3 days"),
        ] {
            assert_eq!(describe_age(minutes * minute), text);
        }
    }
}
