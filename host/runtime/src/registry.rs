//! Installed plugins, and their components ready to be instantiated.

use crate::bindings::PluginPre;
use crate::clock::Clock;
use crate::engine::{Compiler, sha256};
use crate::error::{Error, Refusal, Violation};
use crate::host::Host;
use crate::inspect::inspect;
use crate::view::{PluginView, ToolView};
use crate::{interface, schema};
use jsonschema::Validator;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use tokio::sync::{OnceCell, watch};
use wasmtime::component::Linker;
use windlass_core::manifest::ToolManifest;
use windlass_core::{AskFirst, Grants, Manifest, Permission};
use windlass_store::{Hard, PluginRow, Store, StoreError};

/// An installed plugin.
pub(crate) struct Installed {
    pub(crate) row: PluginRow,
    pub(crate) manifest: Manifest,
    granted: Grants,
    effective: Grants,
    schemas: HashMap<String, Schemas>,
}

#[derive(Default)]
struct Schemas {
    input: OnceLock<Option<Validator>>,
    /// The input before the form of `askFirst` was answered.
    before: OnceLock<Option<Validator>>,
    output: OnceLock<Option<Validator>>,
}

impl Installed {
    fn new(row: PluginRow) -> Result<Self, StoreError> {
        let damaged = |e: &dyn std::fmt::Display| StoreError::Damaged(format!("plugin {}: {e}", row.name));
        let manifest = Manifest::read(row.manifest.as_bytes()).map_err(|e| damaged(&e))?;
        let granted: Grants = serde_json::from_str(&row.grants).map_err(|e| damaged(&e))?;
        let effective = granted.under(&manifest.permissions);
        let schemas = manifest.tools.iter().map(|tool| (tool.name.clone(), Schemas::default())).collect();
        Ok(Self { row, manifest, granted, effective, schemas })
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&ToolManifest> {
        self.manifest.tools.iter().find(|tool| tool.name == name)
    }

    /// Holds an input against the tool's schema.
    pub(crate) fn check_input(&self, tool: &ToolManifest, input: &Value) -> Result<(), Vec<Violation>> {
        let schemas = &self.schemas[&tool.name];
        check(&schemas.input, Some(&tool.input_schema), input)
    }

    /// Holds an input against the tool's schema as far as it can be there before the form was answered.
    pub(crate) fn check_before(
        &self,
        tool: &ToolManifest,
        ask: &AskFirst,
        input: &Value,
    ) -> Result<(), Vec<Violation>> {
        let before = ask.before(&tool.input_schema);
        check(&self.schemas[&tool.name].before, Some(&before), input)
    }

    /// A tool as callers see it.
    pub(crate) fn tool_view(&self, tool: &ToolManifest) -> ToolView {
        ToolView {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            plugin: self.row.name.clone(),
            input_schema: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            annotations: tool.annotations.clone(),
            task_support: tool.task_support,
            ask_first: tool.ask_first.clone(),
        }
    }

    /// Holds a structured outcome against the tool's schema, if it has one.
    pub(crate) fn check_output(&self, tool: &ToolManifest, output: &Value) -> Result<(), Vec<Violation>> {
        let schemas = &self.schemas[&tool.name];
        check(&schemas.output, tool.output_schema.as_ref(), output)
    }

    fn view(&self) -> PluginView {
        PluginView {
            name: self.row.name.clone(),
            version: self.manifest.version.clone(),
            description: self.manifest.description.clone(),
            digest: self.row.digest.clone(),
            size: self.row.size,
            enabled: self.row.enabled,
            built_in: self.row.built_in,
            tools: self.manifest.tools.iter().map(|tool| tool.name.clone()).collect(),
            permissions: self.manifest.permissions.clone(),
            grants: self.granted.0.clone(),
            added_at: self.row.added,
        }
    }
}

/// The schema was compiled when the plugin was installed; here it is compiled once more, at its first use.
fn check(cell: &OnceLock<Option<Validator>>, schema: Option<&Value>, value: &Value) -> Result<(), Vec<Violation>> {
    match cell.get_or_init(|| schema.and_then(|schema| schema::compile(schema).ok())) {
        Some(validator) => schema::check(validator, value),
        None => Ok(()),
    }
}

type Ready = Arc<OnceCell<PluginPre<Host>>>;

/// All plugins of a host.
pub(crate) struct Registry {
    store: Store,
    clock: Clock,
    compiler: Arc<Compiler>,
    linker: Linker<Host>,
    plugins: RwLock<BTreeMap<String, Arc<Installed>>>,
    ready: Mutex<HashMap<String, Ready>>,
    /// Changes come one after the other: names are unique, and components are compiled one at a time.
    change: tokio::sync::Mutex<()>,
    /// Rises with every plugin that comes, changes or goes.
    changed: watch::Sender<u64>,
}

impl Registry {
    /// Reads what is installed.
    pub(crate) async fn open(store: Store, compiler: Compiler, clock: Clock) -> Result<Self, Error> {
        let linker =
            interface::linker(&compiler.engine).map_err(|e| Error::Io(std::io::Error::other(format!("{e:#}"))))?;
        let rows = store.read(|rows| rows.plugins()).await?;
        let mut plugins = BTreeMap::new();
        for row in rows {
            plugins.insert(row.name.clone(), Arc::new(Installed::new(row)?));
        }
        let (plugins, ready) = (RwLock::new(plugins), Mutex::default());
        let (change, changed) = (tokio::sync::Mutex::default(), watch::Sender::new(0));
        Ok(Self { store, clock, compiler: Arc::new(compiler), linker, plugins, ready, change, changed })
    }

