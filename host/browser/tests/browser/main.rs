//! Integration tests: a real Chromium against a server of our own.

// Helpers too: what they unwrap is the test's to fail on.
#![allow(clippy::unwrap_used)]

mod acting;
mod complaints;
mod dialogs;
mod emulation;
mod escapes;
mod fence;
mod guide;
mod habits;
mod life;
mod locating;
mod navigation;
mod processes;
mod reaching;
mod reading;
mod secrets;
mod site;
mod snapshots;
mod speed;
mod standstill;
mod table;
mod verbs;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;
use tokio::sync::mpsc;
use windlass_browser::{
    Browser, Call, Code, Config, Context, Destination, Error, Event, Image, Page, PageOptions, Policy, Verdict,
};

use site::Site;

/// Grants origins literally, and whatever else by its default.
pub(crate) struct Grants {
    exact: Mutex<Vec<String>>,
    others: Verdict,
}

impl Policy for Grants {
    fn allows(&self, destination: &Destination) -> Verdict {
        let exact = self.exact.lock().unwrap();
        let same_port = |origin: &String| {
            destination.scheme.is_none() && origin.ends_with(&format!("{}:{}", destination.host, destination.port))
        };
        if exact.iter().any(|origin| *origin == destination.origin() || same_port(origin)) {
            Verdict::Exact
        } else {
            self.others
        }
    }
}

impl Grants {
    pub(crate) fn new(exact: &[String], others: Verdict) -> Arc<Grants> {
        Arc::new(Grants { exact: Mutex::new(exact.to_vec()), others })
    }

    pub(crate) fn allow(&self, origin: &str) {
        self.exact.lock().unwrap().push(origin.to_owned());
    }

    pub(crate) fn is_granted(&self, origin: &str) -> bool {
        self.exact.lock().unwrap().iter().any(|granted| granted == origin)
    }

    pub(crate) fn revoke(&self) {
        self.exact.lock().unwrap().clear();
    }
}

pub(crate) struct World {
    pub(crate) browser: Browser,
    pub(crate) site: Site,
    pub(crate) context: Context,
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    pub(crate) grants: Arc<Grants>,
    pub(crate) profiles: TempDir,
}

pub(crate) fn config(profiles: &TempDir) -> Config {
    Config {
        // Root needs it; everybody else tests the sandbox, too.
        no_sandbox: rustix::process::geteuid().is_root(),
        profiles: profiles.path().into(),
        executable: std::env::var_os("WINDLASS_TEST_BROWSER").map(PathBuf::from),
        ..Config::default()
    }
}

impl World {
    pub(crate) async fn new() -> World {
        World::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> World {
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_test_writer()
            .try_init();
        let profiles = tempfile::tempdir().unwrap();
        let mut config = config(&profiles);
        change(&mut config);
        let browser = Browser::new(config);
        let site = Site::start().await;
        let grants = Grants::new(&[site.origin()], Verdict::Denied);
        let (sender, events) = mpsc::unbounded_channel();
        let context = browser.context(Arc::clone(&grants) as _, sender).await.unwrap();
        World { browser, site, context, events, grants, profiles }
    }

    pub(crate) async fn open(&self, id: u32) -> Page {
        self.context.open(id, PageOptions::default(), &call()).await.unwrap()
    }

    /// A world with a page that shows `html`.
    pub(crate) async fn showing(html: &str) -> (World, Page) {
        let world = World::new().await;
        let page = world.open(1).await;
        page.goto(&world.site.page("/", html), &call()).await.unwrap();
        (world, page)
    }

    pub(crate) async fn event(&mut self) -> Event {
        tokio::time::timeout(Duration::from_secs(10), self.events.recv()).await.expect("an event within 10 s").unwrap()
    }
}

pub(crate) fn call() -> Call {
    Call::new(Duration::from_secs(20))
}

pub(crate) fn within(millis: u64) -> Call {
    Call::new(Duration::from_millis(millis))
}

/// Two pictures of the same, but for what a renderer makes of an edge between two pixels: a shade or two.
pub(crate) async fn assert_alike(world: &World, one: &Image, another: &Image, what: &str) {
    if one == another {
        return;
    }
    let difference = "async texts => {
        const [one, another] = await Promise.all(texts.map(async text => {
            const image = new Image();
            image.src = `data:image/png;base64,${text}`;
            await image.decode();
            const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height);
        }));
        if (one.width !== another.width || one.height !== another.height) return 255;
        return one.data.reduce((most, value, at) => Math.max(most, Math.abs(value - another.data[at])), 0);
    }";
    let page = world.open(999).await;
    let texts = serde_json::json!([STANDARD.encode(&one.bytes), STANDARD.encode(&another.bytes)]);
    let most = page.evaluate(difference, &texts, &call()).await.unwrap();
    assert!(most.as_u64().is_some_and(|most| most < 8), "{what}: they differ by {most} of 255");
    page.close(&call()).await.unwrap();
}

#[track_caller]
pub(crate) fn assert_code<T: std::fmt::Debug>(result: Result<T, Error>, code: Code) -> Error {
    let error = result.expect_err("the call must fail");
    assert_eq!(error.code, code, "{error}");
    error
}
