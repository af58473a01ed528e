//! Followers: never a gap, never a duplicate.

use crate::samples::{append, create, id, line, lines, task};
use std::sync::Arc;
use windlass_core::Record;
use windlass_store::{Hard, Store, StoreError, Tail};

for_both! {
    a_slow_reader_misses_nothing_while_records_come_at_full_speed
    a_tail_begins_anywhere
    a_hundred_restarts_at_random_cursors_join_without_a_seam
    a_dropped_wait_takes_nothing
    a_tail_ends_with_its_task
    a_tail_of_no_task_says_so
    many_followers_see_the_same
}

/// Takes from the tail until `last`; checks every number.
async fn follow(tail: &mut Tail, last: u64) {
    while tail.cursor() < last {
        let cursor = tail.cursor();
        check(cursor, &tail.next().await.unwrap());
    }
}

fn check(cursor: u64, records: &[Arc<Record>]) {
    assert!(!records.is_empty() && records.len() <= 256);
    for (expected, record) in (cursor + 1..).zip(records) {
        assert_eq!(record.seq, expected);
        assert_eq!(record.text, format!("line {}", expected - 1));
    }
}

/// Appends `count` records as fast as they are acknowledged, 64 under way.
async fn pour(store: &Store, count: u64) {
    let mut under_way = std::collections::VecDeque::new();
    for n in 0..count {
        under_way.push_back(store.enqueue(Hard::Soon, move |tx| tx.append(id(1), &[line(&format!("line {n}"))])));
        if under_way.len() == 64 {
            under_way.pop_front().unwrap().await.unwrap();
        }
    }
    for ack in under_way {
        ack.await.unwrap();
    }
}

async fn a_slow_reader_misses_nothing_while_records_come_at_full_speed(store: Store) {
    create(&store, task(1, "ann")).await;
    let mut slow = store.tail(id(1), 0);
    let pouring = tokio::spawn({
        let store = store.clone();
        async move { pour(&store, 20_000).await }
    });
    // Slow by a task of its own: it looks again only when the log went on by more than a ring.
    let mut paced = store.tail(id(1), 0);
    while slow.cursor() < 20_000 {
        let cursor = slow.cursor();
        check(cursor, &slow.next().await.unwrap());
        let wait = (slow.cursor() + 700).min(20_000);
        follow(&mut paced, wait).await;
    }
    pouring.await.unwrap();
    assert_eq!(slow.poll_now().await, Ok(Vec::new()));
}

async fn a_tail_begins_anywhere(store: Store) {
    create(&store, task(1, "ann")).await;
    append(&store, id(1), lines(600)).await.unwrap();
    for after in [0, 1, 299, 599, 600] {
        let mut tail = store.tail(id(1), after);
        follow(&mut tail, 600).await;
        assert_eq!(tail.cursor(), 600);
        assert_eq!(tail.poll_now().await, Ok(Vec::new()));
    }
    let mut tail = store.tail(id(1), 600);
    assert_eq!(tail.poll_now().await, Ok(Vec::new()));
    append(&store, id(1), vec![line("line 600")]).await.unwrap();
    tail.ready().await.unwrap();
    assert_eq!(tail.cursor(), 600, "to be ready takes nothing");
    follow(&mut tail, 601).await;
}

async fn a_hundred_restarts_at_random_cursors_join_without_a_seam(store: Store) {
    create(&store, task(1, "ann")).await;
    let pouring = tokio::spawn({
        let store = store.clone();
        async move { pour(&store, 10_000).await }
    });
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut newest = 0;
    for _ in 0..100 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut tail = store.tail(id(1), (random >> 33) % (newest + 1));
        let wanted = (tail.cursor() + 1 + (random >> 20) % 400).min(10_000);
        follow(&mut tail, wanted).await;
        newest = newest.max(tail.cursor());
    }
    let mut rest = store.tail(id(1), newest);
    follow(&mut rest, 10_000).await;
    pouring.await.unwrap();
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

async fn a_dropped_wait_takes_nothing(store: Store) {
    create(&store, task(1, "ann")).await;
    let pouring = tokio::spawn({
        let store = store.clone();
        async move { pour(&store, 3000).await }
    });
    let mut tail = store.tail(id(1), 0);
    let mut cursor = 0;
    while cursor < 3000 {
        // Dropped somewhere on its way, most often while it reads; then waited for.
        for patience in 0..4 {
            tokio::select! {
                biased;
                records = tail.next() => {
                    let records = records.unwrap();
                    check(cursor, &records);
                    cursor += records.len() as u64;
                }
                () = yields(patience) => {}
            }
            assert_eq!(tail.cursor(), cursor);
        }
        follow(&mut tail, (cursor + 1).min(3000)).await;
        cursor = tail.cursor();
    }
    pouring.await.unwrap();
}

async fn a_tail_ends_with_its_task(store: Store) {
    create(&store, task(1, "ann")).await;
    append(&store, id(1), lines(2)).await.unwrap();
    let mut tail = store.tail(id(1), 0);
    follow(&mut tail, 2).await;
    let waiting = tokio::spawn(async move { tail.next().await });
    store.commit(Hard::Soon, |tx| tx.delete_task(id(1))).await.unwrap();
    assert_eq!(waiting.await.unwrap(), Err(StoreError::NoTask(id(1))));
}

async fn a_tail_of_no_task_says_so(store: Store) {
    assert_eq!(store.tail(id(1), 0).next().await, Err(StoreError::NoTask(id(1))));
}

async fn many_followers_see_the_same(store: Store) {
    create(&store, task(1, "ann")).await;
    let followers: Vec<_> = (0..50)
        .map(|_| {
            let mut tail = store.tail(id(1), 0);
            tokio::spawn(async move { follow(&mut tail, 2000).await })
        })
        .collect();
    pour(&store, 2000).await;
    for follower in followers {
        follower.await.unwrap();
    }
}
