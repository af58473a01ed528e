//! The OpenAPI 3.1 document, made of the table of routes. A golden copy stands in the tree as `docs/openapi.json`, so
//! that a change of the API shows in review.

use super::routes::{Body, Carries, Param, ROUTES, Route};
use super::schemas;
use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) async fn serve() -> Response {
    super::tasks::answer_json(StatusCode::OK, &document())
}

/// The document.
#[must_use]
pub fn document() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in ROUTES {
        paths.entry(route.path).or_default().insert(route.method.to_lowercase(), operation(route));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Windlass",
            "version": "1",
            "description": "Long-running tasks that people watch. Refusals are application/problem+json, each with a code (`WL0003`) whose page is at /errors/{code}. A field or parameter that is not in this document is refused.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token of `windlass token create`: its holder is the principal of that name. Without a token the caller is the principal `local`, a user."},
                "operator": {"type": "http", "scheme": "bearer", "description": "A token of the role `operator`, or the one of `host.json` in the data folder."},
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": path_schema(name)}))
        .collect();
    parameters.extend(route.params.iter().map(|param| parameter(param, "query")));
    parameters.extend(route.headers.iter().map(|param| parameter(param, "header")));
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.about,
        "responses": responses(route),
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = body(route.body) {
        operation["requestBody"] = body;
    }
    operation["security"] =
        if route.operators { json!([{"operator": []}]) } else { json!([{}, {"token": []}, {"operator": []}]) };
    operation
}

fn path_schema(name: &str) -> Value {
    match name {
        "id" => json!({"$ref": "#/components/schemas/TaskId"}),
        "token" => json!({"type": "string", "pattern": "^([1-9][0-9]*|[a-z][a-z0-9_-]{0,63})$"}),
        "artifact" => json!({"type": "string", "pattern": "^a[0-9]+$"}),
        _ => json!({"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"}),
    }
}

fn parameter(param: &Param, place: &str) -> Value {
    let schema: Value = serde_json::from_str(param.schema).unwrap_or_default();
    json!({"name": param.name, "in": place, "description": param.about, "schema": schema})
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn body(body: Body) -> Option<Value> {
    match body {
        Body::None => None,
        Body::Json(schema) => Some(json!({
            "required": true,
            "description": "At most 1 MiB.",
            "content": {"application/json": {"schema": reference(schema)}},
        })),
        Body::Wasm => Some(json!({
            "required": true,
            "description": "A WebAssembly component of at most 64 MiB.",
            "content": {"application/wasm": {}},
        })),
    }
}

fn responses(route: &Route) -> Value {
    let mut responses = BTreeMap::new();
    for (status, about, carries) in route.answers {
        let content = match carries {
            Carries::Nothing => None,
            Carries::Json(schema) => Some(json!({"application/json": {"schema": reference(schema)}})),
            Carries::Events => Some(json!({"text/event-stream": {"schema": {"type": "string"}}})),
            Carries::File => Some(json!({"*/*": {}})),
        };
        let mut answer = json!({"description": about});
        if let Some(content) = content {
            answer["content"] = content;
        }
        responses.insert(status.to_string(), answer);
    }
    let mut refusals: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for (status, code) in route.refusals.iter().chain(common(route)) {
        refusals.entry(*status).or_default().push(code);
    }
    for (status, mut codes) in refusals {
        codes.sort_unstable();
        responses.insert(
            status.to_string(),
            json!({
                "description": codes.join(", "),
                "content": {"application/problem+json": {"schema": reference("Problem")}},
            }),
        );
    }
    json!(responses)
}

/// What the guard, the checks of the table and the body reader may answer.
fn common(route: &Route) -> impl Iterator<Item = &'static (u16, &'static str)> {
    const ALL: &[(u16, &str)] = &[(401, "WL0105"), (403, "WL0103"), (403, "WL0104"), (422, "WL0110")];
    const JSON: &[(u16, &str)] = &[(400, "WL0107"), (400, "WL0111"), (413, "WL0108"), (415, "WL0106"), (422, "WL0109")];
    const WASM: &[(u16, &str)] = &[(400, "WL0111"), (413, "WL0108"), (415, "WL0106")];
    const OPERATORS: &[(u16, &str)] = &[(403, "WL0017")];
    let body = match route.body {
        Body::None => &[],
        Body::Json(_) => JSON,
        Body::Wasm => WASM,
    };
    ALL.iter().chain(body).chain(if route.operators { OPERATORS } else { &[] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_document_in_the_tree_is_the_one_that_is_served() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let mut now = serde_json::to_string_pretty(&document()).unwrap();
        now.push('\n');
        if std::env::var_os("WINDLASS_BLESS").is_some() {
            std::fs::write(&golden, &now).unwrap();
        }
        let kept = std::fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            kept == now,
            "the API changed: look at it, then run this test with WINDLASS_BLESS=1 and commit docs/openapi.json"
        );
    }

    #[test]
    fn every_route_is_in_the_document_once_with_an_answer() {
        let document = document();
        let mut ids = std::collections::HashSet::new();
        for route in ROUTES {
            let operation = &document["paths"][route.path][route.method.to_lowercase()];
            assert_eq!(operation["operationId"], route.id);
            assert!(ids.insert(route.id), "{} stands twice", route.id);
            assert!(!route.answers.is_empty(), "{}", route.id);
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        let document = document();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let mut used = std::collections::HashSet::new();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name} is missing");
            used.insert(name);
        }
        for name in schemas.keys() {
            assert!(used.contains(name.as_str()) || name == "Record", "{name} is not used");
        }
    }

    #[test]
    fn every_refusal_has_the_status_of_its_code() {
        let edge = super::super::problem::EdgeError::one_of_each();
        let runtime = super::super::errors::runtime_errors();
        let specs: Vec<_> = edge
            .iter()
            .map(super::super::problem::EdgeError::spec)
            .chain(runtime.iter().map(windlass_runtime::Error::spec))
            .collect();
        for route in ROUTES {
            for (status, code) in route.refusals.iter().chain(common(route)) {
                let spec = specs.iter().find(|spec| spec.code == *code).expect(code);
                assert_eq!(spec.http, *status, "{code} at {}", route.id);
            }
        }
    }

    #[test]
    fn every_parameter_has_a_schema_that_reads() {
        for param in ROUTES.iter().flat_map(|route| route.params.iter().chain(route.headers)) {
            assert!(
                serde_json::from_str::<Value>(param.schema).is_ok_and(|schema| schema.is_object()),
                "{}",
                param.name
            );
        }
    }
}
