//! Clocks and waits of WASI, as the journal has them: clocks follow the entries, a std sleep is one durable wait.

use crate::answer;
use crate::halt::Halt;
use crate::host::Host;
use crate::park::Wake;
use crate::turn::{Turn, Write};
use serde_json::json;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::{DynPollable, Pollable};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};
use wasmtime_wasi_io::bindings::wasi::io::poll;
use windlass_core::Call;
use windlass_core::journal::{Begin, key};
use windlass_store::Hard;

/// What WASI's wall clock reads.
pub(crate) struct Wall(pub(crate) Arc<Turn>);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        Duration::from_micros(1)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.clock())
    }
}

/// What WASI's monotonic clock reads: the same clock, so that both agree.
pub(crate) struct Monotonic(pub(crate) Arc<Turn>);

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        1000
    }

    fn now(&self) -> u64 {
        self.0.clock()
    }
}

/// A timer of the guest: an absolute time on the guest's clock.
struct Timer {
    turn: Arc<Turn>,
    at: u64,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        if self.turn.journal(|j| j.now()) >= self.at {
            return;
        }
        self.turn.services.clock.until(self.at).await;
    }
}

struct HasView;

impl HasData for HasView {
    type Data<'a> = View<'a>;
}

struct View<'a> {
    table: &'a mut ResourceTable,
    turn: Arc<Turn>,
}

fn view(host: &mut Host) -> View<'_> {
    View { turn: host.turn.clone(), table: &mut host.table }
}

/// Shadows the two interfaces of WASI by which a guest waits.
pub(crate) fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<Host, HasView>(linker, view)?;
    poll::add_to_linker::<Host, HasView>(linker, view)?;
    linker.allow_shadowing(false);
    Ok(())
}

impl View<'_> {
    fn timer(&mut self, at: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let timer = self.table.push(Timer { turn: self.turn.clone(), at })?;
        let pollable = wasmtime_wasi::p2::subscribe(self.table, timer)?;
        self.turn.timers.lock().insert(pollable.rep(), at);
        Ok(pollable)
    }

    fn is_timer(&self, pollable: &Resource<DynPollable>) -> bool {
        self.turn.timers.lock().contains_key(&pollable.rep())
    }

    /// What ends a wait for these: the first of them, if all are timers.
    fn wake(&self, reps: &[u32]) -> Option<Wake> {
        let timers = self.turn.timers.lock();
        let ends: Option<Vec<u64>> = reps.iter().map(|rep| timers.get(rep).copied()).collect();
        ends?.into_iter().min().map(Wake::At)
    }

    /// The guest's clock has reached what it waited for, also where the real one was set back before this host began.
    fn reached(&self, reps: impl Iterator<Item = u32>) -> u64 {
        let timers = self.turn.timers.lock();
        let ends = reps.filter_map(|rep| timers.get(&rep).copied());
        ends.max().unwrap_or(0).max(self.turn.nanos())
    }

    /// A wait that has an entry: begun hard, so that the time the host is down counts.
    async fn begin(&mut self, call: Call, count: usize) -> Result<Wait, Halt> {
        self.turn.touch()?;
        let key = key(call, json!({ "count": count }).to_string().as_bytes());
        Ok(match self.turn.journal(|j| j.begin(call, key))? {
            Begin::Answered(bytes) => Wait::Answered(bytes),
            Begin::Again { pos, .. } | Begin::InDoubt { pos } => Wait::Live(pos, key),
            Begin::Live { pos } => {
                let entry = self.turn.journal(|j| j.start(call, pos, key, self.turn.nanos(), Vec::new()));
                self.turn.commit(Hard::Yes, Write { entries: vec![entry], ..Write::default() }).await?;
                Wait::Live(pos, key)
            }
        })
    }

    fn finish<T: serde::Serialize>(
        &self,
        call: Call,
        pos: u32,
        key: [u8; 16],
        time: u64,
        value: &T,
    ) -> Result<(), Halt> {
        let encoded = answer::encode(self.turn.services.store.blobs(), value)?;
        let entry = self.turn.journal(|j| j.finish(call, pos, key, time, encoded));
        self.turn.put(Hard::Soon, Write { entries: vec![entry], ..Write::default() })
    }
}

