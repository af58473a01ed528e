//! One script in one QuickJS: from its text to its outcome.

use crate::report::Report;
use crate::{Source, calls, native, outcome};
use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Module, Object, Persistent, Promise, Runtime, Value as Js,
};
use serde_json::json;
use std::cell::Cell;
use std::rc::Rc;
use windlass::bindings::exports::windlass::plugin::tool::{Failure, Turn};
use windlass::bindings::windlass::plugin::types::Outcome;

/// Bytes that one value of a script may have: a larger one is an error that names its line. All of them together are the
/// host's to limit, which ends the turn.
const MEMORY: usize = 96 << 20;
/// Stack that a script may have, in bytes of the component's own stack (2 MiB). What QuickJS needs of the thread's stack,
/// at whose end the host traps (2 MiB), grows beside it, about twice as fast.
const STACK: usize = 700 << 10;
/// Stands before the first line of a script; a column there is less by this.
const BEFORE: &str = "(async () => {";

/// The API of the JavaScript SDK, which is what scripts see: each module after those that it imports. The last one makes it.
const API: [(&str, &str); 9] = [
    ("windlass:api/values.js", include_str!("../../../sdk/js/src/api/values.js")),
    ("windlass:api/time.js", include_str!("../../../sdk/js/src/api/time.js")),
    ("windlass:api/options.js", include_str!("../../../sdk/js/src/api/options.js")),
    ("windlass:api/log.js", include_str!("../../../sdk/js/src/api/log.js")),
    ("windlass:api/task.js", include_str!("../../../sdk/js/src/api/task.js")),
    ("windlass:api/locators.js", include_str!("../../../sdk/js/src/api/locators.js")),
    ("windlass:api/pages.js", include_str!("../../../sdk/js/src/api/pages.js")),
    ("windlass:api/recording.js", include_str!("../../../sdk/js/src/api/recording.js")),
    ("windlass:api/index.js", include_str!("../../../sdk/js/src/api/index.js")),
];

/// The function of the API that hears of each rejected promise.
type Watcher = Rc<Cell<Option<Persistent<Function<'static>>>>>;

/// Runs a script to its end.
pub(crate) fn run(source: &Source, turn: &Turn) -> Result<Outcome, Failure> {
    let broken = |error: rquickjs::Error| Failure {
        code: "internal".into(),
        message: format!("the engine of scripts can't start: {error}"),
        details: None,
    };
    let runtime = Runtime::new().map_err(broken)?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    // While a script runs the runtime can't be told anything: so the watcher comes first, and its function later.
    let watcher = Watcher::default();
    let watched = watcher.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
        let function = watched.take();
        watched.set(function.clone());
        if let Some(function) = function {
            let note = || function.restore(&ctx)?.call::<_, ()>((promise, reason, handled));
            // It can fail for want of memory only, of which the script hears anyway.
            let _: rquickjs::Result<()> = note();
        }
    })));
    let context = Context::full(&runtime).map_err(broken)?;
    let report = Report { file: &source.file, text: &source.text, shift: BEFORE.len(), known: source.known };
    let done = context.with(|ctx| Script { ctx: &ctx, report: &report }.run(&watcher, source, turn));
    // All of it goes with the instance; taking it apart piece by piece would be work for nothing.
    std::mem::forget((context, runtime));
    done
}

struct Script<'a, 'js> {
    ctx: &'a Ctx<'js>,
    report: &'a Report<'a>,
}

