//! The secrets that a plugin asks for and its host has not: each with the command that sets it.

use super::super::Fail;
use super::place::Place;
use crate::client::json;
use reqwest::Method;
use windlass_core::Permission;
use windlass_core::permission::{Origins, Secrets};

/// A line for each secret that is asked for by its name, and is not there.
pub(super) async fn missing(place: &Place, asked: &[Permission]) -> Result<Vec<String>, Fail> {
    let names = named(asked);
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let answer = json(place.client.as_operator(Method::GET, "/api/v1/secrets")).await?;
    let there: Vec<_> =
        answer["secrets"].as_array().into_iter().flatten().filter_map(|secret| secret["name"].as_str()).collect();
    let missing = names.into_iter().filter(|name| !there.contains(&name.as_str()));
    Ok(missing.map(|name| line(&name, &origin(asked), &|words| place.context.hints.command(words))).collect())
}

fn line(name: &str, origin: &str, command: &dyn Fn(&str) -> String) -> String {
    format!("the host has no secret {name}: `{}`", command(&format!("secret set {name} --origin {origin}")))
}

fn named(asked: &[Permission]) -> Vec<String> {
    let mut names = Vec::new();
    for permission in asked {
        if let Permission::Secret(Secrets::One(name)) | Permission::Reveal(Secrets::One(name)) = permission
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    names
}

/// Where it would go, as far as the manifest tells: the first origin that is asked for.
fn origin(asked: &[Permission]) -> String {
    let one = asked.iter().find_map(|permission| match permission {
        Permission::Browser(Origins::One(origin)) | Permission::Http(Origins::One(origin)) => Some(origin.to_string()),
        _ => None,
    });
    one.unwrap_or_else(|| "https://shop.example".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_missed_once_with_a_command_to_copy() {
        let asked: Vec<Permission> =
            ["browser *", "secret shop-token", "http https://api.example", "reveal shop-token", "secret *"]
                .iter()
                .map(|line| line.parse().unwrap())
                .collect();
        assert_eq!(named(&asked), ["shop-token"]);
        let told = line("shop-token", &origin(&asked), &|words| format!("windlass {words}"));
        assert_eq!(
            told,
            "the host has no secret shop-token: `windlass secret set shop-token --origin https://api.example`"
        );
        assert_eq!(origin(&[]), "https://shop.example");
    }
}
