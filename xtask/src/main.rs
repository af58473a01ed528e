//! `cargo xtask …`: what one does with this repository, in few words.
//!
//! Owns: getting the WebAssembly target and Chromium, building, and running programs of the workspace as processes.
//! Leaves to others: everything that needs the host's code. It links none of it, so it is built in seconds.

mod args;
mod author;
mod cache;
mod cargo;
mod chromium;
mod clients;
mod conformance;
mod crash;
mod demo;
mod flows;
mod foreign;
mod host;
mod http;
mod js;
mod measure;
mod process;
mod recordings;
mod script;
mod site;
mod steps;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo [--yes] [--exit] [--kill] [--item NAME]
        Orders from a test shop with a real browser, and asks you before it does.
        --yes    answers by itself
        --exit   stops everything at the end; exit code 0 only if the shop counted one order
        --kill   kills the host while the task waits for the answer, and starts it again
        --item   what to order (mug)
  test [ARGS] | --full
        All tests; ARGS go to `cargo nextest run`, or to `cargo test` where nextest is missing.
        --full  instead, tests of the browser for which it matters which Chromium it is, in the full one
  conformance [--scenario NAME]
        The official suite of MCP against a host: a line for each scenario. Node and the suite are fetched by npm.
  clients [--verbose]
        Clients of MCP that people use each do the whole order, over HTTP and stdio. npm and pip fetch them.
        --verbose  what each of them saw
  foreign
        Plugins in JavaScript and Python, built by their own tools, are killed and go on. npm and pip fetch the tools.
  js
        The JavaScript SDK: types, tests in Node, plugins, and these on a host. npm fetches what it needs.
  author
        What somebody who writes a plugin does, in Rust and JavaScript: `windlass new`, tests, `windlass dev`, changes.
  recordings
        The recordings of tests/recordings by Chrome's own runner, @puppeteer/replay, which npm fetches: it must come to
        the same as what the tests ask of Windlass.
  flows [NAME] [--verbose] [--full] [--alone]
        What people do on pages of the test site, through the browser and through playwright-core, which npm fetches:
        both must see the same, but for what differs on purpose.
        NAME       only flows whose name contains it
        --verbose  what each check saw
        --full     in the full Chromium, whatever else there is
        --alone    without playwright-core
  bench [NAME …] [--json] [--quick]
        The numbers of docs/scoreboard.md, in a release build. `bench browser [VERB …]` is the browser beside playwright-core,
        which npm fetches.
  soak [--minutes N | --pages N] [--full] [--dev]
        Large numbers: tasks that end in every way, cut streams, killed hosts (5 minutes).
        --pages  instead, N tasks with pages, which end in every way: all that they had of the machine must come back
        --full   in the full Chromium, whatever else there is
        --dev    not a release build
  crash [--every K] [--script | --js | --pages] | --kills N [--release] | --disk | --stops
        Hosts that kill themselves before and after every commit and every effect of two kinds of tasks.
        --every  only one in K of these deaths
        --script the order is the script of examples/order-script, and the only task
        --js     the order is the plugin of examples/order-js, and the only task
        --kills  instead, N kills at any moment while fifty tasks are under way
        --disk   instead, a small disk that fills, and then can't be written any more (needs root)
        --stops  instead, a host that is stopped by a signal and continued, while others want its folder
  script-component [--check]
        Builds plugins/script/script.wasm, the engine of scripts that ships in the binary, with a C compiler that it
        brings along (Python 3 is needed).
        --check  compares only; fails where the kept one is not what the sources make";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let done = match command.as_str() {
        "demo" => demo::run(rest),
        "flows" => flows::run(rest),
        "foreign" => foreign::run(rest),
        "author" => author::run(rest),
        "js" => js::run(rest),
        "test" => test::run(&rest),
        "bench" => measure::bench(rest),
        "clients" => clients::run(rest),
        "conformance" => conformance::run(rest),
        "crash" => crash::run(rest),
        "recordings" => recordings::run(rest),
        "script-component" => script::run(rest),
        "soak" => measure::soak(rest),
        "help" | "-h" | "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {command}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
