//! The program as a process.

use crate::program::Program;
use crate::support::guest;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

#[test]
fn a_tool_is_run_and_its_outcome_goes_to_standard_output() {
    let mut program = Program::new();
    let url = program.serve();
    program.add("basic_hello");
    let (exit, out, err) = program.run(&["run", "basic_hello", "name=Ada", "--title", "Greet"]);
    assert_eq!(exit, 0, "{err}");
    assert!(out.contains("Hello, Ada!"), "{out}");
    assert!(err.contains("Hello, Ada!") && err.contains("stdout: a whole line") && err.contains("completed"), "{err}");
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "no colour in a pipe");
    let tasks = program.json(&["tasks", "list"]);
    let id = tasks[0]["id"].as_str().unwrap();
    assert_eq!(tasks[0]["title"], "Greet");
    assert!(err.contains(&format!("{url}/tasks/{id}")), "{err}");
    let log = program.json(&["tasks", "logs", id]);
    assert_eq!(log, program.json(&["tasks", "logs", "-f", id]));
    assert_eq!(log.last().unwrap()["seq"].as_u64(), tasks[0]["lastSeq"].as_u64());
    assert_eq!(program.json(&["tasks", "logs", id, "--after", "3"]), log[3..]);
    let (exit, shown, _) = program.run(&["tasks", "show", id]);
    assert!(exit == 0 && shown.contains("completed") && shown.contains("Hello, Ada!"), "{shown}");
    assert_eq!(program.json(&["tasks", "archive", id])[0]["archived"], true);
    assert_eq!(program.json(&["tasks", "list"]), [] as [Value; 0]);
    assert_eq!(program.json(&["tasks", "unarchive", id])[0]["archived"], false);
    assert_eq!(program.run(&["tasks", "cancel", id]).1, "nothing to cancel: it ended (completed)\n");
    assert_eq!(program.run(&["tasks", "delete", id]).1, format!("deleted {id} with its log and files\n"));
    assert_eq!(program.run(&["tasks", "show", id]).0, 3);
}

/// The log often stands on the disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_host_whose_log_cannot_be_written_works_on() {
    let mut program = Program::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = program.command(&["serve", "--json", "--log", "debug"]);
    let mut child = command.stdout(Stdio::piped()).stderr(full).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    program.serving = Some(child);
    assert!(line.contains("\"url\""), "{line}");
    program.add("basic_hello");
    let (exit, out, err) = program.run(&["run", "basic_hello", "name=Ada"]);
    assert!(exit == 0 && out.contains("Hello, Ada!"), "{err}");
}

#[test]
fn exit_codes_are_those_of_the_guide() {
    let mut program = Program::new();
    program.serve();
    program.add("basic_hello");
    for (exit, arguments) in [
        (2, &["run"][..]),
        (2, &["nonsense"]),
        (2, &["run", "basic_hello", "name"]),
        (2, &["run", "basic_hello", "--input", "{"]),
        (2, &["run", "basic_hello", "--input", "{\"name\": 5}"]),
        (2, &["serve", "--listen", "0.0.0.0:0"]),
        (2, &["plugin", "grant", "basic_hello", "workdir"]),
        (2, &["plugin", "add", "/nowhere.wasm"]),
        (3, &["run", "nope"]),
        (3, &["tasks", "show", "nope"]),
        (3, &["tasks", "cancel", "01890000-0000-7000-8000-000000000000"]),
        (3, &["plugin", "show", "nope"]),
        (3, &["plugin", "show", "../tasks"]),
        (4, &["plugin", "remove", "capture"]),
        (6, &["serve"]),
    ] {
        let (found, _, err) = program.run(arguments);
        assert_eq!(found, exit, "{arguments:?}: {err}");
        assert!(!err.is_empty(), "{arguments:?}");
    }
    let (exit, out, _) = program.run(&["run", "nope", "--json"]);
    let error: Value = serde_json::from_str(out.trim()).unwrap();
    assert_eq!((exit, &error["error"]["code"]), (3, &"WL0001".into()));
}

#[test]
fn a_second_host_on_one_folder_names_the_first() {
    let mut program = Program::new();
    program.serve();
    let (exit, _, err) = program.run(&["serve"]);
    assert_eq!(exit, 6);
    assert!(err.contains(&program.host().unwrap()["pid"].to_string()), "{err}");
}

