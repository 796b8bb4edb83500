//! `causeway import all`: a folder of files, each recognized by its content.

use super::import_command;
use crate::cli::Cli;
use crate::files::{bmf, gzip, nonprofit_row, nonprofit_rows, zip};
use crate::returns::filed_return;
use crate::world::World;
use serde_json::Value;
use std::fs;
use std::process::Output;

const PUBLICATION_78: &str = include_str!("../../fixtures/irs/pub78-sample.txt");
const REVOCATIONS: &str = include_str!("../../fixtures/irs/revocation-sample.txt");
const EPOSTCARDS: &str = include_str!("../../fixtures/irs/epostcard-sample.txt");
/// The index of a year of returns.
const INDEX: &str = "RETURN_ID,FILING_TYPE,EIN,TAX_PERIOD,SUB_DATE,TAXPAYER_NAME,RETURN_TYPE,DLN,OBJECT_ID,XML_BATCH_ID\n\
     1,EFILE,530196605,202406,2025,AMERICAN NATIONAL RED CROSS,990,93493091012345,202500919349301234,2025_TEOS_XML_01a\n";

on_both_databases!(
    files_are_recognized_by_their_content_and_imported_in_order,
    an_error_names_its_step_and_what_was_imported_before,
);

fn import_all(world: &World, arguments: &[&str]) -> Output {
    import_command(world, &[&["all"], arguments].concat())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn files_are_recognized_by_their_content_and_imported_in_order(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
    let red_cross = nonprofit_row("530196605", "AMERICAN NATIONAL RED CROSS");
    // The names say nothing, or the wrong thing.
    write("a.jsonl", bmf(&nonprofit_rows(4)).as_bytes());
    write("b.txt", &gzip(bmf(&[red_cross]).as_bytes()));
    write("c.csv", REVOCATIONS.as_bytes());
    write("d", &zip(&[("list.txt", EPOSTCARDS.as_bytes())]));
    write("e.xml", PUBLICATION_78.as_bytes());
    write("f.csv", b"{\"ein\":\"530196605\",\"description\":\"Helps.\"}\n");
    let filed = filed_return("530196605", "2024-06-30").revenue(3_000).xml();
    write("g", &gzip(filed.as_bytes()));
    write("h.txt", INDEX.as_bytes());
    write("notes.md", b"# Notes\n");
    write("eo9.csv.part", b"EIN,");
    write(".hidden", b"x");
    fs::create_dir(folder.path().join("more")).unwrap();

    let output = import_all(world, &[folder.path().to_str().unwrap(), "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kinds: Vec<&str> = value["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["irs", "pub78", "revocations", "990n", "990", "nonprofits"]
    );
    let new: Vec<u64> = value["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["new"].as_u64().unwrap())
        .collect();
    assert_eq!(new, [5, 22, 19, 11, 1, 0]);
    assert_eq!(value["steps"][5]["changed"], 1);
    assert_eq!(value["steps"][0]["files"].as_array().unwrap().len(), 2);
    let skipped: Vec<&str> = value["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| skipped["file"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["eo9.csv.part", "more", "notes.md"]);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("step 2 of 6: Publication 78"), "{stderr}");
    assert_eq!(world.snapshots().len(), 1, "one snapshot for all of them");

    let again = import_all(world, &[folder.path().to_str().unwrap()]);
    let stdout = text(&again.stdout);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(stdout.matches("nothing changed").count(), 5, "{stdout}");
    assert!(stdout.contains("skipped notes.md"), "{stdout}");
}

async fn an_error_names_its_step_and_what_was_imported_before(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
    write("eo.csv", &bmf(&nonprofit_rows(4)));
    write("pub78.txt", PUBLICATION_78);
    write("revocations.txt", REVOCATIONS.trim_end());
    write(
        "more.jsonl",
        "{\"ein\":\"100000001\",\"description\":\"Helps.\"}\n",
    );
    let output = import_all(world, &[folder.path().to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    for expected in [
        "step 3 of 4 (the automatic revocation list) failed",
        "truncated",
        "Imported before it: the EO BMF files, Publication 78",
    ] {
        assert!(stderr.contains(expected), "{stderr}");
    }
    assert_eq!(
        world.texts("select kind from imports order by revision").await,
        ["irs", "pub78"]
    );
    world.app.refresh_directory().await.unwrap();
    world.client.details(200, "100000001").await;
}

#[test]
fn a_folder_without_files_to_import_and_two_lists_of_a_kind_are_refused() {
    let cli = Cli::new();
    fs::create_dir(cli.path().join("files")).unwrap();
    assert!(cli.fail(&["import", "all", "missing"]).contains("missing"));
    assert!(cli.fail(&["import", "all", "files"]).contains("--download"));
    cli.write("files/index.csv", INDEX);
    assert!(cli.fail(&["import", "all", "files"]).contains("--download"));
    cli.write("files/a.txt", PUBLICATION_78);
    cli.write("files/b.txt", PUBLICATION_78);
    let error = cli.fail(&["import", "all", "files"]);
    assert!(
        error.contains("a.txt") && error.contains("keep only the newer one"),
        "{error}"
    );
}
