//! Rows read back as they were written, and only to whom they belong.

use crate::samples::{NOW, append, artifact, create, entry, id, line, lines, plugin, question, seqs, task, turn};
use windlass_core::{Cause, Kind, Millis, Status, TaskId, WaitingFor};
use windlass_store::{
    AnswerRow, EntryKind, Hard, IdempotencyRow, PluginRow, SecretRow, Store, StoreError, TaskFilter, TaskRow, TokenRow,
    TurnRow,
};

for_both! {
    a_task_reads_back_as_it_was_written
    a_turn_reads_back_as_it_was_written
    a_record_reads_back_as_it_was_written
    a_journal_reads_back_in_the_order_of_the_guest
    records_of_a_turn_are_found
    an_old_epoch_is_refused
    anothers_task_does_not_exist
    lists_page_from_the_newest_without_a_gap
    lists_show_what_a_task_shows
    text_is_found_whatever_its_case
    messages_are_taken_once
    questions_are_answered_once
    an_idempotency_key_is_its_owners_for_a_day
    state_is_measured_in_bytes
    artifacts_come_in_the_order_stored
    plugins_are_replaced_by_name
    a_secret_has_versions_that_are_written_once
    a_token_is_found_by_its_digest_alone_and_stays_when_it_ends
    a_deleted_task_leaves_nothing
    what_hangs_on_no_task_is_refused
    parked_turns_are_found_by_their_time
    what_sites_had_stored_is_replaced_and_forgotten
    a_turn_that_is_trimmed_leaves_the_later_ones
    a_store_that_forgets_is_as_it_was_at_the_chosen_commit
}

async fn write<T: Send + 'static>(
    store: &Store,
    f: impl FnOnce(&mut dyn windlass_store::Tx) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    store.commit(Hard::Soon, f).await
}

async fn read<T: Send + 'static>(
    store: &Store,
    f: impl FnOnce(&mut dyn windlass_store::Rows) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.read(f).await.unwrap()
}

async fn list(store: &Store, filter: TaskFilter, limit: usize) -> Vec<TaskId> {
    read(store, move |rows| Ok(rows.tasks(&filter, limit)?.into_iter().map(|row| row.id).collect())).await
}

async fn a_task_reads_back_as_it_was_written(store: Store) {
    let full = TaskRow {
        title: Some("A title with \0 and 漢".into()),
        input: "{\"big\":\"".to_owned() + &"x".repeat(100_000) + "\"}",
        updated: Millis(NOW.0 + 1),
        ended: Some(NOW),
        archived: Some(NOW),
        turn: 7,
        status: Status::Failed,
        waiting_for: Some(WaitingFor::Operator),
        cause: Some(Cause::Deadline),
        question: true,
        status_message: Some("waits".into()),
        timeout_millis: Some(5),
        epoch: 3,
        ..task(1, "ann")
    };
    create(&store, full.clone()).await;
    assert_eq!(read(&store, |rows| rows.task(id(1), None)).await, Some(full.clone()));
    append(&store, id(1), lines(2)).await.unwrap();
    let other = TaskRow { last_seq: 77, input: "[]".into(), ..task(1, "ben") };
    assert_eq!(
        write(&store, {
            let row = full.clone();
            move |tx| tx.insert_task(&row)
        })
        .await,
        Err(StoreError::Conflict("task"))
    );
    write(&store, {
        let row = other.clone();
        move |tx| tx.update_task(&row)
    })
    .await
    .unwrap();
    let row = read(&store, |rows| rows.task(id(1), None)).await;
    assert_eq!(row, Some(TaskRow { last_seq: 2, ..other }), "the store alone counts records");
}

