//! One order, steered from outside: created, followed, answered, whatever becomes of the host meanwhile.

use crate::client::Client;
use crate::sse::Parser;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

/// Between two looks at the task.
const LOOK: Duration = Duration::from_millis(20);

/// What its client knows: it outlives the host.
pub(super) struct Order {
    /// The tool that makes it.
    tool: &'static str,
    pub(super) input: Value,
    key: String,
    /// Each record that a follower was shown, as it came.
    pub(super) shown: Mutex<Vec<String>>,
}

impl Order {
    pub(super) fn new(tool: &'static str, shop: &str, name: &str) -> Self {
        let input = json!({"item": "mug", "shop": shop, "email": format!("{name}@example.com")});
        Self { tool, input, key: name.to_owned(), shown: Mutex::default() }
    }

    /// Creates it, or finds it again; says yes when it asks; until it has ended. An error: nobody answers any more.
    pub(super) async fn drive(&self, url: &str) -> Result<Value> {
        let mut client = Client::connect(url).await?;
        let body = json!({"tool": self.tool, "input": self.input});
        let task = client.post_once("/api/v1/tasks", &self.key, &body).await?;
        let id = task["id"].as_str().context("a task without an id")?.to_owned();
        let steer = async {
            loop {
                let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
                if task["open"] == false || task["waitingFor"] == "operator" {
                    return Ok::<_, anyhow::Error>(task);
                }
                if let Some(key) = task["questions"][0]["key"].as_str() {
                    let answer = json!({"answers": {key: {"action": "accept", "content": {"approve": true}}}});
                    client.post(&format!("/api/v1/tasks/{id}/input"), &answer).await?;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let (task, followed) = tokio::join!(steer, self.follow(url, &id));
        let task = task?;
        if task["open"] == false {
            followed?;
        }
        Ok(task)
    }

    /// Follows the log after what was shown already.
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
