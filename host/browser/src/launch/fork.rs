//! The one place that forks, and the one place with `unsafe`.
//!
//! Linux sends the parent-death signal when the *thread* that forked ends, not the process: forked
//! from a worker thread that is torn down, Chromium would die at once. So all forks happen on one
//! thread, which lives as long as the process.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{OnceLock, mpsc};

use tokio::sync::oneshot;

/// Chromium reads calls from descriptor 3 and writes to 4.
const CHROMIUM_READS: RawFd = 3;
const CHROMIUM_WRITES: RawFd = 4;

/// A large answer costs fewer turns with a larger pipe; 1 MiB is what an ordinary user may ask for.
const PIPE_SIZE: usize = 1 << 20;

/// A started browser with our ends of its DevTools pipe.
pub(super) struct Started {
    pub(super) process: Child,
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
}

struct Job {
    command: Command,
    reply: oneshot::Sender<io::Result<Started>>,
}

/// Starts `command` from the forking thread.
pub(super) async fn spawn(command: Command) -> io::Result<Started> {
    static FORKER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();
    let forker = FORKER.get_or_init(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("chromium-fork".into());
        let started = thread.spawn(move || {
            // The sender lives in a static: this loop never ends.
            for job in queue {
                if let Err(Ok(started)) = job.reply.send(fork(job.command)) {
                    abandon(started);
                }
            }
        });
        started.ok().map(|_| jobs)
    });
    let (reply, started) = oneshot::channel();
    let jobs = forker.as_ref().ok_or_else(|| io::Error::other("no thread to fork from"))?;
    jobs.send(Job { command, reply }).map_err(|_| io::Error::other("the forking thread is gone"))?;
    started.await.map_err(|_| io::Error::other("the forking thread is gone"))?
}

/// Nobody waits for this browser any more: its caller was cancelled.
fn abandon(mut started: Started) {
    let _ = started.process.kill();
    let _ = started.process.wait();
}

fn fork(mut command: Command) -> io::Result<Started> {
    let (calls, write) = io::pipe()?;
    let (read, answers) = io::pipe()?;
    for end in [rustix::pipe::fcntl_setpipe_size(&write, PIPE_SIZE), rustix::pipe::fcntl_setpipe_size(&read, PIPE_SIZE)]
    {
        // Only speed is lost.
        if let Err(error) = end {
            tracing::debug!(%error, "the DevTools pipe keeps its default size");
        }
    }
    // Above 9, so that putting one onto 3 or 4 can't overwrite the other.
    let calls = rustix::io::fcntl_dupfd_cloexec(&calls, 10)?;
    let answers = rustix::io::fcntl_dupfd_cloexec(&answers, 10)?;
    command.process_group(0);
    prepare_child(&mut command, calls.as_raw_fd(), answers.as_raw_fd(), std::process::id());
    let process = command.spawn()?;
    // The child's ends close here: otherwise the end of the pipe would never be seen.
    Ok(Started { process, read: read.into(), write: write.into() })
}

/// `unsafe` for `pre_exec`: its closure runs between fork and exec in a copy of a process that had
/// other threads, where only async-signal-safe functions may be called and nothing may be
/// allocated. These are `dup2`, `prctl`, `getppid` and `_exit`, all plain system calls, on integers
/// that were captured by copy; the error path builds an `io::Error` from `errno`, which does not
/// allocate. The descriptors are open in the child, as the parent holds them until `spawn` has
/// returned.
#[allow(unsafe_code)]
fn prepare_child(command: &mut Command, calls: RawFd, answers: RawFd, parent: u32) {
    let prepare = move || {
        // SAFETY: see above.
        unsafe {
            // `dup2` clears close-on-exec on the copy.
            if libc::dup2(calls, CHROMIUM_READS) < 0 || libc::dup2(answers, CHROMIUM_WRITES) < 0 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            // A host that died before the line above will send no signal.
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
        }
        Ok(())
    };
    // SAFETY: see above.
    unsafe { command.pre_exec(prepare) };
}
