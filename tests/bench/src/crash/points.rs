//! Every fault point, every time the order comes to it: what must follow is known of each, and compared.

use super::Tally;
use super::host::Host;
use super::kept::{self, Kept};
use super::order::Order;
use crate::Places;
use crate::soak::Shop;
use anyhow::{Context, Result, bail, ensure};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use windlass_core::{Call, Class, Kind, Status};

/// One order with its kill and its second host, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const POINTS: [&str; 4] = ["commit.before", "commit.after", "effect.before", "effect.after"];
/// The call that the shop counts.
const PRESS: &str = "Click role=button[name=\"Order\"]";

/// A shop, and a data folder in which the plugin is installed for it.
struct Stand {
    /// The tool that makes the order.
    tool: &'static str,
    shop: Shop,
    template: PathBuf,
    orders: u64,
}

/// How one kill came out.
struct Outcome {
    /// What the host was at when it died; none: it never came to this point.
    at: Option<String>,
    interrupted: bool,
    /// What the shop counted when the host was dead, and in the end.
    orders: (u64, u64),
    wrong: Option<String>,
}

pub(super) async fn run(places: &Places, folder: &Path, every: u64, script: bool) -> Result<Tally> {
    let (tool, component) = match script {
        true => ("order-script", packed(places, folder).await.context("packing the script")?),
        false => ("order", places.examples.join("order.wasm")),
    };
    let mut first = Stand::new(places, folder.join("stand-1"), tool, &component).await.context("preparing")?;
    let second = Stand::new(places, folder.join("stand-2"), tool, &component).await.context("preparing")?;
    let counts = count(places, folder, &mut first).await.context("one order without a fault")?;
    let all: Vec<_> = POINTS.iter().zip(counts).map(|(point, n)| format!("{point} {n}")).collect();
    println!("hits in one order: {}", all.join(", "));
    println!("{:<14} {:>3}  {:<20} {:<11} {:<6} ok", "point", "n", "what was under way", "interrupted", "orders");
    let work = POINTS
        .iter()
        .zip(counts)
        .flat_map(|(point, count)| (1..=count).filter(move |n| n % every == every / 2).map(move |n| (*point, n)));
    let (work, tally) = (Mutex::new(work.collect()), Mutex::new(Tally::default()));
    // Two hosts at once, in this task: what it waits for are processes.
    tokio::join!(
        Box::pin(work_off(places, folder, first, &work, &tally)),
        Box::pin(work_off(places, folder, second, &work, &tally))
    );
    Ok(*tally.lock().expect("no panic in it"))
}

async fn work_off(
    places: &Places,
    folder: &Path,
    mut stand: Stand,
    work: &Mutex<VecDeque<(&'static str, u64)>>,
    tally: &Mutex<Tally>,
) {
    loop {
        let next = work.lock().expect("no panic in it").pop_front();
        let Some((point, n)) = next else { return };
        let data = folder.join(format!("{}-{n}", point.replace('.', "-")));
        let outcome = match tokio::time::timeout(PATIENCE, one(places, &mut stand, &data, point, n)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("it took more than {} s", PATIENCE.as_secs())),
        };
        row(point, n, &outcome, tally);
        if outcome.is_ok_and(|outcome| outcome.wrong.is_none()) {
            let _ = std::fs::remove_dir_all(&data);
        }
    }
}

fn row(point: &str, n: u64, outcome: &Result<Outcome>, tally: &Mutex<Tally>) {
    let mut tally = tally.lock().expect("no panic in it");
    match outcome {
        Ok(Outcome { at: None, .. }) => {
            // How many jobs share a commit differs from run to run, so the last ones are not always there.
            println!("{point:<14} {n:>3}  this run had fewer");
        }
        Ok(Outcome { at: Some(at), interrupted, orders, wrong }) => {
            let told = if *interrupted { "yes" } else { "no" };
            let ok = wrong.as_ref().map_or("ok", |_| "WRONG");
            println!("{point:<14} {n:>3}  {at:<20} {told:<11} {} > {}  {ok}", orders.0, orders.1);
            match wrong {
                None => tally.passed += 1,
                Some(why) => {
                    println!("    {why}");
                    tally.failed += 1;
                }
            }
        }
        Err(error) => {
            println!("{point:<14} {n:>3}  WRONG");
            println!("    {error:#}");
            tally.failed += 1;
        }
    }
}

impl Stand {
    async fn new(places: &Places, template: PathBuf, tool: &'static str, component: &Path) -> Result<Self> {
        let shop = Shop::open(places).await?;
        std::fs::create_dir_all(&template)?;
        let host = Host::sound(places, &template).await?;
        host.install(component, &[format!("browser {}", shop.url)]).await?;
        host.stop().await?;
        Ok(Self { shop, template, tool, orders: 0 })
    }

    /// Orders since the last time that [`Stand::settle`] was called.
    async fn orders(&self) -> Result<u64> {
        Ok(self.shop.orders().await? - self.orders)
    }

    async fn settle(&mut self) -> Result<()> {
        self.orders = self.shop.orders().await?;
        Ok(())
    }
}

/// The script of the order as a plugin.
async fn packed(places: &Places, folder: &Path) -> Result<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/order-script/order.js");
    let component = folder.join("order-script.wasm");
    let mut command = tokio::process::Command::new(places.programs.join("windlass"));
    let status = command.args(["script", "pack"]).arg(script).arg("-o").arg(&component).status().await?;
    ensure!(status.success(), "it ended with {status}");
    Ok(component)
}

