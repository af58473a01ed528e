//! `cargo xtask clients`: clients of MCP that people use each do the whole order, over HTTP and over standard input and
//! output: they call the tool, read its log, answer its question or have a person do it, and get the result.

use crate::args::Args;
use crate::cache::{self, Node};
use crate::host::{self, Host, Setup};
use crate::site::Shop;
use crate::steps::Steps;
use crate::{cargo, chromium, process};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const STOP: Duration = Duration::from_secs(20);
/// One order, from a cold Chromium on.
const ORDER: Duration = Duration::from_secs(120);

/// Clients with the names of their packages.
const PYTHON: [&str; 1] = ["mcp==2.3.0"];
const FAST: [&str; 2] = ["fastmcp==4.1.4", "fastmcp-tasks==4.1.4"];

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let verbose = args.switch("--verbose");
    args.end()?;
    let mut steps = Steps::new(3);

    steps.next("What it needs (the first time it is fetched)");
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    let browser = chromium::find()?;
    let node = Node::fetch()?;
    let python = cache::python("python-mcp", &PYTHON)?;
    let fast = cache::python("python-fastmcp", &FAST)?;
    steps.done("Node, Python and the clients");

    steps.next("Builds and starts the host and the shop, and installs the plugin `order`");
    let programs = workspace.build(&["windlass", "windlass-site"], false)?;
    let plugin = workspace.components("examples", false)?.join("order.wasm");
    let folder = workspace.target.join("clients");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let shop = Shop::open(&programs, &folder.join("shop.log"))?;
    let no_sandbox = rustix::process::geteuid().is_root();
    let (data, log) = (folder.join("data"), folder.join("host.log"));
    let setup = Setup { program: programs.join("windlass"), data, log, browser, no_sandbox };
    let host = setup.start("127.0.0.1:0")?;
    setup.install(&plugin, &[format!("browser {}", shop.url)])?;
    steps.done(&format!("{}/mcp", host.url));

    steps.next("Orders");
    let scripts = workspace.root.join("host/mcp/tests/clients");
    let orders = Orders { shop: &shop, setup: &setup, host: &host, folder: &folder };
    let (mut passed, mut failed) = (0, 0);
    for way in [Way::Http, Way::Stdio] {
        let script = |command: Result<Command>, person| {
            let mut command = command?;
            command.arg(&shop.url).args(orders.server(way));
            orders.one(command, person)
        };
        let with = |python: &Path, name: &str| {
            let mut command = Command::new(python);
            command.arg(scripts.join(name));
            Ok(command)
        };
        let done = [
            ("Python, mcp 2.3", script(with(&python, "order.py"), false)),
            ("FastMCP 4.1 with fastmcp-tasks", script(with(&fast, "order_fast.py"), false)),
            ("TypeScript, @modelcontextprotocol/client 2.4", script(node.script(&scripts.join("order.mjs")), true)),
            ("Inspector 2.12, mcpdo", orders.inspector(&node, way)),
        ];
        for (name, done) in done {
            match done {
                Ok((said, took)) => {
                    passed += 1;
                    println!("pass  {name}, over {}  ({:.1} s)", way.as_str(), took.as_secs_f64());
                    if verbose {
                        println!("{said}");
                    }
                }
                Err(why) => {
                    failed += 1;
                    println!("FAIL  {name}, over {}\n{why:#}", way.as_str());
                }
            }
        }
    }
    let ended = host.process.stop(STOP)?;
    shop.process.kill()?;
    ensure!(ended.success(), "the host ended with {ended}");
    let left = process::with_folder(&setup.data);
    ensure!(left.is_empty(), "processes of the host are left: {left:?}");
    println!("{passed} passed, {failed} failed");
    if failed > 0 { bail!("the log of the host is {}", setup.log.display()) } else { Ok(()) }
}

#[derive(Clone, Copy)]
enum Way {
    Http,
    Stdio,
}

impl Way {
    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Stdio => "stdio",
        }
    }
}

struct Orders<'a> {
    shop: &'a Shop,
    setup: &'a Setup,
    host: &'a Host,
    folder: &'a Path,
}

type Done = Result<(String, Duration)>;

