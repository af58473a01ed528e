//! Pages as the web has them: its bad habits, and what people do on it. Each is a file below `assets/pages`, which begins
//! with its title and with what it does; two are made here, since they are large. What servers must answer is in
//! `answers`.

mod answers;

use std::{fmt::Write as _, sync::LazyLock};

use axum::{
    Router,
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};

use crate::{pages::escape, routes};

/// A page, and how the index shows it.
struct Page {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    body: &'static str,
}

macro_rules! page {
    ($name:literal) => {
        ($name, include_str!(concat!("assets/pages/", $name, ".html")))
    };
}

/// In the order of the index: what people do, then what makes it hard.
const TASKS: [(&str, &str); 10] = [
    page!("login"),
    page!("table"),
    page!("wizard"),
    page!("upload"),
    page!("download"),
    page!("popup"),
    page!("payment"),
    page!("sort"),
    page!("suggest"),
    page!("controls"),
];
const HABITS: [(&str, &str); 19] = [
    page!("rerender"),
    page!("shift"),
    page!("moving"),
    page!("overlay"),
    page!("sticky"),
    page!("hover"),
    page!("scroll"),
    page!("virtual"),
    page!("spa"),
    page!("frames"),
    page!("shadow"),
    page!("canvas"),
    page!("leave"),
    page!("alert"),
    page!("hanging"),
    page!("print"),
    page!("service-worker"),
    page!("visits"),
    page!("device"),
];
/// Made by the server, and far too large to be files.
const LARGE: [(&str, &str, &str); 2] = [
    ("large", "Ten megabytes", "A page of ten megabytes of text; a button stands at its end."),
    (
        "nodes",
        "Fifty thousand nodes",
        "Links and buttons in a list, and a button five hundred elements deep; ?n= says how many.",
    ),
];

fn parse((name, text): (&'static str, &'static str)) -> Page {
    let taken = (|| {
        let rest = text.strip_prefix("<title>")?;
        let (title, rest) = rest.split_once("</title>\n<meta name=\"description\" content=\"")?;
        let (about, body) = rest.split_once("\">\n")?;
        Some(Page { name, title, about, body })
    })();
    taken.expect("a page begins with its title and its description")
}

static PAGES: LazyLock<[Vec<Page>; 2]> =
    LazyLock::new(|| [TASKS.into_iter().map(parse).collect(), HABITS.into_iter().map(parse).collect()]);

/// The addresses of all pages, after `/pages/`: tasks, habits, large ones.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let files = TASKS.into_iter().chain(HABITS).map(|(name, _)| name);
    files.chain(LARGE.into_iter().map(|(name, ..)| name))
}

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let mut router = Router::new()
        .route("/pages", get(async || index()))
        .route("/pages.css", get(async || routes::asset("text/css", include_str!("assets/pages.css"))))
        .route("/pages/login", post(answers::login))
        .route("/pages/account", get(answers::account))
        .route("/pages/logout", post(answers::logout))
        .route("/pages/wizard", post(answers::booked))
        .route("/pages/upload/{name}", post(answers::upload))
        .route("/pages/download/{name}", get(answers::download).post(answers::download))
        .route("/pages/scroll/entries", get(answers::entries))
        .route("/pages/suggest/ports", get(answers::ports))
        .route("/pages/popup/colours", get(async || part(include_str!("assets/parts/colours.html"))))
        .route("/pages/payment/card", get(async || part(include_str!("assets/parts/card.html"))))
        .route("/pages/frames/outer", get(async || part(include_str!("assets/parts/frame-outer.html"))))
        .route("/pages/frames/inner", get(async || part(include_str!("assets/parts/frame-inner.html"))))
        .route("/pages/never", get(std::future::pending::<()>))
        .route(
            "/pages/service-worker/worker.js",
            get(async || {
                ([("service-worker-allowed", "/pages")], routes::script(include_str!("assets/service-worker.js")))
            }),
        )
        .route("/pages/large", get(async || large()))
        .route("/pages/nodes", get(answers::nodes));
    for page in PAGES.iter().flatten() {
        let path = format!("/pages/{}", page.name);
        router = router.route(&path, get(async || document(page.title, page.about, page.body)));
    }
    router
}

/// A page of the gallery around `body`, which is HTML already.
fn document(title: &str, about: &str, body: &str) -> Html<String> {
    Html(format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/shop.css">
<link rel="stylesheet" href="/pages.css">
</head>
<body>
<header><a href="/" class="brand">⚓ Capstan Supplies</a> <a href="/pages">All pages</a></header>
<main>
<h1>{title}</h1>
<p class="about">{about}</p>
{body}</main>
</body>
</html>
"#
    ))
}

/// What stands in a frame or a small window: no frame of the shop around it.
fn part(body: &'static str) -> Response {
    let head =
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<link rel=\"stylesheet\" href=\"/shop.css\">\n";
    let style = "<style>body { padding: .8rem; }</style>\n";
    Html(format!("{head}{style}{body}")).into_response()
}

fn index() -> Html<String> {
    let mut body = String::new();
    let large = LARGE.into_iter().map(|(name, title, about)| Page { name, title, about, body: "" }).collect::<Vec<_>>();
    for (heading, pages) in
        [("What people do", &PAGES[0]), ("What makes it hard", &PAGES[1]), ("What is large", &large)]
    {
        let _ = writeln!(body, "<h2>{heading}</h2>\n<ul class=\"rows list\">");
        for Page { name, title, about, .. } in pages {
            let _ = writeln!(body, "<li><a href=\"/pages/{name}\">{title}</a> <span>{about}</span></li>");
        }
        body.push_str("</ul>\n");
    }
    document(
        "Pages as the web has them",
        "Each does one thing that real pages do, and shows what really happened.",
        &body,
    )
}

fn large() -> Html<String> {
    let (_, title, about) = LARGE[0];
    let data = "lorem ipsum ".repeat(800_000);
    let text = "<p>lorem ipsum</p>".repeat(20_000);
    let end = "<p><button onclick=\"reached.textContent = 'yes'\">End</button> Reached: <output id=\"reached\">no</output></p>\n";
    document(title, about, &format!("<script type=\"application/json\">{data}</script>\n{text}\n{end}"))
}

fn nodes(count: usize) -> Html<String> {
    let (_, title, about) = LARGE[1];
    let (open, close) = ("<div>".repeat(500), "</div>".repeat(500));
    let mut body = format!(
        "<p>Bought: <output id=\"bought\">none</output></p>\n{open}<button>Deep</button>{close}\n<ul id=\"list\">\n"
    );
    // Five nodes a row: the item, a link, a button, and their texts are what takes the time.
    for n in 0..count / 5 {
        let _ = writeln!(body, "<li><a href=\"/item/{n}\">Item {n}</a> <button>Buy {n}</button></li>");
    }
    body.push_str("</ul>\n<script>addEventListener('click', (event) => { if (event.target.tagName === 'BUTTON') bought.textContent = event.target.textContent; });</script>\n");
    document(title, about, &body)
}

/// A page that only the server can make, with what came from outside in it.
fn made(title: &str, about: &str, rows: &[(String, String)], after: &str) -> Html<String> {
    let rows: String =
        rows.iter().map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value))).collect();
    document(&escape(title), &escape(about), &format!("<dl id=\"rows\">\n{rows}</dl>\n{after}\n"))
}