#[test]
fn only_a_run_and_an_installation_start_a_host_and_leave_it_running() {
    let program = Program::new();
    let id = "01890000-0000-7000-8000-000000000000";
    for arguments in [&["tools"][..], &["tasks", "list"], &["tasks", "cancel", id], &["plugin", "list"]] {
        let (exit, out, err) = program.run(arguments);
        let data = program.data().join("data");
        let said = format!("no host runs on {0}: start it with `windlass --data {0} serve`", data.display());
        assert!(exit == 6 && out.is_empty() && err.contains(&said), "{arguments:?}: {err}");
        assert!(program.host().is_none(), "{arguments:?}");
    }
    let file = guest("basic_hello");
    let (exit, _, err) = program.run(&["plugin", "add", file.to_str().unwrap(), "--grant", "browser *"]);
    assert!(exit == 2 && err.contains("one was started"), "{err}");
    let host = program.host().unwrap();
    assert_eq!(program.run(&["plugin", "add", file.to_str().unwrap()]).0, 0);
    let (exit, _, err) = program.run(&["run", "nope"]);
    assert!(exit == 3 && !err.contains("one was started"), "{err}");
    assert_eq!(program.host().unwrap()["pid"], host["pid"]);
}

#[test]
fn a_log_that_is_a_link_is_not_written_through() {
    let program = Program::new();
    let data = program.data().join("data");
    let elsewhere = program.data().join("elsewhere");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(&elsewhere, "theirs").unwrap();
    std::os::unix::fs::symlink(&elsewhere, data.join("host.log")).unwrap();
    let (exit, _, err) = program.run(&["plugin", "add", guest("basic_hello").to_str().unwrap()]);
    assert!(exit == 6 && err.contains("host.log can't be written"), "{err}");
    let mut serve = program.command(&["serve"]);
    let out = serve.output().unwrap();
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(6) && err.contains("host.log is a link"), "{err}");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "theirs");
}

#[test]
fn settings_show_where_they_come_from() {
    let program = Program::new();
    std::fs::create_dir(program.data().join("windlass")).unwrap();
    std::fs::write(program.data().join("windlass/windlass.toml"), "slots = 3\n").unwrap();
    let config = program.command(&["config"]).env("WINDLASS_BROWSR", "x").output().unwrap();
    assert!(String::from_utf8(config.stderr).unwrap().contains("the nearest is WINDLASS_BROWSER"));
    let settings = program.json(&["config", "--cpu-ms", "5"]);
    let source =
        |name: &str| settings.iter().find(|setting| setting["name"] == name).unwrap()["source"]["from"].clone();
    assert_eq!(source("slots"), "file");
    assert_eq!(source("cpu-ms"), "flag");
    assert_eq!(source("listen"), "environment");
    assert_eq!(source("records"), "default");
    std::fs::write(program.data().join("windlass/windlass.toml"), "slotz = 3\n").unwrap();
    let (exit, _, err) = program.run(&["config"]);
    assert!(exit == 2 && err.contains("`slotz`"), "{err}");
}

#[test]
fn the_doctor_names_a_cure_for_each_finding() {
    let program = Program::new();
    let findings = program.json(&["doctor"]);
    assert!(findings.len() >= 6);
    let mut doctor = program.command(&["doctor", "--json"]);
    let out = String::from_utf8(doctor.env("WINDLASS_SLOT", "3").output().unwrap().stdout).unwrap();
    assert!(out.contains("WINDLASS_SLOT of the environment is no setting") && out.contains("WINDLASS_SLOTS"), "{out}");
    for finding in findings {
        assert!(finding["verdict"] == "good" || finding["cure"] != "", "{finding}");
    }
}

