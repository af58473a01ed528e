//! Logs without what differs from run to run, so that a task that was killed is held against one that was not.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use windlass_core::{Kind, Record};

/// What of data differs from run to run. Steps are numbered with the samples of the clock, which a busy machine takes more of.
const OWN: [&str; 6] = ["durationMs", "sha256", "size", "href", "uri", "step"];
/// Codes of a call that a kill left in doubt, and of one whose page went with the host.
const DOUBT: [&str; 2] = ["interrupted", "page-lost"];

/// The log of a task that nobody killed.
pub(super) struct Undisturbed(Vec<String>);

impl Undisturbed {
    /// `names`: what is a run's own in texts, and what stands for it.
    pub(super) fn new(records: &[Record], names: &[(String, &str)]) -> Self {
        Self(plain(records, names))
    }

    /// Another task wrote the same log.
    pub(super) fn is(&self, other: &Self) -> Result<()> {
        self.begins(&other.0)?;
        ensure!(self.0.len() == other.0.len(), "{} records, not {}", other.0.len(), self.0.len());
        Ok(())
    }

    /// A task that was killed has the same records up to the first call in doubt; all of them where none was. Answers how
    /// many were compared.
    pub(super) fn holds(&self, records: &[Record], names: &[(String, &str)]) -> Result<usize> {
        let doubt = records.iter().position(in_doubt);
        let same = plain(&records[..doubt.unwrap_or(records.len())], names);
        self.begins(&same)?;
        let all = doubt.is_some() || same.len() == self.0.len();
        ensure!(all, "nothing was in doubt, and there are {} records, not {}", same.len(), self.0.len());
        Ok(same.len())
    }

    fn begins(&self, same: &[String]) -> Result<()> {
        ensure!(same.len() <= self.0.len(), "{} records, more than {}", same.len(), self.0.len());
        for (at, (record, undisturbed)) in same.iter().zip(&self.0).enumerate() {
            ensure!(record == undisturbed, "record {at} should be {undisturbed}, and is {record}");
        }
        Ok(())
    }
}

/// The first record that a kill makes another one.
fn in_doubt(record: &Record) -> bool {
    let told = |record: &Record| record.data.get("error")?.get("code")?.as_str().map(|code| DOUBT.contains(&code));
    record.kind == Kind::PageLost || told(record).unwrap_or_default()
}

fn plain(records: &[Record], names: &[(String, &str)]) -> Vec<String> {
    let kept = |record: &&Record| !matches!(record.kind, Kind::TaskCreated | Kind::TurnStarted | Kind::TurnResumed);
    let text = |record: &Record| {
        let mut data = json!(record.data);
        strip(&mut data);
        // Without `(312 ms)`, and without the size of a picture.
        let mut text = record.text.split(" (").next().unwrap_or_default();
        if record.kind == Kind::Artifact {
            text = text.rsplit_once(", ").map_or(text, |(text, _)| text);
        }
        let line = json!({"kind": record.kind.as_str(), "turn": record.turn, "text": text, "data": data}).to_string();
        names.iter().fold(line, |line, (name, stands)| line.replace(name, stands))
    };
    records.iter().filter(kept).map(text).collect()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            OWN.iter().for_each(|name| drop(fields.remove(*name)));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
