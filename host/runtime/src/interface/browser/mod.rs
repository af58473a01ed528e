//! `windlass:plugin/browser`: pages of a turn, in one isolated context.
//!
//! A page has a logical number, the guest's nth; a replay holds only numbers. A page outlives the instance of a parked turn
//! (`pages`), but not the host: after a restart a live call on one answers `page-lost`, as an entry.
//!
//! - `verb` is what all calls on a page share: step, deadline, cancel, settings, secrets;
//! - `open` makes pages, `act` and `form` change them, `read`, `capture` and `download` look and keep;
//! - `storage` is what sites have stored, under a grant of its own.

#[expect(clippy::disallowed_methods, reason = "what it does to a page or a context runs inside of a step")]
mod act;
mod capture;
mod download;
#[expect(clippy::disallowed_methods, reason = "what it does to a page or a context runs inside of a step")]
mod form;
mod open;
#[expect(clippy::disallowed_methods, reason = "what it does to a page or a context runs inside of a step")]
mod read;
mod settings;
#[expect(clippy::disallowed_methods, reason = "what it does to a page or a context runs inside of a step")]
mod storage;
#[expect(clippy::disallowed_methods, reason = "what it does to a page or a context runs inside of a step")]
mod upload;
mod verb;
mod wait;
mod workdir;

use crate::bindings::windlass::plugin::browser::{Host as BrowserHost, HostPage, Navigation, Rect};
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::host::Host;
use settings::Settings;
use wasmtime::component::Resource;

type Outcome<T> = wasmtime::Result<Result<T, Error>>;
type Handle = Resource<PageHandle>;

/// What a guest's handle stands for.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PageHandle {
    number: u32,
}

/// An error of the browser as the contract has it.
fn contract(e: windlass_browser::Error) -> Error {
    Error { code: e.code.as_str().to_owned(), message: e.message, details: e.details.map(|d| d.to_string()) }
}

impl BrowserHost for Host {
    async fn open(&mut self, settings: Settings) -> Outcome<Handle> {
        open::open(self, settings).await
    }

    async fn pages(&mut self) -> Outcome<String> {
        open::list(self).await
    }

    async fn cookies(&mut self, origin: String) -> Outcome<String> {
        storage::cookies(self, origin).await
    }

    async fn set_cookies(&mut self, cookies: String) -> Outcome<()> {
        storage::set_cookies(self, cookies).await
    }

    async fn clear_cookies(&mut self, origin: String) -> Outcome<()> {
        storage::clear_cookies(self, origin).await
    }

    async fn storage_state(&mut self, origins: Vec<String>) -> Outcome<String> {
        storage::state(self, origins).await
    }

    async fn set_storage_state(&mut self, state: String) -> Outcome<()> {
        storage::set_state(self, state).await
    }
}

impl HostPage for Host {
    async fn goto(&mut self, page: Handle, url: String, settings: Settings) -> Outcome<Navigation> {
        act::goto(self, &page, url, settings).await
    }

    async fn back(&mut self, page: Handle, settings: Settings) -> Outcome<Navigation> {
        act::navigate(self, &page, act::Way::Back, settings).await
    }

    async fn forward(&mut self, page: Handle, settings: Settings) -> Outcome<Navigation> {
        act::navigate(self, &page, act::Way::Forward, settings).await
    }

    async fn reload(&mut self, page: Handle, settings: Settings) -> Outcome<Navigation> {
        act::navigate(self, &page, act::Way::Reload, settings).await
    }

    async fn url(&mut self, page: Handle) -> Outcome<String> {
        read::url(self, &page).await
    }

    async fn title(&mut self, page: Handle) -> Outcome<String> {
        read::title(self, &page).await
    }

    async fn click(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::click(self, &page, locator, settings, false).await
    }

    async fn dblclick(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::click(self, &page, locator, settings, true).await
    }

    async fn tap(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::tap(self, &page, locator, settings).await
    }

    async fn hover(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::hover(self, &page, locator, settings).await
    }

    async fn focus(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::focus(self, &page, locator, settings).await
    }

    async fn drag(&mut self, page: Handle, source: String, target: String, settings: Settings) -> Outcome<()> {
        act::drag(self, &page, source, target, settings).await
    }

    async fn scroll(&mut self, page: Handle, right: i32, down: i32, settings: Settings) -> Outcome<()> {
        act::scroll(self, &page, (right, down), settings).await
    }

    async fn scroll_into_view(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        act::scroll_into_view(self, &page, locator, settings).await
    }

    async fn press(&mut self, page: Handle, keys: String, settings: Settings) -> Outcome<()> {
        act::press(self, &page, keys, settings).await
    }

    async fn fill(&mut self, page: Handle, locator: String, text: String, settings: Settings) -> Outcome<()> {
        form::fill(self, &page, locator, text, settings).await
    }