#[test]
fn a_token_makes_the_caller_of_every_command_somebody() {
    let program = Program::new();
    // The host that this starts logs all it can.
    let mut create = program.command(&["token", "create", "ann", "--ttl", "30d"]);
    let Output { status, stdout, stderr } = create.env("WINDLASS_LOG", "trace").output().unwrap();
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{err}");
    let token = out.trim_end().to_owned();
    assert!(out.lines().count() == 1 && token.starts_with("wl_"), "{out}");
    assert!(err.contains("`ann` (user) until 2") && err.contains("token revoke ann`"), "{err}");
    assert!(!err.contains(&token), "{err}");
    program.add("basic_hello");
    let with = |arguments: &[&str], token: &str| {
        let Output { status, stdout, stderr } =
            program.command(arguments).env("WINDLASS_TOKEN", token).output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    let (exit, out, err) = with(&["run", "basic_hello", "name=Ada", "--json"], &token);
    assert_eq!(exit, 0, "{err}");
    let task: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&task["principal"], &task["status"]), (&"ann".into(), &"completed".into()));
    let id = task["id"].as_str().unwrap();
    assert_eq!(with(&["tasks", "show", id], &token).0, 0);
    assert_eq!(program.run(&["tasks", "show", id]).0, 3, "for `local` it does not exist");
    assert!(program.json(&["tasks", "list"]).is_empty());
    let list = program.json(&["token", "list"]);
    assert_eq!((&list[0]["name"], &list[0]["state"]), (&"ann".into(), &"active".into()));
    let (_, shown, _) = program.run(&["token", "list"]);
    assert!(shown.contains("ann") && shown.contains("last used") && !shown.contains(&token), "{shown}");
    assert_eq!(program.run(&["token", "create", "ann"]).0, 4, "the name is in use");
    assert_eq!(program.run(&["token", "create", "local"]).0, 2);
    let (exit, _, err) = program.run(&["token", "revoke", &token[..60]]);
    assert!(exit == 3 && !err.contains(&token[..60]), "{err}");
    assert_eq!(program.run(&["token", "revoke", "ann"]).0, 0);
    assert_eq!(program.run(&["token", "revoke", "ben"]).0, 3);
    for wrong in [token.as_str(), "wl_nonsense"] {
        for command in [&["tasks", "list"][..], &["run", "basic_hello", "name=Ada"], &["tools"]] {
            let (exit, _, err) = with(command, wrong);
            assert!(exit == 5 && err.contains("WL0105") && !err.contains(wrong), "{command:?} {err}");
        }
    }
    let (exit, _, err) = with(&["tasks", "list"], "two words");
    assert!(exit == 2 && err.contains("WINDLASS_TOKEN is no token") && !err.contains("two words"), "{err}");
    let log = std::fs::read_to_string(program.data().join("data/host.log")).unwrap();
    let environment = std::fs::read(format!("/proc/{}/environ", program.host().unwrap()["pid"])).unwrap();
    assert!(log.contains("TRACE"), "it logged");
    assert!(!log.contains(&token[3..35]) && !log.contains("wl_nonsense"), "{log}");
    assert!(!String::from_utf8_lossy(&environment).contains("WINDLASS_TOKEN"));
}

#[test]
fn a_secret_comes_from_standard_input_and_is_never_shown() {
    use std::io::Write as _;
    let program = Program::new();
    let value = "correct horse battery staple";
    let mut set = program.command(&["secret", "set", "shop-token", "--origin", "https://shop.example"]);
    let mut set = set.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(set.stdin.take().unwrap(), "{value}").unwrap();
    let Output { status, stdout, stderr } = set.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && said.contains("shop-token") && !said.contains(value), "{said}");
    let (exit, out, _) = program.run(&["secret", "list"]);
    assert!(exit == 0 && out.contains("version 1 to https://shop.example") && !out.contains(value), "{out}");
    let (exit, _, err) = program.run(&["secret", "set", "shop-token"]);
    assert!(exit == 2 && err.contains("no value"), "{err}");
    assert_eq!(program.run(&["secret", "remove", "shop-token"]).0, 0);
    assert_eq!(program.run(&["secret", "remove", "shop-token"]).0, 3);
    assert!(program.json(&["secret", "list"]).is_empty());
}

