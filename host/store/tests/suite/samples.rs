//! Rows to begin with.

use windlass_core::{Draft, Kind, Limits, Millis, Status, TaskId};
use windlass_store::{
    ArtifactRow, EntryKind, EntryRow, Hard, PluginRow, QuestionRow, Store, StoreError, TaskRow, TurnRow,
};

pub(crate) const NOW: Millis = Millis(1_764_444_021_123);

/// The nth task: later ones have greater ids.
pub(crate) fn id(n: u64) -> TaskId {
    TaskId::new(1_764_444_021_123 + n, [7; 10])
}

pub(crate) fn task(n: u64, principal: &str) -> TaskRow {
    TaskRow {
        id: id(n),
        principal: principal.into(),
        tool: "order.place".into(),
        plugin: "order".into(),
        title: None,
        input: "{}".into(),
        created: NOW,
        updated: NOW,
        ended: None,
        archived: None,
        turn: 1,
        status: Status::Working,
        waiting_for: None,
        cause: None,
        question: false,
        status_message: None,
        timeout_millis: None,
        epoch: 1,
        first_seq: 1,
        last_seq: 0,
    }
}

pub(crate) fn turn(task: TaskId, number: u32) -> TurnRow {
    TurnRow {
        task,
        number,
        status: Status::Working,
        cause: None,
        plugin: "order".into(),
        digest: "ab".repeat(32),
        seed: [5; 32],
        limits: Limits::default(),
        pinned: "windlass:task@1".into(),
        message: None,
        opened: NOW,
        started: None,
        ended: None,
        deadline: None,
        cancel: None,
        overdue: None,
        result: None,
        recoveries: 0,
        entries_seen: 0,
        ran: 0,
    }
}

pub(crate) fn entry(turn: u32, pos: u32, kind: EntryKind) -> EntryRow {
    EntryRow {
        turn,
        pos,
        kind,
        call: "browser.click".into(),
        key: [9; 16],
        time: NOW.as_nanos(),
        nth: 3,
        answer: vec![1, 2, 3],
    }
}

pub(crate) fn question(task: TaskId, index: u32, key: &str) -> QuestionRow {
    QuestionRow {
        task,
        turn: 1,
        step: 4,
        index,
        key: key.into(),
        message: "Pay?".into(),
        schema: "{}".into(),
        people_only: true,
        expires: Some(NOW),
        answer: None,
    }
}

pub(crate) fn artifact(id: &str) -> ArtifactRow {
    ArtifactRow {
        id: id.into(),
        name: "receipt.png".into(),
        mime_type: "image/png".into(),
        size: 60_211,
        sha256: "9f".repeat(32),
        width: Some(1280),
        height: Some(720),
        created: NOW,
        turn: 1,
    }
}

pub(crate) fn plugin(name: &str) -> PluginRow {
    PluginRow {
        name: name.into(),
        digest: "ab".repeat(32),
        manifest: "{}".into(),
        grants: "[]".into(),
        enabled: true,
        built_in: false,
        size: 5,
        added: NOW,
    }
}

pub(crate) fn line(text: &str) -> Draft {
    Draft::new(NOW, 1, Kind::Log, text)
}

pub(crate) fn lines(n: usize) -> Vec<Draft> {
    (0..n).map(|n| line(&format!("line {n}")).with("n", n)).collect()
}

pub(crate) async fn create(store: &Store, row: TaskRow) {
    store.commit(Hard::Soon, move |tx| tx.insert_task(&row)).await.unwrap();
}

pub(crate) async fn append(store: &Store, task: TaskId, records: Vec<Draft>) -> Result<u64, StoreError> {
    store.commit(Hard::Soon, move |tx| tx.append(task, &records)).await
}

pub(crate) async fn seqs(store: &Store, task: TaskId) -> Vec<u64> {
    store
        .read(move |rows| rows.records(task, 0, usize::MAX).map(|r| r.iter().map(|r| r.seq).collect::<Vec<_>>()))
        .await
        .unwrap()
}
