//! What is killed everywhere: a tool, what it needs, and what the shop counts of it.

use crate::Places;
use crate::client::Client;
use crate::soak::Shop;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_core::{Call, Kind, Record};

/// A tool whose effect the shop counts, once in each of its turns.
pub(super) struct Scenario {
    pub(super) tool: &'static str,
    /// Turns of one task.
    pub(super) turns: u32,
    /// Variables of its hosts.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// Whether its question is asked by a turn that is parked.
    parks: bool,
    /// The call that the shop counts, and how the lines of its two records go on after their first word.
    pub(super) counted: Call,
    about: &'static str,
    /// Whether the call's answer comes after the shop has counted it; what a press leads to comes when it comes.
    pub(super) answered: bool,
}

/// A browser, a question, a press. As people run it.
pub(super) const ORDER: Scenario = Scenario {
    tool: "order",
    turns: 1,
    settings: &[],
    parks: false,
    counted: Call::BrowserClick,
    about: " role=button[name=\"Order\"]",
    answered: false,
};

/// The same order, made by the script of examples/order-script.
pub(super) const SCRIPT: Scenario = Scenario { tool: "order-script", ..ORDER };

/// The same order, made by the plugin of examples/order-js.
pub(super) const JS: Scenario = Scenario { tool: "order-js", ..ORDER };

/// Requests, files that are kept at the end of a turn, and two waits in each of which the turn is parked.
pub(super) const ERRAND: Scenario = Scenario {
    tool: "crash_errand",
    turns: 2,
    settings: &[("WINDLASS_PARK_MS", "0")],
    parks: true,
    counted: Call::HttpSend,
    about: "",
    answered: true,
};

impl Scenario {
    /// Its component; a script is packed into `folder`.
    pub(super) async fn component(&self, places: &Places, folder: &Path) -> Result<PathBuf> {
        if self.tool == JS.tool {
            return places.js.clone().context("the order in JavaScript was not built");
        }
        let from = match self.tool {
            "order" => &places.examples,
            "order-script" => folder,
            _ => &places.guests,
        };
        let component = from.join(self.tool).with_extension("wasm");
        if self.tool == "order-script" {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/order-script/order.js");
            let mut command = tokio::process::Command::new(places.programs.join("windlass"));
            let status = command.args(["script", "pack"]).arg(script).arg("-o").arg(&component).status().await?;
            ensure!(status.success(), "packing the script ended with {status}");
        }
        Ok(component)
    }

    pub(super) fn grants(&self, shop: &str) -> Vec<String> {
        match self.tool {
            "order" | "order-script" | "order-js" => vec![format!("browser {shop}")],
            _ => vec![format!("http {shop}"), "workdir".into()],
        }
    }

    /// The input of the task of this name.
    pub(super) fn input(&self, shop: &str, name: &str) -> Value {
        match self.tool {
            "order" | "order-script" | "order-js" => {
                json!({"item": "mug", "shop": shop, "email": format!("{name}@example.com")})
            }
            _ => json!({"shop": shop, "name": name}),
        }
    }

    /// All that a shop has counted.
    pub(super) async fn count(&self, shop: &Shop) -> Result<u64> {
        match self.tool {
            "order" | "order-script" | "order-js" => shop.orders().await,
            _ => shop.errands().await,
        }
    }

    /// A record of the call that the shop counts.
    pub(super) fn counts(&self, record: &Record, kind: Kind) -> bool {
        let call = record.data.get("call").and_then(Value::as_str);
        record.kind == kind && call == Some(self.counted.name()) && record.text.contains(self.about)
    }

    /// What a task that came through says of itself.
    pub(super) fn told(&self, task: &Value) -> Result<()> {
        if self.tool != ERRAND.tool {
            return Ok(());
        }
        let lines = ["turn 1 begins", "turn 1 ran 1", "turn 2 begins", "turn 2 ran 2"];
        let structured = &task["outcome"]["structured"];
        ensure!(*structured == json!({"lines": lines, "errands": 2}), "its files and its count are {structured}");
        Ok(())
    }

    /// While it asks, without a fault: that its turn is parked, if it is to be.
    pub(super) async fn waits_as_it_should(&self, url: &str) -> Result<bool> {
        let health = Client::connect(url).await?.get("/readyz").await?;
        Ok(!self.parks || health["parkedTurns"].as_u64().context("a host counts what it has parked")? > 0)
    }
}
