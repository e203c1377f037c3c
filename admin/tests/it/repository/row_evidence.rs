//! What proves a row that no test can prove: a benchmark whose figure is in the documents, or faults of the fault suite.
//!
//! `benchmark: COMMAND: FIGURE` names a command (`make bench ARGS='…'` or `cargo bench -p CRATE --bench NAME -- …`) whose benchmark, options
//! and mode exist, and a figure that stands in `performance.md` or `evidence.md` in these words. `faults: NAME, NAME` names faults and
//! rehearsals of the crate `carillon-chaos`, whose checker judges every run by the same rules.

use super::sources::{Files, files};

const PAPERS: [&str; 2] = ["admin/docs/performance.md", "admin/docs/evidence.md"];
const CATALOGUE: &str = "admin/tests/chaos/src/nemesis/fault_catalogue.rs";
const REHEARSALS: &str = "admin/tests/chaos/src/options.rs";

/// What the evidence of a row may name.
pub struct Evidence {
    files: Files,
}

impl Evidence {
    pub fn read() -> Self {
        Self { files: files("") }
    }

    /// Why `COMMAND: FIGURE` is no evidence.
    pub fn benchmark(&self, state: &str) -> Result<(), String> {
        let (command, figure) = state.split_once(": ").ok_or("has a command and no figure")?;
        let Command { package, bench, arguments } = Command::parse(command).ok_or("is no command of a benchmark")?;
        let name = format!("name = \"{package}\"\n");
        let is_its = |(path, text): &(&String, &String)| path.ends_with("Cargo.toml") && text.contains(&name);
        let (manifest, text) = self.files.iter().find(is_its).ok_or_else(|| format!("no crate is called {package}"))?;
        if !text.contains(&format!("[[bench]]\nname = \"{bench}\"\n")) {
            return Err(format!("{package} has no benchmark {bench}"));
        }
        let folder = manifest.trim_end_matches("Cargo.toml");
        let sources: String =
            self.files.iter().filter(|(path, _)| is_source(path, folder, bench)).map(|(_, text)| &**text).collect();
        for word in arguments.split_whitespace().filter(|word| !is_value(word)) {
            if !accepts(&sources, word) {
                return Err(format!("the benchmark {bench} knows no {word}"));
            }
        }
        let is_there = |path: &&str| self.files[*path].replace("**", "").contains(figure);
        if figure.contains(|c: char| c.is_ascii_digit()) && PAPERS.iter().any(is_there) {
            return Ok(());
        }
        Err(format!("neither of {} says {figure:?}", PAPERS.join(" and ")))
    }

    /// Why these names are no evidence.
    pub fn faults(&self, names: &str) -> Result<(), String> {
        let (catalogue, rehearsals) = (&self.files[CATALOGUE], &self.files[REHEARSALS]);
        for name in names.split(", ") {
            if !catalogue.contains(&format!("kind(\"{name}\", ")) && !rehearsals.contains(&format!(" => \"{name}\",")) {
                return Err(format!("the fault suite has no fault {name:?}"));
            }
        }
        Ok(())
    }
}

fn is_source(path: &str, folder: &str, bench: &str) -> bool {
    let inner = path
        .strip_prefix(folder)
        .and_then(|path| path.strip_prefix("benches/"))
        .and_then(|path| path.strip_prefix(bench));
    inner.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// A value of an option, such as a number, a list, or a database.
fn is_value(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || ["sqlite", "postgres", "mariadb", "ratchjob"].contains(&word)
}

/// Whether the sources of a benchmark declare this option or this mode.
fn accepts(sources: &str, word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(option) => sources.lines().any(|line| {
            let line = line.trim_start();
            line.strip_prefix("pub ").unwrap_or(line).starts_with(&format!("{}: ", option.replace('-', "_")))
        }),
        None => sources.lines().any(|line| line.trim().to_lowercase() == format!("{word},")),
    }
}

/// The benchmark that a command starts, and what it is given.
struct Command<'a> {
    package: &'a str,
    bench: &'a str,
    arguments: &'a str,
}

impl<'a> Command<'a> {
    fn parse(command: &'a str) -> Option<Self> {
        let of_make = command.strip_prefix("make bench ARGS='").and_then(|rest| rest.strip_suffix('\''));
        let rest = match of_make {
            // The benchmark of a node's throughput, if the arguments name none.
            Some(arguments) if !arguments.starts_with("-p ") => {
                return Some(Self { package: "carillon-admin", bench: "throughput", arguments });
            }
            Some(arguments) => arguments,
            None => command.strip_prefix("cargo bench ")?,
        };
        let (package, rest) = rest.strip_prefix("-p ")?.split_once(" --bench ")?;
        let (bench, arguments) = rest.split_once(" -- ").unwrap_or((rest, ""));
        Some(Self { package, bench, arguments })
    }
}

#[test]
fn evidence_that_does_not_exist_is_refused() {
    let evidence = Evidence::read();
    let good = "make bench ARGS='--scan-lag --jobs 100000 --every 60 --spread': p99 865 ms";
    assert_eq!(evidence.benchmark(good), Ok(()));
    assert_eq!(
        evidence.benchmark("make bench ARGS='-p carillon-admin --bench flows -- chain --nodes 3': 53 ms"),
        Ok(())
    );
    for (state, why) in [
        ("make bench ARGS='--jobs 1000'", "has a command and no figure"),
        ("make test: 1 ms", "is no command of a benchmark"),
        ("cargo bench -p carillon-none --bench timers: 1 ms", "no crate is called carillon-none"),
        ("cargo bench -p carillon-engine --bench throughput: 1 ms", "carillon-engine has no benchmark throughput"),
        ("make bench ARGS='--scan-log': p99 865 ms", "the benchmark throughput knows no --scan-log"),
        ("cargo bench -p carillon-admin --bench flows -- chains: 53 ms", "the benchmark flows knows no chains"),
    ] {
        assert_eq!(evidence.benchmark(state), Err(why.to_owned()));
    }
    let invented = evidence.benchmark("make bench ARGS='--jobs 1000': p99 0.001 ms").unwrap_err();
    assert!(invented.ends_with("says \"p99 0.001 ms\""), "{invented}");
    assert_eq!(evidence.faults("admin_kill, redis_away"), Ok(()));
    assert_eq!(
        evidence.faults("admin_kill, admin_flood"),
        Err("the fault suite has no fault \"admin_flood\"".to_owned())
    );
}
