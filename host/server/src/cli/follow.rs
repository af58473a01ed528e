//! The log of a task over SSE, through lost connections and restarts of the host: the cursor is the last `seq` seen.

use crate::client::{Client, Fail, read, why};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A host that does not come back within this time ends the following, not the task.
const PATIENCE: Duration = Duration::from_secs(300);
/// The stream says something every 15 s; silence three times as long is a dead connection.
const SILENCE: Duration = Duration::from_secs(45);

/// What a follower sees.
pub(super) enum Event {
    /// A record as JSON text.
    Record(Value),
    /// Everything that was there has been sent.
    CaughtUp,
    /// No turn is open; the task.
    End(Value),
    /// About the following itself.
    Note(String),
}

/// Follows on a task of its own, so that waiting for the next event can be given up at any time.
pub(super) fn follow(client: Client, data: PathBuf, id: String, after: u64) -> mpsc::Receiver<Result<Event, Fail>> {
    let (send, receive) = mpsc::channel(64);
    let mut follower = Follower { client, data, id, after, send };
    tokio::spawn(async move {
        if let Err(fail) = follower.run().await {
            let _ = follower.send.send(Err(fail)).await;
        }
    });
    receive
}

struct Follower {
    client: Client,
    data: PathBuf,
    id: String,
    after: u64,
    send: mpsc::Sender<Result<Event, Fail>>,
}

/// How a connection ended.
enum Left {
    /// With `end`, or nobody listens any more.
    Done,
    /// Without: to be resumed.
    Cut(String),
}

impl Follower {
    async fn run(&mut self) -> Result<(), Fail> {
        let mut lost: Option<Instant> = None;
        let mut told = false;
        loop {
            let before = self.after;
            match self.connection(&mut lost).await? {
                Left::Done => return Ok(()),
                Left::Cut(reason) => {
                    if self.after > before {
                        (lost, told) = (None, false);
                    }
                    let since = *lost.get_or_insert_with(Instant::now);
                    if since.elapsed() > PATIENCE {
                        return Err(Fail::host(format!("the host did not come back: {reason}")));
                    }
                    if !told && since.elapsed() > Duration::from_secs(1) {
                        told = true;
                        let note = format!("the host is gone ({reason}); following goes on when it is back");
                        self.tell(Event::Note(note)).await;
                    }
                    if self.send.is_closed() {
                        return Ok(());
                    }
                    tokio::time::sleep(Duration::from_millis(if told { 500 } else { 100 })).await;
                    // A new host may have another port.
                    if let Ok(Some(client)) = Client::find(&self.data).await {
                        self.client = client;
                    }
                }
            }
        }
    }

    async fn tell(&self, event: Event) -> bool {
        self.send.send(Ok(event)).await.is_ok()
    }

    async fn connection(&mut self, lost: &mut Option<Instant>) -> Result<Left, Fail> {
        let request = self
            .client
            .request(Method::GET, &format!("/api/v1/tasks/{}/events/stream", self.id))
            .header("last-event-id", self.after.to_string());
        let mut response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Ok(Left::Cut(why(&error))),
        };
        if response.status() == StatusCode::NO_CONTENT {
            let task = self.client.get(&format!("/api/v1/tasks/{}", self.id)).await?;
            self.tell(Event::End(task)).await;
            return Ok(Left::Done);
        }
        if !response.status().is_success() {
            let status = response.status();
            return match read(response).await {
                // A host that is closing says so; the next one will answer.
                Err(fail) if status.is_server_error() => Ok(Left::Cut(fail.message)),
                Err(fail) => Err(fail),
                Ok(_) => Ok(Left::Cut("an empty answer".into())),
            };
        }
        *lost = None;
        let mut parser = Parser::default();
        loop {
            let chunk = match tokio::time::timeout(SILENCE, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return Ok(Left::Cut("the stream ended".into())),
                Ok(Err(error)) => return Ok(Left::Cut(why(&error))),
                Err(_) => return Ok(Left::Cut("it fell silent".into())),
            };
            for (name, data) in parser.feed(&chunk) {
                if let Some(left) = self.event(&name, &data).await {
                    return Ok(left);
                }
            }
        }
    }

    async fn event(&mut self, name: &str, data: &str) -> Option<Left> {
        let Ok(data) = serde_json::from_str::<Value>(data) else {
            return Some(Left::Cut("an event that is not JSON".into()));
        };
        let listened = match name {
            "record" => {
                self.after = data["seq"].as_u64().unwrap_or(self.after);
                self.tell(Event::Record(data)).await
            }
            "caught-up" => self.tell(Event::CaughtUp).await,
            "gone" => {
                let oldest = data["oldestSeq"].as_u64().unwrap_or(1);
                self.tell(Event::Note(format!("records before {oldest} are no longer kept"))).await
            }
            "reset" => {
                self.after = data["lastSeq"].as_u64().unwrap_or(0);
                self.tell(Event::Note(format!("the log ends at {}; following goes on from there", self.after))).await
            }
            "end" => {
                self.tell(Event::End(data)).await;
                return Some(Left::Done);
            }
            _ => true,
        };
        (!listened).then_some(Left::Done)
    }
}

/// Cuts a stream of bytes into events, wherever the network cut it.
#[derive(Default)]
struct Parser {
    buffer: Vec<u8>,
}

impl Parser {
    /// The events that are whole by now: name and data.
    fn feed(&mut self, bytes: &[u8]) -> Vec<(String, String)> {
        // An end of an event needs two bytes, one of which may have been there.
        let from = self.buffer.len().saturating_sub(1);
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        let (mut start, mut look) = (0, from);
        while let Some(end) = self.buffer[look..].windows(2).position(|pair| pair == b"\n\n") {
            let end = look + end;
            events.extend(parse(&String::from_utf8_lossy(&self.buffer[start..end])));
            start = end + 2;
            look = start;
        }
        self.buffer.drain(..start);
        events
    }
}

fn parse(block: &str) -> Option<(String, String)> {
    let (mut name, mut data) = (None, None);
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("event", value)) => name = Some(value.to_owned()),
            Some(("data", value)) => data = Some(value.to_owned()),
            _ => {}
        }
    }
    Some((name?, data?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_whole_wherever_the_bytes_were_cut() {
        let stream = "retry: 1000\n\nevent: task\ndata: {\"a\":1}\n\n:\n\nevent: record\nid: 1\ndata: {\"text\":\"é\"}\n\nevent: end\ndata: {}\n\n".as_bytes();
        let expected: Vec<_> = [("task", "{\"a\":1}"), ("record", "{\"text\":\"é\"}"), ("end", "{}")]
            .map(|(name, data)| (name.to_owned(), data.to_owned()))
            .into();
        for cut in 0..=stream.len() {
            let mut parser = Parser::default();
            let mut events = parser.feed(&stream[..cut]);
            events.extend(parser.feed(&stream[cut..]));
            assert_eq!(events, expected, "cut at {cut}");
        }
        let mut parser = Parser::default();
        let bytewise: Vec<_> = stream.iter().flat_map(|byte| parser.feed(std::slice::from_ref(byte))).collect();
        assert_eq!(bytewise, expected);
    }
}
