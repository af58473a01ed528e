//! The one wasmtime engine of a host, and compiled components on disk.
//!
//! Settings that a guest could notice (NaN bits, relaxed SIMD) are pinned: a turn replays on another processor too.

use crate::error::Refusal;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wasmtime::component::Component;
use wasmtime::{Config, Engine, WasmBacktraceDetails};

/// Between two ticks of the epoch: how long a spinning guest keeps others waiting, and the grain of the CPU budget.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// What a turn is pinned to beside its component; a change here is a change of behaviour.
pub(crate) const PINNED: &str = "contract=0.1 wasmtime=48 nan=canonical simd=deterministic threads=off random=chacha20";

/// The engine and the folder of what it compiled.
pub(crate) struct Compiler {
    pub(crate) engine: Engine,
    cache: PathBuf,
}

impl Compiler {
    /// One a host. Starts the thread that ticks the epoch; it ends with the engine.
    pub(crate) fn new(cache: PathBuf) -> std::io::Result<Self> {
        let engine = engine().map_err(|e| std::io::Error::other(format!("{e:#}")))?;
        let weak = engine.weak();
        std::thread::Builder::new().name("epoch".into()).spawn(move || {
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })?;
        // A compiled component fits one engine and its settings only.
        let settings = Sha256::digest(fingerprint(&engine).as_bytes());
        let cache = cache.join(hex(&settings[..8]));
        std::fs::create_dir_all(&cache)?;
        Ok(Self { engine, cache })
    }

    /// Compiles a component, or loads what was compiled before under its digest. Takes seconds for large components:
    /// call it where blocking is allowed.
    pub(crate) fn load(
        &self,
        digest: &str,
        read: impl FnOnce() -> std::io::Result<Vec<u8>>,
    ) -> Result<Component, Refusal> {
        let path = self.cache.join(format!("{digest}.cwasm"));
        if path.exists()
            && let Ok(component) = deserialize(&self.engine, &path)
        {
            return Ok(component);
        }
        let bytes = read().map_err(|e| Refusal::Compile(e.to_string()))?;
        let compiled = self.engine.precompile_component(&bytes).map_err(|e| Refusal::Compile(format!("{e:#}")))?;
        // Renamed into place: a file under this name is whole, and written by this host.
        let store = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.cache)?;
            std::io::Write::write_all(&mut file, &compiled)?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|e| e.error)?;
            Ok(())
        };
        if let Err(error) = store() {
            tracing::warn!(%error, "a compiled component was not cached");
            return Component::new(&self.engine, &bytes).map_err(|e| Refusal::Compile(format!("{e:#}")));
        }
        deserialize(&self.engine, &path).map_err(|e| Refusal::Compile(format!("{e:#}")))
    }
}

/// What a guest may use of a thread's stack, in bytes: enough for an interpreter inside a guest to recurse some thousand
/// times. Only pages that were touched cost anything.
const STACK: usize = 2 << 20;

fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .max_wasm_stack(STACK)
        // Host functions run on the same stack, above the guest.
        .async_stack_size(STACK + (2 << 20))
        .epoch_interruption(true)
        .wasm_backtrace_details(WasmBacktraceDetails::Enable)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true);
    Engine::new(&config)
}

fn fingerprint(engine: &Engine) -> String {
    use std::hash::{Hash, Hasher};
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{PINNED} {:x}", hasher.finish())
}

/// Maps a compiled component.
#[expect(unsafe_code, reason = "see the argument at the block")]
fn deserialize(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the file must be what `precompile_component` wrote, unchanged. It lies in the data folder (0700), is
    // written only by `load` above under a name of its own by rename, and wasmtime checks version and settings.
    unsafe { Component::deserialize_file(engine, path) }
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
