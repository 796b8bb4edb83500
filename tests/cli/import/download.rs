//! `causeway import all --download`: the files of the IRS, from a server that may fail.

use super::file_server::{Fault, FileServer};
use crate::cli::binary;
use crate::files::{bmf, nonprofit_row, nonprofit_rows, zip};
use crate::returns::filed_return;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use tempfile::TempDir;

const PUBLICATION_78: &str = include_str!("../../fixtures/irs/pub78-sample.txt");
const REVOCATIONS: &str = include_str!("../../fixtures/irs/revocation-sample.txt");
const EPOSTCARDS: &str = include_str!("../../fixtures/irs/epostcard-sample.txt");
const PUB78: &str = "/data-download-pub78.zip";

/// A server with all files but returns, and a folder to download to.
struct Mirror {
    server: FileServer,
    folder: TempDir,
}

impl Mirror {
    fn start() -> Mirror {
        let server = FileServer::start();
        for (number, ein) in (1..=4).zip(["530196605", "135562976", "200049703", "271067272"]) {
            let content = bmf(&[nonprofit_row(ein, &format!("CHARITY {number}"))]);
            server.serve(&format!("/eo{number}.csv"), content);
        }
        let list = |name: &str, content: &str| zip(&[(name, content.as_bytes())]);
        server.serve(PUB78, list("data-download-pub78.txt", PUBLICATION_78));
        server.serve("/data-download-revocation.zip", list("r.txt", REVOCATIONS));
        server.serve("/data-download-epostcard.zip", list("e.txt", EPOSTCARDS));
        Mirror {
            server,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        binary()
            .env("CAUSEWAY_IMPORT__IRS_URL", self.server.url())
            .env("CAUSEWAY_IMPORT__TEOS_URL", self.server.url() + "/")
            .env("CAUSEWAY_IMPORT__RETRY_DELAY", "0.001")
            .env("NO_PROXY", "127.0.0.1")
            .args(["import", "all", "--download", "--json", "--data"])
            .arg(self.folder.path().join("data"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Downloads and imports everything but returns.
    fn succeed(&self) -> Value {
        let output = self.run(&["--returns", "none"]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Fails, and returns the error.
    fn fail(&self) -> String {
        let output = self.run(&["--returns", "none"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("data/downloads").join(name)
    }

    /// Asserts that a file is what the server has, and that nothing else of it is left.
    fn assert_fetched(&self, name: &str, content: &[u8]) {
        assert!(fs::read(self.path(name)).unwrap() == content, "{name}");
        assert!(!self.path(&format!("{name}.part")).exists());
        let manifest: Value =
            serde_json::from_slice(&fs::read(self.path("downloads.json")).unwrap()).unwrap();
        let hash = Sha256::digest(content)
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(manifest["files"][name]["sha256"], hash);
    }

    /// The requests for the body of a file.
    fn downloads_of(&self, path: &str) -> Vec<String> {
        let start = format!("GET {path}");
        let mut requests = self.server.take_requests();
        requests.retain(|request| request.starts_with(&start));
        requests
    }
}

/// The names of the fetched files.
fn names(files: &Value) -> Vec<&str> {
    let files = files.as_array().unwrap().iter();
    files.map(|file| file["name"].as_str().unwrap()).collect()
}

fn publication_78() -> Vec<u8> {
    zip(&[("data-download-pub78.txt", PUBLICATION_78.as_bytes())])
}

#[test]
fn everything_is_fetched_and_imported_and_then_only_what_changed() {
    let mirror = Mirror::start();
    let first = mirror.succeed();
    assert_eq!(names(&first["download"]["fetched"]).len(), 7);
    let kinds: Vec<&str> = first["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["irs", "pub78", "revocations", "990n"]);
    mirror.assert_fetched("data-download-pub78.zip", &publication_78());
    mirror.server.take_requests();

    let again = mirror.succeed();
    assert!(names(&again["download"]["fetched"]).is_empty());
    assert_eq!(again["download"]["unchanged"].as_array().unwrap().len(), 7);
    assert!(
        mirror
            .server
            .take_requests()
            .iter()
            .all(|request| request.starts_with("HEAD "))
    );

    let changed = bmf(&[nonprofit_row("530196605", "CHARITY OF ANOTHER NAME")]);
    mirror.server.serve("/eo1.csv", changed.clone());
    // Damaged in the folder, by the same number of bytes.
    fs::write(
        mirror.path("eo2.csv"),
        vec![b'x'; fs::read(mirror.path("eo2.csv")).unwrap().len()],
    )
    .unwrap();
    let third = mirror.succeed();
    assert_eq!(names(&third["download"]["fetched"]), ["eo1.csv", "eo2.csv"]);
    assert_eq!(third["steps"][0]["changed"], 1);
    mirror.assert_fetched("eo1.csv", changed.as_bytes());
}

#[test]
fn bundles_of_returns_are_found_through_the_index() {
    let mirror = Mirror::start();
    let year = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).year();
    let row = |batch: &str| {
        format!("1,EFILE,530196605,202406,2025,X,990,1,202500919349301234,{year}_TEOS_XML_{batch}\n")
    };
    let header = "RETURN_ID,FILING_TYPE,EIN,TAX_PERIOD,SUB_DATE,TAXPAYER_NAME,RETURN_TYPE,DLN,OBJECT_ID,XML_BATCH_ID\n";
    let index = [header, &row("01a"), &row("02A"), &row("../03A")].concat();
    let path = |name: &str| format!("/990/xml/{year}/{name}");
    mirror.server.serve(&path(&format!("index_{year}.csv")), index);
    // The second bundle is not in the index, and one in the index does not exist.
    for (letter, ein) in [("A", "530196605"), ("B", "135562976")] {
        let xml = filed_return(ein, "2024-06-30").revenue(1_000).xml();
        let bundle = zip(&[("b/202500919349301234_public.xml", xml.as_bytes())]);
        mirror
            .server
            .serve(&path(&format!("{year}_TEOS_XML_01{letter}.zip")), bundle);
    }
    let output = mirror.run(&["--years", "1"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let fetched = names(&value["download"]["fetched"]);
    assert_eq!(
        fetched[7..],
        [
            format!("index_{year}.csv"),
            format!("{year}_TEOS_XML_01A.zip"),
            format!("{year}_TEOS_XML_01B.zip")
        ]
    );
    assert_eq!(
        value["download"]["missing"],
        serde_json::json!([format!("{year}_TEOS_XML_02A.zip")])
    );
    let returns = value["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["kind"] == "990")
        .unwrap();
    assert_eq!(returns["new"], 2);
}

#[test]
fn a_download_that_breaks_off_is_continued() {
    let mirror = Mirror::start();
    mirror
        .server
        .fail(PUB78, &[Fault::BreakOffAfter(100), Fault::BreakOffAfter(150)]);
    mirror.succeed();
    assert_eq!(
        mirror.downloads_of(PUB78),
        [
            format!("GET {PUB78}"),
            format!("GET {PUB78} bytes=100-"),
            format!("GET {PUB78} bytes=250-")
        ]
    );
    mirror.assert_fetched("data-download-pub78.zip", &publication_78());
}

#[test]
fn a_later_command_continues_where_an_earlier_one_failed() {
    let mirror = Mirror::start();
    mirror.server.fail_always(PUB78, Some(Fault::BreakOffAfter(20)));
    let error = mirror.fail();
    assert!(
        error.contains("broke off after 100 of") && error.contains(PUB78),
        "{error}"
    );
    assert!(mirror.path("data-download-pub78.zip.part").exists());
    assert!(!mirror.path("data-download-pub78.zip").exists());
    mirror.server.fail_always(PUB78, None);
    mirror.server.take_requests();
    mirror.succeed();
    assert_eq!(mirror.downloads_of(PUB78), [format!("GET {PUB78} bytes=100-")]);
    mirror.assert_fetched("data-download-pub78.zip", &publication_78());
}

#[test]
fn a_wrong_length_never_becomes_a_file() {
    let content = publication_78();
    let mirror = Mirror::start();
    for length in [content.len() + 10, content.len() - 10, 0] {
        mirror.server.fail_always(PUB78, Some(Fault::StateLength(length)));
        let error = mirror.fail();
        assert!(error.contains("cannot download"), "{length}: {error}");
        assert!(!mirror.path("data-download-pub78.zip").exists(), "{length}");
    }
    mirror.server.fail_always(PUB78, None);
    mirror.succeed();
    mirror.assert_fetched("data-download-pub78.zip", &content);
}

#[test]
fn content_that_is_not_what_it_should_be_never_becomes_a_file() {
    let complete = bmf(&nonprofit_rows(20));
    for content in [
        b"<html>We are closed for maintenance</html>".to_vec(),
        publication_78()[..300].to_vec(),
        complete.as_bytes()[..complete.len() - 60].to_vec(),
    ] {
        let mirror = Mirror::start();
        mirror.server.serve("/eo3.csv", content);
        let error = mirror.fail();
        assert!(error.contains("eo3.csv"), "{error}");
        assert!(!mirror.path("eo3.csv").exists() && !mirror.path("eo3.csv.part").exists());
    }
}

#[test]
fn a_server_without_ranges_sends_the_whole_file_again() {
    let mirror = Mirror::start();
    mirror
        .server
        .fail(PUB78, &[Fault::BreakOffAfter(100), Fault::IgnoreRange]);
    mirror.succeed();
    mirror.assert_fetched("data-download-pub78.zip", &publication_78());
}

#[test]
fn a_file_that_changes_between_two_ranges_is_fetched_from_the_beginning() {
    let changed = zip(&[(
        "data-download-pub78.txt",
        PUBLICATION_78.replace("|PC", "|POF").repeat(3).as_bytes(),
    )]);
    for then in [None, Some(Fault::IgnoreVersion)] {
        let mirror = Mirror::start();
        let first = Fault::BreakOffAndReplace(100, changed.clone());
        let faults: Vec<Fault> = [Some(first), then].into_iter().flatten().collect();
        mirror.server.fail(PUB78, &faults);
        mirror.succeed();
        mirror.assert_fetched("data-download-pub78.zip", &changed);
    }
}

#[test]
fn server_errors_are_retried_and_a_missing_file_is_named() {
    let mirror = Mirror::start();
    mirror
        .server
        .fail(PUB78, &[Fault::Status(500), Fault::Status(503)]);
    mirror.succeed();
    mirror.assert_fetched("data-download-pub78.zip", &publication_78());

    let mirror = Mirror::start();
    mirror.server.fail_always(PUB78, Some(Fault::Status(500)));
    let error = mirror.fail();
    assert!(error.contains("500") && error.contains(PUB78), "{error}");
    assert_eq!(mirror.downloads_of(PUB78).len(), 5);
    mirror.server.remove(PUB78);
    let error = mirror.fail();
    assert!(error.contains("does not have data-download-pub78.zip"), "{error}");
    assert!(error.contains("import.teos_url"), "{error}");
}
