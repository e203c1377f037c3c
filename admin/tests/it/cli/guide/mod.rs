//! The commands of the documents, as their readers run them.
//!
//! Each `sh` block of a document in [`chapters`] runs in order in one shell (`bash -euo pipefail`), in an empty folder, with the tested
//! `carillon` on the path. A block that begins with a program of [`LONG`] is left running, and ended by Ctrl-C (SIGINT) before a
//! later block with the same program, or killed at the end. A `text` block that follows is the output of both streams:
//!
//! * a line `…` stands for any lines, `…` in a line for any text; blanks count as one;
//! * ports of [`chapters::PORTS`] become free ones, in commands and outputs; any address of 127.0.0.1 matches any other;
//! * an instant that is printed and lies within 400 days of now matches any instant; others must be the same;
//! * a measure (`12 ms`, `3.5 MiB`) matches any other, so does a number with a point; other numbers must be the same;
//! * a secret, of 20 characters or more with letters and digits, matches any other.
//!
//! Blocks that need root and Debian, containers or a build are in [`chapters::ELSEWHERE`] with the target that runs them. A block in
//! neither list fails, in any document.

mod blocks;
mod chapters;
mod output;
mod session;
mod xxl_rows;

use std::collections::BTreeMap;
use std::path::Path;

use carillon_testkit::free_port;

use self::blocks::{Commands, blocks, commands, disguised};
use self::chapters::{ALL, Chapter, ELSEWHERE, PORTS, Service};
use self::session::Session;
use crate::moving::tables::XxlJob;
use crate::repository::sources::files;
use crate::services::{Kind, TestDatabase, redis_url, runtime, setting};

/// Programs that run until they are stopped.
const LONG: &[&str] =
    &["carillon serve", "carillon demo", "carillon worker", "carillon shadow", "cargo run", "python3 executor.py"];

/// The program with which a block begins, behind the variables before it, if it runs on.
fn long(block: &str) -> Option<&'static str> {
    let line = block.lines().next()?;
    let is_foreground = !line.contains(" &");
    LONG.iter().find(|long| is_foreground && without_variables(line).starts_with(**long)).copied()
}

/// The command behind `NAME=value` and `NAME=$(command with blanks)`.
fn without_variables(line: &str) -> &str {
    let mut depth = 0;
    let end = line.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth == 0
    });
    match end {
        Some(end) if line[..end].contains('=') => without_variables(&line[end + 1..]),
        _ => line,
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What lives as long as a chapter is run.
struct Services {
    databases: Vec<TestDatabase>,
    xxl_job: Option<XxlJob>,
    variables: BTreeMap<&'static str, String>,
}

impl Services {
    async fn start(wanted: &[Service]) -> Self {
        let variables = BTreeMap::from([("CHECKOUT", root().display().to_string())]);
        let mut this = Self { databases: vec![], xxl_job: None, variables };
        for service in wanted {
            match service {
                Service::Postgres => this.database("POSTGRES", Kind::Postgres).await,
                Service::Mariadb => this.database("MARIADB", Kind::Mariadb).await,
                Service::Redis => this.set("REDIS", redis_url()),
                Service::Python => this.set("PYTHON", setting("CARILLON_TEST_PYTHON")),
                Service::XxlJob => {
                    let xxl = xxl_rows::xxl_job().await;
                    let url = xxl.database.direct_url();
                    this.set("XXL_NAME", url.rsplit('/').next().unwrap_or_default().to_owned());
                    this.set("XXL_JOB", url);
                    this.xxl_job = Some(xxl);
                }
            }
        }
        this
    }

    async fn database(&mut self, name: &'static str, kind: Kind) {
        let database = TestDatabase::empty(kind).await;
        self.set(name, database.direct_url());
        self.databases.push(database);
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.variables.insert(name, value);
    }

    /// What stands for this text of a document.
    fn value(&self, fill: &str) -> String {
        self.variables.iter().fold(fill.to_owned(), |fill, (name, value)| fill.replace(&format!("${name}"), value))
    }
}

/// The text with the ports in place of the numbers, where these stand alone.
fn with_ports(text: &str, ports: &BTreeMap<&str, String>) -> String {
    let (mut filled, mut number) = (String::new(), String::new());
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        filled.push_str(ports.get(number.as_str()).unwrap_or(&number));
        number.clear();
        filled.push(c);
    }
    filled.pop();
    filled
}