async fn a_turn_reads_back_as_it_was_written(store: Store) {
    create(&store, task(1, "ann")).await;
    write(&store, |tx| tx.put_turn(&turn(id(1), 1))).await.unwrap();
    assert_eq!(read(&store, |rows| rows.turn(id(1), 1)).await, Some(turn(id(1), 1)));
    let ended = TurnRow {
        status: Status::Completed,
        cause: Some(Cause::Trap),
        message: Some(4),
        started: Some(NOW),
        ended: Some(NOW),
        deadline: Some(NOW),
        cancel: Some(NOW),
        overdue: Some(NOW),
        result: Some("{}".into()),
        recoveries: 2,
        entries_seen: 9,
        ran: 1234,
        ..turn(id(1), 1)
    };
    write(&store, {
        let row = ended.clone();
        move |tx| tx.put_turn(&row)
    })
    .await
    .unwrap();
    assert_eq!(read(&store, |rows| rows.turn(id(1), 1)).await, Some(ended));
    assert_eq!(read(&store, |rows| rows.turn(id(1), 2)).await, None);
}

async fn a_record_reads_back_as_it_was_written(store: Store) {
    create(&store, task(1, "ann")).await;
    let big = "é".repeat(30_000);
    let drafts = vec![line(&big).with("a\0", "\u{0}\n").with("n", 1.5).at(12), line("")];
    assert_eq!(append(&store, id(1), drafts.clone()).await, Ok(2));
    assert_eq!(append(&store, id(1), Vec::new()).await, Ok(2));
    let records = read(&store, |rows| rows.records(id(1), 0, 9)).await;
    for (record, draft) in records.iter().zip(&drafts) {
        assert_eq!((record.task_id, record.time, record.turn), (id(1), NOW, 1));
        assert_eq!((record.kind, record.pos), (Kind::Log, draft.pos));
        assert_eq!((&record.text, &record.data), (&draft.text, &draft.data));
    }
    assert_eq!(read(&store, |rows| rows.records(id(1), 1, 9)).await, records[1..]);
    assert_eq!(read(&store, |rows| rows.records(id(1), 0, 1)).await, records[..1]);
    assert_eq!(read(&store, |rows| rows.records(id(1), u64::from(u32::MAX), 1)).await, []);
}

async fn a_journal_reads_back_in_the_order_of_the_guest(store: Store) {
    create(&store, task(1, "ann")).await;
    write(&store, |tx| {
        tx.put_turn(&turn(id(1), 1))?;
        tx.put_turn(&turn(id(1), 2))?;
        let big = windlass_store::EntryRow { answer: vec![7; 65_536], ..entry(1, 2, EntryKind::Answer) };
        tx.put_entries(id(1), &[big, entry(1, 3, EntryKind::Sample), entry(2, 1, EntryKind::Answer)])?;
        tx.put_entries(id(1), &[entry(1, 2, EntryKind::Started), entry(1, 1, EntryKind::Answer)])
    })
    .await
    .unwrap();
    let entries = read(&store, |rows| rows.entries(id(1), 1)).await;
    let order: Vec<_> = entries.iter().map(|e| (e.pos, e.kind)).collect();
    let (started, answer, sample) = (EntryKind::Started, EntryKind::Answer, EntryKind::Sample);
    assert_eq!(order, [(1, answer), (2, started), (2, answer), (3, sample)]);
    assert_eq!((entries[2].answer.len(), &entries[0]), (65_536, &entry(1, 1, answer)));
    let again = write(&store, move |tx| tx.put_entries(id(1), &[entry(1, 3, sample)])).await;
    assert_eq!(again, Err(StoreError::Conflict("entry")));
    let nowhere = write(&store, move |tx| tx.put_entries(id(1), &[entry(9, 3, sample)])).await;
    assert_eq!(nowhere, Err(StoreError::Missing("turn")));
}

