//! Tasks run here: plugins are components, a turn is one execution of a plugin's `run`.
//!
//! Owns: the engine, the registry of plugins, the life of tasks and turns, the host functions. Leaves to others: the
//! database (`windlass-store`), Chromium (`windlass-browser`), and the ways in (the server).

mod answer;
mod bindings;
pub mod clock;
mod compile;
mod control;
mod ending;
mod engine;
mod error;
mod fetch;
mod halt;
mod host;
mod inspect;
mod interface;
mod keeping;
mod life;
mod masks;
mod pages;
mod park;
mod passing;
mod queue;
mod records;
mod registry;
mod retry;
mod runner;
mod schema;
mod services;
mod stamp;
mod step;
mod taint;
mod tokens;
mod tuning;
mod turn;
mod vault;
mod view;
mod watch;
mod windlass;
mod workdir;

pub use compile::{Compiling, compile_component};
pub use error::{Error, Refusal, Spec, Violation};
pub use fetch::Authorities;
pub use stamp::{Beside, check, outline, stamp};
pub use tokens::{Access, Lease, NewToken, TokenView};
pub use tuning::Tuning;
pub use view::{
    Action, ArtifactFile, Caller, CreateTask, Created, EventsPage, FileView, OpenFile, PluginView, QuestionView,
    SecretView, TaskDetails, TaskPage, TaskView, ToolView, TurnView,
};
pub use windlass::{Follow, Health, ListTasks, Options, PatchPlugin, SetSecret, Windlass};
