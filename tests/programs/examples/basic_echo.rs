//! The least a tool can do: what a turn costs without its work.

use windlass::prelude::*;

#[derive(Deserialize, Serialize, Schema)]
struct Echo {
    #[schema(default = "")]
    text: String,
}

/// Returns its input.
#[windlass::tool(read_only)]
fn basic_echo(input: Echo) -> Result<Echo> {
    Ok(input)
}

windlass::plugin! {
    name: "basic_echo",
    description: "Returns its input.",
    tools: [basic_echo],
}
