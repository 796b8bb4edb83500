//! `causeway import pub78`, `import revocations` and `import 990n`: the list files of the IRS.

use super::import_command;
use crate::files::{bmf, gzip, nonprofit_row, nonprofit_rows, zip};
use crate::world::World;
use ingest::{ListKind, Summary};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

const PUBLICATION_78: &str = include_str!("../../fixtures/irs/pub78-sample.txt");
const REVOCATIONS: &str = include_str!("../../fixtures/irs/revocation-sample.txt");
const EPOSTCARDS: &str = include_str!("../../fixtures/irs/epostcard-sample.txt");
const EMBEDDED_PIPES: &str = include_str!("../../fixtures/irs/epostcard-embedded-pipes.txt");

/// All tables of lists as text, with the revision of the import that each row comes from.
const ROWS: [&str; 3] = [
    "select cast(ein as text) || ' ' || codes || ' from ' || cast(source / 65536 as text) from publication_78 order by ein",
    "select cast(ein as text) || ' ' || revoked_on || ' ' || coalesce(posted_on, '-') || ' ' || \
     coalesce(reinstated_on, '-') || ' ' || cast(exemption_type as text) || ' from ' || \
     cast(source / 65536 as text) from revocations order by ein",
    "select cast(ein as text) || ' ' || cast(tax_year as text) || ' ' || coalesce(period_end, '-') || ' ' || \
     case when has_small_receipts = (1 = 1) then 'small' else 'large' end || ' ' || \
     case when is_terminated = (1 = 1) then 'terminated' else 'active' end || ' ' || coalesce(website_url, '-') || \
     ' from ' || cast(source / 65536 as text) from epostcards order by ein",
];
const CHANGES: &str = "select cast(revision as text) from directory_changes order by revision";
const IMPORTS: &str = "select i.kind || ' ' || cast(i.lines as text) || ' ' || cast(i.added as text) || ' ' || \
     cast(i.refused as text) || ' ' || cast(f.lines as text) from imports i \
     join import_files f on f.revision = i.revision order by i.revision";

on_both_databases!(
    the_samples_of_the_irs_are_imported,
    the_table_becomes_what_the_file_says,
    importing_the_same_list_again_writes_nothing,
    a_list_that_lacks_many_rows_is_refused,
    a_row_with_too_many_fields_is_set_aside_and_the_stored_one_stays,
    a_list_with_many_bad_rows_is_refused,
    changes_of_known_nonprofits_are_recorded,
    a_small_change_needs_no_new_snapshot,
    officers_and_addresses_are_never_stored,
    thousands_of_rows_are_replaced_at_once,
    a_killed_import_leaves_the_old_or_the_new_list,
);

async fn import(world: &World, kind: ListKind, content: impl AsRef<[u8]>) -> anyhow::Result<Summary> {
    let file = world.file("list.bin", content);
    let summary = world.app.importer().import_list(kind, &file, false).await?;
    world.app.refresh_directory().await?;
    Ok(summary)
}

fn counts(summary: &Summary) -> [u64; 5] {
    [
        summary.new,
        summary.changed,
        summary.unchanged,
        summary.gone,
        summary.refused,
    ]
}

/// Publication 78 with this many organizations, all with the same codes.
fn publication_78(count: u32, codes: &str) -> String {
    let mut text = "\n\n".to_owned();
    for ein in (100_000_001..).take(count as usize) {
        let _ = writeln!(text, "{ein}|Shelter {ein} House|Concord|NH|United States|{codes}");
    }
    text + "\n\n"
}

/// The Form 990-N list with this many organizations.
fn epostcards(count: u32) -> String {
    let row = EPOSTCARDS
        .lines()
        .find(|line| line.starts_with("473911681"))
        .unwrap();
    let mut text = "\n\n".to_owned();
    for ein in (100_000_001..).take(count as usize) {
        let _ = writeln!(text, "{}", row.replace("473911681", &ein.to_string()));
    }
    text + "\n"
}

