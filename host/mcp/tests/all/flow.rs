//! The whole life of a task in revision 2026-07-28.

use crate::support::{Host, records, seqs};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

const ANSWER: &str = r#"{"text": "all", "age": 20, "agree": true, "drink": "coffee"}"#;

/// Ids and times are replaced; all the rest of the wire is as it was.
fn normal(text: &str, id: &str) -> String {
    let mut text = text.replace(id, "<id>");
    let mut from = 0;
    while let Some(at) = text[from..].find("20").map(|at| at + from) {
        let end = at + 24;
        let is_time = text.get(at..end).is_some_and(|t| t.ends_with('Z') && t.as_bytes()[10] == b'T');
        if is_time {
            text.replace_range(at..end, "<time>");
        }
        from = at + 2;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("\"digest\": \"").map(|at| at + from + 11) {
        text.replace_range(at..at + 64, "<digest>");
        from = at;
    }
    // Records stand as text in a page of the log.
    let mut from = 0;
    while let Some(at) = text[from..].find(r#"\"digest\":\""#).map(|at| at + from + 13) {
        text.replace_range(at..at + 64, "<digest>");
        from = at;
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wire_of_a_task_from_its_call_to_its_end() {
    let host = Host::with(&["basic_ask"]).await;
    let client = host.client();
    let mut wire = String::new();
    // None yet: this stands nowhere in what is said before the call.
    let mut id = "no id".to_owned();
    let mut said = |title: &str, sent: Value, got: &Value, id: &str| {
        let sent = serde_json::to_string(&sent).unwrap();
        let got = serde_json::to_string_pretty(got).unwrap();
        let _ = writeln!(wire, "# {title}\n-> {}\n<- {}\n", normal(&sent, id), normal(&got, id));
    };
    macro_rules! exchange {
        ($title:expr, $method:expr, $params:expr) => {{
            let params: Value = $params;
            let message = client.message($method, params.clone());
            let (_, got) = client.send($method, params).await;
            said($title, message, &got, &id);
            got
        }};
    }
    exchange!("What the server can", "server/discover", json!({}));
    exchange!("The tools", "tools/list", json!({}));
    exchange!("The templates", "resources/templates/list", json!({}));
    let call = json!({"name": "basic_ask", "arguments": {"timeout_ms": 20}});
    let created = client.result("tools/call", call).await;
    let task = created["taskId"].as_str().unwrap().to_owned();
    id = task.split('.').next().unwrap().to_owned();
    client.until(&task, "input_required").await;
    exchange!("It asks two questions", "tasks/get", json!({"taskId": task}));
    let one = json!({"taskId": task, "inputResponses": {
        "t1.everything": {"action": "accept", "content": serde_json::from_str::<Value>(ANSWER).unwrap()},
        "t1.nobody": {"action": "decline"}}});
    exchange!("One of them is answered, and one that nobody asked", "tasks/update", one);
    exchange!("It waits for the other", "tasks/get", json!({"taskId": task}));
    exchange!(
        "Declined",
        "tasks/update",
        json!({"taskId": task, "inputResponses": {"t1.people": {"action": "decline"}}})
    );
    let mut stream = client.listen(json!({"taskIds": [task]})).await;
    loop {
        let told = stream.until("notifications/tasks").await;
        if told["params"]["inputRequests"].get("t1.confirm").is_some() {
            break;
        }
    }
    let asked = client.get(&task).await;
    let form = &asked["inputRequests"]["t1.confirm"]["params"]["requestedSchema"]["properties"];
    let field = form.as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({"taskId": task, "inputResponses": {"t1.confirm": {"action": "accept", "content": {field: true}}}});
    exchange!("Confirmed", "tasks/update", yes);
    client.until(&task, "completed").await;
    exchange!("It has completed", "tasks/get", json!({"taskId": task}));
    exchange!("A cancel changes nothing now", "tasks/cancel", json!({"taskId": task}));
    exchange!("The log from record 3", "resources/read", json!({"uri": format!("task-log://{task}?after=2&limit=3")}));
    exchange!("A task that is not there", "tasks/get", json!({"taskId": task.replace(".1", ".2")}));
    golden("flow.txt", &wire);
}

/// Compares with the file in the tree; `WINDLASS_BLESS=1` writes it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let differ = known.lines().zip(text.lines()).find(|(known, now)| known != now);
    assert!(
        known == text,
        "{name} says otherwise, first at {differ:#?}; WINDLASS_BLESS=1 writes the file anew\n{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_pages_forwards_and_backwards_without_a_gap() {
    let host = Host::with(&["basic_flood"]).await;
    let client = host.client();
    let task = client.call("basic_flood", json!({"lines": 250})).await;
    client.until(&task, "completed").await;
    let log = format!("task-log://{}", task.strip_suffix(".1").unwrap());
    let newest = client.read(&log).await;
    let about = &newest["_meta"]["windlass/log"];
    assert_eq!((about["hasMore"].clone(), about["terminal"].clone()), (json!(false), json!(true)), "{about}");
    assert!(about["nextUri"].is_null());
    let last = *seqs(&newest).last().unwrap();
    let (mut back, mut page) = (seqs(&newest), newest.clone());
    while let Some(before) = page["_meta"]["windlass/log"]["prevUri"].as_str() {
        page = client.read(before).await;
        back.splice(0..0, seqs(&page));
    }
    assert_eq!(back, (1..=last).collect::<Vec<_>>());
    let (mut forth, mut next) = (Vec::new(), Some(format!("{log}?after=0&limit=33")));
    while let Some(uri) = next {
        let page = client.read(&uri).await;
        forth.extend(records(&page));
        next = page["_meta"]["windlass/log"]["nextUri"].as_str().map(str::to_owned);
    }
    assert_eq!(forth.len() as u64, last);
    assert_eq!(seqs(&client.read(&format!("task-log://{task}?after=0&limit=1000")).await), back);
    let beyond = client.error("resources/read", json!({"uri": format!("{log}?after={}", last + 1)})).await;
    assert_eq!((beyond["code"].clone(), beyond["data"]["lastSeq"].clone()), (json!(-32602), json!(last)));
}
