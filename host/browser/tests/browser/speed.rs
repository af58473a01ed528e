//! Prints how long things take: `cargo test --release -p windlass-browser speed -- --ignored
//! --nocapture`.

use std::time::Instant;

use windlass_browser::{PageOptions, Shot};

use crate::{World, call};

fn report(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!("{what:34} median {:7.1} ms   p95 {:7.1}   n={}", at(0.5), at(0.95), times.len());
}

macro_rules! measure {
    ($what:expr, $count:expr, $work:expr) => {{
        let mut times = Vec::new();
        for _ in 0..$count {
            let begin = Instant::now();
            $work;
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        report($what, times);
    }};
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints timings"]
async fn timings() {
    let items: String =
        (0..1000).map(|i| format!("<li><a href=/item/{i}>Item {i}</a> <button>Buy {i}</button></li>")).collect();
    let begin = Instant::now();
    let (world, page) = World::showing(
        "<input id=f><button id=b onclick=\"n.textContent=+n.textContent+1\">Count</button><p id=n>0</p>",
    )
    .await;
    println!("launch, context, page, goto: {:.0} ms", begin.elapsed().as_secs_f64() * 1e3);
    let mut id = 10;
    measure!("context + open", 20, {
        let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
        let context = world.browser.context(world.grants.clone(), sender).await.unwrap();
        context.open(1, PageOptions::default(), &call()).await.unwrap();
    });
    measure!("open in a context", 20, {
        id += 1;
        world.open(id).await
    });
    measure!("goto small page", 20, page.goto(&world.site.url("/"), &call()).await.unwrap());
    measure!("click css", 50, page.click("#b", &call()).await.unwrap());
    measure!("click role and name", 50, page.click("role=button[name=\"Count\"]", &call()).await.unwrap());
    measure!("fill", 50, page.fill("#f", "some text", &call()).await.unwrap());
    measure!("press a key", 50, page.press("a", &call()).await.unwrap());
    measure!("text", 50, page.text("#n", &call()).await.unwrap());
    measure!("title", 50, page.title(&call()).await.unwrap());
    measure!("screenshot png", 20, page.screenshot(Shot::default(), &call()).await.unwrap());
    assert_eq!(page.text("#n", &call()).await.unwrap(), "100");
    page.goto(&world.site.page("/big", &format!("<ul>{items}</ul>")), &call()).await.unwrap();
    measure!(
        "click role and name, 1000 items",
        20,
        page.click("role=button[name=\"Buy 999\"]", &call()).await.unwrap()
    );
}
