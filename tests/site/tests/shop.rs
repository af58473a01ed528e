//! The shop over plain HTTP. That a real press counts is shown where there is a real browser.

#![allow(clippy::unwrap_used, reason = "tests")]

use reqwest::{Client, Response, redirect::Policy};
use serde_json::{Value, json};
use windlass_site::Site;

struct Visitor {
    site: Site,
    client: Client,
}

impl Visitor {
    async fn new() -> Self {
        let site = Site::start(([127, 0, 0, 1], 0).into()).await.unwrap();
        let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
        Self { site, client }
    }

    async fn get(&self, path: &str) -> Response {
        self.client.get(self.site.url() + path).send().await.unwrap()
    }

    async fn text(&self, path: &str) -> String {
        self.get(path).await.text().await.unwrap()
    }

    /// Opens an item page and returns its token.
    async fn token(&self, path: &str) -> String {
        let page = self.text(path).await;
        let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    async fn order(&self, path: &str, body: String) -> Response {
        let request = self.client.post(self.site.url() + path).body(body);
        request.header("content-type", "application/x-www-form-urlencoded").send().await.unwrap()
    }

    async fn counts(&self) -> Value {
        serde_json::from_str(&self.text("/api/orders").await).unwrap()
    }
}

const FORM: &str = "name=Ada&email=ada%40example.com";

#[tokio::test]
async fn an_order_counts_once_and_only_after_its_price_was_shown() {
    let shop = Visitor::new().await;
    let token = shop.token("/item/mug").await;
    let body = format!("{FORM}&pressed=trusted&token={token}");

    assert_eq!(shop.text(&format!("/api/price/{token}")).await, r#"{"price":"19.90 EUR"}"#);
    let taken = shop.order("/order/mug", body.clone()).await;
    assert_eq!((taken.status(), taken.headers()["location"].to_str().unwrap()), (303.try_into().unwrap(), "/done/1"));
    let receipt = shop.text("/done/1").await;
    assert!(receipt.contains("<dd id=\"order\">1</dd>") && receipt.contains("19.90 EUR"), "{receipt}");

    let mine = shop.text("/orders?email=ada%40example.com").await;
    assert!(mine.contains("<output id=\"newest\">1</output>") && mine.contains("Enamel mug"), "{mine}");
    assert!(shop.text("/orders?email=bob%40example.com").await.contains("<output id=\"newest\">none<"));

    assert_eq!(shop.order("/order/mug", body).await.status(), 403, "a page is good for one order");
    let early = shop.token("/item/mug").await;
    let early = shop.order("/order/mug", format!("{FORM}&pressed=trusted&token={early}")).await;
    assert_eq!(early.status(), 403, "the price was not asked for");
    assert_eq!(shop.counts().await, json!({ "orders": 1, "rejected": 2 }));
    assert_eq!((shop.site.orders(), shop.site.rejected()), (1, 2));
}

#[tokio::test]
async fn what_no_hand_pressed_is_rejected() {
    let shop = Visitor::new().await;
    let token = shop.token("/item/lamp").await;
    shop.get(&format!("/api/price/{token}")).await;
    for body in [FORM.to_owned(), format!("{FORM}&token={token}"), format!("{FORM}&pressed=script&token={token}")] {
        assert_eq!(shop.order("/order/lamp", body).await.status(), 403);
    }
    assert_eq!(shop.counts().await, json!({ "orders": 0, "rejected": 3 }));
}

#[tokio::test]
async fn a_wrong_form_comes_back_with_what_was_typed() {
    let shop = Visitor::new().await;
    let token = shop.token("/item/mug").await;
    shop.get(&format!("/api/price/{token}")).await;
    let body = format!("name=%3Cb%3E&email=nowhere&pressed=trusted&token={token}");
    let answer = shop.order("/order/mug", body).await;
    assert_eq!(answer.status(), 422);
    let page = answer.text().await.unwrap();
    assert!(page.contains("value=\"&lt;b&gt;\"") && page.contains("Please enter an email address"), "{page}");
    assert_eq!(shop.counts().await, json!({ "orders": 0, "rejected": 0 }));
}

#[tokio::test]
async fn search_finds_by_every_word_and_a_changed_price_is_shown() {
    let shop = Visitor::new().await;
    assert!(shop.text("/search?q=ENAMEL+mug").await.contains("href=\"/item/mug\""));
    assert!(shop.text("/search?q=anvil").await.contains("Nothing found"));
    assert_eq!(shop.get("/item/anvil").await.status(), 404);
    assert!(shop.site.set_price("mug", 2105) && !shop.site.set_price("anvil", 1));
    let token = shop.token("/item/mug").await;
    assert_eq!(shop.text(&format!("/api/price/{token}")).await, r#"{"price":"21.05 EUR"}"#);
}

#[tokio::test]
async fn a_redirect_goes_where_it_is_told() {
    let shop = Visitor::new().await;
    let answer = shop.get("/redirect?to=http%3A%2F%2Fexample.test%2Fx").await;
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["location"].to_str().unwrap()),
        (302, "http://example.test/x")
    );
}

#[tokio::test]
async fn a_stopped_shop_is_gone() {
    let shop = Visitor::new().await;
    let url = shop.site.url();
    shop.get("/").await;
    shop.site.stop().await;
    assert!(shop.client.get(url).send().await.is_err());
}

#[tokio::test]
async fn every_page_of_the_web_is_there_and_in_the_index() {
    let shop = Visitor::new().await;
    let index = shop.text("/pages").await;
    for name in Site::pages() {
        let answer = shop.get(&format!("/pages/{name}")).await;
        assert_eq!(answer.status(), 200, "{name}");
        let text = answer.text().await.unwrap();
        let title = text.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        assert!(index.contains(&format!("<a href=\"/pages/{name}\">{title}</a>")), "{name}: {title}");
    }
}

#[tokio::test]
async fn only_who_signs_in_sees_the_account() {
    let shop = Visitor::new().await;
    let location = |answer: &Response| answer.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(location(&shop.get("/pages/account").await), "/pages/login");
    assert_eq!(location(&shop.order("/pages/login", "user=ada&password=x".into()).await), "/pages/login?failed");
    let signed_in = shop.order("/pages/login", "user=ada&password=lovelace".into()).await;
    assert_eq!(location(&signed_in), "/pages/account");
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly"), "{cookie}");
    let session = cookie.split(';').next().unwrap();
    let account = shop.client.get(format!("{}/pages/account", shop.site.url())).header("cookie", session);
    assert!(account.send().await.unwrap().text().await.unwrap().contains("Welcome, Ada"));
}

#[tokio::test]
async fn what_is_typed_into_the_wizard_stays_text() {
    let shop = Visitor::new().await;
    let booked = shop.order("/pages/wizard", "ship=%3Cb%3EArgo%26&quay=North".into()).await.text().await.unwrap();
    assert!(booked.contains("<dt>ship</dt><dd>&lt;b&gt;Argo&amp;</dd>"), "{booked}");
}

#[tokio::test]
async fn files_have_names_that_headers_can_carry() {
    let shop = Visitor::new().await;
    for (path, wanted) in [
        ("/pages/download/log.csv", "attachment; filename=\"log.csv\""),
        ("/pages/download/%C3%BC.csv", "attachment; filename*=UTF-8''%C3%BC%2E%63%73%76"),
        ("/pages/download/a%0D%0Ab%22.csv", ""),
    ] {
        let answer = shop.get(path).await;
        let header = answer.headers().get("content-disposition").map_or("", |value| value.to_str().unwrap());
        assert_eq!(header, wanted, "{path}");
    }
}
