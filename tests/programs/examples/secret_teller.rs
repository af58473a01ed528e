//! Is shown a secret, and lets it out in every way there is beside the log.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Tell {
    /// outcome, question, failure, panic, name, ask or progress.
    how: String,
}

#[derive(Serialize, Schema)]
struct Told {
    said: String,
    number: u32,
}

/// Tells a secret.
#[windlass::tool(permissions("reveal shop-token"))]
fn secret_teller(Tell { how }: Tell) -> Result<Outcome<Told>> {
    let value = secrets::reveal("shop-token")?;
    let told = |said: &str| Outcome::new(Told { said: said.to_owned(), number: 1 });
    match how.as_str() {
        "outcome" => Ok(told(&value).text(format!("It says {value}."))),
        "question" => Ok(told(&value).question(format!("Is {value} right?"))),
        "failure" => {
            Err(Error::new("told", format!("it says {value}")).with_details(serde_json::json!({ "value": value })))
        }
        "panic" => panic!("it says {value}"),
        "name" => {
            let file = artifacts::save(format!("{value}.txt"), "text/plain", "nothing")?;
            Ok(told(&file.name))
        }
        "ask" => {
            let answer = confirm("right", format!("Is {value} right?"))?;
            Ok(told(if answer { "yes" } else { "no" }))
        }
        _ => {
            progress(1, 2, format!("with {value}"));
            Ok(told("progress"))
        }
    }
}

windlass::plugin! {
    name: "secret_teller",
    description: "Can't keep a secret.",
    tools: [secret_teller],
}
