//! A number with what is needed to believe it.

use serde_json::{Value, json};
use std::time::Duration;

/// One measured number.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    /// The name that `cargo xtask bench NAME` takes.
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// Rates end in `/s`: more is better. Of everything else less is better.
    pub(crate) unit: &'static str,
    /// What it should be.
    pub(crate) goal: Option<f64>,
    /// The same thing done raw in the same run, in the same unit: what this machine could give at best.
    pub(crate) limit: Option<f64>,
    /// How many samples.
    pub(crate) n: usize,
    /// Median and 90th percentile of single samples, in `spread_unit`.
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) spread_unit: &'static str,
    /// What the number depends on; what `limit` is.
    pub(crate) settings: Value,
}

impl Number {
    pub(crate) fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        let none = (None, None);
        Self {
            name,
            value,
            unit,
            goal: None,
            limit: None,
            n: 1,
            p50: none.0,
            p90: none.1,
            spread_unit: unit,
            settings: json!({}),
        }
    }

    /// With the spread of these samples.
    pub(crate) fn of(mut self, samples: &Samples, unit: &'static str) -> Self {
        self.n = samples.0.len();
        self.p50 = samples.at(50.0, unit);
        self.p90 = samples.at(90.0, unit);
        self.spread_unit = unit;
        self
    }

    pub(crate) fn goal(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    pub(crate) fn limit(mut self, limit: f64) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(crate) fn with(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    /// The goal is reached; none: there is none.
    pub(crate) fn met(&self) -> Option<bool> {
        let goal = self.goal?;
        Some(if self.unit.ends_with("/s") { self.value >= goal } else { self.value <= goal })
    }

    /// Prints it, for programs or for people.
    pub(crate) fn print(&self, json: bool) {
        if json {
            println!("{}", self.json());
            return;
        }
        let verdict = match self.met() {
            Some(true) => "met",
            Some(false) => "missed",
            None => "",
        };
        let with =
            |name: &str, value: Option<f64>| value.map_or(String::new(), |value| format!("  {name} {}", shown(value)));
        let spread = match (self.p50, self.p90) {
            (Some(p50), Some(p90)) => format!("  p50 {} p90 {} {}", shown(p50), shown(p90), self.spread_unit),
            _ => String::new(),
        };
        let value = format!("{} {}", shown(self.value), self.unit);
        println!(
            "{:<16} {value:>16}  {verdict:<6}{}{}{spread}  n {}",
            self.name,
            with("goal", self.goal),
            with("limit", self.limit),
            self.n
        );
        println!("{:<16} {}", "", self.settings);
    }

    fn json(&self) -> Value {
        let short = |value: f64| (value * 1000.0).round() / 1000.0;
        json!({
            "name": self.name, "value": short(self.value), "unit": self.unit, "goal": self.goal,
            "limit": self.limit.map(short), "n": self.n, "p50": self.p50.map(short), "p90": self.p90.map(short),
            "spreadUnit": self.spread_unit, "settings": self.settings,
        })
    }
}

fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Times of single events, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A percentile in `ms`, `µs` or `s`; none without samples.
    pub(crate) fn at(&self, percent: f64, unit: &str) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let at = (last as f64 * percent / 100.0).round() as usize;
        Some(in_unit(self.0[at], unit))
    }
}

/// A time in `ms`, `µs` or `s`.
pub(crate) fn in_unit(time: Duration, unit: &str) -> f64 {
    let factor = match unit {
        "ms" => 1e3,
        "µs" => 1e6,
        _ => 1.0,
    };
    time.as_secs_f64() * factor
}

/// How many a second.
#[expect(clippy::cast_precision_loss, reason = "a count far below 2^52")]
pub(crate) fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples = Samples::new((1..=101).rev().map(Duration::from_millis).collect());
        assert_eq!(samples.at(50.0, "ms"), Some(51.0));
        assert_eq!(samples.at(90.0, "ms"), Some(91.0));
        assert_eq!(Samples::default().at(50.0, "ms"), None);
    }

    #[test]
    fn a_rate_wants_more_and_a_time_wants_less() {
        assert_eq!(Number::new("a", 10.0, "tasks/s").goal(9.0).met(), Some(true));
        assert_eq!(Number::new("a", 10.0, "ms").goal(9.0).met(), Some(false));
        assert_eq!(Number::new("a", 10.0, "ms").met(), None);
    }
}