async fn records_of_a_turn_are_found(store: Store) {
    create(&store, task(1, "ann")).await;
    for turn in [1, 2, 2, 3, 2] {
        let records = lines(3).into_iter().map(|draft| windlass_core::Draft { turn, ..draft }).collect();
        append(&store, id(1), records).await.unwrap();
    }
    for (turn, expected) in
        [(1, vec![1, 2, 3]), (2, vec![4, 5, 6, 7, 8, 9, 13, 14, 15]), (3, vec![10, 11, 12]), (4, vec![])]
    {
        let found = read(&store, move |rows| rows.turn_records(id(1), turn)).await;
        assert_eq!(found.iter().map(|record| record.seq).collect::<Vec<_>>(), expected, "turn {turn}");
    }
}

async fn an_old_epoch_is_refused(store: Store) {
    create(&store, task(1, "ann")).await;
    assert_eq!(write(&store, |tx| tx.fence(id(1), 1)).await, Ok(()));
    write(&store, |tx| tx.update_task(&TaskRow { epoch: 2, ..task(1, "ann") })).await.unwrap();
    let late = write(&store, |tx| {
        tx.fence(id(1), 1)?;
        tx.append(id(1), &lines(1))
    });
    assert_eq!(late.await, Err(StoreError::Fenced));
    assert_eq!(write(&store, |tx| tx.fence(id(1), 2)).await, Ok(()));
    assert_eq!(seqs(&store, id(1)).await, Vec::<u64>::new());
}

async fn anothers_task_does_not_exist(store: Store) {
    create(&store, task(1, "ann")).await;
    assert!(read(&store, |rows| rows.task(id(1), Some("ann"))).await.is_some());
    assert_eq!(read(&store, |rows| rows.task(id(1), Some("Ann"))).await, None);
    assert_eq!(read(&store, |rows| rows.task(id(1), Some(""))).await, None);
    assert_eq!(read(&store, |rows| rows.task(id(2), None)).await, None);
    let inside = write(&store, |tx| tx.task(id(1), Some("ben"))).await;
    assert_eq!(inside, Ok(None));
}

async fn lists_page_from_the_newest_without_a_gap(store: Store) {
    for n in 0..50 {
        create(&store, task(n, if n % 2 == 0 { "ann" } else { "ben" })).await;
    }
    let mut filter = TaskFilter { principal: Some("ann".into()), ..TaskFilter::default() };
    let mut found = Vec::new();
    loop {
        let page = list(&store, filter.clone(), 7).await;
        let Some(last) = page.last() else { break };
        filter.before = Some(*last);
        found.extend(page);
    }
    assert_eq!(found, (0..50).rev().filter(|n| n % 2 == 0).map(id).collect::<Vec<_>>());
    assert_eq!(list(&store, TaskFilter::default(), 3).await, [id(49), id(48), id(47)]);
    assert_eq!(list(&store, TaskFilter::default(), 0).await, []);
    write(&store, |tx| tx.update_task(&TaskRow { status: Status::Completed, ..task(3, "ben") })).await.unwrap();
    let open = read(&store, |rows| rows.open_tasks()).await;
    assert_eq!(open, (0..50).filter(|n| *n != 3).map(id).collect::<Vec<_>>());
}

async fn lists_show_what_a_task_shows(store: Store) {
    let completed = |n| TaskRow { status: Status::Completed, ..task(n, "ann") };
    create(&store, task(1, "ann")).await;
    create(&store, completed(2)).await;
    create(&store, TaskRow { question: true, ..completed(3) }).await;
    create(&store, TaskRow { status: Status::InputRequired, waiting_for: Some(WaitingFor::Input), ..task(4, "ann") })
        .await;
    create(&store, TaskRow { archived: Some(NOW), tool: "mail.send".into(), ..completed(5) }).await;
    for principal in [None, Some("ann".to_owned())] {
        let all = TaskFilter { principal, ..TaskFilter::default() };
        let status = |status| TaskFilter { status: Some(status), ..all.clone() };
        assert_eq!(list(&store, status(Status::Working), 9).await, [id(1)]);
        assert_eq!(list(&store, status(Status::Completed), 9).await, [id(5), id(2)]);
        assert_eq!(list(&store, status(Status::InputRequired), 9).await, [id(4), id(3)]);
        assert_eq!(list(&store, TaskFilter { archived: Some(true), ..all.clone() }, 9).await, [id(5)]);
        let kept = TaskFilter { archived: Some(false), ..status(Status::Completed) };
        assert_eq!(list(&store, kept, 9).await, [id(2)]);
        assert_eq!(list(&store, TaskFilter { tool: Some("mail.send".into()), ..all }, 9).await, [id(5)]);
    }
}

