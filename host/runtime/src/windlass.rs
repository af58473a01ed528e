//! The host as its ways in see it: every request of a caller is one function, those about plugins in `plugins`, about
//! tokens in `tokens`.

mod files;
mod plugins;
mod secrets;
mod shapes;
mod tokens;

use crate::compile::Compiling;
use crate::engine::Compiler;
use crate::error::Error;
use crate::fetch::Tls;
use crate::life::{self, Cancelled, New, situation};
use crate::registry::{Installed, Registry};
use crate::services::Services;
use crate::tokens::Keyring;
use crate::tuning::Tuning;
use crate::vault::Vault;
use crate::view::{Action, ArtifactFile, Caller, CreateTask, Created, EventsPage, TaskPage, TaskView, TurnView};
use crate::workdir::Workdirs;
use crate::{keeping, park, passing, runner, schema};
use parking_lot::Mutex;
pub use secrets::SetSecret;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use shapes::{detailed, one_turn, view};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_browser::{Browser, Browsers};
use windlass_core::status::{Asked, Effect, Move, allows, shown};
use windlass_core::{Kind, Limits, Millis, Status, TaskId, cursor};
use windlass_store::{Changed, Hard, IdempotencyRow, Store, StoreError, Tail, TaskFilter, TaskRow};

/// Instances alive at once; the turns beyond wait for a slot.
const INSTANCES: usize = 5000;

/// How a host is set up.
pub struct Options {
    /// The data folder; made if it is not there. One host a folder.
    pub data: PathBuf,
    /// Chromium.
    pub browser: windlass_browser::Config,
    /// Turns that run at once, 1 to 10,000; a waiting turn holds none.
    pub slots: usize,
    /// What a turn may use.
    pub limits: Limits,
    /// File with the key that seals secrets; made (0600) with the first one.
    pub secrets_key: PathBuf,
    /// Components that come with the host.
    pub built_in: Vec<&'static [u8]>,
    /// Addresses that no page may reach, beside those the host knows itself.
    pub denied: Vec<SocketAddr>,
    /// How it waits, keeps and ends.
    pub tuning: Tuning,
    /// How components are compiled in a process of its own, within bounds. None: in this one, without bounds.
    pub compiling: Option<Compiling>,
}

/// Which tasks a list shows.
#[derive(Clone, Debug, Default)]
pub struct ListTasks {
    /// Only those shown in this status.
    pub status: Option<Status>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// True: archived ones; false: the others; none: both.
    pub archived: Option<bool>,
    /// This text stands in title, tool or id.
    pub q: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: usize,
}

/// A change of a plugin.
#[derive(Clone, Debug, Default)]
pub struct PatchPlugin {
    /// Takes new tasks, or not.
    pub enabled: Option<bool>,
    /// All of its grants, in place of those it has.
    pub grants: Option<Vec<String>>,
}

/// A log that is followed.
pub struct Follow {
    /// Gives what comes after the cursor.
    pub tail: Tail,
    /// The oldest record kept, when the follower began.
    pub first_seq: u64,
    /// The newest record then.
    pub last_seq: u64,
    /// A turn was open then.
    pub open: bool,
}

/// How a host is.
#[derive(Clone, Debug)]
pub struct Health {
    /// The store answers a read, or why not.
    pub store: Result<(), String>,
    /// Turns that this host holds, running or waiting.
    pub turns: usize,
    /// Of these, turns that wait.
    pub waiting: usize,
    /// Turns that are parked.
    pub parked: u64,
    /// Parked turns whose pages are open.
    pub parked_pages: usize,
    /// Free slots.
    pub free_slots: usize,
    /// Open browser contexts.
    pub contexts: usize,
    /// Process id of Chromium, if one runs.
    pub browser_pid: Option<u32>,
}

/// A host. Clones are handles to the same one.
#[derive(Clone)]
pub struct Windlass {
    services: Arc<Services>,
    data: Arc<Path>,
}

impl Windlass {
    /// Opens the store, installs what comes with the host, and takes over every open turn.
    ///
    /// # Errors
    /// The data folder is another host's, or can't be used; a component of the host itself is refused.
    pub async fn open(options: Options) -> Result<Self, Error> {
        let store = Store::open(&options.data)?;
        Self::on(options, store).await
    }

