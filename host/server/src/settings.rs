//! Settings: one table of them, and where each value came from.
//!
//! Flag before environment before `windlass.toml` before default. A raw value is text; what it means is read once, in
//! `Settings`. Flags, `windlass config` and docs/cli.md follow the table.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_browser::{Remote, Upstream};
use windlass_core::Limits;
use windlass_runtime::{Authorities, Compiling, Tuning};

/// A year, in ms.
const YEAR: u64 = 365 * 24 * 60 * 60 * 1000;
/// A reader may be slow, and wait for so long.
const STALLED: Duration = Duration::from_secs(30);

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name: key in the file, `--name` as a flag, `WINDLASS_NAME` in the environment.
    pub name: &'static str,
    /// What its value looks like.
    pub value: &'static str,
    /// Its value where nothing is said; none: found out at the start.
    pub default: Option<&'static str>,
    /// True or false, and as a flag without a value.
    pub switch: bool,
    /// One line.
    pub about: &'static str,
}

const fn setting(
    name: &'static str,
    value: &'static str,
    default: Option<&'static str>,
    about: &'static str,
) -> Setting {
    Setting { name, value, default, switch: false, about }
}

/// All of them.
pub const SETTINGS: &[Setting] = &[
    setting(
        "data",
        "DIR",
        None,
        "Folder of the host: database, files, plugins [default: windlass in the XDG data folder]",
    ),
    setting(
        "listen",
        "ADDR",
        Some("127.0.0.1:7420"),
        "Loopback address and port of the HTTP API; port 0 takes a free one",
    ),
    Setting {
        switch: true,
        ..setting(
            "allow-no-sandbox",
            "BOOL",
            Some("false"),
            "Start Chromium without its sandbox; needed as root, sensible in a container only",
        )
    },
    setting(
        "secrets-key",
        "FILE",
        None,
        "File with the key that seals secrets, for its owner only [default: secrets.key in the data folder]",
    ),
    setting("browser", "FILE", None, "Chromium to use [default: chromium-headless-shell, else chromium]"),
    setting(
        "browser-url",
        "URL",
        None,
        "A Chromium that runs elsewhere, started with --remote-debugging-port, such as http://127.0.0.1:9222",
    ),
    setting(
        "browser-reach",
        "ADDR",
        None,
        "Address of this machine at which the Chromium of browser-url reaches the host, where it runs on another machine",
    ),
    setting(
        "browser-proxy",
        "URL",
        None,
        "HTTP proxy that pages and requests go through, behind the fence, such as http://proxy.example:3128",
    ),
    setting(
        "browser-proxy-except",
        "HOSTS",
        None,
        "Hosts that are reached without browser-proxy, with commas; .corp.example: all below",
    ),
    setting(
        "ca-file",
        "FILE",
        None,
        "PEM with certificate authorities that requests of plugins trust beside the machine's own",
    ),
    setting("browsers", "N", Some("8"), "Chromiums at once: each principal has its own"),
    setting("pages", "N", Some("16"), "Pages of one turn, popups too"),
    setting("pages-all", "N", Some("128"), "Pages of one Chromium"),
    setting(
        "script-mib",
        "N",
        Some("1024"),
        "Script objects of one renderer, in MiB; one that needs more loses its page",
    ),
    setting("renderer-mib", "N", Some("2048"), "Memory of one renderer, in MiB; one that grows beyond loses its pages"),
    setting("slots", "N", None, "Turns that run at once [default: 4 a processor core]"),
    setting(
        "log",
        "FILTER",
        Some("info"),
        "What the host logs on standard error: error, warn, info, debug, trace, or a filter by module",
    ),
    setting("memory-mib", "N", Some("256"), "Memory of one turn, in MiB"),
    setting("cpu-ms", "N", Some("30000"), "CPU time of one turn without a host call, in ms"),
    setting("turn-ms", "N", Some("1800000"), "Time of one turn without its waits, in ms"),
    setting("records", "N", Some("100000"), "Records of one turn"),
    setting("entries", "N", Some("20000"), "Journal entries of one turn"),
    setting("answers-mib", "N", Some("64"), "Answers in the journal of one turn, in MiB"),
    setting("files-mib", "N", Some("1024"), "All files of a task's workdir, in MiB"),
    setting("files", "N", Some("10000"), "Files and folders of a task's workdir"),
    setting(
        "park-ms",
        "N",
        Some("30000"),
        "A turn that waited this long is parked: it costs no memory until it wakes, in ms",
    ),
    setting("parked-pages", "N", Some("16"), "Parked turns whose pages stay open"),
    setting("parked-pages-ms", "N", Some("1800000"), "How long pages of a parked turn stay open, in ms"),
    setting(
        "grace-ms",
        "N",
        Some("10000"),
        "From a cancel or a deadline to the end of a turn that does not end by itself, in ms",
    ),
    setting("retention-days", "N", Some("30"), "How long what is known of a turn is kept after its end, in days"),
    setting(
        "min-free-mib",
        "N",
        Some("1024"),
        "New tasks are refused while less is free for the data folder, in MiB; 0: never",
    ),
    setting("shutdown-ms", "N", Some("10000"), "How long running turns may go on when the host is told to end, in ms"),
];