async fn text_is_found_whatever_its_case(store: Store) {
    create(&store, TaskRow { title: Some("100 % ÄRGER".into()), ..task(1, "ann") }).await;
    create(&store, TaskRow { title: Some("under_score".into()), ..task(2, "ann") }).await;
    create(&store, task(3, "ann")).await;
    let find = |text: &str| {
        let filter = TaskFilter { text: Some(text.into()), ..TaskFilter::default() };
        let store = store.clone();
        async move { list(&store, filter, 9).await }
    };
    assert_eq!(find("%").await, [id(1)], "no wildcard");
    assert_eq!(find("_").await, [id(2)], "no wildcard");
    assert_eq!(find("ärger").await, [id(1)]);
    assert_eq!(find("ORDER.").await, [id(3), id(2), id(1)]);
    assert_eq!(find(&id(2).to_string().to_uppercase()).await, [id(2)]);
    assert_eq!(find("").await.len(), 3);
}

async fn messages_are_taken_once(store: Store) {
    create(&store, task(1, "ann")).await;
    create(&store, task(2, "ann")).await;
    for n in 1..=3 {
        assert_eq!(write(&store, move |tx| tx.insert_message(id(1), &format!("m{n}"), "ann", NOW)).await, Ok(n));
    }
    assert_eq!(write(&store, |tx| tx.insert_message(id(2), "other", "ann", NOW)).await, Ok(1));
    write(&store, |tx| tx.take_messages(id(1), &[1, 3], 2)).await.unwrap();
    let pending = read(&store, |rows| rows.pending_messages(id(1))).await;
    assert_eq!(pending.iter().map(|m| (m.id, m.text.as_str())).collect::<Vec<_>>(), [(2, "m2")]);
    let taken = read(&store, |rows| rows.message(id(1), 3)).await.unwrap();
    assert_eq!((taken.taken, taken.sender.as_str(), taken.sent), (Some(2), "ann", NOW));
    write(&store, |tx| tx.take_messages(id(1), &[1], 2)).await.unwrap();
    let other = write(&store, |tx| tx.take_messages(id(1), &[2, 1], 3)).await;
    assert_eq!(other, Err(StoreError::Missing("pending message")));
    assert_eq!(read(&store, |rows| rows.pending_messages(id(1))).await.len(), 1, "not even the other one was taken");
}

async fn questions_are_answered_once(store: Store) {
    create(&store, task(1, "ann")).await;
    let (first, second) = (question(id(1), 0, "t1.pay"), question(id(1), 1, "t1.amount"));
    write(&store, {
        let rows = [second.clone(), first.clone()];
        move |tx| rows.iter().try_for_each(|row| tx.insert_question(row))
    })
    .await
    .unwrap();
    let answer = AnswerRow { action: "accept".into(), content: Some("{}".into()), by: "ann".into(), at: NOW };
    let give = |key: &'static str| {
        let (store, answer) = (store.clone(), answer.clone());
        async move { write(&store, move |tx| tx.answer_question(id(1), key, &answer)).await }
    };
    assert_eq!(give("t1.pay").await, Ok(()));
    assert_eq!(give("t1.pay").await, Err(StoreError::Conflict("answer")));
    assert_eq!(give("t1.other").await, Err(StoreError::Missing("question")));
    let answered = windlass_store::QuestionRow { answer: Some(answer.clone()), ..first };
    assert_eq!(read(&store, |rows| rows.questions(id(1))).await, [answered, second]);
    let again = write(&store, |tx| tx.insert_question(&question(id(1), 7, "t1.pay"))).await;
    assert_eq!(again, Err(StoreError::Conflict("question")));
}

