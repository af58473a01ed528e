//! Two turns with all that a crash may come between: a file, a request that must not be sent twice, a sleep, a question,
//! and what is left for the next turn. After `interrupted` it looks before it sends again.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::time::Duration;
use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Errand {
    shop: String,
    name: String,
}

#[derive(Serialize, Schema)]
struct Run {
    /// Lines of the file, as the turn leaves it.
    lines: Vec<String>,
    /// What the shop has counted.
    errands: u64,
}

#[derive(Deserialize)]
struct Count {
    errands: u64,
}

fn counted(url: &str) -> Result<u64> {
    Ok(http::get(url).send()?.success()?.json::<Count>()?.errands)
}

/// Once, whatever becomes of the host: the count tells whether it arrived.
fn send(url: &str) -> Result<u64> {
    let before = counted(url)?;
    loop {
        match http::post(url).send() {
            Ok(answer) => return Ok(answer.success()?.json::<Count>()?.errands),
            Err(error) if error.code() == "interrupted" => match counted(url)? {
                now if now > before => return Ok(now),
                _ => info!("It did not arrive"),
            },
            Err(error) => return Err(error),
        }
    }
}

fn note(line: &str) -> Result<Vec<String>> {
    let path = workdir::path("errands.txt");
    writeln!(OpenOptions::new().append(true).create(true).open(&path)?, "{line}")?;
    let lines: Vec<String> = fs::read_to_string(&path)?.lines().map(str::to_owned).collect();
    println!("{}", lines.join(", "));
    Ok(lines)
}

/// Runs an errand, and asks before it ends; the next turn runs another.
#[windlass::tool(permissions("http *", "workdir"))]
fn crash_errand(Errand { shop, name }: Errand) -> Result<Outcome<Run>> {
    let number = turn().number;
    note(&format!("turn {number} begins"))?;
    let errands = send(&format!("{shop}/api/errands/{name}"))?;
    sleep(Duration::from_millis(20))?;
    if number == 1 {
        confirm("go-on", "Go on?")?;
    }
    state::set("errands", &errands)?;
    let lines = note(&format!("turn {number} ran {errands}"))?;
    let outcome = Outcome::new(Run { lines, errands });
    Ok(if number == 1 { outcome.question("Another?") } else { outcome })
}

windlass::plugin! {
    name: "crash_errand",
    description: "Runs errands.",
    tools: [crash_errand],
}
