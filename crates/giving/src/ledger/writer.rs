//! The single writer for everything that touches money: queued work shares one transaction (group commit).
//!
//! A commit waits for the disk, so sharing commits is many times faster than one commit per write. Work is rejected before
//! it writes. If work fails nevertheless, the transaction is rolled back and each job is retried alone, so that one job
//! cannot make the others fail.
//!
//! A transaction locks the row of `ledger_head`, so entries are numbered without gaps on any number of servers, and one
//! query prefetches what all jobs read. If PostgreSQL does not confirm a commit within `COMMIT_TIMEOUT`, its outcome is
//! unknown: callers get an error that asks them to try again, and the retry finds what was written.

use super::batch::Batch;
use super::prefetch::Prefetch;
use super::state::LedgerState;
use super::store;
use platform::db::{Db, StoreError, Tx};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The maximum number of jobs in one transaction.
const MAX_BATCH_SIZE: usize = 256;
/// The maximum number of queued jobs; further callers wait to enqueue.
const MAX_QUEUE_SIZE: usize = 4_096;
/// Timeout for a transaction of PostgreSQL until its commit: twice as long as a server that died can hold the lock of the
/// ledger's head.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for the confirmation of a commit by PostgreSQL. Both timeouts together are shorter than that of a request.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(8);

/// Work within a batch, which a rule can refuse with `E`. It may run twice: together with other work, and again alone if
/// the shared transaction failed.
pub type WorkFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, StoreError<E>>> + Send + 'a>>;

/// Work without its type. It stores its outcome where its caller reads it.
type Work = Box<
    dyn for<'a> Fn(&'a mut Batch) -> Pin<Box<dyn Future<Output = sqlx::Result<()>> + Send + 'a>>
        + Send
        + Sync,
>;

struct Job {
    prefetch: Prefetch,
    work: Work,
    done: oneshot::Sender<Result<(), WriteError>>,
}

/// Submits work to the writing task. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Writer {
    jobs: mpsc::Sender<Job>,
}

/// Why a write failed, or may have failed. All jobs of a transaction share the error.
#[derive(Clone, Debug)]
pub struct WriteError(pub Arc<sqlx::Error>);

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store could not be written")
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> WriteError {
        WriteError(Arc::new(error))
    }
}

impl Writer {
    /// Starts the task that writes. It ends with the last writer.
    pub fn start(db: Db) -> Writer {
        let (jobs, queue) = mpsc::channel(MAX_QUEUE_SIZE);
        tokio::spawn(write(db, queue));
        Writer { jobs }
    }

    /// Runs work in a transaction that it may share with other work, and returns once it is committed.
    ///
    /// If the returned future is dropped before the commit, nothing is written.
    pub async fn run<T, E>(
        &self,
        work: impl for<'a> Fn(&'a mut Batch) -> WorkFuture<'a, T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WriteError> + Send + 'static,
    {
        self.run_with_prefetch(Prefetch::default(), work).await
    }

    /// Does the same as [`run`](Writer::run) for work that knows in advance what it reads from the ledger.
    pub(crate) async fn run_with_prefetch<T, E>(
        &self,
        prefetch: Prefetch,
        work: impl for<'a> Fn(&'a mut Batch) -> WorkFuture<'a, T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WriteError> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(None));
        let result = Arc::clone(&slot);
        let work: Work = Box::new(move |batch| {
            let future = work(batch);
            let result = Arc::clone(&result);
            Box::pin(async move {
                let outcome = match future.await {
                    Ok(value) => Ok(value),
                    Err(StoreError::Refused(refusal)) => Err(refusal),
                    Err(StoreError::Store(error)) => return Err(error),
                };
                *result.lock().expect("nothing panics while it is held") = Some(outcome);
                Ok(())
            })
        });
        self.submit(prefetch, work).await?;
        let outcome = slot.lock().expect("nothing panics while it is held").take();
        outcome.unwrap_or_else(|| Err(writer_stopped().into()))
    }

    /// Sends work to the writing task and waits for its commit.
    async fn submit(&self, prefetch: Prefetch, work: Work) -> Result<(), WriteError> {
        let (done, answer) = oneshot::channel();
        let sent = self.jobs.send(Job { prefetch, work, done }).await;
        sent.map_err(|_| writer_stopped())?;
        answer.await.map_err(|_| writer_stopped())?
    }
}

/// The error after the writing task has ended.
fn writer_stopped() -> WriteError {
    sqlx::Error::PoolClosed.into()
}

