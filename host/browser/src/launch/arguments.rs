//! The command line. Each group says what it is for; a flag without a reason does not belong here.

use std::ffi::OsString;
use std::path::Path;

/// Chromium makes no request of its own and keeps its hands off the machine.
const QUIET: &[&str] = &[
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--safebrowsing-disable-auto-update",
    "--password-store=basic",
    "--use-mock-keychain",
];

/// What would let a page's bytes past the fence of its context.
const FENCE: &[&str] = &[
    // Outside a context of ours there is no proxy to ask, so there is no network at all. Port 1 has
    // no listener.
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    // Names are resolved by the fence; a lookup by Chromium could only be a leak.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    // UDP knows no proxy. The first switch is the headless shell's, the second the full browser's
    // (measured).
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// A page behaves the same whether somebody looks or not, and on every machine.
const STEADY: &[&str] = &[
    // Else a click on a document that was not painted yet is dropped without a word.
    "--allow-pre-commit-input",
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-hang-monitor",
    // The headless shell has no blocker; popups are limited by number.
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
];

/// `HttpsUpgrades` would turn a granted `http` into a blocked `https`. The full Chromium would keep a renderer for
/// the suggestions below each window's address bar (`WebUIOmnibox…`), which nobody sees (measured on 156). The others
/// fetch something, or ask somebody. `SpareRendererForSitePerProcess` stays on: it keeps one renderer ready for the next
/// site.
const FEATURES_OFF: &str = "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,\
     DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,InterestFeedContentSuggestions,MediaRouter,\
     NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,Translate,\
     WebUIOmniboxAimPopup,WebUIOmniboxPopup";

pub(super) fn arguments(executable: &Path, profile: &Path, no_sandbox: bool, script_memory: u32) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--remote-debugging-pipe".into(), FEATURES_OFF.into()];
    for group in [QUIET, FENCE, STEADY] {
        arguments.extend(group.iter().map(OsString::from));
    }
    let shell = executable.file_name().is_some_and(|name| name.to_string_lossy().contains("headless-shell"));
    if shell {
        arguments.push("--headless".into());
    } else {
        arguments.extend(["--headless=new".into(), "--no-startup-window".into()]);
    }
    arguments.push(format!("--js-flags=--max-old-space-size={}", script_memory.max(64)).into());
    if no_sandbox {
        arguments.push("--no-sandbox".into());
    }
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile);
    arguments.push(folder);
    arguments
}
