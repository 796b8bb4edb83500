//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are not part of the repository.
const IGNORED: [&str; 6] = [
    ".git",
    "target",
    "causeway-data",
    "node_modules",
    "dist",
    "test-dist",
];

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file, by its path from the root.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

/// Whether a path has this ending, such as `rs`.
pub fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|known| known == ending)
}

/// Every file and folder, by its path from the root. Folders end in a slash.
pub fn files() -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            let name = entry.file_name();
            if IGNORED.iter().any(|ignored| name == *ignored) {
                continue;
            }
            let path = folder.join(&name);
            let text = path.to_str().expect("file names are UTF-8").to_owned();
            if entry.file_type().expect("the file has a type").is_dir() {
                files.push(text + "/");
                folders.push(path);
            } else {
                files.push(text);
            }
        }
    }
    files
}