async fn the_samples_of_the_irs_are_imported(world: &World) {
    let summary = import(world, ListKind::Publication78, PUBLICATION_78)
        .await
        .unwrap();
    assert_eq!(counts(&summary), [22, 0, 0, 0, 0]);
    let summary = import(world, ListKind::Revocations, gzip(REVOCATIONS.as_bytes())).await;
    assert_eq!(counts(&summary.unwrap()), [19, 0, 0, 0, 0]);
    let archive = zip(&[("data-download-epostcard.txt", EPOSTCARDS.as_bytes())]);
    let summary = import(world, ListKind::Epostcards, archive).await.unwrap();
    assert_eq!(counts(&summary), [11, 0, 0, 0, 0]);

    let [publication_78, revocations, epostcards] = ROWS;
    let rows = world.texts(publication_78).await;
    assert_eq!(rows[0], "587764 PC from 1");
    assert!(rows.contains(&"135562976 GROUP from 1".to_owned()), "{rows:?}");
    let rows = world.texts(revocations).await;
    for expected in [
        // Revoked, reinstated, revoked again.
        "1037180 2017-06-15 2017-09-11 - 0 from 2",
        // Reinstated twice.
        "10043788 2019-03-15 2019-08-21 2020-05-15 3 from 2",
        // The newest revocation is on the first of the two lines.
        "10275502 2017-11-15 2018-08-11 - 3 from 2",
    ] {
        assert!(rows.contains(&expected.to_owned()), "{rows:?}");
    }
    let rows = world.texts(epostcards).await;
    assert_eq!(rows[0], "100514 2009 2010-03-31 small active - from 3");
    let with_website: Vec<&String> = rows.iter().filter(|row| row.contains("https")).collect();
    assert_eq!(with_website.len(), 1);
    assert!(
        with_website[0].contains(" https://www.theglobalchildren.org"),
        "{rows:?}"
    );
    assert_eq!(
        world.texts(IMPORTS).await,
        ["pub78 22 22 0 22", "revocations 24 19 0 24", "990n 11 11 0 11"]
    );
}

async fn the_table_becomes_what_the_file_says(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(5))).await.unwrap();
    let first = publication_78(100, "PC");
    import(world, ListKind::Publication78, &first).await.unwrap();
    let second = first
        .replace(
            "100000002|Shelter 100000002 House|Concord|NH|United States|PC",
            "100000002|X|X|NH|United States|PF",
        )
        .replace("100000007|", "999999999|");
    let summary = import(world, ListKind::Publication78, &second).await.unwrap();
    assert_eq!(counts(&summary), [1, 1, 98, 1, 0]);
    let rows = world.texts(ROWS[0]).await;
    assert_eq!(rows.len(), 100);
    assert_eq!(
        rows[0], "100000001 PC from 2",
        "an unchanged row keeps its source"
    );
    assert_eq!(rows[1], "100000002 PF from 3");
    assert!(!rows.iter().any(|row| row.starts_with("100000007")));
    assert_eq!(rows[99], "999999999 PC from 3");
    let changes = world.texts(CHANGES).await;
    assert_eq!(changes.iter().filter(|revision| *revision == "3").count(), 3);
}

async fn importing_the_same_list_again_writes_nothing(world: &World) {
    for (kind, content) in [
        (ListKind::Publication78, PUBLICATION_78),
        (ListKind::Revocations, REVOCATIONS),
        (ListKind::Epostcards, EPOSTCARDS),
    ] {
        let first = import(world, kind, content).await.unwrap();
        let again = import(world, kind, gzip(content.as_bytes())).await.unwrap();
        assert_eq!(counts(&again), [0, 0, first.new, 0, 0]);
    }
    for (sql, revision) in ROWS.into_iter().zip(["from 1", "from 3", "from 5"]) {
        let rows = world.texts(sql).await;
        assert!(rows.iter().all(|row| row.ends_with(revision)), "{rows:?}");
    }
}

