//! `cargo xtask demo`: a plugin orders from a shop with a real browser, and asks a person before it does.

use crate::args::Args;
use crate::host::{self, Host, Setup};
use crate::site::Shop;
use crate::steps::{Steps, note};
use crate::{cargo, chromium, http, process};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// From the call of the tool to its question: a cold Chromium and three pages.
const QUESTION: Duration = Duration::from_secs(120);
const STOP: Duration = Duration::from_secs(20);

struct Options {
    yes: bool,
    exit: bool,
    kill: bool,
    item: String,
}

impl Options {
    fn read(given: Vec<String>) -> Result<Self> {
        let mut args = Args::new(given);
        let (yes, exit, kill) = (args.switch("--yes"), args.switch("--exit"), args.switch("--kill"));
        let item = args.option("--item")?.unwrap_or_else(|| "mug".into());
        args.end()?;
        Ok(Self { yes, exit, kill, item })
    }
}

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    let options = Options::read(given)?;
    let mut steps = Steps::new(if options.exit { 6 } else { 5 });

    steps.next("What it needs");
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    let browser = chromium::find()?;
    steps.done(&format!("wasm32-wasip2 and {}", browser.display()));

    steps.next("Builds the host, the shop and the plugin `order` (the first time this takes a while)");
    let programs = workspace.build(&["windlass", "windlass-site"], false)?;
    let plugin = workspace.components("examples", false)?.join("order.wasm");
    steps.done("built");

    steps.next("Starts the shop and the host");
    let folder = fresh_folder(&workspace.target.join("demo"))?;
    let shop = Shop::open(&programs, &folder.join("shop.log"))?;
    let no_sandbox = rustix::process::geteuid().is_root();
    let (data, log) = (folder.join("data"), folder.join("host.log"));
    let setup = Setup { program: programs.join("windlass"), data, log, browser, no_sandbox };
    if no_sandbox {
        note("running as root, where Chromium has no sandbox: it is off (--allow-no-sandbox). Fine in a container.");
    }
    let running = setup.start("127.0.0.1:0")?;
    note(&format!("shop  {}  (process {})", shop.url, shop.process.pid()));
    note(&format!("host  {}  (process {})", running.url, running.process.pid()));
    steps.done(&format!("data in {}", setup.data.display()));

    steps.next("Installs the plugin, and lets its pages load the shop and nothing else");
    let grant = format!("browser {}", shop.url);
    setup.install(&plugin, std::slice::from_ref(&grant))?;
    steps.done(&format!("granted: {grant}"));

    steps.next(&format!("Runs `windlass run order item={} shop={}`", options.item, shop.url));
    let before = shop.orders()?;
    let (running, status) = order(&options, &setup, running, &shop.url)?;
    let orders = shop.orders()? - before;
    let task = newest(&running.url)?;
    steps.done(&format!(
        "the task is {}; the shop counts {orders} new order(s)",
        task["status"].as_str().unwrap_or("?")
    ));

    if !options.exit {
        look_around(&setup, running, shop, &task);
        return Ok(());
    }
    steps.next("Stops what it started");
    let ended = running.process.stop(STOP)?;
    ensure!(ended.success(), "the host ended with {ended}");
    shop.process.kill()?;
    let left = process::with_folder(&setup.data);
    ensure!(left.is_empty(), "processes of the host are left: {left:?}");
    steps.done("nothing is left running");
    ensure!(status == Some(0), "`windlass run` ended with {status:?}");
    ensure!(task["status"] == "completed", "the task is {}", task["status"]);
    ensure!(orders == 1, "the shop counted {orders} orders, not one");
    let _ = std::fs::remove_dir_all(&folder);
    println!("Ordered: the shop counted one order, made by real input after its price was shown.");
    Ok(())
}

