//! The HTML of the shop. Everything that came from outside passes [`escape`].

use axum::response::Html;

use crate::shop::{Item, Order};

/// What a visitor typed into the form of an item, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Entered {
    pub(crate) name: String,
    pub(crate) email: String,
    name_error: &'static str,
    email_error: &'static str,
}

impl Entered {
    pub(crate) fn new(name: &str, email: &str) -> Self {
        let well_formed = email.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
        Self {
            name: name.to_owned(),
            email: email.to_owned(),
            name_error: if name.is_empty() { "Please enter your name." } else { "" },
            email_error: if well_formed { "" } else { "Please enter an email address like ada@example.com." },
        }
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.name_error.is_empty() && self.email_error.is_empty()
    }
}

/// The five characters that mean something in HTML text and attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}

fn page(title: &str, script: Option<&str>, main: &str) -> Html<String> {
    let title = escape(title);
    let script = script.map_or_else(String::new, |name| format!("<script src=\"/{name}\" defer></script>\n"));
    Html(format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Capstan Supplies</title>
<link rel="stylesheet" href="/shop.css">
{script}</head>
<body>
<header><a href="/" class="brand">⚓ Capstan Supplies</a> <a href="/orders">Your orders</a></header>
<main>
{main}
</main>
<footer>A shop where nothing is sold. <a href="/pages">Other pages</a></footer>
</body>
</html>
"#
    ))
}

fn search_form(query: &str) -> String {
    format!(
        r#"<form action="/search" class="search" role="search">
<label for="q">Search</label>
<input id="q" name="q" type="search" value="{}" placeholder="mug, lamp, rope …" autocomplete="off">
<button>Search</button>
</form>"#,
        escape(query)
    )
}

pub(crate) fn home() -> Html<String> {
    page("Welcome", None, &format!("<h1>What are you looking for?</h1>\n{}", search_form("")))
}

pub(crate) fn results(query: &str, items: &[Item]) -> Html<String> {
    let found = match items.len() {
        0 => "Nothing found".to_owned(),
        1 => "1 item".to_owned(),
        many => format!("{many} items"),
    };
    let list: String = items
        .iter()
        .map(|item| {
            format!(
                "<li><span class=\"picture\" aria-hidden=\"true\">{}</span><div><a href=\"/item/{}\">{}</a><p>{}</p></div></li>\n",
                item.picture, item.slug, item.name, item.about
            )
        })
        .collect();
    page(
        "Search",
        None,
        &format!(
            "{}\n<h1 id=\"found\">{found}</h1>\n<ul class=\"items\" id=\"results\">\n{list}</ul>",
            search_form(query)
        ),
    )
}

pub(crate) fn item(item: &Item, token: u64, entered: &Entered) -> Html<String> {
    let main = format!(
        r#"<article class="item">
<span class="picture large" aria-hidden="true">{picture}</span>
<div>
<h1>{name}</h1>
<p>{about}</p>
<p class="price"><span id="price-wait">Asking for the price …</span><output id="price" hidden></output></p>
</div>
</article>
<form id="order-form" method="post" action="/order/{slug}">
<h2>Order</h2>
<p><label for="name">Name</label>
<input id="name" name="name" value="{entered_name}" required autocomplete="off">
<span class="error" id="name-error" role="alert">{name_error}</span></p>
<p><label for="email">Email</label>
<input id="email" name="email" type="email" value="{entered_email}" required autocomplete="off">
<span class="error" id="email-error" role="alert">{email_error}</span></p>
<input type="hidden" name="token" value="{token}">
<input type="hidden" name="pressed" value="">
<div id="order-button"><button disabled>Order</button></div>
</form>"#,
        picture = item.picture,
        name = item.name,
        about = item.about,
        slug = item.slug,
        entered_name = escape(&entered.name),
        entered_email = escape(&entered.email),
        name_error = entered.name_error,
        email_error = entered.email_error,
    );
    page(item.name, Some("item.js"), &main)
}

pub(crate) fn receipt(number: u64, order: &Order) -> Html<String> {
    let main = format!(
        r#"<section class="receipt">
<h1>Thank you, {name}!</h1>
<dl>
<dt>Order</dt><dd id="order">{number}</dd>
<dt>Item</dt><dd id="item">{item}</dd>
<dt>Price</dt><dd id="price">{price}</dd>
<dt>Receipt to</dt><dd id="email">{email}</dd>
</dl>
<p><a href="/">Back to the shop</a></p>
</section>"#,
        name = escape(&order.name),
        item = order.item,
        price = order.price,
        email = escape(&order.email),
    );
    page(&format!("Order {number}"), None, &main)
}

pub(crate) fn orders(email: &str, orders: &[(u64, Order)]) -> Html<String> {
    let newest = orders.first().map_or_else(|| "none".to_owned(), |(number, _)| number.to_string());
    let list: String = orders
        .iter()
        .map(|(number, order)| {
            let Order { item, price, .. } = order;
            format!("<li><a href=\"/done/{number}\">Order {number}</a>: {item}, {price}</li>\n")
        })
        .collect();
    let main = format!(
        r#"<h1>Your orders</h1>
<form action="/orders" class="search">
<label for="email">Email</label>
<input id="email" name="email" type="email" value="{email}" autocomplete="off">
<button>Look</button>
</form>
<p>Newest order: <output id="newest">{newest}</output></p>
<ul id="orders">
{list}</ul>"#,
        email = escape(email),
    );
    page("Your orders", None, &main)
}

pub(crate) fn message(title: &str, text: &str) -> Html<String> {
    page(title, None, &format!("<h1>{}</h1>\n<p id=\"message\">{}</p>", escape(title), escape(text)))
}

pub(crate) fn dialog() -> Html<String> {
    page(
        "Dialogs",
        Some("dialog.js"),
        r#"<h1>Dialogs</h1>
<p class="row"><button id="alert">Say hello</button>
<button id="confirm">Empty the warehouse</button>
<button id="prompt">Name the ship</button></p>
<p>Answer: <output id="answer">none yet</output></p>"#,
    )
}

pub(crate) fn fence() -> Html<String> {
    page(
        "Fence",
        Some("fence.js"),
        r#"<h1>Trying the fence</h1>
<p>Target: <output id="target"></output></p>
<p class="row" id="ways"></p>
<ul id="attempts"></ul>
<p id="finished" hidden>All attempts are over.</p>"#,
    )
}
