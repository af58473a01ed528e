//! The fake host that authors test against: what it answers, and what it says when a test is wrong.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use windlass::prelude::*;
use windlass::testing::{FakePage, Host, Reply, Run, Value, json};

#[derive(Deserialize, Schema)]
struct Case {
    case: String,
}

/// Does one thing.
#[windlass::tool(permissions("browser *"))]
fn errand(Case { case }: Case) -> Result<String> {
    let page = || browser::open().page();
    match case.as_str() {
        "typo" => {
            let page = page()?;
            page.goto("https://shop.test/")?;
            page.text("#pirce")
        }
        "reads" => {
            let page = page()?;
            page.goto("https://shop.test/")?;
            page.wait_for("#late", Until::Hidden)?;
            let (title, count) = (page.title()?, page.get_by_text("nobody").count()?);
            let sum: i64 = page.evaluate("() => 1 + 1", ())?;
            Ok(format!("{title} {count} {sum} {:?} {}", page.attribute("a", "href")?, page.html("#price")?))
        }
        "many" => page().and_then(|page| {
            page.goto("https://shop.test/")?;
            page.click("li")?;
            Ok(String::new())
        }),
        "secret" => {
            let page = page()?;
            page.goto("https://shop.test/")?;
            page.fill_secret("#q", "shop-token")?;
            page.value("#q")
        }
        "request" => {
            let request = http::post("https://shop.test/api").secret("authorization", "shop-token", "Bearer ");
            Ok(request.json(&json!({ "item": "mug" }))?.send()?.success()?.text())
        }
        "sleep" => {
            sleep(Duration::from_secs(86_400))?;
            Ok("awake".into())
        }
        "tidy" => match sleep(Duration::from_secs(60)) {
            Err(error) if error.is(code::CANCELLED) => {
                info!("Tidying up");
                assert!(is_cancelled());
                Err(error)
            }
            other => other.map(|()| String::new()),
        },
        "files" => {
            let report = workdir::path("reports/mug.csv");
            std::fs::create_dir_all(report.parent().context("it has a folder")?)?;
            std::fs::write(&report, "mug,4.50")?;
            artifacts::save_file(&report, "mug.csv", "text/csv")?;
            Ok(std::fs::read_to_string(workdir::path("before.txt"))?)
        }
        "state" => {
            let before: u32 = state::get("count")?.unwrap_or(0);
            state::set("count", &(before + 1))?;
            Ok(format!("{:?} turn {}", turn().message.as_ref().map(|m| m.text.clone()), turn().number))
        }
        _ => Ok(format!("{:?}", confirm("sure", "Are you sure?")?)),
    }
}

fn shop() -> FakePage {
    FakePage::new("https://shop.test")
        .title("Shop")
        .text("#price", "4.50 €")
        .field("#q", "")
        .attribute("a", "href", "/mug")
        .count("li", 3)
        .script("() => 1 + 1", 2)
}

fn run(host: Host, case: &str) -> Run {
    host.run::<errand>(json!({ "case": case }))
}

#[test]
fn an_unknown_locator_is_named_with_those_that_are_there() {
    let run = run(Host::new().page(shop()), "typo");
    assert!(run.error().is(code::NOT_FOUND));
    let message = run.error().message();
    assert!(message.contains("`#pirce`") && message.contains("`#price`, `#q`"), "{message}");
    let run = catch_unwind(AssertUnwindSafe(|| run.text())).unwrap_err();
    let said = run.downcast_ref::<String>().unwrap();
    assert!(said.contains("#pirce") && said.contains("goto https://shop.test/"), "{said}");
}