    pub(crate) fn engine(&self) -> &wasmtime::Engine {
        &self.compiler.engine
    }

    /// Hears of every plugin that comes, changes or goes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Installed>> {
        self.plugins.read().get(name).cloned()
    }

    /// The enabled plugin that offers a tool.
    pub(crate) fn offering(&self, tool: &str) -> Option<Arc<Installed>> {
        self.plugins.read().values().find(|plugin| plugin.row.enabled && plugin.tool(tool).is_some()).cloned()
    }

    /// The disabled plugin that would offer a tool.
    pub(crate) fn disabled(&self, tool: &str) -> Option<String> {
        let plugins = self.plugins.read();
        let found = plugins.values().find(|plugin| !plugin.row.enabled && plugin.tool(tool).is_some());
        found.map(|plugin| plugin.row.name.clone())
    }

    /// What a plugin may do now: manifest ∩ grant.
    pub(crate) fn grants(&self, plugin: &str) -> Grants {
        self.plugins.read().get(plugin).map(|plugin| plugin.effective.clone()).unwrap_or_default()
    }

    /// Whether a plugin's manifest asks for any permission that begins with this word.
    pub(crate) fn asks(&self, plugin: &str, word: &str) -> bool {
        self.plugins
            .read()
            .get(plugin)
            .is_some_and(|p| p.manifest.permissions.iter().any(|p| p.to_string().split(' ').next() == Some(word)))
    }

    /// Whether a plugin's manifest asks for what this line gives.
    pub(crate) fn covers(&self, plugin: &str, line: &Permission) -> bool {
        self.plugins.read().get(plugin).is_some_and(|p| p.manifest.permissions.iter().any(|asked| asked.covers(line)))
    }

