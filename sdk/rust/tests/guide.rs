//! The examples of docs/plugins.md, run against a world that is made up. Each block of Rust there stands here.

#![allow(clippy::unwrap_used, dead_code, reason = "tests, and forms of which only the schema is read")]

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_example_of_the_guide_is_run() {
    let run = words(include_str!("guide.rs"));
    let guide = include_str!("../../../docs/plugins.md");
    let blocks: Vec<&str> = guide.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 8, "{}", blocks.len());
    for block in blocks {
        assert!(run.contains(&words(block)), "this example is not run:\n{block}");
    }
}

mod greeter {
    use windlass::prelude::*;

    #[derive(Deserialize, Schema)]
    struct Greeting {
        /// Who is greeted.
        name: String,
        #[schema(minimum = 1, default = 1)]
        times: u32,
    }

    #[derive(Serialize, Schema)]
    struct Greeted {
        text: String,
    }

    /// Greets somebody.
    #[windlass::tool]
    fn greet(Greeting { name, times }: Greeting) -> Result<Greeted> {
        for time in 1..=times {
            info!("Greeting {name}"; time = time);
        }
        Ok(Greeted { text: format!("Hello, {name}!") })
    }

    windlass::plugin! {
        name: "greeter",
        description: "Greets people.",
        tools: [greet],
    }

    #[test]
    fn it_greets() {
        use windlass::testing::{Host, json};
        let run = Host::new().run::<greet>(json!({ "name": "Ada", "times": 2 }));
        assert_eq!((run.output(), run.log().len()), (json!({ "text": "Hello, Ada!" }), 2));
    }
}

mod asking {
    use windlass::prelude::*;

    /// Asks.
    #[windlass::tool]
    fn approve() -> Result<()> {
        let (item, price) = ("mug", "4.50 €");

        #[derive(Deserialize, Schema)]
        struct Approval {
            /// Order it?
            approve: bool,
        }

        let answer = question::<Approval>("approve", format!("Order {item} for {price}?"))
            .people_only()
            .timeout(Duration::from_secs(3600))
            .ask()?;
        if !answer.accepted().is_some_and(|form| form.approve) {
            bail!("not-approved" => "Nobody approved {item} for {price}");
        }
        Ok(())
    }

    mod first {
        use windlass::prelude::*;

        #[derive(Deserialize, Schema)]
        struct Delete {
            folder: String,
            sure: bool,
        }

        #[derive(Schema)]
        struct Sure {
            /// There is no way back.
            sure: bool,
        }

        /// Deletes a folder.
        #[windlass::tool(ask_first(Sure, "sure", "Delete the folder?"))]
        fn delete(Delete { folder, sure }: Delete) -> Result<String> {
            Ok(if sure { format!("Deleted {folder}") } else { format!("Kept {folder}") })
        }

        #[test]
        fn the_answer_is_part_of_the_input() {
            use windlass::testing::{Host, json};
            let run = Host::new().run::<delete>(json!({ "folder": "old", "sure": false }));
            assert_eq!(run.text(), "Kept old");
        }
    }

    #[test]
    fn without_a_yes_it_fails() {
        use windlass::testing::{Host, json};
        let run = Host::new().expire("approve").run::<approve>(json!({}));
        assert!(run.error().is("not-approved"));
        assert!(run.questions[0].people_only && run.questions[0].timeout == Some(Duration::from_secs(3600)));
        Host::new().answer("approve", json!({ "approve": true })).run::<approve>(json!({})).output();
    }
}

mod pages {
    use windlass::prelude::*;

    #[derive(Deserialize, Schema)]
    struct Item {
        url: String,
    }

    /// Finds a price.
    #[windlass::tool(permissions("browser *"))]
    fn find(Item { url }: Item) -> Result<String> {
        let price = with_page(browser::open(), |page| {
            page.goto(&url)?;
            page.fill("#q", "mug")?;
            page.click("role=button[name=\"Search\"]")?;
            page.wait_for("#price", Until::Visible)?;
            page.text("#price")
        })?;
        Ok(price)
    }

    /// Pays.
    #[windlass::tool(permissions("browser *"))]
    fn pay(Item { url }: Item) -> Result<String> {
        with_page(browser::open(), |page| {
            page.goto(&url)?;
            page.get_by_label("Name").fill("Ada")?;
            page.get_by_role("button").name("Pay").click()?;
            let price = page.get_by_role("listitem").has_text("Mug").locator(".price").first().text()?;
            Ok(price)
        })
    }

