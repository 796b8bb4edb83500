//! Removes child processes and temporary files when a benchmark ends.
//!
//! Both are removed when their owner is dropped. A signal ends the process without dropping anything, so a
//! signal handler removes them too.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{env, fs, thread};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

static CHILDREN: Mutex<Vec<Arc<Mutex<Child>>>> = Mutex::new(Vec::new());
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static SCRATCH_DIR_COUNT: AtomicU32 = AtomicU32::new(0);

/// Cleans up and exits with the conventional status on SIGINT, SIGTERM or SIGHUP.
pub(crate) fn install_signal_handler() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for child in lock(&CHILDREN).iter() {
                kill(child);
            }
            for folder in lock(&FOLDERS).iter() {
                let _ = fs::remove_dir_all(folder);
            }
            process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A child process that is killed when this is dropped.
pub(crate) struct ChildProcess {
    child: Arc<Mutex<Child>>,
    id: u32,
}

impl ChildProcess {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut children = lock(&CHILDREN);
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        children.push(Arc::clone(&child));
        Ok(Self { child, id })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Returns the exit status, or `None` while the process runs.
    pub(crate) fn exit_status(&self) -> Result<Option<ExitStatus>> {
        Ok(lock(&self.child).try_wait()?)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        kill(&self.child);
        lock(&CHILDREN).retain(|child| !Arc::ptr_eq(child, &self.child));
    }
}

/// A new folder that is removed with its contents when this is dropped.
pub(crate) struct ScratchDir {
    folder: PathBuf,
}

impl ScratchDir {
    pub(crate) fn new(parent: Option<&Path>) -> Result<Self> {
        let parent = parent.map_or_else(env::temp_dir, Path::to_path_buf);
        let number = SCRATCH_DIR_COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("causeway-load-{}-{number}", process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        lock(&FOLDERS).push(folder.clone());
        Ok(Self { folder })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Creates an empty folder that may be a data folder, replacing an existing one of the same name.
    pub(crate) fn create_empty_dir(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        lock(&FOLDERS).retain(|folder| *folder != self.folder);
    }
}

fn kill(child: &Mutex<Child>) {
    let mut child = lock(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// Locks `mutex` even if it is poisoned: a panic elsewhere must not keep child processes alive.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_alive(id: u32) -> bool {
        Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn dropping_a_child_process_kills_it() {
        let process = ChildProcess::start(Command::new("sleep").arg("600")).unwrap();
        let id = process.id();
        assert!(is_alive(id));
        assert!(process.exit_status().unwrap().is_none());
        drop(process);
        assert!(!is_alive(id));
    }

    #[test]
    fn a_panic_kills_the_child_process() {
        let id = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&id);
        let panicked = thread::spawn(move || {
            let process = ChildProcess::start(Command::new("sleep").arg("600")).unwrap();
            *seen.lock().unwrap() = process.id();
            std::panic::resume_unwind(Box::new("stop"));
        })
        .join();
        assert!(panicked.is_err());
        assert!(!is_alive(*id.lock().unwrap()));
    }

    #[test]
    fn dropping_a_scratch_dir_removes_its_files() {
        let scratch = ScratchDir::new(None).unwrap();
        let folder = scratch.create_empty_dir("data").unwrap();
        fs::write(folder.join("file"), "text").unwrap();
        assert!(
            scratch
                .create_empty_dir("data")
                .unwrap()
                .read_dir()
                .unwrap()
                .next()
                .is_none()
        );
        let root = scratch.path("");
        drop(scratch);
        assert!(!root.exists());
    }
}
