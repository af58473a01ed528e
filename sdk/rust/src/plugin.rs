//! How tools become a plugin: the manifest, and the export that the host calls.

use std::io::Write;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Context, Error, Result,
    bindings::{
        exports::windlass::plugin::tool::{Failure, Turn},
        windlass::plugin::types::Outcome,
    },
    code,
    outcome::{IntoOutcome, Return},
    piece::{Piece, same},
    schema::Object,
    task,
};

/// The version of the contract that this SDK speaks.
pub const CONTRACT: &str = "0.1";

/// A function with the attribute [`tool`](crate::tool).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "give the function the attribute `#[windlass::tool]`"
)]
pub trait Tool {
    /// Its name in the manifest.
    const NAME: &'static str;
    /// Its entry in the manifest.
    #[doc(hidden)]
    const MANIFEST: &'static [Piece];
    /// The permissions that it needs.
    const PERMISSIONS: &'static [&'static str];
    /// Runs it with JSON.
    #[doc(hidden)]
    fn run(input: &str) -> Result<Outcome>;
}

/// A tool in the table of its plugin.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    name: &'static str,
    run: fn(&str) -> Result<Outcome>,
}

#[doc(hidden)]
pub const fn entry<T: Tool>() -> Entry {
    Entry { name: T::NAME, run: T::run }
}

/// Refuses what the host would refuse, when the plugin is compiled.
#[doc(hidden)]
pub const fn check(name: &str, tools: &[Entry]) {
    assert!(is_name(name), "the name of a plugin is `[a-z][a-z0-9_-]{{0,63}}`");
    let mut i = 0;
    while i < tools.len() {
        let mut j = 0;
        while j < i {
            assert!(!same(tools[i].name, tools[j].name), "two tools of a plugin have the same name");
            j += 1;
        }
        i += 1;
    }
}

const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_lowercase() || (i > 0 && matches!(bytes[i], b'0'..=b'9' | b'_' | b'-'))) {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty() && bytes.len() <= 64
}

/// The input of a tool from its JSON.
#[doc(hidden)]
pub fn parse<T: Object + DeserializeOwned>(input: &str) -> Result<T> {
    let parse = || {
        let mut value: Value = serde_json::from_str(input)?;
        T::fill(&mut value);
        serde_json::from_value(value)
    };
    parse().map_err(|error| Error::new(code::INVALID_PARAMS, format!("the input does not fit the tool: {error}")))
}

/// What the generated code of a tool ends with.
#[doc(hidden)]
pub fn finish(returned: impl Return) -> Result<Outcome> {
    returned.into_result()?.into_outcome()
}

/// The export: finds the tool and runs it.
#[doc(hidden)]
pub fn run(mut turn: Turn, tools: &[Entry]) -> std::result::Result<Outcome, Failure> {
    // The standard library's own names a thread without a name, and a variable that nobody can set here.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    task::begin(&mut turn);
    let tool = tools.iter().find(|tool| tool.name == turn.tool);
    let result = match tool {
        Some(tool) => (tool.run)(&turn.input),
        None => Err(Error::new(code::INTERNAL, format!("the plugin has no tool {:?}", turn.tool))),
    };
    // Without this, what was printed after the last newline would be lost: an export has no end of a process.
    let flushed = std::io::stdout().flush().and_then(|()| std::io::stderr().flush());
    result.and_then(|outcome| flushed.context("stdout").map(|()| outcome)).map_err(Error::into_failure)
}

