//! The addresses of the shop: parsing and status codes. What they show is in `pages`, what they know in `shop`.

use std::sync::Arc;

use axum::{
    Form, Json, Router,
    extract::{Path, Query, State},
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    gallery,
    pages::{self, Entered},
    shop::{Counts, Shop},
};

type Shared = State<Arc<Shop>>;

pub(crate) fn router(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/", get(async || pages::home()))
        .route("/search", get(search))
        .route("/item/{slug}", get(item))
        .route("/order/{slug}", post(order))
        .route("/done/{number}", get(done))
        .route("/orders", get(orders_of))
        .route("/dialog", get(async || pages::dialog()))
        .route("/redirect", get(redirect))
        .route("/verbs", get(async || Html(include_str!("assets/verbs.html"))))
        .route("/verbs/popup", get(async || Html("<!doctype html><title>Popup</title><p>This is the popup")))
        .route(
            "/verbs/picture",
            get(async || Html("<!doctype html><title>Picture</title><img src=/pages/never><p>All the rest</p>")),
        )
        .route("/verbs/report.csv", get(report))
        .route("/once", get(async || Html(include_str!("assets/once.html"))))
        .route("/fence", get(async || pages::fence()))
        .route("/api/price/{token}", get(price))
        .route("/api/orders", get(orders))
        .route("/api/errands", get(all_errands))
        .route("/api/errands/{name}", get(errands).post(errand))
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/shop.css", get(async || asset("text/css", include_str!("assets/shop.css"))))
        .route("/item.js", get(async || script(include_str!("assets/item.js"))))
        .route("/dialog.js", get(async || script(include_str!("assets/dialog.js"))))
        .route("/fence.js", get(async || script(include_str!("assets/fence.js"))))
        .route("/fence-worker.js", get(async || script(include_str!("assets/fence-worker.js"))))
        .merge(gallery::router())
        .fallback(async || not_found())
        .with_state(shop)
}

pub(crate) fn asset(mime_type: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(mime_type))], text).into_response()
}

async fn report() -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"report (1).csv\"")),
    ];
    (headers, "item,price\nmug,19.90\n").into_response()
}

pub(crate) fn script(text: &'static str) -> Response {
    asset("text/javascript", text)
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, pages::message("Not here", "The shop has no such page.")).into_response()
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

async fn search(State(shop): Shared, Query(Search { q }): Query<Search>) -> Html<String> {
    pages::results(&q, &shop.search(&q))
}

async fn item(State(shop): Shared, Path(slug): Path<String>) -> Response {
    match shop.item(&slug) {
        Some(item) => pages::item(&item, shop.hand_out(&item), &Entered::default()).into_response(),
        None => not_found(),
    }
}

async fn price(State(shop): Shared, Path(token): Path<u64>) -> Response {
    match shop.show_price(token) {
        Some(price) => Json(json!({ "price": price.to_string() })).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn orders(State(shop): Shared) -> Json<Counts> {
    Json(shop.counts())
}

async fn all_errands(State(shop): Shared) -> Response {
    Json(json!({ "errands": shop.errands(None), "of": shop.errands_by_kind() })).into_response()
}

async fn errands(State(shop): Shared, Path(name): Path<String>) -> Response {
    Json(json!({ "errands": shop.errands(Some(&name)) })).into_response()
}

async fn errand(State(shop): Shared, Path(name): Path<String>) -> Response {
    Json(json!({ "errands": shop.run_errand(&name) })).into_response()
}

#[derive(Deserialize)]
struct OrderForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    email: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    pressed: String,
}

async fn order(State(shop): Shared, Path(slug): Path<String>, Form(form): Form<OrderForm>) -> Response {
    let Some(item) = shop.item(&slug) else {
        return not_found();
    };
    let trusted = form.pressed == "trusted";
    let entered = Entered::new(form.name.trim(), form.email.trim());
    if trusted && !entered.is_valid() {
        let page = pages::item(&item, shop.hand_out(&item), &entered);
        return (StatusCode::UNPROCESSABLE_ENTITY, page).into_response();
    }
    match shop.order(&slug, form.token.parse().ok(), trusted, entered.name, entered.email) {
        Ok(number) => Redirect::to(&format!("/done/{number}")).into_response(),
        Err(refusal) => (StatusCode::FORBIDDEN, pages::message("Order refused", &refusal.to_string())).into_response(),
    }
}

async fn done(State(shop): Shared, Path(number): Path<u64>) -> Response {
    match shop.receipt(number) {
        Some(order) => pages::receipt(number, &order).into_response(),
        None => not_found(),
    }
}

#[derive(Deserialize)]
struct Visitor {
    #[serde(default)]
    email: String,
}

async fn orders_of(State(shop): Shared, Query(Visitor { email }): Query<Visitor>) -> Html<String> {
    pages::orders(&email, &shop.orders_of(&email))
}

#[derive(Deserialize)]
struct Target {
    to: String,
}

async fn redirect(Query(Target { to }): Query<Target>) -> Response {
    match HeaderValue::try_from(to) {
        Ok(to) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}
