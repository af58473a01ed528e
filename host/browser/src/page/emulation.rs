//! How a page presents itself: the calls that make a tab look as its options ask.

use serde_json::{Value, json};

use crate::call::Deadline;
use crate::cdp::connection::Answer;
use crate::error::Error;
use crate::options::{ColorScheme, PageOptions};
use crate::tab::Tab;

/// What every session of a page needs, before anything runs in it.
pub(crate) fn prepare(tab: &Tab, session: &str) {
    tab.post_in(session, "Page.enable", &json!({}));
    tab.post_in(session, "Runtime.enable", &json!({}));
    // Bodies are not asked for: without a buffer Chromium does not keep them.
    tab.post_in(session, "Network.enable", &json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}));
    // A page in the background would get no frames, and every wait in it would stand still.
    tab.post_in(session, "Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
    // Frames of other sites, where they have processes of their own. Workers wait, too, and have to be told to go on: one
    // that a filter left out would wait for ever (measured).
    let frames = json!([{"type": "page", "exclude": true}, {"type": "tab", "exclude": true}, {}]);
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": frames});
    tab.post_in(session, "Target.setAutoAttach", &attach);
}

/// How large a page is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    /// Width and height in CSS pixels.
    pub(super) size: (u32, u32),
    pub(super) scale: f64,
    pub(super) mobile: bool,
}

impl Screen {
    pub(super) fn of(options: &PageOptions) -> Self {
        Self { size: options.viewport, scale: options.scale, mobile: options.mobile }
    }

    pub(super) fn metrics(self) -> Value {
        let Self { size: (width, height), scale, mobile } = self;
        json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile,
            "screenWidth": width, "screenHeight": height,
        })
    }
}

/// The calls for a page; what they answer can say that an option is wrong.
pub(crate) fn emulate(tab: &Tab, options: &PageOptions) -> Emulation {
    tab.post("Emulation.setDeviceMetricsOverride", &Screen::of(options).metrics());
    emulate_frame(tab, &tab.session, options);
    if let Some(place) = options.geolocation {
        let position = json!({
            "latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy,
        });
        tab.post("Emulation.setGeolocationOverride", &position);
        let grant = json!({"permissions": ["geolocation"], "browserContextId": tab.context});
        tab.post_to_browser("Browser.grantPermissions", &grant);
    }
    Emulation {
        locale: tab.send("Emulation.setLocaleOverride", &json!({"locale": options.locale})),
        time_zone: tab.send("Emulation.setTimezoneOverride", &json!({"timezoneId": options.time_zone})),
    }
}

/// What a frame in a process of its own needs as well.
pub(crate) fn emulate_frame(tab: &Tab, session: &str, options: &PageOptions) {
    let agent = options.user_agent.as_deref().unwrap_or_default();
    let mut params = json!({"userAgent": agent, "acceptLanguage": options.locale});
    if let Some(metadata) = brands(agent, options.mobile) {
        params["userAgentMetadata"] = metadata;
    }
    tab.post_in(session, "Emulation.setUserAgentOverride", &params);
    if options.touch {
        tab.post_in(session, "Emulation.setTouchEmulationEnabled", &json!({"enabled": true, "maxTouchPoints": 5}));
    }
    if let Some(scheme) = options.color_scheme {
        let value = match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        tab.post_in(session, "Emulation.setEmulatedMedia", &features);
    }
    if options.offline {
        set_offline(tab, session, true);
    }
    if !options.headers.is_empty() {
        let headers: serde_json::Map<String, Value> =
            options.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
        tab.post_in(session, "Network.setExtraHTTPHeaders", &json!({"headers": headers}));
    }
    if options.credentials.is_some() {
        tab.post_in(session, "Fetch.enable", &json!({"patterns": [{"urlPattern": "*"}], "handleAuthRequests": true}));
    }
    if *session != *tab.session {
        tab.post_in(session, "Emulation.setLocaleOverride", &json!({"locale": options.locale}));
        tab.post_in(session, "Emulation.setTimezoneOverride", &json!({"timezoneId": options.time_zone}));
    }
}

pub(super) fn set_offline(tab: &Tab, session: &str, offline: bool) {
    let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    tab.post_in(session, "Network.emulateNetworkConditions", &conditions);
}

/// Client hints that fit the user agent: without them a page would see none, which no browser does.
fn brands(agent: &str, mobile: bool) -> Option<Value> {
    let version = agent.split("Chrome/").nth(1)?.split([' ', '.']).next()?;
    let brands = json!([{"brand": "Chromium", "version": version}, {"brand": "Not)A;Brand", "version": "8"}]);
    let platform = match agent {
        agent if agent.contains("Android") => "Android",
        agent if agent.contains("Windows") => "Windows",
        agent if agent.contains("Mac OS X") => "macOS",
        _ => "Linux",
    };
    Some(json!({
        "brands": brands, "platform": platform, "platformVersion": "", "architecture": "x86", "model": "", "mobile": mobile,
    }))
}

/// Options whose values only Chromium can judge.
pub(crate) struct Emulation {
    locale: Answer,
    time_zone: Answer,
}

impl Emulation {
    pub(crate) async fn check(self, tab: &Tab, options: &PageOptions, deadline: &Deadline) -> Result<(), Error> {
        let answers = [(self.locale, "locale", &options.locale), (self.time_zone, "time-zone", &options.time_zone)];
        for (answer, name, value) in answers {
            let answer = tab.answer::<Value>(answer, "the page to open", deadline).await?;
            if let Err(failure) = answer {
                let message = failure.to_string();
                // A renderer has one locale, so two pages of one context share the first one's.
                if !message.contains("already in effect") {
                    return Err(Error::invalid(format!("{name} `{value}` is unknown to Chromium: {message}")));
                }
            }
        }
        Ok(())
    }
}
