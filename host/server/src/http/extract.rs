//! What handlers take from a request: the caller, ids from the path, parameters from the query, bodies within limits.

use super::App;
use super::problem::{EdgeError, Problem};
use super::routes::{Body, Route};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use windlass_core::TaskId;
use windlass_runtime::{Caller, Error};

/// A JSON body, in bytes.
pub(crate) const JSON_LIMIT: usize = 1 << 20;
/// A plugin, in bytes.
pub(crate) const PLUGIN_LIMIT: usize = 64 << 20;
/// What is read of a body that is too large before the answer, so that a client that only reads when it has sent
/// everything sees the problem instead of a broken connection.
const DRAIN_LIMIT: usize = 8 << 20;

/// Who calls, as the guard found out.
pub(super) struct By(pub Caller);

impl FromRequestParts<App> for By {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.map(By).ok_or_else(|| EdgeError::Unauthorized("the request did not pass the guard").into())
    }
}

/// A caller that is an operator. Goes before the body in the order of extraction: 64 MiB are not read for somebody who
/// may not send them.
pub(super) struct Operator(pub Caller);

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let By(caller) = By::from_request_parts(parts, app).await?;
        if caller.operator { Ok(Self(caller)) } else { Err(Error::NotOperator.into()) }
    }
}

/// Named parts of the path.
pub(super) struct InPath(HashMap<String, String>);

impl InPath {
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// The task that `{id}` names.
    pub(super) fn task(&self) -> Result<TaskId, Problem> {
        let id = self.get("id");
        // Whatever is no id names no task.
        id.parse().map_err(|_| Error::UnknownTask(windlass_core::text::cut(id, 64)).into())
    }
}

impl FromRequestParts<App> for InPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<HashMap<String, String>>::from_request_parts(parts, app).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(_) => Err(EdgeError::NoRoute(parts.uri.path().to_owned()).into()),
        }
    }
}

/// The query. That its names are known at the route was checked by `check`.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// The one value of a parameter.
    pub(super) fn one(&self, name: &'static str) -> Result<Option<&str>, Problem> {
        let mut all = self.all(name);
        let first = all.next();
        match all.next() {
            Some(_) => Err(refuse(name, "it stands twice", &[])),
            None => Ok(first),
        }
    }

    /// All values of one that may be repeated.
    pub(super) fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// A whole number within a range.
    pub(super) fn number(
        &self,
        name: &'static str,
        default: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, Problem> {
        let Some(text) = self.one(name)? else { return Ok(default) };
        u64::from_str(text).ok().filter(|n| range.contains(n)).ok_or_else(|| {
            refuse(
                name,
                &format!("`{}` is not a whole number from {} to {}", short(text), range.start(), range.end()),
                &[],
            )
        })
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, name: &'static str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                Err(refuse(name, &format!("`{}` is none of {}", short(text), known.join(", ")), &known))
            }
        }
    }
}

impl FromRequestParts<App> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Ok(Self(pairs(parts.uri.query())))
    }
}

fn pairs(query: Option<&str>) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.unwrap_or("").as_bytes()).into_owned().collect()
}

fn short(text: &str) -> String {
    windlass_core::text::cut(text, 64)
}

/// A refused parameter or header.
pub(super) fn refuse(name: &str, why: &str, known: &[&str]) -> Problem {
    let known = known.iter().map(ToString::to_string).collect();
    EdgeError::Parameter { name: short(name), why: why.to_owned(), known }.into()
}

/// The layer around one route: parameters and media type as its row in the table says, before the handler runs.
pub(super) async fn check(route: &'static Route, request: Request, next: Next) -> Response {
    for (name, _) in pairs(request.uri().query()) {
        if !route.params.iter().any(|param| param.name == name) {
            let known: Vec<_> = route.params.iter().map(|param| param.name).collect();
            let why = match known.as_slice() {
                [] => "this route takes no parameters".to_owned(),
                known => format!("this route knows {}", known.join(", ")),
            };
            return refuse(&name, &why, &known).into_response();
        }
    }
    if let Some(wanted) = route.body.media_type() {
        let given = request.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
        if !given.as_deref().is_some_and(|given| is_media_type(given, wanted, &route.body)) {
            let given = given.map_or_else(|| "nothing".to_owned(), |given| format!("`{}`", short(&given)));
            return Problem::from(EdgeError::MediaType { wanted, given }).into_response();
        }
    }
    next.run(request).await
}

fn is_media_type(given: &str, wanted: &str, body: &Body) -> bool {
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or("").eq_ignore_ascii_case(wanted);
    let utf8 = |part: &str| {
        let part = part.to_ascii_lowercase();
        matches!(part.as_str(), "charset=utf-8" | "charset=\"utf-8\"")
    };
    // JSON is UTF-8 (RFC 8259, 8.1): another charset is another thing.
    essence && parts.all(|part| part.is_empty() || (matches!(body, Body::Json(_)) && utf8(part)))
}

/// A JSON body of a known shape.
pub(super) struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        read_json(&collect(request, JSON_LIMIT).await?).map(Json)
    }
}

