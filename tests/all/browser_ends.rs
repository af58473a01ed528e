//! How pages and browsers end, and in what surroundings they work, through the whole host: what the turn is told and when,
//! and that others go on. Linux only: processes are found in `/proc`.

use crate::basic::confirm;
use crate::bench::{Bench, failure, operator, outcome};
use crate::guests;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use windlass_browser::{Browser, Remote, Upstream};
use windlass_core::{Kind, Record, Status, TaskId};
use windlass_runtime::{Caller, CreateTask, PatchPlugin, SetSecret};
use windlass_site::Site;

/// In which a turn has to learn of the end of its page.
const LEARNS: Duration = Duration::from_secs(5);

async fn site() -> Site {
    Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn origin(site: &Site) -> String {
    site.url().trim_end_matches('/').to_owned()
}

fn grant(site: &Site) -> String {
    format!("browser {}", origin(site))
}

async fn lines(bench: &Bench, id: TaskId) -> Vec<String> {
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let lines = outcome(&task)["structured"]["lines"].as_array().unwrap().clone();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

async fn until_waits(bench: &Bench, id: TaskId, announced: &str) {
    bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::StepStarted && r.text.starts_with(announced))).await;
}

/// Until a record of a task is there.
async fn told(bench: &Bench, caller: &Caller, id: TaskId, seen: impl Fn(&Record) -> bool) {
    let mut after = 0;
    loop {
        let page = bench.host.events(caller, id, after, 1000, crate::bench::PATIENCE, &[]).await.unwrap();
        if page.records.iter().any(|record| seen(record)) {
            return;
        }
        after = page.next_after;
    }
}

/// The process of every Chromium of this host, and its renderers.
pub(crate) fn chromiums(bench: &Bench) -> Vec<(u32, Vec<u32>)> {
    let profiles = bench.data.path().join("profiles").display().to_string();
    let process = |entry: std::fs::DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut after_name = stat.rsplit(')').next()?.split_whitespace();
        let alive = after_name.next()? != "Z";
        alive.then_some((pid, after_name.next()?.parse::<u32>().ok()?, line))
    };
    let all: Vec<_> = std::fs::read_dir("/proc").unwrap().flatten().filter_map(process).collect();
    let is_below = |mut pid: u32, root: u32| {
        while pid > 1 && pid != root {
            pid = all.iter().find(|(other, ..)| *other == pid).map_or(0, |(_, parent, _)| *parent);
        }
        pid == root
    };
    // A full Chromium has others that wait for a crash.
    let is_browser = |line: &str| line.contains(&format!("--user-data-dir={profiles}")) && !line.contains("--type=");
    let main = all.iter().filter(|(_, _, line)| is_browser(line));
    let renderers = |root: u32| {
        let of_type = all.iter().filter(|(_, _, line)| line.contains("--type=renderer"));
        of_type.filter(|(pid, ..)| is_below(*pid, root)).map(|(pid, ..)| *pid).collect()
    };
    main.map(|(pid, ..)| (*pid, renderers(*pid))).collect()
}

