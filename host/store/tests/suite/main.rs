//! One suite for every backend, and what only a folder on disk can show.
#![allow(clippy::unwrap_used, reason = "a test that can't go on stops")]

/// Makes a test of each function, for the store in memory and for the one on disk.
macro_rules! for_both {
    ($($name:ident)*) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(windlass_store::Store::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let folder = tempfile::tempdir().unwrap();
                let store = windlass_store::Store::open(folder.path()).unwrap();
                super::$name(store.clone()).await;
                store.close().await;
            })*
        }
    };
}

mod blobs;
mod disk;
mod rows;
mod samples;
mod tails;
mod transactions;
