//! Going somewhere, the mouse, keys, and how a page is answered.

use super::settings::Settings;
use super::verb::{verb, words};
use super::{Handle, Outcome, contract};
use crate::bindings::windlass::plugin::browser::Navigation;
use crate::host::Host;
use crate::step::Done;
use crate::turn::error;
use serde_json::json;
use windlass_browser::{DialogAnswer, Dialogs};
use windlass_core::Call;

/// Without an address.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Back,
    Forward,
    Reload,
}

fn arrived(navigation: windlass_browser::Navigation, seen: impl Fn(String) -> String) -> Done<Navigation> {
    let windlass_browser::Navigation { url, status } = navigation;
    let url = seen(url);
    let shown = json!({ "url": url, "status": status });
    Done::shown(Navigation { url, status }, shown)
}

pub(super) async fn goto(host: &mut Host, page: &Handle, url: String, settings: Settings) -> Outcome<Navigation> {
    let (text, args) = (words("Go to", "Went to", &url), json!({ "url": url }));
    verb(host, page, Call::BrowserGoto, text, args, settings, |on| async move {
        let until = on.chosen().until()?;
        let there = on.page.goto_until(&url, until, &on.call).await.map_err(contract)?;
        Ok(arrived(there, |text| on.seen(text)))
    })
    .await
}

pub(super) async fn navigate(host: &mut Host, page: &Handle, way: Way, settings: Settings) -> Outcome<Navigation> {
    let (call, doing, done) = match way {
        Way::Back => (Call::BrowserBack, "Go back", "Went back"),
        Way::Forward => (Call::BrowserForward, "Go forward", "Went forward"),
        Way::Reload => (Call::BrowserReload, "Reload", "Reloaded"),
    };
    let text = (doing.to_owned(), done.to_owned());
    verb(host, page, call, text, json!({}), settings, |on| async move {
        let until = on.chosen().until()?;
        let there = match way {
            Way::Back => on.page.back_until(until, &on.call).await,
            Way::Forward => on.page.forward_until(until, &on.call).await,
            Way::Reload => on.page.reload_until(until, &on.call).await,
        };
        let there = there.map_err(contract)?;
        let seen = on.seen(there.url.clone());
        Ok(Done { seen: Some(seen), ..arrived(there, |text| on.seen(text)) })
    })
    .await
}