async fn an_idempotency_key_is_its_owners_for_a_day(store: Store) {
    let used = |n, at| IdempotencyRow { task: id(n), request: [3; 32], at: Millis(at) };
    let put = |principal: &'static str, row: IdempotencyRow| {
        let store = store.clone();
        async move { write(&store, move |tx| tx.put_idempotency(principal, "k", &row)).await }
    };
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(put("ann", used(1, 1000)).await, Ok(()));
    assert_eq!(put("ben", used(2, 1000)).await, Ok(()), "another's key is another key");
    assert_eq!(put("ann", used(3, 1000 + day)).await, Err(StoreError::Conflict("idempotency key")));
    assert_eq!(read(&store, |rows| rows.idempotency("ann", "k")).await, Some(used(1, 1000)));
    assert_eq!(put("ann", used(3, 1001 + day)).await, Ok(()));
    assert_eq!(read(&store, |rows| rows.idempotency("ann", "k")).await, Some(used(3, 1001 + day)));
    write(&store, |tx| tx.forget_idempotency(Millis(5000))).await.unwrap();
    assert_eq!(read(&store, |rows| rows.idempotency("ben", "k")).await, None);
    assert!(read(&store, |rows| rows.idempotency("ann", "k")).await.is_some());
}

async fn state_is_measured_in_bytes(store: Store) {
    create(&store, task(1, "ann")).await;
    write(&store, |tx| {
        tx.put_state(id(1), "ü", Some("\"é\""))?;
        tx.put_state(id(1), "a/2", Some("2"))?;
        tx.put_state(id(1), "a/1", Some("old"))?;
        tx.put_state(id(1), "a/1", Some("1"))
    })
    .await
    .unwrap();
    assert_eq!(read(&store, |rows| rows.state_size(id(1))).await, 2 + 4 + 4 + 4);
    assert_eq!(read(&store, |rows| rows.state_keys(id(1), "")).await, ["a/1", "a/2", "ü"]);
    assert_eq!(read(&store, |rows| rows.state_keys(id(1), "a/")).await, ["a/1", "a/2"]);
    assert_eq!(read(&store, |rows| rows.state(id(1), "ü")).await.as_deref(), Some("\"é\""));
    write(&store, |tx| tx.put_state(id(1), "ü", None)).await.unwrap();
    assert_eq!(read(&store, |rows| rows.state(id(1), "ü")).await, None);
    assert_eq!(read(&store, |rows| rows.state_size(id(1))).await, 8);
    assert_eq!(read(&store, |rows| rows.state_size(id(2))).await, 0);
}

async fn artifacts_come_in_the_order_stored(store: Store) {
    create(&store, task(1, "ann")).await;
    for name in ["a2", "a10", "a1"] {
        write(&store, move |tx| tx.insert_artifact(id(1), &artifact(name))).await.unwrap();
    }
    let stored = read(&store, |rows| rows.artifacts(id(1))).await;
    assert_eq!(stored, [artifact("a2"), artifact("a10"), artifact("a1")]);
    assert_eq!(read(&store, |rows| rows.artifact(id(1), "a10")).await, Some(artifact("a10")));
    assert_eq!(read(&store, |rows| rows.artifact(id(1), "a3")).await, None);
    let again = write(&store, |tx| tx.insert_artifact(id(1), &artifact("a1"))).await;
    assert_eq!(again, Err(StoreError::Conflict("artifact")));
}