/// A plugin's bytes.
pub(super) struct Wasm(pub Vec<u8>);

impl FromRequest<App> for Wasm {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        collect(request, PLUGIN_LIMIT).await.map(Wasm)
    }
}

/// Whether it is JSON at all comes first (400), whether it fits second (422).
fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    match serde_json::from_slice::<Distinct>(bytes) {
        Err(error) if error.is_data() => return Err(EdgeError::Body(plain(&error.to_string())).into()),
        Err(error) => return Err(not_json(&error)),
        Ok(Distinct) => {}
    }
    // serde would read a struct from an array too, field by field.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(EdgeError::Body("it must be an object".into()).into());
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() { EdgeError::Body(plain(&error.to_string())).into() } else { not_json(&error) }
    })
}

/// Any JSON in which no object has a name twice: which of the two was meant is not for us to guess.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Distinct)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<Self>()?;
            if let Some(twice) = seen.replace(name) {
                return Err(serde::de::Error::custom(format_args!("`{}` stands twice in one object", short(&twice))));
            }
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

/// The parser's words for what it met and wanted, in those of JSON.
fn plain(text: &str) -> String {
    let words = [
        ("invalid type: map,", "invalid type: an object,"),
        ("invalid type: sequence,", "invalid type: an array,"),
        ("expected a map", "expected an object"),
        ("expected a sequence", "expected an array"),
        ("expected u64", "expected a whole number from 0"),
    ];
    words.iter().fold(text.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
}

fn not_json(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why).to_owned();
    EdgeError::NotJson { why, line: error.line(), column: error.column() }.into()
}

async fn collect(request: Request, limit: usize) -> Result<Vec<u8>, Problem> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit.saturating_add(DRAIN_LIMIT) as u64) {
        return Err(EdgeError::TooLarge { limit }.into());
    }
    let mut too_large = announced.is_some_and(|length| length > limit as u64);
    let mut bytes = Vec::new();
    let mut seen = 0_usize;
    let mut stream = request.into_body().into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk: Bytes = chunk.map_err(|error| Problem::from(EdgeError::BrokenBody(error.to_string())))?;
        seen = seen.saturating_add(chunk.len());
        too_large |= seen > limit;
        if !too_large {
            bytes.extend_from_slice(&chunk);
        } else {
            bytes = Vec::new();
            if seen > limit.saturating_add(DRAIN_LIMIT) {
                break;
            }
        }
    }
    if too_large { Err(EdgeError::TooLarge { limit }.into()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it reads matters")]
    struct Shape {
        tool: String,
        #[serde(default)]
        title: Option<String>,
    }

    #[test]
    fn a_media_type_is_compared_without_case_and_with_utf_8_only() {
        let json = Body::Json("CreateTask");
        for given in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
        ] {
            assert!(is_media_type(given, "application/json", &json), "{given}");
        }
        for given in [
            "",
            "text/plain",
            "application/jsonp",
            "application/json; charset=latin1",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_media_type(given, "application/json", &json), "{given}");
        }
        assert!(is_media_type("application/wasm", "application/wasm", &Body::Wasm));
        assert!(!is_media_type("application/wasm; charset=utf-8", "application/wasm", &Body::Wasm));
    }

    #[test]
    fn what_is_no_json_is_told_from_what_does_not_fit() {
        let status = |text: &str| read_json::<Shape>(text.as_bytes()).map(|_| ()).map_err(|problem| problem.document());
        assert!(status(r#"{"tool": "x"}"#).is_ok());
        for broken in ["", "{", "{\"tool\": 5, oops", "{} {}", "nope", "\"\u{1}\"", &"[".repeat(500)] {
            let document = status(broken).unwrap_err();
            assert_eq!((&document["status"], &document["code"]), (&400.into(), &"WL0107".into()), "{broken}");
            assert!(document["line"].is_number() && document["column"].is_number());
        }
        let unknown = status(r#"{"tool": "x", "ttlMs": 5}"#).unwrap_err();
        assert_eq!(unknown["code"], "WL0109");
        let detail = unknown["detail"].as_str().unwrap();
        assert!(detail.contains("`ttlMs`") && detail.contains("`tool`") && detail.contains("`title`"), "{detail}");
        for wrong in [r#"{"tool": 5}"#, "{}", "[]", "[\"x\"]", "null"] {
            assert_eq!(status(wrong).unwrap_err()["code"], "WL0109", "{wrong}");
        }
        for twice in [r#"{"tool": "x", "tool": "y"}"#, r#"{"tool": [{"a": {"tool": 1, "b": 1, "t\u006fol": 1}}]}"#] {
            let document = status(twice).unwrap_err();
            assert_eq!(document["code"], "WL0109", "{twice}");
            assert!(document["detail"].as_str().unwrap().contains("`tool` stands twice"), "{document}");
        }
        assert_eq!(read_json::<Shape>(b"{\"tool\": \"\xff\"}").unwrap_err().code(), "WL0107", "not UTF-8");
    }
}