/// One order without a fault: how often each point is come to.
async fn count(places: &Places, folder: &Path, stand: &mut Stand) -> Result<[u64; 4]> {
    let (data, file) = (folder.join("count"), folder.join("count.txt"));
    copy(&stand.template, &data)?;
    let path = file.to_string_lossy().into_owned();
    let Some(host) = Host::start(places, &data, &[("WINDLASS_FAULT_COUNT", &path)]).await? else {
        bail!("the host died without a fault");
    };
    let order = Order::new(stand.tool, &stand.shop.url, "count");
    let task = tokio::time::timeout(PATIENCE, order.drive(&host.url)).await.context("it does not end")??;
    ensure!(task["status"] == "completed", "the order did not complete: {task}");
    ensure!(stand.orders().await? == 1, "the shop did not count one order");
    stand.settle().await?;
    host.stop().await?;
    let lines = std::fs::read_to_string(&file)?;
    Ok(POINTS.map(|point| lines.lines().filter(|line| line.split(' ').next() == Some(point)).count() as u64))
}

/// A host that dies at this point, and one that goes on.
async fn one(places: &Places, stand: &mut Stand, data: &Path, point: &'static str, n: u64) -> Result<Outcome> {
    // A run that failed may have left its own.
    stand.settle().await?;
    copy(&stand.template, data)?;
    let order = Order::new(stand.tool, &stand.shop.url, &format!("{point}-{n}"));
    let counted = data.with_extension("count");
    let (fault, path) = (format!("{point}:{n}"), counted.to_string_lossy().into_owned());
    let faults = [("WINDLASS_FAULT", fault.as_str()), ("WINDLASS_FAULT_COUNT", &path)];
    if let Some(mut host) = Host::start(places, data, &faults).await? {
        // An error is the host that went away under the client, which is what is wanted.
        if order.drive(&host.url).await.is_ok_and(|task| task["open"] == false)
            && host.died(Duration::from_secs(1)).await.is_err()
        {
            host.kill().await?;
            return Ok(Outcome { at: None, interrupted: false, orders: (0, 0), wrong: None });
        }
        host.died(Duration::from_secs(10)).await?;
    }
    let line = std::fs::read_to_string(&counted)?;
    let at = line.lines().last().and_then(|line| line.splitn(3, ' ').nth(2)).unwrap_or("?").to_owned();
    let orders = stand.orders().await?;
    let before = kept::read(data).await?.into_values().next();
    let shown = order.shown.lock().expect("no panic in it").clone();

    let host = Host::sound(places, data).await?;
    let task = order.drive(&host.url).await.context("after the restart")?;
    host.stop().await?;
    let orders = (orders, stand.orders().await?);
    let after = kept::read(data).await?;
    ensure!(after.len() == 1, "there are {} tasks", after.len());
    let after = after.into_values().next().context("one, as counted")?;
    let checked = check(point, &at, before.as_ref(), &after, orders, &shown);
    let wrong = checked.err().map(|error| format!("{error:#}; the task is {} of {}", task["status"], task["id"]));
    Ok(Outcome { at: Some(at), interrupted: !after.interrupted().is_empty(), orders, wrong })
}

fn check(
    point: &str,
    at: &str,
    before: Option<&Kept>,
    after: &Kept,
    orders: (u64, u64),
    shown: &[String],
) -> Result<()> {
    after.is_whole()?;
    ensure!(after.row.status == Status::Completed, "the task is {}", after.row.status.as_str());
    ensure!(orders.1 == 1, "the shop counted {} orders", orders.1);
    ensure!(after.of(Kind::InputRequested).count() == 1, "it did not ask once");
    ensure!(after.of(Kind::InputAnswered).count() == 1, "it was not answered once");
    ensure!(after.of(Kind::TurnStopped).next().is_none(), "the turn stopped");
    for (record, shown) in after.records.iter().zip(shown) {
        ensure!(serde_json::to_string(record)? == *shown, "a client was shown {shown}");
    }
    let Some(before) = before else {
        ensure!(shown.is_empty() && orders.0 == 0, "nothing was kept of what was shown");
        return Ok(());
    };
    ensure!(shown.len() <= before.records.len(), "a client was shown what was not kept");
    after.continues(before)?;
    // Exactly between the hard start of a call that must not be done twice and its recorded finish.
    let doubt = before.in_doubt();
    ensure!(after.interrupted() == doubt, "in doubt were {doubt:?}, told was {:?}", after.interrupted());
    // A call may also be in doubt while the next one is under way: its answer was given, and is not written yet.
    if point.starts_with("effect") && Call::parse(at).is_some_and(|call| call.class() == Class::Once) {
        ensure!(doubt.iter().any(|(_, _, call)| call == at), "{at} is under way and not in doubt: {doubt:?}");
    }
    let pressed = |kind| {
        before.of(kind).any(|r| r.text.starts_with(PRESS) || r.text.starts_with("Clicked role=button[name=\"Order\"]"))
    };
    let certain = match (pressed(Kind::StepStarted), pressed(Kind::StepFinished)) {
        (false, _) => Some(0),
        (true, true) => Some(1),
        // Its effect had not begun; at another call's, it was done and is not written yet.
        (true, false) if point == "effect.before" && at == Call::BrowserClick.name() => Some(0),
        (true, false) => None,
    };
    ensure!(certain.is_none_or(|n| n == orders.0), "the shop counted {} orders when the host was dead", orders.0);
    Ok(())
}

/// A data folder, with all in it but what is a running host's.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
