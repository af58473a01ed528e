//! `subscriptions/listen`: one request, one stream of notifications.
//!
//! The SDK judges the request, and `admit` whom it may hear of; the stream itself is the body of the answer and makes a
//! notification when the connection has room for it. So a stream costs little, and one that nobody reads costs nobody
//! else anything: the server closes a connection that takes nothing.
//!
//! Pushes are level triggers: they say that something is new, and for tasks what it is now. Each subject is told at
//! most ten times a second, the first time at once, and its newest state is always told: a subject is only forgotten
//! after the notification that shows its end. Who listens is judged before the acknowledgement; a task that is another's
//! is left out of it, like one that is not there.

use crate::context::{caller, shows_forms, takes_tasks};
use crate::error::tasks_undeclared;
use crate::handler::Handler;
use crate::id::TurnId;
use crate::log::LogUri;
use crate::told::State;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, FuturesUnordered, Stream};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use windlass_core::TaskId;
use windlass_runtime::Caller;
use windlass_runtime::clock::Clock;
use windlass_store::Tail;

/// Between two notifications of one subject.
const PAUSE: Duration = Duration::from_millis(100);
/// Tasks and logs of one stream.
const SUBJECTS: usize = 256;
/// A silent stream says that it is alive this often.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client asks for; a key that is not known asks for nothing.
struct Filter {
    tools: bool,
    turns: Vec<TurnId>,
    logs: Vec<(String, LogUri)>,
}

impl Filter {
    fn read(params: &Value, declared: bool) -> Result<Self, ErrorData> {
        let Some(asked) = params.get("notifications").and_then(Value::as_object) else {
            return Err(ErrorData::invalid_params("params.notifications must be an object", None));
        };
        let flag = |name: &str| match asked.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(ErrorData::invalid_params(format!("{name} must be true or false"), None)),
        };
        let list = |name: &str| -> Result<Vec<String>, ErrorData> {
            let Some(given) = asked.get(name) else { return Ok(Vec::new()) };
            let texts = given.as_array().filter(|items| items.len() <= SUBJECTS).and_then(|items| {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            });
            texts.ok_or_else(|| {
                ErrorData::invalid_params(format!("{name} must be a list of at most {SUBJECTS} texts"), None)
            })
        };
        flag("promptsListChanged")?;
        flag("resourcesListChanged")?;
        let ids = list("taskIds")?;
        if !ids.is_empty() && !declared {
            return Err(tasks_undeclared());
        }
        let logs = list("resourceSubscriptions")?.into_iter();
        let logs = logs.filter_map(|uri| uri.parse::<LogUri>().ok().map(|log| (uri, log)));
        Ok(Self {
            tools: flag("toolsListChanged")?,
            turns: ids.iter().filter_map(|id| id.parse().ok()).collect(),
            logs: logs.filter(|(_, log)| log.is_whole()).collect(),
        })
    }

    /// What is honoured, as the acknowledgement says it.
    fn accepted(&self, asked: &Value) -> Value {
        let mut accepted = json!({});
        let asked = &asked["notifications"];
        if self.tools {
            accepted["toolsListChanged"] = true.into();
        }
        if asked.get("taskIds").is_some() {
            accepted["taskIds"] = self.turns.iter().map(ToString::to_string).collect();
        }
        if asked.get("resourceSubscriptions").is_some() {
            accepted["resourceSubscriptions"] = self.logs.iter().map(|(uri, _)| uri.clone()).collect();
        }
        accepted
    }
}

/// What is told of one task.
#[derive(Default)]
struct Subject {
    turns: Vec<TurnId>,
    /// The last state told of each turn: as long as one listener has it, the others need not read it.
    held: Vec<Arc<State>>,
    /// The newest record that is known of.
    seq: u64,
    logs: Vec<(String, LogUri)>,
    /// There is something to tell, not before `not_before`.
    dirty: bool,
    /// By the `elapsed` of the host's clock.
    not_before: Option<Duration>,
}

type Waiting = Pin<Box<dyn Future<Output = Option<Tail>> + Send>>;

