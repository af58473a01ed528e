//! A host on a folder of its own, and what tests ask of it.

use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::{Kind, Limits, Record, Status, TaskId, WaitingFor};
use windlass_runtime::clock::{Clock, Manual};
use windlass_runtime::{Caller, CreateTask, Options, TaskView, Tuning, Windlass};

/// Nothing in a test takes longer; what does is stuck.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Bench {
    pub(crate) host: Windlass,
    pub(crate) data: Arc<tempfile::TempDir>,
    limits: Limits,
    tuning: Tuning,
    slots: usize,
}

pub(crate) fn local() -> Caller {
    Caller { principal: "local".into(), operator: false }
}

pub(crate) fn operator() -> Caller {
    Caller { principal: "local".into(), operator: true }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub(crate) async fn with_limits(limits: Limits) -> Self {
        Self::with(limits, tuning()).await
    }

    pub(crate) async fn with_tuning(tuning: Tuning) -> Self {
        Self::with(Limits::default(), tuning).await
    }

    pub(crate) async fn with(limits: Limits, tuning: Tuning) -> Self {
        Self::with_slots(limits, tuning, 64).await
    }

    pub(crate) async fn with_slots(limits: Limits, tuning: Tuning, slots: usize) -> Self {
        let data = Arc::new(tempfile::tempdir().unwrap());
        let options = options(data.path().to_owned(), limits.clone(), tuning.clone(), slots);
        let host = Windlass::open(options).await.unwrap();
        Self { host, data, limits, tuning, slots }
    }

    /// One with options of its own, for as long as it is not started again.
    pub(crate) async fn with_options(make: impl FnOnce(PathBuf) -> Options) -> Self {
        let data = Arc::new(tempfile::tempdir().unwrap());
        let host = Windlass::open(make(data.path().to_owned())).await.unwrap();
        Self { host, data, limits: Limits::default(), tuning: tuning(), slots: 64 }
    }

    /// A host whose browser is started otherwise.
    pub(crate) async fn with_browser(change: impl FnOnce(&mut windlass_browser::Config)) -> Self {
        let data = Arc::new(tempfile::tempdir().unwrap());
        let (limits, tuning, slots) = (Limits::default(), tuning(), 64);
        let mut options = options(data.path().to_owned(), limits.clone(), tuning.clone(), slots);
        change(&mut options.browser);
        let host = Windlass::open(options).await.unwrap();
        Self { host, data, limits, tuning, slots }
    }

    /// The host ends without a word to its turns, and another takes the folder.
    pub(crate) async fn restart(self) -> Self {
        self.restart_after(|| {}).await
    }

    /// The same; something happens while no host runs.
    pub(crate) async fn restart_after(self, meanwhile: impl FnOnce()) -> Self {
        self.host.close().await;
        meanwhile();
        let options = options(self.data.path().to_owned(), self.limits.clone(), self.tuning.clone(), self.slots);
        let host = Windlass::open(options).await.unwrap();
        Self { host, ..self }
    }

    /// The next host goes by this clock.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.tuning.clock = clock;
    }

    pub(crate) async fn install(&self, path: &str, grants: &[&str]) {
        let bytes = std::fs::read(path).unwrap();
        let grants = grants.iter().map(|g| (*g).to_owned()).collect();
        self.host.add_plugin(&operator(), bytes, Some(grants)).await.unwrap();
    }

    pub(crate) async fn create(&self, tool: &str, input: Value) -> TaskId {
        let new = CreateTask { tool: tool.into(), input, ..CreateTask::default() };
        self.host.create(&local(), new).await.unwrap().task.id
    }

    pub(crate) async fn task(&self, id: TaskId) -> TaskView {
        self.host.task(&local(), id).await.unwrap()
    }

    /// Until the only turn there is waits, warm or parked: no time of its own passes any more.
    pub(crate) async fn waits(&self) {
        let wait = async {
            loop {
                let health = self.host.health().await;
                if health.turns == health.waiting && health.waiting as u64 + health.parked == 1 {
                    break;
                }
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "{:?}", self.host.health().await);
    }

    /// Until no turn is in the host's memory, running or waiting: a moment after the last one was parked or has ended.
    pub(crate) async fn idle(&self) {
        let idle = async {
            while self.host.health().await.turns != 0 {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, idle).await.is_ok(), "{:?}", self.host.health().await);
    }

    /// Until this many turns are parked.
    pub(crate) async fn parked(&self, count: u64) {
        let mut changes = self.host.changes();
        let wait = async {
            while self.host.health().await.parked != count {
                let _ = changes.recv().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "{:?}", self.host.health().await);
    }

    /// The task as soon as `seen` holds; looks again at each change.
    pub(crate) async fn until(&self, id: TaskId, seen: impl Fn(&TaskView) -> bool) -> TaskView {
        let mut changes = self.host.changes();
        let wait = async {
            loop {
                let task = self.task(id).await;
                if seen(&task) {
                    return task;
                }
                let _ = changes.recv().await;
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(task) => task,
            Err(_) => panic!("stuck: {:#?}\n{}", self.task(id).await, self.lines(id).await.join("\n")),
        }
    }

    pub(crate) async fn ended(&self, id: TaskId) -> TaskView {
        self.until(id, |task| !task.open).await
    }

    pub(crate) async fn asks(&self, id: TaskId) -> TaskView {
        self.until(id, |task| task.status == Status::InputRequired && task.waiting_for == Some(WaitingFor::Input)).await
    }

    /// The whole log.
    pub(crate) async fn log(&self, id: TaskId) -> Vec<Arc<Record>> {
        let mut log = Vec::new();
        loop {
            let after = log.last().map_or(0, |r: &Arc<Record>| r.seq);
            let page = self.host.events(&local(), id, after, 1000, Duration::ZERO, &[]).await.unwrap();
            log.extend(page.records);
            if !page.has_more {
                break;
            }
        }
        for (i, record) in log.iter().enumerate() {
            assert_eq!(record.seq, i as u64 + 1, "the log has a gap");
        }
        log
    }

    /// The log as soon as `seen` holds.
    pub(crate) async fn until_log(&self, id: TaskId, seen: impl Fn(&[Arc<Record>]) -> bool) -> Vec<Arc<Record>> {
        let follow = self.host.follow(&local(), id, 0).await.unwrap();
        let (mut tail, mut log) = (follow.tail, Vec::new());
        let wait = async {
            while !seen(&log) {
                log.extend(tail.next().await.unwrap());
            }
        };
        if tokio::time::timeout(PATIENCE, wait).await.is_err() {
            panic!("stuck:\n{}", self.lines(id).await.join("\n"));
        }
        log
    }

    /// `kind text`, a line a record.
    pub(crate) async fn lines(&self, id: TaskId) -> Vec<String> {
        self.log(id).await.iter().map(|r| format!("{} {}", r.kind.as_str(), r.text)).collect()
    }

    pub(crate) async fn texts(&self, id: TaskId, kind: Kind) -> Vec<String> {
        self.log(id).await.iter().filter(|r| r.kind == kind).map(|r| r.text.clone()).collect()
    }
}

pub(crate) fn outcome(task: &TaskView) -> &Value {
    task.details.as_ref().unwrap().outcome.as_ref().unwrap_or(&Value::Null)
}

pub(crate) fn failure(task: &TaskView) -> &Value {
    task.details.as_ref().unwrap().failure.as_ref().unwrap_or(&Value::Null)
}

/// The Chromium that the tests are told to take; else the one that is found.
pub(crate) fn browser() -> Option<PathBuf> {
    std::env::var_os("WINDLASS_TEST_BROWSER").map(PathBuf::from)
}

pub(crate) fn options(data: PathBuf, limits: Limits, tuning: Tuning, slots: usize) -> Options {
    let browser = windlass_browser::Config {
        executable: browser(),
        // Tests run as root in containers too.
        no_sandbox: true,
        profiles: data.join("profiles"),
        denied: Vec::new(),
        ..windlass_browser::Config::default()
    };
    let secrets_key = data.join("secrets.key");
    Options {
        data,
        browser,
        slots,
        limits,
        secrets_key,
        built_in: Vec::new(),
        denied: Vec::new(),
        tuning,
        authorities: windlass_runtime::Authorities::default(),
        compiling: None,
    }
}

/// As a host is by default, but for the machine's own disk: a test must not hang on what is free there.
pub(crate) fn tuning() -> Tuning {
    Tuning { min_free: 0, ..Tuning::default() }
}

/// A host's time that stands still until it is moved, and a clock that shows it.
pub(crate) fn manual() -> (Manual, Clock) {
    let time = Manual::new(1_764_444_021_000_000_000);
    (time.clone(), Clock::new(time))
}
