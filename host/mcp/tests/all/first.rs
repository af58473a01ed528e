//! How a tool may be called, and what it asks before a task exists.

use crate::support::{Client, Host};
use crate::wire::Wire;
use serde_json::{Value, json};

const NAME: &str = "test_input_required_result_elicitation";

async fn tasks(client: &Client) -> usize {
    let list = client.result("tools/call", json!({"name": "task_list", "arguments": {}})).await;
    list["structuredContent"]["tasks"].as_array().unwrap().len()
}

fn told(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wire_of_a_question_before_the_task() {
    let host = Host::with(&["mcp_conformance"]).await;
    let client = host.client();
    let mut wire = Wire::default();
    let call = |more: Value| {
        let mut call = json!({"name": "test_tool_with_task", "arguments": {}});
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        call
    };
    let asked = wire.exchange(&client, "It asks first", "tools/call", call(json!({}))).await["result"].clone();
    assert_eq!(tasks(&client).await, 0, "no task was made to ask");
    let with =
        |answer: Value| call(json!({"inputResponses": {"user_name": answer}, "requestState": asked["requestState"]}));
    wire.exchange(&client, "Declined", "tools/call", with(json!({"action": "decline"}))).await;
    wire.exchange(&client, "Dismissed", "tools/call", with(json!({"action": "cancel"}))).await;
    let wrong = with(json!({"action": "accept", "content": {"name": 7}}));
    wire.exchange(&client, "An answer against the form", "tools/call", wrong).await;
    assert_eq!(tasks(&client).await, 0);
    let right = with(json!({"action": "accept", "content": {"name": "Ada"}}));
    let created = client.result("tools/call", right.clone()).await;
    assert_eq!(created["resultType"], "task");
    let task = created["taskId"].as_str().unwrap();
    wire.names(task.split('.').next().unwrap());
    client.until(task, "completed").await;
    wire.exchange(&client, "The right answer, once more: the same task", "tools/call", right).await;
    let other = with(json!({"action": "accept", "content": {"name": "Eve"}}));
    wire.exchange(&client, "Another answer with the same state", "tools/call", other).await;
    wire.exchange(&client, "It has completed", "tasks/get", json!({"taskId": task})).await;
    assert_eq!(tasks(&client).await, 1);
    wire.golden("first.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_good_for_its_own_call_alone() {
    let host = Host::with(&["mcp_conformance"]).await;
    let (ada, eve) = (host.client().named("ada"), host.client().named("eve"));
    let asked = ada.result("tools/call", json!({"name": NAME, "arguments": {}})).await;
    let state = asked["requestState"].as_str().unwrap();
    let answer = json!({"user_name": {"action": "accept", "content": {"name": "Ada"}}});
    let with = |name: &str, state: &str| json!({"name": name, "arguments": {}, "inputResponses": answer, "requestState": state});
    for (client, name, state) in [
        (&ada, NAME, format!("{state}-TAMPERED")),
        (&ada, "test_tool_with_task", state.to_owned()),
        (&eve, NAME, state.to_owned()),
    ] {
        let refused = client.error("tools/call", with(name, &state)).await;
        assert_eq!(refused["code"], -32602, "{refused}");
        assert_eq!(tasks(client).await, 0);
    }
    let done = ada.clone().waits().result("tools/call", with(NAME, state)).await;
    assert_eq!((told(&done), &done["resultType"]), ("Hello, Ada!", &json!("complete")));
    // Without the state it is as if the caller had given the field itself.
    let mut bare = with(NAME, "");
    bare.as_object_mut().unwrap().remove("requestState");
    assert_eq!(told(&ada.clone().waits().result("tools/call", bare).await), "Hello, Ada!");
    let given = json!({"name": NAME, "arguments": {"name": "Eve"}});
    assert_eq!(told(&eve.waits().result("tools/call", given).await), "Hello, Eve!");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_forms_hears_what_to_ask() {
    let host = Host::with(&["mcp_conformance"]).await;
    let client = host.client().plain();
    let told_how = client.result("tools/call", json!({"name": NAME, "arguments": {}})).await;
    assert_eq!(told_how["isError"], true);
    assert!(told(&told_how).contains("What is your name?") && told(&told_how).contains("in name of"), "{told_how}");
    let wrong = client.result("tools/call", json!({"name": NAME, "arguments": {"nmae": "Ada"}})).await;
    assert!(told(&wrong).contains("nmae"), "what is wrong all the same is said first: {wrong}");
    assert_eq!(tasks(&client).await, 0);
    let done = client.result("tools/call", json!({"name": NAME, "arguments": {"name": "Ada"}})).await;
    assert_eq!(told(&done), "Hello, Ada!");
    let list = client.result("tools/list", json!({})).await;
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == NAME).unwrap();
    assert_eq!(tool["inputSchema"]["required"], json!([]), "a client need not give what it may be asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_a_task_as_its_manifest_says() {
    let host = Host::with(&["mcp_conformance"]).await;
    let (takes, waits) = (host.client(), host.client().waits());
    let call = |name: &str| json!({"name": name, "arguments": {}});
    let never = takes.result("tools/call", call("greet")).await;
    assert_eq!((told(&never), &never["resultType"]), ("Hello, world!", &json!("complete")));
    assert_eq!(takes.result("tools/call", call("slow_compute")).await["resultType"], "task");
    assert_eq!(takes.result("tools/call", call("failing_job")).await["resultType"], "task");
    let before = tasks(&takes).await;
    let (status, refused) = waits.send("tools/call", call("failing_job")).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32021)));
    let required = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
    assert_eq!(required, &json!({"io.modelcontextprotocol/tasks": {}}));
    assert_eq!(tasks(&takes).await, before, "what is refused is not begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn small_files_of_a_result_stand_in_it() {
    let host = Host::with(&["mcp_conformance"]).await;
    let client = host.client().waits();
    let result = client.result("tools/call", json!({"name": "test_multiple_content_types", "arguments": {}})).await;
    let kinds: Vec<_> =
        result["content"].as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "resource", "resource_link"]);
    assert_eq!(result["content"][1]["_meta"]["windlass/untrusted"], true);
    let file = &result["content"][2]["resource"];
    assert_eq!(file["text"], r#"{"test":"data","value":123}"#);
    let read = client.read(file["uri"].as_str().unwrap()).await;
    assert_eq!(read["contents"][0]["text"], file["text"]);
}
