//! `windlass tasks …`.

use super::session::{Session, exit_of};
use super::{Context, fields, render};
use crate::client::{Client, Fail, json};
use render::{Line, Place, print_json, shown};
use reqwest::Method;
use serde_json::{Map, Value, json};
use windlass_core::text::for_terminal;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Lists tasks, newest first
    List(List),
    /// Shows one task with its input, questions, outcome and files
    Show {
        /// The task
        id: String,
    },
    /// Prints the log of a task
    Logs(Logs),
    /// Answers an open question
    Input(Input),
    /// Sends a message: to the open turn, else as a further turn, which runs the tool again with the same input
    Continue {
        /// The task
        id: String,
        /// What to say
        text: String,
    },
    /// Asks a task to stop
    Cancel {
        /// The task
        id: String,
    },
    /// Puts a task aside
    Archive {
        /// The task
        id: String,
    },
    /// Takes a task back
    Unarchive {
        /// The task
        id: String,
    },
    /// Deletes a task with its log and files
    Delete {
        /// The task
        id: String,
    },
    /// Runs a turn again that waits for an operator
    Retry {
        /// The task
        id: String,
    },
    /// Gives up a turn that waits for an operator
    Fail {
        /// The task
        id: String,
        /// Why
        #[arg(long)]
        message: Option<String>,
    },
}

#[derive(clap::Args)]
pub(super) struct List {
    /// Only those that show this status
    #[arg(long, value_parser = ["working", "input_required", "completed", "failed", "cancelled"])]
    status: Option<String>,
    /// Only calls of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Those put aside, instead of the others
    #[arg(long)]
    archived: bool,
    /// With those put aside
    #[arg(long, conflicts_with = "archived")]
    all: bool,
    /// Only where title, tool or id have this text
    #[arg(long, short)]
    query: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
}

#[derive(clap::Args)]
pub(super) struct Logs {
    /// The task
    id: String,
    /// Stay until no turn is open; asks at the terminal what the task asks
    #[arg(long, short)]
    follow: bool,
    /// Only records after this seq
    #[arg(long, default_value_t = 0)]
    after: u32,
}

#[derive(clap::Args)]
pub(super) struct Input {
    /// The task
    id: String,
    /// Fields of the form, typed by its schema
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    /// The question, where more than one is open
    #[arg(long)]
    key: Option<String>,
    /// The whole form as JSON; @FILE reads a file, - standard input
    #[arg(long, value_name = "JSON")]
    answer: Option<String>,
    /// Say no
    #[arg(long, conflicts_with_all = ["dismiss", "answer", "fields"])]
    decline: bool,
    /// Dismiss the question without an answer
    #[arg(long, conflicts_with_all = ["answer", "fields"])]
    dismiss: bool,
}

pub(super) async fn run(context: &Context, command: Command) -> Result<u8, Fail> {
    let client = context.client().await?;
    match command {
        Command::List(args) => list(context, &client, args).await,
        Command::Show { id } => show(context, &client.get(&path(&id, "")?).await?),
        Command::Logs(args) => logs(context, client, args).await,
        Command::Input(args) => input(context, &client, args).await,
        Command::Continue { id, text } => {
            let answer = client.post(&path(&id, "/continue")?, &json!({"text": text})).await?;
            if context.json {
                print_json(&answer);
            } else {
                println!("message {} is on its way", shown(&answer["messageId"]));
            }
            Ok(0)
        }
        Command::Cancel { id } => cancel(context, &client, &id).await,
        Command::Archive { id } => {
            brief(context, &client.post(&path(&id, "/archive")?, &json!({"archived": true})).await?)
        }
        Command::Unarchive { id } => {
            brief(context, &client.post(&path(&id, "/archive")?, &json!({"archived": false})).await?)
        }
        Command::Delete { id } => {
            json(client.request(Method::DELETE, &path(&id, "")?)).await?;
            if context.json {
                print_json(&json!({"id": id, "deleted": true}));
            } else {
                println!("deleted {id} with its log and files");
            }
            Ok(0)
        }
        Command::Retry { id } => brief(context, &json(client.as_operator(Method::POST, &path(&id, "/retry")?)).await?),
        Command::Fail { id, message } => {
            let request = client.as_operator(Method::POST, &path(&id, "/fail")?).json(&json!({"message": message}));
            brief(context, &json(request).await?)
        }
    }
}

async fn cancel(context: &Context, client: &Client, id: &str) -> Result<u8, Fail> {
    let before = client.get(&path(id, "")?).await?;
    let task = json(client.request(Method::POST, &path(id, "/cancel")?)).await?;
    if context.json {
        print_json(&task);
    } else if task["open"] == true {
        println!("cancel requested");
    } else if task["status"] == "cancelled" && before["status"] != "cancelled" {
        println!("cancelled");
    } else {
        println!("nothing to cancel: it ended ({})", shown(&task["status"]));
    }
    Ok(0)
}

/// The path of a task. What is no id never becomes part of another path.
fn path(id: &str, rest: &str) -> Result<String, Fail> {
    match id.parse::<windlass_core::TaskId>() {
        Ok(id) => Ok(format!("/api/v1/tasks/{id}{rest}")),
        Err(why) => Err(Fail { exit: 3, message: format!("`{id}` is {why}"), problem: None }),
    }
}

fn brief(context: &Context, task: &Value) -> Result<u8, Fail> {
    if context.json {
        print_json(task);
    } else {
        println!("{}", render::task_line(&context.look.out, task));
    }
    Ok(0)
}