    /// As `open`, on a store that is open already.
    ///
    /// # Errors
    /// A component of the host itself is refused, or the data folder can't be used.
    pub async fn on(options: Options, store: Store) -> Result<Self, Error> {
        let compiler = Compiler::new(options.data.join("cache"), options.compiling)?;
        let registry = Registry::open(store.clone(), compiler, options.tuning.clock.clone()).await?;
        let keyring = Keyring::open(store.clone(), options.tuning.clock.clone()).await?;
        let browsers = Browsers::new(options.browser.clone(), options.tuning.browsers);
        let connector = Browser::new(options.browser);
        for address in options.denied {
            browsers.deny(address);
            connector.deny(address);
        }
        let passing = options.data.join("passing");
        passing::clear(&passing)?;
        let workdirs = Workdirs::new(options.data.join("workdirs"));
        let vault = Vault::new(store.clone(), options.secrets_key, options.tuning.clock.clone());
        let services = Arc::new(Services {
            store,
            vault,
            workdirs,
            tls: Tls::default(),
            browsers,
            connector,
            passing,
            registry,
            keyring,
            limits: options.limits,
            clock: options.tuning.clock.clone(),
            tuning: options.tuning,
            parking: park::Parking::default(),
            draining: CancellationToken::new(),
            slots: Arc::new(Semaphore::new(options.slots.clamp(1, 10_000))),
            instances: Arc::new(Semaphore::new(INSTANCES)),
            running: Mutex::default(),
            closing: CancellationToken::new(),
            tracker: TaskTracker::new(),
        });
        for component in options.built_in {
            services.registry.add_built_in(component).await?;
        }
        files::sweep(&services).await?;
        park::pages_died(&services).await?;
        let taken = runner::reconcile(&services).await?;
        if taken > 0 {
            tracing::info!(turns = taken, "open turns were taken over");
        }
        tokio::spawn(runner::watch(services.clone()));
        tokio::spawn(park::timers(services.clone()));
        tokio::spawn(keeping::watch(services.clone()));
        Ok(Self { services, data: options.data.into() })
    }

    /// The key with which a way in seals what a caller is to bring back unchanged: the same for each start on this data
    /// folder, so that it holds over a restart.
    #[must_use]
    pub fn seal(&self) -> &[u8; 32] {
        self.services.store.seal()
    }

    /// An address that no page may reach: a listener of the host itself.
    pub fn deny(&self, address: SocketAddr) {
        self.services.browsers.deny(address);
        self.services.connector.deny(address);
    }

    /// Begins no more turns, parks those that wait, and gives the others up to `grace` to end or to come to a wait.
    pub async fn drain(&self, grace: Duration) {
        self.services.draining.cancel();
        self.services.tracker.close();
        let _ = tokio::time::timeout(grace, self.services.tracker.wait()).await;
    }

    /// Leaves open turns as they are, ends Chromium, makes everything hard. The next start takes the turns over.
    pub async fn close(&self) {
        // Before the turns that wait could park themselves: they are left as they are.
        self.services.closing.cancel();
        self.services.draining.cancel();
        self.services.tracker.close();
        // A turn notices at its next await; one that computes is dropped with the process.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.services.tracker.wait()).await;
        self.services.browsers.shutdown().await;
        self.services.keyring.flush().await;
        self.services.store.close().await;
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.services.draining.is_cancelled() { Err(Error::Closing) } else { Ok(()) }
    }

    fn offering(&self, tool: &str) -> Result<Arc<Installed>, Error> {
        self.services.registry.offering(tool).ok_or_else(|| Error::UnknownTool {
            name: tool.to_owned(),
            disabled: self.services.registry.disabled(tool),
            known: self.tools().into_iter().map(|tool| tool.name).collect(),
        })
    }