/// Runs all blocks of a document.
fn run(chapter: &Chapter) {
    let runtime = runtime();
    let services = runtime.block_on(Services::start(chapter.services));
    let markdown = std::fs::read_to_string(root().join(chapter.path)).unwrap();
    let ports: BTreeMap<&str, String> = PORTS.iter().map(|port| (*port, free_port().to_string())).collect();
    let filled = |text: &str| {
        let text = with_ports(text, &ports);
        chapter.fills.iter().fold(text, |text, (name, value)| text.replace(name, &services.value(value)))
    };
    let mut environment: Vec<(&str, String)> =
        services.variables.iter().map(|(name, url)| (*name, url.clone())).collect();
    environment.extend([
        ("CARILLON_LISTEN", filled("127.0.0.1:8080")),
        ("CARILLON_SERVER", filled("http://127.0.0.1:8080")),
        ("CARILLON_WORKER_LISTEN", filled("127.0.0.1:9997")),
        // What cargo has fetched is there: a chapter has a home of its own.
        ("OWN_HOME", std::env::var("HOME").unwrap()),
        ("BUILT", Path::new(env!("CARGO_BIN_EXE_carillon")).parent().unwrap().display().to_string()),
    ]);
    let mut session = Session::start(&environment);
    let stage = format!("{}{}", include_str!("stages/all.sh"), chapter.stage);
    session.run(&filled(&stage)).unwrap_or_else(|error| panic!("{}: the stage: {error}", chapter.path));
    for Commands { block, output } in commands(&markdown) {
        let (text, shown) = (filled(&block.text), output.as_deref().map(filled));
        let place = format!("{}:{}", chapter.path, block.line);
        let stop = |error: String| -> ! { panic!("{place}: {error}\n{text}") };
        for (line, meanwhile) in chapter.before {
            if block.text.lines().any(|it| it == *line) {
                session.run(&filled(meanwhile)).unwrap_or_else(|error| stop(error));
            }
        }
        if let Some(name) = long(&text) {
            session.leave_running(name, &text, shown.as_deref()).unwrap_or_else(|error| stop(error));
            continue;
        }
        let printed = session.run(&text).unwrap_or_else(|error| stop(error));
        if let Some(shown) = shown {
            let is_same = output::matches(&shown, &printed, false);
            assert!(is_same, "{place} prints another text than the document shows:\n{printed}\n--- shown:\n{shown}");
        }
    }
    drop(session);
    let _inside = runtime.enter();
    drop(services);
}

macro_rules! chapters {
    ($($name:ident: $chapter:ident)+) => {$(
        #[test]
        fn $name() {
            run(&chapters::$chapter);
        }
    )+};
}

chapters! {
    the_first_hour: FIRST_HOUR
    workflows: WORKFLOWS
    three_nodes: THREE_NODES
    an_upgrade: UPGRADE
    backups: BACKUP
    how_big_it_gets: SIZE
    moving_from_xxl_job: XXL_JOB
    moving_from_crontabs: CRONTAB
    jobs_as_files: FILES
    troubleshooting: TROUBLESHOOTING
    the_worker: WORKER
    operations: OPERATIONS
    the_api: API
    delayed_triggers: DELAYED
    diagnosis: DIAGNOSIS
}

/// The documents of which each block has to be run: Markdown file below the root, and text.
fn documents() -> BTreeMap<String, String> {
    let below = |folder: &str| {
        files(folder).into_iter().map(move |(path, text)| (folder.to_owned(), path, text)).collect::<Vec<_>>()
    };
    let sdk = below("executor-sdk").into_iter().filter(|(_, path, _)| !path.contains('/'));
    let files = below("admin/docs").into_iter().chain(sdk).filter(|(_, path, _)| path.ends_with(".md"));
    let mut documents: BTreeMap<_, _> = files.map(|(folder, path, text)| (format!("{folder}/{path}"), text)).collect();
    documents.insert("README.md".into(), std::fs::read_to_string(root().join("README.md")).unwrap());
    documents
}

#[test]
fn each_block_of_commands_is_run_here_or_by_a_named_target() {
    let mut wrong = vec![];
    for (path, text) in documents() {
        let is_chapter = ALL.iter().any(|chapter| chapter.path == path);
        for block in blocks(&text) {
            let is_elsewhere =
                ELSEWHERE.iter().any(|it| it.path == path && block.text.lines().any(|line| line == it.line));
            wrong.extend(disguised(&block).map(|why| format!("{path}:{}: {why}", block.line)));
            if block.language == "sh" && !is_chapter && !is_elsewhere {
                wrong.push(format!("{path}:{}: no test runs this block", block.line));
            }
        }
    }
    for it in ELSEWHERE {
        let (file, named) = it.target;
        let is_block = blocks(&documents()[it.path]).iter().any(|block| block.text.lines().any(|line| line == it.line));
        if !is_block {
            wrong.push(format!("{} has no block with the line `{}` any more", it.path, it.line));
        }
        if !std::fs::read_to_string(root().join(file)).unwrap().contains(named) {
            wrong.push(format!("{file} does not have `{named}`, for {}", it.path));
        }
    }
    for chapter in ALL {
        let has_commands = documents().get(chapter.path).is_some_and(|text| !commands(text).is_empty());
        if !has_commands {
            wrong.push(format!("{} has no commands", chapter.path));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The test of the chapter starts the example that the workspace has built.
#[test]
fn the_executor_of_the_first_hour_is_an_example_of_the_sdk() {
    let markdown = std::fs::read_to_string(root().join(chapters::FIRST_HOUR.path)).unwrap();
    let shown: Vec<_> = blocks(&markdown).into_iter().filter(|block| block.language == "rust").collect();
    let example = include_str!("../../../../../executor-sdk/examples/greeter.rs");
    assert_eq!(shown.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), [example]);
}

#[test]
fn programs_that_run_on_are_known_by_their_beginning() {
    assert_eq!(long("carillon serve --data-dir x\n"), Some("carillon serve"));
    assert_eq!(long("A=b C=$(cat d) cargo run --quiet\n"), Some("cargo run"));
    assert_eq!(long("carillon user list\n").or(long("carillon serve --listen 1 &\n")).or(long("api=1\n")), None);
    let ports = BTreeMap::from([("8080", "1".to_owned())]);
    assert_eq!(with_ports(":8080/ 18080 8080", &ports), ":1/ 18080 1");
}