/// Makes a plugin of tools. Once a crate, which is a `cdylib` for `wasm32-wasip2`.
///
/// ```no_run
/// # use windlass::prelude::*;
/// /// Says hello.
/// #[windlass::tool]
/// fn hello() -> Result<String> {
///     Ok("hello".into())
/// }
///
/// windlass::plugin! {
///     name: "hello",
///     version: "1.0.0",
///     description: "Says hello.",
///     tools: [hello],
/// }
/// # fn main() {}
/// ```
///
/// Name, version and description may be left out: then those of the crate are taken.
///
/// What the host would refuse does not compile, for instance two tools with one name:
///
/// ```compile_fail
/// # use windlass::prelude::*;
/// /// Says hello.
/// #[windlass::tool]
/// fn hello() -> Result<()> {
///     Ok(())
/// }
///
/// windlass::plugin! { name: "hello", version: "1.0.0", description: "", tools: [hello, hello] }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! plugin {
    ($($manifest:tt)*) => {
        #[allow(unsafe_code, long_running_const_eval)]
        const _: () = {
            #[cfg_attr(target_arch = "wasm32", unsafe(link_section = "windlass:manifest"))]
            #[used]
            static MANIFEST: [u8; $crate::__private::length($crate::__manifest!($($manifest)*))] =
                $crate::__private::render($crate::__manifest!($($manifest)*));

            const TOOLS: &[$crate::__private::Entry] = $crate::__tools!($($manifest)*);

            struct Plugin;

            impl $crate::bindings::exports::windlass::plugin::tool::Guest for Plugin {
                fn run(
                    turn: $crate::bindings::exports::windlass::plugin::tool::Turn,
                ) -> ::core::result::Result<
                    $crate::bindings::windlass::plugin::types::Outcome,
                    $crate::bindings::windlass::plugin::types::Failure,
                > {
                    $crate::__private::run(turn, TOOLS)
                }
            }

            $crate::__export!(Plugin);
        };
    };
}

/// What the host calls.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($plugin:ident) => {
        $crate::bindings::export!($plugin with_types_in $crate::bindings);
    };
}

/// Nobody calls it: a test runs tools by themselves.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($plugin:ident) => {
        const _: fn(
            $crate::bindings::exports::windlass::plugin::tool::Turn,
        ) -> ::core::result::Result<
            $crate::bindings::windlass::plugin::types::Outcome,
            $crate::bindings::windlass::plugin::types::Failure,
        > = <$plugin as $crate::bindings::exports::windlass::plugin::tool::Guest>::run;
    };
}

/// The pieces of a manifest.
#[doc(hidden)]
#[macro_export]
macro_rules! __manifest {
    (
        $(name: $name:expr,)?
        $(version: $version:expr,)?
        $(description: $description:expr,)?
        tools: [$($tool:path),+ $(,)?] $(,)?
    ) => {{
        use $crate::__private::Piece;
        const NAME: &str = $crate::__or!([$($name)?] ::core::env!("CARGO_PKG_NAME"));
        const { $crate::__private::check(NAME, &[$($crate::__private::entry::<$tool>()),+]) };
        const PIECES: &[Piece] = &[
            Piece::Raw("{"),
            Piece::Key("name"),
            Piece::Str(NAME),
            Piece::Key("version"),
            Piece::Str($crate::__or!([$($version)?] ::core::env!("CARGO_PKG_VERSION"))),
            Piece::Key("description"),
            Piece::Str($crate::__or!([$($description)?] ::core::env!("CARGO_PKG_DESCRIPTION"))),
            Piece::Key("contract"),
            Piece::Str($crate::CONTRACT),
            Piece::Key("tools"),
            Piece::Raw("["),
            $(Piece::Comma, Piece::All(<$tool as $crate::Tool>::MANIFEST),)+
            Piece::Raw("]"),
            Piece::Key("permissions"),
            Piece::Raw("["),
            Piece::Set(&[$(<$tool as $crate::Tool>::PERMISSIONS),+]),
            Piece::Raw("]}"),
        ];
        PIECES
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tools {
    (
        $(name: $name:expr,)? $(version: $version:expr,)? $(description: $description:expr,)?
        tools: [$($tool:path),+ $(,)?] $(,)?
    ) => {
        &[$($crate::__private::entry::<$tool>()),+]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __or {
    ([] $default:expr) => {
        $default
    };
    ([$value:expr] $default:expr) => {
        $value
    };
}
