//! What a wasm store holds: WASI without power, the table of resources, the turn.

use crate::engine::TICK;
use crate::halt::Halt;
use crate::interface::files::{Files, MOUNT};
use crate::interface::{clocks, stdio};
use crate::turn::Turn;
use chacha20::ChaCha20Rng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasmtime::component::ResourceTable;
use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// The data of a store: one turn of one guest.
pub(crate) struct Host {
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) turn: Arc<Turn>,
    pub(crate) lines: stdio::Lines,
    /// Its workdir, if it has one.
    pub(crate) files: Option<Files>,
    memory: Memory,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Which stream of the turn's seed a use draws from. The numbers are part of what a turn is pinned to.
#[derive(Clone, Copy)]
enum Stream {
    Secure = 1,
    Insecure = 2,
    HashSeed = 3,
    Guest = 4,
}

fn stream(seed: [u8; 32], stream: Stream) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::from_seed(seed);
    rng.set_stream(stream as u64);
    rng
}

/// The `seed` that the contract hands to `run`.
pub(crate) fn guest_seed(seed: [u8; 32]) -> u64 {
    stream(seed, Stream::Guest).next_u64()
}

impl Host {
    fn new(turn: Arc<Turn>, seed: [u8; 32], files: Option<Files>) -> wasmtime::Result<Self> {
        let lines = stdio::Lines::new(&turn);
        let mut hash_seed = stream(seed, Stream::HashSeed);
        let hash_seed = u128::from(hash_seed.next_u64()) << 64 | u128::from(hash_seed.next_u64());
        // No arguments, environment or network, and no files but its workdir: a guest has what the contract gives it.
        let mut wasi = WasiCtxBuilder::new();
        if let Some(files) = &files {
            wasi.preopened_dir(&files.budget.root, MOUNT, FsPerms::ReadWrite)?;
        }
        let wasi = wasi
            .stdout(lines.stdout.clone())
            .stderr(lines.stderr.clone())
            .wall_clock(clocks::Wall(turn.clone()))
            .monotonic_clock(clocks::Monotonic(turn.clone()))
            .secure_random(stream(seed, Stream::Secure))
            .insecure_random(stream(seed, Stream::Insecure))
            .insecure_random_seed(hash_seed)
            .build();
        let memory = Memory { limit: turn.limits.memory_bytes, used: 0 };
        Ok(Self { wasi, table: ResourceTable::new(), turn, lines, files, memory })
    }

    /// A fresh store: limits set, fair to others, and stopped by the epoch.
    pub(crate) fn store(
        engine: &Engine,
        turn: Arc<Turn>,
        seed: [u8; 32],
        files: Option<Files>,
    ) -> wasmtime::Result<Store<Self>> {
        let mut store = Store::new(engine, Self::new(turn, seed, files)?);
        store.limiter(|host| &mut host.memory);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| {
            let host = context.data();
            host.tick()?;
            let turn = host.turn.clone();
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(async move { turn.give_way().await })))
        });
        Ok(store)
    }

    /// Once a tick in which the guest ran.
    fn tick(&self) -> Result<(), Halt> {
        let turn = &self.turn;
        let replaying = turn.replaying();
        let slower = if replaying { SLOWER } else { 1 };
        let ticks = turn.limits.cpu_millis / TICK.as_millis() as u64;
        if turn.busy.fetch_add(1, Ordering::Relaxed) >= ticks * slower {
            let seconds = (turn.limits.cpu_millis * slower) as f64 / 1000.0;
            let limit = if replaying { "in its replay, which is more than it may" } else { "which is its limit" };
            return Err(Halt::Limit(format!("the plugin computed for {seconds} s without a host call, {limit}")));
        }
        turn.check_time()
    }
}

/// The machine may be so many times slower when a turn is replayed than it was before.
const SLOWER: u64 = 4;

/// Holds all linear memories and tables of a guest together under one limit.
struct Memory {
    limit: u64,
    used: u64,
}

/// What an element of a table takes, in bytes.
const ELEMENT: usize = size_of::<usize>();

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let used = self.used + desired.saturating_sub(current) as u64;
        if used > self.limit {
            let max = windlass_core::text::size(self.limit);
            return Err(Halt::Limit(format!("the plugin wanted more than {max} of memory, which is its limit")).into());
        }
        self.used = used;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.memory_growing(current * ELEMENT, desired * ELEMENT, maximum)
    }
}
