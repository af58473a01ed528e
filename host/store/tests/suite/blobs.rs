//! Files by digest.

use std::io::{ErrorKind, Write as _};
use windlass_store::Store;

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

for_both! {
    a_file_is_found_by_its_digest
    an_unfinished_file_leaves_nothing
    only_a_digest_names_a_file
    what_nothing_names_is_swept_when_it_is_old
}

async fn a_file_is_found_by_its_digest(store: Store) {
    let blobs = store.blobs();
    assert_eq!(blobs.put(b"hello").unwrap(), HELLO);
    assert_eq!(blobs.put(b"hello").unwrap(), HELLO, "once more is no error");
    let mut writer = blobs.writer().unwrap();
    writer.write_all(b"hel").unwrap();
    writer.write_all(b"lo").unwrap();
    assert_eq!(writer.finish().unwrap(), (HELLO.to_owned(), 5));
    assert_eq!(blobs.read(HELLO).unwrap(), b"hello");
    assert!(blobs.path(HELLO).ends_with(format!("2c/{}", &HELLO[2..])));
}

async fn an_unfinished_file_leaves_nothing(store: Store) {
    let mut writer = store.blobs().writer().unwrap();
    writer.write_all(b"hello").unwrap();
    drop(writer);
    assert_eq!(store.blobs().read(HELLO).unwrap_err().kind(), ErrorKind::NotFound);
    let unfinished = store.blobs().path("none").with_file_name("tmp");
    assert_eq!(std::fs::read_dir(unfinished).unwrap().count(), 0);
}

async fn only_a_digest_names_a_file(store: Store) {
    store.blobs().put(b"hello").unwrap();
    for wrong in ["", "../lock", "2c", &HELLO.to_uppercase(), &format!("{HELLO}0"), &"é".repeat(32)] {
        assert_eq!(store.blobs().read(wrong).unwrap_err().kind(), ErrorKind::InvalidInput, "{wrong}");
        assert!(!store.blobs().path(wrong).exists(), "{wrong}");
    }
}

async fn what_nothing_names_is_swept_when_it_is_old(store: Store) {
    use std::time::Duration;
    let blobs = store.blobs();
    let named = blobs.put(b"named").unwrap();
    let old = blobs.put(b"old").unwrap();
    let keep = std::collections::HashSet::from([named.clone()]);
    assert_eq!(blobs.sweep(&keep, Duration::from_secs(60)).unwrap(), (0, 0), "young: a row may be about to name it");
    let file = std::fs::File::options().append(true).open(blobs.path(&old)).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(120)).unwrap();
    blobs.put(b"old").unwrap();
    assert_eq!(blobs.sweep(&keep, Duration::from_secs(60)).unwrap(), (0, 0), "kept again, so it is young again");
    assert_eq!(blobs.sweep(&keep, Duration::ZERO).unwrap(), (1, 3));
    assert!(blobs.read(&named).is_ok() && blobs.read(&old).is_err());
}