/// Chromium numbers its renderers in the order in which it starts them.
fn nth(renderer: u32) -> u32 {
    let line = std::fs::read_to_string(format!("/proc/{renderer}/cmdline")).unwrap_or_default();
    let number = line.split(['\0', ' ']).find_map(|word| word.strip_prefix("--renderer-client-id="));
    number.and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

pub(crate) fn signal(name: &str, pids: &[u32]) {
    let pids = pids.iter().map(u32::to_string);
    assert!(Command::new("kill").arg(format!("-{name}")).args(pids).status().unwrap().success());
}

/// A browser that somebody else has started; it ends with the test.
struct Elsewhere(Child);

impl Elsewhere {
    /// With the address at which it is reached.
    fn start(profile: &std::path::Path) -> (Self, String) {
        let config = windlass_browser::Config { executable: crate::bench::browser(), ..Default::default() };
        let executable = Browser::locate(&config).unwrap();
        let mut chromium = Command::new(executable)
            .args(["--headless", "--no-sandbox", "--remote-debugging-port=0", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(chromium.stderr.take().unwrap()).lines();
        let socket = said.map_while(Result::ok).find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
        let url = socket.unwrap().replace("ws://", "http://").split("/devtools").next().unwrap().to_owned();
        (Self(chromium), url)
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn create_as(bench: &Bench, principal: &str, tool: &str, input: serde_json::Value) -> TaskId {
    let caller = Caller { principal: principal.into(), operator: false };
    let new = CreateTask { tool: tool.into(), input, ..CreateTask::default() };
    bench.host.create(&caller, new).await.unwrap().task.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_tab_and_a_killed_browser_are_told_at_once_and_other_principals_go_on() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_ENDS, &[&grant(&site)]).await;
    bench.install(guests::BROWSER_HOLD, &[&grant(&site)]).await;
    let held = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.asks(held).await;
    let others = chromiums(&bench);
    assert_eq!(others.len(), 1);
    for what in ["renderer", "browser"] {
        let id = create_as(&bench, "ada", "browser_ends", json!({"url": site.url(), "how": "wait"})).await;
        let ada = Caller { principal: "ada".into(), operator: false };
        let waits = told(&bench, &ada, id, |record| record.text.starts_with("Wait until"));
        tokio::time::timeout(crate::bench::PATIENCE, waits).await.expect("the other principal waits on its page");
        let (pid, renderers) =
            chromiums(&bench).into_iter().find(|(pid, _)| others.iter().all(|(other, _)| other != pid)).unwrap();
        let begin = Instant::now();
        signal("KILL", &if what == "browser" { vec![pid] } else { renderers });
        let lost = told(&bench, &ada, id, |record| record.kind == Kind::PageLost);
        tokio::time::timeout(LEARNS, lost).await.expect("the loss of a page is told within 5 s");
        println!("{what}: told after {:?}", begin.elapsed());
        let ended = told(&bench, &ada, id, |record| record.kind == Kind::TurnEnded);
        tokio::time::timeout(crate::bench::PATIENCE, ended).await.expect("the turn goes on, and ends");
        let task = bench.host.task(&ada, id).await.unwrap();
        assert_eq!(outcome(&task)["structured"]["lines"], json!(["ended page-lost", "again worked"]), "{what}");
    }
    confirm(&bench, held, "t1.held").await;
    let task = bench.ended(held).await;
    assert_ne!(outcome(&task)["structured"]["title"], "page-lost", "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_script_and_a_stopped_renderer_are_told_within_five_seconds_and_other_pages_go_on() {
    // A page that is kept ready would be stopped with the one that is there.
    let (bench, site) = (Bench::with_browser(|config| config.spare = false).await, site().await);
    bench.install(guests::BROWSER_ENDS, &[&grant(&site)]).await;
    bench.install(guests::BROWSER_HOLD, &[&grant(&site)]).await;
    let id = bench.create("browser_ends", json!({"url": site.url(), "how": "loop"})).await;
    until_waits(&bench, id, "Click #loop").await;
    let begin = Instant::now();
    // In the same Chromium meanwhile.
    let held = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.asks(held).await;
    bench
        .until_log(id, |log| log.iter().any(|r| r.text.starts_with("Clicked #loop") || r.data.get("error").is_some()))
        .await;
    assert!(begin.elapsed() < LEARNS + Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(lines(&bench, id).await, ["ended timeout", "again worked"]);
    let error = bench.log(id).await.iter().find_map(|r| r.data.get("error").cloned()).expect("a failed step");
    assert!(error["message"].as_str().unwrap().contains("stands still"), "{error}");

    let before = chromiums(&bench)[0].1.clone();
    let id = bench.create("browser_ends", json!({"url": site.url(), "how": "wait"})).await;
    until_waits(&bench, id, "Wait until").await;
    // A full Chromium has begun another one for the next page by then.
    let fresh = chromiums(&bench)[0].1.iter().filter(|pid| !before.contains(pid)).copied().min_by_key(|pid| nth(*pid));
    let fresh = fresh.expect("the page has a renderer of its own");
    let begin = Instant::now();
    signal("STOP", &[fresh]);
    bench.until_log(id, |log| log.iter().any(|r| r.data.get("error").is_some())).await;
    assert!(begin.elapsed() < LEARNS + Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(lines(&bench, id).await, ["ended timeout", "again worked"]);
    if std::path::Path::new(&format!("/proc/{fresh}")).exists() {
        signal("CONT", &[fresh]);
    }
    confirm(&bench, held, "t1.held").await;
    assert_ne!(outcome(&bench.ended(held).await)["structured"]["title"], "page-lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_needs_too_much_memory_is_lost_and_the_limits_are_the_hosts() {
    let limited = |config: &mut windlass_browser::Config| {
        config.script_memory = Some(128);
        config.renderer_memory = Some(512);
        config.pages = Some((3, 4));
    };
    let (bench, site) = (Bench::with_browser(limited).await, site().await);
    bench.install(guests::BROWSER_ENDS, &[&grant(&site)]).await;
    bench.install(guests::BROWSER_HOLD, &[&grant(&site)]).await;
    let held = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.asks(held).await;
    for how in ["objects", "buffers"] {
        let id = bench.create("browser_ends", json!({"url": site.url(), "how": how})).await;
        assert_eq!(lines(&bench, id).await, ["ended page-lost", "again worked"], "{how}");
        let told = bench.texts(id, Kind::PageLost).await;
        assert_eq!(told.len(), 1, "{how}: {told:?}");
        // A renderer that ends its script for want of memory does not say so; one that the host ends is told with the reason.
        let reason = if how == "objects" { "its renderer" } else { "more memory" };
        assert!(told[0].contains(reason), "{how}: {told:?}");
    }
    let id = bench.create("browser_ends", json!({"url": site.url(), "how": "pages"})).await;
    assert_eq!(lines(&bench, id).await, ["2 more, then limit: a context may have 3 pages open", "again worked"]);
    confirm(&bench, held, "t1.held").await;
    assert_ne!(outcome(&bench.ended(held).await)["structured"]["title"], "page-lost");
    let profiles = bench.data.path().join("profiles");
    bench.host.close().await;
    let left: Vec<_> = std::fs::read_dir(&profiles).unwrap().flatten().filter(|entry| entry.path().is_dir()).collect();
    assert!(left.is_empty(), "profiles are removed: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_browser_does_the_work_takes_uploads_and_refuses_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let (mut chromium, url) = Elsewhere::start(folder.path());
    let remote = |config: &mut windlass_browser::Config| config.remote = Some(Remote { url, reach: None });
    let (bench, site) = (Bench::with_browser(remote).await, site().await);
    bench.install(guests::BROWSER_STEPS, &[&grant(&site)]).await;
    bench.install(guests::BROWSER_ENDS, &[&grant(&site)]).await;
    let id = bench.create("browser_steps", json!({"shop": origin(&site)})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let input = json!({"url": format!("{}/verbs", origin(&site)), "how": "files"});
    let id = bench.create("browser_ends", input).await;
    assert_eq!(lines(&bench, id).await, ["upload given.txt:7", "download unavailable"]);
    assert!(chromiums(&bench).is_empty(), "none of our own");
    let id = bench.create("browser_ends", json!({"url": site.url(), "how": "wait"})).await;
    until_waits(&bench, id, "Wait until").await;
    chromium.kill();
    // The guest is told; its turn may be over before the record of the loss could be written.
    let told = bench.ended(id);
    tokio::time::timeout(LEARNS, told).await.expect("the end of a remote browser is told within 5 s");
    assert_eq!(lines(&bench, id).await, ["ended page-lost", "again unavailable"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_proxy_carries_what_pages_ask_for() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = proxy.local_addr().unwrap();
    let (tell, mut asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = proxy.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut head = vec![0; 8192];
                let length = stream.read(&mut head).await.unwrap_or(0);
                let _ = tell.send(String::from_utf8_lossy(&head[..length]).into_owned());
                let body = "<title>Proxied</title><p>from the proxy</p>";
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    let upstream = Upstream::new(&format!("http://ada:pw@{address}"), vec![]).unwrap();
    let bench = Bench::with_browser(|config| config.upstream = Some(upstream)).await;
    bench.install(guests::CAPTURE, &["browser http://intranet.example"]).await;
    let id = bench.create("capture", json!({"url": "http://intranet.example/"})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let head = asked.recv().await.unwrap();
    assert!(head.starts_with("GET http://intranet.example/ ") && head.contains("Basic YWRhOnB3"), "{head}");
    let id = bench.create("capture", json!({"url": "http://elsewhere.example/"})).await;
    assert_eq!(failure(&bench.ended(id).await)["code"], "denied", "the fence is before the proxy");
}

/// Asks for a name and a password, whatever is wanted.
async fn private_site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = vec![0; 8192];
                while let Ok(length @ 1..) = stream.read(&mut head).await {
                    // ada:open-sesame
                    let known = String::from_utf8_lossy(&head[..length]).contains("Basic YWRhOm9wZW4tc2VzYW1l");
                    let (status, body) =
                        if known { ("200 OK", "welcome") } else { ("401 Unauthorized", "who are you?") };
                    let answer = format!(
                        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    origin
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_asks_for_a_password_gets_the_secret_and_nobody_else_sees_it() {
    let (bench, origin) = (Bench::new().await, private_site().await);
    bench.install(guests::BROWSER_ENDS, &[&format!("browser {origin}"), "secret site-password"]).await;
    let set =
        |origin: &str| SetSecret { value: "open-sesame".to_owned().into(), origins: Some(vec![origin.to_owned()]) };
    bench.host.set_secret(&operator(), "site-password", set("https://elsewhere.example")).await.unwrap();
    let input = json!({"url": origin, "how": "credentials", "other": origin});
    let id = bench.create("browser_ends", input.clone()).await;
    assert_eq!(failure(&bench.ended(id).await)["code"], "denied", "not bound to this origin");
    bench.host.set_secret(&operator(), "site-password", set(&origin)).await.unwrap();
    let id = bench.create("browser_ends", input).await;
    assert_eq!(lines(&bench, id).await, ["status 200", "welcome"]);
    let log = bench.log(id).await;
    let whole = serde_json::to_string(&log.iter().map(|r| (&r.text, &r.data)).collect::<Vec<_>>()).unwrap();
    assert!(!whole.contains("open-sesame") && whole.contains("site-password"), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_pages_may_go_and_what_they_may_load_are_two_lists() {
    let (bench, shop, cdn) = (Bench::new().await, site().await, site().await);
    let load = format!("browser-load {}", origin(&cdn));
    bench.install(guests::BROWSER_ENDS, &[&grant(&shop), &load]).await;
    let input = json!({"url": format!("{}/verbs", origin(&shop)), "how": "lists", "other": origin(&cdn)});
    let id = bench.create("browser_ends", input.clone()).await;
    assert_eq!(lines(&bench, id).await, ["fetch loaded", "goto denied", &grant(&cdn), "script stayed"]);
    let blocked = bench.log(id).await;
    let blocked = blocked.iter().find(|r| r.kind == Kind::Blocked).expect("it is told");
    assert!(blocked.text.contains("may load from there, but not go there"), "{}", blocked.text);
    assert_eq!(blocked.data["grant"], json!(grant(&cdn)));

    let grants = Some(vec![grant(&shop), grant(&cdn)]);
    bench
        .host
        .patch_plugin(&operator(), "browser_ends", PatchPlugin { grants, ..PatchPlugin::default() })
        .await
        .unwrap();
    let id = bench.create("browser_ends", input).await;
    assert_eq!(lines(&bench, id).await, ["fetch loaded", "goto worked", "", "script went"]);
}
