//! Every scenario of the suite that revision 2026-07-28 or the tasks extension has, and what is expected of it.

/// What is expected of a scenario.
pub(crate) enum Plan {
    /// Every check passes.
    Whole,
    /// Every check passes but these, each with the reason. One of these that passes after all is a failure: the list
    /// would be out of date.
    But(&'static [(&'static str, &'static str)]),
    /// It does not apply, for this reason.
    Never(&'static str),
}

use Plan::{But, Never, Whole};

const PROMPTS: &str = "no prompts: not advertised";
const SAMPLING: &str = "Windlass asks a client for forms alone, never for its model or its roots";
const RESOURCES: &str = "reads a test:// resource of the server's own: those of Windlass are logs and files of tasks";

/// By name, in the order they run.
pub(crate) const SCENARIOS: &[(&str, Plan)] = &[
    (
        "server-stateless",
        But(&[
            ("sep-2575-server-rejects-undeclared-capability", SAMPLING),
            ("sep-2575-server-sends-prompts-list-changed-on-subscription", PROMPTS),
        ]),
    ),
    ("caching", But(&[("sep-2549-prompts-list-caching-hints", PROMPTS)])),
    ("server-sse-multiple-streams", Whole),
    ("dns-rebinding-protection", Whole),
    ("http-header-validation", Whole),
    ("http-custom-header-server-validation", Whole),
    ("tools-list", Whole),
    ("tools-call-simple-text", Whole),
    ("tools-call-image", Whole),
    ("tools-call-audio", Whole),
    ("tools-call-embedded-resource", Whole),
    ("tools-call-mixed-content", Whole),
    ("tools-call-error", Whole),
    ("tools-call-with-progress", Whole),
    ("resources-list", Whole),
    ("sep-2164-resource-not-found", Whole),
    ("input-required-result-basic-elicitation", Whole),
    ("input-required-result-request-state", Whole),
    ("input-required-result-missing-input-response", Whole),
    ("input-required-result-result-type", Whole),
    ("input-required-result-unsupported-methods", Whole),
    ("input-required-result-tampered-state", Whole),
    ("input-required-result-ignore-extra-params", Whole),
    ("input-required-result-validate-input", Whole),
    ("tasks-lifecycle", Whole),
    ("tasks-capability-negotiation", Whole),
    ("tasks-wire-fields", Whole),
    ("tasks-request-state-removal", Whole),
    ("tasks-mrtr-input", Whole),
    ("tasks-request-headers", Whole),
    ("tasks-dispatch-and-envelope", Whole),
    ("tasks-required-task-error", Whole),
    ("tasks-mrtr-composition", Whole),
    (
        "tasks-status-notifications",
        But(&[("tasks-status-notifications", "the suite skips it by itself: it was not rewritten for listen yet")]),
    ),
    ("server-initialize", Whole),
    ("server-session-lifecycle", Whole),
    ("ping", Whole),
    ("prompts-list", Never(PROMPTS)),
    ("prompts-get-simple", Never(PROMPTS)),
    ("prompts-get-with-args", Never(PROMPTS)),
    ("prompts-get-embedded-resource", Never(PROMPTS)),
    ("prompts-get-with-image", Never(PROMPTS)),
    ("input-required-result-non-tool-request", Never(PROMPTS)),
    ("completion-complete", Never("no completion: not advertised")),
    ("input-required-result-basic-sampling", Never(SAMPLING)),
    ("input-required-result-basic-list-roots", Never(SAMPLING)),
    ("input-required-result-multiple-input-requests", Never(SAMPLING)),
    ("input-required-result-capability-check", Never(SAMPLING)),
    (
        "input-required-result-multi-round",
        Never("a tool asks one form before its task exists; what it asks after that, the task asks"),
    ),
    ("resources-read-text", Never(RESOURCES)),
    ("resources-read-binary", Never(RESOURCES)),
    ("resources-templates-read", Never(RESOURCES)),
    (
        "json-schema-2020-12",
        Never(
            "wants a schema with $anchor: Windlass takes references that start with #/ alone, so that their size is bounded",
        ),
    ),
    ("sep-2640-skills-directory", Never("no skills: not advertised")),
    ("sep-2640-skills-enumeration", Never("no skills: not advertised")),
    ("sep-2640-skills-manifest", Never("no skills: not advertised")),
];