impl Orders<'_> {
    /// What a client connects to.
    fn server(&self, way: Way) -> Vec<String> {
        match way {
            Way::Http => vec![format!("{}/mcp", self.host.url)],
            Way::Stdio => {
                let (program, data) = (self.setup.program.display(), self.setup.data.display());
                vec![program.to_string(), "--data".into(), data.to_string(), "mcp".into()]
            }
        }
    }

    /// Runs a client to its end: the shop then has one order more. `person`: somebody answers on the host's page.
    fn one(&self, mut command: Command, person: bool) -> Done {
        let (before, began) = (self.shop.orders()?, Instant::now());
        let log = self.folder.join("client.log");
        let _ = std::fs::remove_file(&log);
        let over = AtomicBool::new(false);
        let status = std::thread::scope(|scope| {
            let page = person.then(|| scope.spawn(|| host::answer_next(&self.host.url, ORDER, &over)));
            let status = process::to_its_end(&mut command, &log, ORDER);
            over.store(true, Ordering::Relaxed);
            let answered = page.map_or(Ok(true), |page| page.join().unwrap_or_else(|_| bail!("the person panicked")));
            match (status, answered) {
                (Ok(status), Ok(_)) => Ok(status),
                (Err(error), _) | (_, Err(error)) => Err(error),
            }
        });
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        let said = said.trim_end().to_owned();
        let status = status.with_context(|| said.clone())?;
        ensure!(status.success(), "{said}\nit ended with {status}");
        self.ordered(&said, before)?;
        Ok((said, began.elapsed()))
    }

    fn ordered(&self, said: &str, before: u64) -> Result<()> {
        let orders = self.shop.orders()? - before;
        ensure!(orders == 1, "{said}\nthe shop counted {orders} orders, not one");
        ensure!(said.contains("Asks: Order mug for 19.90 EUR?"), "{said}\nit did not see the log");
        ensure!(said.contains("Ordered mug for 19.90 EUR: order "), "{said}\nit did not see the result");
        Ok(())
    }

    /// Its commands speak to a process of its own, which holds the connection.
    fn inspector(&self, node: &Node, way: Way) -> Done {
        let (before, began) = (self.shop.orders()?, Instant::now());
        let home = self.folder.join("inspector");
        std::fs::create_dir_all(&home)?;
        let bare = || {
            let mut command = node.program("mcpdo");
            command.current_dir(&home).env("HOME", &home);
            command
        };
        let exports = output(bare().arg("private"))?;
        let exports: Vec<_> =
            exports.lines().filter_map(|line| line.strip_prefix("export ")?.split_once('=')).collect();
        ensure!(!exports.is_empty(), "`mcpdo private` says nothing");
        let mcpdo = |words: &[&str]| {
            let mut command = bare();
            command.envs(exports.iter().map(|(name, value)| (*name, value.trim_matches('\''))));
            output(command.args(words))
        };
        let server = self.server(way);
        let words: Vec<&str> = server.iter().map(String::as_str).collect();
        let said = (|| {
            match way {
                Way::Http => mcpdo(&["connect", words[0], "--transport", "http", "--era", "modern"])?,
                Way::Stdio => mcpdo(&[&["connect", "--era", "modern", "--"], &words[..]].concat())?,
            };
            let at = ["--connection", words[0], "--format", "json"];
            let shop = format!("shop:={}", self.shop.url);
            let asked = mcpdo(&[&at[..], &["tools/call", "order", "item:=mug", &shop]].concat())?;
            let asked: Value = serde_json::from_str(&asked).with_context(|| asked.clone())?;
            let id = asked["elicitationPending"]["elicitationId"].as_str().context("it was not asked")?;
            let result = mcpdo(&[&at[..], &["elicitation/respond", id, "approve:=true"]].concat())?;
            let result: Value = serde_json::from_str(&result).with_context(|| result.clone())?;
            let log = result["content"][1]["uri"].as_str().context("no link to the log")?;
            let page = mcpdo(&[&at[..], &["resources/read", &format!("{log}?after=0")]].concat())?;
            Ok::<_, anyhow::Error>(format!("asked: {asked}\nresult: {result}\nlog: {page}"))
        })();
        let stopped = mcpdo(&["daemon", "stop"]);
        let said = said?;
        stopped?;
        self.ordered(&said, before)?;
        Ok((said, began.elapsed()))
    }
}

/// What a command printed, if it went well.
fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("no Node")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}{wrong}\n{command:?} ended with {}", output.status);
    Ok(said)
}
