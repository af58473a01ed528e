//! JSON Schema (2020-12) of Rust types, as constants.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::piece::{Piece, same};

/// A type with a JSON Schema; derive it.
///
/// A struct becomes an object: doc comments are descriptions, `Option` and `#[serde(default)]` make a field optional.
/// An enum of unit variants becomes a list of strings. `#[serde(rename, rename_all, skip, default,
/// deny_unknown_fields)]` are respected; what would need more than that does not compile.
///
/// `#[schema(…)]` on a field adds `title`, `minimum`, `maximum`, `pattern`, `format`, `min_length`, `max_length`,
/// `min_items`, `max_items`, `mcp_header` (over MCP the field travels as the header `Mcp-Param-…` too, for routers on the way),
/// and `default`: a literal that is also filled in when the field is missing. A schema is closed: a field that the struct
/// does not have is refused.
///
/// ```
/// use windlass::prelude::*;
///
/// /// Where to send it.
/// #[derive(Deserialize, Schema)]
/// struct Parcel {
///     /// Name of the receiver.
///     name: String,
///     #[schema(minimum = 1, maximum = 20, default = 1)]
///     pieces: u32,
///     speed: Option<Speed>,
/// }
///
/// #[derive(Deserialize, Schema)]
/// #[serde(rename_all = "kebab-case")]
/// enum Speed { Normal, NextDay }
///
/// assert_eq!(
///     windlass::schema::json::<Parcel>(),
///     serde_json::json!({
///         "type": "object",
///         "description": "Where to send it.",
///         "properties": {
///             "name": { "type": "string", "description": "Name of the receiver." },
///             "pieces": { "type": "integer", "minimum": 1, "maximum": 20, "default": 1 },
///             "speed": { "type": "string", "enum": ["normal", "next-day"] },
///         },
///         "required": ["name"],
///         "additionalProperties": false,
///     })
/// );
/// ```
///
/// The items of this trait are for generated code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    note = "derive it: `#[derive(windlass::Schema)]` on a struct with named fields or an enum of unit variants"
)]
pub trait Schema {
    /// The members of the schema, except the description and the minimum.
    #[doc(hidden)]
    const KEYWORDS: &'static [Piece];
    /// The doc comment of the type.
    #[doc(hidden)]
    const DESCRIPTION: &'static str = "";
    /// The least value that the type can hold, if a number in JSON could be less.
    #[doc(hidden)]
    const MINIMUM: &'static str = "";
    /// A member of this type has to be there.
    #[doc(hidden)]
    const REQUIRED: bool = true;
    /// A field of a form can have this type.
    #[doc(hidden)]
    const PRIMITIVE: bool = false;
    /// Fills in the defaults of members that are missing, and drops `null` where a member may be missing.
    #[doc(hidden)]
    fn fill(_value: &mut Value) {}
}

/// A struct with a derived [`Schema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a struct with a derived `Schema`",
    note = "inputs, structured outputs and forms are structs with `#[derive(windlass::Schema)]`"
)]
pub trait Object: Schema {
    /// All its fields are primitive.
    #[doc(hidden)]
    const FLAT: bool;
    /// Names of its members.
    #[doc(hidden)]
    const NAMES: &'static [&'static str];
    /// One of its members has to be there.
    #[doc(hidden)]
    const REQUIRES: bool;
}

/// Refuses a form with a field that the input does not have, when the plugin is compiled.
#[doc(hidden)]
pub const fn declared<Form: Object, Input: Object>() {
    let (form, input) = (Form::NAMES, Input::NAMES);
    let mut i = 0;
    while i < form.len() {
        let (mut j, mut found) = (0, false);
        while j < input.len() {
            found = found || same(form[i], input[j]);
            j += 1;
        }
        assert!(found, "each field of the form that is asked first is a field of the tool's input");
        i += 1;
    }
    assert!(Form::FLAT, "a form is a flat struct: text, numbers, booleans, enums, and `Option` of these");
    assert!(Form::REQUIRES, "a form that is asked first has a field that is not optional");
}

/// The whole schema of `T`.
#[doc(hidden)]
pub const fn whole<T: Schema>() -> [Piece; 5] {
    [
        Piece::Raw("{"),
        Piece::All(T::KEYWORDS),
        Piece::Text("description", T::DESCRIPTION),
        Piece::Member("minimum", T::MINIMUM),
        Piece::Raw("}"),
    ]
}

