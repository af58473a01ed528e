//! Secrets in fields, and what sites have stored: what is answered, and what is not.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Login {
    /// Address of the page.
    url: String,
    /// Origin of the page.
    origin: String,
}

#[derive(Serialize, Schema)]
struct Seen {
    lines: Vec<String>,
}

fn told<T: std::fmt::Display>(name: &str, result: Result<T>) -> String {
    match result {
        Ok(value) => format!("{name}: {value}"),
        Err(error) => {
            let grant = error.details().and_then(|d| d.get("grant")).and_then(|g| g.as_str()).unwrap_or("-").to_owned();
            format!("{name}: {} {grant}", error.code())
        }
    }
}

fn nothing(done: Result<()>) -> Result<&'static str> {
    done.map(|()| "done")
}

/// Fills in a secret and tries to see it.
#[windlass::tool(permissions("browser *", "secret shop-password"))]
fn browser_secret(Login { url, .. }: Login) -> Result<Seen> {
    let page = browser::open().page()?;
    page.goto(&url)?;
    let other = browser::open().page()?;
    other.goto(&url)?;
    let mut lines = vec![told("fill", nothing(page.fill_secret("#plain", "shop-password")))];
    page.click("#echo")?;
    lines.push(told("evaluate", page.evaluate::<String>("() => document.querySelector('#plain').value", ())));
    lines.push(told("repeatable", page.with(Settings::new().repeatable()).evaluate::<String>("() => 1", ())));
    lines.push(told("function", page.wait_for_function::<String>("() => '1'", ())));
    lines.push(told("other page", other.evaluate::<String>("() => 'x'", ())));
    lines.push(told("html", page.html("form")));
    lines.push(told("value", page.value("#plain")));
    lines.push(told("attribute", page.attribute("#plain", "value").map(|v| v.unwrap_or_default())));
    lines.push(told("pdf", page.pdf("a.pdf").map(|a| a.name)));
    lines.push(told("text", page.text("#plain")));
    lines.push(told("echoed", page.text("#echoed")));
    lines.push(told("title", page.title()));
    lines.push(told("snapshot", page.snapshot().map(|s| s.contains("•••"))));
    lines.push(told("console", page.console().map(|all| all.iter().map(|l| l.text.clone()).collect::<String>())));
    lines.push(told("screenshot", page.screenshot("login.png").map(|a| a.name)));
    info!("{}", page.text("#echoed")?);
    page.goto(&url)?;
    lines.push(told("after", page.evaluate::<String>("() => 'free'", ())));
    lines.push(told("unknown", nothing(page.fill_secret("#plain", "other"))));
    Ok(Seen { lines })
}

/// Reads and sets what sites have stored.
#[windlass::tool(permissions("browser *", "browser-state *"))]
fn browser_state(Login { url, origin }: Login) -> Result<Seen> {
    let page = browser::open().page()?;
    page.goto(&url)?;
    page.evaluate::<()>("() => { localStorage.setItem('cart', 'mug'); document.cookie = 'a=b' }", ())?;
    let cookies = browser::cookies(&origin)?;
    let mut lines = vec![format!("cookies {}", cookies.iter().any(|c| c.name == "a" && c.value == "b"))];
    let state = browser::storage_state([&origin])?;
    lines.push(format!("state {} {}", state.cookies.len(), state.origins[0].local_storage[0].value));
    browser::clear_cookies(&origin)?;
    lines.push(format!("cleared {}", browser::cookies(&origin)?.len()));
    browser::set_storage_state(&state)?;
    lines.push(format!("again {}", browser::cookies(&origin)?.len()));
    browser::set_cookies(&cookies)?;
    lines.push(told("elsewhere", browser::cookies("https://elsewhere.example:8443").map(|c| c.len())));
    let mut foreign = cookies[0].clone();
    foreign.domain = "elsewhere.example".into();
    lines.push(told("foreign", nothing(browser::set_cookies(&[foreign]))));
    Ok(Seen { lines })
}

windlass::plugin! {
    name: "browser_private",
    description: "Looks at what it should not see.",
    tools: [browser_secret, browser_state],
}
