//! Scripts: small ones by the table in `tests/scripts`, and what a host does with them.

use crate::bench::{Bench, failure, local, operator, outcome};
use crate::guests;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_core::{Cause, Kind, Limits, Record, Status, TaskId, WaitingFor};
use windlass_runtime::{Action, SetSecret};
use windlass_site::Site;

/// The engine with its own tools, `script` and `recording`.
pub(crate) fn engine() -> String {
    root().join("plugins/script/script.wasm").display().to_string()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) async fn bench(grants: &[&str]) -> Bench {
    let bench = Bench::new().await;
    bench.install(&engine(), grants).await;
    bench
}

pub(crate) async fn start(bench: &Bench, script: &str, input: Value) -> TaskId {
    bench.create("script", json!({"script": script, "input": input})).await
}

/// A script and what must come of it:
///
/// ```text
/// === a name
/// the script
/// --- input {"json": true}
/// --- returns {"json": true}        the structured outcome
/// --- text some text                the text of the first content
/// --- fails script-error 3:10       code and place; the place may be missing
/// --- says part of the message
/// --- shows part of the code frame
/// --- logs info some text           a line of the log, in this order
/// --- cause limit
/// ```
struct Case<'a> {
    name: &'a str,
    script: String,
    wanted: Vec<(&'a str, &'a str)>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name, script: String::new(), wanted: Vec::new() });
            continue;
        }
        let case = cases.last_mut().expect("a table begins with ===");
        match line.strip_prefix("--- ") {
            Some(wanted) => case.wanted.push(wanted.split_once(' ').unwrap_or((wanted, ""))),
            None => {
                case.script.push_str(line);
                case.script.push('\n');
            }
        }
    }
    cases
}

/// What is wrong with how a case ended.
async fn judge(bench: &Bench, case: &Case<'_>) -> Vec<String> {
    let input = case
        .wanted
        .iter()
        .find(|(word, _)| *word == "input")
        .map_or_else(|| json!({}), |(_, json)| serde_json::from_str(json).unwrap());
    let id = start(bench, case.script.trim_end_matches('\n'), input).await;
    let task = bench.ended(id).await;
    let (outcome, failure) = (outcome(&task), failure(&task));
    let said = failure["message"].as_str().unwrap_or_default();
    let log = bench.log(id).await;
    let mut lines = log.iter().filter(|r| matches!(r.kind, Kind::Log | Kind::Output)).map(|r| {
        let from = r.data.get("level").or(r.data.get("part")).and_then(Value::as_str).unwrap();
        format!("{from} {}", r.text.lines().next().unwrap_or_default())
    });
    let mut wrong = Vec::new();
    let mut hold = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    let place = |d: &Value| format!("{}:{}", d["script"]["line"], d["script"]["column"]);
    if !case.wanted.iter().any(|(word, _)| matches!(*word, "fails" | "cause")) {
        hold(failure.is_null(), format!("failed: {said}"));
    }
    for (word, rest) in &case.wanted {
        match *word {
            "returns" => hold(
                outcome["structured"] == serde_json::from_str::<Value>(rest).unwrap(),
                format!("returned {}", outcome["structured"]),
            ),
            "text" => hold(outcome["content"][0]["text"] == **rest, format!("text {}", outcome["content"][0])),
            "fails" => {
                let (code, at) = rest.split_once(' ').unwrap_or((rest, ""));
                hold(failure["code"] == code, format!("code {}: {said}", failure["code"]));
                hold(
                    at.is_empty() || place(&failure["details"]) == at,
                    format!("at {}: {said}", place(&failure["details"])),
                );
            }
            "says" => hold(said.contains(rest), format!("said {said}")),
            "shows" => hold(said.contains(rest), format!("showed {said}")),
            "logs" => hold(lines.any(|line| line == *rest), format!("no line `{rest}` where it belongs")),
            "cause" => hold(task.cause.map(Cause::as_str) == Some(rest), format!("cause {:?}: {said}", task.cause)),
            "input" => {}
            other => panic!("{}: what is `{other}`?", case.name),
        }
    }
    wrong
}

/// The cases of a file, all of them or those that `WINDLASS_ONLY` names.
async fn run(file: &str, limits: Limits) {
    let text = std::fs::read_to_string(root().join("tests/scripts").join(file)).unwrap();
    let bench = Bench::with_limits(limits).await;
    bench.install(&engine(), &[]).await;
    hold(&bench, file, &text).await;
}

