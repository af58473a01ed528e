//! The states that listeners are told, made once for all who listen to the same turn.
//!
//! All that changes a turn writes a record with it, so a state that was read at record n is good for everybody who knows
//! of no later one. Who may hear of a turn was judged before; a state says the same to everybody.

use crate::handler::Handler;
use crate::id::TurnId;
use parking_lot::Mutex;
use rmcp::ErrorData;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use windlass_runtime::Caller;

/// Turns remembered before those that nobody listens to are forgotten.
const TURNS: usize = 1024;

/// A turn as it is told.
pub(crate) struct State {
    /// The newest record when it was read.
    pub(crate) seq: u64,
    /// The turn has ended.
    pub(crate) ended: bool,
    /// What `tasks/get` answers, without its result type.
    pub(crate) params: Value,
}

/// One is read at a time for each turn; the others wait for it.
type Slot = Arc<tokio::sync::Mutex<Weak<State>>>;

/// By turn, and whether questions are among it.
#[derive(Default)]
pub(crate) struct States {
    slots: Mutex<HashMap<(TurnId, bool), Slot>>,
}

impl States {
    fn slot(&self, turn: TurnId, forms: bool) -> Slot {
        let mut slots = self.slots.lock();
        if slots.len() >= TURNS {
            // In use by nobody, and what it held was dropped with its last listener.
            let used = |slot: &Slot| Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|s| s.strong_count() > 0);
            slots.retain(|_, slot| used(slot));
        }
        slots.entry((turn, forms)).or_default().clone()
    }
}

impl Handler {
    /// The state of a turn at `seq` or later.
    pub(crate) async fn told(
        &self,
        caller: &Caller,
        turn: TurnId,
        forms: bool,
        seq: u64,
    ) -> Result<Arc<State>, ErrorData> {
        let slot = self.states.slot(turn, forms);
        let mut held = slot.lock().await;
        if let Some(state) = held.upgrade().filter(|state| state.seq >= seq) {
            return Ok(state);
        }
        let view = self.view(caller, turn).await?;
        let task = self.detailed_view(caller, turn, &view, forms).await?;
        let mut params = serde_json::to_value(&task).unwrap_or_default();
        if let Some(fields) = params.as_object_mut() {
            fields.remove("resultType");
        }
        let state = Arc::new(State { seq: view.task.last_seq, ended: view.status.is_ended(), params });
        *held = Arc::downgrade(&state);
        Ok(state)
    }
}
