//! An import of returns killed at any moment leaves either the old returns or the new ones.

use crate::database::Database;
use crate::files::generated;
use crate::instance::{Instance, rounds, scaled, stderr_of};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const RETURNS: usize = 800;
const OVERLAY_LIMIT: usize = 500;
/// Rounds for each database, unless `CAUSEWAY_FAULT_ROUNDS` is set.
const ROUNDS: u64 = 3;

#[test]
fn a_killed_import_of_returns_leaves_the_old_or_the_new_ones_on_sqlite() {
    kill_imports(Database::Sqlite);
}

#[test]
fn a_killed_import_of_returns_leaves_the_old_or_the_new_ones_on_postgres() {
    kill_imports(Database::Postgres);
}

fn kill_imports(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut instance = Instance::new(database, OVERLAY_LIMIT);
    let returns = scaled(RETURNS);
    let rows = generated(returns, 1);
    let eins: Vec<&str> = rows[1..].iter().map(|row| &row[..9]).collect();
    let nonprofits = instance.folder.path().join("eo.csv");
    fs::write(&nonprofits, rows.join("\r\n") + "\r\n").expect("a writable test file");
    instance.import(&nonprofits);
    let mut current = bundle(instance.folder.path(), &eins, 0);
    let start = Instant::now();
    assert_eq!(import(&instance, &current)["new"], returns);
    let mut usual_duration = start.elapsed();

    let (mut before_commit, mut after_commit, mut finished) = (0, 0, 0);
    for round in 0..rounds("CAUSEWAY_FAULT_ROUNDS", ROUNDS) {
        current = bundle(instance.folder.path(), &eins, round + 1);
        let moment = if round == 0 {
            Duration::ZERO
        } else {
            Duration::from_micros(instance.random.below(usual_duration.as_micros() as u64 * 5 / 4))
        };
        let revision = instance.database.revision();
        let is_finished = run_until(&instance, &current, moment);
        instance.wait_until_idle();
        let is_stored = instance.database.revision() > revision;
        match (is_finished, is_stored) {
            (true, _) => finished += 1,
            (false, true) => after_commit += 1,
            (false, false) => before_commit += 1,
        }
        // All rows are of one import, and that is the last one.
        let expected = if is_stored { round + 1 } else { round };
        assert_one_import(&instance, expected);
        instance.check();

        let start = Instant::now();
        let summary = import(&instance, &current);
        if !is_stored {
            usual_duration = start.elapsed();
        }
        let (changed, unchanged) = if is_stored { (0, returns) } else { (returns, 0) };
        assert_eq!(
            (&summary["changed"], &summary["unchanged"], &summary["new"]),
            (&changed.into(), &unchanged.into(), &0.into()),
            "the summary matches what was stored: {summary}"
        );
        assert_one_import(&instance, round + 1);
        fs::remove_file(&current).expect("the bundle");
    }
    println!(
        "{database:?}: {before_commit} killed before and {after_commit} after the commit, {finished} finished"
    );
}

fn import(instance: &Instance, file: &Path) -> serde_json::Value {
    instance.run(&["import", "990", &file.display().to_string()])
}

/// Runs an import and kills it after a while. Returns whether it had finished.
fn run_until(instance: &Instance, file: &Path, moment: Duration) -> bool {
    let start = Instant::now();
    let mut command = instance.command(&["import", "990"]);
    command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the binary runs");
    while process.try_wait().expect("a process").is_none() {
        if start.elapsed() >= moment {
            process.kill().expect("a process that can be killed");
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    let output = process.wait_with_output().expect("a process");
    assert!(
        output.status.success() || output.status.code().is_none(),
        "the import failed: {}",
        stderr_of(&output)
    );
    output.status.success()
}

/// Asserts that returns, profiles and the history contain the import of a round, and only complete imports.
fn assert_one_import(instance: &Instance, round: u64) {
    let count = |sql| instance.database.number(sql);
    let all = scaled(RETURNS) as i64;
    assert_eq!(count("select count(*) from returns"), all);
    assert_eq!(count("select count(distinct source) from returns"), 1);
    assert_eq!(count("select count(*) from return_profiles"), all);
    assert_eq!(
        count("select count(distinct amounts_source) from return_profiles"),
        1
    );
    assert_eq!(
        count(
            "select count(*) from return_profiles p join returns r on r.ein = p.ein and r.source = p.amounts_source"
        ),
        all
    );
    assert_eq!(
        count("select cast(max(revenue) as bigint) from return_profiles"),
        round as i64
    );
    assert_eq!(
        count("select count(*) from nonprofit_history where field = 'returns'"),
        all * (round as i64 + 1)
    );
}

/// Writes a bundle with one return for each EIN. Those of a later round are newer and have another revenue.
fn bundle(folder: &Path, eins: &[&str], round: u64) -> PathBuf {
    let path = folder.join(format!("returns-{round}.zip"));
    let mut archive = zip::ZipWriter::new(File::create(&path).expect("a writable test file"));
    let (year, day) = (2010 + round / 360, 1 + round % 360);
    for (number, ein) in eins.iter().enumerate() {
        archive
            .start_file(
                format!("{year}1{day:03}93493{number:05}_public.xml"),
                zip::write::SimpleFileOptions::default(),
            )
            .expect("a member");
        let xml = format!(
            r#"<Return xmlns="http://www.irs.gov/efile" returnVersion="2022v5.0"><ReturnHeader>
<ReturnTs>2023-05-15T10:00:00-05:00</ReturnTs><TaxPeriodEndDt>2022-12-31</TaxPeriodEndDt>
<ReturnTypeCd>990</ReturnTypeCd><Filer><EIN>{ein}</EIN></Filer></ReturnHeader><ReturnData><IRS990>
<MissionDesc>We help everyone in round {round}.</MissionDesc><CYTotalRevenueAmt>{round}</CYTotalRevenueAmt>
</IRS990></ReturnData></Return>"#
        );
        archive.write_all(xml.as_bytes()).expect("a member");
    }
    archive.finish().expect("an archive");
    path
}
