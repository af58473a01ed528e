//! Many tasks with pages, twenty at a time, ended in every way: what they had of the machine comes back.

use super::Shop;
use super::processes::{self, Held};
use crate::Places;
use crate::client::Client;
use crate::crash::Tally;
use crate::host::Host;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

/// Tasks under way at once.
const AT_ONCE: usize = 20;
/// Between two looks at what is left.
const ROUND: usize = 100;
/// One task, on a busy machine with nineteen others.
const PATIENCE: Duration = Duration::from_secs(180);
/// Until what a round had is given back: closing goes on behind a task's end.
const SETTLED: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(100);
/// Renderers that are ready: the host's for the next page, and Chromium's for the next site of whichever context went
/// somewhere last. The small shell has none of those where no page is left.
const SPARE: usize = 2;
/// Processes of the full Chromium that wait for a crash; they leave its tree, and end with it.
const HANDLERS: usize = 2;
/// Descriptors that come and go beside pages: connections, files of the database.
const DESCRIPTORS: usize = 16;
/// What is kept of an ended task in memory: its row and its log, in the database's cache.
const OF_A_TASK: u64 = 32 << 10;
/// What Chromium may have grown by over all rounds.
const OF_CHROMIUM: u64 = 64 << 20;

/// A way to end.
#[derive(Clone, Copy, Debug)]
struct Way {
    name: &'static str,
    /// What the plugin does.
    does: &'static str,
    timeout: Option<u64>,
    then: Then,
    status: &'static str,
    cause: Option<&'static str>,
    /// What a task that completed says.
    says: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Nothing,
    /// As soon as it waits for an element.
    CancelInCall,
    /// As soon as it asks.
    CancelAsking,
    /// As soon as a turn is parked.
    AnswerParked,
}

const fn completes(name: &'static str, does: &'static str, says: &'static str) -> Way {
    Way { name, does, timeout: None, then: Then::Nothing, status: "completed", cause: None, says }
}

const fn fails(name: &'static str, does: &'static str, cause: &'static str) -> Way {
    Way { status: "failed", cause: Some(cause), ..completes(name, does, "") }
}

const WAYS: &[Way] = &[
    completes("done", "done", "Verbs"),
    fails("failed", "failed", "tool"),
    fails("trap", "trap", "trap"),
    fails("too much CPU", "spin", "limit"),
    Way { status: "cancelled", then: Then::CancelAsking, ..completes("cancelled while it asks", "ask", "") },
    Way { status: "cancelled", then: Then::CancelInCall, ..completes("cancelled in a call", "wait", "") },
    Way { timeout: Some(2000), ..fails("deadline", "wait", "deadline") },
    completes("killed tab", "crash", "page-lost"),
    completes("page left open", "left", "Verbs"),
    completes("popup left open", "popup", "Verbs"),
    completes("popup taken and left open", "taken", "Popup"),
    completes("download left behind", "download", "Verbs"),
    Way { then: Then::AnswerParked, ..completes("parked", "ask", "Verbs") },
];

/// Ended by a browser that is killed under all of them.
const KILLED: Way = Way { then: Then::AnswerParked, ..completes("killed browser", "ask", "page-lost") };

/// What all tasks share.
struct Stand {
    url: String,
    shop: String,
}

