//! What an instance of a component costs: made, run, dropped.
//!
//! The host's own functions are not reachable from here. So `instance` is wasmtime with the engine settings of the host,
//! with WASI and with stubs for the imports of Windlass, and `turn` is what a whole turn takes inside the host's process,
//! from the call to the end of the task, database and all.

use super::{Options, folder};
use crate::Places;
use crate::host::resident;
use crate::report::{Number, Samples};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Instance, InstancePre, Linker, ResourceTable, ResourceType, Val};
use wasmtime::{Config, Engine, Store, WasmBacktraceDetails};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use windlass_core::{Limits, Status};
use windlass_runtime::{Caller, CreateTask, Windlass};

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl Host {
    fn new() -> Self {
        Self { wasi: WasiCtx::builder().build(), table: ResourceTable::new() }
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let (engine, component) = component(places, "basic_echo")?;
    let pre = linker(&engine, &component)?.instantiate_pre(&component)?;
    let bare = without_run(&pre, options.count(5000)).await?;
    let mut times = Vec::new();
    for n in 0..options.count(5000) {
        let begin = Instant::now();
        let mut store = store(&pre);
        let instance = pre.instantiate_async(&mut store).await?;
        run(&mut store, &instance, "basic_echo", r#"{"text":"hello"}"#).await?;
        drop(store);
        // The first ones grow the allocator.
        if n >= options.count(500) {
            times.push(begin.elapsed());
        }
    }
    let instance = Samples::new(times);
    let turns = Samples::new(turns(places, options).await?);
    let at = |samples: &Samples| samples.at(50.0, "µs").context("no samples");
    Ok(vec![
        Number::new("instance", at(&instance)?, "µs").goal(80.0).limit(at(&bare)?).of(&instance, "µs").with(json!({
            "component": "basic_echo", "engine": "on-demand, epochs, canonical NaN", "is": "store, instance, run, drop",
            "limitIs": "store, instance, drop: no run",
        })),
        Number::new("turn", at(&turns)?, "µs").of(&turns, "µs").with(json!({
            "tool": "basic_echo", "inFlight": 1, "is": "create to end in the host's process, two hard commits, no HTTP",
        })),
    ])
}

/// The engine of the host: see host/runtime/src/engine.rs.
fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .wasm_backtrace_details(WasmBacktraceDetails::Enable)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true);
    Ok(Engine::new(&config)?)
}

/// The same for a component whose `run` is called for a tool that it has not: store, instance, run, drop.
pub(super) async fn refused(component: &std::path::Path, count: usize) -> Result<Samples> {
    let engine = engine()?;
    let component = Component::from_file(&engine, component)?;
    let pre = stubs(&engine, &component)?.instantiate_pre(&component)?;
    let mut times = Vec::new();
    for n in 0..count {
        let begin = Instant::now();
        let mut store = store(&pre);
        let instance = pre.instantiate_async(&mut store).await?;
        let refused = call(&mut store, &instance, "nothing", "{}").await?;
        drop(store);
        ensure!(matches!(refused, Val::Result(Err(_))), "it has a tool of that name: {refused:?}");
        if n >= count / 10 {
            times.push(begin.elapsed());
        }
    }
    Ok(Samples::new(times))
}

fn component(places: &Places, guest: &str) -> Result<(Engine, Component)> {
    let engine = engine()?;
    let component = Component::from_file(&engine, places.guests.join(format!("{guest}.wasm")))?;
    Ok((engine, component))
}

/// WASI, and stubs for the rest.
fn linker(engine: &Engine, component: &Component) -> Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    linker.define_unknown_imports_as_traps(component)?;
    Ok(linker)
}

/// The same for a component whose WASI is another patch of 0.2: its imports of Windlass only are stubs, by their names.
fn stubs(engine: &Engine, component: &Component) -> Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    for (name, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
        if !name.starts_with("windlass:") {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (name, export) in interface.exports(engine) {
            match export.ty {
                ComponentItem::ComponentFunc(_) => {
                    instance.func_new(name, |_, _, _, _| Err(wasmtime::Error::msg("a stub was called")))?;
                }
                ComponentItem::Resource(_) => instance.resource(name, ResourceType::host::<()>(), |_, _| Ok(()))?,
                _ => {}
            }
        }
    }
    Ok(linker)
}

fn store(pre: &InstancePre<Host>) -> Store<Host> {
    let mut store = Store::new(pre.engine(), Host::new());
    store.set_epoch_deadline(1_000_000);
    store
}