async fn a_list_that_lacks_many_rows_is_refused(world: &World) {
    import(world, ListKind::Publication78, publication_78(100, "PC"))
        .await
        .unwrap();
    let before = world.texts(ROWS[0]).await;
    let shorter = publication_78(94, "PC");
    let error = import(world, ListKind::Publication78, &shorter)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("6 of 100 rows") && error.to_string().contains("--force"),
        "{error}"
    );
    assert_eq!(world.texts(ROWS[0]).await, before);
    assert_eq!(world.imports().await, 1);
    let file = world.file("list.txt", &shorter);
    let importer = world.app.importer();
    let summary = importer
        .import_list(ListKind::Publication78, &file, true)
        .await
        .unwrap();
    assert_eq!(counts(&summary), [0, 0, 94, 6, 0]);
    assert_eq!(world.texts(ROWS[0]).await.len(), 94);
}

async fn a_row_with_too_many_fields_is_set_aside_and_the_stored_one_stays(world: &World) {
    let first = epostcards(1_200)
        + &EMBEDDED_PIPES
            .replace("PREPARER FIRM |", "")
            .replace("2025|||PERSON", "2025||PERSON");
    let summary = import(world, ListKind::Epostcards, &first).await.unwrap();
    assert_eq!(counts(&summary), [1_202, 0, 0, 0, 3]);
    let summary = import(world, ListKind::Epostcards, epostcards(1_200) + EMBEDDED_PIPES)
        .await
        .unwrap();
    assert_eq!(counts(&summary), [0, 0, 1_202, 0, 5]);
    let rows = world.texts(ROWS[2]).await;
    assert!(rows.contains(&"200811142 2025 2025-12-31 small active - from 1".to_owned()));
    let report = fs::read_to_string(summary.report.unwrap()).unwrap();
    assert_eq!(report.lines().count(), 5, "{report}");
    assert!(
        report.contains("the number of fields is 27 instead of 26"),
        "{report}"
    );
    assert!(
        report.contains("the number of fields is 28 instead of 26"),
        "{report}"
    );
}

async fn a_list_with_many_bad_rows_is_refused(world: &World) {
    let error = import(world, ListKind::Epostcards, EMBEDDED_PIPES)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("5 of 5 lines are invalid"), "{error}");
    let error = import(world, ListKind::Epostcards, REVOCATIONS)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("causeway import revocations"),
        "{error}"
    );
    for content in ["", "\n\n\n", PUBLICATION_78.trim_end(), "<html></html>"] {
        import(world, ListKind::Publication78, content).await.unwrap_err();
    }
    assert_eq!(world.imports().await, 0);
}

async fn changes_of_known_nonprofits_are_recorded(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(5))).await.unwrap();
    let revocation =
        |ein: u32, dates: &str| format!("{ein}|X||ADDRESS REMOVED|CONCORD|NH|03301|US|03|{dates}\n");
    let mut others = String::new();
    for ein in 200_000_000..200_000_100 {
        others += &revocation(ein, "15-MAY-2019|21-AUG-2019|");
    }
    let months = [
        revocation(100_000_001, "15-MAY-2019|21-AUG-2019|")
            + &revocation(100_000_003, "15-MAY-2012|21-AUG-2012|"),
        revocation(100_000_001, "15-MAY-2019|21-AUG-2019|01-JUN-2020")
            + &revocation(100_000_002, "15-NOV-2025|12-JAN-2026|"),
        revocation(100_000_002, "15-NOV-2025|12-JAN-2026|")
            + &revocation(300_000_000, "15-NOV-2025|12-JAN-2026|"),
    ];
    for month in months {
        import(world, ListKind::Revocations, others.clone() + &month)
            .await
            .unwrap();
    }
    let history = "select cast(ein as text) || ' ' || cast(revision as text) || ' ' || field || ' ' || \
         coalesce(old_value, '-') || ' ' || coalesce(new_value, '-') from nonprofit_history \
         where revision > 1 order by revision, ein, field";
    assert_eq!(
        world.texts(history).await,
        [
            "100000001 3 reinstatedOn - 2020-06-01",
            "100000002 3 revokedOn - 2025-11-15",
            "100000003 3 revokedOn 2012-05-15 -",
            "100000001 4 reinstatedOn 2020-06-01 -",
            "100000001 4 revokedOn 2019-05-15 -",
        ]
    );
}

