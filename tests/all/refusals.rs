//! Components that are not installed: each refusal says why and what to do, word for word as in the golden file.

use crate::bench::{Bench, operator};
use crate::guests;
use std::fmt::Write as _;
use windlass_runtime::Beside;

fn component(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Every occurrence; both have the same length, so that no section changes its size.
fn replaced(mut bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut at = 0;
    let mut count = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|w| w == from.as_bytes()) {
        at += found;
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        at += from.len();
        count += 1;
    }
    assert!(count > 0, "{from} is not in the component");
    bytes
}

/// A custom section behind everything else.
fn with_section(mut bytes: Vec<u8>, name: &str, data: &[u8]) -> Vec<u8> {
    let mut body = vec![u8::try_from(name.len()).unwrap()];
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(data);
    bytes.push(0);
    let mut size = body.len();
    loop {
        let low = u8::try_from(size & 0x7f).unwrap();
        size >>= 7;
        bytes.push(if size > 0 { low | 0x80 } else { low });
        if size == 0 {
            break;
        }
    }
    bytes.extend_from_slice(&body);
    bytes
}

/// Components with the lines that are granted to them, each refused for another reason.
fn fixtures() -> Vec<(&'static str, Vec<u8>, Vec<String>)> {
    let hello = || component(guests::BASIC_HELLO);
    let half = {
        let all = hello();
        all[..all.len() / 2].to_vec()
    };
    let none: Vec<String> = vec![];
    vec![
        ("not wasm", b"#!/bin/sh\necho hello\n".to_vec(), none.clone()),
        ("empty", Vec::new(), none.clone()),
        ("core module", b"\0asm\x01\0\0\0".to_vec(), none.clone()),
        ("cut in half", half, none.clone()),
        ("no manifest", replaced(hello(), "windlass:manifest", "windlass:manifesz"), none.clone()),
        ("two manifests", with_section(hello(), "windlass:manifest", b"{}"), none.clone()),
        ("wrong contract version", replaced(hello(), "\"contract\":\"0.1\"", "\"contract\":\"0.9\""), none.clone()),
        ("unknown import", replaced(hello(), "windlass:plugin/log@0.1.0", "windlass:plugin/lag@0.1.0"), none.clone()),
        ("newer import", replaced(hello(), "windlass:plugin/log@0.1.0", "windlass:plugin/log@0.2.0"), none.clone()),
        ("no export", replaced(hello(), "windlass:plugin/tool@0.1.0", "windlass:plugin/toil@0.1.0"), none.clone()),
        ("bad schema", replaced(hello(), "\"type\":\"string\"", "\"type\":\"strunk\""), none.clone()),
        (
            "name taken",
            replaced(hello(), "{\"name\":\"basic_hello\",\"version\"", "{\"name\":\"basic_other\",\"version\""),
            none.clone(),
        ),
        (
            "bad name",
            replaced(hello(), "{\"name\":\"basic_hello\",\"version\"", "{\"name\":\"Basic_hello\",\"version\""),
            none.clone(),
        ),
        ("unknown field", replaced(hello(), "\"contract\":", "\"contrast\":"), none.clone()),
        (
            "permission unknown",
            replaced(component(guests::CAPTURE), "[\"browser *\"]", "[\"browsed *\"]"),
            none.clone(),
        ),
        ("import without permission", replaced(component(guests::CAPTURE), "[\"browser *\"]", "[           ]"), none),
        ("grant not asked for", hello(), vec!["browser *".into()]),
        ("does not compile", with_module(hello(), INVALID), vec![]),
    ]
}

/// `(func (drop (i32.add)))`: a module that adds what is not there.
const INVALID: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x0a\x06\x01\x04\0\x6a\x1a\x0b";

/// A component with one more core module, that nothing uses.
fn with_module(mut component: Vec<u8>, module: &[u8]) -> Vec<u8> {
    component.push(1);
    component.push(u8::try_from(module.len()).unwrap());
    component.extend_from_slice(module);
    component
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_teaches() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let mut told = String::new();
    for (name, bytes, grants) in fixtures() {
        let refused = bench.host.add_plugin(&operator(), bytes, Some(grants)).await;
        let text = match refused {
            Err(error) => format!("{} {error}", error.spec().code),
            Ok(view) => format!("INSTALLED {view:?}"),
        };
        // Where something stands depends on the size of the build.
        let text =
            [" (at offset", ": wasm["].iter().fold(text.as_str(), |text, at| text.split(at).next().unwrap_or(text));
        let _ = writeln!(told, "{name}:\n  {text}\n");
    }
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/refusals.txt");
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &told).unwrap();
    }
    assert_eq!(told, std::fs::read_to_string(&golden).unwrap(), "WINDLASS_BLESS=1 writes the file anew");
    let plugins = bench.host.plugins(&operator()).await.unwrap();
    assert_eq!(plugins.len(), 1, "nothing was installed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_without_a_host_says_what_an_installation_says() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let there = bench.host.plugins(&operator()).await.unwrap();
    let plugins: Vec<_> = there.into_iter().map(|plugin| (plugin.name, plugin.tools)).collect();
    let sound = ("sound", component(guests::CAPTURE), vec!["browser https://shop.example".into()]);
    for (name, bytes, grants) in fixtures().into_iter().chain([sound]) {
        let beside = Beside { grants: Some(grants.clone()), plugins: plugins.clone() };
        let checked = windlass_runtime::check(&bytes, &beside, None);
        let installed = bench.host.add_plugin(&operator(), bytes, Some(grants)).await;
        let told = |error: windlass_runtime::Error| (error.spec().code, error.to_string());
        let checked = checked.map(|manifest| manifest.name).map_err(told);
        assert_eq!(checked, installed.map(|plugin| plugin.name).map_err(told), "{name}");
        assert_eq!(checked.is_ok(), name == "sound", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_disabled_until_it_is_granted_and_held_while_its_turns_are_open() {
    let bench = Bench::new().await;
    let added = bench.host.add_plugin(&operator(), component(guests::BASIC_STATE), None).await.unwrap();
    assert!(!added.enabled && bench.host.tools().is_empty());
    let enable = windlass_runtime::PatchPlugin { enabled: Some(true), grants: None };
    bench.host.patch_plugin(&operator(), "basic_state", enable).await.unwrap();
    let id = bench.create("basic_state", serde_json::json!({"wait": true})).await;
    bench.asks(id).await;
    let held = bench.host.remove_plugin(&operator(), "basic_state").await.unwrap_err();
    assert_eq!((held.spec().code, held.spec().http), ("WL0015", 409));
    bench.host.cancel(&crate::bench::local(), id).await.unwrap();
    bench.ended(id).await;
    bench.host.remove_plugin(&operator(), "basic_state").await.unwrap();
    assert!(bench.host.tools().is_empty());
    assert_eq!(bench.host.plugins(&crate::bench::local()).await.unwrap_err().spec().http, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_plugins_installed_at_once_do_not_share_a_tool() {
    let bench = Bench::new().await;
    let named = |name: &str| {
        let to = format!("{{\"name\":\"{name}\",\"version\"");
        replaced(component(guests::BASIC_HELLO), "{\"name\":\"basic_hello\",\"version\"", &to)
    };
    let (operator, none) = (operator(), Some(Vec::new()));
    let (a, b) = tokio::join!(
        bench.host.add_plugin(&operator, named("first_hello"), none.clone()),
        bench.host.add_plugin(&operator, named("other_hello"), none),
    );
    assert_eq!(u8::from(a.is_ok()) + u8::from(b.is_ok()), 1);
    assert_eq!(bench.host.tools().len(), 1);
}
