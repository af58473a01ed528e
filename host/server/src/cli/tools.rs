//! `windlass tools`.

use super::render::{print_json, shown};
use super::{Context, Fail};
use serde_json::Value;
use windlass_core::text::for_terminal;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Show one with the schema of its input
    name: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<u8, Fail> {
    let answer = context.client().await?.get("/api/v1/tools").await?;
    let tools = answer["tools"].as_array().cloned().unwrap_or_default();
    let Some(name) = args.name else {
        list(context, &tools);
        return Ok(0);
    };
    let known: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let Some(tool) = tools.iter().find(|tool| tool["name"] == *name) else {
        let message = format!("there is no tool `{name}`; there are {}", known.join(", "));
        return Err(Fail { exit: 3, message, problem: None });
    };
    if context.json {
        print_json(tool);
    } else {
        one(context, tool);
    }
    Ok(0)
}

fn list(context: &Context, tools: &[Value]) {
    let width = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::len).max().unwrap_or(0);
    for tool in tools {
        if context.json {
            print_json(tool);
            continue;
        }
        let name = format!("{:width$}", tool["name"].as_str().unwrap_or(""));
        let first = tool["description"].as_str().and_then(|text| text.lines().next()).unwrap_or("");
        println!("{}  {}", context.look.out.bold(&name), for_terminal(first, false));
    }
    if tools.is_empty() && !context.json {
        println!("No tool can be called: add a plugin with `{}`.", context.hints.command("plugin add FILE"));
    }
}

fn one(context: &Context, tool: &Value) {
    let out = &context.look.out;
    println!("{}  {}", out.bold(&shown(&tool["name"])), out.dim(&format!("of plugin {}", shown(&tool["plugin"]))));
    println!("{}", for_terminal(tool["description"].as_str().unwrap_or(""), true));
    let schema = &tool["inputSchema"];
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = property["type"].as_str().unwrap_or("value");
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let note = out.dim(&format!("({kind}{must})"));
        println!("  {}=…  {note} {}", shown(&name.as_str().into()), shown(&property["description"]));
    }
    println!("{}", out.dim(&for_terminal(&format!("{schema:#}"), true)));
}
