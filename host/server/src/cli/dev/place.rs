//! The host that a plugin is tried on: the one that runs on the data folder, else one of the project's own, in this process.

use super::super::{Context, Fail, serve};
use crate::client::Client;
use crate::host::{Running, browser_config, browser_trouble};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The data folder of a project's own host.
pub(super) const DATA: &str = ".windlass/dev/host";

pub(super) struct Place {
    pub(super) client: Client,
    own: Option<Running>,
    /// Of this host, for commands to copy.
    pub(super) context: Context,
}

impl Place {
    /// Finds the host, or starts one that ends with this process.
    pub(super) async fn find(context: &Context, root: &Path) -> Result<Self, Fail> {
        if let Some(client) = Client::find(&context.data).await? {
            return Ok(Self { client, own: None, context: context.clone() });
        }
        // A folder that was asked for is taken; the usual one is left to a host that stays.
        let asked = *context.raw.source("data") != crate::settings::Source::Default;
        let context = if asked { context.clone() } else { context.on(root.join(DATA)) };
        // One that was left behind by another `dev` in this project.
        if let Some(client) = Client::find(&context.data).await? {
            return Ok(Self { client, own: None, context });
        }
        let mut settings = context.settings.clone();
        settings.any_port = *context.raw.source("listen") == crate::settings::Source::Default;
        settings.compiling = serve::itself().map(windlass_runtime::Compiling::by);
        let own = crate::serve(&settings, CancellationToken::new()).await;
        let own = own.map_err(|error| Fail::host(serve::chain(&error)))?;
        let client =
            Client::find(&context.data).await?.ok_or_else(|| Fail::host("the host that was started is gone"))?;
        Ok(Self { client, own: Some(own), context })
    }

    /// What is said of it.
    pub(super) fn about(&self) -> &'static str {
        if self.own.is_some() { "the project's own host, which ends with this" } else { "the host that runs already" }
    }

    /// Why its pages can't be opened, where that is known here.
    pub(super) fn trouble(&self) -> Option<String> {
        self.own.as_ref().and_then(|_| browser_trouble(&browser_config(&self.context.settings, Vec::new())))
    }

    /// Ends a host of our own at once: what still runs on it is cancelled.
    pub(super) async fn leave(self) {
        if let Some(own) = self.own {
            own.hasten().cancel();
            own.stop().await;
        }
    }
}
