//! Opens the data folder and keeps it private: it holds password hashes, email addresses and secrets.
//!
//! A folder that we create has mode 0700. One that other users can enter is refused and not changed, because somebody
//! chose its mode. What we created inside is restricted to its owner at every start.

use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The database of SQLite.
pub const DATABASE: &str = "causeway.db";

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The permissions of the group and of others.
const SHARED_BITS: u32 = 0o077;
/// The permissions of users who are neither the owner nor in the group.
const OTHER_BITS: u32 = 0o007;

/// What we create in the data folder: files, and folders with few files.
const OWN_NAMES: [&str; 8] = [
    DATABASE,
    "causeway.db-wal",
    "causeway.db-shm",
    "opening",
    "secret",
    "directory",
    "mail",
    "reports",
];

/// Creates the data folder, or checks that other users have no access to it and restricts the files in it.
pub fn open(folder: &Path) -> anyhow::Result<()> {
    let created = create_folder(folder)
        .with_context(|| format!("could not create the data folder {}", folder.display()))?;
    if created {
        return Ok(());
    }
    let found = fs::metadata(folder)
        .with_context(|| format!("could not read the data folder {}", folder.display()))?;
    if !found.is_dir() {
        bail!(
            "the data folder {} is a file; choose a folder with --data",
            folder.display()
        );
    }
    if mode(&found) & OTHER_BITS != 0 {
        bail!(
            "other users can read the data folder {0}; run: chmod 700 {0}",
            folder.display()
        );
    }
    for name in OWN_NAMES {
        restrict(&folder.join(name))?;
    }
    Ok(())
}

/// Creates a private folder and the folders above it. Returns `false` if it exists.
pub fn create_folder(folder: &Path) -> io::Result<bool> {
    if folder.exists() {
        return Ok(false);
    }
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a private file for writing, and creates it if it does not exist.
pub fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Replaces a private file, or creates it. After a crash or a power failure it has the old or the new content.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut partial = path.to_owned().into_os_string();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let mut file = open_file(&partial)?;
    file.set_len(0)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Restricts a file, or a folder with everything in it, to its owner.
pub(crate) fn restrict(path: &Path) -> anyhow::Result<()> {
    restrict_tree(path).with_context(|| {
        format!(
            "could not restrict {0} to its owner; run as its owner: chmod -R go= {0}",
            path.display()
        )
    })
}

fn restrict_tree(path: &Path) -> io::Result<()> {
    // Another process may remove a file meanwhile. A link may lead to a file that is not ours.
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if found.is_symlink() {
        return Ok(());
    }
    if mode(&found) & SHARED_BITS != 0 {
        let private = if found.is_dir() { FOLDER_MODE } else { FILE_MODE };
        match fs::set_permissions(path, Permissions::from_mode(private)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            restricted => restricted?,
        }
    }
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            restrict_tree(&entry?.path())?;
        }
    }
    Ok(())
}

/// Restricts a folder that may hold very many files: those in a private folder are private already.
pub(crate) fn restrict_large(folder: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if mode(&found) & SHARED_BITS != 0 => restrict(folder),
        _ => Ok(()),
    }
}

fn mode(found: &Metadata) -> u32 {
    found.permissions().mode()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        mode(&fs::metadata(path).unwrap()) & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_folder_and_its_files_are_private() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new/data");
        open(&folder).unwrap();
        assert_eq!(mode_of(&folder), 0o700);
        let file = folder.join(DATABASE);
        open_file(&file).unwrap();
        assert_eq!(mode_of(&file), 0o600);
    }

    #[test]
    fn a_folder_that_others_can_use_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o701, 0o704, 0o702, 0o777, 0o1777] {
            set_mode(folder.path(), mode);
            let error = open(folder.path()).unwrap_err().to_string();
            let remedy = format!("; run: chmod 700 {}", folder.path().display());
            assert!(error.ends_with(&remedy), "{error}");
            assert_eq!(mode_of(folder.path()), mode);
        }
        for mode in [0o700, 0o750, 0o770] {
            set_mode(folder.path(), mode);
            open(folder.path()).unwrap();
            assert_eq!(mode_of(folder.path()), mode);
        }
    }

    #[test]
    fn what_we_created_is_restricted_and_other_files_are_not() {
        let data = tempfile::tempdir().unwrap();
        set_mode(data.path(), 0o700);
        let at = |name: &str| data.path().join(name);
        fs::create_dir_all(at("mail/waiting")).unwrap();
        fs::create_dir_all(at("directory")).unwrap();
        let own = ["causeway.db", "directory/1.snapshot", "mail/waiting/1.json"];
        for name in own.into_iter().chain(["notes.txt"]) {
            fs::write(at(name), b"").unwrap();
            set_mode(&at(name), 0o644);
        }
        for name in ["mail", "mail/waiting", "directory"] {
            set_mode(&at(name), 0o755);
        }
        open(data.path()).unwrap();
        for name in own {
            assert_eq!(mode_of(&at(name)), 0o600, "{name}");
        }
        for name in ["mail", "mail/waiting", "directory"] {
            assert_eq!(mode_of(&at(name)), 0o700, "{name}");
        }
        assert_eq!(mode_of(&at("notes.txt")), 0o644);
    }
}
