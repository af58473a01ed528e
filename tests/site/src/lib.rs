//! A small web shop for tests, examples and demos: it behaves as real pages do, and counts what really happened.
//!
//! The price of an item arrives late, its button moves for a moment, the form is validated on both sides. An order
//! counts only if a person's hand, or something that can't be told from one, pressed the button of a page whose price
//! had been shown, and it counts once. So [`Site::orders`] is the truth about "clicked exactly once".
//!
//! | page | what it is for |
//! |---|---|
//! | `/`, `/search?q=` | a search form, results with links |
//! | `/item/{slug}` | `#price` appears after about 400 ms; then the moving button "Order" can be pressed |
//! | `/done/{n}` | the receipt; the order's number is in `#order` |
//! | `/orders?email=` | the orders of a visitor, and `#newest`: where to look after a press that was in doubt |
//! | `/dialog` | `alert`, `confirm` and `prompt`; the answers appear in `#answer` |
//! | `/pages` | an index of pages that do what the web does: sign-in, tables, wizards, files, frames, and its bad habits |
//! | `/redirect?to=` | a redirect to anywhere |
//! | `/fence?target=&via=` | tries to reach another server, in the ways listed in `fence.js` |
//! | `/api/orders` | `{"orders":n,"rejected":m}` |
//! | `/once?name=` | an element for each thing that must not be done twice; each runs the errand `{name}.{kind}` |
//! | `/api/errands/{name}` | `{"errands":n}`; each POST counts one more, `/api/errands` all of them, also by kind |
//!
//! ```
//! # async fn example() -> std::io::Result<()> {
//! let site = windlass_site::Site::start(([127, 0, 0, 1], 0).into()).await?;
//! println!("{}/item/mug", site.url());
//! assert_eq!(site.orders(), 0);
//! site.stop().await;
//! # Ok(())
//! # }
//! ```

mod gallery;
mod pages;
mod routes;
mod shop;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::serve::ListenerExt as _;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::shop::Shop;

/// A shop that is open; dropping it closes it.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    shop: Arc<Shop>,
    connections: Arc<AtomicU64>,
    close: Option<oneshot::Sender<()>>,
    server: JoinHandle<()>,
}

impl Site {
    /// Opens a shop; port 0 takes a free one, see [`Site::url`].
    ///
    /// # Errors
    /// When the address can't be listened on.
    pub async fn start(listen: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let shop = Arc::new(Shop::default());
        let connections = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&connections);
        let listener = listener.tap_io(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let (close, closed) = oneshot::channel::<()>();
        let router = routes::router(Arc::clone(&shop));
        let server = tokio::spawn(async move {
            let server = axum::serve(listener, router).with_graceful_shutdown(async {
                // A dropped sender closes the shop just as well.
                let _ = closed.await;
            });
            // Accepting goes on after errors of single connections; there is nobody to tell anything else.
            let _ = server.await;
        });
        Ok(Self { address, shop, connections, close: Some(close), server })
    }

    /// `http://127.0.0.1:49152`: scheme, host and port, no slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Orders that counted.
    pub fn orders(&self) -> u64 {
        self.shop.counts().orders
    }

    /// Orders that were refused: no trusted press, no shown price, or a page used twice.
    pub fn rejected(&self) -> u64 {
        self.shop.counts().rejected
    }

    /// Errands that were run, of all names.
    pub fn errands(&self) -> u64 {
        self.shop.errands(None)
    }

    /// Connections ever accepted, whatever became of them: 0 means that nobody reached this server.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Changes the price of `slug` in cents for pages asked for from now on. False: there is no such item.
    pub fn set_price(&self, slug: &str, cents: u32) -> bool {
        self.shop.set_price(slug, cents)
    }

    /// The addresses of the pages as the web has them, after `/pages/`; `/pages` is their index.
    pub fn pages() -> impl Iterator<Item = &'static str> {
        gallery::names()
    }

    /// Closes the shop. Requests that have begun may end, for a second at most.
    pub async fn stop(mut self) {
        if let Some(close) = self.close.take() {
            let _ = close.send(());
        }
        let _ = tokio::time::timeout(Duration::from_secs(1), &mut self.server).await;
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}
