//! What a plain plugin shows.

use crate::bench::{Bench, outcome};
use crate::guests;
use serde_json::json;
use windlass_core::Status;

#[tokio::test(flavor = "multi_thread")]
async fn a_component_greets_in_every_way_a_log_has() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let id = bench.create("basic_hello", json!({"name": "Ada"})).await;
    let task = bench.ended(id).await;
    println!("{}", bench.lines(id).await.join("\n"));
    assert_eq!(task.status, Status::Completed);
    assert_eq!(outcome(&task)["structured"], json!({"greeting": "Hello, Ada!"}));
}