    /// Says what an item costs, when somebody wants to know.
    #[windlass::tool(permissions("browser *"))]
    fn price(Item { url }: Item) -> Result<String> {
        let price = with_page(browser::open(), |page| {
            page.goto(&url)?;
            page.text("#price")
        })?;
        if !confirm("tell", "Do you want to know?")? {
            bail!("Nobody wanted to know");
        }
        info!("It costs {price}");
        Ok(price)
    }

    mod tests {
        use super::*;
        use windlass::testing::{FakePage, Host, json};

        #[test]
        fn a_price_is_told_to_whoever_wants_to_know() {
            let run = Host::new()
                .page(FakePage::new("https://shop.example/mug").text("#price", "4.50 €"))
                .answer("tell", json!({ "confirm": true }))
                .run::<price>(json!({ "url": "https://shop.example/mug" }));
            assert_eq!(run.text(), "4.50 €");
            assert_eq!(run.log(), ["It costs 4.50 €"]);
            assert_eq!(run.actions, ["goto https://shop.example/mug", "ask tell"]);
        }

        #[test]
        fn a_price_is_found_and_paid() {
            let search = FakePage::new("https://shop.example/").field("#q", "");
            let search = search.on_click("role=button[name=\"Search\"]", |visit| {
                let found = format!("{} costs 4.50 €", visit.value("#q"));
                visit.show("#price", found);
            });
            let run = Host::new().page(search).run::<find>(json!({ "url": "https://shop.example" }));
            assert_eq!(run.text(), "mug costs 4.50 €");

            let cart = FakePage::new("https://shop.example/cart")
                .field("label=\"Name\"", "")
                .button("role=button[name=\"Pay\"]")
                .text("role=listitem >> has-text=\"Mug\" >> .price >> nth=0", "4.50 €");
            let run = Host::new().page(cart).run::<pay>(json!({ "url": "https://shop.example/cart" }));
            assert_eq!(run.text(), "4.50 €");
        }
    }
}

mod requests {
    use windlass::prelude::*;
    use windlass::testing::{Host, Reply, json};

    #[derive(Deserialize)]
    struct Stock {
        left: u32,
    }

    /// Looks how many are left.
    #[windlass::tool(permissions("http https://shop.example", "secret shop-token"))]
    fn look() -> Result<String> {
        let stock: Stock = http::get("https://shop.example/api/stock/mug")
            .secret("authorization", "shop-token", "Bearer ")
            .timeout(Duration::from_secs(10))
            .send()?
            .success()?
            .json()?;
        Ok(format!("{} left", stock.left))
    }

    #[test]
    fn stock_is_asked_for_with_a_secret() {
        let host = || Host::new().secret("shop-token", "hunter2");
        let run =
            host().http("GET", "https://shop.example/*", Reply::json(json!({ "left": 3 }))).run::<look>(json!({}));
        assert_eq!(run.text(), "3 left");
        let down = host().http("GET", "https://shop.example/*", Reply::empty(503)).run::<look>(json!({}));
        assert!(down.error().is("http-status"));
    }
}

mod keeping {
    use windlass::browser::StorageState;
    use windlass::prelude::*;
    use windlass::testing::{Host, json};

    /// Goes on with a session.
    #[windlass::tool(permissions("browser *", "browser-state *"))]
    fn go_on() -> Result<String> {
        let kept: Option<StorageState> = state::get("session")?;
        if let Some(kept) = &kept {
            browser::set_storage_state(kept)?;
        }
        Ok(format!("{} cookies", browser::cookies("https://shop.example")?.len()))
    }

    /// Writes a report.
    #[windlass::tool(permissions("workdir"))]
    fn report() -> Result<()> {
        let lines = "item,price\nmug,4.50\n";
        let report = workdir::path("report.csv");
        std::fs::write(&report, lines)?;
        artifacts::save_file(&report, "report.csv", "text/csv")?;
        Ok(())
    }

    #[test]
    fn a_session_and_a_report_are_kept() {
        let session = json!({ "cookies": [{ "name": "id", "value": "1", "domain": "shop.example" }], "origins": [] });
        assert_eq!(Host::new().state("session", session).run::<go_on>(json!({})).text(), "1 cookies");
        assert_eq!(Host::new().run::<go_on>(json!({})).text(), "0 cookies");
        let run = Host::new().run::<report>(json!({}));
        assert_eq!(run.artifacts[0].bytes, b"item,price\nmug,4.50\n");
        assert_eq!(run.files["report.csv"], run.artifacts[0].bytes);
    }
}