impl Setting {
    /// Its name in the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("WINDLASS_{}", self.name.to_uppercase().replace('-', "_"))
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", content = "where", rename_all = "lowercase")]
pub enum Source {
    /// The command line.
    Flag(String),
    /// The environment.
    Environment(String),
    /// `windlass.toml`.
    File(PathBuf),
    /// Nothing was said.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "flag {flag}"),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A setting that can't be used. The text names where it came from and what would be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

/// The text of each setting and its source.
#[derive(Clone, Debug)]
pub struct Raw {
    values: BTreeMap<&'static str, (String, Source)>,
    /// The file that was read, where one is there.
    pub file: Option<PathBuf>,
}

impl Raw {
    /// Puts flags, environment, file and defaults together. `flags` are by name; `config` is the file that was asked
    /// for, which then must be there.
    ///
    /// # Errors
    /// A file that can't be read, is no TOML, or has a key that is not known.
    pub fn gather(
        flags: &BTreeMap<String, String>,
        config: Option<&Path>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
        let asked = config.map(Path::to_owned).or_else(|| environment("WINDLASS_CONFIG").map(PathBuf::from));
        let path = asked.clone().or_else(|| Some(config_folder(&environment)?.join("windlass.toml")));
        let text = match &path {
            // How one says that no file is meant.
            Some(path) if path == Path::new("/dev/null") => Some(String::new()),
            Some(path) => match read_text(path) {
                Ok(text) => Some(text),
                Err(error) if asked.is_none() && error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(SettingsError(format!("{} can't be read: {error}", path.display()))),
            },
            None => None,
        };
        let file = path.filter(|_| text.is_some());
        let from_file = match (&file, &text) {
            (Some(path), Some(text)) => read_file(path, text)?,
            _ => BTreeMap::new(),
        };
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let name = setting.name;
            let (variable, flag) = (setting.variable(), format!("--{name}"));
            let found = if let Some(value) = flags.get(name) {
                Some((value.clone(), Source::Flag(flag)))
            } else if let Some(value) = environment(&variable) {
                Some((value, Source::Environment(variable)))
            } else if let (Some(value), Some(path)) = (from_file.get(name), &file) {
                Some((value.clone(), Source::File(path.clone())))
            } else {
                let default = setting.default.map(str::to_owned).or_else(|| found_out(name, &environment));
                default.map(|value| (value, Source::Default))
            };
            if let Some(found) = found {
                values.insert(name, found);
            }
        }
        Ok(Self { values, file })
    }

    /// The text of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|(value, _)| value.as_str())
    }

    /// Where it came from.
    #[must_use]
    pub fn source(&self, name: &str) -> &Source {
        self.values.get(name).map_or(&Source::Default, |(_, source)| source)
    }

    fn wrong(&self, name: &str, wanted: &str) -> SettingsError {
        let value = self.get(name).unwrap_or_default();
        SettingsError(format!("{name} = `{value}` ({}): it must be {wanted}", self.source(name)))
    }

    fn millis(&self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<Duration, SettingsError> {
        self.number(name, range).map(Duration::from_millis)
    }

    fn number(&self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, SettingsError> {
        let number = self.get(name).and_then(|text| text.parse().ok()).filter(|n| range.contains(n));
        number.ok_or_else(|| self.wrong(name, &format!("a whole number from {} to {}", range.start(), range.end())))
    }
}

/// A file of settings, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// Reads the file of settings; a pipe is not waited for.
fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    windlass_store::open_named(path)?.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES {
        return Err(std::io::Error::other("it is larger than 1 MiB"));
    }
    Ok(text)
}

/// Defaults that depend on the machine.
fn found_out(name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match name {
        "data" => {
            let data = absolute(environment("XDG_DATA_HOME"))
                .or_else(|| Some(absolute(environment("HOME"))?.join(".local/share")))?;
            Some(data.join("windlass").to_string_lossy().into_owned())
        }
        "slots" => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Some((cores * 4).to_string())
        }
        _ => None,
    }
}

