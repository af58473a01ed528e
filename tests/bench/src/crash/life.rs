//! One task, steered from outside: created, followed, answered, sent on, whatever becomes of the host meanwhile.

use super::scenario::Scenario;
use crate::client::Client;
use crate::sse::Parser;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at the task.
const LOOK: Duration = Duration::from_millis(20);
/// A turn that waits is parked by then.
const PARKED: Duration = Duration::from_secs(20);

/// What its client knows: it outlives the host.
pub(super) struct Life<'a> {
    scenario: &'a Scenario,
    input: Value,
    key: String,
    /// Whether it waits as it should is looked at before it is answered.
    pub(super) looks: bool,
    /// Each record that a follower was shown, as it came.
    pub(super) shown: Mutex<Vec<String>>,
}

impl<'a> Life<'a> {
    pub(super) fn new(scenario: &'a Scenario, shop: &str, name: &str) -> Self {
        let (input, key) = (scenario.input(shop, name), name.to_owned());
        Self { scenario, input, key, looks: false, shown: Mutex::default() }
    }

    /// Creates it, or finds it again; says yes when it asks, and sends it into its next turn; until the last one has
    /// ended. An error: nobody answers any more.
    pub(super) async fn drive(&self, url: &str) -> Result<Value> {
        let mut client = Client::connect(url).await?;
        let body = json!({"tool": self.scenario.tool, "input": self.input});
        let task = client.post_once("/api/v1/tasks", &self.key, &body).await?;
        let id = task["id"].as_str().context("a task without an id")?.to_owned();
        let over = AtomicBool::new(false);
        let steer = async {
            let steered = self.steer(&mut client, url, &id).await;
            over.store(true, Ordering::Relaxed);
            steered
        };
        let follow = async {
            loop {
                let last = over.load(Ordering::Relaxed);
                let followed = self.follow(url, &id).await;
                if last || followed.is_err() {
                    return followed;
                }
                // Between two turns.
                tokio::time::sleep(LOOK).await;
            }
        };
        let (task, followed) = tokio::join!(steer, follow);
        let task = task?;
        if task["open"] == false {
            followed?;
        }
        Ok(task)
    }

    async fn steer(&self, client: &mut Client, url: &str, id: &str) -> Result<Value> {
        loop {
            let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
            if task["waitingFor"] == "message" && task["turn"].as_u64() < Some(self.scenario.turns.into()) {
                client.post(&format!("/api/v1/tasks/{id}/continue"), &json!({"text": "again"})).await?;
            } else if task["open"] == false || task["waitingFor"] == "operator" {
                return Ok(task);
            } else if let (Some(key), Some(fields)) =
                (task["questions"][0]["key"].as_str(), task["questions"][0]["schema"]["properties"].as_object())
            {
                if self.looks {
                    self.look(url).await?;
                }
                let content: Value = fields.keys().map(|name| (name.clone(), Value::from(true))).collect();
                let answer = json!({"answers": {key: {"action": "accept", "content": content}}});
                client.post(&format!("/api/v1/tasks/{id}/input"), &answer).await?;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn look(&self, url: &str) -> Result<()> {
        let begin = Instant::now();
        while !self.scenario.waits_as_it_should(url).await? {
            ensure!(begin.elapsed() < PARKED, "the turn that asks is not parked");
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Follows the log after what was shown already, to the end of the turn.
    async fn follow(&self, url: &str, id: &str) -> Result<()> {
        let mut client = Client::connect(url).await?;
        let last = self.shown.lock().expect("nobody panics in it").len() as u64;
        if !client.follow(id, (last > 0).then_some(last)).await? {
            return Ok(());
        }
        let mut parser = Parser::default();
        while let Some(events) = client.events(&mut parser).await? {
            for event in events {
                match event.name.as_str() {
                    "record" => self.shown.lock().expect("nobody panics in it").push(event.data),
                    "end" => return Ok(()),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
