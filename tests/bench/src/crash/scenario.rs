//! What is killed everywhere: a tool, what it needs, and what the shop counts of it.

use super::host::Host;
use crate::Places;
use crate::client::Client;
use crate::soak::Shop;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_core::{Call, Kind, Record};

/// A tool whose effects the shop counts.
pub(super) struct Scenario {
    pub(super) tool: &'static str,
    /// Turns of one task.
    pub(super) turns: u32,
    /// Variables of its hosts.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// Whether its question is asked by a turn that is parked.
    parks: bool,
    /// What the shop counts.
    pub(super) effects: &'static [Effect],
    /// A secret of this name is bound to the shop.
    secret: Option<&'static str>,
}

/// Calls that must not be done twice, and that the shop counts.
pub(super) struct Effect {
    pub(super) call: Call,
    /// What the lines of their records say.
    about: &'static str,
    /// By this kind the shop counts them; empty: it counts nothing else.
    kind: &'static str,
    /// How many there are in one task.
    pub(super) times: u64,
    /// Whether the call's answer comes after the shop has counted it; what a press leads to comes when it comes.
    pub(super) answered: bool,
}

/// A browser, a question, a press. As people run it.
pub(super) const ORDER: Scenario = Scenario {
    tool: "order",
    turns: 1,
    settings: &[],
    parks: false,
    effects: &[Effect {
        call: Call::BrowserClick,
        about: " role=button[name=\"Order\"]",
        kind: "",
        times: 1,
        answered: false,
    }],
    secret: None,
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
    effects: &[Effect { call: Call::HttpSend, about: "", kind: "", times: 2, answered: true }],
    secret: None,
};

/// What one element of the shop's page counts, before the call on it is answered.
const fn on(call: Call, about: &'static str, kind: &'static str) -> Effect {
    Effect { call, about, kind, times: 1, answered: true }
}

/// Every verb of a page, a download and files of its own, secrets, and a question while a page is open.
pub(super) const PAGES: Scenario = Scenario {
    tool: "crash_pages",
    turns: 2,
    settings: &[("WINDLASS_PARK_MS", "0")],
    parks: true,
    effects: &[
        on(Call::BrowserClick, "#once-click", "click"),
        on(Call::BrowserDblclick, "#once-dblclick", "dblclick"),
        on(Call::BrowserTap, "#once-tap", "tap"),
        on(Call::BrowserFill, "#once-fill", "fill"),
        on(Call::BrowserTypeText, "#once-type", "type"),
        on(Call::BrowserCompose, "#once-compose", "compose"),
        on(Call::BrowserPress, "", "press"),
        on(Call::BrowserCheck, "#once-check", "check"),
        on(Call::BrowserUncheck, "#once-uncheck", "uncheck"),
        on(Call::BrowserSelect, "#once-select", "select"),
        on(Call::BrowserDrag, "#once-drag", "drag"),
        on(Call::BrowserEvaluate, "window.count", "evaluate"),
        on(Call::BrowserUpload, "#once-upload", "upload"),
        on(Call::BrowserClick, "#once-dialog", "dialog"),
        on(Call::BrowserFillSecret, "#once-secret", "secret"),
        on(Call::HttpSend, "", "post"),
    ],
    secret: Some("shop-password"),
};

impl Scenario {
    /// The one whose log is the same as its own, in another language.
    pub(super) fn like(&self) -> Option<&'static Self> {
        ["order-script", "order-js"].contains(&self.tool).then_some(&ORDER)
    }

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
            "crash_errand" => vec![format!("http {shop}"), "workdir".into()],
            _ => {
                let mut grants: Vec<_> = ["browser", "browser-state", "http"].map(|on| format!("{on} {shop}")).into();
                grants.push("workdir".into());
                grants.extend(self.secret.iter().flat_map(|name| [format!("secret {name}"), format!("reveal {name}")]));
                grants
            }
        }
    }

    /// Installs it, with all that it needs, for this shop.
    pub(super) async fn install(&self, host: &Host, component: &Path, shop: &str) -> Result<()> {
        host.install(component, &self.grants(shop)).await?;
        let Some(name) = self.secret else { return Ok(()) };
        let mut client = Client::connect(&host.url).await?.with_token(&host.token);
        let secret = json!({"value": "mug-and-lamp", "origins": [shop]});
        client.put(&format!("/api/v1/secrets/{name}"), &secret).await.map(drop)
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

    /// What of a log is a shop's own, or the name's of a task, with what stands for it; `counted`: what the shop has counted
    /// when the task has ended.
    pub(super) fn own(&self, shop: &str, name: &str, counted: &[u64]) -> Vec<(String, &'static str)> {
        let mut own = vec![(shop.to_owned(), "SHOP"), (name.to_owned(), "NAME")];
        if let ("order" | "order-script" | "order-js", [number]) = (self.tool, counted) {
            // An order has the next number of its shop.
            own.extend([
                (format!("\"result\":\"{number}\""), "NUMBER"),
                (format!("\"order\":\"{number}\""), "NUMBER"),
                (format!("\"order\":{number},"), "NUMBER"),
                (format!("#order: {number}\""), "NUMBER"),
                (format!("order {number}."), "NUMBER"),
                (format!("/done/{number}\""), "NUMBER"),
            ]);
        }
        own
    }

    /// All that a shop has counted, in the order of `effects`.
    pub(super) async fn count(&self, shop: &Shop) -> Result<Vec<u64>> {
        match self.tool {
            "order" | "order-script" | "order-js" => Ok(vec![shop.orders().await?]),
            _ => shop.errands(self.effects.iter().map(|effect| effect.kind)).await,
        }
    }

    /// Whether that is all of one task, each as often as it is to be.
    pub(super) fn all(&self, counted: &[u64]) -> Result<()> {
        for (effect, counted) in self.effects.iter().zip(counted) {
            ensure!(*counted == effect.times, "the shop counted {counted} {}", effect.name());
        }
        Ok(())
    }

    /// What a task that came through says of itself.
    pub(super) fn told(&self, task: &Value) -> Result<()> {
        let structured = &task["outcome"]["structured"];
        let expected = match self.tool {
            "crash_errand" => {
                let lines = ["turn 1 begins", "turn 1 ran 1", "turn 2 begins", "turn 2 ran 2"];
                json!({"lines": lines, "errands": 2})
            }
            // In the order of their names, the download among them.
            "crash_pages" => json!({"files": ["a.txt 50", "b.txt 50", "c.csv 21"]}),
            _ => return Ok(()),
        };
        ensure!(*structured == expected, "it says {structured}");
        Ok(())
    }

    /// While it asks, without a fault: that its turn is parked, if it is to be.
    pub(super) async fn waits_as_it_should(&self, url: &str) -> Result<bool> {
        let health = Client::connect(url).await?.get("/readyz").await?;
        Ok(!self.parks || health["parkedTurns"].as_u64().context("a host counts what it has parked")? > 0)
    }
}

impl Effect {
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.call.name(), self.kind)
    }

    /// A record of it.
    pub(super) fn is(&self, record: &Record, kind: Kind) -> bool {
        let call = record.data.get("call").and_then(Value::as_str);
        record.kind == kind && call == Some(self.call.name()) && record.text.contains(self.about)
    }
}
