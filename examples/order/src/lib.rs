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

#[derive(Deserialize, Schema)]
struct Approval {
    /// Order it?
    approve: bool,
}

#[derive(Serialize, Schema)]
struct Receipt {
    /// The shop's number of the order; none if nobody approved it.
    order: Option<String>,
    price: String,
}

/// Orders one item from the shop, after asking.
#[windlass::tool(permissions("browser *"), destructive, open_world)]
fn order(Order { item, shop, name, email }: Order) -> Result<Outcome<Receipt>> {
    status(format!("Looking for {item}"));
    let (url, price) = with_page_repeatable(browser::open(), |page| {
        page.goto(&shop)?;
        page.fill("#q", &item)?;
        page.click("role=button[name=\"Search\"]")?;
        page.click("#results a")?;
        let price = price_of(page)?;
        page.screenshot("item.png")?;
        Ok((page.url()?, price))
    })?;
    info!("Found {item} for {price}"; url = url);
    state::set("price", &price)?;

    let approval = question::<Approval>("approve", format!("Order {item} for {price}?")).people_only();
    if !approval.ask()?.accepted().is_some_and(|form| form.approve) {
        let text = format!("Not ordered: {item} for {price} was not approved.");
        return Ok(Outcome::new(Receipt { order: None, price }).text(text));
    }

    status(format!("Ordering {item}"));
    let mut before = None;
    let order = with_page_repeatable(browser::open(), |page| {
        // In a second round the button may have been pressed before the page was lost: the shop knows.
        page.goto(format!("{}/orders?email={email}", shop.trim_end_matches('/')))?;
        let newest = page.text("#newest")?;
        if *before.get_or_insert_with(|| newest.clone()) != newest {
            return Ok(newest);
        }
        page.goto(&url)?;
        let now = price_of(page)?;
        if now != price {
            bail!("price-changed" => "{item} costs {now} now; approved were {price}");
        }
        page.fill("#name", &name)?;
        page.fill("#email", &email)?;
        page.click("role=button[name=\"Order\"]")?;
        page.wait_for("#order", Until::Visible)?;
        page.screenshot("receipt.png")?;
        page.text("#order")
    })?;
    let text = format!("Ordered {item} for {price}: order {order}.");
    Ok(Outcome::new(Receipt { order: Some(order), price }).text(text))
}

/// The price is asked for by the page, so it comes late.
fn price_of(page: &Page) -> Result<String> {
    page.wait_for("#price", Until::Visible)?;
    page.text("#price")
}

windlass::plugin! { description: "Orders from a web shop, after asking.", tools: [order] }

#[cfg(test)]
mod tests;
