//! Every fault point, every time a task comes to it: what must follow is known of each, and compared.

use super::Tally;
use super::expected::Expected;
use super::host::Host;
use super::kept::{self, Kept};
use super::life::Life;
use super::same::Undisturbed;
use super::scenario::Scenario;
use crate::Places;
use crate::soak::Shop;
use anyhow::{Context, Result, bail, ensure};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use windlass_core::{Call, Class, Kind, Status};

/// One task with its kill and its second host, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const POINTS: [&str; 4] = ["commit.before", "commit.after", "effect.before", "effect.after"];

/// A shop, and a data folder in which the plugin is installed for it.
struct Stand<'a> {
    scenario: &'a Scenario,
    shop: Shop,
    template: PathBuf,
    counted: Vec<u64>,
}

/// How one kill came out.
struct Outcome {
    /// What the host was at when it died; none: it never came to this point.
    at: Option<String>,
    /// What had to follow; none: it did not come so far.
    expected: Option<Expected>,
    interrupted: bool,
    /// What the shop counted when the host was dead, and in the end.
    counted: (u64, u64),
    wrong: Option<String>,
}

pub(super) async fn run(places: &Places, folder: &Path, scenario: &Scenario, every: u64) -> Result<Tally> {
    let folder = &folder.join(scenario.tool);
    std::fs::create_dir_all(folder)?;
    let component = scenario.component(places, folder).await?;
    let mut first = Stand::new(places, scenario, folder.join("stand-1"), &component).await.context("preparing")?;
    let second = Stand::new(places, scenario, folder.join("stand-2"), &component).await.context("preparing")?;
    let (counts, mut undisturbed) =
        count(places, folder, &mut first).await.with_context(|| format!("{} without a fault", scenario.tool))?;
    if let Some(like) = scenario.like() {
        let folder = folder.join(like.tool);
        let component = like.component(places, &folder).await?;
        let mut stand = Stand::new(places, like, folder.join("stand"), &component).await.context("preparing")?;
        let (_, other) = count(places, &folder, &mut stand).await.with_context(|| format!("{}", like.tool))?;
        other.is(&undisturbed).with_context(|| format!("{} writes another log than {}", scenario.tool, like.tool))?;
        println!("without a fault {} writes the log of {}", scenario.tool, like.tool);
        undisturbed = other;
    }
    let undisturbed = &undisturbed;
    let all: Vec<_> = POINTS.iter().zip(counts).map(|(point, n)| format!("{point} {n}")).collect();
    println!("hits in one task of {}: {}", scenario.tool, all.join(", "));
    println!(
        "{:<14} {:>3}  {:<26} {:<38} {:<11} {:<8} ok",
        "point", "n", "what was under way", "expected", "interrupted", "counted"
    );
    let work = POINTS
        .iter()
        .zip(counts)
        .flat_map(|(point, count)| (1..=count).filter(move |n| n % every == every / 2).map(move |n| (*point, n)));
    let (work, tally) = (Mutex::new(work.collect()), Mutex::new(Tally::default()));
    // Two hosts at once, in this task: what it waits for are processes.
    tokio::join!(
        Box::pin(work_off(places, folder, first, undisturbed, &work, &tally)),
        Box::pin(work_off(places, folder, second, undisturbed, &work, &tally))
    );
    Ok(*tally.lock().expect("no panic in it"))
}

