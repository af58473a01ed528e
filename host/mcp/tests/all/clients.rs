//! Clients that people use, run against a host of their own.

use crate::support::Host;

/// For clients run by hand, and for the conformance suite: prints where it serves and stays until it is stopped.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "serves until it is stopped: WINDLASS_MCP_GUESTS names the components, -- --ignored --nocapture"]
async fn a_host_for_clients_run_by_hand() {
    let guests = std::env::var("WINDLASS_MCP_GUESTS").unwrap_or_else(|_| "basic_ask basic_echo basic_hello".into());
    let host = Host::with(&guests.split_whitespace().collect::<Vec<_>>()).await;
    println!("{}/mcp", host.base);
    std::future::pending::<()>().await;
}
