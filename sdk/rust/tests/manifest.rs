//! What the compiler writes into a plugin: schemas of all kinds of types, and the whole manifest.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass::{prelude::*, schema};

/// A berth, with a "quoted" word and a \ backslash.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is read")]
struct Berth {
    /// Length in metres,
    /// at the waterline.
    length_over_all: f64,
    #[schema(minimum = -3, maximum = 40, default = 7)]
    depth: i32,
    guests: Option<u8>,
    #[schema(title = "Harbour", pattern = "^[A-Z]+\\d$", min_length = 2, max_length = 8)]
    #[serde(rename = "port")]
    harbour: String,
    side: Side,
    tags: Vec<String>,
    /// Who lies beside it.
    neighbour: Option<Boat>,
    boats: Vec<Boat>,
    by_name: BTreeMap<String, u16>,
    #[serde(default)]
    extra: Value,
    #[serde(skip)]
    internal: u8,
    #[schema(default = "")]
    r#type: String,
}

/// Which side.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Side {
    PortSide,
    #[serde(rename = "starboard")]
    Right,
}

/// A boat.
#[derive(Debug, Deserialize, Serialize, Schema, PartialEq)]
struct Boat {
    name: String,
    #[schema(default = 2.5)]
    beam: f64,
}

#[derive(Serialize, Schema)]
struct Nothing {}

#[test]
fn a_schema_has_what_types_doc_comments_and_attributes_say() {
    let boat = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "beam": { "type": "number", "default": 2.5 } },
        "required": ["name"],
        "additionalProperties": false,
    });
    let described = |description: &str| {
        let mut boat = boat.clone();
        boat["description"] = description.into();
        boat
    };
    let expected = json!({
        "type": "object",
        "description": "A berth, with a \"quoted\" word and a \\ backslash.",
        "properties": {
            "lengthOverAll": { "type": "number", "description": "Length in metres, at the waterline." },
            "depth": { "type": "integer", "minimum": -3, "maximum": 40, "default": 7 },
            "guests": { "type": "integer", "minimum": 0 },
            "port": { "type": "string", "title": "Harbour", "pattern": "^[A-Z]+\\d$", "minLength": 2, "maxLength": 8 },
            "side": { "type": "string", "enum": ["port-side", "starboard"], "description": "Which side." },
            "tags": { "type": "array", "items": { "type": "string" } },
            "neighbour": described("Who lies beside it."),
            "boats": { "type": "array", "items": described("A boat.") },
            "byName": { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } },
            "extra": {},
            "type": { "type": "string", "default": "" },
        },
        "required": ["lengthOverAll", "port", "side", "tags", "boats", "byName"],
        "additionalProperties": false,
    });
    assert_eq!(schema::json::<Berth>(), expected);
    assert_eq!(
        schema::json::<Nothing>(),
        json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false })
    );
}

/// Moors a boat.
///
/// It takes as long as it takes:
/// - first the bow,
/// - then the stern.
#[windlass::tool(name = "moor-boat", permissions("browser *", "workdir"), idempotent, destructive = false)]
fn moor(boat: Boat) -> Result<Boat> {
    Ok(boat)
}

/// Casts off.
#[windlass::tool(title = "Cast off!", permissions("workdir", "secret KEY", "browser *"), task_support = "forbidden")]
fn cast_off() -> Result<Outcome> {
    Ok(Outcome::of_text("off").question("Where to?"))
}

#[derive(Schema)]
#[expect(dead_code, reason = "only its schema is read")]
struct Named {
    /// As it stands on the bow.
    name: String,
}

/// Names a boat.
#[windlass::tool(task_support = "required", ask_first(Named, "who", "What is her name?"))]
fn name_it(boat: Boat) -> Result<String> {
    Ok(boat.name)
}

mod nested {
    use windlass::prelude::*;

    /// Fails in its own way.
    #[windlass::tool]
    pub(crate) fn sink() -> Result<Outcome<super::Boat>, std::num::ParseIntError> {
        "deep".parse::<u8>().map(|_| unreachable!("no number"))
    }
}

windlass::plugin! {
    name: "harbour",
    version: concat!("1.0", ".0"),
    description: "Boats, \"tidy\".",
    tools: [moor, cast_off, name_it, nested::sink],
}

