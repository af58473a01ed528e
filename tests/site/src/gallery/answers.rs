//! What a server must answer for the pages: sessions, bookings, files, late lists.

use std::time::Duration;

use axum::{
    Form, Json,
    body::Bytes,
    extract::{Path, Query},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{made, nodes as many};

const COOKIE: &str = "session=ada-is-here";

#[derive(Deserialize)]
pub(super) struct Login {
    user: String,
    password: String,
}

pub(super) async fn login(Form(Login { user, password }): Form<Login>) -> Response {
    if (user.as_str(), password.as_str()) != ("ada", "lovelace") {
        return Redirect::to("/pages/login?failed").into_response();
    }
    let cookie = format!("{COOKIE}; Path=/pages; HttpOnly; SameSite=Lax");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/pages/account")).into_response()
}

pub(super) async fn account(headers: HeaderMap) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !cookies.split("; ").any(|cookie| cookie == COOKIE) {
        return Redirect::to("/pages/login").into_response();
    }
    let out = "<form method=\"post\" action=\"/pages/logout\"><button>Sign out</button></form>";
    made("Welcome, Ada", "Only who is signed in sees this page.", &[("Berths".into(), "3".into())], out).into_response()
}

pub(super) async fn logout() -> Response {
    let cookie = "session=; Path=/pages; HttpOnly; Max-Age=0";
    ([(header::SET_COOKIE, cookie)], Redirect::to("/pages/login")).into_response()
}

pub(super) async fn booked(Form(rows): Form<Vec<(String, String)>>) -> Html<String> {
    made("Booked", "The harbour has got this.", &rows, "<p><a href=\"/pages/wizard\">Another berth</a></p>")
}

pub(super) async fn upload(Path(name): Path<String>, body: Bytes) -> Json<Value> {
    let lines = body.iter().filter(|byte| **byte == b'\n').count();
    Json(json!({ "name": name, "size": body.len(), "lines": lines }))
}

pub(super) async fn download(Path(name): Path<String>) -> Response {
    let text = format!("ship,tons\nArgo,{}\n", name.len() * 100);
    if name == "plain.txt" {
        return text.into_response();
    }
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let disposition = if name.is_ascii() {
        format!("attachment; filename=\"{}\"", name.replace(['"', '\\'], "_"))
    } else {
        format!("attachment; filename*=UTF-8''{encoded}")
    };
    let Ok(disposition) = HeaderValue::try_from(disposition) else { return StatusCode::BAD_REQUEST.into_response() };
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    ([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)], text).into_response()
}

#[derive(Deserialize)]
pub(super) struct After {
    #[serde(default)]
    after: usize,
}

/// Ten more, as slowly as a database would.
pub(super) async fn entries(Query(After { after }): Query<After>) -> Json<Value> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    let entries: Vec<String> = (after + 1..=(after + 10).min(100)).map(|n| format!("Entry {n}")).collect();
    Json(json!({ "entries": entries }))
}

#[derive(Deserialize)]
pub(super) struct Words {
    #[serde(default)]
    q: String,
}

/// A short word has many answers, so it takes longer: answers come out of order.
pub(super) async fn ports(Query(Words { q }): Query<Words>) -> Json<Value> {
    const PORTS: [&str; 8] = ["Bergen", "Bilbao", "Bordeaux", "Bremen", "Brest", "Brighton", "Bristol", "Bruges"];
    let wanted = q.to_lowercase();
    let late = 400_usize.saturating_sub(150 * wanted.len());
    tokio::time::sleep(Duration::from_millis(late as u64)).await;
    let is_match = |port: &&str| !wanted.is_empty() && port.to_lowercase().starts_with(&wanted);
    Json(json!({ "ports": PORTS.into_iter().filter(is_match).collect::<Vec<_>>() }))
}

#[derive(Deserialize)]
pub(super) struct Count {
    n: Option<usize>,
}

pub(super) async fn nodes(Query(Count { n }): Query<Count>) -> Html<String> {
    many(n.unwrap_or(50_000).min(1_000_000))
}