async fn a_small_change_needs_no_new_snapshot(world: &World) {
    let row = nonprofit_row("530196605", "AMERICAN NATIONAL RED CROSS");
    world.import_irs(bmf(&[row])).await.unwrap();
    let snapshots = world.snapshots();
    import(world, ListKind::Publication78, PUBLICATION_78)
        .await
        .unwrap();
    assert_eq!(world.snapshots(), snapshots);
    assert_eq!(
        world.app.directory.view().overlay.len(),
        1,
        "only one of them is in the directory"
    );
    world.client.details(200, "530196605").await;
    let report = crate::world::check_directory(&world.app).await.unwrap();
    assert_eq!(report.differences.len(), 0);
}

async fn officers_and_addresses_are_never_stored(world: &World) {
    let marked = EPOSTCARDS
        .replace("PERSON NAME", "JANE SECRETNAME")
        .replace("ADDRESS REMOVED", "7 SECRETNAME STREET");
    let shifted = EMBEDDED_PIPES.replace("PERSON NAME", "JANE SECRETNAME");
    import(
        world,
        ListKind::Epostcards,
        epostcards(1_000) + &marked + &shifted,
    )
    .await
    .unwrap();
    let rows = world.texts(ROWS[2]).await;
    assert_eq!(rows.len(), 1_011);
    assert!(!rows.iter().any(|row| row.contains("SECRET")), "{rows:?}");
    assert!(!contains_in_files(world.data(), b"SECRETNAME"));
    assert!(
        contains_in_files(world.data(), b"number of fields"),
        "reports are searched too"
    );
}

/// Whether a file in a folder contains these bytes.
fn contains_in_files(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contains_in_files(&path, bytes)
        } else {
            let content = fs::read(&path).unwrap();
            content.windows(bytes.len()).any(|window| window == bytes)
        }
    })
}

async fn thousands_of_rows_are_replaced_at_once(world: &World) {
    import(world, ListKind::Publication78, publication_78(5_500, "PC"))
        .await
        .unwrap();
    let summary = import(world, ListKind::Publication78, publication_78(5_600, "POF,LODGE"))
        .await
        .unwrap();
    assert_eq!(counts(&summary), [100, 5_500, 0, 0, 0]);
    let rows = world.texts(ROWS[0]).await;
    assert_eq!(rows.len(), 5_600);
    assert!(rows.iter().all(|row| row.ends_with("POF,LODGE from 2")));
    assert!(
        world.texts(CHANGES).await.is_empty(),
        "a large import records no single nonprofits"
    );
}

async fn a_killed_import_leaves_the_old_or_the_new_list(world: &World) {
    const ROWS: usize = 5_000;
    const ROUNDS: u32 = 4;
    let files = ["PC", "PF"].map(|codes| {
        let content = publication_78(ROWS as u32, codes);
        (codes, world.file(&format!("{codes}.txt"), content))
    });
    let start = |file: &Path| {
        let mut command = import_command(world, &["pub78", file.to_str().unwrap()]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let clock = Instant::now();
    assert!(start(&files[0].1).wait().unwrap().success());
    let usual = clock.elapsed();
    for round in 0..ROUNDS {
        let stored = world.texts("select codes from publication_78 limit 1").await;
        let (_, file) = files.iter().find(|(codes, _)| *codes != stored[0]).unwrap();
        let mut process = start(file);
        // From the first moment to after the end.
        tokio::time::sleep(usual * round / (ROUNDS - 2)).await;
        process.kill().unwrap();
        process.wait().unwrap();
        let found = world.texts("select codes from publication_78").await;
        assert_eq!(found.len(), ROWS);
        assert!(found.iter().all(|codes| *codes == found[0]), "a mix of two files");
        // One query, because PostgreSQL may still commit what the killed process sent last.
        let others = "select codes from publication_78 \
             where source / 65536 <> (select max(revision) from imports where kind = 'pub78')";
        assert!(world.texts(others).await.is_empty(), "not from the newest import");
    }
    assert!(start(&files[1].1).wait().unwrap().success());
    let summary = import(world, ListKind::Publication78, publication_78(ROWS as u32, "PF")).await;
    assert_eq!(counts(&summary.unwrap()), [0, 0, ROWS as u64, 0, 0]);
}
