//! The order in a shop that is not there.

use super::*;
use windlass::testing::{FakePage, Host, Run, json};

const SEARCH: &str = "role=button[name=\"Search\"]";
const ORDER: &str = "role=button[name=\"Order\"]";

/// A shop where the mug costs this much.
fn shop(price: &str) -> Host {
    let orders = |newest: &str| FakePage::new("http://shop.test/orders*").text("#newest", newest);
    let item = FakePage::new("http://shop.test/item/mug").text("#price", price).field("#name", "").field("#email", "");
    let item = item.on_click(ORDER, move |visit| {
        assert_eq!(visit.value("#name"), "Ada Lovelace");
        visit.show("#order", "1001");
        visit.change_site(orders("1001"));
    });
    Host::new()
        .page(FakePage::new("http://shop.test/").field("#q", "").link(SEARCH, "http://shop.test/search"))
        .page(FakePage::new("http://shop.test/search").link("#results a", "http://shop.test/item/mug"))
        .page(orders("none"))
        .page(item)
}

fn run(host: Host) -> Run {
    host.run::<order>(json!({ "item": "mug", "shop": "http://shop.test" }))
}

fn clicks(run: &Run, locator: &str) -> usize {
    run.actions.iter().filter(|action| **action == format!("click {locator}")).count()
}

#[test]
fn what_was_approved_is_ordered() {
    let run = run(shop("4.50 €").answer("approve", json!({ "approve": true })));
    assert_eq!(run.output(), json!({ "order": "1001", "price": "4.50 €" }));
    assert_eq!(run.text(), "Ordered mug for 4.50 €: order 1001.");
    assert_eq!(run.questions[0].message, "Order mug for 4.50 €?");
    assert!(run.questions[0].people_only);
    assert_eq!(run.log(), ["Found mug for 4.50 €"]);
    assert_eq!(run.state["price"], "4.50 €");
    assert_eq!(run.artifacts.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["item.png", "receipt.png"]);
}

#[test]
fn without_a_yes_nothing_is_ordered() {
    for host in [shop("4.50 €").answer("approve", json!({ "approve": false })), shop("4.50 €").decline("approve")] {
        let run = run(host);
        assert_eq!(run.output()["order"], json!(null));
        assert_eq!(clicks(&run, ORDER), 0);
    }
}

#[test]
fn a_click_in_doubt_is_not_made_twice_where_the_shop_has_the_order() {
    let approved = || shop("4.50 €").answer("approve", json!({ "approve": true }));
    let lost = run(approved().fail_once("wait_for #order", Error::new(code::PAGE_LOST, "the host was restarted")));
    assert_eq!((lost.output()["order"].clone(), clicks(&lost, ORDER)), (json!("1001"), 1));

    let nothing_done = run(approved().fail_once(format!("click {ORDER}"), Error::new(code::INTERRUPTED, "in doubt")));
    assert_eq!((nothing_done.output()["order"].clone(), clicks(&nothing_done, ORDER)), (json!("1001"), 2));
}

#[test]
fn a_shop_that_is_down_is_the_error_of_the_tool() {
    let run = run(Host::new());
    assert!(run.error().is(code::UNAVAILABLE), "{}", run.error());
}