#[test]
fn a_component_is_checked_and_stamped_without_a_host() {
    let program = Program::new();
    let file = guest("basic_hello");
    let file = file.to_str().unwrap();
    let (exit, out, err) = program.run(&["plugin", "check", file]);
    assert!(exit == 0 && out.contains("basic_hello") && out.contains("name=…"), "{out}{err}");
    assert!(out.contains("A host of this version takes it."), "{out}");
    let checked = &program.json(&["plugin", "check", file])[0];
    assert_eq!(checked["manifest"]["name"], "basic_hello");
    assert!(checked["interfaces"].as_array().unwrap().contains(&"log".into()), "{checked}");

    // What has none gets one; what has one, or would be refused, is left as it is.
    let folder = program.data();
    let (bare, manifest) = (folder.join("bare.wasm"), folder.join("manifest.json"));
    let (bare, manifest) = (bare.to_str().unwrap(), manifest.to_str().unwrap());
    std::fs::write(bare, without_manifest(&std::fs::read(file).unwrap())).unwrap();
    std::fs::write(manifest, checked["manifest"].to_string()).unwrap();
    let (exit, _, err) = program.run(&["plugin", "check", bare]);
    assert!(exit == 2 && err.contains("has no manifest"), "{err}");
    let (exit, _, err) = program.run(&["plugin", "stamp", file, "--manifest", manifest]);
    assert!(exit == 2 && err.contains("has a manifest already"), "{err}");
    std::fs::write(folder.join("wrong.json"), r#"{"name": "x"}"#).unwrap();
    let (exit, _, err) =
        program.run(&["plugin", "stamp", bare, "--manifest", folder.join("wrong.json").to_str().unwrap()]);
    assert!(exit == 2 && err.contains("wrong.json: the manifest does not read"), "{err}");
    assert_eq!(program.run(&["plugin", "stamp", bare, "--manifest", manifest]).0, 0);
    assert_eq!(program.json(&["plugin", "check", bare])[0]["manifest"], checked["manifest"]);
    // A grant that is not asked for, and a name that each host has.
    let (exit, _, err) = program.run(&["plugin", "check", file, "--grant", "browser https://shop.example"]);
    assert!(exit == 2 && err.contains("is not asked for by the manifest"), "{err}");
    let mut taken = checked["manifest"].clone();
    taken["tools"][0]["name"] = "capture".into();
    std::fs::write(manifest, taken.to_string()).unwrap();
    let named = folder.join("named.wasm");
    let named = named.to_str().unwrap();
    std::fs::write(named, without_manifest(&std::fs::read(file).unwrap())).unwrap();
    assert_eq!(program.run(&["plugin", "stamp", named, "--manifest", manifest]).0, 0);
    let (exit, _, err) = program.run(&["plugin", "check", named]);
    assert!(exit == 2 && err.contains("offered by plugin `capture` already"), "{err}");
    assert!(program.host().is_none(), "no host was needed");

    let (exit, out, _) = program.run(&["wit"]);
    assert!(exit == 0 && out.contains("package windlass:plugin@0.1.0;"));
    let wit = folder.join("my/wit");
    assert_eq!(program.run(&["wit", wit.to_str().unwrap()]).0, 0);
    assert_eq!(std::fs::read_to_string(wit.join("windlass.wit")).unwrap(), out);
}

#[test]
fn a_plugin_that_asks_for_something_waits_for_a_decision_and_one_that_does_not_is_ready() {
    let program = Program::new();
    program.add("basic_hello");
    let file = guest("http_send");
    let (exit, out, err) = program.run(&["plugin", "add", file.to_str().unwrap()]);
    assert!(exit == 0 && out.contains(" disabled ") && err.contains("plugin enable http_send"), "{out}{err}");
    assert_eq!(program.run(&["run", "basic_hello", "name=Ada"]).0, 0);
    let (_, out, err) = program.run(&["plugin", "check", guest("basic_hello").to_str().unwrap()]);
    assert!(out.contains("The host at http://127.0.0.1:"), "{out}{err}");
}

/// The component with its manifest under another name, of the same length.
fn without_manifest(component: &[u8]) -> Vec<u8> {
    let name = b"windlass:manifest";
    let at = component.windows(name.len()).position(|window| window == name).unwrap();
    let mut bytes = component.to_vec();
    bytes[at..at + name.len()].copy_from_slice(b"windlass:unloaded");
    bytes
}

#[test]
fn what_a_command_is_given_is_read_up_to_a_limit_and_what_it_tells_once_is_not_lost_in_silence() {
    let mut program = Program::new();
    program.serve();
    for arguments in [
        &["plugin", "add", "/dev/zero"][..],
        &["plugin", "check", "/dev/zero"],
        &["run", "script", "/dev/zero"],
        &["run", "capture", "--input", "@/dev/zero"],
    ] {
        let (exit, _, err) = program.run(arguments);
        assert!(exit == 2 && err.contains("has more than"), "{arguments:?}: {err}");
    }
    let full = std::fs::File::options().append(true).open("/dev/full").unwrap();
    let mut create = program.command(&["token", "create", "zed"]);
    let made = create.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8(made.stderr).unwrap();
    assert!(
        made.status.code() == Some(6) && err.contains("could not be shown") && err.contains("token revoke zed"),
        "{err}"
    );
    let empty = program.command(&["tasks", "list"]).env("WINDLASS_TOKEN", "").output().unwrap();
    assert_eq!(empty.status.code(), Some(2), "an empty token is nobody's");
    let (_, _, err) = program.run(&["serve"]);
    assert_eq!(err.matches("in use by process").count(), 1, "{err}");
}
