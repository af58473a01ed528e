//! Kills at any moment while fifty tasks are under way, of every kind that can be: running, sleeping, asking, between
//! two turns.

use super::Tally;
use super::host::Host;
use super::kept::{self, Kept};
use crate::Places;
use crate::client::Client;
use crate::soak::{Random, Shop};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};
use windlass_core::{Kind, Status, TaskId};

/// Tasks of each tool at once.
const EACH: usize = 10;
/// The shortest life of a host after it is ready, in ms, and how often it may be doubled. A turn should get on in most of
/// them, so it depends on how fast the host was built.
const LIFE: (u64, u64) = if cfg!(debug_assertions) { (100, 5) } else { (25, 6) };
/// Pages that the SDK opens for one piece of work before it gives up (`ATTEMPTS`).
const ATTEMPTS: usize = 10;
/// All tasks together, once nobody is killed any more.
const PATIENCE: Duration = Duration::from_secs(300);

/// What was found of a task in the folders of dead hosts.
#[derive(Default)]
struct Seen {
    before: Option<Kept>,
    doubt: BTreeSet<(u32, u32, String)>,
}

/// `from`: so many kills of this seed were done before.
pub(super) async fn run(places: &Places, folder: &Path, kills: u64, seed: Option<u64>, from: u64) -> Result<Tally> {
    let seed = seed.map_or_else(Random::seed, Ok)?;
    println!("go on after a break with --kills {kills} --seed {seed} --from KILLS");
    let shop = Shop::open(places).await?;
    let (mut tally, mut killed, mut round, begin) = (Tally::default(), from, 0, Instant::now());
    while killed < kills {
        round += 1;
        let data = folder.join(format!("kills-{round}"));
        // Of its own: it does not matter what came before.
        let mut random = Random::of(seed.wrapping_add(killed << 32));
        let done = one_round(places, &shop, round, &data, &mut random, kills - killed).await?;
        killed += done.killed;
        let (tasks, wrong) = (5 * EACH as u64, done.wrong);
        println!(
            "round {round}: {tasks} tasks over {} kills; retried by an operator {}, orders given up {}; {} wrong; \
             {killed} of {kills} kills after {} s",
            done.killed,
            done.retried,
            done.given_up,
            wrong.len(),
            begin.elapsed().as_secs()
        );
        for why in &wrong {
            println!("    {why}");
        }
        tally.failed += (wrong.len() as u64).min(tasks);
        tally.passed += tasks.saturating_sub(wrong.len() as u64);
        if wrong.is_empty() {
            let _ = std::fs::remove_dir_all(&data);
        }
    }
    Ok(tally)
}

/// What came of fifty tasks.
#[derive(Default)]
struct Round {
    killed: u64,
    /// Turns that were taken over three times without getting on, and started again by an operator.
    retried: u64,
    /// Orders that lost their page as often as the SDK opens one.
    given_up: u64,
    wrong: Vec<String>,
}

/// Fifty tasks to their end, killed as often as there is time for.
async fn one_round(
    places: &Places,
    shop: &Shop,
    round: u64,
    data: &Path,
    random: &mut Random,
    most: u64,
) -> Result<Round> {
    std::fs::create_dir_all(data)?;
    let mut host = Host::sound(places, data, &[]).await?;
    let grant = [format!("browser {}", shop.url)];
    for tool in ["basic_flood", "basic_state", "basic_sleep", "basic_determinism"] {
        let grants: &[_] = if tool == "basic_determinism" { &["workdir".to_owned()] } else { &[] };
        host.install(&places.guests.join(format!("{tool}.wasm")), grants).await?;
    }
    host.install(&places.examples.join("order.wasm"), &grant).await?;
    create(&host.url, shop, round).await?;

    let mut seen: HashMap<TaskId, Seen> = HashMap::new();
    let mut done = Round::default();
    let begin = Instant::now();
    loop {
        let life = if done.killed < most {
            // As many that are short as that are long.
            let shortest = LIFE.0 << random.within(0, LIFE.1);
            Duration::from_millis(random.within(shortest, 2 * shortest))
        } else {
            PATIENCE.saturating_sub(begin.elapsed())
        };
        let steered = tokio::time::timeout(life, steer(&host, &mut done.retried)).await;
        match steered {
            Ok(ended) => {
                ended?;
                break;
            }
            Err(_) if done.killed < most => {}
            Err(_) => {
                done.wrong.push("not every task came to its end".into());
                break;
            }
        }
        host.kill().await?;
        done.killed += 1;
        for (id, kept) in kept::read(data).await? {
            let seen = seen.entry(id).or_default();
            if let Some(before) = &seen.before
                && let Err(error) = kept.continues(before)
            {
                done.wrong.push(format!("{id} after kill {}: {error:#}", done.killed));
            }
            seen.doubt.extend(kept.in_doubt());
            seen.before = Some(kept);
        }
        host = Host::sound(places, data, &[]).await?;
    }
    host.stop().await?;
    for (id, kept) in kept::read(data).await? {
        let seen = seen.remove(&id).unwrap_or_default();
        let checked = match kept.row.tool.as_str() {
            "order" => ordered(&kept, shop, &mut done.given_up).await,
            _ => completed(&kept),
        };
        if let Err(error) = checked.and_then(|()| check(&kept, &seen)) {
            done.wrong.push(format!("{id} ({}): {error:#}", kept.row.tool));
        }
    }
    Ok(done)
}