fn config_folder(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let config =
        absolute(environment("XDG_CONFIG_HOME")).or_else(|| Some(absolute(environment("HOME"))?.join(".config")))?;
    Some(config.join("windlass"))
}

/// The XDG rules ignore a relative path.
fn absolute(path: Option<String>) -> Option<PathBuf> {
    path.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Variables of the environment that begin with `WINDLASS_` and are no settings.
const OTHER_VARIABLES: &[&str] = &["WINDLASS_CONFIG", "WINDLASS_BLESS", "WINDLASS_CHROMIUM", "WINDLASS_TOKEN"];
/// Those of the project's own tests and tools begin with these.
const OTHER_PREFIXES: &[&str] =
    &["WINDLASS_TEST_", "WINDLASS_FAULT", "WINDLASS_BIN", "WINDLASS_STORE_TEST", "WINDLASS_DEMO", "WINDLASS_BENCH"];

/// A variable that looks like a setting and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    name: String,
    nearest: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the environment is no setting and says nothing; the nearest is {}", self.name, self.nearest)
    }
}

/// Which of these variables look like settings and are none.
pub(crate) fn unknown_variables(names: impl Iterator<Item = std::ffi::OsString>) -> Vec<Unknown> {
    let mut known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    known.push("WINDLASS_CONFIG".into());
    let mut unknown: Vec<_> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with("WINDLASS_"))
        .filter(|name| !known.contains(name) && !OTHER_VARIABLES.contains(&name.as_str()))
        .filter(|name| !OTHER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .map(|name| {
            let nearest = known.iter().min_by_key(|known| distance(known, &name)).cloned().unwrap_or_default();
            Unknown { name, nearest }
        })
        .collect();
    unknown.sort_by(|a, b| a.name.cmp(&b.name));
    unknown
}

/// How many letters have to be put in, taken away or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.chars().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

fn read_file(path: &Path, text: &str) -> Result<BTreeMap<String, String>, SettingsError> {
    let at = path.display();
    let table: toml::Table = text.parse().map_err(|error| SettingsError(format!("{at} is not TOML: {error}")))?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        if !SETTINGS.iter().any(|setting| setting.name == key) {
            let known: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
            return Err(SettingsError(format!(
                "{at} has the key `{key}`, which is not known; known are {}",
                known.join(", ")
            )));
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(truth) => truth.to_string(),
            other => {
                let kind = other.type_str();
                return Err(SettingsError(format!(
                    "{at}: `{key}` is a {kind}; it must be a string, a number, true or false"
                )));
            }
        };
        values.insert(key, value);
    }
    Ok(values)
}

/// The settings, read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the host, absolute.
    pub data: PathBuf,
    /// Loopback address and port.
    pub listen: SocketAddr,
    /// Take a free port where the default one is in use: for a host that was started for somebody.
    pub any_port: bool,
    /// Chromium without its sandbox.
    pub allow_no_sandbox: bool,
    /// Chromium to use.
    pub browser: Option<PathBuf>,
    /// One that runs elsewhere.
    pub remote: Option<Remote>,
    /// A proxy behind the fence.
    pub proxy: Option<Upstream>,
    /// Whom requests trust beside whom the machine trusts.
    pub authorities: Authorities,
    /// Pages of a turn, and of a Chromium.
    pub pages: (usize, usize),
    /// MiB of script objects a renderer.
    pub script_mib: u32,
    /// MiB of memory a renderer.
    pub renderer_mib: u32,
    /// File with the key that seals secrets, absolute.
    pub secrets_key: PathBuf,
    /// Turns that run at once.
    pub slots: usize,
    /// What the host logs.
    pub log: String,
    /// What one turn may use.
    pub limits: Limits,
    /// How the host waits, keeps and ends.
    pub tuning: Tuning,
    /// How long running turns may go on when the host is told to end.
    pub shutdown: Duration,
    /// How long a reader may take nothing before its connection is closed; it resumes by its cursor. Not in the table.
    pub stalled: Duration,
    /// How components are compiled in a process of its own; none: in this one. Not in the table.
    pub compiling: Option<Compiling>,
}

