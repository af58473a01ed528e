//! Downloads into the workdir, waits, and reads the file again.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Files {
    url: String,
}

#[derive(Serialize, Schema)]
struct Read {
    text: String,
}

/// Downloads, asks, reads.
#[windlass::tool(permissions("browser *", "workdir"))]
fn browser_files(Files { url }: Files) -> Result<Read> {
    {
        let page = browser::open().page()?;
        page.goto(&url)?;
        page.click("#report")?;
        page.with(Settings::new().path("/workdir/got.csv")).wait_for_download()?;
    }
    confirm("held", "Go on?")?;
    Ok(Read { text: std::fs::read_to_string(workdir::path("got.csv"))? })
}

windlass::plugin! {
    name: "browser_files",
    description: "Downloads into the workdir.",
    tools: [browser_files],
}
