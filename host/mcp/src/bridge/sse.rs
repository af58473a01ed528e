//! Server-sent events of a response, as they come.

use reqwest::Response;
use std::collections::VecDeque;

/// An event with data.
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) data: String,
}

/// Reads line by line; CR, LF and both end a line.
pub(super) struct Events {
    response: Response,
    parser: Parser,
}

impl Events {
    pub(super) fn of(response: Response) -> Self {
        Self { response, parser: Parser::default() }
    }

    /// The next event that has data; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, reqwest::Error> {
        loop {
            if let Some(event) = self.parser.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.response.chunk().await? {
                Some(chunk) => self.parser.feed(&chunk),
                None => return Ok(None),
            }
        }
    }
}

#[derive(Default)]
struct Parser {
    line: Vec<u8>,
    /// The byte before was a CR: an LF after it belongs to it.
    returned: bool,
    id: Option<String>,
    data: Vec<String>,
    ready: VecDeque<Event>,
}

impl Parser {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' if self.returned => self.returned = false,
                b'\n' | b'\r' => {
                    self.returned = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    self.line(&String::from_utf8_lossy(&line));
                }
                byte => {
                    self.returned = false;
                    self.line.push(*byte);
                }
            }
        }
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            let (id, data) = (self.id.take(), std::mem::take(&mut self.data).join("\n"));
            if !data.is_empty() {
                self.ready.push_back(Event { id, data });
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.data.push(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_however_they_were_cut() {
        let text = ": hello\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 2\nretry: 5\ndata:\n\ndata: \u{e9}\n\n";
        for size in 1..8 {
            let mut parser = Parser::default();
            text.as_bytes().chunks(size).for_each(|chunk| parser.feed(chunk));
            let events: Vec<_> = parser.ready.into_iter().map(|event| (event.id, event.data)).collect();
            assert_eq!(events, [(Some("1".into()), "{\"a\":\n1}".into()), (None, "\u{e9}".to_owned())], "{size}");
        }
    }
}
