//! Ways out of a page, each by its name: what is not granted is not reached by any, not even by a connection. The older ones
//! are in `fence`; those here are the rest that browsers have.

use windlass_browser::{Code, PageOptions, Verdict};

use crate::site::{Answer, Site};
use crate::{Grants, World, assert_code, call};

/// Whether the way leads to the other server once that is granted: else the attempt would prove nothing.
#[derive(Clone, Copy, PartialEq)]
enum Control {
    /// It does, by a request of this method.
    Reaches(&'static str),
    /// Not in every Chromium, or only with more than a test has: HTTPS, a person. It must not reach it all the same.
    Unproved,
}
use Control::{Reaches, Unproved};

const GET: Control = Reaches("GET");
const POST: Control = Reaches("POST");

/// Name, control, and the body of a function of `url`, the address to reach; `add` puts HTML into the page.
const WAYS: &[(&str, Control, &str)] = &[
    // Styles and pictures.
    ("css-mask", GET, "add(`<p style='mask-image:url(${url})'>x</p>`)"),
    ("css-content", GET, "add(`<style>#cc::before{content:url(${url})}</style><p id=cc></p>`)"),
    ("css-border-image", GET, "add(`<p style='border:9px solid;border-image:url(${url}) 9'>x</p>`)"),
    ("css-image-set", GET, "add(`<p style='background:image-set(\"${url}\" 1x)'>x</p>`)"),
    ("css-shape", GET, "add(`<p style='float:left;shape-outside:url(${url})'>x</p>`)"),
    (
        "css-constructed",
        GET,
        "const s=new CSSStyleSheet();s.replaceSync(`#ca{background:url(${url})}`);document.adoptedStyleSheets=[s];add('<p id=ca>x</p>')",
    ),
    ("svg-use", Unproved, "add(`<svg><use href='${url}#x'/></svg>`)"),
    ("svg-foreign-object", GET, "add(`<svg><foreignObject width=9 height=9><img src='${url}'></foreignObject></svg>`)"),
    (
        "svg-filter-image",
        GET,
        "add(`<svg><filter id=fi><feImage href='${url}'/></filter><rect width=9 height=9 filter='url(#fi)'/></svg>`)",
    ),
    (
        "svg-in-img",
        Unproved,
        "add(`<img src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"${url}\"/></svg>'>`)",
    ),
    ("image-lazy", GET, "add(`<img loading=lazy src='${url}'>`)"),
    ("image-base", GET, "add(`<iframe srcdoc=\"<base href='${new URL('/', url)}'><img src='image-base'>\"></iframe>`)"),
    ("font-face-api", GET, "new FontFace('z', `url(${url})`).load().catch(()=>0)"),
    ("favicon", Unproved, "add(`<link rel='shortcut icon' href='${url}'>`)"),
    (
        "manifest-icon",
        Unproved,
        "add(`<link rel=manifest href='data:application/manifest+json,${encodeURIComponent(JSON.stringify({name:'x',start_url:'/',icons:[{src:url,sizes:'192x192'}]}))}'>`)",
    ),
    // Scripts and what they load.
    (
        "import-map",
        GET,
        "add(`<script type=importmap>{\"imports\":{\"mapped\":\"${url}\"}}</script>`);await import('mapped').catch(()=>0)",
    ),
    (
        "module-worker",
        GET,
        "new Worker(URL.createObjectURL(new Blob([`import '${url}'`],{type:'text/javascript'})),{type:'module'})",
    ),
    (
        "nested-worker",
        GET,
        "new Worker(URL.createObjectURL(new Blob([`new Worker(URL.createObjectURL(new Blob(['fetch(\"${url}\",{mode:\"no-cors\"})'])))`])))",
    ),
    ("audio-worklet", GET, "await new AudioContext().audioWorklet.addModule(url).catch(()=>0)"),
    ("wasm-streaming", GET, "await WebAssembly.instantiateStreaming(fetch(url)).catch(()=>0)"),
    ("cache-add", GET, "await (await caches.open('x')).add(new Request(url,{mode:'no-cors'})).catch(()=>0)"),
    (
        "background-fetch",
        Unproved,
        "await (await navigator.serviceWorker.ready).backgroundFetch.fetch('x',[url]).catch(()=>0)",
    ),
    ("fetch-later", Unproved, "fetchLater(url,{activateAfter:0})"),
    ("event-source-worker", GET, "new Worker(URL.createObjectURL(new Blob([`new EventSource('${url}')`])))"),
    ("web-transport", Unproved, "await new WebTransport(url.replace('http:','https:')).ready.catch(()=>0)"),
    ("websocket-stream", Unproved, "await new WebSocketStream(url.replace('http','ws')).opened.catch(()=>0)"),
    // Hints.
    ("link-preload-fetch", GET, "add(`<link rel=preload as=fetch crossorigin href='${url}'>`)"),
    ("link-module-preload", GET, "add(`<link rel=modulepreload href='${url}'>`)"),
    ("link-prefetch-document", GET, "add(`<link rel=prefetch as=document href='${url}'>`)"),
    ("link-prerender", Unproved, "add(`<link rel=prerender href='${url}'>`)"),
    ("link-preconnect", Unproved, "add(`<link rel=preconnect href='${new URL(url).origin}'>`)"),
    ("link-dns-prefetch", Unproved, "add(`<link rel=dns-prefetch href='//evil.example'>`)"),
    (
        "speculation-prefetch",
        Unproved,
        "const s=document.createElement('script');s.type='speculationrules';s.textContent=JSON.stringify({prefetch:[{source:'list',urls:[url],eagerness:'immediate'}]});document.head.append(s)",
    ),
    (
        "speculation-prerender",
        Unproved,
        "const s=document.createElement('script');s.type='speculationrules';s.textContent=JSON.stringify({prerender:[{source:'list',urls:[url],eagerness:'immediate'}]});document.head.append(s)",
    ),
    // Going there.
    ("meta-refresh", GET, "add(`<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=${url}'>\"></iframe>`)"),
    (
        "frame-location",
        GET,
        "const f=document.createElement('iframe');document.body.append(f);f.contentWindow.location=url",
    ),
    (
        "form-post-frame",
        POST,
        "add(`<iframe name=fp></iframe><form id=fpf method=post target=fp action='${url}'></form>`);fpf.submit()",
    ),
    (
        "fenced-frame",
        Unproved,
        "const f=document.createElement('fencedframe');document.body.append(f);f.config=new FencedFrameConfig(url)",
    ),
    ("portal-object", GET, "add(`<object data='${url}'></object>`)"),
    (
        "download-link",
        GET,
        "const a=Object.assign(document.createElement('a'),{href:url,download:'x',target:'_blank'});document.body.append(a);a.click()",
    ),
    (
        "tab-link",
        GET,
        "const a=Object.assign(document.createElement('a'),{href:url});document.body.append(a);\
         a.dispatchEvent(new MouseEvent('click',{ctrlKey:true,bubbles:true,cancelable:true}))",
    ),
    ("view-source", Unproved, "open('view-source:'+url)"),
    ("popup-blob", GET, "open(URL.createObjectURL(new Blob([`<img src='${url}'>`],{type:'text/html'})))"),
    (
        "ping",
        Unproved,
        "const a=Object.assign(document.createElement('a'),{href:'#x',ping:url});document.body.append(a);a.click()",
    ),
    // Asked for by the browser itself, not by the page.
    ("attribution", Unproved, "add(`<img attributionsrc='${url}'>`)"),
    (
        "payment-manifest",
        Unproved,
        "await new PaymentRequest([{supportedMethods:url.replace('http:','https:')}],{total:{label:'x',amount:{currency:'EUR',value:'1'}}}).canMakePayment().catch(()=>0)",
    ),
    (
        "federated-login",
        Unproved,
        "await navigator.credentials.get({identity:{providers:[{configURL:url,clientId:'x'}]}}).catch(()=>0)",
    ),
    (
        "turn-udp",
        Unproved,
        "const r=new RTCPeerConnection({iceServers:[{urls:`turn:127.0.0.1:${new URL(url).port}`,username:'u',credential:'c'}]});r.createDataChannel('x');await r.setLocalDescription(await r.createOffer());await new Promise(end=>r.onicegatheringstatechange=()=>r.iceGatheringState=='complete'&&end())",
    ),
    (
        "turn-tls",
        Unproved,
        "const r=new RTCPeerConnection({iceTransportPolicy:'relay',iceServers:[{urls:`turns:127.0.0.1:${new URL(url).port}?transport=tcp`,username:'u',credential:'c'}]});r.createDataChannel('x');await r.setLocalDescription(await r.createOffer());await new Promise(end=>r.onicegatheringstatechange=()=>r.iceGatheringState=='complete'&&end())",
    ),
    (
        "ice-candidate",
        Unproved,
        "const r=new RTCPeerConnection();const o=new RTCPeerConnection();o.createDataChannel('x');const d=await o.createOffer();await r.setRemoteDescription(d);await r.setLocalDescription();await r.addIceCandidate({candidate:`candidate:1 1 udp 2113937151 127.0.0.1 ${new URL(url).port} typ host`,sdpMid:'0'}).catch(()=>0)",
    ),
];

fn page(evil: &Site) -> String {
    let ways: String = WAYS
        .iter()
        .map(|(name, _, body)| {
            format!("ways['{name}'] = async url => {{ {} }};\n", body.replace("</script>", "<\\/script>"))
        })
        .collect();
    format!(
        "<body><script>\
         const add = html => document.body.append(document.createRange().createContextualFragment(html));\
         const ways = {{}};\n{ways}\
         const tried = Object.entries(ways).map(([name, way]) => Promise.race([\
           way('{origin}/' + name).catch(error => console.log(name, error.message)), new Promise(end => setTimeout(end, 3000))]));\
         Promise.all(tried).then(() => fetch('/sentinel'));\
         </script>",
        origin = evil.origin()
    )
}

/// Runs all ways; answers how many datagrams came.
async fn try_all(world: &World, evil: &Site) -> usize {
    let udp = tokio::net::UdpSocket::bind(("127.0.0.1", evil.port)).await.unwrap();
    let page_ = world.open(1).await;
    page_.goto(&world.site.page("/", &page(evil)), &call()).await.unwrap();
    world.site.seen("GET /sentinel").await;
    let mut datagram = [0; 2048];
    std::iter::from_fn(|| udp.try_recv(&mut datagram).ok()).count()
}

#[tokio::test]
async fn no_way_leads_to_what_is_not_granted() {
    let world = World::new().await;
    let evil = Site::start().await;
    assert_eq!(try_all(&world, &evil).await, 0, "datagrams");
    assert_eq!((evil.requests(), evil.connections()), (Vec::new(), 0));
}

/// The control: the attempts are real ones.
#[tokio::test]
async fn the_same_ways_lead_to_what_is_granted() {
    let world = World::new().await;
    let evil = Site::start().await;
    world.grants.allow(&evil.origin());
    assert_eq!(try_all(&world, &evil).await, 0, "no grant opens UDP");
    for (name, control, _) in WAYS {
        if let Reaches(method) = control {
            evil.seen(&format!("{method} /{name}")).await;
        }
    }
}

/// What answers of a site make a browser ask for, and frames of a site that may be loaded.
#[tokio::test]
async fn headers_and_frames_of_others_lead_nowhere_else() {
    for granted in [false, true] {
        let world = World::new().await;
        let (evil, other) = (Site::start().await, Site::start().await);
        let elsewhere = format!("http://localhost:{}", other.port);
        world.grants.allow(&elsewhere);
        if granted {
            world.grants.allow(&evil.origin());
        }
        let e = evil.origin();
        other.page(
            "/frame",
            &format!(
                "<img src={e}/oopif-image><script>fetch('{e}/oopif-fetch',{{mode:'no-cors'}}).catch(()=>0);\
                 new Worker(URL.createObjectURL(new Blob([`fetch('{e}/oopif-worker',{{mode:'no-cors'}})`])));\
                 navigator.sendBeacon('{e}/oopif-beacon')</script>"
            ),
        );
        let headers = [
            format!("Link: <{e}/link-header>; rel=preload; as=image, <{e}>; rel=preconnect"),
            format!("Content-Security-Policy-Report-Only: img-src 'none'; report-uri {e}/csp-report"),
            format!("Reporting-Endpoints: default=\"{e}/reports\", other=\"{e}/other-reports\""),
            format!("Report-To: {{\"group\":\"nel\",\"max_age\":1000,\"endpoints\":[{{\"url\":\"{e}/nel\"}}]}}"),
            "NEL: {\"report_to\":\"nel\",\"max_age\":1000,\"success_fraction\":1,\"failure_fraction\":1}".to_owned(),
            format!("Speculation-Rules: \"{e}/speculation-header\""),
            format!("Document-Policy: include-js-call-stacks-in-crash-reports\r\nSourceMap: {e}/source-map"),
        ];
        let body = format!(
            "<!doctype html><iframe src={elsewhere}/frame></iframe><img src=/violates><img src=/moved>\
             <script>onload=()=>setTimeout(()=>fetch('/sentinel'),1500)</script>"
        );
        let url = world.site.answer("/", Answer::With(headers.join("\r\n"), body));
        world.site.answer("/moved", Answer::Redirect(format!("{e}/redirected")));
        world.open(1).await.goto(&url, &call()).await.unwrap();
        world.site.seen("GET /sentinel").await;
        if granted {
            for request in [
                "GET /oopif-image",
                "GET /oopif-fetch",
                "GET /oopif-worker",
                "POST /oopif-beacon",
                "GET /link-header",
                "GET /redirected",
                "POST /csp-report",
            ] {
                evil.seen(request).await;
            }
        } else {
            assert_eq!((evil.requests(), evil.connections()), (Vec::new(), 0));
        }
    }
}

/// This machine, in the ways that addresses can be written.
const NOTATIONS: [&str; 21] = [
    "127.0.0.1",
    "127.0.0.1.",
    "2130706433",
    "0x7f000001",
    "0x7F.1",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "１２７.0.0.1",
    "%31%32%37.0.0.1",
    "127。0。0。1",
    "localhost",
    "LocalHost",
    "localhost.",
    "some.localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "user:word@127.0.0.1",
    "shop.example@127.0.0.1",
];

#[tokio::test]
async fn no_notation_of_an_address_leads_to_what_is_not_granted() {
    let world = World::new().await;
    let evil = Site::start().await;
    let page = world.open(1).await;
    page.goto(&world.site.page("/", "x"), &call()).await.unwrap();
    for host in NOTATIONS {
        let url = format!("http://{host}:{}/", evil.port);
        let script = "url => Promise.race([fetch(url, {mode: 'no-cors'}), new Promise(end => { new Image().src = url; setTimeout(end, 100) })]).then(() => 0, () => 0)";
        page.evaluate(script, &url.as_str().into(), &call()).await.unwrap();
        assert_code(page.goto(&url, &call()).await, Code::Denied);
    }
    assert_eq!((evil.requests(), evil.connections()), (Vec::new(), 0));
}

/// Grants are of no use against the list of what is never reached, whatever the address is called.
#[tokio::test]
async fn no_notation_of_an_address_leads_to_the_hosts_own_listeners() {
    let world = World::new().await;
    let own = Site::start().await;
    world.browser.deny(([0, 0, 0, 0], own.port).into());
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let context = world.browser.context(Grants::new(&[], Verdict::Exact), sender).await.unwrap();
    let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
    page.goto(&world.site.page("/", "all is granted"), &call()).await.unwrap();
    for host in NOTATIONS.into_iter().chain(["0.0.0.0", "0", "[::]", "[::ffff:0:0]", "127.255.255.254"]) {
        let url = format!("http://{host}:{}/", own.port);
        let error = page.goto(&url, &call()).await.expect_err(&url);
        // Some names are of no use to the resolver either.
        assert!(matches!(error.code, Code::Denied | Code::Unavailable), "{url}: {error}");
    }
    for url in
        ["http://169.254.169.254/", "http://2852039166/", "http://[fd00:ec2::254]/", "http://[::ffff:a9fe:a9fe]/"]
    {
        assert_code(page.goto(url, &call()).await, Code::Denied);
    }
    assert_eq!((own.requests(), own.connections()), (Vec::new(), 0));
}
