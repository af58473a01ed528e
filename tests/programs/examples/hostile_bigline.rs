//! Lines of ten megabytes, in every way a line can be written; and characters that do things to terminals.

use windlass::prelude::*;

const SIZE: usize = 10 << 20;

/// Writes very long lines.
#[windlass::tool]
fn hostile_bigline() -> Result<()> {
    let line = "x".repeat(SIZE);
    info!("\x1b[2J\x1b]0;owned\x07 \u{202e}backwards\u{202c} \r\n\tand <b>bold</b>"; field = "\x1b[31m");
    info!("{line}");
    info!("A long field"; field = line);
    println!("{line}");
    eprintln!("{line}");
    emit_last("long", line);
    status("s".repeat(5_000));
    Ok(())
}

windlass::plugin! {
    name: "hostile_bigline",
    description: "Writes very long lines.",
    tools: [hostile_bigline],
}
