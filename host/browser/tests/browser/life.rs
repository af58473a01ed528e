//! Processes: how browsers begin, and that they end.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use windlass_browser::{Browser, Call, Code, Config, Event, Page, PageOptions, Shot, StorageState};

use crate::processes::{descendants, eventually, is_running, kill, renderers, sockets, with_folder};
use crate::site::Answer;
use crate::{World, assert_code, call, config, within};

/// Has the page wait for an answer that does not come: one that was answered may let go of its connection at any time.
pub(crate) async fn stays_connected(world: &World, page: &Page) {
    world.site.answer("/never", Answer::Never);
    let path = format!("/never?{}", world.site.requests().len());
    page.evaluate("path => { fetch(path) }", &path.as_str().into(), &call()).await.unwrap();
    world.site.seen(&format!("GET {path}")).await;
}

fn entries(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test]
async fn a_browser_is_launched_by_the_first_page_and_only_once() {
    let world = World::new().await;
    assert_eq!(world.browser.pid(), None);
    let (one, two) = tokio::join!(world.open(1), world.open(2));
    assert_eq!(entries(world.profiles.path()), 2, "one profile and its lock");
    for page in [one, two] {
        page.goto(&world.site.page("/", "x"), &call()).await.unwrap();
    }
    assert!(world.browser.version().await.unwrap().contains("Chrome/"));
    assert_code(world.context.open(1, PageOptions::default(), &call()).await, Code::Invalid);
}

#[tokio::test]
async fn a_closed_page_is_lost_and_its_number_free() {
    let (mut world, page) = World::showing("x").await;
    page.close(&call()).await.unwrap();
    page.close(&call()).await.unwrap();
    assert_code(page.title(&call()).await, Code::PageLost);
    assert_code(page.click("p", &call()).await, Code::PageLost);
    world.open(1).await.goto(&world.site.url("/"), &call()).await.unwrap();
    assert!(world.events.try_recv().is_err(), "closing is not reported as a loss");
}

#[tokio::test]
async fn a_crashed_renderer_loses_the_page_at_once() {
    let (mut world, page) = World::showing("<p>x</p>").await;
    let pid = world.browser.pid().unwrap();
    let begin = Instant::now();
    let waiting = call();
    let (waited, ()) = tokio::join!(page.text("#never", &waiting), async {
        renderers(pid).into_iter().for_each(kill);
    });
    assert_code(waited, Code::PageLost);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(matches!(world.event().await, Event::PageLost { page: 1, .. }));
    assert_code(page.goto(&world.site.url("/"), &call()).await, Code::PageLost);
    // The browser lives on.
    world.open(1).await.goto(&world.site.url("/"), &call()).await.unwrap();
    assert_eq!(world.browser.pid(), Some(pid));
}

