//! Every route of the API in one table: the router, the checks before a handler and the OpenAPI document are made of it.

use super::{App, artifacts, events, files, follow, health, openapi, plugins, secrets, tasks, tokens, watch};
use axum::routing::{MethodRouter, delete, get, patch, post, put};

/// What a route takes as its body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Nothing; whatever is sent is not read.
    None,
    /// JSON of this schema.
    Json(&'static str),
    /// A component.
    Wasm,
}

impl Body {
    /// What `Content-Type` has to say.
    pub(super) fn media_type(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json(_) => Some("application/json"),
            Self::Wasm => Some("application/wasm"),
        }
    }
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: &'static str,
    /// JSON text of its schema.
    pub(crate) schema: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
}

const fn param(name: &'static str, schema: &'static str, about: &'static str) -> Param {
    Param { name, schema, about }
}

/// What an answer carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carries {
    /// Nothing.
    Nothing,
    /// JSON of this schema.
    Json(&'static str),
    /// Server-sent events.
    Events,
    /// A file.
    File,
}

/// One route.
pub(crate) struct Route {
    /// Its method.
    pub(crate) method: &'static str,
    /// Its path, with `{names}`.
    pub(crate) path: &'static str,
    /// `operationId`.
    pub(crate) id: &'static str,
    /// One line.
    pub(crate) about: &'static str,
    /// Needs the token of an operator.
    pub(crate) operators: bool,
    /// Its query parameters; any other is refused.
    pub(crate) params: &'static [Param],
    /// Its request headers of its own.
    pub(crate) headers: &'static [Param],
    /// Its body.
    pub(crate) body: Body,
    /// What it answers where all is well.
    pub(crate) answers: &'static [(u16, &'static str, Carries)],
    /// The codes of its own refusals, beside those that any route may answer.
    pub(crate) refusals: &'static [(u16, &'static str)],
    /// What runs.
    pub(crate) handler: fn() -> MethodRouter<App>,
}