#[test]
fn a_manifest_lists_tools_and_the_permissions_of_all_once() {
    const PIECES: &[windlass::__private::Piece] = windlass::__manifest! {
        name: "harbour",
        version: concat!("1.0", ".0"),
        description: "Boats, \"tidy\".",
        tools: [moor, cast_off, name_it, nested::sink],
    };
    static BYTES: [u8; windlass::__private::length(PIECES)] = windlass::__private::render(PIECES);
    let nothing = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let boat = schema::json::<Boat>();
    let expected = json!({
        "name": "harbour",
        "version": "1.0.0",
        "description": "Boats, \"tidy\".",
        "contract": "0.1",
        "tools": [
            {
                "name": "moor-boat",
                "title": "Moor boat",
                "description": "Moors a boat.\n\nIt takes as long as it takes:\n- first the bow,\n- then the stern.",
                "inputSchema": boat,
                "outputSchema": boat,
                "annotations": { "idempotentHint": true, "destructiveHint": false },
            },
            {
                "name": "cast_off",
                "title": "Cast off!",
                "description": "Casts off.",
                "inputSchema": nothing,
                "taskSupport": "forbidden",
            },
            {
                "name": "name_it",
                "title": "Name it",
                "description": "Names a boat.",
                "inputSchema": boat,
                "taskSupport": "required",
                "askFirst": { "key": "who", "message": "What is her name?", "schema": schema::json::<Named>() },
            },
            {
                "name": "sink",
                "title": "Sink",
                "description": "Fails in its own way.",
                "inputSchema": nothing,
                "outputSchema": boat,
            },
        ],
        "permissions": ["browser *", "workdir", "secret KEY"],
    });
    assert_eq!(serde_json::from_slice::<Value>(&BYTES).unwrap(), expected);
}

#[test]
fn a_tool_fills_in_defaults_and_answers_in_json() {
    let outcome = <moor as windlass::Tool>::run(r#"{"name":"Argo"}"#).unwrap();
    assert_eq!(outcome.structured.as_deref(), Some(r#"{"beam":2.5,"name":"Argo"}"#));
    assert_eq!(outcome.content[0].mime_type, "application/json");
    assert_eq!(outcome.question, None);

    let outcome = <cast_off as windlass::Tool>::run("{}").unwrap();
    assert_eq!((outcome.structured, outcome.question.as_deref()), (None, Some("Where to?")));
}

#[test]
fn an_optional_member_that_is_null_is_a_missing_one() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Cargo {
        weight: Option<u32>,
        #[schema(default = 3)]
        crates: u32,
        boats: Vec<Boat>,
    }
    /// Loads.
    #[windlass::tool]
    fn load(cargo: Cargo) -> Result<Cargo> {
        Ok(cargo)
    }
    let input = r#"{"weight":null,"crates":null,"boats":[{"name":"Argo","beam":null}]}"#;
    let outcome = <load as windlass::Tool>::run(input).unwrap();
    let output = r#"{"boats":[{"beam":2.5,"name":"Argo"}],"crates":3}"#;
    assert_eq!(outcome.structured.as_deref(), Some(output));
}

#[test]
fn a_tool_fails_with_a_code() {
    let error = <moor as windlass::Tool>::run("{}").unwrap_err();
    assert_eq!(error.code(), code::INVALID_PARAMS);
    assert_eq!(error.message(), "the input does not fit the tool: missing field `name`");
    fn sold_out(item: &str) -> Result<()> {
        bail!("sold-out" => "no {item} left");
    }
    assert_eq!(sold_out("rope").unwrap_err(), Error::new("sold-out", "no rope left"));
    let error = <nested::sink as windlass::Tool>::run("{}").unwrap_err();
    assert_eq!((error.code(), error.message()), (code::FAILED, "invalid digit found in string"));
}

#[test]
fn errors_of_the_host_keep_their_code_and_details() {
    let denied = windlass::bindings::windlass::plugin::types::Error {
        code: "denied".into(),
        message: "no browser for you".into(),
        details: Some(r#"{"grant":"browser http://a.test"}"#.into()),
    };
    let result: Result<()> = Err(denied).context("opening the shop");
    let error = result.unwrap_err();
    assert!(error.is(code::DENIED));
    assert_eq!(error.message(), "opening the shop: no browser for you");
    assert_eq!(error.details().unwrap()["grant"], "browser http://a.test");
}
