//! The bindings outside of WebAssembly: the types that `wit-bindgen` makes of the contract, and functions of the same
//! names and shapes that ask the fake host of the test. A function that is not here is the generated one, which has no host
//! to call and panics.

mod generated {
    wit_bindgen::generate!({ path: "../../wit", world: "plugin" });
}

pub use generated::exports;

pub mod windlass {
    pub mod plugin {
        pub use super::super::generated::windlass::plugin::types;

        pub mod log {
            pub use super::super::super::generated::windlass::plugin::log::*;
            use crate::testing::world;

            pub fn write(level: Level, message: &str, fields: &[(String, String)]) {
                world::log(level, message, fields);
            }

            pub fn emit(part: &str, piece: &Content, last: bool) {
                world::with(|world| world.emit(part, piece, last));
            }

            pub fn progress(done: u64, total: Option<u64>, message: &str) {
                world::with(|world| world.progress(done, total, message));
            }
        }

        pub mod task {
            pub use super::super::super::generated::windlass::plugin::task::*;
            use crate::testing::world::{World, with};

            pub fn set_status_message(text: &str) {
                with(|world| world.status(text));
            }

            pub fn is_cancelled() -> bool {
                with(|world| world.is_cancelled())
            }

            pub fn take_messages() -> Vec<Message> {
                with(World::take_messages)
            }

            pub fn sleep(duration: u64) -> Result<(), Error> {
                with(|world| world.sleep(duration))
            }
        }

        pub mod input {
            pub use super::super::super::generated::windlass::plugin::input::*;
            use crate::testing::world::with;

            pub fn ask(questions: &[Question]) -> Result<Vec<Answer>, Error> {
                with(|world| world.ask(questions))
            }
        }

        pub mod state {
            pub use super::super::super::generated::windlass::plugin::state::*;
            use crate::testing::world::with;

            pub fn get(key: &str) -> Result<Option<String>, Error> {
                with(|world| Ok(world.state.get(key).cloned()))
            }

            pub fn set(key: &str, value: &str) -> Result<(), Error> {
                with(|world| world.state.insert(key.to_owned(), value.to_owned()));
                Ok(())
            }

            pub fn delete(key: &str) -> Result<(), Error> {
                with(|world| world.state.remove(key));
                Ok(())
            }

            pub fn keys(prefix: &str) -> Result<Vec<String>, Error> {
                with(|world| Ok(world.state.keys().filter(|key| key.starts_with(prefix)).cloned().collect()))
            }
        }

        pub mod artifacts {
            pub use super::super::super::generated::windlass::plugin::artifacts::*;
            use crate::testing::world::with;

            pub fn save(name: &str, mime_type: &str, data: &[u8]) -> Result<Artifact, Error> {
                with(|world| world.save(name, mime_type, data.to_vec()))
            }

            pub fn save_file(path: &str, name: &str, mime_type: &str) -> Result<Artifact, Error> {
                with(|world| world.save_file(path, name, mime_type))
            }

            pub fn read(id: &str) -> Result<Vec<u8>, Error> {
                with(|world| world.read(id))
            }
        }

        pub mod secrets {
            pub use super::super::super::generated::windlass::plugin::secrets::*;
            use crate::testing::world::with;

            pub fn reveal(name: &str) -> Result<String, Error> {
                with(|world| world.secret(name))
            }
        }

        pub mod http {
            pub use super::super::super::generated::windlass::plugin::http::*;
            use crate::testing::world::with;

            pub fn send(request: &Request) -> Result<Response, Error> {
                with(|world| world.send(request))
            }
        }

        pub mod browser {
            pub use super::super::super::generated::windlass::plugin::browser::*;
            pub use crate::testing::page::{Page, open, pages};
            pub use crate::testing::storage::{clear_cookies, cookies, set_cookies, set_storage_state, storage_state};
        }
    }
}
