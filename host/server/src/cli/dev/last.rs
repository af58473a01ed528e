//! What was run last, kept with the project.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// The file in the project.
pub(in super::super) const LAST: &str = ".windlass/dev/last.json";

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Last {
    /// Empty: none yet.
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
    /// Permissions beyond those that the manifest asks for by themselves.
    pub(super) grants: Vec<String>,
}

impl Last {
    /// What is there; nothing where nothing can be read.
    pub(super) fn read(root: &Path) -> Self {
        let text = std::fs::read(root.join(LAST)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// A project that can't be written is run all the same.
    pub(super) fn write(&self, root: &Path) {
        let file = root.join(LAST);
        if Self::read(root) == *self && file.exists() {
            return;
        }
        let Some(folder) = file.parent() else { return };
        if std::fs::create_dir_all(folder).is_ok()
            && let Ok(text) = serde_json::to_vec_pretty(self)
        {
            let _ = std::fs::write(file, text);
        }
    }
}
