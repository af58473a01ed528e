//! Where the host is. It may end and come back on another port while the bridge lives: whoever can't reach it asks anew.

use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;

/// Finds the host, or starts one: its address without a slash at the end, or why there is none.
pub type Find = Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

pub(super) struct Way {
    find: Find,
    base: Mutex<String>,
    /// One looks at a time; the others take what it found.
    looking: tokio::sync::Mutex<()>,
}

impl Way {
    pub(super) async fn new(find: Find) -> Result<Self, String> {
        let base = find().await?;
        Ok(Self { find, base: Mutex::new(base), looking: tokio::sync::Mutex::default() })
    }

    /// The endpoint, as far as is known.
    pub(super) fn endpoint(&self) -> String {
        format!("{}/mcp", self.base.lock())
    }

    /// After `missed` could not be reached: where it is now.
    pub(super) async fn anew(&self, missed: &str) -> Result<String, String> {
        let _looking = self.looking.lock().await;
        if self.endpoint() == missed {
            let base = (self.find)().await?;
            *self.base.lock() = base;
        }
        Ok(self.endpoint())
    }
}
