//! The test shop as a process.

use crate::Places;
use crate::client::Client;
use anyhow::{Context, Result};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Dropping it closes it.
pub(crate) struct Shop {
    pub(crate) url: String,
    _process: Child,
}

impl Shop {
    pub(crate) async fn open(places: &Places) -> Result<Self> {
        let mut command = Command::new(places.programs.join("windlass-site"));
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(process.stdout.take().context("piped above")?).lines();
        let url = lines.next_line().await?.context("the shop said nothing")?;
        Ok(Self { url, _process: process })
    }

    /// Orders that counted.
    pub(crate) async fn orders(&self) -> Result<u64> {
        Client::connect(&self.url).await?.get("/api/orders").await?["orders"].as_u64().context("no count")
    }

    /// Errands that were run, of each kind; of an empty one: all there are.
    pub(crate) async fn errands(&self, kinds: impl Iterator<Item = &str>) -> Result<Vec<u64>> {
        let all = Client::connect(&self.url).await?.get("/api/errands").await?;
        let count = |kind: &str| match kind {
            "" => all["errands"].as_u64().context("no count"),
            kind => Ok(all["of"][kind].as_u64().unwrap_or_default()),
        };
        kinds.map(count).collect()
    }

    /// Orders of one visitor, as the shop's page lists them.
    pub(crate) async fn orders_of(&self, email: &str) -> Result<usize> {
        let page = Client::connect(&self.url).await?.text(&format!("/orders?email={email}")).await?;
        Ok(page.matches("href=\"/done/").count())
    }
}
