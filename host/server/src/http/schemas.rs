//! The JSON Schemas of the API: the record, the views, the bodies.

use serde_json::{Value, json};
use windlass_core::{Cause, Kind, Status, TaskSupport, WaitingFor};

fn of(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn list(name: &str) -> Value {
    json!({"type": "array", "items": of(name)})
}

fn nullable(schema: &Value) -> Value {
    json!({"oneOf": [schema, {"type": "null"}]})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn seq() -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64})
}

/// An answer: readers ignore fields they don't know, so none is forbidden.
fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// A body: a field that is not known is refused.
fn body(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// All of them by name.
pub(super) fn all() -> Value {
    let mut all = json!({});
    for part in [words(), tasks(), bodies(), plugins(), tokens()] {
        if let (Some(all), Value::Object(part)) = (all.as_object_mut(), part) {
            all.extend(part);
        }
    }
    all
}

fn words() -> Value {
    let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    json!({
        "Any": {},
        "TaskId": {"type": "string", "format": "uuid", "description": "A UUIDv7, lower-case and hyphenated."},
        "Kind": {"type": "string", "enum": kinds, "description": "What a record is. Readers ignore kinds they don't know."},
        "Status": {"type": "string", "enum": Status::ALL.map(Status::as_str)},
        "WaitingFor": {"type": "string", "enum": WaitingFor::ALL.map(WaitingFor::as_str)},
        "Cause": {"type": "string", "enum": Cause::ALL.map(Cause::as_str)},
        "Record": {
            "type": "object",
            "description": "One entry of a task's log. `text` alone is enough to show the run.",
            "required": ["taskId", "seq", "time", "turn", "kind", "text", "data"],
            "properties": {
                "taskId": of("TaskId"),
                "seq": {"type": "integer", "minimum": 1, "maximum": 4_294_967_295_u64, "description": "1, then exactly one more each, over turns and restarts."},
                "time": {"type": "string", "format": "date-time", "description": "UTC, milliseconds. Never orders; `seq` does."},
                "turn": {"type": "integer", "minimum": 1},
                "kind": {"type": "string", "description": "A `Kind`, or one that this document does not know yet."},
                "text": {"type": "string", "description": "One human line."},
                "data": {"type": "object", "description": "The rest, by kind."},
            },
        },
        "Problem": object(&["type", "title", "status", "detail", "code"], &json!({
            "type": {"type": "string", "format": "uri-reference", "description": "The page of the code: cause and cure."},
            "title": text(),
            "status": {"type": "integer"},
            "detail": text(),
            "code": {"type": "string", "pattern": "^WL[0-9]{4}$"},
            "violations": {"type": "array", "items": object(&["path", "rule", "message"], &json!({
                "path": {"type": "string", "description": "A JSON Pointer."},
                "rule": text(),
                "message": text(),
            }))},
            "askFirst": of("AskFirst"),
        })),
        "Alive": object(&["status", "version", "pid"], &json!({"status": {"const": "ok"}, "version": text(), "pid": {"type": "integer"}})),
        "Ready": object(&["ready", "store", "browser"], &json!({
            "ready": {"type": "boolean"},
            "store": {"type": "string", "description": "`ok`, or why not."},
            "browser": {"type": "string", "description": "`runs`, `ok` (starts with the first page), or why no page can be opened. The host is ready without."},
            "turns": {"type": "integer", "description": "Open turns of this host, running or waiting."},
            "parkedTurns": {"type": "integer"},
            "freeSlots": {"type": "integer"},
            "openContexts": {"type": "integer"},
        })),
    })
}

fn tasks() -> Value {
    json!({
        "Tool": object(&["name", "description", "plugin", "inputSchema", "taskSupport"], &json!({
            "name": text(),
            "title": nullable(&text()),
            "description": text(),
            "plugin": text(),
            "inputSchema": {"type": "object", "description": "JSON Schema 2020-12."},
            "outputSchema": nullable(&json!({"type": "object"})),
            "annotations": {"type": "object"},
            "taskSupport": {"enum": TaskSupport::ALL.map(TaskSupport::as_str), "description": "Whether a call over MCP may, must or can't be taken as a task. Here each call is one."},
            "askFirst": nullable(&of("AskFirst")),
        })),
        "AskFirst": object(&["key", "message", "schema"], &json!({
            "key": text(),
            "message": text(),
            "schema": {"type": "object", "description": "A flat form. A call over HTTP has its fields in the input; without those that it requires it is refused with WL0030."},
        })),
        "Tools": object(&["tools"], &json!({"tools": list("Tool")})),
        "Task": object(&["id", "tool", "plugin", "principal", "status", "turn", "open", "archived", "createdAt", "updatedAt", "firstSeq", "lastSeq"], &json!({
            "id": of("TaskId"),
            "tool": text(),
            "plugin": text(),
            "title": nullable(&text()),
            "principal": text(),
            "status": of("Status"),
            "waitingFor": nullable(&of("WaitingFor")),
            "cause": nullable(&of("Cause")),
            "statusMessage": nullable(&text()),
            "turn": {"type": "integer", "minimum": 1},
            "open": {"type": "boolean", "description": "The newest turn is open."},
            "archived": {"type": "boolean"},
            "createdAt": time(),
            "updatedAt": time(),
            "endedAt": nullable(&time()),
            "timeoutMs": nullable(&json!({"type": "integer"})),
            "firstSeq": seq(),
            "lastSeq": seq(),
            "input": {"type": "object", "description": "This and what follows only where one task is shown."},
            "questions": list("Question"),
            "outcome": {"type": ["object", "null"], "description": "`content`, `structured`, `question` of the newest turn."},
            "failure": {"type": ["object", "null"], "description": "`code`, `message`, `details` of the newest turn."},
            "artifacts": {"type": "array", "items": {"type": "object"}},
        })),
        "Question": object(&["key", "message", "schema", "peopleOnly"], &json!({
            "key": {"type": "string", "description": "`t{turn}.{key}`"},
            "message": text(),
            "schema": {"type": "object", "description": "A flat form: an object of strings, numbers, booleans and choices."},
            "peopleOnly": {"type": "boolean"},
            "expiresAt": nullable(&time()),
        })),
        "TaskPage": object(&["tasks"], &json!({"tasks": list("Task"), "nextCursor": nullable(&text())})),
        "EventsPage": object(&["records", "firstSeq", "lastSeq", "nextAfter", "hasMore", "open"], &json!({
            "records": list("Record"),
            "firstSeq": seq(),
            "lastSeq": seq(),
            "nextAfter": {"type": "integer", "description": "`after` of the next call."},
            "hasMore": {"type": "boolean", "description": "More are there already."},
            "open": {"type": "boolean", "description": "A turn is open: more may come."},
        })),
        "Files": object(&["files"], &json!({"files": {"type": "array", "items": object(&["path", "size", "modifiedAt"], &json!({
            "path": {"type": "string", "description": "Below `/workdir`."},
            "size": {"type": "integer"},
            "modifiedAt": time(),
        }))}})),
        "Continued": object(&["messageId"], &json!({"messageId": {"type": "integer", "minimum": 1}})),
    })
}

fn bodies() -> Value {
    json!({
        "CreateTask": body(&["tool"], &json!({
            "tool": text(),
            "input": {"type": "object", "default": {}, "description": "As the tool's `inputSchema` has it."},
            "title": {"type": ["string", "null"], "maxLength": 200},
            "timeoutMs": {"type": ["integer", "null"], "minimum": 1, "maximum": 9_007_199_254_740_992_u64, "description": "Time each turn of the task may take."},
        })),
        "ContinueTask": body(&["text"], &json!({"text": text()})),
        "AnswerQuestions": body(&["answers"], &json!({"answers": {
            "type": "object",
            "minProperties": 1,
            "description": "By the keys of open questions.",
            "additionalProperties": body(&["action"], &json!({
                "action": {"enum": ["accept", "decline", "cancel"]},
                "content": {"type": ["object", "null"], "description": "The filled form; with `accept` only."},
            })),
        }})),
        "ArchiveTask": body(&[], &json!({"archived": {"type": "boolean", "default": true}})),
        "FailTask": body(&[], &json!({"message": {"type": ["string", "null"]}})),
        "SetSecret": body(&["value"], &json!({
            "value": {"type": "string", "minLength": 1, "maxLength": 65536, "writeOnly": true},
            "origins": {"type": ["array", "null"], "items": text(), "description": "Where it may be sent; a new version without keeps those it has."},
        })),
        "CreateToken": body(&["name"], &json!({
            "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$", "description": "The principal that its holder is."},
            "role": {"enum": ["user", "operator"], "default": "user"},
            "ttlMs": {"type": ["integer", "null"], "minimum": 1, "maximum": 315_360_000_000_u64, "description": "When it ends by itself; none: when it is revoked."},
        })),
        "PatchPlugin": body(&[], &json!({
            "enabled": {"type": ["boolean", "null"]},
            "grants": {"type": ["array", "null"], "items": text(), "description": "Permission lines; they replace those that are there."},
        })),
    })
}

