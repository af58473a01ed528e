//! What scripts say: console and errors that nobody caught.

use super::events::*;
use crate::cdp::Event as CdpEvent;
use crate::records::{ConsoleMessage, PageError, cut, keep};
use crate::tab::Tab;

pub(super) fn console(tab: &Tab, event: &CdpEvent<'_>) {
    let Some(called) = event.params::<ConsoleCalled>() else { return };
    let text = called.args.iter().map(words).collect::<Vec<_>>().join(" ");
    let (url, line) = place(called.stack.as_ref());
    let message = ConsoleMessage { level: called.level, text: cut(&text), url, line };
    keep(&mut tab.records().console, message);
}

pub(super) fn error(tab: &Tab, event: &CdpEvent<'_>) {
    let Some(Thrown { details }) = event.params() else { return };
    let message = match details.exception.as_ref().map(words) {
        Some(words) if !words.is_empty() => words,
        _ => details.text,
    };
    let (url, line) = match place(details.stack.as_ref()) {
        (url, _) if url.is_empty() => (details.url.unwrap_or_default(), details.line + 1),
        known => known,
    };
    keep(&mut tab.records().errors, PageError { message: cut(&message), url, line });
}

fn place(stack: Option<&StackTrace>) -> (String, u32) {
    let top = stack.and_then(|stack| stack.frames.first());
    top.map(|frame| (frame.url.clone(), frame.line + 1)).unwrap_or_default()
}

fn words(object: &RemoteObject) -> String {
    if let Some(value) = &object.value {
        return value.as_str().map_or_else(|| value.to_string(), Into::into);
    }
    if let Some(text) = &object.unserializable {
        return text.clone();
    }
    if let Some(preview) = object.preview.as_ref().filter(|preview| preview.subtype.as_deref() != Some("error")) {
        let is_list = preview.subtype.as_deref() == Some("array");
        let value = |property: &Property| match (&property.value, property.kind.as_str()) {
            (Some(value), "string") => format!("{value:?}"),
            (Some(value), _) => value.clone(),
            (None, kind) => kind.to_owned(),
        };
        let mut parts: Vec<String> = preview
            .properties
            .iter()
            .map(|property| if is_list { value(property) } else { format!("{}: {}", property.name, value(property)) })
            .collect();
        if preview.overflow {
            parts.push("…".into());
        }
        let parts = parts.join(", ");
        return if is_list { format!("[{parts}]") } else { format!("{{{parts}}}") };
    }
    object.description.clone().unwrap_or_else(|| object.kind.clone())
}