/// Runs the tool in the foreground. Beside it, a thread answers or kills the host as was asked for.
fn order(options: &Options, setup: &Setup, running: Host, shop: &str) -> Result<(Host, Option<i32>)> {
    let mut command = setup.windlass();
    command.args(["run", "order", &format!("item={}", options.item), &format!("shop={shop}")]);
    if options.yes {
        command.stdin(Stdio::null());
    }
    let mut child: Child = command.spawn().context("windlass can't be run")?;
    let over = AtomicBool::new(false);
    let running = Mutex::new(Some(running));
    let (status, beside) = std::thread::scope(|scope| {
        let beside =
            scope.spawn(|| if options.yes || options.kill { steer(options, setup, &running, &over) } else { Ok(()) });
        let status = child.wait();
        over.store(true, Ordering::Relaxed);
        (status, beside.join())
    });
    beside.map_err(|_| anyhow::anyhow!("the thread beside the task panicked"))??;
    let running = running.into_inner().ok().flatten().context("the host was not started again")?;
    Ok((running, status?.code()))
}

fn steer(options: &Options, setup: &Setup, running: &Mutex<Option<Host>>, over: &AtomicBool) -> Result<()> {
    let take = || running.lock().ok().and_then(|mut host| host.take()).context("no host");
    let put = |host| running.lock().map(|mut place| *place = Some(host)).map_err(|_| anyhow::anyhow!("no place"));
    let mut host = take()?;
    let done = || over.load(Ordering::Relaxed);
    let mut asks = host::waiting_task(&host.url, "order", QUESTION, done);
    if options.kill && asks.as_ref().is_ok_and(|task| task.as_ref().is_some_and(|task| task["open"] == true)) {
        host = kill_and_start(setup, host)?;
        asks = host::waiting_task(&host.url, "order", QUESTION, done);
    }
    let url = host.url.clone();
    put(host)?;
    match asks? {
        Some(task) if options.yes && task["open"] == true => {
            note(&format!("--yes: {} Yes.", task["questions"][0]["message"].as_str().unwrap_or("?")));
            host::approve(&url, &task)
        }
        _ => Ok(()),
    }
}

/// The same address again, so that whoever follows the task finds the host.
fn kill_and_start(setup: &Setup, host: Host) -> Result<Host> {
    let (url, pid) = (host.url.clone(), host.process.pid());
    host.process.kill()?;
    eprintln!();
    note(&format!("--kill: the host (process {pid}) was killed with SIGKILL while the task waits"));
    let until = std::time::Instant::now() + STOP;
    while !process::with_folder(&setup.data.join("chromium")).is_empty() {
        ensure!(std::time::Instant::now() < until, "Chromium outlived its host");
        std::thread::sleep(Duration::from_millis(20));
    }
    note("--kill: its Chromium is gone too");
    let host = setup.start(url.trim_start_matches("http://"))?;
    note(&format!("--kill: a new host (process {}) took the task over", host.process.pid()));
    Ok(host)
}

fn newest(url: &str) -> Result<Value> {
    let page = http::get(&format!("{url}/api/v1/tasks?tool=order&limit=1"))?;
    let id = page["tasks"][0]["id"].as_str().context("the host has no task of `order`")?;
    http::get(&format!("{url}/api/v1/tasks/{id}"))
}

fn look_around(setup: &Setup, host: Host, shop: Shop, task: &Value) {
    let id = task["id"].as_str().unwrap_or_default();
    println!("\nThe host is still there. Look around:");
    println!("  page    {}/tasks/{id}", host.url);
    println!("  log     curl '{}/api/v1/tasks/{id}/events/stream'", host.url);
    println!("  again   {} --data {} run order item=lamp shop={}", shown(&setup.program), shown(&setup.data), shop.url);
    println!("  folder  {}", setup.data.display());
    println!("  stop    kill {} {}", host.process.pid(), shop.process.pid());
    host.process.leave();
    shop.process.leave();
}

/// A path as one would type it here.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// A folder of this run, and no trace of those whose host is gone.
fn fresh_folder(parent: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if process::can_look() && process::with_folder(&entry.path()).is_empty() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let folder = parent.join(format!("{}-{}", since.as_secs(), std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}
