//! Changes of the store that every server has to notice: imports, and a restore of an older state.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::fleet::{Fleet, Keys};
use super::http;
use super::results::Finding;
use super::wait::wait_for;
use crate::format::seconds;
use crate::table::Verdict;

/// Imports the names of a few nonprofits, and measures the time until every server shows them.
pub(super) fn small_import(fleet: &Fleet, keys: &Keys, eins: &[String]) -> Result<Finding> {
    let shown = import_name(fleet, keys, eins, "Small Import Fund")?;
    Ok(Finding::new(
        format!("{} after the command", seconds(shown)),
        Verdict::Unbounded,
    ))
}

/// Imports a file in which every nonprofit has another name, and measures the time until every server shows it. So
/// many changes need a new snapshot.
pub(super) fn large_import(fleet: &Fleet, keys: &Keys, file: &Path, ein: &str) -> Result<Finding> {
    let (changed, _) = rename_all(fleet, file)?;
    let before = name(fleet.addresses()[0], keys, ein);
    let started = Instant::now();
    fleet.run(&["import", "irs", "--force", &changed.display().to_string()])?;
    let imported = started.elapsed();
    let expected = format!("{RENAMED} ");
    let shown = wait_until_shown(fleet, keys, ein, |name| {
        name.to_uppercase().starts_with(&expected.to_uppercase())
    })
    .with_context(|| format!("before the import, the name is {before:?}"))?;
    Ok(Finding::new(
        format!(
            "{} after the command, which took {}",
            seconds(shown),
            seconds(imported)
        ),
        Verdict::Unbounded,
    ))
}

const RENAMED: &str = "NEWLY";

/// Writes a copy of an EO BMF file with a word in front of every name.
fn rename_all(fleet: &Fleet, file: &Path) -> Result<(PathBuf, usize)> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines = text.lines();
    let mut renamed = format!("{}\r\n", lines.next().unwrap_or_default());
    let mut count = 0;
    for line in lines {
        let (ein, rest) = line.split_once(',').context("a row without a name")?;
        let (quote, rest) = rest.strip_prefix('"').map_or(("", rest), |rest| ("\"", rest));
        let _ = write!(renamed, "{ein},{quote}{RENAMED} {rest}\r\n");
        count += 1;
    }
    let (path, _) = fleet.create_file("renamed.csv")?;
    fs::write(&path, renamed)?;
    Ok((path, count))
}

/// Restores an older database under running servers: every server must show its state and refuse a key that it does not
/// have. Then imports again, which reaches the revision of the lost state with other contents.
pub(super) fn restore(fleet: &Fleet, keys: &Keys, eins: &[String]) -> Result<Finding> {
    let services = fleet.services;
    import_name(fleet, keys, eins, "Older State Fund")?;
    let (dump, _) = fleet.create_file("older.dump")?;
    services.dump(&dump)?;
    import_name(fleet, keys, eins, "Lost State Fund")?;
    let (_, lost_key) = fleet.create_key()?;
    let status = |server: SocketAddr| {
        let path = format!("/v0.2/nonprofit/{}?apiKey={lost_key}", eins[0]);
        http::get(server, &path).map_or(0, |response| response.status)
    };
    for server in fleet.addresses() {
        ensure!(status(*server) == 200, "{server} does not accept a new key");
    }
    services.restore(&dump)?;
    let restored = Instant::now();
    wait_until_shown(fleet, keys, &eins[0], |name| name == "Older State Fund")?;
    wait_for("every server refuses the key that is not in the database", || {
        fleet.addresses().iter().all(|server| status(*server) == 401)
    })?;
    let noticed = restored.elapsed();
    let imported = import_name(fleet, keys, eins, "Other State Fund")?;
    Ok(Finding::bounded(
        format!(
            "all noticed within {}; the next import was shown after {}",
            seconds(noticed),
            seconds(imported)
        ),
        true,
    ))
}

/// Imports a name for some nonprofits, and returns the time from the end of the command until every server shows it.
fn import_name(fleet: &Fleet, keys: &Keys, eins: &[String], text: &str) -> Result<std::time::Duration> {
    fleet.import_names(eins, text)?;
    wait_until_shown(fleet, keys, &eins[0], |name| name == text)
}

fn wait_until_shown(
    fleet: &Fleet,
    keys: &Keys,
    ein: &str,
    is_expected: impl Fn(&str) -> bool,
) -> Result<std::time::Duration> {
    wait_for("every server shows the change", || {
        fleet
            .addresses()
            .iter()
            .all(|server| name(*server, keys, ein).is_some_and(|name| is_expected(&name)))
    })
}

/// Returns the name that a server shows for an EIN.
fn name(server: SocketAddr, keys: &Keys, ein: &str) -> Option<String> {
    let details = http::get(server, &keys.path(&format!("nonprofit/{ein}")))
        .ok()?
        .json();
    details["data"]["nonprofit"]["name"].as_str().map(str::to_owned)
}