async fn list(context: &Context, client: &Client, args: List) -> Result<u8, Fail> {
    let mut left = args.limit;
    let mut cursor: Option<String> = None;
    let mut any = false;
    while left > 0 {
        let mut query = vec![("limit", left.min(200).to_string())];
        query.push((
            "archived",
            if args.archived {
                "true"
            } else if args.all {
                "all"
            } else {
                "false"
            }
            .to_owned(),
        ));
        query.extend(args.status.clone().map(|status| ("status", status)));
        query.extend(args.tool.clone().map(|tool| ("tool", tool)));
        query.extend(args.query.clone().map(|text| ("q", text)));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let page = client.get(&format!("/api/v1/tasks?{query}")).await?;
        let tasks = page["tasks"].as_array().cloned().unwrap_or_default();
        for task in &tasks {
            brief(context, task)?;
        }
        any |= !tasks.is_empty();
        left = left.saturating_sub(tasks.len() as u64);
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() || tasks.is_empty() {
            break;
        }
    }
    if !any && !context.json {
        println!("No tasks. `{}` shows what can be called.", context.hints.command("tools"));
    }
    Ok(0)
}

fn show(context: &Context, task: &Value) -> Result<u8, Fail> {
    if context.json {
        print_json(task);
        return Ok(0);
    }
    let out = &context.look.out;
    let row = |name: &str, value: String| {
        if !value.is_empty() {
            println!("{} {value}", out.dim(&format!("{name:10}")));
        }
    };
    row("task", shown(&task["id"]));
    row("title", shown(&task["title"]));
    row("tool", format!("{} {}", shown(&task["tool"]), out.dim(&format!("of plugin {}", shown(&task["plugin"])))));
    row("status", render::status(out, task));
    row("says", shown(&task["statusMessage"]));
    row("turn", shown(&task["turn"]));
    row("created", shown(&task["createdAt"]));
    row("updated", shown(&task["updatedAt"]));
    row("ended", shown(&task["endedAt"]));
    row("log", format!("{} to {}", task["firstSeq"], task["lastSeq"]));
    row("archived", if task["archived"] == true { "yes".into() } else { String::new() });
    row("input", shown(&task["input"]));
    for question in task["questions"].as_array().into_iter().flatten() {
        row("asks", format!("{} {}", out.magenta(&shown(&question["key"])), shown(&question["message"])));
        row("", out.dim(&shown(&question["schema"])));
    }
    for artifact in task["artifacts"].as_array().into_iter().flatten() {
        let size = windlass_core::text::size(artifact["size"].as_u64().unwrap_or(0));
        row("file", format!("{} {} {}", shown(&artifact["id"]), shown(&artifact["name"]), out.dim(&size)));
    }
    if let Some(message) = task["failure"]["message"].as_str() {
        row("failure", out.red(&for_terminal(message, true)));
        for frame in render::frames(&task["failure"]) {
            row("", out.dim(&frame));
        }
    }
    for line in render::outcome(&task["outcome"]) {
        row("outcome", line);
    }
    row("question", shown(&task["outcome"]["question"]));
    Ok(0)
}

async fn logs(context: &Context, client: Client, args: Logs) -> Result<u8, Fail> {
    let events = path(&args.id, "/events")?;
    let task = client.get(&path(&args.id, "")?).await?;
    if args.follow {
        return Session::new(context, client, &task, false).follow(args.after.into()).await;
    }
    let place = Place::new(context, client.url(), &task);
    let mut repetition = render::Repetition::default();
    let mut after = u64::from(args.after);
    loop {
        let page = client.get(&format!("{events}?after={after}&limit=1000")).await?;
        for record in page["records"].as_array().into_iter().flatten() {
            if context.json {
                print_json(record);
            } else if let Ok(line) = serde_json::from_value::<Line>(record.clone())
                && !repetition.is_one(&line)
            {
                println!("{}", render::record(&context.look.out, &place, &line));
            }
        }
        after = page["nextAfter"].as_u64().unwrap_or(after);
        if page["hasMore"] != true {
            return Ok(0);
        }
    }
}

async fn input(context: &Context, client: &Client, args: Input) -> Result<u8, Fail> {
    let task = client.get(&path(&args.id, "")?).await?;
    let open = task["questions"].as_array().cloned().unwrap_or_default();
    let keys: Vec<_> = open.iter().filter_map(|question| question["key"].as_str()).collect();
    let question = match &args.key {
        // The plugin's own key is enough where it is the only one of that name.
        Some(key) => open
            .iter()
            .find(|q| q["key"].as_str().is_some_and(|k| k == key || k.split_once('.').is_some_and(|(_, k)| k == key))),
        None if open.len() == 1 => open.first(),
        None => None,
    };
    let Some(question) = question else {
        let (exit, message) = match (&args.key, keys.as_slice()) {
            (_, []) => (4, format!("the task asks nothing now (it is {})", shown(&task["status"]))),
            (None, keys) => (2, format!("more than one question is open: say --key with one of {}", keys.join(", "))),
            (Some(key), keys) => (3, format!("there is no open question `{key}`; open are {}", keys.join(", "))),
        };
        return Err(Fail { exit, message, problem: None });
    };
    let answer = if args.decline {
        json!({"action": "decline"})
    } else if args.dismiss {
        json!({"action": "cancel"})
    } else {
        let mut content = match &args.answer {
            Some(argument) => fields::object(argument)?,
            None => Map::new(),
        };
        fields::insert(&mut content, &args.fields, &question["schema"])?;
        json!({"action": "accept", "content": content})
    };
    let key = question["key"].as_str().unwrap_or_default();
    let task = client.post(&path(&args.id, "/input")?, &json!({"answers": {key: answer}})).await?;
    brief(context, &task)?;
    Ok(if task["open"] == true { 0 } else { exit_of(&task) })
}
