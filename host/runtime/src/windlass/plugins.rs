//! Tools and plugins, as callers and operators ask for them.

use super::{PatchPlugin, Windlass, operator};
use crate::error::{Error, Refusal};
use crate::view::{Caller, PluginView, ToolView};
use serde_json::Value;
use tokio::sync::watch;
use windlass_core::{AskFirst, Manifest};

impl Windlass {
    /// Tools of enabled plugins, by name.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolView> {
        self.services.registry.tools()
    }

    /// One tool of an enabled plugin.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn tool(&self, name: &str) -> Result<ToolView, Error> {
        let plugin = self.offering(name)?;
        let tool = plugin.tool(name).map(|tool| plugin.tool_view(tool));
        Ok(tool.expect("the plugin that offers a tool has it"))
    }

    /// Holds an answer against the form that a tool asks before a task exists.
    ///
    /// # Errors
    /// Every rule it breaks.
    pub fn check_first(&self, ask: &AskFirst, content: &Value) -> Result<(), Error> {
        let broken = |violations| Error::InvalidAnswer { key: ask.key.clone(), violations };
        crate::schema::check_answer(&ask.schema, content).map_err(broken)
    }

    /// Hears of every plugin that comes, changes or goes: what `tools` answers may be another list then.
    #[must_use]
    pub fn plugin_changes(&self) -> watch::Receiver<u64> {
        self.services.registry.changes()
    }

    /// All plugins (operators).
    ///
    /// # Errors
    /// Not an operator.
    pub async fn plugins(&self, caller: &Caller) -> Result<Vec<PluginView>, Error> {
        operator(caller)?;
        Ok(self.services.registry.views())
    }

    /// One plugin (operators).
    ///
    /// # Errors
    /// Not an operator, or no such plugin.
    pub async fn plugin(&self, caller: &Caller, name: &str) -> Result<PluginView, Error> {
        operator(caller)?;
        let found = self.services.registry.views().into_iter().find(|plugin| plugin.name == name);
        found.ok_or_else(|| Error::UnknownPlugin(name.to_owned()))
    }

    /// Installs a component, or replaces the plugin of its name. Without grants it is installed disabled, unless it
    /// replaces one that asked for no less.
    ///
    /// # Errors
    /// Not an operator, or a refusal that says why.
    pub async fn add_plugin(
        &self,
        caller: &Caller,
        bytes: Vec<u8>,
        grants: Option<Vec<String>>,
    ) -> Result<PluginView, Error> {
        operator(caller)?;
        self.check_open()?;
        self.services.registry.add(bytes, grants, false).await
    }

    /// Enables, disables, grants (operators).
    ///
    /// # Errors
    /// Not an operator, no such plugin, a grant it does not ask for.
    pub async fn patch_plugin(&self, caller: &Caller, name: &str, patch: PatchPlugin) -> Result<PluginView, Error> {
        operator(caller)?;
        self.services.registry.patch(name, patch.enabled, patch.grants).await
    }

    /// Removes a plugin (operators).
    ///
    /// # Errors
    /// Not an operator, no such plugin, it came with the host, or open turns hold it.
    pub async fn remove_plugin(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        operator(caller)?;
        self.services.registry.remove(name).await
    }

    /// Reads a component without installing, compiling or running it.
    ///
    /// # Errors
    /// The first reason to refuse it.
    pub fn inspect(bytes: &[u8]) -> Result<Manifest, Refusal> {
        crate::inspect::inspect(bytes)
    }
}
