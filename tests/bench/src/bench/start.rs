//! From the start of the host's process to its first "ready", with plugins it has compiled before.

use super::{Options, folder};
use crate::Places;
use crate::host::Host;
use crate::report::{Number, Samples};
use anyhow::Result;
use serde_json::json;
use std::process::Stdio;
use std::time::Instant;
use tokio::process::Command;

/// Beside the one that comes with the host.
const PLUGINS: [&str; 9] = [
    "basic_artifacts",
    "basic_ask",
    "basic_determinism",
    "basic_echo",
    "basic_flood",
    "basic_hello",
    "basic_sleep",
    "basic_state",
    "browser_steps",
];

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let data = folder.path().join("data");
    let host = Host::start(places, &data, &[]).await?;
    for plugin in PLUGINS {
        host.install(&places.guests.join(format!("{plugin}.wasm")), &[]).await?;
    }
    host.stop().await?;
    let (mut starts, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..options.count(20).max(3) {
        let host = Host::start(places, &data, &[]).await?;
        starts.push(host.took);
        host.stop().await?;
        let begin = Instant::now();
        Command::new(places.programs.join("windlass")).arg("--version").stdout(Stdio::null()).status().await?;
        bare.push(begin.elapsed());
    }
    let (starts, bare) = (Samples::new(starts), Samples::new(bare));
    let value = starts.at(50.0, "ms").unwrap_or_default();
    Ok(vec![
        Number::new("start", value, "ms")
            .goal(300.0)
            .limit(bare.at(50.0, "ms").unwrap_or_default())
            .of(&starts, "ms")
            .with(json!({
                "plugins": PLUGINS.len() + 1, "limitIs": "the same program printing its version",
            })),
    ])
}