impl Settings {
    /// Reads what was gathered.
    ///
    /// # Errors
    /// The first value that can't be used.
    pub fn read(raw: &Raw) -> Result<Self, SettingsError> {
        let data = raw.get("data").filter(|data| !data.is_empty());
        let data = data.ok_or_else(|| SettingsError("there is no HOME, so say --data DIR".into()))?;
        let data = std::path::absolute(data).map_err(|_| raw.wrong("data", "a folder"))?;
        let key = raw.get("secrets-key").map_or_else(|| Ok(data.join("secrets.key")), std::path::absolute);
        Ok(Self {
            secrets_key: key.map_err(|_| raw.wrong("secrets-key", "a file"))?,
            data,
            listen: listen(raw)?,
            any_port: false,
            stalled: STALLED,
            compiling: None,
            allow_no_sandbox: match raw.get("allow-no-sandbox") {
                Some("true" | "1" | "yes") => true,
                Some("false" | "0" | "no") | None => false,
                Some(_) => return Err(raw.wrong("allow-no-sandbox", "true or false")),
            },
            browser: raw.get("browser").map(PathBuf::from),
            remote: remote(raw)?,
            proxy: proxy(raw)?,
            authorities: authorities(raw)?,
            pages: (count(raw.number("pages", 1..=1000)?), count(raw.number("pages-all", 1..=10_000)?)),
            script_mib: mib(raw.number("script-mib", 64..=65_536)?),
            renderer_mib: mib(raw.number("renderer-mib", 128..=1_048_576)?),
            slots: usize::try_from(raw.number("slots", 1..=10_000)?).unwrap_or(1),
            log: match raw.get("log").unwrap_or("info") {
                log if log.parse::<tracing_subscriber::EnvFilter>().is_ok() => log.to_owned(),
                _ => {
                    return Err(raw.wrong(
                        "log",
                        "error, warn, info, debug, trace, or a filter such as `windlass_runtime=debug`",
                    ));
                }
            },
            limits: Limits {
                memory_bytes: raw.number("memory-mib", 1..=4096)? << 20,
                cpu_millis: raw.number("cpu-ms", 1..=86_400_000)?,
                turn_millis: raw.number("turn-ms", 1..=31_536_000_000)?,
                records: raw.number("records", 1..=100_000_000)?,
                entries: raw.number("entries", 1..=10_000_000)?,
                answer_bytes: raw.number("answers-mib", 1..=65_536)? << 20,
                file_bytes: raw.number("files-mib", 1..=1_048_576)? << 20,
                files: raw.number("files", 1..=1_000_000)?,
            },
            tuning: Tuning {
                park_after: raw.millis("park-ms", 0..=YEAR)?,
                parked_pages: usize::try_from(raw.number("parked-pages", 0..=1000)?).unwrap_or(0),
                pages_for: raw.millis("parked-pages-ms", 0..=YEAR)?,
                browsers: count(raw.number("browsers", 1..=1000)?),
                grace: raw.millis("grace-ms", 0..=3_600_000)?,
                retention: Duration::from_secs(raw.number("retention-days", 1..=36_500)? * 24 * 60 * 60),
                min_free: raw.number("min-free-mib", 0..=1 << 30)? << 20,
                ..Tuning::default()
            },
            shutdown: raw.millis("shutdown-ms", 0..=3_600_000)?,
        })
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn mib(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn remote(raw: &Raw) -> Result<Option<Remote>, SettingsError> {
    let reach = match raw.get("browser-reach") {
        Some(text) => Some(text.parse().map_err(|_| raw.wrong("browser-reach", "an IP address of this machine"))?),
        None => None,
    };
    match raw.get("browser-url") {
        Some(url) if url.starts_with("http://") || url.starts_with("ws://") => {
            Ok(Some(Remote { url: url.to_owned(), reach }))
        }
        Some(_) => Err(raw.wrong("browser-url", "an address such as http://127.0.0.1:9222")),
        None if reach.is_some() => Err(raw.wrong("browser-reach", "said together with browser-url")),
        None => Ok(None),
    }
}

fn proxy(raw: &Raw) -> Result<Option<Upstream>, SettingsError> {
    let except = raw.get("browser-proxy-except").unwrap_or_default();
    let except: Vec<_> = except.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect();
    match raw.get("browser-proxy") {
        Some(url) => {
            // What is wrong is told without the address: there may be a password in it.
            let made = Upstream::new(url, except);
            made.map(Some).map_err(|_| {
                let source = raw.source("browser-proxy");
                SettingsError(format!("browser-proxy ({source}): it must be a URL such as http://proxy.example:3128"))
            })
        }
        None if !except.is_empty() => Err(raw.wrong("browser-proxy-except", "said together with browser-proxy")),
        None => Ok(None),
    }
}

fn authorities(raw: &Raw) -> Result<Authorities, SettingsError> {
    let Some(file) = raw.get("ca-file").filter(|file| !file.is_empty()) else { return Ok(Authorities::default()) };
    let read = std::fs::read(file).map_err(|e| e.to_string()).and_then(|pem| Authorities::from_pem(&pem));
    read.map_err(|why| SettingsError(format!("ca-file = `{file}` ({}): {why}", raw.source("ca-file"))))
}

fn listen(raw: &Raw) -> Result<SocketAddr, SettingsError> {
    let text = raw.get("listen").unwrap_or_default();
    let text = text.strip_prefix("localhost:").map_or(text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let wrong = || raw.wrong("listen", "an address and a port, such as 127.0.0.1:7420 or [::1]:0");
    let address: SocketAddr = text.parse().map_err(|_| wrong())?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(SettingsError(format!(
        "listen = {address} ({}): it speaks plain HTTP, in which others on the way could read tokens, so it listens on loopback addresses only; \
         use 127.0.0.1 and reach it through an SSH tunnel",
        raw.source("listen")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(flags: &[(&str, &str)], vars: &[(&str, &str)], file: Option<&str>) -> Result<(Raw, Settings), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("windlass.toml");
        if let Some(text) = file {
            std::fs::write(&path, text).unwrap();
        }
        let flags = flags.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let vars: BTreeMap<_, _> = vars.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let environment = move |name: &str| match name {
            "HOME" => Some("/home/somebody".to_owned()),
            name => vars.get(name).cloned(),
        };
        let raw = Raw::gather(&flags, file.map(|_| path.as_path()), &environment).map_err(|e| e.to_string())?;
        let settings = Settings::read(&raw).map_err(|e| e.to_string())?;
        Ok((raw, settings))
    }

    #[test]
    fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
        let file = Some("slots = 3\nlisten = \"127.0.0.1:3\"\n");
        let vars = [("WINDLASS_SLOTS", "2"), ("WINDLASS_LISTEN", "127.0.0.1:2")];
        let slots = |flags: &[(&str, &str)], vars: &[(&str, &str)], file| {
            let (raw, settings) = gather(flags, vars, file).unwrap();
            (settings.slots, raw.source("slots").clone())
        };
        assert_eq!(slots(&[("slots", "1")], &vars, file), (1, Source::Flag("--slots".into())));
        assert_eq!(slots(&[], &vars, file), (2, Source::Environment("WINDLASS_SLOTS".into())));
        assert!(matches!(slots(&[], &[], file), (3, Source::File(_))));
        assert!(matches!(slots(&[], &[], None), (_, Source::Default)));
        assert!(
            matches!(slots(&[], &[("WINDLASS_SLOTS", "")], file), (3, Source::File(_))),
            "an empty variable says nothing"
        );
    }

    #[test]
    fn defaults_follow_xdg_and_the_limits_of_core() {
        let (_, settings) = gather(&[], &[], None).unwrap();
        assert_eq!(settings.data, Path::new("/home/somebody/.local/share/windlass"));
        assert_eq!(settings.listen, "127.0.0.1:7420".parse().unwrap());
        assert_eq!(settings.limits, Limits::default());
        assert!(!settings.allow_no_sandbox);
        let (_, settings) = gather(&[], &[("XDG_DATA_HOME", "/data")], None).unwrap();
        assert_eq!(settings.data, Path::new("/data/windlass"));
        let (_, settings) = gather(&[], &[("XDG_DATA_HOME", "relative")], None).unwrap();
        assert_eq!(settings.data, Path::new("/home/somebody/.local/share/windlass"));
    }

    /// Opened like a file, a pipe would keep whoever started the host waiting for ever.
    #[test]
    fn a_file_that_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        let large = folder.path().join("large");
        std::fs::write(&large, "#".repeat(2 << 20)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for (path, why) in [(&pipe, "no regular file"), (&link, "no regular file"), (&large, "larger than 1 MiB")] {
            let error = Raw::gather(&BTreeMap::new(), Some(path), &|_| None).unwrap_err().to_string();
            assert_eq!(error, format!("{} can't be read: {why}", path.display()).replace(": larger", ": it is larger"));
        }
        let error = Raw::gather(&BTreeMap::new(), Some(folder.path()), &|_| None).unwrap_err().to_string();
        assert!(error.contains("no regular file"), "{error}");
        assert!(Raw::gather(&BTreeMap::new(), Some(Path::new("/dev/null")), &|_| None).is_ok(), "no file is meant");
    }

    #[test]
    fn what_can_not_be_used_is_named_with_its_source() {
        let error = |flags: &[(&str, &str)], file| gather(flags, &[], file).unwrap_err();
        assert!(error(&[], Some("slotz = 1")).contains("`slotz`, which is not known; known are data, listen,"));
        assert!(error(&[], Some("slots = [1]")).contains("is a array"));
        assert!(error(&[], Some("slots = ")).contains("is not TOML"));
        assert_eq!(
            error(&[("slots", "0")], None),
            "slots = `0` (flag --slots): it must be a whole number from 1 to 10000"
        );
        assert!(error(&[("listen", "nowhere")], None).contains("(flag --listen): it must be an address and a port"));
        assert!(error(&[("log", "a=b=c")], None).contains("it must be error, warn"));
        assert!(error(&[("allow-no-sandbox", "maybe")], None).contains("true or false"));
    }

    #[test]
    fn a_browser_elsewhere_and_a_proxy_are_read() {
        let flags = [("browser-url", "http://10.0.0.2:9222"), ("browser-reach", "10.0.0.1"), ("pages", "3")];
        let (_, settings) = gather(&flags, &[], None).unwrap();
        assert_eq!(settings.remote.unwrap().reach, Some("10.0.0.1".parse().unwrap()));
        assert_eq!((settings.pages, settings.tuning.browsers), ((3, 128), 8));
        let flags = [("browser-proxy", "http://me:pass@proxy.example:3128"), ("browser-proxy-except", "a, .b.example")];
        assert!(gather(&flags, &[], None).unwrap().1.proxy.is_some());
        for (flag, value) in [
            ("browser-url", "chromium"),
            ("browser-reach", "10.0.0.1"),
            ("browser-proxy", "socks5://me:pass@proxy"),
            ("browser-proxy-except", "a"),
            ("pages", "0"),
            ("script-mib", "1"),
        ] {
            let error = gather(&[(flag, value)], &[], None).unwrap_err();
            assert!(error.starts_with(flag) && !error.contains("pass@"), "{error}");
        }
    }

    #[test]
    fn a_file_of_authorities_has_to_hold_some() {
        let error = gather(&[("ca-file", "/nowhere/ca.pem")], &[], None).unwrap_err();
        assert!(error.starts_with("ca-file = `/nowhere/ca.pem` (flag --ca-file): No such file"), "{error}");
        let error = gather(&[("ca-file", "/dev/null")], &[], None).unwrap_err();
        assert!(error.ends_with("there is no certificate in it"), "{error}");
    }

    #[test]
    fn only_loopback_is_listened_on() {
        for address in ["0.0.0.0:7420", "[::]:7420", "192.168.1.2:80", "8.8.8.8:1"] {
            assert!(
                gather(&[("listen", address)], &[], None).unwrap_err().contains("loopback addresses only"),
                "{address}"
            );
        }
        for address in ["127.0.0.1:0", "127.9.9.9:1", "[::1]:0", "localhost:5"] {
            assert!(gather(&[("listen", address)], &[], None).is_ok(), "{address}");
        }
    }

    #[test]
    fn a_variable_that_is_no_setting_is_named_with_the_nearest() {
        let names =
            ["WINDLASS_LISTN", "WINDLASS_DATA", "WINDLASS_CONFIG", "WINDLASS_BLESS", "WINDLASS_FAULT_X", "HOME"];
        let unknown = unknown_variables(names.iter().map(std::ffi::OsString::from));
        assert_eq!(unknown, [Unknown { name: "WINDLASS_LISTN".into(), nearest: "WINDLASS_LISTEN".into() }]);
    }

    #[test]
    fn a_file_that_was_asked_for_must_be_there() {
        let nothing = |_: &str| None;
        let error = Raw::gather(&BTreeMap::new(), Some(Path::new("/nowhere/windlass.toml")), &nothing).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/windlass.toml can't be read"));
    }
}
