//! Waits, and tidies up when it is cancelled.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Wait {
    /// What it waits in.
    #[schema(default = "sleep")]
    r#in: Place,
    /// Return an outcome all the same: then the task has completed.
    #[schema(default = false)]
    complete: bool,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Place {
    Sleep,
    Ask,
    Loop,
}

fn wait(place: &Place) -> Result<()> {
    match place {
        Place::Sleep => sleep(Duration::from_secs(3600)),
        Place::Ask => confirm("wait", "Answer or cancel.").map(|_| ()),
        Place::Loop => {
            while !is_cancelled() {}
            Err(Error::new(code::CANCELLED, "seen by polling"))
        }
    }
}

/// Waits to be cancelled.
#[windlass::tool]
fn polite_cancel(input: Wait) -> Result<String> {
    info!("Waiting");
    match wait(&input.r#in) {
        Err(error) if error.is(code::CANCELLED) => {
            info!("Tidying up"; cancelled = is_cancelled());
            artifacts::save("tidy.txt", "text/plain", "all is tidy")?;
            state::set("tidy", &true)?;
            if input.complete { Ok("tidied up".into()) } else { Err(error) }
        }
        other => other.map(|()| "nobody cancelled".into()),
    }
}

windlass::plugin! {
    name: "polite_cancel",
    description: "Tidies up when it is cancelled.",
    tools: [polite_cancel],
}