async fn work_off(
    places: &Places,
    folder: &Path,
    mut stand: Stand<'_>,
    undisturbed: &Undisturbed,
    work: &Mutex<VecDeque<(&'static str, u64)>>,
    tally: &Mutex<Tally>,
) {
    loop {
        let next = work.lock().expect("no panic in it").pop_front();
        let Some((point, n)) = next else { return };
        let data = folder.join(format!("{}-{n}", point.replace('.', "-")));
        let outcome = match tokio::time::timeout(PATIENCE, one(places, &mut stand, undisturbed, &data, point, n)).await
        {
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
        Ok(Outcome { at: Some(at), expected, interrupted, counted, wrong }) => {
            let told = if *interrupted { "yes" } else { "no" };
            let ok = wrong.as_ref().map_or("ok", |_| "WRONG");
            let expected = expected.map_or_else(|| "?".to_owned(), |expected| expected.to_string());
            let counted = format!("{} > {}", counted.0, counted.1);
            println!("{point:<14} {n:>3}  {at:<26} {expected:<38} {told:<11} {counted:<8} {ok}");
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

impl<'a> Stand<'a> {
    async fn new(places: &Places, scenario: &'a Scenario, template: PathBuf, component: &Path) -> Result<Self> {
        let shop = Shop::open(places).await?;
        std::fs::create_dir_all(&template)?;
        let host = Host::sound(places, &template, scenario.settings).await?;
        scenario.install(&host, component, &shop.url).await?;
        host.stop().await?;
        Ok(Self { scenario, shop, template, counted: vec![0; scenario.effects.len()] })
    }

    /// What the shop counted since the last time that [`Stand::settle`] was called.
    async fn counted(&self) -> Result<Vec<u64>> {
        let now = self.scenario.count(&self.shop).await?;
        Ok(now.iter().zip(&self.counted).map(|(now, before)| now - before).collect())
    }

    async fn settle(&mut self) -> Result<()> {
        self.counted = self.scenario.count(&self.shop).await?;
        Ok(())
    }
}

/// One task without a fault: how often each point is come to, and its log.
async fn count(places: &Places, folder: &Path, stand: &mut Stand<'_>) -> Result<([u64; 4], Undisturbed)> {
    let scenario = stand.scenario;
    let (data, file) = (folder.join("count"), folder.join("count.txt"));
    copy(&stand.template, &data)?;
    let path = file.to_string_lossy().into_owned();
    let faults = [("WINDLASS_FAULT_COUNT", path.as_str())];
    let Some(host) = Host::start(places, &data, scenario.settings, &faults).await? else {
        bail!("the host died without a fault");
    };
    let mut life = Life::new(scenario, &stand.shop.url, "count");
    life.looks = true;
    let task = tokio::time::timeout(PATIENCE, life.drive(&host.url)).await.context("it does not end")??;
    ensure!(task["status"] == "completed", "it did not complete: {task}");
    scenario.told(&task)?;
    let counted = stand.counted().await?;
    scenario.all(&counted)?;
    stand.settle().await?;
    host.stop().await?;
    let lines = std::fs::read_to_string(&file)?;
    let hits = POINTS.map(|point| lines.lines().filter(|line| line.split(' ').next() == Some(point)).count() as u64);
    let kept = kept::read(&data).await?.into_values().next().context("its log")?;
    Ok((hits, Undisturbed::new(&kept.records, &scenario.own(&stand.shop.url, "count", &counted))))
}

/// A host that dies at this point, and one that goes on.
async fn one(
    places: &Places,
    stand: &mut Stand<'_>,
    undisturbed: &Undisturbed,
    data: &Path,
    point: &'static str,
    n: u64,
) -> Result<Outcome> {
    let scenario = stand.scenario;
    // A run that failed may have left its own.
    stand.settle().await?;
    copy(&stand.template, data)?;
    let name = format!("{point}-{n}");
    let life = Life::new(scenario, &stand.shop.url, &name);
    let noted = data.with_extension("count");
    let (fault, path) = (format!("{point}:{n}"), noted.to_string_lossy().into_owned());
    let faults = [("WINDLASS_FAULT", fault.as_str()), ("WINDLASS_FAULT_COUNT", &path)];
    if let Some(mut host) = Host::start(places, data, scenario.settings, &faults).await? {
        // An error is the host that went away under the client, which is what is wanted.
        if life.drive(&host.url).await.is_ok_and(|task| task["open"] == false)
            && host.died(Duration::from_secs(1)).await.is_err()
        {
            host.kill().await?;
            let nothing = (0, 0);
            return Ok(Outcome { at: None, expected: None, interrupted: false, counted: nothing, wrong: None });
        }
        host.died(Duration::from_secs(10)).await?;
    }
    let line = std::fs::read_to_string(&noted)?;
    let at = line.lines().last().and_then(|line| line.splitn(3, ' ').nth(2)).unwrap_or("?").to_owned();
    let counted = stand.counted().await?;
    let before = kept::read(data).await?.into_values().next();
    let shown = life.shown.lock().expect("no panic in it").clone();

    let host = Host::sound(places, data, scenario.settings).await?;
    let task = life.drive(&host.url).await.context("after the restart")?;
    host.stop().await?;
    let counted = (counted, stand.counted().await?);
    let after = kept::read(data).await?;
    ensure!(after.len() == 1, "there are {} tasks", after.len());
    let after = after.into_values().next().context("one, as counted")?;
    let expected = Expected::check(before.as_ref(), &after, &at);
    let sums = (counted.0.iter().sum(), counted.1.iter().sum());
    let seen = Seen { point, at: &at, before: before.as_ref(), after: &after, counted, shown: &shown };
    let own = scenario.own(&stand.shop.url, &name, &scenario.count(&stand.shop).await?);
    let checked = seen
        .check(scenario)
        .and_then(|()| scenario.told(&task))
        .and_then(|()| undisturbed.holds(&after.records, &own).map(drop));
    let (expected, checked) = match expected {
        Ok(expected) => (Some(expected), checked),
        Err(why) => (None, Err(why)),
    };
    let wrong = checked.err().map(|error| format!("{error:#}; the task is {} of {}", task["status"], task["id"]));
    Ok(Outcome { at: Some(at), expected, interrupted: !after.interrupted().is_empty(), counted: sums, wrong })
}

/// All that is known of one kill.
struct Seen<'a> {
    point: &'static str,
    at: &'a str,
    before: Option<&'a Kept>,
    after: &'a Kept,
    counted: (Vec<u64>, Vec<u64>),
    /// What a client was shown before it.
    shown: &'a [String],
}

impl Seen<'_> {
    fn check(&self, scenario: &Scenario) -> Result<()> {
        let Self { after, shown, counted, .. } = self;
        after.is_whole()?;
        ensure!(after.row.status == Status::Completed, "the task is {}", after.row.status.as_str());
        scenario.all(&counted.1)?;
        let turns = after.of(Kind::TurnEnded).count();
        ensure!(turns == scenario.turns as usize, "it has {turns} turns, not {}", scenario.turns);
        ensure!(after.of(Kind::InputRequested).count() == 1, "it did not ask once");
        ensure!(after.of(Kind::InputAnswered).count() == 1, "it was not answered once");
        ensure!(after.of(Kind::TurnStopped).next().is_none(), "the turn stopped");
        for (record, shown) in after.records.iter().zip(*shown) {
            ensure!(serde_json::to_string(record)? == *shown, "a client was shown {shown}");
        }
        let Some(before) = self.before else {
            ensure!(
                shown.is_empty() && counted.0.iter().all(|count| *count == 0),
                "nothing was kept of what was shown"
            );
            return Ok(());
        };
        ensure!(shown.len() <= before.records.len(), "a client was shown what was not kept");
        after.continues(before)?;
        self.doubt(before)?;
        self.certain(before, scenario)
    }

    /// `interrupted` exactly between the hard start of a call that must not be done twice and its recorded finish.
    fn doubt(&self, before: &Kept) -> Result<()> {
        let (doubt, told) = (before.in_doubt(), self.after.interrupted());
        ensure!(told == doubt, "in doubt were {doubt:?}, told was {told:?}");
        // A call may also be in doubt while the next one is under way: its answer was given, and is not written yet.
        if self.point.starts_with("effect") && Call::parse(self.at).is_some_and(|call| call.class() == Class::Once) {
            let at = self.at;
            ensure!(doubt.iter().any(|(_, _, call)| call == at), "{at} is under way and not in doubt: {doubt:?}");
        }
        Ok(())
    }

    /// What the shop had counted when the host was dead, wherever that follows from the records.
    fn certain(&self, before: &Kept, scenario: &Scenario) -> Result<()> {
        for (effect, dead) in scenario.effects.iter().zip(&self.counted.0) {
            let of = |kind| before.records.iter().filter(|record| effect.is(record, kind)).count() as u64;
            let (started, finished) = (of(Kind::StepStarted), of(Kind::StepFinished));
            let kind = effect.name();
            ensure!(
                started == finished || started == finished + 1,
                "{kind}: {started} were begun, {finished} came to an end"
            );
            let under_way = started > finished && self.at == effect.call.name();
            let most = match self.point {
                // Its effect had not begun; at another call's, it was done and is not written yet.
                "effect.before" if under_way => finished,
                _ => started,
            };
            let least = match self.point {
                "effect.after" if effect.answered && under_way => started,
                _ => finished,
            };
            ensure!(
                (least..=most).contains(dead),
                "the shop counted {dead} {kind} when the host was dead, not {least} to {most}"
            );
        }
        Ok(())
    }
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
