//! `windlass:plugin/state`: values that live across turns.

use crate::bindings::windlass::plugin::state::Host as State;
use crate::bindings::windlass::plugin::types::Error;
use crate::host::Host;
use crate::step::{Done, Step};
use crate::turn::{Also, error};
use serde_json::{Value, json};
use windlass_core::Call;
use windlass_core::limits::{STATE_BYTES, STATE_VALUE_BYTES};
use windlass_store::StoreError;

fn step(call: Call, args: Value, doing: String, done: String) -> Step {
    Step { call, page: None, args, doing, done }
}

/// A key is 1 to 256 bytes.
fn check_key(key: &str) -> Result<(), Error> {
    if (1..=256).contains(&key.len()) { Ok(()) } else { Err(error("invalid", "a key of the state has 1 to 256 bytes")) }
}

impl State for Host {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, Error>> {
        let turn = self.turn.clone();
        let step =
            step(Call::StateGet, json!({ "key": key }), format!("Read state {key}"), format!("Read state {key}"));
        self.turn
            .step(step, |_| async move {
                check_key(&key)?;
                turn.settle(0).await?;
                let task = turn.task;
                let value = turn.services.store.read(move |rows| rows.state(task, &key)).await?;
                let found = value.is_some();
                Ok(Done::shown(value, json!({ "found": found })))
            })
            .await
    }

    async fn set(&mut self, key: String, value: String) -> wasmtime::Result<Result<(), Error>> {
        let turn = self.turn.clone();
        let args = json!({ "key": key, "bytes": value.len(), "sha256": crate::engine::sha256(value.as_bytes()) });
        let step = step(Call::StateSet, args, format!("Set state {key}"), format!("Set state {key}"));
        self.turn
            .step(step, |_| async move {
                check_key(&key)?;
                if value.len() > STATE_VALUE_BYTES {
                    return Err(error("limit", "a value of the state has at most 256 KiB").into());
                }
                if let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&value) {
                    return Err(error("invalid", format!("the value is not JSON: {e}")).into());
                }
                turn.settle(0).await?;
                let (task, name) = (turn.task, key.clone());
                let sizes = turn.services.store.read(move |rows| {
                    let old = rows.state(task, &name)?.map_or(0, |old| old.len() + name.len());
                    Ok::<_, StoreError>(rows.state_size(task)? - old)
                });
                if sizes.await? + key.len() + value.len() > STATE_BYTES {
                    return Err(error("limit", "the state of a task has at most 4 MiB").into());
                }
                let also: Also = Box::new(move |tx| tx.put_state(task, &key, Some(&value)));
                Ok(Done { also: Some(also), ..Done::new(()) })
            })
            .await
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), Error>> {
        let task = self.turn.task;
        let step = step(
            Call::StateDelete,
            json!({ "key": key }),
            format!("Delete state {key}"),
            format!("Deleted state {key}"),
        );
        self.turn
            .step(step, |_| async move {
                check_key(&key)?;
                let also: Also = Box::new(move |tx| tx.put_state(task, &key, None));
                Ok(Done { also: Some(also), ..Done::new(()) })
            })
            .await
    }

    async fn keys(&mut self, prefix: String) -> wasmtime::Result<Result<Vec<String>, Error>> {
        let turn = self.turn.clone();
        let text = if prefix.is_empty() { "List state".to_owned() } else { format!("List state {prefix}*") };
        let step = step(Call::StateKeys, json!({ "prefix": prefix }), text.clone(), text.replace("List", "Listed"));
        self.turn
            .step(step, |_| async move {
                turn.settle(0).await?;
                let task = turn.task;
                let keys = turn.services.store.read(move |rows| rows.state_keys(task, &prefix)).await?;
                let count = keys.len();
                Ok(Done::shown(keys, json!({ "keys": count })))
            })
            .await
    }
}
