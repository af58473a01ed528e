//! A model without tasks runs one by the helper tools alone.

use crate::support::{Client, Host};
use serde_json::{Value, json};

async fn help(client: &Client, name: &str, arguments: Value) -> Result<Value, String> {
    let result = client.result("tools/call", json!({"name": name, "arguments": arguments})).await;
    if result["isError"] == true {
        return Err(result["content"][0]["text"].as_str().unwrap().to_owned());
    }
    let list = client.result("tools/list", json!({})).await;
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    schema.validate(&result["structuredContent"]).unwrap_or_else(|why| panic!("{name}: {why}: {result}"));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    Ok(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_answers_what_is_not_for_people_only() {
    let host = Host::with(&["basic_ask"]).await;
    let client = host.client().plain();
    let call = json!({"name": "basic_ask", "arguments": {"timeout_ms": 20}});
    let handle = client.result("tools/call", call).await["structuredContent"]["windlassTask"].clone();
    let id = handle["taskId"].clone();
    let task = help(&client, "task_get", json!({"taskId": id})).await.unwrap();
    let questions = task["questions"].as_array().unwrap();
    assert_eq!((questions.len(), &questions[0]["key"]), (1, &json!("t1.everything")));
    assert_eq!(task["peopleOnlyQuestions"], 1);
    let secret = json!({"taskId": id, "answers": {"t1.people": {"action": "accept", "content": {"note": "x"}}}});
    let refused = help(&client, "task_input", secret).await.unwrap_err();
    assert_eq!(refused, "the task has no open question `t1.people`: there are t1.everything");
    let wrong = json!({"taskId": id, "answers": {"t1.everything": {"action": "accept", "content": {"age": 200}}}});
    assert!(help(&client, "task_input", wrong).await.unwrap_err().contains("breaks its form"));
    let right = json!({"text": "all", "age": 20, "agree": true, "drink": "tea"});
    let answers = json!({"taskId": id, "answers": {"t1.everything": {"action": "accept", "content": right}}});
    let task = help(&client, "task_input", answers).await.unwrap();
    assert_eq!((&task["questions"], &task["status"]), (&json!([]), &json!("input_required")));
    assert_eq!(help(&client, "task_cancel", json!({"taskId": id})).await.unwrap()["taskId"], id);
    let ended = help(&client, "task_get", json!({"taskId": id, "waitMs": 30000})).await.unwrap();
    assert!(ended["taskId"] == id);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_and_handles_fit_the_output_schema_of_their_tool() {
    let options = windlass_mcp::Options { patience: std::time::Duration::from_millis(300), ..Default::default() };
    let host = Host::with_options(&["basic_ask", "basic_hello", "basic_state"], options).await;
    let client = host.client().plain();
    let list = client.result("tools/list", json!({})).await;
    for (tool, arguments) in [
        ("basic_hello", json!({"name": "Ada"})),
        // It asks: a handle.
        ("basic_ask", json!({})),
        // It ends with a question.
        ("basic_state", json!({})),
    ] {
        let result = client.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let declared = list["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        let schema = jsonschema::validator_for(&declared["outputSchema"]).unwrap();
        schema.validate(&result["structuredContent"]).unwrap_or_else(|why| panic!("{tool}: {why}: {result}"));
    }
    // A follow-up goes through the helpers, and so does the list.
    let tasks = help(&client, "task_list", json!({"tool": "basic_state"})).await.unwrap();
    let id = tasks["tasks"][0]["taskId"].clone();
    let sent = help(&client, "task_continue", json!({"taskId": id, "text": "stop"})).await.unwrap();
    assert_eq!(sent["messageId"], 1);
    let ended = help(&client, "task_get", json!({"taskId": id, "waitMs": 30000})).await.unwrap();
    assert_eq!((&ended["turn"], &ended["status"]), (&json!(2), &json!("completed")), "{ended}");
    let page = help(&client, "task_log", json!({"taskId": id, "after": ended["lastSeq"]})).await.unwrap();
    assert_eq!((&page["records"], &page["firstSeq"]), (&json!([]), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_log_comes_in_pieces_and_lists_are_bounded() {
    let host = Host::with(&["basic_flood"]).await;
    let client = host.client().plain();
    client.result("tools/call", json!({"name": "basic_flood", "arguments": {"lines": 400, "bytes": 900}})).await;
    let list = help(&client, "task_list", json!({"limit": 1})).await.unwrap();
    let id = list["tasks"][0]["taskId"].clone();
    let newest = help(&client, "task_log", json!({"taskId": id, "limit": 100})).await.unwrap();
    assert!(newest.to_string().len() < 20_000 && newest["hasMore"] == false, "{newest}");
    let (mut after, mut seqs) = (0, Vec::new());
    loop {
        let page = help(&client, "task_log", json!({"taskId": id, "after": after, "limit": 100})).await.unwrap();
        assert!(page.to_string().len() < 20_000);
        seqs.extend(page["records"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()));
        after = page["nextAfter"].as_u64().unwrap();
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    for (tool, wrong) in [
        ("task_log", json!({"taskId": id, "limit": 101})),
        ("task_log", json!({"taskId": id, "after": -1})),
        ("task_log", json!({"taskId": id, "after": 9999})),
        ("task_list", json!({"limit": 0})),
        ("task_list", json!({"status": "odd"})),
        ("task_get", json!({"taskId": 7})),
        ("task_continue", json!({"taskId": id})),
        ("task_input", json!({"taskId": id, "answers": {}})),
    ] {
        help(&client, tool, wrong.clone()).await.expect_err(&wrong.to_string());
    }
    assert_eq!(client.error("tools/call", json!({"name": "task_fly", "arguments": {}})).await["code"], -32602);
}
