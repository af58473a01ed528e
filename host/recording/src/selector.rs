//! Selectors of the Recorder as locators.

use crate::steps::Selectors;

/// Words in a selector that tell a field for a password.
const PASSWORD: [&str; 6] = ["password", "passwd", "passwort", "kennwort", "passphrase", "pwd"];
/// Roles that an accessible name without one may belong to, the likely ones of clicks and of fields.
const CLICKED: &[&str] = &["button", "link", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox"];
const FILLED: &[&str] = &["textbox", "searchbox", "combobox", "spinbutton", "checkbox", "radio", "slider"];

/// Whether a field holds a password, as far as its selectors tell.
pub(crate) fn of_password(selectors: &Selectors) -> bool {
    selectors.iter().flatten().any(|part| {
        let part = part.to_lowercase();
        PASSWORD.iter().any(|word| part.contains(word))
    })
}

/// The name of the secret that stands for the password of a site.
pub(crate) fn secret(site: &str) -> String {
    let site: String = site.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = format!("{site}-password");
    let name = name.trim_start_matches('-');
    // A name begins with a letter and has 64 characters at most.
    let name =
        if name.starts_with(|c: char| c.is_ascii_lowercase()) { name.to_owned() } else { format!("site-{name}") };
    name[name.len().saturating_sub(64)..].trim_start_matches(|c: char| !c.is_ascii_lowercase()).to_owned()
}

/// All locators by which an element may be found, the plainest first.
pub(crate) fn locators(selectors: &Selectors, filled: bool) -> Vec<String> {
    let mut all: Vec<(u8, String)> = Vec::new();
    for way in selectors {
        let mut heads = part(&way[0], filled);
        for next in &way[1..] {
            let tails = part(next, filled);
            heads = heads
                .iter()
                .flat_map(|(rank, head)| {
                    tails.iter().map(move |(other, tail)| ((*rank).max(*other), format!("{head} >> {tail}")))
                })
                .collect();
        }
        all.extend(heads);
    }
    all.sort_by_key(|(rank, _)| *rank);
    let mut locators: Vec<String> = Vec::new();
    for (_, locator) in all {
        if !locators.contains(&locator) {
            locators.push(locator);
        }
    }
    locators
}

/// One part of a way, as locators with their rank.
fn part(selector: &str, filled: bool) -> Vec<(u8, String)> {
    let selector = selector.trim();
    if let Some(aria) = selector.strip_prefix("aria/") {
        return aria_locators(aria, filled);
    }
    if let Some(text) = selector.strip_prefix("text/") {
        return vec![(2, format!("text={}", quoted(text)))];
    }
    if let Some(path) = selector.strip_prefix("xpath/") {
        return vec![(4, format!("xpath={path}"))];
    }
    // A selector of ours looks into open shadow roots by itself.
    let css = selector.strip_prefix("pierce/").or(selector.strip_prefix("css/")).unwrap_or(selector);
    vec![(1, css.to_owned())]
}

/// `Name[role="button"]`, `Name`, or `[role="button"]`.
fn aria_locators(aria: &str, filled: bool) -> Vec<(u8, String)> {
    let (name, attributes) = match aria.rfind("[role=") {
        Some(at) => (aria[..at].trim(), Some(aria[at + 6..].trim_end_matches(']').trim_matches(['"', '\'']))),
        None => (aria.trim(), None),
    };
    let name = if name.is_empty() { String::new() } else { format!("[name={}s]", quoted(name)) };
    match attributes {
        Some(role) => vec![(0, format!("role={role}{name}"))],
        None => (if filled { FILLED } else { CLICKED }).iter().map(|role| (3, format!("role={role}{name}"))).collect(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[&[&str]], filled: bool) -> Vec<String> {
        locators(&list.iter().map(|way| way.iter().map(ToString::to_string).collect()).collect(), filled)
    }

    #[test]
    fn each_kind_of_selector_is_a_locator() {
        let all: &[&[&str]] = &[
            &["aria/Pay \"now\"[role=\"button\"]"],
            &["#pay"],
            &["xpath///*[@id=\"pay\"]"],
            &["pierce/#pay"],
            &["text/Pay"],
            &["my-app", "button.pay"],
        ];
        let wanted = [
            "role=button[name=\"Pay \\\"now\\\"\"s]",
            "#pay",
            "my-app >> button.pay",
            "text=\"Pay\"",
            "xpath=//*[@id=\"pay\"]",
        ];
        assert_eq!(of(all, false), wanted);
        assert_eq!(of(&[&["aria/E-mail"], &["#mail"]], true)[..2], ["#mail", "role=textbox[name=\"E-mail\"s]"]);
    }

    #[test]
    fn a_password_is_known_by_its_selectors() {
        let is = |text: &str| of_password(&vec![vec![text.to_owned()]]);
        assert!(is("aria/Password") && is("input[type='password']") && is("#user_pwd") && is("aria/Passwort"));
        assert!(!is("#user") && !is("aria/Pass the salt"));
        assert_eq!(secret("shop.example"), "shop-example-password");
        assert_eq!(secret(""), "password");
        assert_eq!(secret("127.0.0.1"), "site-127-0-0-1-password");
        assert!(secret(&"a.".repeat(60)).len() <= 64);
    }
}
