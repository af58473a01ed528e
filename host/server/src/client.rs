//! The command line's way to a host: found by `host.json`, or started for the commands that may.

use crate::hostfile::HostFile;
use crate::http::problem::exit_of;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A host that was started for somebody must answer within this time. Compiling plugins takes most of it.
const START: Duration = Duration::from_secs(120);
/// A running host answers `/healthz` within this time.
const ALIVE: Duration = Duration::from_secs(3);

/// A command that can't be done, with its exit code.
#[derive(Debug)]
pub(crate) struct Fail {
    /// See docs/cli.md.
    pub(crate) exit: u8,
    /// For people; may come from a host or a plugin, and is shown as untrusted text.
    pub(crate) message: String,
    /// What the host answered.
    pub(crate) problem: Option<Value>,
}

impl Fail {
    /// The request is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: 2, message: message.into(), problem: None }
    }

    /// The host can't.
    pub(crate) fn host(message: impl Into<String>) -> Self {
        Self { exit: 6, message: message.into(), problem: None }
    }

    /// What a host refused.
    pub(crate) fn refused(status: u16, body: &[u8]) -> Self {
        let problem: Option<Value> = serde_json::from_slice(body).ok();
        let message = match &problem {
            Some(problem) => {
                let detail = problem["detail"].as_str().or(problem["title"].as_str()).unwrap_or("refused");
                match problem["code"].as_str() {
                    Some(code) => format!("{detail} ({code})"),
                    None => detail.to_owned(),
                }
            }
            None => format!("the host answered {status}"),
        };
        Self { exit: exit_of(status), message, problem }
    }

    /// The code of the problem, such as `WL0010`.
    pub(crate) fn code(&self) -> Option<&str> {
        self.problem.as_ref()?["code"].as_str()
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The token of whoever calls this program.
const TOKEN: &str = "WINDLASS_TOKEN";

/// A host that answers.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    host: HostFile,
    /// Whose requests these are; none: the principal `local`.
    token: Option<String>,
}

impl Client {
    /// The host that runs on this data folder.
    pub(crate) async fn find(data: &Path) -> Result<Option<Self>, Fail> {
        let host = HostFile::read(data)
            .map_err(|error| Fail::host(format!("{} can't be read: {error}", HostFile::path(data).display())))?;
        let Some(host) = host else { return Ok(None) };
        // Loopback is never behind a proxy, whatever the environment says.
        let http = reqwest::Client::builder().no_proxy().connect_timeout(ALIVE).build();
        let http = http.map_err(|error| Fail::host(format!("no HTTP client: {error}")))?;
        let client = Self { http, host, token: own_token()? };
        Ok(client.is_alive().await.then_some(client))
    }

    /// A killed host leaves its file, and its port may be somebody else's by now: the process id tells.
    async fn is_alive(&self) -> bool {
        let request = self.http.get(self.address("/healthz")).timeout(ALIVE);
        match request.send().await {
            Ok(response) => match response.json::<Value>().await {
                Ok(body) => body["pid"] == self.host.pid,
                Err(_) => false,
            },
            Err(_) => false,
        }
    }

    /// The process that has this data folder, where it has one and did not answer.
    pub(crate) fn silent(data: &Path) -> Option<u32> {
        let host = HostFile::read(data).ok().flatten()?;
        let pid = i32::try_from(host.pid).ok().and_then(rustix::process::Pid::from_raw)?;
        rustix::process::test_kill_process(pid).ok()?;
        // The number may be another program's by now. Where this can't be read, it is believed.
        let is_host = |arguments: Vec<u8>| arguments.split(|byte| *byte == 0).any(|word| word == b"serve");
        std::fs::read(format!("/proc/{}/cmdline", host.pid)).map_or(true, is_host).then_some(host.pid)
    }

