//! A short run of the floods against the binary of this build.

use std::path::Path;
use std::process::Command;

#[test]
fn a_small_flood_does_not_affect_an_honest_client() {
    let load = Path::new(env!("CARGO_BIN_EXE_causeway-load"));
    let causeway = load.with_file_name("causeway");
    assert!(
        causeway.is_file(),
        "{} does not exist: run `cargo build` first, or test the whole workspace",
        causeway.display()
    );
    let output = Command::new(load)
        .args([
            "hostile",
            "--quick",
            "--generate",
            "500",
            "--seconds",
            "1",
            "--mix-seconds",
            "8",
            "--causeway",
        ])
        .arg(&causeway)
        .output()
        .expect("causeway-load runs");
    let (table, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{table}\n{log}");
    let met = table.lines().filter(|line| line.ends_with(" met |")).count();
    assert_eq!(met, 9, "{table}");
    assert!(!table.contains("MISSED"), "{table}");
}
