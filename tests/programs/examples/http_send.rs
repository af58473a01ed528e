//! Sends requests one after the other, and tells what came of each.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Send {
    /// JSON list of requests: `method`, `url`, `headers` (pairs), `secret` (header, name, prefix), `body`, `settings`.
    requests: String,
    /// A secret to be shown first.
    reveal: Option<String>,
    /// Asks between the requests and the end.
    #[schema(default = false)]
    ask: bool,
}

#[derive(Deserialize)]
#[serde(default)]
struct Wanted {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    secret: Option<(String, String, String)>,
    body: String,
    settings: Vec<(String, String)>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            method: "GET".into(),
            url: String::new(),
            headers: vec![],
            secret: None,
            body: String::new(),
            settings: vec![],
        }
    }
}

#[derive(Serialize, Schema)]
struct Sent {
    /// `200 url length body` or `code grant message`.
    answers: Vec<String>,
    /// What the secret says, twice as long: so that no mask knows it.
    revealed: Option<usize>,
}

fn send(wanted: Wanted) -> Result<http::Response> {
    let mut request = http::request(wanted.method, wanted.url).body(wanted.body);
    for (name, value) in wanted.headers {
        request = request.header(name, value);
    }
    if let Some((header, name, prefix)) = wanted.secret {
        request = request.secret(header, name, prefix);
    }
    for (name, value) in wanted.settings {
        request = request.set(name, value);
    }
    request.send()
}

/// Sends requests.
#[windlass::tool(permissions("http *", "secret shop-token", "reveal shop-token"))]
fn http_send(Send { requests, reveal, ask }: Send) -> Result<Sent> {
    let mut revealed = None;
    if let Some(name) = reveal {
        let value = secrets::reveal(name)?;
        info!("The secret says {value}"; value = value.as_str());
        println!("and again {value}");
        status(format!("holding {value}"));
        revealed = Some(value.len());
    }
    let mut answers = Vec::new();
    for wanted in serde_json::from_str::<Vec<Wanted>>(&requests)? {
        answers.push(match send(wanted) {
            Ok(answer) => {
                let text: String = answer.text().chars().take(200).collect();
                format!("{} {} {} {text}", answer.status, answer.url, answer.body.len())
            }
            Err(error) => {
                let grant = error.details().and_then(|d| d["grant"].as_str()).unwrap_or("-").to_owned();
                format!("{} {grant} {}", error.code(), error.message())
            }
        });
    }
    if ask {
        confirm("go-on", "Go on?")?;
    }
    Ok(Sent { answers, revealed })
}

windlass::plugin! {
    name: "http_send",
    description: "Sends requests.",
    tools: [http_send],
}
