//! Checks of the machine: permissions, disk space and the clock.

use super::finding::Finding;
use crate::config::Config;
use giving::ledger::store as ledger;
use platform::clock::Clock;
use platform::db::{Db, Inspection};
use platform::disk_space::{DiskSpace, SpaceLevel};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

/// Times in the store come from several clocks, which should agree to this.
const MAX_SKEW_MILLIS: i64 = 1_000;
/// How far the clock may be behind the last entry of the ledger.
const MAX_BEHIND_MILLIS: i64 = 5_000;

/// Whether the data folder is private, and usable by this user.
pub(super) fn permissions(config: &Config) -> Finding {
    const SUBJECT: &str = "permissions";
    let folder = &config.data;
    let name = folder.display();
    let found = match fs::metadata(folder) {
        Ok(found) => found,
        Err(_) if !folder.exists() => {
            return Finding::warning(
                SUBJECT,
                format!("there is no data folder {name} yet"),
                "start the server, which creates it, or check --data",
            );
        }
        Err(error) => {
            return Finding::problem(
                SUBJECT,
                format!("could not read the data folder {name}: {error}"),
                "run this as the user of the server",
            );
        }
    };
    if !found.is_dir() {
        return Finding::problem(
            SUBJECT,
            format!("the data folder {name} is a file"),
            "choose a folder with --data",
        );
    }
    if found.permissions().mode() & 0o007 != 0 {
        return Finding::problem(
            SUBJECT,
            format!("other users can read the data folder {name}"),
            format!("run: chmod 700 {name}"),
        );
    }
    if let Err(error) = tempfile::tempfile_in(folder) {
        return Finding::problem(
            SUBJECT,
            format!("could not write to the data folder {name}: {error}"),
            "run this as the user of the server, and check that the disk is not mounted read-only",
        );
    }
    if let Some(stranger) = owned_by_another(folder, found.uid()) {
        return Finding::warning(
            SUBJECT,
            format!("{stranger} belongs to another user than the data folder"),
            format!("run: chown -R --reference={name} {name}"),
        );
    }
    Finding::ok(SUBJECT, format!("the data folder {name} is private and writable"))
}

/// Finds a file of the data folder that belongs to another user, as after a command that was run as root.
fn owned_by_another(folder: &Path, owner: u32) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut strangers = entries.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() != owner));
    strangers.next().map(|entry| entry.path().display().to_string())
}

/// Whether there is enough disk space.
pub(super) fn disk_space(config: &Config) -> Finding {
    const SUBJECT: &str = "disk space";
    const REMEDY: &str = "free disk space or move the data folder to a larger disk; \
         docs/operate.md explains what to do when a disk is full";
    let folder = config.data.ancestors().find(|folder| folder.exists());
    let folder = folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let space = match DiskSpace::measure(folder) {
        Ok(space) => space,
        Err(error) => {
            return Finding::warning(
                SUBJECT,
                format!("could not be measured: {error}"),
                "check it with df",
            );
        }
    };
    let seen = format!("{space} free on the disk of {}", folder.display());
    match space.level() {
        SpaceLevel::Critical => Finding::problem(SUBJECT, seen, REMEDY),
        SpaceLevel::Low => Finding::warning(SUBJECT, seen, REMEDY),
        SpaceLevel::Enough => Finding::ok(SUBJECT, seen),
    }
}

/// Whether the clock of this machine agrees with that of the database, and is synchronized.
pub(super) async fn clock(inspection: Option<&Inspection>, db: Option<&Db>) -> Finding {
    const SUBJECT: &str = "clock";
    const REMEDY: &str = "run a time service such as systemd-timesyncd or chrony on every machine";
    let skew = inspection.and_then(|inspection| inspection.clock_skew);
    if let Some(skew) = skew.filter(|skew| skew.abs() > MAX_SKEW_MILLIS) {
        let direction = if skew > 0 { "ahead of" } else { "behind" };
        return Finding::problem(
            SUBJECT,
            format!(
                "this clock is {:.1} s {direction} that of PostgreSQL",
                skew.abs() as f64 / 1e3
            ),
            REMEDY,
        );
    }
    let last = match db {
        // A store that was not migrated yet may have no ledger.
        Some(db) => ledger::find_last(db).await.ok().flatten(),
        None => None,
    };
    let behind = last.map_or(0, |(_, last_at)| last_at - Clock::default().millis());
    if behind > MAX_BEHIND_MILLIS {
        return Finding::problem(
            SUBJECT,
            format!(
                "this clock is {:.1} s behind the last entry of the ledger: it was set back, or was ahead before",
                behind as f64 / 1e3
            ),
            REMEDY,
        );
    }
    let compared = if skew.is_some() {
        "it agrees with PostgreSQL"
    } else {
        "no other clock to compare it with"
    };
    match is_synchronized() {
        Some(true) => Finding::ok(SUBJECT, format!("synchronized by NTP; {compared}")),
        Some(false) => Finding::warning(SUBJECT, format!("not synchronized by NTP; {compared}"), REMEDY),
        None => Finding::ok(SUBJECT, format!("{compared}; NTP is not visible here")),
    }
}

/// Asks systemd whether the clock is synchronized. Returns `None` if it cannot tell, as in a container.
fn is_synchronized() -> Option<bool> {
    let output = Command::new("timedatectl")
        .args(["show", "--property=NTPSynchronized", "--value"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    match output.stdout.trim_ascii() {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}
