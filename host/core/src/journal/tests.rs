use super::*;

/// A small guest: what it does, in order.
#[derive(Clone, Debug)]
enum Act {
    Call(Call, &'static str),
    Line(&'static str),
    PollCancelled,
    ReadClock,
}

fn act() -> Vec<Act> {
    use Act::{Call as C, Line, PollCancelled, ReadClock};
    vec![
        Line("hello"),
        C(Call::StateGet, "a"),
        ReadClock,
        C(Call::BrowserClick, "b"),
        PollCancelled,
        PollCancelled,
        PollCancelled,
        Line("mid"),
        ReadClock,
        ReadClock,
        C(Call::Ask, "c"),
        C(Call::StateSet, "d"),
        Line("end"),
    ]
}

/// What the guest saw: answers, clock values, poll values.
type Seen = Vec<String>;

/// What is stored, what the guest saw, which effects happened, and whether it got to its end.
type Ran = (Vec<Past>, Seen, Vec<&'static str>, bool);

/// Runs the guest over `past`. The host dies when `budget` things were stored.
fn run(past: Vec<Past>, budget: usize) -> Result<Ran, Diverged> {
    let mut stored = past.clone();
    let mut journal = Journal::new(1_000_000, past).unwrap();
    let (mut seen, mut effects, mut cancelled, mut left) = (Seen::new(), Vec::new(), false, budget);
    let mut real = 5_000_000_000;
    macro_rules! store {
        ($past:expr) => {{
            if left == 0 {
                return Ok((stored, seen, effects, false));
            }
            left -= 1;
            stored.push($past);
        }};
    }
    for act in act() {
        real += 200_000_000;
        match act {
            Act::Line(text) => {
                if let Emit::Live { pos } = journal.emit(Kind::Log, text, &Map::new())? {
                    store!(Past::Emitted { pos, kind: Kind::Log, text: text.into(), data: Map::new() });
                }
            }
            Act::PollCancelled => {
                match journal.poll(Call::IsCancelled)? {
                    Poll::Changed(value) => cancelled = value == b"1",
                    Poll::Unchanged => {}
                    Poll::Live { nth: 2 } if !cancelled => {
                        cancelled = true;
                        store!(journal.sampled(Call::IsCancelled, 2, real, b"1".to_vec()).into());
                    }
                    Poll::Live { .. } => {}
                }
                seen.push(format!("cancelled {cancelled}"));
            }
            Act::ReadClock => {
                let (now, entry) = journal.clock(|| real);
                if let Some(entry) = entry {
                    store!(entry.into());
                }
                seen.push(format!("clock {now}"));
            }
            Act::Call(call, argument) => {
                let key = key(call, argument.as_bytes());
                let (pos, answer) = match journal.begin(call, key)? {
                    Begin::Answered(answer) => {
                        seen.push(String::from_utf8(answer).unwrap());
                        continue;
                    }
                    Begin::InDoubt { pos } => (pos, "interrupted".to_owned()),
                    Begin::Again { pos, .. } => (pos, format!("{argument} done")),
                    Begin::Live { pos } => {
                        if matches!(call.class(), Class::Once | Class::Mark) {
                            store!(journal.start(call, pos, key, real, vec![]).into());
                        }
                        effects.push(argument);
                        (pos, format!("{argument} done"))
                    }
                };
                store!(journal.finish(call, pos, key, real, answer.clone().into_bytes()).into());
                seen.push(answer);
            }
        }
    }
    journal.end()?;
    Ok((stored, seen, effects, true))
}

#[test]
fn a_turn_cut_anywhere_and_replayed_ends_as_if_it_was_never_cut() {
    let (whole, seen, effects, ended) = run(Vec::new(), usize::MAX).unwrap();
    assert!(ended && effects == ["a", "b", "c", "d"]);
    for cut in 0..whole.len() {
        let (stored, _, before, ended) = run(Vec::new(), cut).unwrap();
        assert!(!ended && stored.len() == cut);
        let in_doubt =
            matches!(stored.last(), Some(Past::Entry(e)) if e.kind == EntryKind::Started && e.call == "browser.click");
        let (after, seen_again, effects, ended) = run(stored, usize::MAX).unwrap();
        assert!(ended);
        let clicks = before.iter().chain(&effects).filter(|e| **e == "b").count();
        assert!(clicks <= 1, "cut at {cut}: clicked {clicks} times");
        if in_doubt {
            assert!(seen_again.contains(&"interrupted".to_owned()), "cut at {cut}");
        } else {
            assert_eq!(answers(&seen_again), answers(&seen), "cut at {cut}");
        }
        // And once more, over all of it: nothing new is stored, the same is seen.
        let (last, seen_last, none, _) = run(after.clone(), 0).unwrap();
        assert_eq!((last, seen_last, none), (after, seen_again, Vec::new()), "cut at {cut}");
    }
}

/// Without the clocks: they are real where the turn went on live.
fn answers(seen: &Seen) -> Vec<&String> {
    seen.iter().filter(|s| !s.starts_with("clock")).collect()
}

#[test]
fn each_way_to_disagree_is_found_with_its_place() {
    let (whole, ..) = run(Vec::new(), usize::MAX).unwrap();
    let mut journal = Journal::new(1_000_000, whole.clone()).unwrap();
    let other = journal.emit(Kind::Log, "other", &Map::new()).unwrap_err();
    assert_eq!((other.pos, other.expected.as_str(), other.actual.as_str()), (1, "log \"hello\"", "log \"other\""));
    assert_eq!(journal.end().unwrap_err().actual, "returned");
    journal.emit(Kind::Log, "hello", &Map::new()).unwrap();
    let arguments = journal.begin(Call::StateGet, key(Call::StateGet, b"z")).unwrap_err();
    assert_eq!(arguments.pos, 2);
    let call = journal.begin(Call::StateSet, key(Call::StateSet, b"a")).unwrap_err();
    assert!(call.expected.starts_with("state.get #") && call.actual.starts_with("state.set #"));
}

#[test]
fn a_poll_that_went_past_its_change_is_a_divergence() {
    let sample = Entry {
        pos: 1,
        kind: EntryKind::Sample,
        call: "task.is-cancelled".into(),
        key: [0; 16],
        time: 1,
        nth: 2,
        answer: vec![1],
    };
    let mut journal = Journal::new(0, vec![sample.clone().into()]).unwrap();
    assert_eq!(journal.poll(Call::IsCancelled), Ok(Poll::Unchanged));
    assert_eq!(journal.poll(Call::IsCancelled), Ok(Poll::Changed(vec![1])));
    assert_eq!(journal.poll(Call::IsCancelled), Ok(Poll::Live { nth: 1 }));
    let mut journal = Journal::new(0, vec![sample.into()]).unwrap();
    assert!(journal.begin(Call::StateGet, [0; 16]).is_err());
}

#[test]
fn a_damaged_sequence_is_refused() {
    let entry = |pos, kind| {
        Past::Entry(Entry { pos, kind, call: "state.get".into(), key: [0; 16], time: 0, nth: 0, answer: vec![] })
    };
    use EntryKind::{Answer, Started};
    assert!(Journal::new(0, vec![entry(2, Answer), entry(1, Answer), entry(3, Started), entry(3, Answer)]).is_ok());
    assert_eq!(Journal::new(0, vec![entry(1, Answer), entry(3, Answer)]).unwrap_err(), Damaged(3));
    assert_eq!(Journal::new(0, vec![entry(1, Started), entry(2, Answer)]).unwrap_err(), Damaged(2));
    assert_eq!(Journal::new(0, vec![entry(1, Answer), entry(1, Answer)]).unwrap_err(), Damaged(1));
}

#[test]
fn clocks_never_go_back_and_a_busy_loop_stores_little() {
    let mut journal = Journal::new(1_000_000_000, Vec::new()).unwrap();
    let (mut real, mut stored, mut last) = (1_000_000_000_u64, 0, 0);
    for _ in 0..1_000_000 {
        real += 250;
        let (now, entry) = journal.clock(|| real);
        assert!(now > last);
        last = now;
        stored += usize::from(entry.is_some());
    }
    assert!(stored <= 3, "{stored}");
    let (back, entry) = journal.clock(|| 0);
    assert!(back > last && entry.is_none());
}

#[test]
fn an_artifact_in_a_line_is_compared_by_its_digest() {
    let data = |id: &str, sha: &str| {
        let artifact = serde_json::json!({"id": id, "href": id, "uri": id, "sha256": sha});
        Map::from_iter([("artifact".to_owned(), artifact)])
    };
    let line = Past::Emitted { pos: 1, kind: Kind::Log, text: "long".into(), data: data("a1", "x") };
    let mut journal = Journal::new(0, vec![line.clone()]).unwrap();
    assert_eq!(journal.emit(Kind::Log, "long", &data("a7", "x")), Ok(Emit::Replayed));
    let mut journal = Journal::new(0, vec![line]).unwrap();
    assert!(journal.emit(Kind::Log, "long", &data("a1", "y")).is_err());
}