async fn a_secret_has_versions_that_are_written_once(store: Store) {
    let row = |name: &str, version| SecretRow {
        name: name.to_owned(),
        version,
        origins: r#"["https://shop.example"]"#.into(),
        sealed: vec![0, 1, 255],
        created: Millis(7),
    };
    for (name, version) in [("b", 1), ("a", 2), ("a", 1), ("a", 3)] {
        write(&store, move |tx| tx.put_secret(&row(name, version))).await.unwrap();
    }
    assert_eq!(write(&store, move |tx| tx.put_secret(&row("a", 3))).await, Err(StoreError::Conflict("secret")));
    assert_eq!(read(&store, |rows| rows.secrets()).await, [row("a", 1), row("a", 2), row("a", 3), row("b", 1)]);
    write(&store, |tx| tx.delete_secret("a", Some(3))).await.unwrap();
    assert_eq!(read(&store, |rows| rows.secrets()).await, [row("a", 3), row("b", 1)]);
    write(&store, |tx| tx.delete_secret("a", None)).await.unwrap();
    assert_eq!(read(&store, |rows| rows.secrets()).await, [row("b", 1)]);
}

async fn plugins_are_replaced_by_name(store: Store) {
    write(&store, |tx| {
        tx.put_plugin(&plugin("order"))?;
        tx.put_plugin(&plugin("mail"))?;
        tx.put_plugin(&PluginRow { enabled: false, ..plugin("order") })
    })
    .await
    .unwrap();
    let off = PluginRow { enabled: false, ..plugin("order") };
    assert_eq!(read(&store, |rows| rows.plugins()).await, [plugin("mail"), off]);
    write(&store, |tx| tx.delete_plugin("mail")).await.unwrap();
    assert_eq!(read(&store, |rows| rows.plugin("mail")).await, None);
    assert!(read(&store, |rows| rows.plugin("order")).await.is_some());
}

async fn a_token_is_found_by_its_digest_alone_and_stays_when_it_ends(store: Store) {
    let token = |id: u64, name: &str| TokenRow {
        id,
        name: name.into(),
        digest: [u8::try_from(id).unwrap(); 32],
        operator: false,
        created: NOW,
        expires: None,
        revoked: None,
        used: None,
    };
    let full = TokenRow { operator: true, expires: Some(NOW), used: Some(NOW), ..token(2, "ben") };
    let (first, second) = (token(1, "ann"), full.clone());
    write(&store, move |tx| tx.put_token(&second).and_then(|()| tx.put_token(&first))).await.unwrap();
    assert_eq!(read(&store, |rows| rows.tokens()).await, [token(1, "ann"), full.clone()]);
    let ended = TokenRow { revoked: Some(NOW), ..token(1, "ann") };
    let changed = TokenRow { digest: [9; 32], ..ended.clone() };
    write(&store, move |tx| tx.put_token(&changed)).await.unwrap();
    assert_eq!(read(&store, |rows| rows.tokens()).await, [ended.clone(), full.clone()], "a digest never changes");
    let again = TokenRow { id: 3, ..full.clone() };
    let refused = write(&store, move |tx| tx.put_token(&again)).await;
    assert_eq!(refused, Err(StoreError::Conflict("token")));
    assert_eq!(read(&store, |rows| rows.tokens()).await, [ended, full]);
}

