//! Does the flows of `flows.json`, one line of JSON a flow: what each check saw, or where it stopped. `peer.mjs` beside
//! this file does the same ones with playwright-core; `cargo xtask flows` runs both and compares.
//!
//! A flow is a list of steps. A step is a verb with what it wants, and with:
//!
//! | key | meaning |
//! |---|---|
//! | `is` | what is seen; for a verb that reads nothing `done` or `fails` |
//! | `peer` | what playwright-core sees instead; the flow's `why` says why |
//! | `plugin` | what a plugin sees instead, through the contract (`tests/all/browser_flows.rs`) |
//! | `within` | milliseconds it may take, instead of ten seconds |
//! | `any` | it may fail: a window may close under the click that closes it |

mod steps;

use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_browser::{Browser, Call, Config, Destination, Policy, Verdict};

use steps::Flow;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The site is on this machine.
struct All;

impl Policy for All {
    fn allows(&self, _: &Destination) -> Verdict {
        Verdict::Exact
    }
}

const OPTIONS: [&str; 5] = ["is", "peer", "plugin", "within", "any"];

/// The verb of a step, and what it wants.
fn verb(step: &Map<String, Value>) -> Result<(&str, &Value), Failure> {
    let verb = step.iter().find(|(key, _)| !OPTIONS.contains(&key.as_str()));
    Ok(verb.map(|(key, value)| (key.as_str(), value)).ok_or("a step without a verb")?)
}

/// What the checks of one flow saw.
async fn run(flow: &mut Flow, steps: &[Value]) -> Result<Vec<Value>, Failure> {
    let mut saw = Vec::new();
    for step in steps {
        let step = step.as_object().ok_or("a step is an object")?;
        let (verb, wants) = verb(step)?;
        let within = step.get("within").and_then(Value::as_u64).unwrap_or(10_000);
        let done = flow.step(verb, wants, &Call::new(Duration::from_millis(within))).await;
        match (done, step.get("is")) {
            (Ok(Value::Null), Some(is)) if is == "done" || is == "fails" => saw.push(json!("done")),
            (Ok(value), Some(_)) => saw.push(value),
            (Err(_), Some(is)) if is == "done" || is == "fails" => saw.push(json!("fails")),
            (Err(_), None) if step.contains_key("any") => {}
            (Err(error), _) => return Err(format!("{verb} {wants}: {error}").into()),
            (Ok(_), None) => {}
        }
    }
    Ok(saw)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (base, file) = (arguments.next().ok_or("no address of the site")?, arguments.next().ok_or("no flows")?);
    let flows: Vec<Map<String, Value>> = serde_json::from_slice(&std::fs::read(file)?)?;
    let folder = tempfile::tempdir()?;
    let executable = std::env::var_os("WINDLASS_BROWSER").map(Into::into);
    let no_sandbox = rustix::process::geteuid().is_root();
    let profiles = folder.path().join("profiles");
    let browser = Browser::new(Config { profiles, executable, no_sandbox, ..Config::default() });
    for flow in flows {
        let steps = flow.get("steps").and_then(Value::as_array).ok_or("a flow without steps")?;
        let began = std::time::Instant::now();
        let empty = Value::Null;
        let files = tempfile::tempdir_in(&folder)?;
        for (name, text) in flow.get("files").and_then(Value::as_object).into_iter().flatten() {
            std::fs::write(files.path().join(name), text.as_str().unwrap_or_default())?;
        }
        let page = flow.get("page").unwrap_or(&empty);
        let mut running = Flow::open(browser.clone(), &base, page, files.path().into()).await?;
        let done = run(&mut running, steps).await;
        running.end().await;
        let (saw, error) = done.map_or_else(|error| (None, Some(error.to_string())), |saw| (Some(saw), None));
        println!(
            "{}",
            json!({"name": flow["name"], "saw": saw, "error": error, "ms": began.elapsed().as_millis() as u64})
        );
    }
    browser.shutdown().await;
    Ok(())
}