/// The schema of `T` as JSON text.
pub fn text<T: Schema>() -> String {
    crate::piece::to_string(&whole::<T>())
}

/// The schema of `T` as a JSON value.
///
/// # Panics
/// If a `#[schema(…)]` value was no JSON, which the derive does not let through.
pub fn json<T: Schema>() -> Value {
    serde_json::from_str(&text::<T>()).expect("a derived schema is JSON")
}

macro_rules! primitives {
    ($($type:ty => $keywords:literal $(, minimum $minimum:literal)?;)*) => {$(
        impl Schema for $type {
            const KEYWORDS: &'static [Piece] = &[Piece::Comma, Piece::Raw($keywords)];
            $(const MINIMUM: &'static str = $minimum;)?
            const PRIMITIVE: bool = true;
        }
    )*};
}

primitives! {
    String => "\"type\":\"string\"";
    &str => "\"type\":\"string\"";
    char => "\"type\":\"string\",\"minLength\":1,\"maxLength\":1";
    bool => "\"type\":\"boolean\"";
    f32 => "\"type\":\"number\"";
    f64 => "\"type\":\"number\"";
    i8 => "\"type\":\"integer\"";
    i16 => "\"type\":\"integer\"";
    i32 => "\"type\":\"integer\"";
    i64 => "\"type\":\"integer\"";
    isize => "\"type\":\"integer\"";
    u8 => "\"type\":\"integer\"", minimum "0";
    u16 => "\"type\":\"integer\"", minimum "0";
    u32 => "\"type\":\"integer\"", minimum "0";
    u64 => "\"type\":\"integer\"", minimum "0";
    usize => "\"type\":\"integer\"", minimum "0";
}

/// Any JSON.
impl Schema for Value {
    const KEYWORDS: &'static [Piece] = &[];
}

impl<T: Schema> Schema for Option<T> {
    const KEYWORDS: &'static [Piece] = T::KEYWORDS;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const MINIMUM: &'static str = T::MINIMUM;
    const REQUIRED: bool = false;
    const PRIMITIVE: bool = T::PRIMITIVE;
    fn fill(value: &mut Value) {
        if !value.is_null() {
            T::fill(value);
        }
    }
}

impl<T: Schema> Schema for Box<T> {
    const KEYWORDS: &'static [Piece] = T::KEYWORDS;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const MINIMUM: &'static str = T::MINIMUM;
    const REQUIRED: bool = T::REQUIRED;
    const PRIMITIVE: bool = T::PRIMITIVE;
    fn fill(value: &mut Value) {
        T::fill(value);
    }
}

impl<T: Schema> Schema for Vec<T> {
    const KEYWORDS: &'static [Piece] = &[
        Piece::Comma,
        Piece::Raw("\"type\":\"array\",\"items\":{"),
        Piece::All(T::KEYWORDS),
        Piece::Text("description", T::DESCRIPTION),
        Piece::Member("minimum", T::MINIMUM),
        Piece::Raw("}"),
    ];
    fn fill(value: &mut Value) {
        if let Value::Array(items) = value {
            items.iter_mut().for_each(T::fill);
        }
    }
}

macro_rules! maps {
    ($($map:ident)*) => {$(
        impl<T: Schema> Schema for $map<String, T> {
            const KEYWORDS: &'static [Piece] = &[
                Piece::Comma,
                Piece::Raw("\"type\":\"object\",\"additionalProperties\":{"),
                Piece::All(T::KEYWORDS),
                Piece::Text("description", T::DESCRIPTION),
                Piece::Member("minimum", T::MINIMUM),
                Piece::Raw("}"),
            ];
            fn fill(value: &mut Value) {
                if let Value::Object(members) = value {
                    members.values_mut().for_each(T::fill);
                }
            }
        }
    )*};
}

maps!(BTreeMap HashMap);

/// What the derive writes into [`Schema::fill`], for each member.
///
/// An optional member that is `null` is the same as a missing one: callers write it, serde does for `None`, and the schema
/// allows it in neither direction.
#[doc(hidden)]
pub fn fill_member<T: Schema>(value: &mut Value, name: &str, required: bool, default: Option<Value>) {
    let Value::Object(members) = value else {
        return;
    };
    if !required && members.get(name).is_some_and(Value::is_null) {
        members.remove(name);
    }
    if let Some(default) = default
        && !members.contains_key(name)
    {
        members.insert(name.to_owned(), default);
    }
    if let Some(member) = members.get_mut(name) {
        T::fill(member);
    }
}