    /// Tools of enabled plugins, by name.
    pub(crate) fn tools(&self) -> Vec<ToolView> {
        let plugins = self.plugins.read();
        let enabled = plugins.values().filter(|plugin| plugin.row.enabled);
        let mut tools: Vec<_> = enabled
            .flat_map(|plugin| plugin.manifest.tools.iter().map(move |tool| (plugin, tool)))
            .map(|(plugin, tool)| plugin.tool_view(tool))
            .collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    /// All plugins, by name.
    pub(crate) fn views(&self) -> Vec<PluginView> {
        self.plugins.read().values().map(|plugin| plugin.view()).collect()
    }

    /// A component, compiled and linked; the first time from disk or by the compiler.
    pub(crate) async fn ready(&self, digest: &str) -> Result<PluginPre<Host>, Refusal> {
        let cell = self.ready.lock().entry(digest.to_owned()).or_default().clone();
        let ready = cell.get_or_try_init(|| async {
            let (compiler, store, digest) = (self.compiler.clone(), self.store.clone(), digest.to_owned());
            let load = move || compiler.load(&digest, || store.blobs().read(&digest));
            let component = tokio::task::spawn_blocking(load).await.map_err(|e| Refusal::Compile(e.to_string()))??;
            interface::link(&self.linker, &component)
        });
        ready.await.cloned()
    }

    /// Lets go of what was compiled of components that nobody in `named` is.
    pub(crate) fn forget(&self, named: &HashSet<String>) -> std::io::Result<()> {
        self.ready.lock().retain(|digest, _| named.contains(digest));
        self.compiler.forget(named)
    }

    /// Installs a component or replaces the plugin of its name. Compiles it, unless it came with the host, so that the
    /// first call is fast.
    pub(crate) async fn add(
        &self,
        bytes: Vec<u8>,
        grants: Option<Vec<String>>,
        built_in: bool,
    ) -> Result<PluginView, Error> {
        let _change = self.change.lock().await;
        let size = bytes.len() as u64;
        let digest = sha256(&bytes);
        let manifest = inspect(&bytes)?;
        let old = self.get(&manifest.name);
        let wanted = grants.map(|lines| read_grants(&manifest, &lines)).transpose()?;
        for plugin in self.plugins.read().values() {
            let tools = plugin.manifest.tools.iter().map(|tool| tool.name.as_str());
            check_names(&manifest, &plugin.row.name, tools)?;
        }
        let store = self.store.clone();
        let put = tokio::task::spawn_blocking(move || store.blobs().put(&bytes));
        put.await.map_err(std::io::Error::other)??;
        // What came with the host is known to compile: its first call does that, and the start of a host needs not wait.
        if !built_in {
            self.ready(&digest).await?;
        }
        // A new digest that asks for more than the old one got stays disabled until somebody says so.
        let kept = old.as_ref().map(|old| old.granted.under(&manifest.permissions));
        let asks_no_more = old
            .as_ref()
            .is_some_and(|old| manifest.permissions.iter().all(|asked| old.manifest.permissions.contains(asked)));
        let enabled = built_in || wanted.is_some() || (asks_no_more && old.as_ref().is_some_and(|old| old.row.enabled));
        let granted = wanted.or(kept).unwrap_or_default();
        let row = PluginRow {
            name: manifest.name.clone(),
            digest,
            manifest: serde_json::to_string(&manifest).map_err(std::io::Error::from)?.into(),
            grants: serde_json::to_string(&granted).map_err(std::io::Error::from)?,
            enabled,
            built_in: built_in || old.is_some_and(|old| old.row.built_in),
            size,
            added: self.clock.now(),
        };
        self.put(row).await
    }

    /// A plugin that came with the host: installed once, its state kept, its component replaced when it changed.
    pub(crate) async fn add_built_in(&self, bytes: &[u8]) -> Result<(), Error> {
        let manifest = inspect(bytes)?;
        match self.get(&manifest.name) {
            Some(old) if old.row.digest == sha256(bytes) => Ok(()),
            Some(old) => {
                let enabled = old.row.enabled;
                self.add(bytes.to_vec(), None, true).await?;
                self.patch(&manifest.name, Some(enabled), None).await.map(drop)
            }
            None => self.add(bytes.to_vec(), None, true).await.map(drop),
        }
    }

    /// Enables, disables, grants.
    pub(crate) async fn patch(
        &self,
        name: &str,
        enabled: Option<bool>,
        grants: Option<Vec<String>>,
    ) -> Result<PluginView, Error> {
        let _change = self.change.lock().await;
        let old = self.get(name).ok_or_else(|| Error::UnknownPlugin(name.to_owned()))?;
        let mut row = old.row.clone();
        if let Some(lines) = grants {
            row.grants = serde_json::to_string(&read_grants(&old.manifest, &lines)?).map_err(std::io::Error::from)?;
        }
        row.enabled = enabled.unwrap_or(row.enabled);
        self.put(row).await
    }

    async fn put(&self, row: PluginRow) -> Result<PluginView, Error> {
        let stored = row.clone();
        self.store.commit(Hard::Yes, move |tx| tx.put_plugin(&stored)).await.map_err(Error::Store)?;
        let installed = Arc::new(Installed::new(row)?);
        let view = installed.view();
        self.plugins.write().insert(installed.row.name.clone(), installed);
        self.changed.send_modify(|changes| *changes += 1);
        Ok(view)
    }

    /// Removes a plugin that no open turn holds.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Error> {
        let _change = self.change.lock().await;
        let old = self.get(name).ok_or_else(|| Error::UnknownPlugin(name.to_owned()))?;
        if old.row.built_in {
            return Err(Error::BuiltIn(name.to_owned()));
        }
        let key = name.to_owned();
        self.store
            .commit(Hard::Yes, move |tx| {
                // By name, not by digest: a turn may be pinned to an older component of it.
                let turns = tx.turns_of(&key)?;
                if turns > 0 {
                    return Err(Error::PluginHeld { name: key, turns });
                }
                Ok(tx.delete_plugin(&key)?)
            })
            .await?;
        self.plugins.write().remove(name);
        self.changed.send_modify(|changes| *changes += 1);
        self.ready.lock().remove(&old.row.digest);
        Ok(())
    }
}

/// The tools of one plugin that is there leave those of another one their names.
pub(crate) fn check_names<'a>(
    manifest: &Manifest,
    plugin: &str,
    mut tools: impl Iterator<Item = &'a str>,
) -> Result<(), Refusal> {
    if plugin == manifest.name {
        return Ok(());
    }
    let taken = tools.find(|name| manifest.tools.iter().any(|tool| tool.name == *name));
    taken.map_or(Ok(()), |tool| Err(Refusal::NameTaken { tool: tool.to_owned(), by: plugin.to_owned() }))
}

/// Grants as lines; each must be asked for by the manifest.
pub(crate) fn read_grants(manifest: &Manifest, lines: &[String]) -> Result<Grants, Error> {
    let mut grants = Vec::new();
    for line in lines {
        let grant: Permission =
            line.parse().map_err(|e: windlass_core::permission::PermissionError| Error::Invalid(e.to_string()))?;
        if !manifest.permissions.iter().any(|asked| asked.covers(&grant)) {
            let asked: Vec<_> = manifest.permissions.iter().map(|p| format!("`{p}`")).collect();
            let asked = if asked.is_empty() { "nothing".into() } else { asked.join(", ") };
            return Err(Refusal::GrantNotAsked { grant: grant.to_string(), asked }.into());
        }
        if !grant.is_grant() {
            let word = if line.trim().starts_with("reveal") { "reveal" } else { "secret" };
            return Err(Error::Invalid(format!(
                "`{grant}` is no grant: each secret is granted by its name, `{word} NAME`"
            )));
        }
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    Ok(Grants(grants))
}
