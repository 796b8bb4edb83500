//! What must not outlive a measurement: child processes and the folder for its files.
//! Both go when their owner is dropped, and also when the program is interrupted, because a signal
//! ends the process without dropping anything.

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
static WORKPLACES: AtomicU32 = AtomicU32::new(0);

/// Clears up and leaves with the usual exit code when the program is told to stop.
pub fn on_signals() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for child in held(&CHILDREN).iter() {
                end(child);
            }
            for folder in held(&FOLDERS).iter() {
                let _ = fs::remove_dir_all(folder);
            }
            process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A child process that is killed when this is dropped.
pub struct Running {
    child: Arc<Mutex<Child>>,
    id: u32,
}

impl Running {
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut children = held(&CHILDREN);
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        children.push(Arc::clone(&child));
        Ok(Self { child, id })
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    pub fn exited(&self) -> Result<Option<ExitStatus>> {
        Ok(held(&self.child).try_wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&self.child);
        held(&CHILDREN).retain(|child| !Arc::ptr_eq(child, &self.child));
    }
}

/// A new folder that is removed, with all that is in it, when this is dropped.
pub struct Workplace {
    folder: PathBuf,
}

impl Workplace {
    pub fn new(under: Option<&Path>) -> Result<Self> {
        let parent = under.map_or_else(env::temp_dir, Path::to_path_buf);
        let number = WORKPLACES.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("causeway-load-{}-{number}", process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        held(&FOLDERS).push(folder.clone());
        Ok(Self { folder })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An empty folder by this name, whatever was there before.
    pub fn fresh_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        Ok(folder)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        held(&FOLDERS).retain(|folder| *folder != self.folder);
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = held(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// A panic elsewhere must not keep the children alive, so a poisoned lock is taken all the same.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_alive(id: u32) -> bool {
        Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn a_child_ends_with_its_owner() {
        let running = Running::start(Command::new("sleep").arg("600")).unwrap();
        let id = running.id();
        assert!(is_alive(id));
        assert!(running.exited().unwrap().is_none());
        drop(running);
        assert!(!is_alive(id));
    }

    #[test]
    fn a_child_ends_when_its_owner_panics() {
        let id = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&id);
        let panicked = thread::spawn(move || {
            let running = Running::start(Command::new("sleep").arg("600")).unwrap();
            *seen.lock().unwrap() = running.id();
            std::panic::resume_unwind(Box::new("stop"));
        })
        .join();
        assert!(panicked.is_err());
        assert!(!is_alive(*id.lock().unwrap()));
    }

    #[test]
    fn a_workplace_takes_its_files_with_it() {
        let workplace = Workplace::new(None).unwrap();
        let folder = workplace.fresh_folder("data").unwrap();
        fs::write(folder.join("file"), "text").unwrap();
        assert!(
            workplace
                .fresh_folder("data")
                .unwrap()
                .read_dir()
                .unwrap()
                .next()
                .is_none()
        );
        let root = workplace.path("");
        drop(workplace);
        assert!(!root.exists());
    }
}