fn plugins() -> Value {
    let lines = json!({"type": "array", "items": {"type": "string", "examples": ["browser https://shop.example"]}});
    json!({
        "Plugin": object(&["name", "version", "description", "digest", "size", "enabled", "builtIn", "tools", "permissions", "grants", "addedAt"], &json!({
            "name": text(),
            "version": text(),
            "description": text(),
            "digest": {"type": "string", "description": "SHA-256 of the component."},
            "size": {"type": "integer"},
            "enabled": {"type": "boolean"},
            "builtIn": {"type": "boolean"},
            "tools": {"type": "array", "items": text()},
            "permissions": lines,
            "grants": lines,
            "addedAt": time(),
        })),
        "Secret": object(&["name", "version", "origins", "createdAt", "updatedAt"], &json!({
            "name": text(),
            "version": {"type": "integer", "minimum": 1, "description": "One more with each value."},
            "origins": {"type": "array", "items": {"type": "string", "examples": ["https://shop.example"]}},
            "createdAt": time(),
            "updatedAt": time(),
        })),
        "Secrets": object(&["secrets"], &json!({"secrets": list("Secret")})),
        "Plugins": object(&["plugins"], &json!({"plugins": list("Plugin")})),
    })
}

fn tokens() -> Value {
    let fields = json!({
        "id": {"type": "integer", "minimum": 1},
        "name": {"type": "string", "description": "The principal that its holder is."},
        "role": {"enum": ["user", "operator"]},
        "state": {"enum": ["active", "expired", "revoked"]},
        "createdAt": time(),
        "expiresAt": nullable(&time()),
        "lastUsedAt": nullable(&time()),
        "revokedAt": nullable(&time()),
    });
    let mut new = fields.clone();
    new["token"] =
        json!({"type": "string", "description": "What to send as `Authorization: Bearer`; answered this once."});
    json!({
        "Token": object(&["id", "name", "role", "state", "createdAt"], &fields),
        "NewToken": object(&["id", "name", "role", "state", "createdAt", "token"], &new),
        "Tokens": object(&["tokens"], &json!({"tokens": list("Token")})),
    })
}
