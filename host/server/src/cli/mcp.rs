//! `windlass mcp`: the host's MCP endpoint on standard input and output.
//!
//! Only protocol goes to standard output. The end of the input ends this process, never a task.

use super::Context;
use crate::client::Fail;

pub(super) async fn run(context: &Context) -> Result<u8, Fail> {
    let client = context.client_or_start().await?;
    let base = client.url().trim_end_matches('/').to_owned();
    windlass_mcp::bridge(&base, client.token().map(str::to_owned), tokio::io::stdin(), tokio::io::stdout())
        .await
        .map_err(|error| Fail::host(error.to_string()))?;
    Ok(0)
}
