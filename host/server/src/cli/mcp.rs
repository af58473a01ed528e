//! `windlass mcp`: the host's MCP endpoint on standard input and output.
//!
//! Only protocol goes to standard output. The end of the input ends this process, never a task.

use super::Context;
use crate::client::{Client, Fail, own_token};
use futures::FutureExt;
use std::sync::Arc;

pub(super) async fn run(context: &Context) -> Result<u8, Fail> {
    let token = own_token()?;
    let (data, config) = (context.data.clone(), context.config.clone());
    let find = move || {
        let (data, config) = (data.clone(), config.clone());
        async move {
            let client = Client::find_or_start(&data, config.as_deref()).await.map_err(|fail| fail.message)?;
            Ok(client.url().trim_end_matches('/').to_owned())
        }
        .boxed()
    };
    windlass_mcp::bridge(Arc::new(find), token, tokio::io::stdin(), tokio::io::stdout())
        .await
        .map_err(|error| Fail::host(error.to_string()))?;
    Ok(0)
}
