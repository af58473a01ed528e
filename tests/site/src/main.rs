//! The shop on its own, for a look by hand: `windlass-site [--listen ADDR]`.

use std::{net::SocketAddr, process::ExitCode};

use windlass_site::Site;

const USAGE: &str = "usage: windlass-site [--listen ADDR]   (ADDR is 127.0.0.1:0 unless given)";

#[tokio::main]
async fn main() -> ExitCode {
    let Some(listen) = listen(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let site = match Site::start(listen).await {
        Ok(site) => site,
        Err(error) => {
            eprintln!("windlass-site: can't listen on {listen}: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", site.url());
    if tokio::signal::ctrl_c().await.is_err() {
        // Without signals the only way out is to be ended from outside.
        std::future::pending::<()>().await;
    }
    site.stop().await;
    ExitCode::SUCCESS
}

fn listen(mut args: impl Iterator<Item = String>) -> Option<SocketAddr> {
    match (args.next().as_deref(), args.next(), args.next()) {
        (None, ..) => Some(([127, 0, 0, 1], 0).into()),
        (Some("--listen"), Some(address), None) => address.parse().ok(),
        _ => None,
    }
}
