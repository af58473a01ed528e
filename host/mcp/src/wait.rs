//! Calls of clients that take no tasks: they wait for a bounded time, with progress, then get the result or a way to go
//! on. A client that goes away in between ends nothing.

use crate::error::refused;
use crate::handler::Handler;
use crate::id::TurnId;
use crate::log::LogUri;
use crate::outcome::{Ending, log_link};
use crate::schemas::HANDLE;
use crate::task::message;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use std::time::Duration;
use windlass_core::{Status, WaitingFor};
use windlass_runtime::clock::Clock;
use windlass_runtime::{Caller, TurnView};

/// Pause between two progress notifications of a call.
const PAUSE: Duration = Duration::from_millis(200);

impl Handler {
    pub(crate) async fn wait_for(
        &self,
        caller: &Caller,
        id: TurnId,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let clock = self.windlass.clock();
        let deadline = clock.elapsed() + self.options.patience;
        let follow = self.windlass.follow(caller, id.task, 0).await.map_err(|e| refused(&e))?;
        let mut tail = follow.tail;
        let mut progress = Progress::of(context, clock, self.options.stalled);
        loop {
            let view = self.view(caller, id).await?;
            if view.status.is_ended() {
                return match view.status {
                    Status::Completed => Ok(self.completed(caller, &view).await),
                    Status::Cancelled => Ok(CallToolResult::error(vec![ContentBlock::text("The task was cancelled.")])),
                    _ => match Self::failed(&view) {
                        Ending::Result(result) => Ok(result),
                        Ending::Error(error) => Err(error),
                    },
                };
            }
            let asked = matches!(view.waiting_for, Some(WaitingFor::Input | WaitingFor::Operator));
            if asked || clock.elapsed() >= deadline {
                return Ok(goes_on(&view));
            }
            tokio::select! {
                () = context.ct.cancelled() => return Ok(goes_on(&view)),
                () = self.options.closing.cancelled() => return Ok(goes_on(&view)),
                () = clock.reached(deadline) => {}
                news = tail.next() => match news {
                    Ok(records) => if let Some(newest) = records.last() {
                        progress.tell(newest.seq, &newest.text).await;
                    },
                    Err(_) => return Ok(goes_on(&view)),
                },
            }
        }
    }
}

/// The id, the log, and what to do next.
fn goes_on(view: &TurnView) -> CallToolResult {
    let id = view.task.id;
    let (log, says) = (LogUri::of(id).to_string(), message(view));
    let asks = view.waiting_for == Some(WaitingFor::Input);
    let next = if asks {
        "It waits for an answer: see the questions with task_get, answer with task_input; a person can answer on the \
         host's page."
    } else {
        "It goes on by itself: look again with task_get (give waitMs), read its log with task_log, stop it with \
         task_cancel. Do not call the tool again for the same work."
    };
    let status = if asks { Status::InputRequired } else { Status::Working };
    let text = format!("Task {id} has not ended yet. {says}\n{next}");
    let mut result = CallToolResult::success(vec![ContentBlock::text(text), log_link(id)]);
    result.structured_content = Some(json!({HANDLE: {
        "taskId": id, "status": status, "statusMessage": says, "logUri": log,
    }}));
    result
}

/// Tells a caller that gave a token how far the log is.
struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    clock: Clock,
    /// By the clock's `elapsed`.
    next: Duration,
    stalled: Duration,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>, clock: &Clock, stalled: Duration) -> Self {
        let to = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        Self { to, clock: clock.clone(), next: clock.elapsed(), stalled }
    }

    /// The number grows with the log; how far it will grow, nobody knows.
    async fn tell(&mut self, seq: u64, text: &str) {
        if self.clock.elapsed() < self.next {
            return;
        }
        let Some((peer, token)) = &self.to else { return };
        #[expect(clippy::cast_precision_loss, reason = "a log has at most 2^32 records")]
        let told = ProgressNotificationParam::new(token.clone(), seq as f64).with_message(text);
        let told = tokio::time::timeout(self.stalled, peer.notify_progress(told)).await;
        if !matches!(told, Ok(Ok(()))) {
            self.to = None;
        }
        self.next = self.clock.elapsed() + PAUSE;
    }
}