    /// The host that runs on this data folder, or a new one, started with these arguments and left running.
    pub(crate) async fn find_or_start(data: &Path, config: Option<&Path>) -> Result<Self, Fail> {
        if let Some(client) = Self::find(data).await? {
            return Ok(client);
        }
        let log = data.join("host.log");
        let mut child = start(data, config, &log)?;
        let began = Instant::now();
        let mut ended: Option<Instant> = None;
        loop {
            if let Some(client) = Self::find(data).await? {
                let (url, pid) = (&client.host.url, client.host.pid);
                eprintln!(
                    "windlass: no host ran on {}, so one was started: {url} (process {pid}, log {})",
                    data.display(),
                    log.display()
                );
                return Ok(client);
            }
            // It may have lost a race against another start, whose host is about to answer.
            if ended.is_none() && child.try_wait().ok().flatten().is_some() {
                ended = Some(Instant::now());
            }
            if ended.is_some_and(|at| at.elapsed() > Duration::from_secs(2)) || began.elapsed() > START {
                return Err(Fail::host(format!("the host did not start: {}", last_words(&log))));
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Where the host is, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.host.url
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.host.url)
    }

    /// A request of the caller: whom `WINDLASS_TOKEN` names, else the principal `local`.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, self.address(path));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// A request of an operator: the token of `host.json` goes with it.
    pub(crate) fn as_operator(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, self.address(path)).bearer_auth(&self.host.token)
    }

    /// GET as the caller.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Fail> {
        json(self.request(Method::GET, path)).await
    }

    /// POST as the caller.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Fail> {
        json(self.request(Method::POST, path).json(body)).await
    }
}

/// What `WINDLASS_TOKEN` says; nothing where it is not set. An empty one is refused: a token that got lost on its way must
/// not make its holder `local`.
pub(crate) fn own_token() -> Result<Option<String>, Fail> {
    let Some(token) = std::env::var_os(TOKEN) else { return Ok(None) };
    if token.is_empty() {
        return Err(Fail::usage(format!("{TOKEN} is empty: give the token, or unset it to act as `local`")));
    }
    // Never shown: it may be right but for a line break.
    let plain = token.into_string().ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    plain.map(Some).ok_or_else(|| Fail::usage(format!("{TOKEN} is no token: it has characters that none has")))
}

/// Sends it; the JSON that came, or null where nothing came.
pub(crate) async fn json(request: reqwest::RequestBuilder) -> Result<Value, Fail> {
    let response =
        request.send().await.map_err(|error| Fail::host(format!("the host does not answer: {}", why(&error))))?;
    read(response).await
}

/// The answer, or what was refused.
pub(crate) async fn read(response: Response) -> Result<Value, Fail> {
    let status = response.status();
    let body = response.bytes().await.map_err(|error| Fail::host(format!("the answer broke off: {}", why(&error))))?;
    if !status.is_success() {
        return Err(Fail::refused(status.as_u16(), &body));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body).map_err(|error| Fail::host(format!("the answer is not JSON: {error}")))
}

/// The innermost reason: `reqwest` wraps it twice.
pub(crate) fn why(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Starts `serve` apart from this terminal: `--detached` makes it leave the session, so that Ctrl-C here is not its end.
fn start(data: &Path, config: Option<&Path>, log: &Path) -> Result<Child, Fail> {
    let fail = |what: &str, error: std::io::Error| Fail::host(format!("{what}: {error}"));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .map_err(|error| fail("the data folder can't be made", error))?;
    // Nothing in the folder may be a link: it would be written through here, before the host could refuse it.
    let plain = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let open = || OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(plain).open(log);
    let out = open().map_err(|error| fail("host.log can't be written", error))?;
    let err = out.try_clone().map_err(|error| fail("host.log can't be written", error))?;
    let program: PathBuf = std::env::current_exe().map_err(|error| fail("this program can't be found", error))?;
    let mut command = Command::new(program);
    command.arg("serve").arg("--detached").arg("--data").arg(data);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    // The folder it was called in may be unmounted later; a host holds none but its own.
    // The token is the caller's, not the host's, which outlives this call.
    command.env_remove(TOKEN);
    command.current_dir(data).stdin(Stdio::null()).stdout(out).stderr(err);
    command.spawn().map_err(|error| fail("a host can't be started", error))
}

fn last_words(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(3).collect();
    let lines: Vec<_> = lines.into_iter().rev().collect();
    format!("{}\n(more in {})", lines.join("\n"), log.display())
}