impl<'js> Script<'_, 'js> {
    fn run(&self, watcher: &Watcher, source: &Source, turn: &Turn) -> Result<Outcome, Failure> {
        let api = self.api(source, turn).catch(self.ctx).map_err(|error| self.failure(error))?;
        let rejected = api.get::<_, Function>("rejected").catch(self.ctx).map_err(|error| self.failure(error))?;
        watcher.set(Some(Persistent::save(self.ctx, rejected)));
        let text = match source.text.strip_prefix("#!") {
            Some(rest) => format!("{BEFORE}//{rest}\n}})()"),
            None => format!("{BEFORE}{}\n}})()", source.text),
        };
        let promise: Promise = self.eval(&text, &source.file).catch(self.ctx).map_err(|error| self.syntax(error))?;
        let returned = self.settle(&promise, &api)?;
        let finish = || -> rquickjs::Result<String> { api.get::<_, Function>("finish")?.call((returned,)) };
        let json = finish().catch(self.ctx).map_err(|error| self.failure(error))?;
        Ok(outcome::of(&serde_json::from_str(&json).unwrap_or_default()))
    }

    fn eval<V: rquickjs::FromJs<'js>>(&self, text: &str, file: &str) -> rquickjs::Result<V> {
        let mut options = EvalOptions::default();
        options.filename = Some(file.to_owned());
        self.ctx.eval_with_options(text, options)
    }

    fn api(&self, source: &Source, turn: &Turn) -> rquickjs::Result<Object<'js>> {
        let facts = json!({
            "taskId": turn.task_id, "number": turn.number, "tool": turn.tool,
            "file": source.file, "shift": BEFORE.len(),
            "message": turn.message.clone().map(calls::message), "input": source.input,
        });
        let [modules @ .., (name, index)] = API;
        for (name, text) in modules {
            Module::declare(self.ctx.clone(), name, text)?;
        }
        let (module, done) = Module::declare(self.ctx.clone(), name, index)?.eval()?;
        done.finish::<()>()?;
        let build: Function = module.get("default")?;
        let api: Object =
            build.call((native::object(self.ctx, turn.seed)?, self.ctx.json_parse(facts.to_string())?))?;
        api.get::<_, Function>("install")?.call::<_, ()>(())?;
        Ok(api)
    }

    /// Runs jobs and timers until the promise of the script is settled, and nothing was rejected that nobody handles.
    fn settle(&self, promise: &Promise<'js>, api: &Object<'js>) -> Result<Js<'js>, Failure> {
        let call = |name: &str| api.get::<_, Function>(name);
        loop {
            while self.ctx.execute_pending_job() {}
            if promise.state() == PromiseState::Rejected {
                let _ = promise.result::<Js>();
                return Err(self.report.of(self.ctx, self.rejection(promise)));
            }
            let unhandled = || -> rquickjs::Result<Vec<Js<'js>>> { call("unhandled")?.call(()) };
            let unhandled = unhandled().catch(self.ctx).map_err(|error| self.failure(error))?;
            if let Some(reason) = unhandled.into_iter().next() {
                return Err(self.report.unhandled(self.ctx, reason));
            }
            if promise.state() == PromiseState::Resolved {
                return promise
                    .result()
                    .unwrap_or_else(|| Ok(Js::new_undefined(self.ctx.clone())))
                    .catch(self.ctx)
                    .map_err(|error| self.failure(error));
            }
            let tick = || -> rquickjs::Result<bool> { call("tick")?.call(()) };
            if !tick().catch(self.ctx).map_err(|error| self.failure(error))? {
                // A job that finds no memory ends without a word, and what it had to settle waits on.
                let probe = self.eval::<Js>("Array.from({ length: 1000 }, () => ({}))", "probe");
                let exhausted = probe.catch(self.ctx).is_err();
                return Err(self.report.stuck(exhausted));
            }
        }
    }

    fn rejection(&self, promise: &Promise<'js>) -> Js<'js> {
        match promise.result::<Js>() {
            Some(Err(rquickjs::Error::Exception)) => self.ctx.catch(),
            _ => Js::new_undefined(self.ctx.clone()),
        }
    }

    fn syntax(&self, error: CaughtError<'js>) -> Failure {
        let mut failure = self.failure(error);
        if failure.code == "script-error" {
            failure.code = "syntax-error".into();
        }
        failure
    }

    fn failure(&self, error: CaughtError<'js>) -> Failure {
        match error {
            CaughtError::Exception(exception) => self.report.of(self.ctx, exception.into_object().into_value()),
            CaughtError::Value(value) => self.report.of(self.ctx, value),
            CaughtError::Error(error) => self.report.plain("internal", error.to_string()),
        }
    }
}