async fn without_run(pre: &InstancePre<Host>, count: usize) -> Result<Samples> {
    let mut times = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        let mut store = store(pre);
        pre.instantiate_async(&mut store).await?;
        drop(store);
        times.push(begin.elapsed());
    }
    Ok(Samples::new(times))
}

async fn run(store: &mut Store<Host>, instance: &Instance, name: &str, input: &str) -> Result<()> {
    let answer = call(store, instance, name, input).await?;
    ensure!(matches!(answer, Val::Result(Ok(_))), "the guest failed: {answer:?}");
    Ok(())
}

/// Calls `run` of `windlass:plugin/tool`.
async fn call(store: &mut Store<Host>, instance: &Instance, name: &str, input: &str) -> Result<Val> {
    let tool = instance.get_export_index(&mut *store, None, "windlass:plugin/tool@0.1.0").context("no tool")?;
    let run = instance.get_export_index(&mut *store, Some(&tool), "run").context("no run")?;
    let run = instance.get_func(&mut *store, run).context("run is no function")?;
    let text = |text: &str| Val::String(text.to_owned());
    let turn = Val::Record(vec![
        ("task-id".into(), text("0199d2a4-0000-7000-8000-000000000000")),
        ("number".into(), Val::U32(1)),
        ("tool".into(), text(name)),
        ("input".into(), text(input)),
        ("message".into(), Val::Option(None)),
        ("seed".into(), Val::U64(1)),
    ]);
    let mut results = [Val::Bool(false)];
    run.call_async(&mut *store, &[turn], &mut results).await?;
    let [answer] = results;
    Ok(answer)
}

/// Whole turns, one after the other.
async fn turns(places: &Places, options: &Options) -> Result<Vec<Duration>> {
    let folder = folder(places)?;
    let data = folder.path().join("data");
    let browser = no_browser(&data);
    let host = Windlass::open(windlass_runtime::Options {
        secrets_key: data.join("secrets.key"),
        authorities: windlass_runtime::Authorities::default(),
        data,
        browser,
        slots: 8,
        limits: Limits::default(),
        built_in: Vec::new(),
        compiling: None,
        denied: Vec::new(),
        tuning: windlass_runtime::Tuning::default(),
    })
    .await?;
    let operator = Caller { principal: "local".into(), operator: true };
    let component = std::fs::read(places.guests.join("basic_echo.wasm"))?;
    host.add_plugin(&operator, component, Some(Vec::new())).await?;
    let mut times = Vec::new();
    for _ in 0..options.count(1000) {
        let new = CreateTask { tool: "basic_echo".into(), input: json!({"text": "hello"}), ..CreateTask::default() };
        let mut changes = host.changes();
        let begin = Instant::now();
        let id = host.create(&operator, new).await?.task.id;
        loop {
            let task = host.task(&operator, id).await?;
            if !task.open {
                ensure!(task.status == Status::Completed, "the task is {:?}", task.status);
                break;
            }
            let _ = changes.recv().await;
        }
        times.push(begin.elapsed());
    }
    host.close().await;
    Ok(times)
}

fn no_browser(data: &std::path::Path) -> windlass_browser::Config {
    windlass_browser::Config {
        executable: None,
        no_sandbox: false,
        profiles: data.join("chromium"),
        denied: Vec::new(),
        ..windlass_browser::Config::default()
    }
}

/// Memory of so many instances that wait in `ask` for ever, in bytes.
pub(super) async fn waiting(places: &Places, guest: &str, input: &str, count: usize) -> Result<u64> {
    let asked = Arc::new(AtomicUsize::new(0));
    let (engine, component) = component(places, guest)?;
    let mut linker = linker(&engine, &component)?;
    linker.allow_shadowing(true);
    linker.instance("windlass:plugin/log@0.1.0")?.func_new("write", |_, _, _, _| Ok(()))?;
    let counter = asked.clone();
    linker.instance("windlass:plugin/input@0.1.0")?.func_new_async("ask", move |_, _, _, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Box::new(std::future::pending())
    })?;
    let pre = linker.instantiate_pre(&component)?;
    let before = resident(std::process::id())?;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..count {
        let (pre, tool, input) = (pre.clone(), guest.to_owned(), input.to_owned());
        all.spawn(async move {
            let mut store = store(&pre);
            let instance = pre.instantiate_async(&mut store).await?;
            run(&mut store, &instance, &tool, &input).await
        });
    }
    while asked.load(Ordering::Relaxed) < count {
        if let Some(ended) = all.try_join_next() {
            ended??;
            anyhow::bail!("an instance ended, but should wait");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let bytes = resident(std::process::id())?.saturating_sub(before);
    all.shutdown().await;
    Ok(bytes)
}
