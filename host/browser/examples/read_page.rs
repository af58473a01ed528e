//! Opens a page, prints it as text, and saves a picture of it.
//!
//! ```text
//! cargo run -p windlass-browser --example read_page -- https://example.com [picture.png]
//! ```
//!
//! The page may load from its own origin only; what it wanted besides is printed. As root, set `NO_SANDBOX=1`.

use std::sync::Arc;

use url::Url;
use windlass_browser::{
    Browser, Call, Config, Destination, Event, PageOptions, Policy, Shot, SnapshotOptions, Verdict,
};

/// One origin.
struct Only(Destination);

impl Policy for Only {
    fn allows(&self, destination: &Destination) -> Verdict {
        // A tunnel has no scheme.
        let same = destination.host == self.0.host && destination.port == self.0.port;
        if same { Verdict::Exact } else { Verdict::Denied }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("usage: read_page URL [PICTURE]")?;
    let own = Destination::of(&Url::parse(&address)?).ok_or("expected an http or https address")?;

    let profiles = std::env::temp_dir().join("windlass-read-page");
    let no_sandbox = std::env::var_os("NO_SANDBOX").is_some();
    let browser = Browser::new(Config { profiles, no_sandbox, ..Config::default() });
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let context = browser.context(Arc::new(Only(own)), sender).await?;

    let call = Call::default();
    let page = context.open(1, PageOptions::default(), &call).await?;
    let there = page.goto(&address, &call).await?;
    println!("{} answered {}\n", there.url, there.status);
    println!("{}", page.snapshot(&SnapshotOptions::default(), &call).await?);
    if let Some(picture) = arguments.next() {
        std::fs::write(picture, page.screenshot(Shot::default(), &call).await?.bytes)?;
    }
    while let Ok(event) = events.try_recv() {
        if let Event::Blocked { origin, reason, .. } = event {
            println!("not loaded: {origin} ({reason})");
        }
    }
    browser.shutdown().await;
    Ok(())
}