pub(super) async fn click(
    host: &mut Host,
    page: &Handle,
    locator: String,
    settings: Settings,
    double: bool,
) -> Outcome<()> {
    let (call, text) = if double {
        (Call::BrowserDblclick, words("Double click", "Double clicked", &locator))
    } else {
        (Call::BrowserClick, words("Click", "Clicked", &locator))
    };
    verb(host, page, call, text, json!({ "locator": locator }), settings, |on| async move {
        let options = on.chosen().click(double)?;
        on.page.click_with(&locator, &options, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn tap(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<()> {
    let text = words("Tap", "Tapped", &locator);
    verb(host, page, Call::BrowserTap, text, json!({ "locator": locator }), settings, |on| async move {
        on.page.tap(&locator, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn hover(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<()> {
    let text = words("Hover over", "Hovered over", &locator);
    verb(host, page, Call::BrowserHover, text, json!({ "locator": locator }), settings, |on| async move {
        on.page.hover(&locator, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn focus(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<()> {
    let text = words("Focus", "Focused", &locator);
    verb(host, page, Call::BrowserFocus, text, json!({ "locator": locator }), settings, |on| async move {
        on.page.focus(&locator, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn scroll_into_view(
    host: &mut Host,
    page: &Handle,
    locator: String,
    settings: Settings,
) -> Outcome<()> {
    let text = words("Scroll into view", "Scrolled into view", &locator);
    verb(host, page, Call::BrowserScrollIntoView, text, json!({ "locator": locator }), settings, |on| async move {
        on.page.scroll_into_view(&locator, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn drag(
    host: &mut Host,
    page: &Handle,
    source: String,
    target: String,
    settings: Settings,
) -> Outcome<()> {
    let text = words("Drag", "Dragged", &format!("{source} to {target}"));
    let args = json!({ "source": source, "target": target });
    verb(host, page, Call::BrowserDrag, text, args, settings, |on| async move {
        on.page.drag(&source, &target, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn scroll(
    host: &mut Host,
    page: &Handle,
    (right, down): (i32, i32),
    settings: Settings,
) -> Outcome<()> {
    let text = words("Scroll by", "Scrolled by", &format!("{right}, {down}"));
    let args = json!({ "right": right, "down": down });
    verb(host, page, Call::BrowserScroll, text, args, settings, |on| async move {
        let by = (f64::from(right), f64::from(down));
        on.page.scroll(on.chosen().text("locator"), by, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn press(host: &mut Host, page: &Handle, keys: String, settings: Settings) -> Outcome<()> {
    let (text, args) = (words("Press", "Pressed", &keys), json!({ "keys": keys }));
    verb(host, page, Call::BrowserPress, text, args, settings, |on| async move {
        let pressed = match on.chosen().text("only") {
            None => on.page.press(&keys, &on.call).await,
            Some("down") => on.page.key_down(&keys, &on.call).await,
            Some("up") => on.page.key_up(&keys, &on.call).await,
            Some(other) => return Err(error("invalid", format!("only must be down or up, not `{other}`")).into()),
        };
        pressed.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn on_dialog(
    host: &mut Host,
    page: &Handle,
    kind: String,
    action: String,
    settings: Settings,
) -> Outcome<()> {
    let text = words("Answer dialogs", "Answers dialogs", &format!("of kind {kind}: {action}"));
    let args = json!({ "kind": kind, "action": action });
    verb(host, page, Call::BrowserOnDialog, text, args, settings, |on| async move {
        let answer = match (action.as_str(), on.chosen().text("text")) {
            ("dismiss", None) => DialogAnswer::Dismiss,
            ("accept", None) => DialogAnswer::Accept,
            ("accept", Some(text)) => DialogAnswer::Text(text.to_owned()),
            ("dismiss", Some(_)) => return Err(error("invalid", "text goes with accept").into()),
            (other, _) => {
                return Err(error("invalid", format!("unknown action `{other}`: there are accept, dismiss")).into());
            }
        };
        let mut dialogs = on.page.dialogs();
        let Dialogs { alert, confirm, prompt, beforeunload } = &mut dialogs;
        let which = match kind.as_str() {
            "alert" => vec![alert],
            "confirm" => vec![confirm],
            "prompt" => vec![prompt],
            "beforeunload" => vec![beforeunload],
            "all" => vec![alert, confirm, prompt, beforeunload],
            other => {
                let known = "alert, confirm, prompt, beforeunload, all";
                return Err(error("invalid", format!("unknown kind of dialog `{other}`: there are {known}")).into());
            }
        };
        for one in which {
            *one = answer.clone();
        }
        on.page.set_dialogs(dialogs);
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn set_viewport(
    host: &mut Host,
    page: &Handle,
    (width, height): (u32, u32),
    settings: Settings,
) -> Outcome<()> {
    let text = words("Make the page", "Made the page", &format!("{width} x {height}"));
    let args = json!({ "width": width, "height": height });
    verb(host, page, Call::BrowserSetViewport, text, args, settings, |on| async move {
        let (scale, mobile) = on.chosen().screen()?;
        on.page.set_viewport((width, height), scale, mobile, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn set_offline(host: &mut Host, page: &Handle, offline: bool) -> Outcome<()> {
    let text = if offline { ("Go offline", "Went offline") } else { ("Go online", "Went online") };
    let text = (text.0.to_owned(), text.1.to_owned());
    verb(host, page, Call::BrowserSetOffline, text, json!({ "offline": offline }), vec![], |on| async move {
        on.page.set_offline(offline);
        Ok(Done::new(()))
    })
    .await
}
