//! The one wasmtime engine of a host, and compiled components on disk.
//!
//! Settings that a guest could notice (NaN bits, relaxed SIMD) are pinned: a turn replays on another processor too.

use crate::compile::Compiling;
use crate::error::Refusal;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
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
    /// How it is compiled in a process of its own; none: in this one.
    compiling: Option<Compiling>,
}

impl Compiler {
    /// One a host. Starts the thread that ticks the epoch; it ends with the engine.
    pub(crate) fn new(cache: PathBuf, compiling: Option<Compiling>) -> std::io::Result<Self> {
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
        #[expect(clippy::disallowed_methods, reason = "not data: what is lost is compiled again")]
        std::fs::create_dir_all(&cache)?;
        Ok(Self { engine, cache, compiling })
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
        // Renamed into place: a file under this name is whole, and written by this host.
        let io = |e: std::io::Error| Refusal::Compile(format!("what was compiled can't be kept: {e}"));
        let mut file = tempfile::NamedTempFile::new_in(&self.cache).map_err(io)?;
        match &self.compiling {
            Some(compiling) => {
                compiling.run(&bytes, file.as_file().try_clone().map_err(io)?).map_err(Refusal::Compile)?;
            }
            None => {
                let compiled = precompile(&self.engine, &bytes).map_err(Refusal::Compile)?;
                std::io::Write::write_all(&mut file, &compiled).map_err(io)?;
            }
        }
        file.as_file().sync_all().map_err(io)?;
        file.persist(&path).map_err(|e| io(e.error))?;
        deserialize(&self.engine, &path).map_err(|e| Refusal::Compile(format!("{e:#}")))
    }

    /// Removes what was compiled of components that nobody in `named` is. One that is in use stays mapped.
    #[expect(clippy::disallowed_methods, reason = "not data: what is needed again is compiled again from its blob")]
    pub(crate) fn forget(&self, named: &HashSet<String>) -> std::io::Result<()> {
        for file in std::fs::read_dir(&self.cache)? {
            let path = file?.path();
            let digest = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".cwasm"));
            if digest.is_some_and(|digest| !named.contains(digest)) {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// What a guest may use of a thread's stack, in bytes: enough for an interpreter inside a guest to recurse some thousand
/// times. Only pages that were touched cost anything.
const STACK: usize = 2 << 20;

/// Code for this processor and these settings.
pub(crate) fn precompile(engine: &Engine, component: &[u8]) -> Result<Vec<u8>, String> {
    engine.precompile_component(component).map_err(|e| format!("{e:#}"))
}

pub(crate) fn engine() -> wasmtime::Result<Engine> {
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
