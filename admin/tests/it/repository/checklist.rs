//! `admin/docs/security.md` against the tests that it names, and rules about sources that no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::sources::{Files, PRODUCT, files};

const DOCUMENT: &str = include_str!("../../../docs/security.md");

/// Names of all tests.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in files("").into_iter().filter(|(path, _)| path.ends_with(".rs")) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let has_macro = lines.contains(&"databases! {");
        for (index, line) in lines.iter().enumerate() {
            let Some(name) = function(line) else { continue };
            let above = lines[..index].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
            let is_test = above.into_iter().any(|line| line.contains("test]") || line.contains("test("));
            if is_test || has_macro && path.contains("tests/") {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

fn function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?;
    rest.split(['(', '<']).next()
}

/// The rows of the tables: the first cell, and the last.
fn rows() -> BTreeMap<&'static str, &'static str> {
    let cells = |line: &'static str| -> Option<(&'static str, &'static str)> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let is_row =
            cells.len() == 3 && cells[0] != "---" && !cells[0].starts_with("item") && !cells[0].starts_with("exploit");
        is_row.then(|| (cells[0], cells[2]))
    };
    DOCUMENT.lines().filter_map(cells).collect()
}

#[test]
fn each_item_of_the_checklist_names_its_tests_or_says_why_it_has_none() {
    let (tests, rows) = (tests(), rows());
    let findings = (1..=11).map(|number| format!("V{number}")).chain((1..=10).map(|number| format!("V12.{number}")));
    let mut wrong = vec![];
    for item in (1..=40).map(|number| format!("S{number}")).chain(findings) {
        if !rows.contains_key(item.as_str()) {
            wrong.push(format!("{item} has no row"));
        }
    }
    for (item, proof) in rows {
        let named: Vec<&str> = proof.split('`').skip(1).step_by(2).filter(|name| name.contains('_')).collect();
        wrong.extend(named.iter().filter(|name| !tests.contains(**name)).map(|name| format!("{item}: no test {name}")));
        if named.is_empty() && !proof.contains("Review: ") && !proof.contains("Not built: ") {
            wrong.push(format!("{item} names neither a test nor a reason"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn product() -> Files {
    let all = PRODUCT
        .iter()
        .flat_map(|folder| files(folder).into_iter().map(move |(path, text)| (format!("{folder}/{path}"), text)));
    all.collect()
}

/// In which way a page, or its script, would take a text for markup.
const FILTERS: &[&str] = &["|safe", "| safe", "escape = \"none\"", "<script>"];
const TYPES: &[&str] = &["HtmlSafe", "MarkupDisplay", "escape = \"none\""];
/// Texts of the catalogue have tags; it escapes what is put into them.
const CATALOGUE: &str = "admin/locale/src/message.rs";
const SCRIPT: &[&str] = &["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"];

// covers: S28
#[test]
fn nothing_turns_a_text_into_markup() {
    for (path, text) in files("templates") {
        let found: Vec<_> = FILTERS.iter().filter(|word| text.contains(**word)).collect();
        assert!(found.is_empty(), "{path} has {found:?}");
    }
    for (path, text) in product().into_iter().filter(|(path, _)| path != CATALOGUE && path.ends_with(".rs")) {
        let found: Vec<_> = TYPES.iter().filter(|word| text.contains(**word)).collect();
        assert!(found.is_empty(), "{path} has {found:?}");
    }
    for (path, text) in files("static").into_iter().filter(|(path, _)| path.ends_with(".js")) {
        for word in SCRIPT {
            assert!(!text.contains(word), "{path} has {word}");
        }
    }
}

/// What sends a statement that has no parameters of its own.
const STATEMENTS: &[&str] = &["Statement::from_string", "execute_unprepared", "sqlx::"];

// covers: S30
#[test]
fn statements_are_written_in_the_store_alone_and_hold_no_values() {
    for (path, text) in product() {
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !path.starts_with("admin/store/") {
            let found: Vec<_> = STATEMENTS.iter().filter(|word| product.contains(**word)).collect();
            assert!(found.is_empty(), "{path} has {found:?}");
        }
        for statement in product.split("format!(").skip(1).map(|rest| rest.split(")?").next().unwrap_or_default()) {
            let statement = statement.split(';').next().unwrap_or_default();
            let is_sql =
                ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", " WHERE "].iter().any(|word| statement.contains(word));
            assert!(
                !is_sql || !statement.replace("''", "").contains("'{"),
                "{path} puts a value between quotes: {statement}"
            );
        }
    }
}

/// Formats that name types or hold code, languages of templates and expressions.
const EVALUATING: &[&str] = &[
    "bincode",
    "boa_engine",
    "deno_core",
    "evalexpr",
    "handlebars",
    "libloading",
    "liquid",
    "minijinja",
    "mlua",
    "rhai",
    "rlua",
    "serde_pickle",
    "tera",
    "typetag",
    "wasmer",
    "wasmtime",
];

// covers: S35
#[test]
fn no_library_evaluates_texts_or_makes_objects_of_named_types() {
    let lock = include_str!("../../../../Cargo.lock");
    let locked: BTreeSet<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    assert!(locked.contains("serde_json"));
    let found: Vec<_> = EVALUATING.iter().filter(|name| locked.contains(**name)).collect();
    assert!(found.is_empty(), "{found:?}");
}

// covers: S1
#[test]
fn the_program_holds_no_known_token() {
    // Cut in two, so that no source holds them.
    let known = [("default", "_token"), ("xxl-job", "-token"), ("e10adc3949ba59ab", "be56e057f20f883e")];
    for (start, end) in known {
        let secret = format!("{start}{end}");
        // A debug build has 300 MB, which take half a minute here.
        let found = Command::new("grep").args(["-qF", &secret, env!("CARGO_BIN_EXE_carillon")]).status().unwrap();
        assert_eq!(found.code(), Some(1), "{secret}");
    }
}

// covers: S38
#[test]
fn own_crates_have_no_unsafe_code_and_the_gate_checks_dependencies() {
    let files = files("");
    let workspace = &files["Cargo.toml"];
    assert!(workspace.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), "{workspace}");
    assert!(workspace.contains("overflow-checks = true"), "{workspace}");
    let is_own = |path: &str| path.ends_with("/Cargo.toml") && !path.contains("tests/interop/clients/");
    let without: Vec<_> =
        files.iter().filter(|(path, text)| is_own(path) && !text.contains("[lints]\nworkspace = true")).collect();
    assert!(without.is_empty(), "{without:?}");
    let (make, gate) = (&files["Makefile"], &files[".ci/check"]);
    assert!(make.contains("--locked check licenses bans sources\n") && gate.contains("\nstage deny "), "{gate}");
}

/// The gate has no network, so it cannot do it.
// covers: V12.10
#[test]
fn one_command_checks_advisories_and_the_documents_say_when_to_run_it() {
    let files = files("");
    assert!(files["Makefile"].contains("\nadvisories: ## ") && files["Makefile"].contains("--locked check advisories"));
    let development = &files["admin/docs/development.md"];
    assert!(development.contains("Before a release, on a machine with a network: `make advisories`"), "{development}");
}