async fn create(url: &str, shop: &Shop, round: u64) -> Result<()> {
    let mut client = Client::connect(url).await?;
    for n in 0..EACH {
        let order = json!({"item": "mug", "shop": shop.url, "email": format!("ada-{round}-{n}@example.com")});
        client.create("order", &order).await?;
        client.create("basic_flood", &json!({"lines": 300, "interval_ms": 20})).await?;
        client.create("basic_state", &json!({"wait": true})).await?;
        client.create("basic_sleep", &json!({"ms": 2000})).await?;
        client.create("basic_determinism", &json!({})).await?;
    }
    Ok(())
}

/// Answers what is asked and says what is waited for, until every task has ended.
async fn steer(host: &Host, retried: &mut u64) -> Result<()> {
    let mut client = Client::connect(&host.url).await?;
    let mut operator = Client::connect(&host.url).await?.with_token(&host.token);
    loop {
        let page = client.get("/api/v1/tasks?limit=200").await?;
        let mut left = 0;
        for task in page["tasks"].as_array().into_iter().flatten() {
            let id = task["id"].as_str().unwrap_or_default();
            match task["waitingFor"].as_str() {
                None if task["open"] == false => continue,
                Some("input") => answer(&mut client, id).await?,
                // Between two turns: the third is told to stop, so that there are three.
                Some("message") => {
                    let text = if task["turn"] == 1 { "more" } else { "stop" };
                    client.post(&format!("/api/v1/tasks/{id}/continue"), &json!({"text": text})).await?;
                }
                // Killed three times before it got on, which is what the limit is for.
                Some("operator") => {
                    operator.post(&format!("/api/v1/tasks/{id}/retry"), &json!({})).await?;
                    *retried += 1;
                }
                _ => {}
            }
            left += 1;
        }
        if left == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Yes to the first question, if it still stands.
async fn answer(client: &mut Client, id: &str) -> Result<()> {
    let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
    let question = &task["questions"][0];
    let (Some(key), Some(fields)) = (question["key"].as_str(), question["schema"]["properties"].as_object()) else {
        return Ok(());
    };
    let content: Value = fields.keys().map(|name| (name.clone(), Value::from(true))).collect();
    let answer = json!({"answers": {key: {"action": "accept", "content": content}}});
    client.post(&format!("/api/v1/tasks/{id}/input"), &answer).await.context("an answer").map(drop)
}

fn completed(kept: &Kept) -> Result<()> {
    ensure!(kept.row.status == Status::Completed, "it is {}", kept.row.status.as_str());
    Ok(())
}

/// The shop counted it once; or the plugin gave up, having lost as many pages as the SDK opens, and it counted at most
/// once.
async fn ordered(kept: &Kept, shop: &Shop, given_up: &mut u64) -> Result<()> {
    let input: Value = serde_json::from_str(&kept.row.input)?;
    let orders = shop.orders_of(input["email"].as_str().context("an order without an address")?).await?;
    let lost = kept.of(Kind::StepFinished).filter_map(|r| r.data.get("error")?["code"].as_str());
    let lost = lost.filter(|code| matches!(*code, "page-lost" | "interrupted")).count();
    if kept.row.status == Status::Failed && lost >= ATTEMPTS {
        *given_up += 1;
        ensure!(orders <= 1, "the shop counted {orders} orders of one that was given up");
        return Ok(());
    }
    ensure!(orders == 1, "the shop counted {orders} orders");
    completed(kept)
}

fn check(kept: &Kept, seen: &Seen) -> Result<()> {
    kept.is_whole()?;
    if let Some(before) = &seen.before {
        kept.continues(before)?;
    }
    ensure!(kept.interrupted() == seen.doubt, "in doubt were {:?}, told was {:?}", seen.doubt, kept.interrupted());
    let replay = kept.of(Kind::TurnStopped).find(|r| r.data.get("reason").is_none_or(|reason| reason != "recoveries"));
    ensure!(replay.is_none(), "it stopped: {}", replay.map_or("", |r| &r.text));
    // An order that was given up may have asked before or never.
    let (asked, turns) = (kept.of(Kind::InputRequested).count(), kept.of(Kind::TurnEnded).count());
    let expected = match kept.row.tool.as_str() {
        "order" if kept.row.status == Status::Failed => (asked.min(1), 1),
        "order" | "basic_determinism" => (1, 1),
        // It asks in each of its turns.
        "basic_state" => (3, 3),
        _ => (0, 1),
    };
    ensure!((asked, turns) == expected, "it asked {asked} times in {turns} turns");
    if kept.row.tool == "basic_flood" {
        let lines: Vec<_> = kept.of(Kind::Log).filter_map(|r| r.data.get("fields")?["line"].as_str()).collect();
        ensure!(
            lines.iter().eq((1..=300).map(|n| n.to_string()).collect::<Vec<_>>().iter()),
            "its lines are not 1 to 300, each once"
        );
    }
    Ok(())
}