    async fn type_text(&mut self, page: Handle, locator: String, text: String, settings: Settings) -> Outcome<()> {
        form::type_text(self, &page, locator, text, settings).await
    }

    async fn compose(&mut self, page: Handle, locator: String, text: String, settings: Settings) -> Outcome<()> {
        form::compose(self, &page, locator, text, settings).await
    }

    async fn fill_secret(&mut self, page: Handle, locator: String, secret: String, settings: Settings) -> Outcome<()> {
        form::fill_secret(self, &page, locator, secret, settings).await
    }

    async fn check(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        form::check(self, &page, locator, settings, true).await
    }

    async fn uncheck(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<()> {
        form::check(self, &page, locator, settings, false).await
    }

    async fn select(
        &mut self,
        page: Handle,
        locator: String,
        options: Vec<String>,
        settings: Settings,
    ) -> Outcome<Vec<String>> {
        form::select(self, &page, locator, options, settings).await
    }

    async fn upload(&mut self, page: Handle, locator: String, files: Vec<String>, settings: Settings) -> Outcome<()> {
        upload::upload(self, &page, locator, files, settings).await
    }

    async fn text(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<String> {
        read::text(self, &page, locator, settings).await
    }

    async fn attribute(
        &mut self,
        page: Handle,
        locator: String,
        name: String,
        settings: Settings,
    ) -> Outcome<Option<String>> {
        read::attribute(self, &page, locator, name, settings).await
    }

    async fn value(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<String> {
        read::value(self, &page, locator, settings).await
    }

    async fn count(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<u64> {
        read::count(self, &page, locator, settings).await
    }

    async fn html(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<String> {
        read::html(self, &page, locator, settings).await
    }

    async fn bounding_box(&mut self, page: Handle, locator: String, settings: Settings) -> Outcome<Option<Rect>> {
        read::bounding_box(self, &page, locator, settings).await
    }

    async fn evaluate(
        &mut self,
        page: Handle,
        script: String,
        argument: String,
        settings: Settings,
    ) -> Outcome<String> {
        read::evaluate(self, &page, script, argument, settings).await
    }

    async fn snapshot(&mut self, page: Handle, settings: Settings) -> Outcome<String> {
        read::snapshot(self, &page, settings).await
    }

    async fn console(&mut self, page: Handle) -> Outcome<String> {
        read::console(self, &page).await
    }

    async fn page_errors(&mut self, page: Handle) -> Outcome<String> {
        read::errors(self, &page).await
    }

    async fn requests(&mut self, page: Handle) -> Outcome<String> {
        read::requests(self, &page).await
    }

    async fn wait_for(&mut self, page: Handle, locator: String, until: String, settings: Settings) -> Outcome<()> {
        wait::element(self, &page, locator, until, settings).await
    }

    async fn wait_for_text(&mut self, page: Handle, text: String, settings: Settings) -> Outcome<()> {
        wait::text(self, &page, text, settings).await
    }

    async fn wait_for_url(&mut self, page: Handle, pattern: String, settings: Settings) -> Outcome<()> {
        wait::url(self, &page, pattern, settings).await
    }

    async fn wait_for_load(&mut self, page: Handle, state: String, settings: Settings) -> Outcome<()> {
        wait::load(self, &page, state, settings).await
    }

    async fn wait_for_function(
        &mut self,
        page: Handle,
        script: String,
        argument: String,
        settings: Settings,
    ) -> Outcome<String> {
        wait::function(self, &page, script, argument, settings).await
    }

    async fn wait_for_popup(&mut self, page: Handle, settings: Settings) -> Outcome<Handle> {
        open::popup(self, &page, settings).await
    }

    async fn wait_for_download(&mut self, page: Handle, settings: Settings) -> Outcome<Artifact> {
        download::download(self, &page, settings).await
    }

    async fn screenshot(&mut self, page: Handle, name: String, settings: Settings) -> Outcome<Artifact> {
        capture::screenshot(self, &page, name, settings).await
    }

    async fn pdf(&mut self, page: Handle, name: String, settings: Settings) -> Outcome<Artifact> {
        capture::pdf(self, &page, name, settings).await
    }

    async fn on_dialog(&mut self, page: Handle, kind: String, action: String, settings: Settings) -> Outcome<()> {
        act::on_dialog(self, &page, kind, action, settings).await
    }

    async fn set_offline(&mut self, page: Handle, offline: bool) -> Outcome<()> {
        act::set_offline(self, &page, offline).await
    }

    async fn set_viewport(&mut self, page: Handle, width: u32, height: u32, settings: Settings) -> Outcome<()> {
        act::set_viewport(self, &page, (width, height), settings).await
    }

    async fn close(&mut self, page: Handle) -> Outcome<()> {
        open::close(self, &page).await
    }

    /// The guest let go of its handle. Not a step: it has no answer. In replay the page is closed as well, if it is there.
    async fn drop(&mut self, page: Handle) -> wasmtime::Result<()> {
        open::let_go(self, page)
    }
}
