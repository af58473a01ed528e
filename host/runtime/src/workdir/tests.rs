#![allow(clippy::disallowed_methods, reason = "what a guest would have written")]

use super::*;

#[test]
fn a_turn_begins_with_what_the_one_before_left_however_often_it_begins() {
    let root = tempfile::tempdir().unwrap();
    let (dirs, task) = (Workdirs::new(root.path().join("w")), TaskId::from_bytes([7; 16]));
    assert_eq!(dirs.begin(task, 1, true, false).unwrap(), None);
    assert_eq!(dirs.begin(task, 1, false, true).unwrap(), None, "decided when it first ran");
    let (live, usage) = dirs.begin(task, 2, true, true).unwrap().unwrap();
    assert_eq!(usage, Usage::default());
    std::fs::create_dir(live.join("a")).unwrap();
    std::fs::write(live.join("a/b"), "12345").unwrap();
    let (live, usage) = dirs.begin(task, 2, false, false).unwrap().unwrap();
    assert_eq!((usage, live.join("a").exists()), (Usage::default(), false), "a replay starts afresh");
    std::fs::create_dir(live.join("a")).unwrap();
    std::fs::write(live.join("a/b"), "12345").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", live.join("link")).unwrap();
    assert_eq!(measure(&live).unwrap(), Usage { files: 3, bytes: 5 });
    dirs.end(task, 2, 1_000_000_000).unwrap();
    let (live, usage) = dirs.begin(task, 3, true, true).unwrap().unwrap();
    assert_eq!(usage, Usage { files: 3, bytes: 5 });
    assert_eq!(std::fs::read(live.join("a/b")).unwrap(), b"12345");
    assert!(!live.join("link").exists(), "links are not copied");
    let changed = std::fs::metadata(live.join("a/b")).unwrap().modified().unwrap();
    assert_eq!(changed.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs(), 1);
    std::fs::write(live.join("a/b"), "6").unwrap();
    let (live, _) = dirs.begin(task, 3, false, true).unwrap().unwrap();
    assert_eq!(std::fs::read(live.join("a/b")).unwrap(), b"12345", "what turn 2 left was not touched");
    let listed = dirs.list(task).unwrap();
    assert_eq!((listed.len(), listed[0].path.as_str(), listed[0].size), (1, "a/b", 5));
    dirs.forget(task).unwrap();
    assert!(dirs.tasks().unwrap().is_empty() && dirs.list(task).unwrap().is_empty());
}

#[test]
fn no_path_leads_out_and_no_link_is_followed() {
    let root = tempfile::tempdir().unwrap();
    let (dirs, task) = (Workdirs::new(root.path().join("w")), TaskId::from_bytes([7; 16]));
    let (live, _) = dirs.begin(task, 1, true, true).unwrap().unwrap();
    std::fs::create_dir(live.join("d")).unwrap();
    std::fs::write(live.join("d/f"), "x").unwrap();
    std::os::unix::fs::symlink("/etc", live.join("out")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", live.join("file")).unwrap();
    assert!(dirs.open(task, "d/f").is_ok());
    for bad in ["", "/etc/passwd", "../x", "d/../d/f", "d//f", "./d/f", "out/passwd", "file", "d", "d/f/g", "none"] {
        assert!(dirs.open(task, bad).is_err(), "{bad}");
    }
}

#[test]
fn a_folder_of_a_task_that_is_a_link_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let (dirs, task) = (Workdirs::new(root.path().join("w")), TaskId::from_bytes([7; 16]));
    let theirs = root.path().join("theirs/live");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("f"), "x").unwrap();
    std::fs::create_dir(root.path().join("w")).unwrap();
    std::os::unix::fs::symlink(root.path().join("theirs"), root.path().join("w").join(task.to_string())).unwrap();
    let refused = dirs.begin(task, 1, true, true).unwrap_err().to_string();
    assert!(refused.contains("is a link"), "{refused}");
    assert!(dirs.list(task).is_err() && dirs.open(task, "f").is_err() && dirs.end(task, 1, 0).is_err());
    dirs.forget(task).unwrap();
    assert!(theirs.join("f").exists(), "only the link went");
}