async fn a_deleted_task_leaves_nothing(store: Store) {
    for n in [1, 2] {
        write(&store, move |tx| {
            tx.insert_task(&task(n, "ann"))?;
            tx.put_turn(&turn(id(n), 1))?;
            tx.append(id(n), &lines(2500))?;
            tx.put_entries(id(n), &[entry(1, 1, EntryKind::Answer)])?;
            tx.insert_question(&question(id(n), 0, "t1.pay"))?;
            tx.insert_message(id(n), "m", "ann", NOW)?;
            tx.insert_artifact(id(n), &artifact("a1"))?;
            tx.put_sites(id(n), Some(b"sealed"))?;
            tx.put_state(id(n), "k", Some("v"))
        })
        .await
        .unwrap();
    }
    write(&store, |tx| tx.delete_task(id(1))).await.unwrap();
    for (n, count) in [(1, 0), (2, 1)] {
        let left = read(&store, move |rows| {
            Ok([
                usize::from(rows.task(id(n), None)?.is_some()),
                usize::from(rows.turn(id(n), 1)?.is_some()),
                rows.records(id(n), 2499, 9)?.len(),
                rows.turn_records(id(n), 1)?.len() / 2500,
                rows.entries(id(n), 1)?.len(),
                rows.questions(id(n))?.len(),
                rows.pending_messages(id(n))?.len(),
                rows.artifacts(id(n))?.len(),
                rows.state_keys(id(n), "")?.len(),
                usize::from(rows.sites(id(n))?.is_some()),
            ])
        });
        assert_eq!(left.await, [count; 10], "task {n}");
    }
    assert_eq!(read(&store, |rows| rows.turns_of("order")).await, 1);
    assert_eq!(read(&store, |rows| rows.bounds(id(1))).await, (1, 0));
    assert_eq!(append(&store, id(1), lines(1)).await, Err(StoreError::NoTask(id(1))));
    // A task of the same id begins anew, whatever of the old one is still to be purged.
    create(&store, task(1, "ann")).await;
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(1));
    assert_eq!(read(&store, |rows| rows.questions(id(1))).await, []);
}

async fn what_hangs_on_no_task_is_refused(store: Store) {
    let none = StoreError::NoTask(id(1));
    assert_eq!(append(&store, id(1), lines(1)).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.update_task(&task(1, "ann"))).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.delete_task(id(1))).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.put_turn(&turn(id(1), 1))).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.fence(id(1), 1)).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.put_state(id(1), "k", Some("v"))).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.insert_message(id(1), "m", "ann", NOW)).await.unwrap_err(), none);
    assert_eq!(write(&store, |tx| tx.insert_question(&question(id(1), 0, "k"))).await.unwrap_err(), none);
}

async fn parked_turns_are_found_by_their_time(store: Store) {
    use windlass_store::ParkedRow;
    let at = |n: i64| Some(Millis(NOW.0 + n));
    for n in 1..=4 {
        create(&store, task(n, "ann")).await;
    }
    let row = |wake, pages: &[u32]| ParkedRow { wake, pages: pages.to_vec() };
    let rows = [(1, row(at(30), &[])), (2, row(at(10), &[1, 4])), (3, row(None, &[]))];
    for (n, row) in rows.clone() {
        write(&store, move |tx| tx.put_parked(id(n), Some(&row))).await.unwrap();
    }
    for (n, row) in rows {
        assert_eq!(read(&store, move |rows| rows.parked(id(n))).await, Some(row));
    }
    assert_eq!(read(&store, |rows| rows.running_tasks()).await, [id(4)]);
    assert_eq!(read(&store, |rows| rows.count_parked()).await, 3);
    assert_eq!(read(&store, |rows| rows.parked_with_pages()).await, [id(2)]);
    assert_eq!(read(&store, |rows| rows.next_wake()).await, at(10));
    assert_eq!(read(&store, move |rows| rows.due(Millis(NOW.0 + 9), 9)).await, []);
    assert_eq!(read(&store, move |rows| rows.due(Millis(NOW.0 + 30), 9)).await, [id(2), id(1)]);
    assert_eq!(read(&store, move |rows| rows.due(Millis(NOW.0 + 30), 1)).await, [id(2)]);
    // Its row may change meanwhile, and that parks nothing and wakes nothing.
    write(&store, |tx| tx.update_task(&TaskRow { title: Some("x".into()), ..task(2, "ann") })).await.unwrap();
    write(&store, |tx| tx.put_parked(id(1), None)).await.unwrap();
    assert_eq!(read(&store, |rows| rows.running_tasks()).await, [id(1), id(4)]);
    assert_eq!(read(&store, |rows| rows.parked(id(1))).await, None);
    write(&store, |tx| tx.delete_task(id(2))).await.unwrap();
    assert_eq!(read(&store, |rows| rows.next_wake()).await, None);
}

