//! What a transaction is: whole or nothing, in order, and nobody else's business.

use crate::samples::{append, create, entry, id, line, lines, seqs, task, turn};
use windlass_store::{EntryKind, Hard, Store, StoreError};

for_both! {
    numbers_have_no_gap_under_64_appenders
    a_refused_closure_leaves_the_others_in_its_commit
    a_failed_write_dooms_its_closure_even_if_it_is_swallowed
    a_panic_is_one_closures_own
    numbers_go_on_after_a_closure_was_undone
    queued_writes_happen_in_their_order
    a_view_inside_a_transaction_sees_its_own_writes
    changes_are_told_after_the_commit_and_only_then
    a_closed_store_says_so
}

async fn numbers_have_no_gap_under_64_appenders(store: Store) {
    for n in 0..8 {
        create(&store, task(n, "ann")).await;
    }
    let appenders = (0..64_u64).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut given = Vec::new();
            for round in 0..40_usize {
                let count = 1 + round % 3;
                let hard = if round % 10 == 0 { Hard::Yes } else { Hard::Soon };
                let records = lines(count);
                let last: u64 = store
                    .commit(hard, move |tx| tx.append(id(n % 8), &records))
                    .await
                    .map_err(|e: StoreError| e)
                    .unwrap();
                given.extend(last + 1 - count as u64..=last);
            }
            (n % 8, given)
        })
    });
    let mut given = vec![Vec::new(); 8];
    for appender in appenders.collect::<Vec<_>>() {
        let (task, seqs) = appender.await.unwrap();
        given[usize::try_from(task).unwrap()].extend(seqs);
    }
    for (task, mut given) in (0..).zip(given) {
        given.sort_unstable();
        assert_eq!(given, (1..=given.len() as u64).collect::<Vec<_>>(), "each number was answered once");
        assert_eq!(seqs(&store, id(task)).await, given);
    }
}

async fn a_refused_closure_leaves_the_others_in_its_commit(store: Store) {
    create(&store, task(1, "ann")).await;
    let acks: Vec<_> = (0..100)
        .map(|n| {
            store.enqueue(Hard::Soon, move |tx| {
                tx.append(id(1), &[line(&n.to_string())])?;
                tx.put_state(id(1), &n.to_string(), Some("1"))?;
                if n % 2 == 1 { Err(StoreError::Missing("reason")) } else { Ok(n) }
            })
        })
        .collect();
    for (n, ack) in acks.into_iter().enumerate() {
        let expected = if n % 2 == 1 { Err(StoreError::Missing("reason")) } else { Ok(n) };
        assert_eq!(ack.await, expected);
    }
    let (texts, keys): (Vec<_>, _) = store
        .read(|rows| {
            let texts = rows.records(id(1), 0, 1000)?.into_iter().map(|r| r.text).collect();
            Ok::<_, StoreError>((texts, rows.state_keys(id(1), "")?))
        })
        .await
        .unwrap();
    assert_eq!(texts, (0..100).step_by(2).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(keys.len(), 50);
    assert_eq!(seqs(&store, id(1)).await, (1..=50).collect::<Vec<_>>());
}

async fn a_failed_write_dooms_its_closure_even_if_it_is_swallowed(store: Store) {
    create(&store, task(1, "ann")).await;
    store.commit(Hard::Soon, |tx| tx.put_turn(&turn(id(1), 1))).await.unwrap();
    let doomed: Result<(), StoreError> = store
        .commit(Hard::Soon, |tx| {
            tx.append(id(1), &[line("lost")])?;
            let twice = [entry(1, 1, EntryKind::Answer), entry(1, 1, EntryKind::Answer)];
            let _ = tx.put_entries(id(1), &twice);
            Ok(())
        })
        .await;
    assert_eq!(doomed, Err(StoreError::Conflict("entry")));
    assert_eq!(seqs(&store, id(1)).await, Vec::<u64>::new());
    assert_eq!(store.read(|rows| rows.entries(id(1), 1)).await, Ok(Vec::new()));
}

async fn a_panic_is_one_closures_own(store: Store) {
    create(&store, task(1, "ann")).await;
    let panicked: Result<(), StoreError> = store
        .commit(Hard::Soon, |tx| {
            tx.append(id(1), &[line("lost")])?;
            panic!("on purpose")
        })
        .await;
    assert_eq!(panicked, Err(StoreError::Panicked));
    let panicked: Result<(), StoreError> = store.read(|_| panic!("on purpose")).await;
    assert_eq!(panicked, Err(StoreError::Panicked));
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(1));
}