#[tokio::test]
async fn a_killed_browser_loses_its_pages_and_the_next_page_gets_a_new_one() {
    let (mut world, page) = World::showing("<p>x</p>").await;
    let pid = world.browser.pid().unwrap();
    let begin = Instant::now();
    let waiting = call();
    let (waited, ()) = tokio::join!(page.text("#never", &waiting), async { kill(pid) });
    let error = assert_code(waited, Code::PageLost);
    assert!(error.message.contains("signal: 9"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(matches!(world.event().await, Event::PageLost { page: 1, .. }));
    let page = world.open(1).await;
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    assert_ne!(world.browser.pid(), Some(pid));
    assert_eq!(entries(world.profiles.path()), 2, "the profile of the first is gone");
}

#[tokio::test]
async fn what_a_killed_browser_remembered_is_not_asked_of_a_new_one() {
    let (world, page) = World::showing("<script>document.cookie='a=1';localStorage.b=2</script>").await;
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    let pid = world.browser.pid().unwrap();
    kill(pid);
    assert_code(world.context.storage_state(&call()).await, Code::PageLost);
    eventually("the end of Chromium", || !is_running(pid)).await;
    let error = assert_code(world.context.storage_state(&call()).await, Code::PageLost);
    assert!(error.message.contains("the browser is gone"), "{error}");
    assert_code(world.context.cookies(&call()).await, Code::PageLost);
    assert!(world.browser.pid().is_none_or(|now| now == pid), "none was launched to look");
    // Nor is it in a new page.
    world.open(2).await;
    assert_eq!(world.context.cookies(&call()).await.unwrap(), []);
}

#[tokio::test]
async fn a_context_without_a_page_remembers_nothing_and_launches_nothing() {
    let world = World::new().await;
    assert_eq!(world.context.storage_state(&call()).await.unwrap(), StorageState::default());
    assert_eq!(world.context.cookies(&call()).await.unwrap(), []);
    assert_eq!(world.browser.pid(), None);
    world.context.close().await;
    assert_code(world.context.cookies(&call()).await, Code::Invalid);
}

/// But one that is ready for the next site, of whichever context went somewhere last. The full Chromium would keep more: for
/// suggestions below the address bar of each window.
#[tokio::test]
async fn each_page_has_a_renderer_and_there_is_one_more_at_most() {
    let world = World::new().await;
    let mut others = Vec::new();
    for count in 1..=3 {
        let (sender, _) = tokio::sync::mpsc::unbounded_channel();
        let context = world.browser.context(world.grants.clone(), sender).await.unwrap();
        let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
        page.goto(&world.site.page("/", "<p>x</p>"), &call()).await.unwrap();
        others.push((context, page));
        let pid = world.browser.pid().unwrap();
        eventually("a renderer for each page", || (count..=count + 1).contains(&renderers(pid).len())).await;
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_dropped_context() {
    let (world, page) = World::showing("<a href=/ target=_blank>pop</a>").await;
    page.click("a", &call()).await.unwrap();
    let pid = world.browser.pid().unwrap();
    assert_eq!(world.browser.contexts(), 1);
    let World { context, browser, profiles, .. } = world;
    drop(context);
    assert_eq!(browser.contexts(), 0);
    assert_code(page.title(&call()).await, Code::PageLost);
    eventually("the end of the renderers", || renderers(pid).is_empty()).await;
    let all = descendants(pid);
    assert!(!all.is_empty());
    drop(page);
    drop(browser);
    eventually("the end of Chromium", || !is_running(pid) && all.iter().all(|(pid, _)| !is_running(*pid))).await;
    eventually("the end of its handlers", || with_folder(profiles.path()).is_empty()).await;
    eventually("the removal of the profile", || entries(profiles.path()) == 0).await;
}

#[tokio::test]
async fn nothing_is_left_after_a_shutdown() {
    let (world, _page) = World::showing("x").await;
    let pid = world.browser.pid().unwrap();
    let all = descendants(pid);
    world.browser.shutdown().await;
    assert_eq!(entries(world.profiles.path()), 0);
    assert_eq!(world.browser.pid(), None);
    eventually("the end of all processes", || all.iter().all(|(pid, _)| !is_running(*pid))).await;
    eventually("the end of its handlers", || with_folder(world.profiles.path()).is_empty()).await;
    assert_code(world.context.open(2, PageOptions::default(), &call()).await, Code::Unavailable);
}

#[tokio::test]
async fn contexts_share_no_cookies() {
    let (world, page) =
        World::showing("<p id=o></p><script>o.textContent='['+document.cookie+']';document.cookie='a=1'</script>")
            .await;
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    assert_eq!(page.text("#o", &call()).await.unwrap(), "[a=1]");
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let other = world.browser.context(world.grants.clone(), sender).await.unwrap();
    let page = other.open(1, PageOptions::default(), &call()).await.unwrap();
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    assert_eq!(page.text("#o", &call()).await.unwrap(), "[]");
    other.close().await;
    assert_eq!(world.browser.contexts(), 1);
}

#[tokio::test]
async fn a_missing_or_broken_browser_is_a_clear_error() {
    let profiles = tempfile::tempdir().unwrap();
    let missing = Config { executable: Some("/nowhere/chromium".into()), ..config(&profiles) };
    let error = assert_code(Browser::locate(&missing), Code::Unavailable);
    assert!(error.message.contains("/nowhere/chromium"), "{error}");
    let broken = Config { executable: Some("/bin/false".into()), ..config(&profiles) };
    let begin = Instant::now();
    let error = assert_code(Browser::new(broken).version().await, Code::Unavailable);
    assert!(error.message.contains("exit status: 1"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(entries(profiles.path()), 0);
}

#[tokio::test]
async fn root_without_a_sandbox_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let profiles = tempfile::tempdir().unwrap();
    let browser = Browser::new(Config { no_sandbox: false, ..config(&profiles) });
    let error = assert_code(browser.version().await, Code::Unavailable);
    assert!(error.message.contains("as root"), "{error}");
}

#[tokio::test]
async fn an_open_that_is_given_up_leaves_no_page() {
    let world = World::new().await;
    world.open(1).await;
    let pid = world.browser.pid().unwrap();
    let before = renderers(pid).len();
    assert_code(world.context.open(2, PageOptions::default(), &Call::new(Duration::ZERO)).await, Code::Timeout);
    eventually("the end of the page", || renderers(pid).len() <= before).await;
    world.open(2).await;
}

#[tokio::test]
async fn a_page_that_needs_too_much_memory_is_lost_alone() {
    let mut world = World::with(|config| {
        config.script_memory = Some(128);
        config.renderer_memory = Some(512);
    })
    .await;
    let url = world.site.page(
        "/",
        "<button id=objects onclick='a=[];for(;;)a.push({a:[a.length]})'>O</button>\
         <button id=buffers onclick='b=[];setInterval(()=>b.push(new Uint8Array(32e6).fill(1)),10)'>B</button><p id=p>x</p>",
    );
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let other = world.browser.context(world.grants.clone(), sender).await.unwrap();
    let safe = other.open(1, PageOptions::default(), &call()).await.unwrap();
    safe.goto(&url, &call()).await.unwrap();
    for button in ["#objects", "#buffers"] {
        let page = world.open(1).await;
        page.goto(&url, &call()).await.unwrap();
        let _ = page.click(button, &call()).await;
        let lost = world.event().await;
        assert!(
            matches!(lost, Event::PageLost { page: 1, ref reason } if button == "#objects" || reason.contains("more memory")),
            "{lost:?}"
        );
        assert_code(page.text("#p", &call()).await, Code::PageLost);
        safe.text("#p", &call()).await.unwrap();
    }
}

#[tokio::test]
async fn each_principal_has_a_browser_of_its_own() {
    let profiles = tempfile::tempdir().unwrap();
    let browsers = windlass_browser::Browsers::new(config(&profiles), 2);
    let (one, two) = (browsers.of("one").unwrap(), browsers.of("two").unwrap());
    one.version().await.unwrap();
    two.version().await.unwrap();
    assert_ne!(one.pid(), two.pid());
    assert_eq!(browsers.of("one").unwrap().pid(), one.pid());
    assert_eq!((browsers.keys().len(), browsers.all().len()), (2, 2));
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let context =
        one.context(crate::Grants::new(&[], windlass_browser::Verdict::Denied), sender.clone()).await.unwrap();
    let pid = two.pid().unwrap();
    drop(two);
    // The one that nobody uses makes room.
    let three = browsers.of("three").unwrap();
    let second = three.context(crate::Grants::new(&[], windlass_browser::Verdict::Denied), sender).await.unwrap();
    eventually("the end of the unused browser", || !is_running(pid)).await;
    assert_code(browsers.of("four").map(|_| ()), Code::Limit);
    drop((context, second));
    browsers.shutdown().await;
    eventually("the end of all profiles", || entries(profiles.path()) == 0).await;
}

#[tokio::test]
async fn a_remote_browser_is_used_and_left_running() {
    let folder = tempfile::tempdir().unwrap();
    let executable = Browser::locate(&config(&folder)).unwrap();
    let mut chromium = Command::new(executable);
    chromium.args(["--headless", "--remote-debugging-port=0", "about:blank"]);
    chromium.arg(format!("--user-data-dir={}", folder.path().display())).stderr(Stdio::piped()).stdout(Stdio::null());
    if rustix::process::geteuid().is_root() {
        chromium.arg("--no-sandbox");
    }
    let mut chromium = chromium.spawn().unwrap();
    let lines = BufReader::new(chromium.stderr.take().unwrap()).lines();
    let socket =
        lines.map_while(Result::ok).find_map(|line| Some(line.split_once("listening on ")?.1.to_owned())).unwrap();
    let http = socket.replace("ws://", "http://").split("/devtools").next().unwrap().to_owned();
    for url in [socket, http] {
        let remote = windlass_browser::Remote { url, reach: None };
        let world = World::with(|config| config.remote = Some(remote)).await;
        let page = world.open(1).await;
        let big = format!("<p id=p>{}</p><button onclick=\"this.textContent='ok'\">b</button>", "x".repeat(200_000));
        page.goto(&world.site.page("/", &big), &call()).await.unwrap();
        page.click("role=button", &call()).await.unwrap();
        assert_eq!(page.text("#p", &call()).await.unwrap().len(), 200_000);
        assert_code(page.goto("http://evil.example/", &call()).await, Code::Denied);
        let refused = world.context.downloads_into(folder.path().into(), 1).await;
        assert!(assert_code(refused, Code::Unavailable).message.contains("where it runs"));
        assert_code(page.download(&call()).await, Code::Unavailable);
        let files = "<input type=file id=one><button id=b onclick='one.click()'>Choose</button><p id=n></p>\
             <script>one.onchange=async()=>n.textContent=[one.files[0]?.name,one.files[0]?.type,await one.files[0]?.text()]</script>";
        page.goto(&world.site.page("/files", files), &call()).await.unwrap();
        let small = folder.path().join("grüße.txt");
        std::fs::write(&small, "ä\0b").unwrap();
        for locator in ["#one", "#b"] {
            page.upload(locator, std::slice::from_ref(&small), &call()).await.unwrap();
            page.wait_for_text("grüße.txt,text/plain,ä", false, &call()).await.unwrap();
            page.upload("#one", &[], &call()).await.unwrap();
            page.wait_for_text("grüße.txt", true, &call()).await.unwrap();
        }
        let large = folder.path().join("large.bin");
        std::fs::File::create(&large).unwrap().set_len((16 << 20) + 1).unwrap();
        assert_code(page.upload("#one", &[large], &call()).await, Code::Limit);
        world.browser.shutdown().await;
    }
    assert!(chromium.try_wait().unwrap().is_none(), "it is somebody else's, and goes on");
    let remote = windlass_browser::Remote { url: "http://127.0.0.1:1".into(), reach: None };
    let world = World::with(|config| config.remote = Some(remote)).await;
    assert_code(world.context.open(1, PageOptions::default(), &call()).await.map(|_| ()), Code::Unavailable);
    chromium.kill().unwrap();
    chromium.wait().unwrap();
}

const HELPER: &str = "life::helper_that_holds_a_browser";

/// Not a test: a host that holds a browser until its standard input ends, and then goes without a word.
#[tokio::test]
#[ignore = "started by another test"]
async fn helper_that_holds_a_browser() {
    let Some(profiles) = std::env::var_os("WINDLASS_TEST_PROFILES") else {
        return;
    };
    let no_sandbox = rustix::process::geteuid().is_root();
    let executable = std::env::var_os("WINDLASS_TEST_BROWSER").map(PathBuf::from);
    let browser =
        Browser::new(Config { no_sandbox, profiles: PathBuf::from(profiles), executable, ..Config::default() });
    browser.version().await.unwrap();
    println!("\nbrowser {}", browser.pid().unwrap());
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await.unwrap().unwrap();
    std::process::exit(0);
}

/// Has a host of its own ended in some way, and looks what becomes of the browser that it holds.
pub(crate) async fn browser_of_a_host_that(ends: impl FnOnce(&mut Child)) {
    let profiles = tempfile::tempdir().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([HELPER, "--exact", "--ignored", "--nocapture"])
        .env("WINDLASS_TEST_PROFILES", profiles.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let pid: u32 = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("browser ")?.parse().ok())
        .expect("the helper tells the pid");
    let (all, folder) = (descendants(pid), profiles.path().to_owned());
    assert!(is_running(pid) && !all.is_empty());
    ends(&mut host);
    // Also of processes that it began meanwhile: they write into its folder.
    let ended = || !is_running(pid) && all.iter().all(|(pid, _)| !is_running(*pid)) && with_folder(&folder).is_empty();
    eventually("the end of Chromium", ended).await;
    // What it could not remove is removed by the next host.
    assert_eq!(entries(profiles.path()), 2);
    let next = Browser::new(config(&profiles));
    next.version().await.unwrap();
    assert_eq!(entries(profiles.path()), 2);
    next.shutdown().await;
    assert_eq!(entries(profiles.path()), 0);
}

#[tokio::test]
async fn a_page_that_stands_still_costs_no_more_than_the_deadline() {
    let (world, page) = World::showing("<button id=b onclick='for(;;);'>Loop</button><p id=p>x</p>").await;
    let begin = Instant::now();
    assert_code(page.click("#b", &within(300)).await, Code::Timeout);
    assert_code(page.text("#p", &within(300)).await, Code::Timeout);
    assert_code(page.screenshot(Shot::default(), &within(300)).await, Code::Timeout);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // Another page is not held up, and the next document frees this one.
    world.open(2).await.goto(&world.site.url("/"), &call()).await.unwrap();
    page.goto(&world.site.page("/next", "<p id=p>next</p>"), &call()).await.unwrap();
    assert_eq!(page.text("#p", &call()).await.unwrap(), "next");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_pages_work_at_once() {
    let world = std::sync::Arc::new(World::new().await);
    let url = world.site.page("/", "<button id=b onclick='n.textContent=+n.textContent+1'>b</button><p id=n>0</p>");
    let mut pages = tokio::task::JoinSet::new();
    for id in 0..12 {
        let (world, url) = (std::sync::Arc::clone(&world), url.clone());
        pages.spawn(async move {
            let page = world.open(id).await;
            page.goto(&url, &call()).await.unwrap();
            for _ in 0..5 {
                page.click("#b", &call()).await.unwrap();
            }
            assert_eq!(page.text("#n", &call()).await.unwrap(), "5");
        });
    }
    while let Some(done) = pages.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn a_browser_that_stands_still_costs_no_more_than_the_deadline_and_can_be_ended() {
    let (world, page) = World::showing("<p>x</p>").await;
    let pid = world.browser.pid().unwrap();
    let all = descendants(pid);
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::STOP).unwrap();
    let begin = Instant::now();
    assert_code(page.goto(&world.site.url("/"), &within(300)).await, Code::Timeout);
    assert_code(world.context.open(2, PageOptions::default(), &within(300)).await, Code::Timeout);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    world.browser.shutdown().await;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    eventually("the end of all processes", || all.iter().all(|(pid, _)| !is_running(*pid))).await;
}

#[tokio::test]
async fn a_page_that_is_kept_ready_is_as_new_and_counts_for_nobody() {
    let mut world = World::with(|config| {
        config.spare = true;
        config.pages = Some((2, 3));
    })
    .await;
    let first = world.open(1).await;
    let pid = world.browser.pid().unwrap();
    eventually("a page that is kept ready", || world.browser.has_spare()).await;
    // It is given away, with the policy of the one who asks.
    let begin = Instant::now();
    let nobody = crate::Grants::new(&[], windlass_browser::Verdict::Denied);
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let second = world.browser.context(nobody.clone(), sender).await.unwrap();
    let german = PageOptions { locale: "de-DE".into(), time_zone: "Asia/Tokyo".into(), ..PageOptions::default() };
    let page = second.open(1, german, &call()).await.unwrap();
    println!("opened in {:?}", begin.elapsed());
    assert!(!world.browser.has_spare(), "this is it");
    let looks = "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, history.length]";
    let looks = page.evaluate(looks, &serde_json::Value::Null, &call()).await.unwrap();
    assert_eq!(looks, serde_json::json!(["de-DE", "Asia/Tokyo", 1280, 1]));
    let url = world.site.page("/", "<p>x</p>");
    assert_code(page.goto(&url, &call()).await, Code::Denied);
    assert!(matches!(events.recv().await, Some(Event::Blocked { .. })), "and tells that one");
    nobody.allow(&world.site.origin());
    assert_eq!(page.goto(&url, &call()).await.unwrap().status, 200);
    first.goto(&url, &call()).await.unwrap();
    assert!(world.events.try_recv().is_err());
    // Three may be open, and the next one that is kept ready is none of them.
    eventually("the next one", || world.browser.has_spare()).await;
    second.open(2, PageOptions::default(), &call()).await.unwrap();
    assert_code(world.context.open(2, PageOptions::default(), &call()).await.map(|_| ()), Code::Limit);
    // Killed, it is not given to anybody.
    kill(pid);
    assert!(matches!(world.event().await, Event::PageLost { page: 1, .. }));
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let third = world.browser.context(nobody, sender).await.unwrap();
    third.open(1, PageOptions::default(), &call()).await.unwrap().goto(&url, &call()).await.unwrap();
    world.browser.shutdown().await;
    assert_eq!(entries(world.profiles.path()), 0);
}

#[tokio::test]
async fn a_page_that_is_let_go_makes_room_at_once() {
    let world = World::with(|config| config.pages = Some((2, 2))).await;
    let (_first, mut second) = (world.open(1).await, world.open(2).await);
    for id in 3..8 {
        assert_code(world.context.open(9, PageOptions::default(), &call()).await.map(|_| ()), Code::Limit);
        second.let_go();
        second = world.open(id).await;
    }
}

#[tokio::test]
async fn what_is_kept_ready_holds_nothing_of_those_before() {
    let world = World::with(|config| config.spare = true).await;
    let url = world.site.page("/", "<p>x</p>");
    let stored = "[document.cookie, localStorage.getItem('owner'), window.name, document.referrer]";
    let none = serde_json::Value::Null;
    world.open(1).await.goto(&url, &call()).await.unwrap();
    let mut owners = vec![];
    for owner in ["ada", "bob", "eve"] {
        eventually("a page that is kept ready", || world.browser.has_spare()).await;
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        let grants = crate::Grants::new(&[world.site.origin()], windlass_browser::Verdict::Denied);
        let context = world.browser.context(grants.clone(), sender).await.unwrap();
        let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
        page.goto(&url, &call()).await.unwrap();
        let found = page.evaluate(stored, &none, &call()).await.unwrap();
        assert_eq!(found, serde_json::json!(["", null, "", ""]), "{owner} finds nothing of others");
        let mark =
            "owner => { document.cookie = 'owner=' + owner; localStorage.setItem('owner', owner); name = owner }";
        page.evaluate(mark, &owner.into(), &call()).await.unwrap();
        owners.push((owner, context, page, grants, events));
    }
    // The end of one, or of its grants, is the end of nobody else.
    let (_, gone, _, _, _) = owners.remove(0);
    gone.close().await;
    owners[0].3.revoke();
    assert_code(owners[0].2.goto(&url, &call()).await, Code::Denied);
    owners[1].2.goto(&url, &call()).await.unwrap();
    let found = owners[1].2.evaluate("document.cookie", &none, &call()).await.unwrap();
    assert_eq!(found, "owner=eve");
    assert!(owners[1].4.try_recv().is_err(), "what is blocked is told to its owner alone");
    assert!(matches!(owners[0].4.recv().await, Some(Event::Blocked { .. })));
}

#[tokio::test]
async fn contexts_that_come_and_go_leave_nothing_behind() {
    let (world, page) = World::showing("x").await;
    stays_connected(&world, &page).await;
    let pid = world.browser.pid().unwrap();
    let visit = || async {
        let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
        let context = world.browser.context(world.grants.clone(), sender).await.unwrap();
        let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
        page.goto(&world.site.url("/"), &call()).await.unwrap();
        stays_connected(&world, &page).await;
        let ports: Vec<u16> = sockets(pid).into_iter().map(|(_, port)| port).collect();
        context.close().await;
        ports
    };
    let own: Vec<u16> = sockets(pid).into_iter().map(|(_, port)| port).collect();
    let mut ports = Vec::new();
    for _ in 0..20 {
        ports.extend(visit().await);
    }
    ports.retain(|port| !own.contains(port));
    assert!(ports.len() >= 20, "each context has a port of its own");
    let is_closed = |port: &u16| std::net::TcpStream::connect(("127.0.0.1", *port)).is_err();
    eventually("the closing of the ports", || ports.iter().all(is_closed)).await;
    assert_eq!(world.browser.contexts(), 1);
    // The page of this test, and at most one that Chromium keeps ready.
    eventually("the end of the renderers", || renderers(pid).len() <= 2).await;
}