async fn hold(bench: &Bench, file: &str, text: &str) {
    let only = std::env::var("WINDLASS_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    for case in cases(text).into_iter().filter(|case| case.name.contains(&only)) {
        for what in judge(bench, &case).await {
            wrong.push(format!("{}: {what}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{file}\n{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_is_there() {
    run("language.txt", Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_part_of_the_api_does_what_it_says() {
    run("api.txt", Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_names_its_line() {
    run("errors.txt", Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_beyond_a_limit_ends_with_a_clear_failure() {
    run("limits.txt", Limits { cpu_millis: 1000, ..Limits::default() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_wants_too_much_memory_hears_of_it() {
    run("memory.txt", Limits::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_the_same_after_every_way_through_the_host() {
    let bench = bench(&[]).await;
    let script =
        "const drawn = Array.from({length: 300}, () => Math.random() * 10 ** Math.floor(Math.random() * 40 - 20));
        await state.set('drawn', drawn);
        const kept = await state.get('drawn');
        return {texts: drawn.map(String), drawn, kept, given: input.given.map(String)}";
    // A parser that rounds twice reads some of them as their neighbours.
    let given: Vec<f64> = (1..300).map(|n| f64::from(n).sqrt() / 7.0).collect();
    let id = start(&bench, script, json!({"given": given})).await;
    let task = bench.ended(id).await;
    let outcome = &outcome(&task)["structured"];
    let numbers = |of: &str| outcome[of].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect::<Vec<_>>();
    let texts = |of: &str| {
        let texts = outcome[of].as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers("drawn"), texts("texts"), "as the outcome");
    assert_eq!(numbers("kept"), texts("texts"), "from the state");
    assert_eq!(texts("given"), given, "as the input");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_verb_of_a_page_does_what_it_says() {
    let (bench, shop) = (Bench::new().await, site().await);
    let origin = shop.url().trim_end_matches('/').to_owned();
    let grants = ["browser", "browser-state", "http"].map(|word| format!("{word} {origin}"));
    bench.install(&engine(), &grants.each_ref().map(String::as_str)).await;
    let text = std::fs::read_to_string(root().join("tests/scripts/pages.txt")).unwrap();
    hold(&bench, "pages.txt", &text.replace("SITE", &origin)).await;
}

pub(crate) async fn site() -> Site {
    Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

pub(crate) fn grant(site: &Site) -> String {
    format!("browser {}", site.url().trim_end_matches('/'))
}

fn order_script() -> String {
    std::fs::read_to_string(root().join("examples/order-script/order.js")).unwrap()
}

/// A log without what differs from run to run: ids, times, names of tools and digests.
pub(crate) fn plain(log: &[Arc<Record>]) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // The steps are numbered with the samples of the clock, which a busy machine takes more of.
                for name in ["durationMs", "sha256", "size", "href", "uri", "step"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let plain = |r: &Arc<Record>| {
        let mut data = json!(r.data);
        strip(&mut data);
        // Without `(312 ms)`, and without the size of a picture.
        let mut text = r.text.split(" (").next().unwrap_or_default();
        if r.kind == Kind::Artifact {
            text = text.rsplit_once(", ").map_or(text, |(text, _)| text);
        }
        json!({"kind": r.kind.as_str(), "text": text, "data": data})
    };
    log.iter()
        .filter(|r| !matches!(r.kind, Kind::TaskCreated | Kind::TurnStarted | Kind::TurnResumed))
        .map(plain)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_as_a_script_writes_the_log_of_the_order_in_rust() {
    let mut logs = Vec::new();
    for script in [false, true] {
        let (bench, shop) = (Bench::new().await, site().await);
        let component = if script { engine() } else { guests::ORDER.to_owned() };
        bench.install(&component, &[&grant(&shop)]).await;
        let input = json!({"item": "mug", "shop": shop.url(), "name": "Ada", "email": "ada@example.com"});
        let id = match script {
            true => start(&bench, &order_script(), input).await,
            false => bench.create("order", input).await,
        };
        bench.asks(id).await;
        let yes = vec![("t1.approve".to_owned(), Action::Accept(json!({"approve": true})))];
        bench.host.answer(&local(), id, yes).await.unwrap();
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
        assert_eq!(shop.orders(), 1);
        let lines = plain(&bench.log(id).await).into_iter();
        logs.push(
            lines.map(|line| line.to_string().replace(shop.url().trim_end_matches('/'), "SHOP")).collect::<Vec<_>>(),
        );
    }
    for (rust, script) in logs[0].iter().zip(&logs[1]) {
        assert_eq!(rust, script);
    }
    assert_eq!(logs[0].len(), logs[1].len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_as_a_script_is_approved_after_a_restart_and_counted_once() {
    let (bench, shop) = (Bench::new().await, site().await);
    bench.install(&engine(), &[&grant(&shop)]).await;
    let input = json!({"item": "mug", "shop": shop.url(), "name": "Ada", "email": "ada@example.com"});
    let id = start(&bench, &order_script(), input).await;
    bench.asks(id).await;
    let before = bench.log(id).await;
    let bench = bench.restart().await;
    let yes = vec![("t1.approve".to_owned(), Action::Accept(json!({"approve": true})))];
    bench.host.answer(&local(), id, yes).await.unwrap();
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    assert_eq!(shop.orders(), 1);
    assert_eq!(&bench.log(id).await[..before.len()], &before[..], "what was written stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_cut_off_again_and_again_goes_on_with_the_same_time_and_chance() {
    let script = "
        const seen = [];
        const file = await artifacts.save('a.txt', 'a');
        for (let i = 1; i <= 12; i++) {
            const roll = Math.random();
            seen.push(`${i} ${roll} ${Date.now()} ${performance.now()}`);
            log.info(seen.at(-1));
            await state.set('round', i);
            await Promise.all([sleep(120), sleep(60)]);
        }
        return { seen, round: await state.get('round'), text: await artifacts.readText(file) };
    ";
    let mut bench = bench(&[]).await;
    let id = start(&bench, script, json!({})).await;
    for cut in [4, 10, 11, 17, 25] {
        let before = bench.until_log(id, |log| log.len() > cut).await;
        bench = bench.restart().await;
        assert_eq!(&bench.log(id).await[..before.len()], &before[..], "what was written stays");
    }
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let seen = &outcome(&task)["structured"];
    assert_eq!((&seen["round"], &seen["text"]), (&json!(12), &json!("a")));
    assert_eq!(json!(bench.texts(id, Kind::Log).await), seen["seen"], "each line once, and as the script remembers it");
}

#[tokio::test(flavor = "multi_thread")]
async fn chance_differs_from_task_to_task() {
    let bench = bench(&[]).await;
    let mut rolls = Vec::new();
    for _ in 0..3 {
        let id = start(&bench, "return Math.random();", json!({})).await;
        rolls.push(outcome(&bench.ended(id).await)["structured"]["value"].clone());
    }
    rolls.dedup();
    assert_eq!(rolls.len(), 3, "{rolls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_script_are_answered() {
    let bench = bench(&[]).await;
    let script = "
        const sure = await confirm('Sure?', { peopleOnly: true });
        const [name, colour] = await ask(['Your name?', { message: 'Colour?', key: 'colour', schema: { type: 'object', properties: { c: { type: 'string', enum: ['red', 'blue'] } } } }]);
        const late = await ask({ message: 'Anybody?', timeout: 30 });
        return { sure, name, colour, late: late.action };
    ";
    let id = start(&bench, script, json!({})).await;
    bench.asks(id).await;
    let answer = async |key: &str, action| bench.host.answer(&local(), id, vec![(key.to_owned(), action)]).await;
    let keys = |task: &windlass_runtime::TaskView| json!(task)["questions"].as_array().map_or(0, Vec::len);
    answer("t1.q1", Action::Accept(json!({"confirm": true}))).await.unwrap();
    bench.until(id, |task| keys(task) == 2).await;
    answer("t1.q2", Action::Accept(json!({"answer": "Ada"}))).await.unwrap();
    answer("t1.colour", Action::Decline).await.unwrap();
    let task = bench.ended(id).await;
    let expected = json!({
        "sure": true, "late": "expired", "name": {"accepted": true, "action": "accepted", "value": {"answer": "Ada"}},
        "colour": {"accepted": false, "action": "declined"},
    });
    assert_eq!(outcome(&task)["structured"], expected, "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_runs_the_script_again_with_its_message() {
    let bench = bench(&[]).await;
    let script = "
        if (task.turn === 1) { await state.set('x', 5); return outcome(null, { text: 'A draft', question: 'Better?' }); }
        return { turn: task.turn, said: task.message.text, x: await state.get('x') };
    ";
    let id = start(&bench, script, json!({})).await;
    bench.ended(id).await;
    bench.host.continue_task(&local(), id, "much better".into()).await.unwrap();
    let task = bench.until(id, |task| task.turn == 2 && !task.open).await;
    assert_eq!(outcome(&task)["structured"], json!({"turn": 2, "said": "much better", "x": 5}), "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_script_hears_of_it_and_tidies_up() {
    let bench = bench(&[]).await;
    let script = "try { await sleep(3600000); } catch (e) { log.warn(`tidies up after ${e.code}`); throw e; }";
    let id = start(&bench, script, json!({})).await;
    bench.until(id, |task| task.waiting_for == Some(WaitingFor::Timer)).await;
    bench.host.cancel(&local(), id).await.unwrap();
    assert_eq!(bench.ended(id).await.status, Status::Cancelled);
    assert_eq!(bench.texts(id, Kind::Log).await, ["tidies up after cancelled"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_goes_on_waiting_when_it_is_to_stop_writes_nothing_of_it() {
    let bench = bench(&[]).await;
    for (wait, what) in
        [("sleep(60000)", WaitingFor::Timer), ("confirm('Well?', { key: `k${++n}` })", WaitingFor::Input)]
    {
        let script = format!("let n = 0; for (;;) {{ try {{ await {wait}; }} catch (error) {{}} }}");
        let id = start(&bench, &script, json!({})).await;
        bench.until(id, |task| task.waiting_for == Some(what)).await;
        bench.host.cancel(&local(), id).await.unwrap();
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Cancelled, "{wait}: {}", failure(&task));
        let log = bench.log(id).await;
        let after = log.iter().skip_while(|record| record.kind != Kind::CancelRequested).count();
        assert!(after <= 5, "{wait}: {after} records after the request");
        assert!(log.len() <= 12, "{wait}: {} records", log.len());
    }
}

/// Says yes to all that a task asks, in the words of each form, until it has ended.
async fn agree(bench: &Bench, id: TaskId) -> windlass_runtime::TaskView {
    loop {
        let task =
            bench.until(id, |task| !task.open || !json!(task)["questions"].as_array().is_none_or(Vec::is_empty)).await;
        if !task.open {
            return task;
        }
        for question in json!(task)["questions"].as_array().unwrap() {
            let mut form = json!({});
            for (name, field) in question["schema"]["properties"].as_object().unwrap() {
                form[name] = match field["type"].as_str() {
                    Some("boolean") => true.into(),
                    _ => field["enum"].get(0).cloned().unwrap_or("text".into()),
                };
            }
            let key = question["key"].as_str().unwrap().to_owned();
            bench.host.answer(&local(), id, vec![(key, Action::Accept(form))]).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_script_in_the_guide_runs() {
    let (bench, shop) = (Bench::new().await, site().await);
    let own = grant(&shop);
    let state = own.replace("browser ", "browser-state ");
    bench.install(&engine(), &[&own, &state, "secret shop-password"]).await;
    let origins = Some(vec![shop.url().trim_end_matches('/').to_owned()]);
    let password = SetSecret { value: "lovelace".to_owned().into(), origins };
    bench.host.set_secret(&operator(), "shop-password", password).await.unwrap();
    let guide = std::fs::read_to_string(root().join("docs/scripts.md")).unwrap();
    let guide = guide.replace("https://shop.example", shop.url().trim_end_matches('/'));
    let scripts: Vec<&str> = guide.split("```js\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(scripts.len() >= 7, "{}", scripts.len());
    for script in scripts {
        let id = start(&bench, script, json!({})).await;
        let task = agree(&bench, id).await;
        assert_eq!(
            task.status,
            Status::Completed,
            "{script}\n{}\n{}",
            failure(&task),
            bench.lines(id).await.join("\n")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_sends_requests_where_it_may() {
    let (bench, shop) = (Bench::new().await, site().await);
    let origin = shop.url().trim_end_matches('/').to_owned();
    bench.install(&engine(), &[&format!("http {origin}")]).await;
    let script = "
        const orders = await http.get(`${input.shop}/api/orders`, { headers: { accept: 'application/json' } });
        const none = await http.post(`${input.shop}/nothing-here`, { a: 1 });
        return { ok: orders.ok, json: orders.json(), type: orders.headers['content-type'], none: [none.ok, none.status] };
    ";
    let id = start(&bench, script, json!({ "shop": origin })).await;
    let task = bench.ended(id).await;
    let expected =
        json!({"ok": true, "json": {"orders": 0, "rejected": 0}, "type": "application/json", "none": [false, 404]});
    assert_eq!(outcome(&task)["structured"], expected, "{}", failure(&task));
}
