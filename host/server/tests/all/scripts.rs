//! Scripts from the command line: run as they are, installed as tools, written from recordings.

use crate::program::Program;
use serde_json::json;
use std::path::PathBuf;

fn write(program: &Program, name: &str, text: &str) -> String {
    let path: PathBuf = program.data().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const SQUARE: &str = "\
/**
 * Squares a number.
 *
 * @tool square
 * @input {integer} n What is squared.
 * @input {string} [unit=metres] Of what.
 */
log.info(`squares ${input.n}`);
return { squared: input.n ** 2, unit: input.unit };
";

#[test]
fn a_script_is_run_from_its_file_with_the_types_and_defaults_of_its_header() {
    let mut program = Program::new();
    program.serve();
    let square = write(&program, "square.js", SQUARE);
    let (exit, out, err) = program.run(&["run", "script", &square, "n=12"]);
    assert_eq!(exit, 0, "{err}");
    assert!(out.contains("144") && out.contains("metres"), "{out}");
    assert!(err.contains("squares 12"), "{err}");
    let (exit, _, err) = program.run(&["run", "script", &square, "n=twelve"]);
    assert!(exit == 2 && err.contains("n: `twelve` is not a whole number"), "{err}");
    let (exit, _, err) = program.run(&["run", "script", &square]);
    assert!(exit == 2 && err.contains("square.js wants `n`"), "{err}");
    let bare = write(&program, "bare.js", "return input;");
    let (_, out, _) = program.run(&["run", "script", &bare, "a=1", "b=text", "--input", "{\"c\": [2]}"]);
    assert!(out.contains("\"a\":1") && out.contains("\"b\":\"text\"") && out.contains("\"c\":[2]"), "{out}");
    let wrong = write(&program, "wrong.js", "const items = {};\n\nreturn items.mug.price;\n");
    let (exit, _, err) = program.run(&["run", "script", &wrong]);
    assert_eq!(exit, 1);
    assert!(err.contains("cannot read property 'price' of undefined (wrong.js:3:"), "{err}");
    assert!(err.contains("> 3 | return items.mug.price;"), "{err}");
    let (exit, _, err) = program.run(&["run", "script", "/no/such.js"]);
    assert!(exit == 2 && err.contains("/no/such.js can't be read"), "{err}");
}

#[test]
fn a_folder_of_scripts_is_a_plugin_whose_tools_are_the_scripts() {
    let mut program = Program::new();
    program.serve();
    write(&program, "tools/square.js", SQUARE);
    write(
        &program,
        "tools/cube.js",
        "/**\n * Cubes.\n * @permission browser *\n * @input {number} n Of what.\n */\nreturn { cubed: input.n ** 3 };",
    );
    let folder = program.data().join("tools").display().to_string();
    let (exit, out, err) =
        program.run(&["script", "add", &folder, "--name", "powers", "--grant", "browser https://a.example"]);
    assert_eq!(exit, 0, "{err}");
    assert!(out.contains("powers") && out.contains("enabled") && out.contains("browser https://a.example"), "{out}");
    assert!(err.contains("tool square") && err.contains("Cubes."), "{err}");
    let (exit, out, err) = program.run(&["run", "square", "n=5"]);
    assert!(exit == 0 && out.contains("25") && out.contains("metres"), "{out}{err}");
    let (exit, out, err) = program.run(&["run", "cube", "n=2"]);
    assert!(exit == 0 && out.contains('8'), "{out}{err}");
    assert_eq!(program.run(&["run", "square", "n=x"]).0, 2);
    // Another text is another version of the same plugin.
    let before = program.json(&["plugin", "show", "powers"])[0].clone();
    write(
        &program,
        "tools/cube.js",
        "/**\n * Cubes.\n * @permission browser *\n * @input {number} n Of what.\n */\nreturn { cubed: -1 };",
    );
    let (exit, _, err) = program.run(&["script", "add", &folder, "--name", "powers"]);
    assert_eq!(exit, 0, "{err}");
    let after = program.json(&["plugin", "show", "powers"])[0].clone();
    assert!(before["digest"] != after["digest"] && before["version"] != after["version"], "{after}");
    assert_eq!((&after["enabled"], &after["grants"]), (&json!(true), &json!(["browser https://a.example"])), "{after}");
    assert!(program.run(&["run", "cube", "n=2"]).1.contains("-1"));
    let (exit, out, _) = program.run(&["plugin", "remove", "powers"]);
    assert!(exit == 0 && out.contains("removed powers"), "{out}");
}

#[test]
fn a_script_without_the_permission_has_no_page() {
    let mut program = Program::new();
    program.serve();
    let quiet = write(
        &program,
        "quiet.js",
        "/** Tries a page. */\ntry { await page.goto('http://127.0.0.1:1'); } catch (e) { return { code: e.code, message: e.message }; }",
    );
    let (exit, out, err) = program.run(&["script", "add", &quiet]);
    assert_eq!(exit, 0, "{err}");
    assert!(out.contains("quiet"), "{out}");
    assert_eq!(program.run(&["plugin", "enable", "quiet"]).0, 0);
    let (_, out, err) = program.run(&["run", "quiet"]);
    assert!(out.contains("denied") && out.contains("asks for no `browser` permission"), "{out}{err}");
}

#[test]
fn headers_that_are_wrong_are_refused_with_their_line() {
    let program = Program::new();
    let wrong = write(&program, "wrong.js", "/**\n * Does.\n * @permission fly\n */");
    let (exit, _, err) = program.run(&["script", "add", &wrong]);
    assert!(exit == 2 && err.contains("unknown permission `fly`"), "{err}");
    let wrong = write(&program, "odd.js", "/**\n * Does.\n * @colour red\n */");
    let (exit, _, err) = program.run(&["script", "add", &wrong]);
    assert!(exit == 2 && err.contains("odd.js:3: `@colour` is not known"), "{err}");
    assert!(program.host().is_none(), "nothing was started for it");
}

#[test]
fn a_recording_becomes_a_script_without_its_passwords() {
    let program = Program::new();
    let recording = json!({"title": "Log in", "steps": [
        {"type": "navigate", "url": "https://shop.example/login"},
        {"type": "change", "selectors": [["aria/Password"], ["#pw"]], "value": "hunter2"},
        {"type": "click", "selectors": ["#go"], "offsetX": 1, "offsetY": 1},
    ]});
    let file = write(&program, "login.json", &recording.to_string());
    let (exit, out, err) = program.run(&["script", "from-recording", &file]);
    assert_eq!(exit, 0, "{err}");
    assert!(out.starts_with("// Log in\n") && out.contains("await page.locator('#go').click();"), "{out}");
    assert!(out.contains("fillSecret('shop-example-password')") && !out.contains("hunter2"), "{out}");
    assert!(err.contains("the secret `shop-example-password` stands for it"), "{err}");
    let (exit, _, err) = program.run(&["script", "from-recording", &write(&program, "no.json", "{\"title\": 1}")]);
    assert!(exit == 2 && err.contains("Recording.title is not a string"), "{err}");
    let (exit, types, _) = program.run(&["script", "types"]);
    assert!(exit == 0 && types.contains("declare const page: Page;"), "{types}");
}
