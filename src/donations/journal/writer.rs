//! One writer for all that touches money: whoever waits is put into one transaction and answered after its commit.
//!
//! A commit waits for the disk, so many writes in one commit are many times faster than one each, and none waits for
//! company. Work refuses before it writes; work that fails all the same is taken back with those beside it, and then
//! each is tried alone, so that one cannot fail the others.

use super::entry::Hash;
use super::store;
use crate::db::{Db, Tx};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// The most that one transaction takes in.
const MOST_AT_ONCE: usize = 256;
/// The most that may wait in line; more wait before it.
const MOST_WAITING: usize = 4_096;

/// A transaction under way, and where journal and outbox end within it.
#[derive(Debug)]
pub struct Batch {
    pub tx: Tx,
    pub(super) head: Head,
}

/// Where journal and outbox end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub entries: i64,
    pub hash: Hash,
    pub events: i64,
}

/// Work within a batch. It may be done twice: with others, and alone after one of them failed.
pub type Working<'a, T> = Pin<Box<dyn Future<Output = sqlx::Result<T>> + Send + 'a>>;

type Work = Box<dyn for<'a> Fn(&'a mut Batch) -> Working<'a, ()> + Send + Sync>;

struct Job {
    work: Work,
    done: oneshot::Sender<Result<(), WriteFault>>,
}

/// Hands work to the task that writes.
#[derive(Clone, Debug)]
pub struct Writer {
    jobs: mpsc::Sender<Job>,
}

/// Why nothing was written. All who were in one commit share the reason.
#[derive(Clone, Debug)]
pub struct WriteFault(pub Arc<sqlx::Error>);

impl fmt::Display for WriteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store could not be written")
    }
}

impl Error for WriteFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<sqlx::Error> for WriteFault {
    fn from(fault: sqlx::Error) -> WriteFault {
        WriteFault(Arc::new(fault))
    }
}

impl Writer {
    /// Starts the task that writes. It ends with the last writer.
    pub fn start(db: Db) -> Writer {
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        tokio::spawn(write(db, waiting));
        Writer { jobs }
    }

    /// Does work in a transaction that it may share with others, and answers once it is committed.
    ///
    /// The work is done to its end even where the caller does not wait for it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl for<'a> Fn(&'a mut Batch) -> Working<'a, T> + Send + Sync + 'static,
    ) -> Result<T, WriteFault> {
        let slot = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        let work: Work = Box::new(move |batch| {
            let working = work(batch);
            let filled = Arc::clone(&filled);
            Box::pin(async move {
                let outcome = working.await?;
                *filled.lock().expect("nothing panics while it is held") = Some(outcome);
                Ok(())
            })
        });
        let (done, answer) = oneshot::channel();
        let gone = || WriteFault::from(sqlx::Error::PoolClosed);
        self.jobs.send(Job { work, done }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())??;
        let outcome = slot.lock().expect("nothing panics while it is held").take();
        outcome.ok_or_else(gone)
    }
}

async fn write(db: Db, mut waiting: mpsc::Receiver<Job>) {
    let mut jobs = Vec::new();
    while waiting.recv_many(&mut jobs, MOST_AT_ONCE).await > 0 {
        match together(&db, &jobs).await {
            Ok(committed) => answer(&mut jobs, &committed),
            Err(_) if jobs.len() > 1 => {
                for job in jobs.drain(..) {
                    let alone = std::slice::from_ref(&job);
                    let outcome = together(&db, alone).await.and_then(|committed| committed);
                    let _ = job.done.send(outcome);
                }
            }
            Err(fault) => answer(&mut jobs, &Err(fault)),
        }
    }
}

fn answer(jobs: &mut Vec<Job>, outcome: &Result<(), WriteFault>) {
    for job in jobs.drain(..) {
        // Whoever asked may be gone; what was written stands.
        let _ = job.done.send(outcome.clone());
    }
}

/// All in one transaction. The outer result tells of the work, the inner one of the commit: when that fails nobody
/// knows whether it stands, so nothing is tried again.
async fn together(db: &Db, jobs: &[Job]) -> Result<Result<(), WriteFault>, WriteFault> {
    let mut tx = db.write().await?;
    let head = store::lock_head(&mut tx).await?;
    let mut batch = Batch { tx, head };
    for job in jobs {
        (job.work)(&mut batch).await?;
    }
    if batch.head != head {
        store::update_head(&mut batch.tx, &batch.head).await?;
    }
    Ok(batch.tx.commit().await.map_err(WriteFault::from))
}
