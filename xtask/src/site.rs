//! The test shop as a process.

use crate::http;
use crate::process::Background;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub(crate) struct Shop {
    pub(crate) process: Background,
    pub(crate) url: String,
}

impl Shop {
    /// Opens it on a free port.
    pub(crate) fn open(programs: &Path, log: &Path) -> Result<Self> {
        let mut command = Command::new(programs.join("windlass-site"));
        let mut process = Background::start("the shop", &mut command, log)?;
        let url = process.ready(Duration::from_secs(10), || {
            let text = std::fs::read_to_string(log).ok()?;
            text.lines().find(|line| line.starts_with("http://")).map(str::to_owned)
        })?;
        Ok(Self { process, url })
    }

    /// Orders that counted: a real press of the button, after the price was shown.
    pub(crate) fn orders(&self) -> Result<u64> {
        let counts = http::get(&format!("{}/api/orders", self.url))?;
        counts["orders"].as_u64().context("the shop does not say how many orders it has")
    }
}
