//! `windlass dev`: builds the plugin of this folder, installs it, runs it, follows the log; again whenever a file changes.
//!
//! Owns the round. `project` builds, `watch` says when, `place` is the host, and a run is followed as `windlass run` follows it.

mod last;
mod place;
mod project;
mod secrets;
mod watch;

use super::first::First;
use super::render::shown;
use super::session::Session;
use super::{Context, Fail, fields, lines, plugin};
use crate::client::{Client, json};
pub(super) use last::LAST;
use last::Last;
use place::Place;
use project::Project;
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use watch::Changes;
use windlass_core::Manifest;
use windlass_core::text::for_terminal;
use windlass_runtime::Windlass;

/// Records of one run that are shown where they go to a file or a pipe.
const MOST: u32 = 1000;
/// A cancel on the way out must not hold it up.
const PARTING: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(super) struct Args {
    /// The tool to run [default: the last one, or the only one]
    tool: Option<String>,
    /// Fields of its input, typed by its schema [default: the last ones]
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    /// Its input as JSON; @FILE reads a file. KEY=VALUE go on top
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// A permission to grant beside those that the manifest asks for, such as "browser http://127.0.0.1:8080"; may be repeated,
    /// and is kept
    #[arg(long = "grant", value_name = "LINE")]
    grants: Vec<String>,
    /// One round: the exit code says how the task ended
    #[arg(long)]
    once: bool,
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<u8, Fail> {
    let project = Project::find(&std::env::current_dir().map_err(|error| Fail::usage(format!("no folder: {error}")))?)?;
    // `dev name=Ada` means the tool that was meant before.
    if args.tool.as_ref().is_some_and(|tool| tool.contains('=')) {
        args.fields.splice(0..0, args.tool.take());
    }
    let author = Author {
        context,
        once: args.once,
        args,
        project: &project,
        running: RefCell::new(None),
        place: tokio::sync::OnceCell::new(),
    };
    let fail = |error: std::io::Error| Fail::host(format!("signals can't be received: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    let done = tokio::select! {
        done = author.rounds() => done,
        _ = interrupt.recv() => { eprintln!(); Ok(0) }
        _ = terminate.recv() => Ok(0),
    };
    author.cancel().await;
    if let Some(place) = author.place.into_inner() {
        place.leave().await;
    }
    done
}

/// Somebody who writes a plugin.
struct Author<'a> {
    context: &'a Context,
    args: Args,
    once: bool,
    project: &'a Project,
    /// The task under way.
    running: RefCell<Option<(Client, String)>>,
    /// Made when it is first needed: a host takes longer to start than a refusal to be said.
    place: tokio::sync::OnceCell<Place>,
}

impl Author<'_> {
    async fn rounds(&self) -> Result<u8, Fail> {
        if self.project.refresh()? {
            self.say("the SDK in .windlass is now that of this version");
        }
        let mut changes = if self.once { None } else { Some(Changes::of(self.project)?) };
        let mut known: Option<Manifest> = None;
        let mut number = 0;
        loop {
            number += 1;
            let round = Box::pin(self.round(number, &mut known));
            let changed = match &mut changes {
                None => return round.await,
                Some(changes) => tokio::select! {
                    biased;
                    changed = changes.next(self.project) => Some(changed),
                    done = round => {
                        if let Err(fail) = done {
                            super::report(&fail, self.context.json);
                        }
                        None
                    }
                },
            };
            let Some(changes) = &mut changes else { continue };
            let (changed, under_way) = match changed {
                Some(changed) => (changed, true),
                None => (self.wait(changes).await, false),
            };
            let cancelled = self.cancel().await;
            // A line that waited for an answer, or showed how far it was, stands there without an end.
            if under_way && std::io::stderr().is_terminal() {
                eprint!("\r\u{1b}[2K");
            }
            let what = match changed.as_slice() {
                [] => "once more".to_owned(),
                [one] => format!("{one} has changed"),
                [one, rest @ ..] => format!("{one} and {} more have changed", rest.len()),
            };
            self.say(&format!("{what}{}", if cancelled { ": the run was cancelled" } else { "" }));
        }
    }

    /// Until a file changes, or somebody at the terminal wants another run.
    async fn wait(&self, changes: &mut Changes) -> Vec<String> {
        lines::forget();
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let more = if terminal { "Enter runs it again, Ctrl-C ends" } else { "waiting for a change" };
        self.say(more);
        tokio::select! {
            changed = changes.next(self.project) => changed,
            () = entered(), if terminal => Vec::new(),
        }
    }

    /// Builds, installs, runs. 1: it did not build.
    async fn round(&self, number: u32, known: &mut Option<Manifest>) -> Result<u8, Fail> {
        let began = Instant::now();
        // The host starts while the first build runs.
        let (built, place) = tokio::join!(self.project.build(number == 1), self.place());
        let (Some(component), place) = (built?, place?) else {
            self.say("it does not build");
            return Ok(1);
        };
        let built = began.elapsed();
        let manifest = Windlass::inspect(&component).map_err(|refusal| Fail::usage(refusal.to_string()))?;
        let mut last = Last::read(&self.project.root);
        let changed = known.as_ref() != Some(&manifest);
        let grants = self.install(place, &manifest, component, &mut last).await?;
        if changed {
            self.introduce(place, &manifest, &grants).await?;
            *known = Some(manifest.clone());
        }
        self.choose(&manifest, &mut last)?;
        let Some(task) = self.create(place, &last).await? else { return Ok(130) };
        let id = task["id"].as_str().unwrap_or_default();
        *self.running.borrow_mut() = Some((place.client.clone(), id.to_owned()));
        if !self.context.json {
            let url = format!("{}/tasks/{id}", place.client.url());
            let paint = self.context.look.err;
            let call = format!("{} {}", last.tool, told(&last.input));
            eprintln!(
                "{} {} {}\n   {}",
                paint.cyan("──"),
                paint.bold(&for_terminal(call.trim_end(), false)),
                paint.dim(&format!(
                    "built in {:.1} s, started after {:.1} s",
                    built.as_secs_f64(),
                    began.elapsed().as_secs_f64()
                )),
                paint.dim(&url)
            );
        }
        let exit = Session::new(&place.context, place.client.clone(), &task, true).for_author(MOST).follow(0).await?;
        self.running.borrow_mut().take();
        Ok(exit)
    }

    async fn place(&self) -> Result<&Place, Fail> {
        self.place.get_or_try_init(|| Place::find(self.context, &self.project.root)).await
    }

    /// Installs it with what it asks for, what was granted before, and what this call grants; answers all of that.
    async fn install(
        &self,
        place: &Place,
        manifest: &Manifest,
        component: Vec<u8>,
        last: &mut Last,
    ) -> Result<Vec<String>, Fail> {
        for line in &self.args.grants {
            let line = plugin::canonical(line)?;
            if !last.grants.contains(&line) {
                last.grants.push(line);
            }
        }
        let mut grants: Vec<String> = manifest.permissions.iter().map(ToString::to_string).collect();
        let before = match plugin::get(&place.client, &manifest.name).await {
            Ok(installed) => plugin::granted(&installed),
            Err(fail) if fail.exit == 3 => Vec::new(),
            Err(fail) => return Err(fail),
        };
        // What an earlier version was granted and this one does not ask for would refuse the install.
        let asks =
            |line: &String| line.parse().is_ok_and(|line| manifest.permissions.iter().any(|asked| asked.covers(&line)));
        for line in last.grants.iter().chain(&before).filter(|line| asks(line)) {
            if !grants.contains(line) {
                grants.push(line.clone());
            }
        }
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(grants.iter().map(|line| ("grant", line.as_str())));
        if grants.is_empty() {
            query.append_pair("grant", "");
        }
        let request = place.client.as_operator(Method::POST, &format!("/api/v1/plugins?{}", query.finish()));
        json(request.header("content-type", "application/wasm").body(component)).await?;
        Ok(grants)
    }

    async fn introduce(&self, place: &Place, manifest: &Manifest, grants: &[String]) -> Result<(), Fail> {
        if self.context.json {
            return Ok(());
        }
        let paint = &self.context.look.err;
        plugin::introduce(paint, manifest);
        for grant in grants {
            eprintln!("  granted  {}", paint.green(&for_terminal(grant, false)));
        }
        let words = ["browser", "http"].iter().filter(|word| grants.contains(&format!("{word} *")));
        for word in words {
            // Whoever granted an origin beside it knows.
            if !grants.iter().any(|grant| grant.starts_with(&format!("{word} http://"))) {
                let hint = format!(
                    "{word} * is any public address; one of this machine needs --grant \"{word} http://127.0.0.1:8080\""
                );
                eprintln!("  {}", paint.dim(&hint));
            }
        }
        for missing in secrets::missing(place, &manifest.permissions).await? {
            eprintln!("  {}", paint.yellow(&missing));
        }
        eprintln!("  watch at {}/  {}", place.client.url(), paint.dim(&format!("({})", place.about())));
        let asks_browser = grants.iter().any(|grant| grant.starts_with("browser"));
        if let Some(trouble) = place.trouble().filter(|_| asks_browser) {
            eprintln!("  {}", paint.yellow(&format!("no page can be opened: {trouble}")));
        }
        Ok(())
    }

    /// What this call says to run, else what ran last, else the only tool.
    fn choose(&self, manifest: &Manifest, last: &mut Last) -> Result<(), Fail> {
        let names: Vec<_> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        let known = |name: &str| manifest.tools.iter().find(|tool| tool.name == name);
        let tool = match &self.args.tool {
            Some(name) => known(name).ok_or_else(|| Fail {
                exit: 3,
                message: format!("it has no tool `{name}`; it has {}", names.join(", ")),
                problem: None,
            })?,
            None => match (known(&last.tool), manifest.tools.as_slice()) {
                (Some(tool), _) | (None, [tool]) => tool,
                _ => {
                    return Err(Fail::usage(format!(
                        "which tool? `windlass dev TOOL key=value`, with one of {}",
                        names.join(", ")
                    )));
                }
            },
        };
        if tool.name != last.tool {
            (last.tool, last.input) = (tool.name.clone(), Map::new());
        }
        if self.args.input.is_some() || !self.args.fields.is_empty() {
            let mut input = self.args.input.as_deref().map(fields::object).transpose()?.unwrap_or_default();
            fields::insert(&mut input, &self.args.fields, &tool.input_schema)?;
            last.input = input;
        }
        last.write(&self.project.root);
        let required = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let asked_first =
            |name: &&str| tool.ask_first.as_ref().is_some_and(|ask| ask.schema["properties"].get(*name).is_some());
        let missing: Vec<_> =
            required.filter(|name| !last.input.contains_key(*name)).filter(|name| !asked_first(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let pairs: Vec<_> = missing.iter().map(|name| format!("{name}=…")).collect();
        Err(Fail::usage(format!("`{}` wants more: `windlass dev {} {}`", tool.name, tool.name, pairs.join(" "))))
    }

    /// The task; none where a form that is asked before was declined.
    async fn create(&self, place: &Place, last: &Last) -> Result<Option<Value>, Fail> {
        let mut first = First::new(self.context);
        let mut input = last.input.clone();
        loop {
            let body = json!({"tool": last.tool, "input": input});
            match json(place.client.request(Method::POST, "/api/v1/tasks").json(&body)).await {
                Ok(task) => return Ok(Some(task)),
                Err(fail) => match first.answer(fail)? {
                    Some(answer) => input.extend(answer),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Cancels the task under way; whether there was one.
    async fn cancel(&self) -> bool {
        let Some((client, id)) = self.running.borrow_mut().take() else { return false };
        let asked = client.request(Method::POST, &format!("/api/v1/tasks/{id}/cancel")).json(&json!({}));
        matches!(tokio::time::timeout(PARTING, json(asked)).await, Ok(Ok(_)))
    }

    fn say(&self, text: &str) {
        let paint = &self.context.look.err;
        eprintln!("{} {}", paint.cyan("──"), paint.dim(&for_terminal(text, false)));
    }
}

/// The input as one could type it.
fn told(input: &Map<String, Value>) -> String {
    let pairs = input.iter().map(|(key, value)| format!("{key}={}", shown(value)));
    windlass_core::text::cut(&pairs.collect::<Vec<_>>().join(" "), 80)
}

async fn entered() {
    if lines::next().await.is_none() {
        // The terminal is closed for reading; files can still change.
        std::future::pending::<()>().await;
    }
}