pub(super) async fn run(places: &Places, folder: &Path, tasks: usize) -> Result<Tally> {
    let data = folder.join("pages");
    let shop = Shop::open(places).await?;
    let arguments = ["--park-ms", "200", "--cpu-ms", "1000", "--script-mib", "64", "--slots", "20"];
    let host = Host::start(places, &data, &arguments).await?;
    host.install(&places.guests.join("soak_pages.wasm"), &[format!("browser {}", shop.url)]).await?;
    let stand = Arc::new(Stand { url: host.url.clone(), shop: shop.url.clone() });
    let (pid, mut tally) = (host.pid()?, Tally::default());
    let (mut left, mut first, mut ended) = (tasks, None, BTreeMap::new());
    let rounds = tasks.div_ceil(ROUND);
    for round in 1..=rounds {
        let begin = Instant::now();
        let size = left.min(ROUND);
        left -= size;
        // Between the first and the last one Chromium lives on, and would show what it piles up.
        let killed = if round == 1 || round == rounds { (size / 5).min(AT_ONCE) } else { 0 };
        let ways: Vec<_> = WAYS.iter().cycle().take(size - killed).copied().collect();
        let done = at_once(&stand, ways, None).await;
        count(done, &mut tally, &mut ended);
        let held = settled(&host, pid, 1).await;
        look(&mut tally, &format!("round {round}: nothing is left of {} tasks", size - killed), held.as_ref());
        if let Ok(held) = held {
            println!(
                "      {} descriptors, {} MiB in the host, {} MiB below it, {:?}, {} s",
                held.descriptors,
                held.own >> 20,
                held.below >> 20,
                held.processes,
                begin.elapsed().as_secs()
            );
            // The first round warms up what stays.
            let (from, before) = first.get_or_insert((tasks - left, held.clone()));
            let kept = flat(&host, pid, before, tasks - left - *from).await;
            look(&mut tally, &format!("round {round}: descriptors and memory are flat"), kept.as_ref());
        }
        if killed > 0 {
            let done = at_once(&stand, vec![KILLED; killed], Some(pid)).await;
            count(done, &mut tally, &mut ended);
            let held = settled(&host, pid, 0).await;
            look(&mut tally, &format!("round {round}: nothing is left of a killed browser"), held.as_ref());
        }
    }
    let below = processes::browsers(pid)?;
    host.stop().await?;
    let over = || {
        let alive = below.iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).count();
        ensure!(alive == 0, "{alive} browsers outlived their host");
        for name in ["chromium", "passing", "workdirs"] {
            let count = processes::entries(&data.join(name));
            ensure!(count == 0, "{count} files are left in {name}");
        }
        Ok(())
    };
    look(&mut tally, "nothing outlives the host", over().as_ref());
    for (way, count) in ended {
        println!("      {count:>5} {way}");
    }
    Ok(tally)
}

fn look<T>(tally: &mut Tally, what: &str, done: Result<&T, &anyhow::Error>) {
    tally.note(what, done.map(drop).map_err(|why| anyhow::anyhow!("{why:#}")));
}

/// Counts them; a line is printed for those that ended in another way than theirs.
fn count(done: Vec<(Way, Result<()>)>, tally: &mut Tally, ended: &mut BTreeMap<&'static str, usize>) {
    for (way, done) in done {
        match done {
            Ok(()) => {
                *ended.entry(way.name).or_default() += 1;
                tally.passed += 1;
            }
            Err(why) => {
                println!("FAIL  {}\n    {why:#}", way.name);
                tally.failed += 1;
            }
        }
    }
}

/// Tasks that end in these ways, twenty at a time. `kill`: the host whose browser is killed as soon as all of them ask.
async fn at_once(stand: &Arc<Stand>, ways: Vec<Way>, kill: Option<u32>) -> Vec<(Way, Result<()>)> {
    let (room, asking) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::new(Barrier::new(ways.len())));
    let mut set = JoinSet::new();
    for way in ways {
        let (stand, room, asking) = (stand.clone(), room.clone(), asking.clone());
        set.spawn(async move {
            let _room = room.acquire_owned().await;
            let gate = kill.map(|pid| Gate { asking, pid });
            let done = tokio::time::timeout(PATIENCE, one(&stand, way, gate)).await;
            (way, done.unwrap_or_else(|_| Err(anyhow::anyhow!("it took more than {} s", PATIENCE.as_secs()))))
        });
    }
    set.join_all().await
}

/// Where tasks wait for each other before the browser is killed under them.
struct Gate {
    asking: Arc<Barrier>,
    pid: u32,
}

impl Gate {
    /// One of them kills, and none goes on before.
    async fn pass(&self) -> Result<()> {
        let killed = if self.asking.wait().await.is_leader() {
            processes::browsers(self.pid).and_then(|all| all.into_iter().try_for_each(processes::kill))
        } else {
            Ok(())
        };
        self.asking.wait().await;
        killed
    }
}

