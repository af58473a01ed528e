//! What the shop knows: items, the pages it handed out, the orders it took. No HTTP, no HTML.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// How many pages are remembered; the oldest are forgotten, so that a demo may run for days.
const PAGES: usize = 10_000;

/// Something to buy.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) slug: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) picture: &'static str,
    pub(crate) price: Price,
}

/// An amount in cents of a euro; shown as `19.90 EUR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Price(u32);

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} EUR", self.0 / 100, self.0 % 100)
    }
}

/// An order that counted.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) item: &'static str,
    pub(crate) price: Price,
    pub(crate) name: String,
    pub(crate) email: String,
}

/// What `/api/orders` tells.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Counts {
    pub(crate) orders: u64,
    pub(crate) rejected: u64,
}

/// Why an order was refused; the text is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Untrusted,
    UnknownPage,
    PriceNotShown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untrusted => "Nobody pressed the button.",
            Self::UnknownPage => "This page was used before, or is not one of ours.",
            Self::PriceNotShown => "The price had not been shown yet.",
        })
    }
}

/// One item page that was handed out; it is good for one order.
#[derive(Debug)]
struct Page {
    slug: &'static str,
    shown: Option<Price>,
}

#[derive(Debug)]
struct Inner {
    items: Vec<Item>,
    pages: HashMap<u64, Page>,
    next_page: u64,
    orders: Vec<Order>,
    rejected: u64,
    errands: HashMap<String, u64>,
}

/// The shop; one lock, held for a moment only.
#[derive(Debug)]
pub(crate) struct Shop(Mutex<Inner>);

impl Default for Shop {
    fn default() -> Self {
        let item = |slug, name, about, picture, cents| Item { slug, name, about, picture, price: Price(cents) };
        Self(Mutex::new(Inner {
            items: vec![
                item("mug", "Enamel mug", "Holds 350 ml and survives a fall.", "☕", 1990),
                item("lamp", "Desk lamp", "Warm light, one switch, no app.", "💡", 4900),
                item("rope", "Hemp rope", "Ten metres, 12 mm, three strands.", "🪢", 1450),
                item("notebook", "Notebook", "Ninety-six pages that lie flat.", "📓", 890),
                item("kettle", "Tea kettle", "Whistles when it is done.", "🫖", 3650),
            ],
            pages: HashMap::new(),
            next_page: 1,
            orders: Vec::new(),
            rejected: 0,
            errands: HashMap::new(),
        }))
    }
}

impl Shop {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here can be half done when a holder panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counts(&self) -> Counts {
        let inner = self.lock();
        Counts { orders: inner.orders.len() as u64, rejected: inner.rejected }
    }

    /// Counts one errand more of this name; how many there are now.
    pub(crate) fn run_errand(&self, name: &str) -> u64 {
        let mut inner = self.lock();
        let count = inner.errands.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Errands of this name; of all names.
    pub(crate) fn errands(&self, name: Option<&str>) -> u64 {
        let inner = self.lock();
        name.map_or_else(|| inner.errands.values().sum(), |name| inner.errands.get(name).copied().unwrap_or_default())
    }

    /// Errands whose names end with a dot and a kind, by their kinds.
    pub(crate) fn errands_by_kind(&self) -> HashMap<String, u64> {
        let mut kinds = HashMap::new();
        for (name, count) in &self.lock().errands {
            if let Some((_, kind)) = name.rsplit_once('.') {
                *kinds.entry(kind.to_owned()).or_default() += count;
            }
        }
        kinds
    }

    pub(crate) fn set_price(&self, slug: &str, cents: u32) -> bool {
        let mut inner = self.lock();
        let item = inner.items.iter_mut().find(|item| item.slug == slug);
        item.map(|item| item.price = Price(cents)).is_some()
    }

    /// Items whose slug, name or text has every word of `query`, in any case.
    pub(crate) fn search(&self, query: &str) -> Vec<Item> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let matches = |item: &Item| {
            let text = format!("{} {} {}", item.slug, item.name, item.about).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.lock().items.iter().filter(|item| matches(item)).cloned().collect()
    }

    pub(crate) fn item(&self, slug: &str) -> Option<Item> {
        self.lock().items.iter().find(|item| item.slug == slug).cloned()
    }

    /// Notes that a page of `item` is handed out; the number is its token.
    pub(crate) fn hand_out(&self, item: &Item) -> u64 {
        let mut inner = self.lock();
        let token = inner.next_page;
        inner.next_page += 1;
        inner.pages.insert(token, Page { slug: item.slug, shown: None });
        inner.pages.retain(|&page, _| page + PAGES as u64 > token);
        token
    }

    /// The price for the page `token`, which may order from now on.
    pub(crate) fn show_price(&self, token: u64) -> Option<Price> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let page = inner.pages.get_mut(&token)?;
        let price = inner.items.iter().find(|item| item.slug == page.slug)?.price;
        page.shown = Some(price);
        Some(price)
    }

    /// Takes an order from the page `token`, for the price that it showed. Returns its number, from 1.
    pub(crate) fn order(
        &self,
        slug: &str,
        token: Option<u64>,
        trusted: bool,
        name: String,
        email: String,
    ) -> Result<u64, Refusal> {
        let mut inner = self.lock();
        let checked = inner.check(slug, token, trusted);
        match checked {
            Ok((item, price)) => {
                inner.orders.push(Order { item, price, name, email });
                Ok(inner.orders.len() as u64)
            }
            Err(refusal) => {
                inner.rejected += 1;
                Err(refusal)
            }
        }
    }

    /// The orders of a visitor with their numbers, newest first.
    pub(crate) fn orders_of(&self, email: &str) -> Vec<(u64, Order)> {
        let inner = self.lock();
        let numbered = (1..).zip(inner.orders.iter().cloned());
        let mut orders: Vec<_> = numbered.filter(|(_, order)| order.email == email).collect();
        orders.reverse();
        orders
    }

    pub(crate) fn receipt(&self, number: u64) -> Option<Order> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lock().orders.get(index).cloned()
    }
}

impl Inner {
    /// A page is used up by the attempt, whatever comes of it.
    fn check(&mut self, slug: &str, token: Option<u64>, trusted: bool) -> Result<(&'static str, Price), Refusal> {
        let page = token.and_then(|token| self.pages.remove(&token)).filter(|page| page.slug == slug);
        if !trusted {
            return Err(Refusal::Untrusted);
        }
        let page = page.ok_or(Refusal::UnknownPage)?;
        let price = page.shown.ok_or(Refusal::PriceNotShown)?;
        let item = self.items.iter().find(|item| item.slug == page.slug).ok_or(Refusal::UnknownPage)?;
        Ok((item.name, price))
    }
}