/// To whom it is told.
struct Voice {
    handler: Handler,
    /// The JSON-RPC id of the request: it stands in every notification.
    id: Value,
    caller: Caller,
    /// The client can answer questions.
    forms: bool,
    /// Server-sent events that were not sent yet.
    out: Vec<u8>,
}

/// A stream that was admitted.
pub(crate) struct Listener {
    voice: Voice,
    subjects: HashMap<TaskId, Subject>,
    tails: FuturesUnordered<Waiting>,
    tools: Option<watch::Receiver<u64>>,
    tools_not_before: Option<Duration>,
    ended: bool,
}

/// Judges a request, and opens what it may hear of. The acknowledgement is the stream's first event.
pub(crate) async fn admit(
    handler: &Handler,
    params: Value,
    context: &RequestContext<RoleServer>,
) -> Result<Listener, ErrorData> {
    let mut filter = Filter::read(&params, takes_tasks(context))?;
    let voice = Voice {
        handler: handler.clone(),
        id: context.id.clone().into_json_value(),
        caller: caller(&context.extensions),
        forms: shows_forms(context),
        out: Vec::new(),
    };
    let tools = handler.windlass.plugin_changes();
    let mut listener = Listener {
        voice,
        subjects: HashMap::new(),
        tails: FuturesUnordered::new(),
        tools: filter.tools.then_some(tools),
        tools_not_before: None,
        ended: false,
    };
    listener.admit(&mut filter).await;
    let accepted = json!({"notifications": filter.accepted(&params)});
    listener.voice.tell("notifications/subscriptions/acknowledged", accepted);
    Ok(listener)
}

fn wait(mut tail: Tail) -> Waiting {
    // An error is the end of the task or of the host.
    Box::pin(async move { tail.next().await.ok().map(|_| tail) })
}

impl Listener {
    /// The body of the answer.
    pub(crate) fn events(self) -> impl Stream<Item = Bytes> + Send {
        stream::unfold(self, |mut listener| async move {
            let bytes = listener.next().await?;
            Some((bytes, listener))
        })
    }

    /// What is to be said next; none after the last word.
    async fn next(&mut self) -> Option<Bytes> {
        while self.voice.out.is_empty() {
            if self.ended {
                return None;
            }
            self.wait().await;
        }
        Some(std::mem::take(&mut self.voice.out).into())
    }

    /// Leaves in the filter what this caller may hear of. Tails are opened here, before anything is read or said: what
    /// happens from now on is told.
    async fn admit(&mut self, filter: &mut Filter) {
        let (turns, logs) = (std::mem::take(&mut filter.turns), std::mem::take(&mut filter.logs));
        for turn in turns {
            if !filter.turns.contains(&turn) && self.follow(LogUri::of_turn(turn)).await {
                // Told at once: it may have ended between the call and this stream.
                let subject = self.subjects.entry(turn.task).or_default();
                subject.turns.push(turn);
                subject.dirty = true;
                filter.turns.push(turn);
            }
        }
        for (uri, log) in logs {
            if !filter.logs.iter().any(|(known, _)| *known == uri) && self.follow(log).await {
                self.subjects.entry(log.task).or_default().logs.push((uri.clone(), log));
                filter.logs.push((uri, log));
            }
        }
    }

    async fn follow(&mut self, log: LogUri) -> bool {
        let Ok(bounds) = self.voice.handler.bounds(&self.voice.caller, &log).await else { return false };
        if !self.subjects.contains_key(&log.task) {
            let windlass = &self.voice.handler.windlass;
            let Ok(follow) = windlass.follow(&self.voice.caller, log.task, bounds.last).await else { return false };
            self.subjects.insert(log.task, Subject { seq: bounds.last, ..Subject::default() });
            self.tails.push(wait(follow.tail));
        }
        true
    }