async fn write(db: Db, mut queue: mpsc::Receiver<Job>) {
    let mut jobs = Vec::new();
    while queue.recv_many(&mut jobs, MAX_BATCH_SIZE).await > 0 {
        match run_together(&db, &mut jobs, Some(&mut queue)).await {
            Ok(()) => answer(&mut jobs, &Ok(())),
            Err(TransactionError::Work(_)) if jobs.len() > 1 => {
                for job in jobs.drain(..) {
                    let mut alone = vec![job];
                    let outcome = run_together(&db, &mut alone, None)
                        .await
                        .map_err(TransactionError::into_inner);
                    answer(&mut alone, &outcome);
                }
            }
            Err(TransactionError::Store(error)) => {
                // The queued jobs would only fail one after the other, each after its timeout.
                while let Ok(job) = queue.try_recv() {
                    jobs.push(job);
                }
                answer(&mut jobs, &Err(error));
            }
            Err(failed) => answer(&mut jobs, &Err(failed.into_inner())),
        }
    }
}

fn answer(jobs: &mut Vec<Job>, outcome: &Result<(), WriteError>) {
    for job in jobs.drain(..) {
        // The caller may have gone away during the commit, which is valid nevertheless.
        let _ = job.done.send(outcome.clone());
    }
}

/// Where a transaction failed.
enum TransactionError {
    /// Before any work was done, or by a timeout: the database does not respond, so other jobs would fail too.
    Store(WriteError),
    /// A job failed. The transaction was rolled back.
    Work(WriteError),
    /// In the commit. It may have succeeded, so nothing is retried.
    Commit(WriteError),
}

impl TransactionError {
    fn into_inner(self) -> WriteError {
        match self {
            TransactionError::Store(error)
            | TransactionError::Work(error)
            | TransactionError::Commit(error) => error,
        }
    }
}

/// Runs all jobs in one transaction, including those that arrive until the head of the ledger is locked. Jobs whose
/// callers have gone away are left out; if one goes away before the commit, the transaction is rolled back and the
/// other jobs run again.
async fn run_together(
    db: &Db,
    jobs: &mut Vec<Job>,
    mut queue: Option<&mut mpsc::Receiver<Job>>,
) -> Result<(), TransactionError> {
    loop {
        jobs.retain(|job| !job.done.is_closed());
        if jobs.is_empty() {
            return Ok(());
        }
        let batch = match db {
            // One process uses the file, and an import may lock it for a while.
            Db::Sqlite { .. } => run_batch(db, jobs, queue.as_deref_mut()).await?,
            Db::Postgres(_) => {
                tokio::time::timeout(TRANSACTION_TIMEOUT, run_batch(db, jobs, queue.as_deref_mut()))
                    .await
                    .map_err(|_| TransactionError::Store(sqlx::Error::PoolTimedOut.into()))??
            }
        };
        if !jobs.iter().any(|job| job.done.is_closed()) {
            let committed = commit(batch.tx).await;
            return committed.map_err(|error| TransactionError::Commit(error.into()));
        }
    }
}

/// Commits. If PostgreSQL does not respond, drops the connection; the commit may have succeeded. The next transaction
/// waits for the lock and reads the head of the ledger again, and a retry finds the entries of the first attempt.
async fn commit(tx: Tx) -> sqlx::Result<()> {
    match tx {
        Tx::Sqlite(_) => tx.commit().await,
        Tx::Postgres(_) => tokio::time::timeout(COMMIT_TIMEOUT, tx.commit())
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut)),
    }
}

/// Runs all jobs in a new transaction, ready to be committed.
async fn run_batch(
    db: &Db,
    jobs: &mut Vec<Job>,
    queue: Option<&mut mpsc::Receiver<Job>>,
) -> Result<Batch, TransactionError> {
    let store_error = |error: sqlx::Error| TransactionError::Store(error.into());
    let work_error = |error: sqlx::Error| TransactionError::Work(error.into());
    let mut tx = db.write().await.map_err(store_error)?;
    // SQLite locked the whole file when the transaction began.
    if let Tx::Postgres(_) = tx {
        store::lock_head(&mut tx).await.map_err(store_error)?;
    }
    if let Some(queue) = queue {
        while jobs.len() < MAX_BATCH_SIZE
            && let Ok(job) = queue.try_recv()
        {
            jobs.push(job);
        }
    }
    let prefetch = jobs.iter().map(|job| &job.prefetch);
    let (head, state) = LedgerState::prefetch(&mut tx, prefetch)
        .await
        .map_err(work_error)?;
    let mut batch = Batch::new(tx, head, state);
    for job in jobs.iter() {
        catch_panics(async { (job.work)(&mut batch).await })
            .await
            .map_err(work_error)?;
    }
    batch.flush().await.map_err(work_error)?;
    Ok(batch)
}

/// Turns a panic of the work into an error, so that the writer keeps running.
async fn catch_panics(work: impl Future<Output = sqlx::Result<()>>) -> sqlx::Result<()> {
    let mut work = std::pin::pin!(work);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(_) => Poll::Ready(Err(sqlx::Error::WorkerCrashed)),
        },
    )
    .await
}
