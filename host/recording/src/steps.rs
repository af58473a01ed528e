//! What a recording consists of.

use serde_json::{Map, Value};

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name.
    pub title: String,
    /// How long a step waits unless it says so itself, in milliseconds; the Recorder's own default is 5000.
    pub timeout: u64,
    /// In order.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: Kind,
    /// How long it waits, in milliseconds, where that is not the flow's.
    pub timeout: Option<u64>,
    /// `main`, or the address of another page or frame.
    pub target: Option<String>,
    /// The way into frames, as the number of the child at each level.
    pub frame: Vec<u64>,
    /// A navigation must follow; the address where it was recorded.
    pub navigation: Option<Option<String>>,
}

/// An element: one of these selectors finds it, each a way through shadow roots.
pub type Selectors = Vec<Vec<String>>;

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "names and units are those of the format")]
pub enum Kind {
    SetViewport {
        width: f64,
        height: f64,
        scale: f64,
        mobile: bool,
        touch: bool,
        landscape: bool,
    },
    Navigate {
        url: String,
    },
    Click {
        selectors: Selectors,
        double: bool,
        offset: (f64, f64),
        duration: Option<f64>,
        device: String,
        button: String,
    },
    Hover {
        selectors: Selectors,
    },
    Change {
        selectors: Selectors,
        value: Entry,
    },
    KeyDown {
        key: String,
    },
    KeyUp {
        key: String,
    },
    Scroll {
        selectors: Option<Selectors>,
        x: Option<f64>,
        y: Option<f64>,
    },
    Close,
    EmulateNetworkConditions {
        download: f64,
        upload: f64,
        latency: f64,
    },
    WaitForElement {
        selectors: Selectors,
        operator: String,
        count: u64,
        visible: bool,
        properties: Map<String, Value>,
        attributes: Map<String, Value>,
    },
    WaitForExpression {
        expression: String,
    },
    CustomStep {
        name: String,
        parameters: Value,
    },
}

/// What was typed into a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// As it was recorded.
    Text(String),
    /// A password: the name of the secret that stands for it.
    Secret(String),
}
