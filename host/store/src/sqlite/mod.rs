//! The SQLite backend: one thread writes, a few read, one makes commits hard, one moves the write-ahead log.

mod cache;
mod decode;
mod keeper;
mod purge;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;
mod writer;

use crate::StoreError;
use crate::backend::{Backend, Hard, Read, Verdict, Write};
use crate::blobs::make_folder;
use crate::folder::{Place, refuse_links, refuse_rest};
use crate::lock::Lock;
use crate::tail::Hub;
use keeper::{Activity, Checkpointer, Hardness, Nudge, WAL_BYTES};
use read::View;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Params};
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use writer::{Message, Writer};

pub(crate) use write::IDEMPOTENCY_MILLIS;

/// Threads that read.
const READERS: usize = 4;

/// A database in a data folder.
pub(crate) struct Sqlite {
    queue: UnboundedSender<Message>,
    /// None once it is closed.
    readers: Mutex<Option<mpsc::Sender<Read>>>,
    generation: Arc<AtomicU64>,
}

impl Sqlite {
    pub(crate) fn open(data: &Path, hub: Arc<Hub>) -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| StoreError::Io(format!("{}: {error}", data.display()));
        make_folder(data).map_err(failed)?;
        refuse_links(data, &["lock", "windlass.db", "windlass.db-wal", "windlass.db-shm"])?;
        let lock = Arc::new(Lock::take(data)?);
        let path = data.join("windlass.db");
        refuse_rest(data, &path)?;
        // Made before SQLite does: its other files take over the mode of this one.
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let place = file.and_then(|file| Place::of(&file, path.clone())).map_err(failed)?;

        let conn = connect(&path)?;
        conn.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; \
             PRAGMA journal_size_limit = {WAL_BYTES}; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;"
        ))?;
        conn.busy_timeout(writer::PATIENCE)?;
        schema::migrate(&conn)?;
        let trash = conn.query_row("SELECT EXISTS(SELECT 1 FROM trash)", [], |row| row.get(0))?;
        let wal_path = data.join("windlass.db-wal");
        let wal = File::open(&wal_path).map_err(failed)?;
        File::open(data).and_then(|folder| folder.sync_all()).map_err(failed)?;

        let mut threads = Vec::new();
        let (readers, reads) = mpsc::channel::<Read>();
        let reads = Arc::new(Mutex::new(reads));
        for n in 0..READERS {
            let (conn, reads) = (connect_reader(&path)?, Arc::clone(&reads));
            threads.push(spawn(&format!("store-read-{n}"), move || read_jobs(&conn, &reads))?);
        }

        let hardness = Arc::new(Hardness::default());
        let (nudge, nudges) = mpsc::channel();
        let (syncing, syncer_wal) = (Arc::clone(&hardness), wal.try_clone().map_err(failed)?);
        let alarm = nudge.clone();
        threads.push(spawn("store-sync", move || {
            syncing.run(
                || keeper::sync(&syncer_wal),
                |error| {
                    tracing::error!(%error, "commits could not be made hard");
                    let _ = alarm.send(Nudge::Checkpoint);
                },
            );
        })?);

        let activity = Arc::new(Activity::default());
        let checkpointer = Checkpointer { conn: connect(&path)?, wal: wal_path };
        // Short: it holds the writer up while it waits for readers.
        checkpointer.conn.busy_timeout(Duration::from_millis(50))?;
        let watched = Arc::clone(&activity);
        threads.push(spawn("store-checkpoint", move || checkpointer.run(&nudges, &watched))?);

        let (queue, jobs) = tokio::sync::mpsc::unbounded_channel();
        let generation = Arc::new(AtomicU64::new(0));
        let writer = Writer {
            conn,
            wal,
            queue: jobs,
            hub,
            cache: cache::Cache::default(),
            hardness,
            generation: Arc::clone(&generation),
            activity,
            nudge,
            threads,
            lock,
            full: true,
            trash,
            seen: None,
            place,
        };
        spawn("store-write", move || writer.run())?;
        Ok(Self { queue, readers: Mutex::new(Some(readers)), generation })
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Read>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Sqlite {
    fn write(&self, hard: Hard, job: Box<dyn Write>) {
        if let Err(refused) = self.queue.send(Message::Job(hard, job))
            && let Message::Job(_, job) = refused.0
        {
            job.finish(Verdict::Lost(StoreError::Closed));
        }
    }

    fn read(&self, job: Read) {
        let refused = match &*self.readers() {
            Some(readers) => readers.send(job).err().map(|refused| refused.0),
            None => Some(job),
        };
        if let Some(job) = refused {
            job(Err(StoreError::Closed));
        }
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // Readers end when they have done what was asked of them.
        drop(self.readers().take());
        let (answer, closed) = oneshot::channel();
        let sent = self.queue.send(Message::Close(answer)).is_ok();
        Box::pin(async move {
            if sent {
                // Fails where another call of this closed it first.
                let _ = closed.await;
            }
        })
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map_err(|error| StoreError::Io(format!("thread: {error}")))
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // More than there are statements: one that falls out is compiled again each time.
    conn.set_prepared_statement_cache_capacity(128);
    // A plan does not hang on the values that are bound: else a statement that a partial index could serve is compiled
    // again each time they change.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(conn)
}

fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let conn = connect(path)?;
    conn.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192; PRAGMA busy_timeout = 5000;")?;
    Ok(conn)
}

/// A reading thread: a transaction a job, closed before the answer can wait on anything.
fn read_jobs(conn: &Connection, jobs: &Mutex<mpsc::Receiver<Read>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if let Err(error) = execute(conn, "BEGIN", []) {
            job(Err(error));
            continue;
        }
        job(Ok(&mut View(conn)));
        if let Err(error) = execute(conn, "COMMIT", []) {
            tracing::warn!(%error, "a view did not close");
        }
    }
}

fn execute(conn: &Connection, sql: &str, params: impl Params) -> Result<usize, StoreError> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as E;
        use rusqlite::ErrorCode as C;
        match error.sqlite_error_code() {
            Some(C::ConstraintViolation) => Self::Conflict("row"),
            Some(C::DatabaseCorrupt | C::NotADatabase) => Self::Damaged(error.to_string()),
            Some(_) => Self::Io(error.to_string()),
            None => match error {
                E::FromSqlConversionFailure(..)
                | E::IntegralValueOutOfRange(..)
                | E::InvalidColumnType(..)
                | E::Utf8Error(..)
                | E::QueryReturnedNoRows => Self::Damaged(error.to_string()),
                _ => Self::Io(error.to_string()),
            },
        }
    }
}

/// To SQLite's integers, which have a sign.
fn int(what: &'static str, value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::TooLarge(what))
}

fn maybe_int(what: &'static str, value: Option<u64>) -> Result<Option<i64>, StoreError> {
    value.map(|value| int(what, value)).transpose()
}

/// Back again: nothing below zero was written.
fn uint(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Damaged(error.to_string()))
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))
}
