//! What sites had stored in pages that a turn lost: cookies and local storage, for the page that it opens next.
//!
//! They are as good as a password, so they lie in the store only sealed, with the key of the secrets and bound to their
//! turn, and go with its end. The plugin sees nothing of them: they go from one context of its turn into the next.

use super::Kept;
use crate::services::Services;
use crate::turn::Turn;
use std::time::Duration;
use windlass_browser::{Call, Context, StorageState};
use windlass_core::TaskId;
use zeroize::Zeroizing;

/// How long it may take to read it out of a context, or to put it in.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is kept of one turn, in bytes of JSON.
const BYTES: usize = 1 << 20;

/// What became of it.
pub(crate) enum Saved {
    /// It could not be had: what was kept before stays.
    Unknown,
    /// The sites had nothing.
    Nothing,
    /// Nonce and ciphertext.
    Sealed(Vec<u8>),
}

fn bound(task: TaskId, turn: u32) -> String {
    format!("windlass sites 1\0{task}\0{turn}")
}

/// Reads and seals what sites have stored in a context. Where that can't be, the pages are lost all the same.
pub(super) async fn save(services: &Services, kept: &Kept) -> Saved {
    let state = match kept.context.lock().await.as_ref() {
        Some(context) => context.storage_state(&Call::new(PATIENCE)).await,
        None => return Saved::Unknown,
    };
    let sealed = async {
        let state = state.map_err(|e| e.to_string())?;
        if state.cookies.is_empty() && state.origins.is_empty() {
            return Ok(Saved::Nothing);
        }
        let text = Zeroizing::new(serde_json::to_string(&state).map_err(|e| e.to_string())?);
        if text.len() > BYTES {
            return Err(format!("it is more than {}", windlass_core::text::size(BYTES as u64)));
        }
        let sealed = services.vault.seal(&bound(kept.task, kept.number), &text).await;
        sealed.map(Saved::Sealed).map_err(|e| e.to_string())
    };
    sealed.await.unwrap_or_else(|error: String| {
        tracing::warn!(task = %kept.task, error, "what sites had stored in lost pages is not kept");
        Saved::Unknown
    })
}

/// Gives a new context of the turn what sites had stored in the pages that it lost, if that is there.
#[expect(clippy::disallowed_methods, reason = "part of the step that needed a context, before it has a page")]
pub(crate) async fn restore(turn: &Turn, context: &Context) {
    let (task, services) = (turn.task, &turn.services);
    let restored = async {
        let sealed = services.store.read(move |rows| rows.sites(task)).await.map_err(|e| e.to_string())?;
        let Some(sealed) = sealed else { return Ok(()) };
        let opened = services.vault.unseal(&bound(task, turn.number), &sealed).map_err(|e| e.to_string())?;
        let text = opened.ok_or("it does not open with the key of the secrets")?;
        let state: StorageState = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        context.set_storage_state(&state, &Call::new(PATIENCE)).await.map_err(|e| e.to_string())
    };
    if let Err(error) = restored.await {
        let error: String = error;
        tracing::warn!(%task, error, "what sites had stored in lost pages could not be given to a new one");
    }
}