/// A wait of WASI has no error to tell of a cancel by, and ended early it would be a lie that the guest acts on: so the
/// turn ends here.
async fn unless_stopped<T>(turn: &Turn, wait: impl Future<Output = T>) -> Result<T, Halt> {
    tokio::select! {
        biased;
        () = turn.control.stop.cancelled() => Err(Halt::Stopped),
        value = wait => Ok(value),
    }
}

enum Wait {
    Answered(Vec<u8>),
    Live(u32, [u8; 16]),
}

impl monotonic_clock::Host for View<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.turn.clock())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1000)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.timer(when)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let at = self.turn.journal(|j| j.now()).saturating_add(duration);
        self.timer(at)
    }
}

impl poll::Host for View<'_> {
    /// Which of several was ready is an input from outside, so it has an entry, if a timer is among them.
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if !pollables.iter().any(|p| self.is_timer(p)) {
            return poll::Host::poll(self.table, pollables).await;
        }
        let reps: Vec<u32> = pollables.iter().map(Resource::rep).collect();
        match self.begin(Call::Poll, pollables.len()).await? {
            Wait::Answered(bytes) => {
                let ready: Vec<u32> = answer::decode(self.turn.services.store.blobs(), &bytes).map_err(Halt::from)?;
                for index in ready.iter().filter_map(|i| reps.get(*i as usize)) {
                    // What was ready then must be ready now before the guest looks at it.
                    poll::HostPollable::block(self.table, Resource::new_borrow(*index)).await?;
                }
                Ok(ready)
            }
            Wait::Live(pos, key) => {
                let turn = self.turn.clone();
                let wake = self.wake(&reps);
                let wait = unless_stopped(&turn, poll::Host::poll(self.table, pollables));
                let ready = turn.wait(wake, wait).await???;
                let time = self.reached(ready.iter().filter_map(|i| reps.get(*i as usize).copied()));
                self.finish(Call::Poll, pos, key, time, &ready)?;
                Ok(ready)
            }
        }
    }
}

impl poll::HostPollable for View<'_> {
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        if !self.is_timer(&pollable) {
            return poll::HostPollable::ready(self.table, pollable).await;
        }
        let call = Call::PollReady;
        self.turn.touch()?;
        self.turn.pace().await?;
        let key = key(call, b"");
        let pos = match self.turn.journal(|j| j.begin(call, key)).map_err(Halt::from)? {
            Begin::Answered(bytes) => {
                return Ok(answer::decode(self.turn.services.store.blobs(), &bytes).map_err(Halt::from)?);
            }
            Begin::Live { pos } | Begin::Again { pos, .. } | Begin::InDoubt { pos } => pos,
        };
        let ready = poll::HostPollable::ready(self.table, pollable).await?;
        self.finish(call, pos, key, self.turn.nanos(), &ready)?;
        Ok(ready)
    }

    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        if !self.is_timer(&pollable) {
            return poll::HostPollable::block(self.table, pollable).await;
        }
        match self.begin(Call::PollBlock, 1).await? {
            Wait::Answered(_) => poll::HostPollable::block(self.table, pollable).await,
            Wait::Live(pos, key) => {
                let turn = self.turn.clone();
                let rep = pollable.rep();
                let wake = self.wake(&[rep]);
                let wait = unless_stopped(&turn, poll::HostPollable::block(self.table, pollable));
                turn.wait(wake, wait).await???;
                let time = self.reached(std::iter::once(rep));
                Ok(self.finish(Call::PollBlock, pos, key, time, &())?)
            }
        }
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.turn.timers.lock().remove(&pollable.rep());
        poll::HostPollable::drop(self.table, pollable)
    }
}
