//! Server-sent events out of bytes, wherever the network cut them.

/// An event that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

/// Cuts bytes into events.
#[derive(Default)]
pub(crate) struct Parser(Vec<u8>);

impl Parser {
    /// The events that are whole by now, without comments.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        // The end of an event has two bytes, the first of which may have been there.
        let mut look = self.0.len().saturating_sub(1);
        self.0.extend_from_slice(bytes);
        let (mut events, mut start) = (Vec::new(), 0);
        while let Some(end) = self.0[look..].windows(2).position(|pair| pair == b"\n\n").map(|at| look + at) {
            events.extend(event(&String::from_utf8_lossy(&self.0[start..end])));
            (start, look) = (end + 2, end + 2);
        }
        self.0.drain(..start);
        events
    }
}

fn event(block: &str) -> Option<Event> {
    // Without a name it is a `message`, as the standard has it.
    let (mut name, mut id, mut data) = ("message".to_owned(), None, None);
    for line in block.split('\n') {
        match line.split_once(": ") {
            Some(("event", value)) => name = value.to_owned(),
            Some(("id", value)) => id = value.parse().ok(),
            Some(("data", value)) => data = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(Event { name, id, data: data? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_anywhere_changes_nothing() {
        let text = "retry: 1\n\n:\n\nevent: record\nid: 7\ndata: {\"text\":\"é\"}\n\nevent: end\ndata: {}\n\n";
        let whole = Parser::default().feed(text.as_bytes());
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0], Event { name: "record".into(), id: Some(7), data: "{\"text\":\"é\"}".into() });
        for cut in 0..=text.len() {
            let mut parser = Parser::default();
            let mut events = parser.feed(&text.as_bytes()[..cut]);
            events.extend(parser.feed(&text.as_bytes()[cut..]));
            assert_eq!(events, whole, "cut at {cut}");
        }
    }
}