#[test]
fn a_test_of_a_tool_that_failed_fails_at_its_own_line() {
    let failed = run(Host::new().page(shop()), "typo");
    let (here, usual) = (std::thread::current().id(), std::panic::take_hook());
    let places = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = places.clone();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == here {
            kept.lock().unwrap().push(panic.location().map(|place| (place.file().to_owned(), place.line())));
        } else {
            usual(panic);
        }
    }));
    let line = line!() + 1;
    catch_unwind(AssertUnwindSafe(|| failed.text())).unwrap_err();
    catch_unwind(AssertUnwindSafe(|| failed.output())).unwrap_err();
    drop(std::panic::take_hook());
    let own = |line| Some((file!().to_owned(), line));
    assert_eq!(*places.lock().unwrap(), [own(line), own(line + 1)]);
}

#[test]
fn what_a_page_says_is_read_from_it() {
    assert_eq!(run(Host::new().page(shop()), "reads").text(), "Shop 0 2 Some(\"/mug\") 4.50 €");
    assert!(run(Host::new().page(shop()), "many").error().is(code::AMBIGUOUS));
    let elsewhere = run(Host::new().page(FakePage::new("https://other.test/")), "typo");
    assert!(elsewhere.error().message().contains("no page for https://shop.test/"), "{}", elsewhere.error());
}

#[test]
fn a_question_without_an_answer_fails_the_test_and_says_how_to_give_one() {
    let panic = catch_unwind(|| run(Host::new(), "ask")).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(said.contains(r#"asks "sure" ("Are you sure?")"#) && said.contains("confirm"), "{said}");
    assert_eq!(run(Host::new().answer("sure", json!({ "confirm": true })), "ask").text(), "true");
    assert_eq!(run(Host::new().expire("sure"), "ask").text(), "false");
    let wrong = run(Host::new().answer("sure", json!({ "confirm": "yes" })), "ask");
    assert!(wrong.error().message().contains("does not fit its form"), "{}", wrong.error());
}

#[test]
fn a_secret_is_used_and_never_shown() {
    let host = || Host::new().page(shop()).secret("shop-token", "hunter2");
    assert!(run(host(), "secret").error().is(code::DENIED));
    assert!(run(Host::new().page(shop()), "secret").error().is(code::UNAVAILABLE));
    let replies = host().http("POST", "https://shop.test/*", Reply::json(json!({ "order": 1 })).status(201)).http(
        "POST",
        "https://shop.test/*",
        Reply::empty(503),
    );
    let run = run(replies, "request");
    assert_eq!(run.text(), r#"{"order":1}"#);
    assert!(run.requests[0].headers.contains(&("authorization".into(), "Bearer {shop-token}".into())));
    assert_eq!(serde_json::from_slice::<Value>(&run.requests[0].body).unwrap(), json!({ "item": "mug" }));
}

#[test]
fn a_day_passes_at_once_and_a_cancel_leaves_time_to_tidy_up() {
    let slept = run(Host::new(), "sleep");
    assert_eq!((slept.slept, slept.actions), (Duration::from_secs(86_400), vec!["sleep 86400s".to_owned()]));
    let cancelled = run(Host::new().cancel_at("sleep"), "tidy");
    assert!(cancelled.error().is(code::CANCELLED));
    assert_eq!(cancelled.log(), ["Tidying up"]);
}

#[test]
fn files_and_values_are_there_afterwards() {
    let run_files = run(Host::new().file("before.txt", "hello"), "files");
    assert_eq!(run_files.text(), "hello");
    assert_eq!(run_files.files["reports/mug.csv"], b"mug,4.50");
    assert_eq!(
        (run_files.artifacts[0].name.as_str(), run_files.artifacts[0].bytes.as_slice()),
        ("mug.csv", &b"mug,4.50"[..])
    );
    let second = run(Host::new().state("count", 1).follow_up("and again"), "state");
    assert_eq!((second.text().as_str(), &second.state["count"]), ("Some(\"and again\") turn 2", &json!(2)));
}

#[test]
fn an_input_that_does_not_fit_is_the_callers_mistake() {
    let run = Host::new().run::<errand>(json!({}));
    assert!(run.error().is(code::INVALID_PARAMS));
}