async fn one(stand: &Stand, way: Way, gate: Option<Gate>) -> Result<()> {
    let mut client = Client::connect(&stand.url).await?;
    let mut body = json!({"tool": "soak_pages", "input": {"shop": stand.shop, "way": way.does}});
    if let Some(timeout) = way.timeout {
        body["timeoutMs"] = timeout.into();
    }
    let task = client.post("/api/v1/tasks", &body).await?;
    let path = format!("/api/v1/tasks/{}", task["id"].as_str().context("no id")?);
    match way.then {
        Then::Nothing => {}
        Then::CancelInCall => {
            until(&mut client, &format!("{path}/events?after=0&limit=1000"), |page| {
                let records = page["records"].as_array();
                records.into_iter().flatten().any(|r| r["data"]["call"] == "browser.wait-for") || page["open"] == false
            })
            .await?;
            client.post(&format!("{path}/cancel"), &json!({})).await?;
        }
        Then::CancelAsking => {
            asks(&mut client, &path).await?;
            client.post(&format!("{path}/cancel"), &json!({})).await?;
        }
        Then::AnswerParked => {
            let key = asks(&mut client, &path).await?;
            match gate {
                Some(gate) => gate.pass().await?,
                None => drop(until(&mut client, "/readyz", |health| health["parkedTurns"] != 0).await?),
            }
            let answer = json!({"answers": {key: {"action": "accept", "content": {"confirm": true}}}});
            client.post(&format!("{path}/input"), &answer).await?;
        }
    }
    let task = until(&mut client, &path, |task| task["open"] == false).await?;
    let right = task["status"] == way.status && way.cause.is_none_or(|cause| task["cause"] == cause);
    ensure!(right, "it should be {} {}: {task}", way.status, way.cause.unwrap_or_default());
    if way.status == "completed" {
        let said = task["outcome"]["content"][0]["text"].as_str().or_else(|| task["outcome"]["structured"].as_str());
        ensure!(said == Some(way.says), "it should say {}: {task}", way.says);
    }
    Ok(())
}

/// The key of its question.
async fn asks(client: &mut Client, path: &str) -> Result<String> {
    let task = until(client, path, |task| task["questions"][0].is_object() || task["open"] == false).await?;
    Ok(task["questions"][0]["key"].as_str().with_context(|| format!("it asked nothing: {task}"))?.to_owned())
}

async fn until(client: &mut Client, path: &str, seen: impl Fn(&Value) -> bool) -> Result<Value> {
    loop {
        let value = client.get(path).await?;
        if seen(&value) {
            return Ok(value);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until nothing of a task is left, with so many browsers; what is held then.
async fn settled(host: &Host, pid: u32, browsers: usize) -> Result<Held> {
    let begin = Instant::now();
    loop {
        let (health, held) = (host.health().await?, Held::of(pid, &host.data)?);
        let counts = ["openContexts", "turns", "parkedTurns"].map(|name| health[name].as_u64().unwrap_or(u64::MAX));
        let running = held.count("browser");
        let below = match browsers {
            0 => held.processes.is_empty(),
            _ => held.count("renderer") <= SPARE && held.count("stray") <= HANDLERS,
        };
        // The profile of a browser: its folder and its lock.
        let profiles = std::fs::read_dir(host.data.join("chromium")).map_or(0, Iterator::count);
        if counts == [0; 3] && running == browsers && below && held.passing == 0 && profiles == 2 * browsers {
            return Ok(held);
        }
        ensure!(begin.elapsed() < SETTLED, "left are {health}, {profiles} files of profiles, {held:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until no more is held than when `before` was: Chromium gives back what it has when it comes to it.
async fn flat(host: &Host, pid: u32, before: &Held, tasks: usize) -> Result<()> {
    let begin = Instant::now();
    loop {
        let kept = grown(before, &Held::of(pid, &host.data)?, tasks);
        if kept.is_ok() || begin.elapsed() > SETTLED {
            return kept;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether no more is held than when `before` was, `tasks` earlier.
fn grown(before: &Held, now: &Held, tasks: usize) -> Result<()> {
    let most = before.descriptors + DESCRIPTORS;
    ensure!(now.descriptors <= most, "{} descriptors, {} before", now.descriptors, before.descriptors);
    let own = before.own + (8 << 20) + OF_A_TASK * tasks as u64;
    ensure!(now.own <= own, "the host has {} bytes of its own, {} before", now.own, before.own);
    let below = before.below + OF_CHROMIUM;
    ensure!(now.below <= below, "Chromium has {} bytes, {} before", now.below, before.below);
    Ok(())
}