async fn numbers_go_on_after_a_closure_was_undone(store: Store) {
    create(&store, task(1, "ann")).await;
    let (before, undone, after) = (
        store.enqueue(Hard::Soon, |tx| tx.append(id(1), &lines(3))),
        store.enqueue(Hard::Soon, |tx| {
            tx.append(id(1), &lines(5))?;
            tx.update_task(&windlass_store::TaskRow { epoch: 9, ..task(1, "ben") })?;
            Err::<(), _>(StoreError::Fenced)
        }),
        store.enqueue(Hard::Soon, |tx| {
            tx.fence(id(1), 1)?;
            tx.append(id(1), &lines(1))
        }),
    );
    assert_eq!(before.await, Ok(3));
    assert_eq!(undone.await, Err(StoreError::Fenced));
    assert_eq!(after.await, Ok(4));
    assert_eq!(store.generation(), 0, "nobody lost a commit");
}

async fn queued_writes_happen_in_their_order(store: Store) {
    create(&store, task(1, "ann")).await;
    let acks: Vec<_> = (1..=2000).map(|n| (n, store.enqueue(Hard::Soon, |tx| tx.append(id(1), &lines(1))))).collect();
    for (n, ack) in acks {
        assert_eq!(ack.await, Ok(n));
    }
}

async fn a_view_inside_a_transaction_sees_its_own_writes(store: Store) {
    let bounds: Result<_, StoreError> = store
        .commit(Hard::Yes, |tx| {
            tx.insert_task(&task(1, "ann"))?;
            let last = tx.append(id(1), &lines(4))?;
            let row = tx.task(id(1), Some("ann"))?.ok_or(StoreError::Missing("task"))?;
            Ok((last, row.last_seq, tx.bounds(id(1))?, tx.records(id(1), 2, 9)?.len()))
        })
        .await;
    assert_eq!(bounds, Ok((4, 4, (1, 4), 2)));
}

async fn changes_are_told_after_the_commit_and_only_then(store: Store) {
    let mut changes = store.changes();
    create(&store, task(1, "ann")).await;
    let undone: Result<(), StoreError> = store
        .commit(Hard::Soon, |tx| {
            tx.insert_task(&task(2, "ben"))?;
            Err(StoreError::Fenced)
        })
        .await;
    assert_eq!(undone, Err(StoreError::Fenced));
    append(&store, id(1), lines(1)).await.unwrap();
    store.commit(Hard::Soon, |tx| tx.update_task(&task(1, "ann"))).await.unwrap();
    store.commit(Hard::Soon, |tx| tx.delete_task(id(1))).await.unwrap();
    for _ in 0..3 {
        let change = changes.recv().await.unwrap();
        assert_eq!((change.task, &*change.principal), (id(1), "ann"));
    }
    assert!(changes.try_recv().is_err());
}

async fn a_closed_store_says_so(store: Store) {
    create(&store, task(1, "ann")).await;
    let mut tail = store.tail(id(1), 0);
    let queued = store.enqueue(Hard::Soon, |tx| tx.append(id(1), &lines(1)));
    store.close().await;
    assert_eq!(queued.await, Ok(1), "what was queued before is committed");
    assert_eq!(append(&store, id(1), lines(1)).await, Err(StoreError::Closed));
    assert_eq!(store.read(|rows| rows.bounds(id(1))).await, Err(StoreError::Closed));
    assert_eq!(tail.poll_now().await, Err(StoreError::Closed));
    store.close().await;
}
