//! The executors, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A published executor.
pub struct Client {
    /// In the table.
    pub order: usize,
    pub name: &'static str,
    start: Start,
}

enum Start {
    /// The release of `xxl-job-core`.
    Java(&'static str),
    /// The program and its arguments, in the folder `clients`.
    Python(&'static [&'static str]),
    /// An environment variable has the path of the program.
    Program(&'static str),
}

const ALL: [(&str, Start); 10] = [
    ("xxl-job-core 2.3.1 (Java)", Start::Java("2.3.1")),
    ("xxl-job-core 2.5.0 (Java)", Start::Java("2.5.0")),
    ("xxl-job-core 3.2.0 (Java)", Start::Java("3.2.0")),
    ("xxl-job-core 3.3.2 (Java)", Start::Java("3.3.2")),
    ("xxl-job-executor-go 1.2.0", Start::Program("INTEROP_GO")),
    ("pyxxl 0.4.8", Start::Python(&["pyxxl_executor.py", "pyxxl"])),
    ("pyxxljob 1.0.7", Start::Python(&["pyxxl_executor.py", "pyxxljob"])),
    ("flask-xxljob 0.4.0", Start::Python(&["flask.py"])),
    ("fastapi-xxljob 0.1.0", Start::Python(&["fastapi.py"])),
    ("xxljob-sdk-rs 0.1.4", Start::Program("INTEROP_RUST")),
];

/// Those of the gate: `.ci/interop --gate` builds no others.
const GATE: [&str; 3] = ["xxl-job-core 3.3.2 (Java)", "xxl-job-executor-go 1.2.0", "pyxxl 0.4.8"];

fn all() -> impl Iterator<Item = Client> {
    ALL.into_iter().enumerate().map(|(order, (name, start))| Client { order, name, start })
}

pub fn of_gate() -> Vec<Client> {
    let found: Vec<Client> = all().filter(|client| GATE.contains(&client.name)).collect();
    assert_eq!(found.len(), GATE.len(), "each client of the gate is one of the table");
    found
}

/// Those whose names have one of the parts; without any, all.
pub fn named(parts: &[String]) -> Vec<Client> {
    for part in parts {
        assert!(all().any(|client| client.name.contains(part)), "no executor has {part:?} in its name");
    }
    all().filter(|client| parts.is_empty() || parts.iter().any(|part| client.name.contains(part))).collect()
}

impl Client {
    /// It works in `folder`; the environment says where the node is.
    pub fn command(&self, folder: &Path) -> Command {
        match self.start {
            Start::Java(release) => {
                let built = setting("INTEROP_JAVA").join(release);
                let mut command = Command::new("java");
                let parts = [built.join("classes"), built.join("lib/*")].map(|path| path.display().to_string());
                command.args(["-Xmx128m", "-cp", &parts.join(":"), "Executor"]);
                command
            }
            Start::Python(arguments) => {
                // Beside modules that have the names of libraries a program would import these.
                for file in ["jobs.py", "work.py"] {
                    std::fs::copy(sources().join(file), folder.join(file)).unwrap();
                }
                let program = folder.join("executor.py");
                std::fs::copy(sources().join(arguments[0]), &program).unwrap();
                let mut command = Command::new(setting("CARILLON_TEST_PYTHON"));
                command.arg(program).args(&arguments[1..]);
                command
            }
            Start::Program(variable) => Command::new(setting(variable)),
        }
    }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/clients")
}

fn setting(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `make interop`")).into()
}
