//! Values from the command line: `key=value` typed by a schema, and JSON from an argument, a file or standard input.

use super::{Fail, read};
use serde_json::{Map, Value};

/// Reads `--input`: JSON text, `@FILE`, or `-` for standard input. It has to be an object.
pub(super) fn object(argument: &str) -> Result<Map<String, Value>, Fail> {
    let (text, place) = if argument == "-" {
        (read::stdin(read::TEXT)?, "standard input".to_owned())
    } else if let Some(file) = argument.strip_prefix('@') {
        (read::text(file.as_ref(), read::TEXT)?, file.to_owned())
    } else {
        (argument.to_owned(), "the argument".to_owned())
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fail::usage(format!("{place} is JSON, but not an object: write {{\"name\": value, …}}"))),
        Err(error) => Err(Fail::usage(format!("{place} is not JSON: {error}"))),
    }
}

/// Puts `key=value` arguments into an object, each typed as the schema says.
pub(super) fn insert(object: &mut Map<String, Value>, pairs: &[String], schema: &Value) -> Result<(), Fail> {
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(Fail::usage(format!("`{pair}` is no key=value")));
        };
        let known: Vec<_> =
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let open = schema["additionalProperties"] != Value::Bool(false);
        if !known.contains(&key) && !open {
            return Err(Fail::usage(format!("`{key}` is not known; known are {}", known.join(", "))));
        }
        let value = typed(text, &schema["properties"][key]).map_err(|why| Fail::usage(format!("{key}: {why}")))?;
        if object.insert(key.to_owned(), value).is_some() {
            return Err(Fail::usage(format!("{key} is given twice")));
        }
    }
    Ok(())
}

/// The value that a text means where the schema wants this.
pub(crate) fn typed(text: &str, schema: &Value) -> Result<Value, String> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let json = || serde_json::from_str::<Value>(text);
    match types.iter().find(|kind| **kind != "null").copied() {
        Some("string") => Ok(text.into()),
        Some("boolean") => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "1" | "on" => Ok(true.into()),
            "false" | "no" | "n" | "0" | "off" => Ok(false.into()),
            _ => Err(format!("`{text}` is neither true nor false")),
        },
        Some("integer") => match json() {
            Ok(Value::Number(number)) if !number.is_f64() => Ok(number.into()),
            _ => Err(format!("`{text}` is not a whole number")),
        },
        Some("number") => match json() {
            Ok(Value::Number(number)) => Ok(number.into()),
            _ => Err(format!("`{text}` is not a number")),
        },
        Some(kind) => json().map_err(|error| format!("it must be JSON of type {kind}: {error}")),
        // Nothing is said of it: JSON where it is JSON, else text.
        None => Ok(json().unwrap_or_else(|_| text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_takes_the_type_that_the_schema_wants() {
        let table = [
            ("5", json!({"type": "string"}), Some(json!("5"))),
            ("5", json!({"type": "integer"}), Some(json!(5))),
            ("5.5", json!({"type": "integer"}), None),
            ("5.5", json!({"type": "number"}), Some(json!(5.5))),
            ("five", json!({"type": "number"}), None),
            ("yes", json!({"type": "boolean"}), Some(json!(true))),
            ("off", json!({"type": "boolean"}), Some(json!(false))),
            ("maybe", json!({"type": "boolean"}), None),
            ("[1,2]", json!({"type": "array"}), Some(json!([1, 2]))),
            ("1,2", json!({"type": "array"}), None),
            ("x", json!({"type": ["null", "string"]}), Some(json!("x"))),
            ("{\"a\":1}", json!({}), Some(json!({"a": 1}))),
            ("plain", Value::Null, Some(json!("plain"))),
        ];
        for (text, schema, expected) in table {
            assert_eq!(typed(text, &schema).ok(), expected, "{text} as {schema}");
        }
    }

    #[test]
    fn a_pair_that_does_not_fit_is_named() {
        let schema = json!({"properties": {"url": {"type": "string"}}, "additionalProperties": false});
        let error = |pairs: &[&str]| {
            let pairs: Vec<_> = pairs.iter().map(ToString::to_string).collect();
            insert(&mut Map::new(), &pairs, &schema).unwrap_err().message
        };
        assert_eq!(error(&["nothing"]), "`nothing` is no key=value");
        assert_eq!(error(&["ulr=x"]), "`ulr` is not known; known are url");
        assert_eq!(error(&["url=a", "url=b"]), "url is given twice");
        let mut object = Map::new();
        insert(&mut object, &["url=a=b".into()], &schema).unwrap();
        assert_eq!(Value::Object(object), json!({"url": "a=b"}));
    }

    #[test]
    fn an_input_is_an_object() {
        assert!(object("{\"a\": 1}").is_ok());
        assert!(object("[1]").unwrap_err().message.contains("not an object"));
        assert!(object("{").unwrap_err().message.contains("is not JSON"));
        assert!(object("@/nowhere").unwrap_err().message.contains("can't be read"));
    }
}
