//! Works with files, one step after the other, and tells what came of each.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Work {
    /// JSON list of steps, each a list of texts: `["write", "a.txt", "hello"]`.
    steps: String,
}

#[derive(Serialize, Schema)]
struct Worked {
    /// A line a step.
    seen: Vec<String>,
}

fn step(words: &[&str]) -> Result<String> {
    let at = |path: &str| if path.starts_with('/') { path.into() } else { workdir::path(path) };
    let done =
        |result: io::Result<()>| Ok(result.map_or_else(|error| format!("{:?}", error.kind()), |()| "ok".to_owned()));
    match words {
        ["write", path, text] => done(fs::write(at(path), text)),
        ["append", path, text] => done(
            OpenOptions::new().append(true).create(true).open(at(path)).and_then(|mut f| f.write_all(text.as_bytes())),
        ),
        ["read", path] => Ok(fs::read_to_string(at(path)).unwrap_or_else(|error| format!("{:?}", error.kind()))),
        ["list", path] => {
            let names = fs::read_dir(at(path)).map(|all| {
                all.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
                    .collect::<io::Result<Vec<_>>>()
            });
            Ok(names
                .and_then(|names| names)
                .map_or_else(|error| format!("{:?}", error.kind()), |names| names.join(" ")))
        }
        ["mkdir", path] => done(fs::create_dir_all(at(path))),
        ["remove", path] => done(fs::remove_file(at(path))),
        ["rename", from, to] => done(fs::rename(at(from), at(to))),
        ["link", from, to] => done(fs::hard_link(at(from), at(to))),
        ["stat", path] => Ok(match fs::metadata(at(path)) {
            Ok(stat) => format!("{} {:?}", stat.len(), stat.modified()?),
            Err(error) => format!("{:?}", error.kind()),
        }),
        ["grow", path, bytes] => {
            let grow = || {
                OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(at(path))?
                    .set_len(bytes.parse().unwrap_or(0))
            };
            done(grow())
        }
        ["hole", path, bytes] => {
            let hole = || {
                let mut file = fs::File::create(at(path))?;
                file.seek(SeekFrom::Start(bytes.parse().unwrap_or(0)))?;
                file.write_all(b"x")
            };
            done(hole())
        }
        ["fill", path, bytes] => {
            let fill = || {
                let mut file = fs::File::create(at(path))?;
                for _ in 0..bytes.parse::<usize>().unwrap_or(0) / 4096 {
                    file.write_all(&[7; 4096])?;
                }
                file.flush()
            };
            done(fill())
        }
        ["many", count] => {
            let mut made = 0;
            while made < count.parse().unwrap_or(0) && fs::write(at(&format!("many-{made}")), "").is_ok() {
                made += 1;
            }
            Ok(made.to_string())
        }
        ["deep", count] => {
            let (mut path, mut made) = (at("deep"), 0);
            while made < count.parse().unwrap_or(0) && fs::create_dir(&path).is_ok() {
                path.push("d");
                made += 1;
            }
            Ok(made.to_string())
        }
        ["save", path, name] => Ok(match artifacts::save_file(at(path), name, "text/plain") {
            Ok(artifact) => format!("{} {}", artifact.id, artifact.size),
            Err(error) => error.code().to_owned(),
        }),
        ["ask"] => Ok(confirm("go-on", "Go on?")?.to_string()),
        other => bail!("no step {other:?}"),
    }
}

/// Works with files.
#[windlass::tool(permissions("workdir"))]
fn files_work(Work { steps }: Work) -> Result<Outcome<Worked>> {
    let steps = match &turn().message {
        Some(message) => message.text.clone(),
        None => steps,
    };
    let mut seen = Vec::new();
    for words in serde_json::from_str::<Vec<Vec<String>>>(&steps)? {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let line = step(&words)?;
        // Shown, and so compared in a replay.
        println!("{} {line}", words.join(" ").chars().take(80).collect::<String>());
        seen.push(line);
    }
    Ok(Outcome::new(Worked { seen }).question("What next?"))
}

windlass::plugin! {
    name: "files_work",
    description: "Works with files.",
    tools: [files_work],
}