    async fn wait(&mut self) {
        let clock = self.voice.handler.windlass.clock().clone();
        let now = clock.elapsed();
        let due = |subject: &Subject| subject.dirty.then(|| subject.not_before.unwrap_or(now));
        let next = self.subjects.values().filter_map(due).min();
        tokio::select! {
            biased;
            () = self.voice.handler.options.closing.cancelled() => {
                self.voice.end();
                self.ended = true;
            }
            () = clock.reached(next.unwrap_or(now)), if next.is_some() => self.flush().await,
            Some(tail) = self.tails.next(), if !self.tails.is_empty() => self.noticed(tail),
            alive = changed(&mut self.tools, self.tools_not_before, &clock) => {
                if alive {
                    self.tools_not_before = Some(clock.elapsed() + PAUSE);
                    self.voice.tell("notifications/tools/list_changed", json!({}));
                } else {
                    self.tools = None;
                }
            }
            () = clock.sleep(KEEP_ALIVE) => self.voice.out.extend_from_slice(b":\n\n"),
        }
    }

    fn noticed(&mut self, tail: Option<Tail>) {
        let Some(tail) = tail else { return };
        if let Some(subject) = self.subjects.get_mut(&tail.task()) {
            subject.dirty = true;
            subject.seq = subject.seq.max(tail.cursor());
            self.tails.push(wait(tail));
        }
    }

    /// Tells what is due.
    async fn flush(&mut self) {
        let now = self.voice.handler.windlass.clock().elapsed();
        let due = |subject: &Subject| subject.dirty && subject.not_before.is_none_or(|at| at <= now);
        let due: Vec<_> = self.subjects.iter().filter(|(_, s)| due(s)).map(|(task, _)| *task).collect();
        for task in due {
            let Some(mut subject) = self.subjects.remove(&task) else { continue };
            // Before the state is read: what comes after makes it dirty again.
            subject.dirty = false;
            subject.not_before = Some(now + PAUSE);
            self.voice.tell_of(&mut subject).await;
            if !(subject.turns.is_empty() && subject.logs.is_empty()) {
                self.subjects.insert(task, subject);
            }
        }
    }
}

impl Voice {
    async fn tell_of(&mut self, subject: &mut Subject) {
        let (mut open, mut held) = (Vec::new(), Vec::new());
        for turn in std::mem::take(&mut subject.turns) {
            let state = match self.handler.told(&self.caller, turn, self.forms, subject.seq).await {
                Ok(state) => state,
                Err(error) => {
                    tracing::debug!(%turn, %error, "a task's state can't be told");
                    continue;
                }
            };
            self.tell("notifications/tasks", state.params.clone());
            if !state.ended {
                open.push(turn);
                held.push(state);
            }
        }
        subject.held = held;
        subject.turns = open;
        let mut open = Vec::new();
        for (uri, log) in subject.logs.drain(..) {
            // Looked at before it is told, so that the last word comes after the end.
            let Ok(bounds) = self.handler.bounds(&self.caller, &log).await else { continue };
            self.tell("notifications/resources/updated", json!({ "uri": uri }));
            if log.turn.is_none() || bounds.open {
                open.push((uri, log));
            }
        }
        subject.logs = open;
    }

    fn tell(&mut self, method: &str, mut params: Value) {
        params["_meta"][SUBSCRIPTION_ID] = self.id.clone();
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The end of a stream is its result.
    fn end(&mut self) {
        let result = json!({"resultType": "complete", "_meta": {SUBSCRIPTION_ID: self.id}});
        self.say(&json!({"jsonrpc": "2.0", "id": self.id, "result": result}));
    }

    fn say(&mut self, message: &Value) {
        self.out.extend_from_slice(b"data: ");
        // JSON has no line breaks of its own, so one line is enough.
        self.out.extend_from_slice(message.to_string().as_bytes());
        self.out.extend_from_slice(b"\n\n");
    }
}

/// The next change of the tools, not before the moment; false: there will be none.
async fn changed(tools: &mut Option<watch::Receiver<u64>>, not_before: Option<Duration>, clock: &Clock) -> bool {
    let Some(tools) = tools else { return std::future::pending().await };
    if let Some(at) = not_before {
        clock.reached(at).await;
    }
    tools.changed().await.is_ok()
}
