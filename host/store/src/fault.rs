//! Points at which a host kills itself as a power cut would: without a destructor, a rollback or a goodbye.
//!
//! Only in builds with the feature `fault-points`; a release has none of this. Two variables of the environment, read
//! once: `WINDLASS_FAULT=<point>:<n>` kills the process by SIGKILL at the n-th time (from 1) that it comes to the
//! point; `WINDLASS_FAULT_COUNT=<file>` appends a line `<point> <n> <what>` each time it comes to any.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The places, before and after each of the two that change the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// All of a transaction is written, the database does not know yet.
    CommitBefore,
    /// The database has it, nobody was told.
    CommitAfter,
    /// What goes before an effect is written.
    EffectBefore,
    /// The effect is done, its answer is not written.
    EffectAfter,
}

impl Point {
    /// Its name in the two variables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CommitBefore => "commit.before",
            Self::CommitAfter => "commit.after",
            Self::EffectBefore => "effect.before",
            Self::EffectAfter => "effect.after",
        }
    }
}

/// What the environment asks for.
struct Asked {
    kill: Option<(String, u64)>,
    count: Option<String>,
    hits: Mutex<HashMap<Point, u64>>,
}

fn asked() -> &'static Asked {
    static ASKED: OnceLock<Asked> = OnceLock::new();
    ASKED.get_or_init(|| {
        let kill = std::env::var("WINDLASS_FAULT").ok().and_then(|text| {
            let (point, n) = text.split_once(':')?;
            Some((point.to_owned(), n.parse().ok()?))
        });
        Asked { kill, count: std::env::var("WINDLASS_FAULT_COUNT").ok(), hits: Mutex::default() }
    })
}

/// The process has come to a point; `what` says in a few words what it does there.
pub fn hit(point: Point, what: &str) {
    let asked = asked();
    // Held over the write and the kill: no other thread comes to a point meanwhile.
    let mut hits = asked.hits.lock().unwrap_or_else(PoisonError::into_inner);
    let n = hits.entry(point).or_default();
    *n += 1;
    if let Some(path) = &asked.count
        && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
    {
        // Who counts sees that a line is missing.
        let _ = file.write_all(format!("{} {n} {what}\n", point.name()).as_bytes());
    }
    if asked.kill.as_ref().is_some_and(|(name, at)| name == point.name() && at == n) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal may reach another thread first: this one goes no further.
        loop {
            std::thread::park();
        }
    }
}
