//! Ends with a page in one of the ways in which a task can end, and tidies nothing up.

use std::mem;
use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Soak {
    shop: String,
    way: Way,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Way {
    Done,
    Failed,
    Trap,
    Spin,
    Wait,
    Ask,
    Crash,
    Left,
    Popup,
    Taken,
    Download,
}

fn said<T: ToString>(result: Result<T>) -> Result<String> {
    match result {
        Ok(value) => Ok(value.to_string()),
        Err(error) if error.is(code::CANCELLED) => Err(error),
        Err(error) => Ok(error.code().to_owned()),
    }
}

/// Ends in this way; says the title of its page, or the code of the error that it got for it.
#[windlass::tool(permissions("browser *"))]
fn soak_pages(Soak { shop, way }: Soak) -> Result<String> {
    let page = browser::open().page()?;
    page.goto(format!("{shop}/verbs"))?;
    match way {
        Way::Done => {
            page.screenshot("page.png")?;
            said(page.title())
        }
        Way::Failed => bail!("it failed on purpose"),
        Way::Trap => panic!("on purpose"),
        Way::Spin => loop {
            std::hint::black_box(());
        },
        Way::Wait => {
            let patient = Settings::new().timeout(Duration::from_secs(600));
            page.with(patient).wait_for("#never", Until::Visible).map(|()| "it came".into())
        }
        Way::Ask => {
            confirm("held", "Go on?")?;
            said(page.title())
        }
        Way::Crash => {
            let grow = "() => { const all = []; for (;;) all.push(new Array(100000).fill(all.length + 0.5)) }";
            said(page.evaluate::<u32>(grow, ()))
        }
        Way::Left => {
            let title = said(page.title());
            mem::forget(page);
            title
        }
        Way::Popup => {
            page.click("#popup")?;
            said(page.title())
        }
        Way::Taken => {
            page.click("#popup")?;
            let popup = page.wait_for_popup()?;
            popup.wait_for_text("This is the popup")?;
            let title = said(popup.title());
            mem::forget((page, popup));
            title
        }
        Way::Download => {
            page.click("#report")?;
            said(page.title())
        }
    }
}

windlass::plugin! {
    name: "soak_pages",
    description: "Ends with a page in every way.",
    tools: [soak_pages],
}
