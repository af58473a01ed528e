//! Files: kept and read again, twice under one name, under names that are none.

use windlass::prelude::*;

#[derive(Serialize, Schema)]
struct Saved {
    ids: Vec<String>,
    sizes: Vec<u64>,
    read_back: String,
    binary_back: bool,
    /// Name and error code.
    refused: Vec<String>,
    missing: String,
}

fn code_of<T>(result: Result<T>) -> String {
    result.map_or_else(|error| error.code().to_owned(), |_| "accepted".to_owned())
}

/// Saves files and reads them.
#[windlass::tool]
fn basic_artifacts() -> Result<Saved> {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    let saved = [
        artifacts::save("note.txt", "text/plain", "first")?,
        artifacts::save("note.txt", "text/plain", "second")?,
        artifacts::save("bytes.bin", "application/octet-stream", &bytes)?,
        artifacts::save("empty", "text/plain", "")?,
    ];
    let names = ["", "../up", "a/b", "a\\b", "sp ace", "nul\0", "ümlaut", ".", "..", &"x".repeat(129)];
    let refused = names.map(|name| {
        let shown: String = name.chars().take(12).collect();
        format!("{shown:?} {}", code_of(artifacts::save(name, "text/plain", "never")))
    });
    Ok(Saved {
        read_back: String::from_utf8(artifacts::read(&saved[1].id)?)?,
        binary_back: artifacts::read(&saved[2].id)? == bytes,
        missing: code_of(artifacts::read("no-such-file")),
        refused: refused.to_vec(),
        ids: saved.iter().map(|artifact| artifact.id.clone()).collect(),
        sizes: saved.iter().map(|artifact| artifact.size).collect(),
    })
}

windlass::plugin! {
    name: "basic_artifacts",
    description: "Saves files.",
    tools: [basic_artifacts],
}
