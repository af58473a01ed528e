//! Lines of standard input, read by one thread of the process: a read of a terminal can't be given up, and two readers would
//! take each other's lines.

use std::sync::OnceLock;
use tokio::sync::{Mutex, mpsc};

static LINES: OnceLock<Mutex<mpsc::UnboundedReceiver<String>>> = OnceLock::new();

fn lines() -> &'static Mutex<mpsc::UnboundedReceiver<String>> {
    LINES.get_or_init(|| {
        let (send, receive) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Mutex::new(receive)
    })
}

/// The next line; none at the end. What was not waited for to the end is lost by nobody.
pub(super) async fn next() -> Option<String> {
    lines().lock().await.recv().await
}

/// Forgets lines that nobody waited for.
pub(super) fn forget() {
    if let Some(lines) = LINES.get()
        && let Ok(mut lines) = lines.try_lock()
    {
        while lines.try_recv().is_ok() {}
    }
}
