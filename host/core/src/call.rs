//! The class of every host call: what is written before and after it, and what a crash in between means.

/// What a crash means for a call, and so what is written around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The record is the effect: compared in replay, written once in all.
    Emit,
    /// No trace in the sequence: silent in replay.
    Muted,
    /// Derived from the seed and the journal: nothing is written.
    Virtual,
    /// A polled value: only a change is written, with the ordinal of the poll.
    Sampled,
    /// Waits: a hard "started" first, then waits again after a crash.
    Mark,
    /// Done again after a crash, idempotent by its position.
    Redo,
    /// `step.started` is hard before the effect; after a crash in between the guest is told `interrupted`.
    Once,
}

macro_rules! calls {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $class:ident, $started:literal;)*) => {
        /// A host call, by its name in journal and records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Call { $($(#[$doc])* $variant),* }

        impl Call {
            /// Every call of the contract and of WASI that the journal knows.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name: interface, dot, function.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Its class.
            #[must_use]
            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class),* }
            }

            /// Whether a `step.started` record goes before its `step.finished`.
            #[must_use]
            pub fn announces(self) -> bool {
                match self { $(Self::$variant => $started),* }
            }
        }
    };
}

calls! {
    /// A line of the log.
    LogWrite = "log.write", Emit, false;
    /// A piece of output.
    LogEmit = "log.emit", Emit, false;
    /// A full line of standard output.
    Stdout = "stdout", Emit, false;
    /// A full line of standard error.
    Stderr = "stderr", Emit, false;
    /// The one-line status.
    SetStatusMessage = "task.set-status-message", Emit, false;
    /// How far it is.
    LogProgress = "log.progress", Muted, false;
    /// Was it asked to stop.
    IsCancelled = "task.is-cancelled", Sampled, false;
    /// Follow-ups not yet taken.
    TakeMessages = "task.take-messages", Sampled, false;
    /// The guest's clocks.
    Clock = "clock", Sampled, false;
    /// Randomness.
    Random = "random", Virtual, false;
    /// A wait until a deadline.
    Sleep = "task.sleep", Mark, false;
    /// A wait of WASI's monotonic clock (a std sleep).
    PollBlock = "wasi.block", Mark, false;
    /// WASI's `poll`: which of several was ready.
    Poll = "wasi.poll", Mark, false;
    /// WASI's `ready`.
    PollReady = "wasi.ready", Redo, false;
    /// Questions to people.
    Ask = "input.ask", Mark, false;
    /// A value of the task's state.
    StateGet = "state.get", Redo, false;
    /// Sets one.
    StateSet = "state.set", Redo, false;
    /// Deletes one.
    StateDelete = "state.delete", Redo, false;
    /// Lists the keys.
    StateKeys = "state.keys", Redo, false;
    /// Saves a file.
    ArtifactSave = "artifacts.save", Redo, false;
    /// Saves a file of the workdir.
    ArtifactSaveFile = "artifacts.save-file", Redo, false;
    /// Reads one.
    ArtifactRead = "artifacts.read", Redo, false;
    /// Shows what a secret says.
    SecretReveal = "secrets.reveal", Redo, false;
    /// Sends GET or HEAD.
    HttpGet = "http.get", Redo, true;
    /// Sends any other request.
    HttpSend = "http.send", Once, true;
    /// Opens a page.
    BrowserOpen = "browser.open", Redo, false;
    /// Closes a page.
    BrowserClose = "browser.close", Redo, false;
    /// Goes to an address.
    BrowserGoto = "browser.goto", Redo, true;
    /// The page's address.
    BrowserUrl = "browser.url", Redo, false;
    /// The page's title.
    BrowserTitle = "browser.title", Redo, false;
    /// Reads text.
    BrowserText = "browser.text", Redo, false;
    /// Waits for an element.
    BrowserWaitFor = "browser.wait-for", Redo, true;
    /// Takes a picture.
    BrowserScreenshot = "browser.screenshot", Redo, false;
    /// Clicks.
    BrowserClick = "browser.click", Once, true;
    /// Replaces the value of a field.
    BrowserFill = "browser.fill", Once, true;
    /// Fills a secret into a field.
    BrowserFillSecret = "browser.fill-secret", Once, true;
    /// Presses keys.
    BrowserPress = "browser.press", Once, true;
    /// Goes back in the history of a page.
    BrowserBack = "browser.back", Redo, true;
    /// Goes forward in it.
    BrowserForward = "browser.forward", Redo, true;
    /// Loads the document again.
    BrowserReload = "browser.reload", Redo, true;
    /// Clicks twice.
    BrowserDblclick = "browser.dblclick", Once, true;
    /// Taps with a finger.
    BrowserTap = "browser.tap", Once, true;
    /// Moves the mouse over an element.
    BrowserHover = "browser.hover", Redo, true;
    /// Gives an element the focus.
    BrowserFocus = "browser.focus", Redo, true;
    /// Drags one element to another.
    BrowserDrag = "browser.drag", Once, true;
    /// Turns the mouse wheel.
    BrowserScroll = "browser.scroll", Redo, true;
    /// Types key by key.
    BrowserTypeText = "browser.type-text", Once, true;
    /// Enters text as an input method does.
    BrowserCompose = "browser.compose", Once, true;
    /// Checks a box.
    BrowserCheck = "browser.check", Once, true;
    /// Unchecks one.
    BrowserUncheck = "browser.uncheck", Once, true;
    /// Selects options.
    BrowserSelect = "browser.select", Once, true;
    /// Gives files to a page.
    BrowserUpload = "browser.upload", Once, true;
    /// Reads an attribute.
    BrowserAttribute = "browser.attribute", Redo, false;
    /// Reads the value of a field.
    BrowserValue = "browser.value", Redo, false;
    /// Counts elements.
    BrowserCount = "browser.count", Redo, false;
    /// Reads HTML.
    BrowserHtml = "browser.html", Redo, false;
    /// Reads where an element lies.
    BrowserBoundingBox = "browser.bounding-box", Redo, false;
    /// Scrolls an element into view.
    BrowserScrollIntoView = "browser.scroll-into-view", Redo, true;
    /// Lists the pages that are open.
    BrowserPages = "browser.pages", Redo, false;
    /// Runs a script.
    BrowserEvaluate = "browser.evaluate", Once, true;
    /// Runs a script that may run again.
    BrowserEvaluateRepeatable = "browser.evaluate-repeatable", Redo, true;
    /// Takes the page as text.
    BrowserSnapshot = "browser.snapshot", Redo, false;
    /// Waits for a text.
    BrowserWaitForText = "browser.wait-for-text", Redo, true;
    /// Waits for an address.
    BrowserWaitForUrl = "browser.wait-for-url", Redo, true;
    /// Waits until a document is loaded.
    BrowserWaitForLoad = "browser.wait-for-load", Redo, true;
    /// Waits for what a script answers.
    BrowserWaitForFunction = "browser.wait-for-function", Redo, true;
    /// Waits for a popup and takes it.
    BrowserWaitForPopup = "browser.wait-for-popup", Redo, true;
    /// Waits for a download and keeps it.
    BrowserWaitForDownload = "browser.wait-for-download", Redo, true;
    /// Prints a page.
    BrowserPdf = "browser.pdf", Redo, true;
    /// Says how dialogs are answered: a rule changes nothing by itself.
    BrowserOnDialog = "browser.on-dialog", Redo, false;
    /// Takes the network away, or gives it back.
    BrowserSetOffline = "browser.set-offline", Redo, false;
    /// Makes a page another size.
    BrowserSetViewport = "browser.set-viewport", Redo, false;
    /// Reads the console.
    BrowserConsole = "browser.console", Redo, false;
    /// Reads errors of scripts.
    BrowserPageErrors = "browser.page-errors", Redo, false;
    /// Reads what was asked for.
    BrowserRequests = "browser.requests", Redo, false;
    /// Reads cookies.
    BrowserCookies = "browser.cookies", Redo, false;
    /// Sets cookies.
    BrowserSetCookies = "browser.set-cookies", Once, true;
    /// Forgets cookies.
    BrowserClearCookies = "browser.clear-cookies", Once, true;
    /// Reads cookies and local storage.
    BrowserStorageState = "browser.storage-state", Redo, false;
    /// Sets cookies and local storage.
    BrowserSetStorageState = "browser.set-storage-state", Once, true;
}

impl Call {
    /// From its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|call| call.name() == name)
    }

    /// Whether its completion is a public record of its own (`step.finished`).
    #[must_use]
    pub fn reports(self) -> bool {
        matches!(self.class(), Class::Redo | Class::Once)
            && !matches!(self, Self::PollReady | Self::ArtifactSave | Self::ArtifactSaveFile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_is_unique_and_reads_back() {
        let names: HashSet<_> = Call::ALL.iter().map(|call| call.name()).collect();
        assert_eq!(names.len(), Call::ALL.len());
        assert!(Call::ALL.iter().all(|call| Call::parse(call.name()) == Some(*call)));
    }

    #[test]
    fn what_changes_the_world_outside_is_announced_before_it_happens() {
        for call in Call::ALL.iter().filter(|call| call.class() == Class::Once) {
            assert!(call.announces(), "{}", call.name());
        }
    }

    #[test]
    fn only_steps_announce_themselves() {
        for call in Call::ALL.iter().filter(|call| call.announces()) {
            assert!(matches!(call.class(), Class::Once | Class::Redo), "{}", call.name());
        }
    }
}
