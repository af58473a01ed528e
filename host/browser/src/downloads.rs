//! Files that pages download: where they go, and what became of them.
//!
//! Chromium writes into the folder under a name of its own; a finished file gets the name the site suggests, made safe.

use std::path::{Path, PathBuf};

use tokio::sync::watch;

/// Downloads a context; a page can begin any number of them.
const LIMIT: usize = 100;

/// Bytes of a file name.
const NAME: usize = 128;

/// A file that was downloaded, or is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    pub(crate) id: String,
    /// Why it may not go on. It has failed when Chromium has let go of its file, and the file is gone.
    refused: Option<String>,
    /// The number of the page it began in; for a popup that nobody took, its opener's.
    pub page: u32,
    /// Where it came from.
    pub url: String,
    /// The site's name for it, without anything that is not part of a plain file name.
    pub name: String,
    /// Where it lies; only while `state` is [`DownloadState::Done`] the file is whole.
    pub path: PathBuf,
    /// In bytes: as many as have come.
    pub size: u64,
    /// How far it has come.
    pub state: DownloadState,
}

/// How far a download has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// On its way.
    Running,
    /// The whole file is at `path`.
    Done,
    /// There is no file; why, in words.
    Failed(String),
}

/// The downloads of one context.
#[derive(Debug)]
pub(crate) struct Downloads {
    pub(crate) folder: PathBuf,
    /// Largest file, in bytes.
    pub(crate) limit: u64,
    list: watch::Sender<Vec<(Download, bool)>>,
}

impl Downloads {
    pub(crate) fn new(folder: PathBuf, limit: u64) -> Downloads {
        Downloads { folder, limit, list: watch::Sender::default() }
    }

    /// False: there are too many.
    pub(crate) fn begin(&self, id: &str, page: u32, url: &str, suggested: &str) -> bool {
        self.list.send_if_modified(|list| {
            let fits = list.len() < LIMIT;
            if fits {
                let name = safe_name(suggested);
                let path = self.folder.join(id);
                let (id, url) = (id.to_owned(), url.to_owned());
                list.push((
                    Download { id, page, url, name, path, size: 0, state: DownloadState::Running, refused: None },
                    false,
                ));
            }
            fits
        })
    }

    /// True: it has become too large, and is to be cancelled.
    pub(crate) fn progress(&self, id: &str, received: u64) -> bool {
        let mut cancel = false;
        self.change(id, |download| {
            download.size = received;
            if received > self.limit && download.refused.is_none() {
                download.refused = Some(format!("it is larger than {} bytes", self.limit));
                cancel = true;
            }
        });
        cancel
    }

    pub(crate) fn fail(&self, id: &str, reason: &str) {
        let _ = std::fs::remove_file(self.folder.join(id));
        self.change(id, |download| {
            if download.state == DownloadState::Running {
                let reason = download.refused.take().unwrap_or_else(|| reason.to_owned());
                download.state = DownloadState::Failed(reason);
            }
        });
    }

    /// Gives the file its name; the file of a download that was refused is removed.
    pub(crate) fn finish(&self, id: &str) {
        self.change(id, |download| {
            if download.state != DownloadState::Running {
                let _ = std::fs::remove_file(self.folder.join(id));
            } else if let Some(reason) = download.refused.take() {
                // It was whole before it heard of that.
                let _ = std::fs::remove_file(self.folder.join(id));
                download.state = DownloadState::Failed(reason);
            } else {
                match rename(&self.folder, id, &download.name) {
                    Ok((name, size)) => {
                        download.path = self.folder.join(&name);
                        download.name = name;
                        download.size = size;
                        download.state = DownloadState::Done;
                    }
                    Err(error) => download.state = DownloadState::Failed(format!("it can't be stored: {error}")),
                }
            }
        });
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Download)) {
        self.list.send_modify(|list| {
            if let Some((download, _)) = list.iter_mut().find(|(download, _)| download.id == id) {
                change(download);
            }
        });
    }

    pub(crate) fn all(&self) -> Vec<Download> {
        self.list.borrow().iter().map(|(download, _)| download.clone()).collect()
    }

    /// The oldest of a page that was not yet taken, as soon as it has ended.
    pub(crate) async fn take(&self, page: u32) -> Download {
        let mut list = self.list.subscribe();
        loop {
            list.borrow_and_update();
            let mut taken = None;
            self.list.send_if_modified(|list| {
                let next = list.iter_mut().find(|(download, taken)| download.page == page && !taken);
                if let Some((download, is_taken)) = next
                    && download.state != DownloadState::Running
                {
                    *is_taken = true;
                    taken = Some(download.clone());
                }
                false
            });
            if let Some(taken) = taken {
                return taken;
            }
            // The sender lives in `self`.
            let _ = list.changed().await;
        }
    }
}

fn rename(folder: &Path, id: &str, name: &str) -> std::io::Result<(String, u64)> {
    let from = folder.join(id);
    let size = std::fs::metadata(&from)?.len();
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    for number in 0..1000 {
        let name = if number == 0 { name.to_owned() } else { format!("{stem}-{number}{extension}") };
        // A link never replaces what is there, a rename would.
        match std::fs::hard_link(&from, folder.join(&name)) {
            Ok(()) => {
                std::fs::remove_file(&from)?;
                return Ok((name, size));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("no name is free"))
}

/// A plain file name: no folder, no control or odd characters, no leading dot, at most 128 bytes.
fn safe_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String =
        last.chars()
            .map(|letter| {
                if letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_' | ' ' | '(' | ')') {
                    letter
                } else {
                    '_'
                }
            })
            .collect();
    let plain = plain.trim().trim_start_matches('.').trim();
    let (stem, extension) = match plain.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 16 => (stem, format!(".{extension}")),
        _ => (plain, String::new()),
    };
    let mut end = stem.len().min(NAME - extension.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    let name = format!("{}{extension}", &stem[..end]);
    if name.is_empty() { "download".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_file_name() {
        for (suggested, name) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\evil.exe", "evil.exe"),
            (".bashrc", "bashrc"),
            ("a\nb:c.txt", "a_b_c.txt"),
            ("", "download"),
            ("..", "download"),
            ("Žluťoučký kůň.txt", "Žluťoučký kůň.txt"),
        ] {
            assert_eq!(safe_name(suggested), name, "{suggested}");
        }
        let long = safe_name(&format!("{}.pdf", "ž".repeat(200)));
        assert!(long.len() <= NAME && long.ends_with(".pdf"), "{long}");
    }

    #[test]
    fn a_second_file_of_a_name_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let downloads = Downloads::new(folder.path().into(), 10);
        for (id, content) in [("g1", "one"), ("g2", "two")] {
            assert!(downloads.begin(id, 1, "http://a/", "a.txt"));
            std::fs::write(folder.path().join(id), content).unwrap();
            downloads.finish(id);
        }
        let names: Vec<_> = downloads.all().into_iter().map(|download| (download.name, download.size)).collect();
        assert_eq!(names, [("a.txt".into(), 3), ("a-1.txt".into(), 3)]);
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "one");
        assert!(downloads.progress("g2", 11));
    }
}