    /// Makes a task: hard before it is answered.
    ///
    /// # Errors
    /// Unknown tool, input against its schema, a bad title, time-out or key, a key used for another request, too little space.
    pub async fn create(&self, caller: &Caller, new: CreateTask) -> Result<Created, Error> {
        self.check_open()?;
        keeping::room(&self.services, &self.data)?;
        let plugin = self.offering(&new.tool)?;
        if let Some(tool) = plugin.tool(&new.tool) {
            let broken = |violations| Error::InvalidInput { tool: new.tool.clone(), violations };
            if let Some(ask) = tool.ask_first.as_ref().filter(|ask| ask.is_due(&new.input)) {
                // Nobody is asked for the sake of a call that would be refused all the same.
                plugin.check_before(tool, ask, &new.input).map_err(broken)?;
                return Err(Error::AskedFirst { tool: new.tool, ask: Box::new(ask.clone()) });
            }
            plugin.check_input(tool, &new.input).map_err(broken)?;
        }
        if schema::is_deep(&new.input) {
            return Err(Error::Invalid("the input is nested more than 64 levels deep".into()));
        }
        if new.title.as_ref().is_some_and(|title| title.is_empty() || title.chars().count() > 200) {
            return Err(Error::Invalid("title must have 1 to 200 characters".into()));
        }
        if new.timeout_millis.is_some_and(|millis| !(1..=1 << 53).contains(&millis)) {
            return Err(Error::Invalid("timeoutMs must be a whole number from 1 to 2^53".into()));
        }
        if new.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 255) {
            return Err(Error::Invalid("an idempotency key has 1 to 255 characters".into()));
        }
        let request = json!([new.tool, new.input, new.title, new.timeout_millis]).to_string();
        let mut random = [0; 10];
        getrandom::fill(&mut random).expect("the operating system has randomness");
        let now = self.services.clock.now();
        let new = New {
            id: TaskId::new(u64::try_from(now.0).unwrap_or(0), random),
            principal: caller.principal.clone(),
            tool: new.tool,
            title: new.title,
            input: new.input,
            timeout_millis: new.timeout_millis,
            idempotency: new.idempotency_key.map(|key| (key, Sha256::digest(request.as_bytes()).into())),
            pin: runner::pin(&plugin.row.name, &plugin.row.digest, &self.services.limits),
        };
        let clock = self.services.clock.clone();
        match self.services.store.commit(Hard::Yes, move |tx| life::create(tx, new, &clock)).await? {
            Ok(opened) => {
                let task = view(&opened.task);
                runner::spawn(&self.services, opened);
                Ok(Created { task, replayed: false })
            }
            Err(id) => {
                let row = self.services.store.read(move |rows| rows.task(id, None)).await?;
                let deleted = || Error::Invalid(format!("the idempotency key made task {id}, which was deleted since"));
                Ok(Created { task: view(&row.ok_or_else(deleted)?), replayed: true })
            }
        }
    }

    /// One task, with its input, questions, outcome and artifacts.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn task(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| detailed(rows, id, principal.as_deref())).await
    }

    /// One turn of a task, ended or open, with its part of the log.
    ///
    /// # Errors
    /// Unknown task or turn.
    pub async fn turn(&self, caller: &Caller, id: TaskId, number: u32) -> Result<TurnView, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| one_turn(rows, id, number, principal.as_deref())).await
    }

    /// A page of tasks, newest first.
    ///
    /// # Errors
    /// A bad cursor or limit.
    pub async fn tasks(&self, caller: &Caller, list: ListTasks) -> Result<TaskPage, Error> {
        if !(1..=200).contains(&list.limit) {
            return Err(Error::Invalid("limit must be from 1 to 200".into()));
        }
        let unknown = |_| Error::Invalid("cursor must be the nextCursor of a page before".into());
        let before = list.cursor.map(|cursor| cursor.parse().map_err(unknown));
        let filter = TaskFilter {
            principal: scope(caller),
            status: list.status,
            tool: list.tool,
            archived: list.archived,
            text: list.q,
            before: before.transpose()?,
        };
        let limit = list.limit;
        let mut rows = self.services.store.read(move |rows| rows.tasks(&filter, limit + 1)).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = if more { rows.last().map(|row| row.id.to_string()) } else { None };
        Ok(TaskPage { tasks: rows.iter().map(view).collect(), next_cursor })
    }

    /// Sends a follow-up: taken by the open turn, or it opens the next one. Answers the message's id.
    ///
    /// # Errors
    /// Unknown task, archived, an empty or too long text, or a tool that is gone.
    pub async fn continue_task(&self, caller: &Caller, id: TaskId, text: String) -> Result<u64, Error> {
        self.message(caller, id, text, Move::Continue).await
    }

    async fn message(&self, caller: &Caller, id: TaskId, text: String, wanted: Move) -> Result<u64, Error> {
        self.check_open()?;
        if text.trim().is_empty() || text.len() > 64 << 10 {
            return Err(Error::Invalid("a message has 1 byte to 64 KiB".into()));
        }
        let (principal, sender) = (scope(caller), caller.principal.clone());
        let row = self.row(caller, id).await?;
        let pin = self.services.registry.offering(&row.tool);
        let pin = pin.map(|plugin| runner::pin(&plugin.row.name, &plugin.row.digest, &self.services.limits));
        let clock = self.services.clock.clone();
        let (message, opened) = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                life::follow_up(tx, row, &text, &sender, wanted, pin, &clock)
            })
            .await?;
        match opened {
            Some(opened) => runner::spawn(&self.services, opened),
            None => {
                if let Some(control) = self.services.control(id) {
                    control.message();
                }
            }
        }
        Ok(message)
    }

    /// Answers open questions, each by its public key. Where the turn completed with a question, `accept` of
    /// `{"text": …}` is a follow-up.
    ///
    /// # Errors
    /// Unknown task or question, an answer against its form, or a task that asks nothing.
    pub async fn answer(&self, caller: &Caller, id: TaskId, answers: Vec<(String, Action)>) -> Result<TaskView, Error> {
        self.check_open()?;
        if answers.is_empty() {
            return Err(Error::Invalid("no answer was given".into()));
        }
        let row = self.row(caller, id).await?;
        if allows(situation(&row), Move::Answer) == Effect::OpensNextTurn {
            let text = answers.iter().find_map(|(_, action)| match action {
                Action::Accept(content) => content.get("text").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            });
            let text = text.ok_or_else(|| {
                Error::Invalid("the task waits for a message: give {\"text\": …}, or continue it".into())
            })?;
            self.message(caller, id, text, Move::Answer).await?;
            return self.task(caller, id).await;
        }
        self.answer_questions(caller, &row, answers).await?;
        self.task(caller, id).await
    }

    /// Answers open questions of this turn, and of no other; opens no turn.
    ///
    /// # Errors
    /// Unknown task or question, an answer against its form, or a turn that asks nothing.
    pub async fn answer_turn(
        &self,
        caller: &Caller,
        id: TaskId,
        number: u32,
        answers: Vec<(String, Action)>,
    ) -> Result<(), Error> {
        self.check_open()?;
        let row = self.row(caller, id).await?;
        if row.turn != number || row.status.is_ended() {
            let status = shown(situation(&row)).0.as_str();
            return Err(Error::IllegalMove { why: "the turn has ended".into(), status });
        }
        self.answer_questions(caller, &row, answers).await
    }

    async fn answer_questions(
        &self,
        caller: &Caller,
        row: &TaskRow,
        answers: Vec<(String, Action)>,
    ) -> Result<(), Error> {
        let id = row.id;
        let questions = self.services.store.read(move |rows| rows.questions(id)).await?;
        for (key, action) in &answers {
            let question = questions.iter().find(|q| q.key == *key && q.turn == row.turn && q.answer.is_none());
            if let (Some(question), Action::Accept(content)) = (question, action) {
                let form = serde_json::from_str(&question.schema).unwrap_or_default();
                schema::check_answer(&form, content)
                    .map_err(|violations| Error::InvalidAnswer { key: key.clone(), violations })?;
            }
        }
        let (principal, by, clock) = (scope(caller), caller.principal.clone(), self.services.clock.clone());
        let woken = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                if let Effect::Refused(why) = allows(situation(&row), Move::Answer) {
                    let status = shown(situation(&row)).0.as_str();
                    return Err(Error::IllegalMove { why: why.to_owned(), status });
                }
                life::answer(tx, &row, &answers, &by, &clock)
            })
            .await?;
        if let Some(opened) = woken {
            runner::spawn(&self.services, opened);
        } else if let Some(control) = self.services.control(id) {
            control.answered.notify_waiters();
        }
        Ok(())
    }

    /// Asks the open turn to stop.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn cancel(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        self.ask_to_stop(caller, id, None).await?;
        self.task(caller, id).await
    }

    /// Asks this turn to stop; does nothing where it has ended, whatever came after it.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn cancel_turn(&self, caller: &Caller, id: TaskId, number: u32) -> Result<(), Error> {
        self.ask_to_stop(caller, id, Some(number)).await
    }

    async fn ask_to_stop(&self, caller: &Caller, id: TaskId, only: Option<u32>) -> Result<(), Error> {
        let (principal, by, clock) = (scope(caller), caller.principal.clone(), self.services.clock.clone());
        let cancelled = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                if only.is_some_and(|number| number != row.turn || row.status.is_ended()) {
                    return Ok(Cancelled::Done);
                }
                life::cancel(tx, row, &by, &clock)
            })
            .await?;
        match cancelled {
            Cancelled::Wake(opened) => runner::spawn(&self.services, *opened),
            Cancelled::Tell => {
                if let Some(control) = self.services.control(id) {
                    control.ask(Asked::Cancel);
                }
            }
            Cancelled::Done => {}
        }
        Ok(())
    }

    /// Puts a task aside, or takes it back.
    ///
    /// # Errors
    /// Unknown task, or its turn is open.
    pub async fn archive(&self, caller: &Caller, id: TaskId, archived: bool) -> Result<TaskView, Error> {
        let principal = scope(caller);
        let clock = self.services.clock.clone();
        let archive = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, principal.as_deref())?;
            life::archive(tx, row, archived, &clock)
        };
        Ok(view(&self.services.store.commit(Hard::Yes, archive).await?))
    }

    /// Deletes a task with its log.
    ///
    /// # Errors
    /// Unknown task, or its turn is open.
    pub async fn delete(&self, caller: &Caller, id: TaskId) -> Result<(), Error> {
        let principal = scope(caller);
        let delete = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, principal.as_deref())?;
            life::delete(tx, &row)
        };
        self.services.store.commit(Hard::Yes, delete).await?;
        self.forget_files(id).await;
        Ok(())
    }

    /// Runs a stopped turn again (operators).
    ///
    /// # Errors
    /// Not an operator, unknown task, or it does not wait for one.
    pub async fn retry(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        operator(caller)?;
        let clock = self.services.clock.clone();
        let retry = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, None)?;
            life::retry(tx, row, &clock)
        };
        let opened = self.services.store.commit(Hard::Yes, retry).await?;
        let seen = view(&opened.task);
        runner::spawn(&self.services, opened);
        Ok(seen)
    }

    /// Gives a stopped turn up (operators).
    ///
    /// # Errors
    /// Not an operator, unknown task, or it does not wait for one.
    pub async fn fail(&self, caller: &Caller, id: TaskId, message: Option<String>) -> Result<TaskView, Error> {
        operator(caller)?;
        let message = message.unwrap_or_else(|| "given up".into());
        let clock = self.services.clock.clone();
        let fail = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, None)?;
            life::fail(tx, row, &message, &clock)
        };
        self.services.store.commit(Hard::Yes, fail).await?;
        self.task(caller, id).await
    }

    /// A page of a log after `after`; waits up to `wait` for the first record where none is there.
    ///
    /// # Errors
    /// Unknown task, a cursor beyond the log or before what is kept, a bad limit.
    pub async fn events(
        &self,
        caller: &Caller,
        id: TaskId,
        after: u64,
        limit: usize,
        wait: Duration,
        kinds: &[Kind],
    ) -> Result<EventsPage, Error> {
        if !(1..=1000).contains(&limit) {
            return Err(Error::Invalid("limit must be from 1 to 1000".into()));
        }
        let until = tokio::time::Instant::now() + wait.min(Duration::from_secs(60));
        let mut tail = self.services.store.tail(id, after);
        let principal = scope(caller);
        let mut after = after;
        let mut found = Vec::new();
        loop {
            let (principal, room) = (principal.clone(), limit - found.len());
            let (records, row) = self
                .services
                .store
                .read(move |rows| {
                    let row = life::task(rows, id, principal.as_deref())?;
                    cursor::check(after, row.first_seq, row.last_seq)?;
                    Ok::<_, Error>((rows.records(id, after, room)?, row))
                })
                .await?;
            let full = records.len() == room;
            after = records.last().map_or(after, |record| record.seq);
            let wanted = records.into_iter().filter(|record| kinds.is_empty() || kinds.contains(&record.kind));
            found.extend(wanted.map(Arc::new));
            let more = after < row.last_seq;
            if found.len() < limit && full && more {
                continue;
            }
            let page = EventsPage {
                first_seq: row.first_seq,
                last_seq: row.last_seq,
                next_after: after,
                has_more: more,
                open: !row.status.is_ended(),
                records: std::mem::take(&mut found),
            };
            if !page.records.is_empty() || more || wait.is_zero() || !page.open {
                return Ok(page);
            }
            match tokio::time::timeout_at(until, tail.next()).await {
                Ok(news) => drop(news?),
                Err(_) => return Ok(page),
            }
        }
    }

    /// Follows a log. Whether `after` is good is the follower's to see: it has the bounds.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn follow(&self, caller: &Caller, id: TaskId, after: u64) -> Result<Follow, Error> {
        let tail = self.services.store.tail(id, after);
        let row = self.row(caller, id).await?;
        Ok(Follow { tail, first_seq: row.first_seq, last_seq: row.last_seq, open: !row.status.is_ended() })
    }

    /// Whether a turn of the task is open, and the newest record.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn position(&self, id: TaskId) -> Result<(bool, u64), Error> {
        let row = self.services.store.read(move |rows| life::task(rows, id, None)).await?;
        Ok((!row.status.is_ended(), row.last_seq))
    }

    /// Hears of every change of a task's row.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.services.store.changes()
    }

    /// A stored file.
    ///
    /// # Errors
    /// Unknown task or artifact.
    pub async fn artifact(&self, caller: &Caller, id: TaskId, artifact: &str) -> Result<ArtifactFile, Error> {
        let (principal, wanted) = (scope(caller), artifact.to_owned());
        let row = self
            .services
            .store
            .read(move |rows| {
                life::task(rows, id, principal.as_deref())?;
                let found = rows.artifact(id, &wanted)?;
                match found {
                    Some(row) => Ok(row),
                    None => {
                        let all = rows.artifacts(id)?;
                        let known = all.iter().take(20).map(|a| format!("{} {}", a.id, a.name)).collect();
                        Err(Error::UnknownArtifact { id: wanted, known })
                    }
                }
            })
            .await?;
        let path = self.services.store.blobs().path(&row.sha256);
        Ok(ArtifactFile { name: row.name, mime_type: row.mime_type, size: row.size, sha256: row.sha256, path })
    }

    /// Lets go of ended turns that are kept no longer, and of files that nothing names and that are older than `young`. A host
    /// does it by itself once an hour and once a day. Answers how many turns and files.
    ///
    /// # Errors
    /// The store or the folder can't.
    pub async fn clean_up(&self, young: Duration) -> Result<(u64, u64), Error> {
        let turns = keeping::retain(&self.services).await?;
        let (files, _) = keeping::collect(&self.services, young).await?;
        Ok((turns, files))
    }

    /// Turns that this host holds, and how many of them wait. Those that are parked are not among them.
    #[must_use]
    pub fn held(&self) -> (usize, usize) {
        let waiting = self.services.parking.waiting.load(std::sync::atomic::Ordering::Relaxed);
        (self.services.running.lock().len(), waiting)
    }

    /// How the host is.
    pub async fn health(&self) -> Health {
        // A write tells what a read can't: that tasks can be made.
        let write = |tx: &mut dyn windlass_store::Tx| {
            let (at, after) = (Millis(0), Millis(1));
            tx.forget_idempotency(after)?;
            let probe = IdempotencyRow { task: TaskId::from_bytes([0; 16]), request: [0; 32], at };
            tx.put_idempotency("", "health", &probe)
        };
        let store = self.services.store.commit(Hard::Soon, write).await;
        let browsers = self.services.browsers.all();
        let parked = self.services.store.read(|rows| rows.count_parked()).await.unwrap_or(0);
        Health {
            store: store.map(drop).map_err(|e: StoreError| e.to_string()),
            turns: self.services.running.lock().len(),
            waiting: self.services.parking.waiting.load(std::sync::atomic::Ordering::Relaxed),
            parked,
            parked_pages: self.services.parking.pool.len(),
            free_slots: self.services.slots.available_permits(),
            contexts: browsers.iter().map(Browser::contexts).sum(),
            browser_pid: browsers.iter().find_map(Browser::pid),
        }
    }

    async fn row(&self, caller: &Caller, id: TaskId) -> Result<TaskRow, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| life::task(rows, id, principal.as_deref())).await
    }
}

fn operator(caller: &Caller) -> Result<(), Error> {
    if caller.operator { Ok(()) } else { Err(Error::NotOperator) }
}

/// Whose tasks a caller sees: an operator all, others their own.
fn scope(caller: &Caller) -> Option<String> {
    (!caller.operator).then(|| caller.principal.clone())
}
