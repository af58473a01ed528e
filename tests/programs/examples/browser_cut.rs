//! Stands in the middle of one call of each class when the host goes.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Cut {
    url: String,
    /// Which call.
    call: String,
}

#[derive(Serialize, Schema)]
struct Told {
    /// Code of the error, or "done".
    call: String,
    look: String,
}

/// Waits in a call.
#[windlass::tool(permissions("browser *"))]
fn browser_cut(Cut { url, call }: Cut) -> Result<Told> {
    let page = browser::open().page()?;
    page.goto(&url)?;
    let patient = page.with(Settings::new().timeout(Duration::from_secs(600)));
    let forever = "() => new Promise(() => {})";
    let done = match call.as_str() {
        "evaluate" => patient.evaluate::<()>(forever, ()),
        "repeatable" => {
            page.with(Settings::new().timeout(Duration::from_secs(600)).repeatable()).evaluate::<()>(forever, ())
        }
        "check" => patient.check("#never"),
        "upload" => patient.upload("#never", &[]),
        "drag" => patient.drag("#never", "#never"),
        "wait-for-popup" => patient.wait_for_popup().map(drop),
        "wait-for-download" => patient.wait_for_download().map(drop),
        "wait-for-text" => patient.wait_for_text("never to be read"),
        "attribute" => patient.attribute("#never", "id").map(drop),
        other => bail!("unknown call {other}"),
    };
    let code = |result: Result<()>| result.map_or_else(|error| error.code().to_owned(), |()| "done".to_owned());
    Ok(Told { call: code(done), look: code(page.title().map(drop)) })
}

windlass::plugin! {
    name: "browser_cut",
    description: "Waits in a call.",
    tools: [browser_cut],
}
