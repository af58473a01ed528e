//! Orders one item from a shop. Between looking and buying it asks a person, which may take days: so it looks with one
//! page, asks without any, and buys with another.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Order {
    /// What to search for.
    item: String,
    /// Address of the shop.
    shop: String,
    /// Who orders.
    #[schema(default = "Ada Lovelace")]
    name: String,
    /// Where the receipt goes.
    #[schema(default = "ada@example.com", format = "email")]
    email: String,
}

#[derive(Serialize, Schema)]
struct Receipt {
    /// The shop's number of the order; none if nobody approved it.
    order: Option<String>,
    /// What it costs.
    price: String,
}

#[derive(Deserialize, Schema)]
struct Approval {
    /// Order it?
    approve: bool,
}

/// Orders one item from the shop, after asking.
#[windlass::tool(permissions("browser *"), destructive, open_world)]
fn order(input: Order) -> Result<Outcome<Receipt>> {
    let (item, shop) = (&input.item, input.shop.trim_end_matches('/'));
    status(format!("Looking for {item}"));
    let (url, price) = with_page_repeatable(browser::open(), |page| {
        let found = find(page, &input)?;
        page.screenshot("item.png")?;
        Ok(found)
    })?;
    info!("Found {item} for {price}"; url = url, last_price = state::get::<String>("price")?.unwrap_or_default());
    state::set("price", &price)?;

    status("Waiting for approval");
    let message = format!("Order {item} for {price}?");
    let answer = question::<Approval>("approve", message)
        .people_only()
        .ask()?;
    if !answer.accepted().is_some_and(|form| form.approve) {
        info!("Not approved");
        let text = format!("Not ordered: {item} for {price} was not approved.");
        return Ok(Outcome::new(Receipt { order: None, price }).text(text));
    }

    status(format!("Ordering {item}"));
    let mut before = None;
    let order = with_page_repeatable(browser::open(), |page| {
        // In a second round the button may have been pressed before the page was lost: the shop knows.
        let newest = newest_order(page, shop, &input.email)?;
        if *before.get_or_insert_with(|| newest.clone()) != newest {
            page.goto(format!("{shop}/done/{newest}"))?;
            page.screenshot("receipt.png")?;
            return Ok(newest);
        }
        page.goto(&url)?;
        let now = price_of(page)?;
        if now != price {
            bail!("price-changed" => "{item} costs {now} now; approved were {price}");
        }
        buy(page, &input)
    })?;
    info!("Ordered {item}"; order = order, price = price);
    let text = format!("Ordered {item} for {price}: order {order}.");
    let receipt = Receipt {
        order: Some(order),
        price,
    };
    Ok(Outcome::new(receipt).text(text))
}

/// Searches the shop; returns the address and the price of the item.
fn find(page: &Page, Order { item, shop, .. }: &Order) -> Result<(String, String)> {
    page.goto(shop)?;
    page.fill("#q", item)?;
    page.click("role=button[name=\"Search\"]")?;
    page.click("#results a")
        .with_context(|| format!("choosing {item}"))?;
    info!("Opened {}", page.title()?);
    let price = price_of(page)?;
    Ok((page.url()?, price))
}

/// The price is asked for by the page, so it comes late.
fn price_of(page: &Page) -> Result<String> {
    page.wait_for("#price", Until::Visible)?;
    page.text("#price")
}

/// The number of the newest order, or "none".
fn newest_order(page: &Page, shop: &str, email: &str) -> Result<String> {
    page.goto(format!("{shop}/orders?email={email}"))?;
    page.text("#newest")
}

/// Fills in the form and orders; returns the number of the order.
fn buy(page: &Page, Order { name, email, .. }: &Order) -> Result<String> {
    page.fill("#name", name)?;
    page.fill("#email", email)?;
    info!("Filled in the form"; name = name, email = email);
    page.click("role=button[name=\"Order\"]")?;
    page.wait_for("#order", Until::Visible)?;
    page.screenshot("receipt.png")?;
    page.text("#order")
}

windlass::plugin! {
    name: "order",
    version: env!("CARGO_PKG_VERSION"),
    description: "Orders from a web shop, after asking.",
    tools: [order],
}