async fn what_sites_had_stored_is_replaced_and_forgotten(store: Store) {
    create(&store, task(1, "ann")).await;
    assert_eq!(read(&store, |rows| rows.sites(id(1))).await, None);
    for sealed in [b"first".as_slice(), b"second", b"\0\xff"] {
        write(&store, move |tx| tx.put_sites(id(1), Some(sealed))).await.unwrap();
        assert_eq!(read(&store, |rows| rows.sites(id(1))).await.as_deref(), Some(sealed));
    }
    write(&store, |tx| tx.put_sites(id(1), None)).await.unwrap();
    assert_eq!(read(&store, |rows| rows.sites(id(1))).await, None);
    assert_eq!(write(&store, |tx| tx.put_sites(id(2), None)).await, Err(StoreError::NoTask(id(2))));
}

async fn a_turn_that_is_trimmed_leaves_the_later_ones(store: Store) {
    create(&store, TaskRow { turn: 3, ..task(1, "ann") }).await;
    let of = |turn: u32, n: usize| -> Vec<_> {
        lines(n).into_iter().map(|line| windlass_core::Draft { turn, ..line }).collect()
    };
    for (number, records) in [(1, 2500), (2, 3), (3, 2)] {
        let ended = Some(Millis(NOW.0 + i64::from(number))).filter(|_| number < 3);
        let status = if number < 3 { Status::Completed } else { Status::Working };
        let row = TurnRow { ended, status, ..turn(id(1), number) };
        write(&store, move |tx| tx.put_turn(&row)).await.unwrap();
        append(&store, id(1), of(number, records)).await.unwrap();
        let file = windlass_store::ArtifactRow { turn: number, ..artifact(&format!("a{number}")) };
        write(&store, move |tx| {
            tx.put_entries(id(1), &[entry(number, 1, EntryKind::Answer)])?;
            tx.insert_artifact(id(1), &file)
        })
        .await
        .unwrap();
    }
    let ended = |n| read(&store, move |rows| rows.ended_turns(Millis(NOW.0 + n), 9));
    assert_eq!(ended(2).await, [(id(1), 1)]);
    assert_eq!(ended(9).await, [(id(1), 1), (id(1), 2)], "an open turn is not among them");
    while write(&store, |tx| tx.trim_turn(id(1), 2)).await.unwrap() {
        // Out of reach from the first slice on.
        assert_eq!(read(&store, |rows| rows.bounds(id(1))).await, (2504, 2505));
    }
    assert_eq!(read(&store, |rows| rows.bounds(id(1))).await, (2504, 2505));
    assert_eq!(seqs(&store, id(1)).await, [2504, 2505]);
    assert_eq!(ended(9).await, []);
    for (number, left) in [(1, 0), (2, 0), (3, 1)] {
        assert_eq!(read(&store, move |rows| rows.entries(id(1), number)).await.len(), left);
        assert_eq!(read(&store, move |rows| rows.turn(id(1), number)).await.is_some(), left == 1);
    }
    let files = read(&store, |rows| rows.artifacts(id(1))).await;
    assert_eq!(files.iter().map(|file| file.id.as_str()).collect::<Vec<_>>(), ["a3"]);
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(2506));
    assert!(write(&store, |tx| tx.trim_turn(id(1), 3)).await.is_err(), "the newest turn stays");
}

async fn a_store_that_forgets_is_as_it_was_at_the_chosen_commit(_: Store) {
    let (store, forgetful) = Store::forgetful();
    create(&store, task(1, "ann")).await;
    forgetful.forget_after(2);
    for _ in 0..5 {
        append(&store, id(1), lines(1)).await.unwrap();
    }
    assert!(forgetful.has_forgotten());
    assert_eq!(seqs(&store, id(1)).await.len(), 5, "who uses it notices nothing");
    let (left, _) = forgetful.reopen();
    assert_eq!(seqs(&left, id(1)).await, [1, 2]);
}