const AFTER: Param = param(
    "after",
    r#"{"type":"integer","minimum":0,"maximum":4294967295,"default":0}"#,
    "The `seq` of the last record you hold; exclusive.",
);
const LAST_EVENT_ID: Param = param("Last-Event-ID", r#"{"type":"string"}"#, "The same as `after`; wins over it.");
const TASK_MOVE: &[(u16, &str)] = &[(404, "WL0003"), (409, "WL0004")];

/// A route of the table; what is not said is nothing.
const fn route(
    method: &'static str,
    path: &'static str,
    id: &'static str,
    about: &'static str,
    handler: fn() -> MethodRouter<App>,
) -> Route {
    Route {
        method,
        path,
        id,
        about,
        handler,
        operators: false,
        params: &[],
        headers: &[],
        body: Body::None,
        answers: &[],
        refusals: &[],
    }
}

/// The table.
pub(crate) static ROUTES: &[Route] = &[
    Route {
        answers: &[(200, "The tools that can be called.", Carries::Json("Tools"))],
        ..route("GET", "/api/v1/tools", "listTools", "Tools with their schemas.", || get(tasks::tools))
    },
    Route {
        headers: &[param(
            "Idempotency-Key",
            r#"{"type":"string","minLength":1,"maxLength":255}"#,
            "The same key and body within 24 h answer the same task again, with `Idempotency-Replayed: true`.",
        )],
        body: Body::Json("CreateTask"),
        answers: &[(201, "The task; `Location` has its address.", Carries::Json("Task"))],
        refusals: &[
            (404, "WL0001"),
            (422, "WL0002"),
            (422, "WL0008"),
            (422, "WL0011"),
            (422, "WL0030"),
            (507, "WL0040"),
        ],
        ..route("POST", "/api/v1/tasks", "createTask", "Calls a tool: makes a task and opens its first turn.", || {
            post(tasks::create)
        })
    },
    Route {
        params: &[
            param(
                "status",
                r#"{"enum":["working","input_required","completed","failed","cancelled"]}"#,
                "Only tasks that show this status.",
            ),
            param("tool", r#"{"type":"string"}"#, "Only calls of this tool."),
            param(
                "archived",
                r#"{"enum":["false","true","all"],"default":"false"}"#,
                "Those put aside too, or only those.",
            ),
            param(
                "q",
                r#"{"type":"string","maxLength":200}"#,
                "This text stands in title, tool or id, whatever the case.",
            ),
            param("cursor", r#"{"type":"string"}"#, "`nextCursor` of the page before."),
            param("limit", r#"{"type":"integer","minimum":1,"maximum":200,"default":50}"#, "Tasks on a page."),
        ],
        answers: &[(200, "A page, newest first.", Carries::Json("TaskPage"))],
        ..route("GET", "/api/v1/tasks", "listTasks", "The tasks you may see.", || get(tasks::list))
    },
    Route {
        answers: &[(200, "The task with its details.", Carries::Json("Task"))],
        refusals: &[(404, "WL0003")],
        ..route("GET", "/api/v1/tasks/{id}", "getTask", "One task.", || get(tasks::show))
    },
    Route {
        answers: &[(204, "It is gone, with log and files.", Carries::Nothing)],
        refusals: TASK_MOVE,
        ..route("DELETE", "/api/v1/tasks/{id}", "deleteTask", "Deletes a task without an open turn.", || {
            delete(tasks::remove)
        })
    },
    Route {
        body: Body::Json("ContinueTask"),
        answers: &[(202, "Taken by the open turn, or opens the next.", Carries::Json("Continued"))],
        refusals: &[(404, "WL0003"), (409, "WL0004"), (422, "WL0011")],
        ..route("POST", "/api/v1/tasks/{id}/continue", "continueTask", "Sends a follow-up.", || post(tasks::proceed))
    },
    Route {
        body: Body::Json("AnswerQuestions"),
        answers: &[(200, "The task after the answer.", Carries::Json("Task"))],
        refusals: &[(404, "WL0003"), (409, "WL0004"), (404, "WL0009"), (422, "WL0010")],
        ..route(
            "POST",
            "/api/v1/tasks/{id}/input",
            "answerTask",
            "Answers open questions: all that are sent, or none.",
            || post(tasks::answer),
        )
    },
    Route {
        answers: &[(202, "Asked for; the log says how it ends.", Carries::Json("Task"))],
        refusals: TASK_MOVE,
        ..route("POST", "/api/v1/tasks/{id}/cancel", "cancelTask", "Asks the open turn to stop.", || {
            post(tasks::cancel)
        })
    },
    Route {
        body: Body::Json("ArchiveTask"),
        answers: &[(200, "The task.", Carries::Json("Task"))],
        refusals: TASK_MOVE,
        ..route("POST", "/api/v1/tasks/{id}/archive", "archiveTask", "Puts a task aside, or takes it back.", || {
            post(tasks::archive)
        })
    },
    Route {
        operators: true,
        answers: &[(200, "The task.", Carries::Json("Task"))],
        refusals: TASK_MOVE,
        ..route(
            "POST",
            "/api/v1/tasks/{id}/retry",
            "retryTask",
            "Runs a turn again that waits for an operator.",
            || post(tasks::retry),
        )
    },
    Route {
        operators: true,
        body: Body::Json("FailTask"),
        answers: &[(200, "The task.", Carries::Json("Task"))],
        refusals: TASK_MOVE,
        ..route("POST", "/api/v1/tasks/{id}/fail", "failTask", "Gives up a turn that waits for an operator.", || {
            post(tasks::fail)
        })
    },
    Route {
        params: &[
            AFTER,
            param("limit", r#"{"type":"integer","minimum":1,"maximum":1000,"default":200}"#, "Records at most."),
            param(
                "waitMs",
                r#"{"type":"integer","minimum":0,"maximum":60000,"default":0}"#,
                "Waits so long for a first record.",
            ),
            param(
                "kind",
                r##"{"type":"array","items":{"$ref":"#/components/schemas/Kind"}}"##,
                "Only records of these kinds; may be repeated.",
            ),
        ],
        answers: &[(200, "A page of the log.", Carries::Json("EventsPage"))],
        refusals: &[(400, "WL0005"), (404, "WL0003"), (409, "WL0006"), (410, "WL0007")],
        ..route(
            "GET",
            "/api/v1/tasks/{id}/events",
            "pollEvents",
            "Records after a cursor, at once or as they come.",
            || get(events::poll),
        )
    },
    Route {
        params: &[
            AFTER,
            param(
                "until",
                r#"{"enum":["turn","never"],"default":"turn"}"#,
                "`turn` closes when no turn is open; `never` stays for later turns.",
            ),
        ],
        headers: &[LAST_EVENT_ID],
        answers: &[
            (200, "Events `record` (`id` is the `seq`), `task`, `caught-up`, `end`, `gone`, `reset`.", Carries::Events),
            (204, "No turn is open and nothing is left after the cursor.", Carries::Nothing),
        ],
        refusals: &[(400, "WL0005"), (404, "WL0003")],
        ..route("GET", "/api/v1/tasks/{id}/events/stream", "followTask", "The log, live.", || get(follow::stream))
    },
    Route {
        answers: &[(200, "The file, as an attachment unless it is a picture or plain text.", Carries::File)],
        refusals: &[(404, "WL0003"), (404, "WL0012")],
        ..route("GET", "/api/v1/tasks/{id}/artifacts/{artifact}", "getArtifact", "A stored file.", || {
            get(artifacts::serve)
        })
    },
    Route {
        answers: &[(200, "The files by path.", Carries::Json("Files"))],
        refusals: &[(404, "WL0003")],
        ..route(
            "GET",
            "/api/v1/tasks/{id}/files",
            "listFiles",
            "Files of the workdir: in the open turn, or as the newest left them.",
            || get(files::list),
        )
    },
    Route {
        params: &[param("path", r#"{"type":"string"}"#, "As `listFiles` has it, below `/workdir`.")],
        answers: &[(200, "The file, as an attachment.", Carries::File)],
        refusals: &[(404, "WL0003"), (404, "WL0033")],
        ..route("GET", "/api/v1/tasks/{id}/file", "getFile", "A file of the workdir.", || get(files::serve))
    },
    Route {
        answers: &[(200, "Events `task`, `caught-up`, `deleted`, `reset`.", Carries::Events)],
        ..route(
            "GET",
            "/api/v1/events/stream",
            "watchTasks",
            "The open tasks you may see, then every change of any.",
            || get(watch::stream),
        )
    },
    Route {
        operators: true,
        answers: &[(200, "The plugins.", Carries::Json("Plugins"))],
        ..route("GET", "/api/v1/plugins", "listPlugins", "Installed plugins.", || get(plugins::list))
    },
    Route {
        operators: true,
        params: &[param(
            "grant",
            r#"{"type":"array","items":{"type":"string"}}"#,
            "A permission line; may be repeated. One empty line grants nothing and enables. Without any it is installed disabled.",
        )],
        body: Body::Wasm,
        answers: &[(201, "The plugin; `Location` has its address.", Carries::Json("Plugin"))],
        refusals: &[(422, "WL0014")],
        ..route("POST", "/api/v1/plugins", "addPlugin", "Installs a plugin, or a new version of one.", || {
            post(plugins::add)
        })
    },
    Route {
        operators: true,
        answers: &[(200, "The plugin.", Carries::Json("Plugin"))],
        refusals: &[(404, "WL0013")],
        ..route("GET", "/api/v1/plugins/{name}", "getPlugin", "One plugin.", || get(plugins::show))
    },
    Route {
        operators: true,
        body: Body::Json("PatchPlugin"),
        answers: &[(200, "The plugin.", Carries::Json("Plugin"))],
        refusals: &[(404, "WL0013"), (422, "WL0014")],
        ..route("PATCH", "/api/v1/plugins/{name}", "patchPlugin", "Enables, disables, and replaces the grants.", || {
            patch(plugins::change)
        })
    },
    Route {
        operators: true,
        answers: &[(204, "It is gone.", Carries::Nothing)],
        refusals: &[(404, "WL0013"), (409, "WL0015"), (409, "WL0016")],
        ..route("DELETE", "/api/v1/plugins/{name}", "removePlugin", "Removes a plugin that no open turn holds.", || {
            delete(plugins::remove)
        })
    },
    Route {
        operators: true,
        answers: &[(200, "The secrets, without what they say.", Carries::Json("Secrets"))],
        ..route("GET", "/api/v1/secrets", "listSecrets", "Secrets and what they are bound to.", || get(secrets::list))
    },
    Route {
        operators: true,
        body: Body::Json("SetSecret"),
        answers: &[
            (200, "The secret, with a new version.", Carries::Json("Secret")),
            (201, "The secret.", Carries::Json("Secret")),
        ],
        refusals: &[(422, "WL0011"), (503, "WL0032")],
        ..route("PUT", "/api/v1/secrets/{name}", "setSecret", "Keeps a secret, or a new version of one.", || {
            put(secrets::set)
        })
    },
    Route {
        operators: true,
        answers: &[(204, "It is gone, with all its versions.", Carries::Nothing)],
        refusals: &[(404, "WL0031")],
        ..route("DELETE", "/api/v1/secrets/{name}", "removeSecret", "Removes a secret.", || delete(secrets::remove))
    },
    Route {
        operators: true,
        answers: &[(200, "The tokens, those that ended too; never the secret itself.", Carries::Json("Tokens"))],
        ..route("GET", "/api/v1/tokens", "listTokens", "Tokens and when they were used.", || get(tokens::list))
    },
    Route {
        operators: true,
        body: Body::Json("CreateToken"),
        answers: &[(201, "The token, shown this once.", Carries::Json("NewToken"))],
        refusals: &[(409, "WL0021"), (422, "WL0011")],
        ..route("POST", "/api/v1/tokens", "createToken", "Makes a token, whose holder is a principal.", || {
            post(tokens::create)
        })
    },
    Route {
        operators: true,
        answers: &[(204, "It is not in force any more, and what it opened ends.", Carries::Nothing)],
        refusals: &[(404, "WL0020"), (422, "WL0011")],
        ..route("DELETE", "/api/v1/tokens/{token}", "revokeToken", "Revokes a token by its id or name.", || {
            delete(tokens::revoke)
        })
    },
    Route {
        answers: &[(200, "This document.", Carries::Json("Any"))],
        ..route("GET", "/api/v1/openapi.json", "getOpenApi", "The API as OpenAPI 3.1.", || get(openapi::serve))
    },
    Route {
        answers: &[(200, "The host answers.", Carries::Json("Alive"))],
        ..route("GET", "/healthz", "isAlive", "Whether the host is there.", || get(health::alive))
    },
    Route {
        answers: &[(200, "It takes tasks.", Carries::Json("Ready")), (503, "It can't.", Carries::Json("Ready"))],
        ..route("GET", "/readyz", "isReady", "Whether it can work, and what is missing.", || get(health::ready))
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_every_route() {
        let guide = include_str!("../../../../docs/http.md");
        for route in ROUTES {
            let row = format!("| `{} {}` |", route.method, route.path);
            assert!(guide.contains(&row), "{row}");
        }
    }
}
