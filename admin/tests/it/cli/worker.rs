//! `carillon worker` with a real node: as whom scripts run, what they get, how they end. It wants root, as a worker does.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use carillon_accounts::token::{self, TokenRequest};
use carillon_scheduler::{Clock as _, ScriptKind, SystemClock};
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, Database, GrantScope, Grants, Role, Store};
use carillon_testkit::{ApiClient, Process, Program, free_port};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{carillon, ended, settings};

const APP: &str = "operations";

/// A node, and a worker whose scripts run as one user that nothing else has.
struct Fixture {
    api: ApiClient,
    user: u32,
    worker: Process,
    _node: Program,
    _folder: TempDir,
}

#[test]
fn node_and_worker_know_the_same_script_types() {
    let node: Vec<&str> = ScriptKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(node, carillon_executor::ScriptType::ALL.map(|kind| kind.word()));
    for kind in ScriptKind::ALL {
        assert_eq!(kind.capability(), format!("script:{kind}"));
        assert_eq!(kind.glue_type(), format!("GLUE_{}", kind.as_str().to_ascii_uppercase()));
    }
}

/// A personal token of a person with the right to scripts, which no other token has.
async fn token(folder: &Path) -> String {
    let store = Store::open_beside(&Database::Sqlite { path: folder.join("carillon.db") }).await.unwrap();
    let grants = Grants::for_all(Role::Admin).with_scripts([GrantScope::AllApps]);
    let now = SystemClock::new().now();
    let new = NewAccount { name: "ada", password_hash: "none", grants: &grants };
    let account_id = store.people().create_account(&new, now, &Actor::engine()).await.unwrap();
    let request = TokenRequest { account_id, name: "worker", grants: &grants, days: 1, credentials: 0 };
    token::create(&store, &request, now, &Actor::new("ada", "", grants.clone())).await.unwrap()
}

impl Fixture {
    async fn start() -> Self {
        assert_eq!(
            fs::metadata("/proc/self").unwrap().uid(),
            0,
            "a worker runs scripts as other users: start it as root"
        );
        let folder = tempfile::tempdir().unwrap();
        let mut setup = settings(&folder.path().join("data")).arg("--scripts");
        let node = setup.start().await;
        node.api().post("/apps", json!({"name": APP})).await.ok();
        let api = ApiClient::new([node.url()], &token(&setup.folder).await, Duration::from_secs(30));
        // No other test on this machine has the port.
        let port = free_port();
        let user = 100_000 + u32::from(port);
        let mut command = carillon(&["worker", "--app", APP]);
        command
            .args(["--admin", &node.url(), "--token", &setup.access_token, "--run-as", &user.to_string()])
            .args(["--listen", &format!("127.0.0.1:{port}"), "--data-dir"])
            .arg(folder.path().join("worker"))
            .env("SECRET_OF_THE_WORKER", "hidden");
        let worker = Process::spawn(command);
        worker.after("registered").await;
        Self { api, user, worker, _node: node, _folder: folder }
    }

    /// Starts a script; the id of its run.
    async fn fire(&self, kind: &str, source: &str, more: Value) -> i64 {
        let script = json!({"type": kind, "source": source, "remark": "first version"});
        let mut job = json!({"app": APP, "name": "a script", "handler": "", "script": script});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let job = self.api.post("/jobs", job).await.ok()["id"].as_i64().unwrap();
        self.api.post(&format!("/jobs/{job}/run"), json!({})).await.ok();
        let path = format!("/runs?job_id={job}");
        self.until(async || self.api.get(&path).await.ok()["items"][0]["id"].as_i64()).await
    }

    /// The run once it is in this state.
    async fn run_in(&self, run: i64, state: &str) -> Value {
        let path = format!("/runs/{run}");
        self.until(async || Some(self.api.get(&path).await.ok()).filter(|run| run["state"] == state)).await
    }

    async fn until<T>(&self, condition: impl AsyncFn() -> Option<T>) -> T {
        for _ in 0..600 {
            if let Some(found) = condition().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timed out; processes {:?}; runs {:#}", self.processes(), self.api.get("/runs").await.json);
    }

    /// What the user's processes are called.
    fn processes(&self) -> BTreeSet<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let own = entries.filter(|entry| entry.metadata().is_ok_and(|it| it.uid() == self.user));
        let names = own.filter_map(|entry| fs::read_to_string(entry.path().join("comm")).ok());
        names.map(|name| name.trim().to_owned()).collect()
    }

    async fn log(&self, run: i64, text: &str) -> String {
        let path = format!("/runs/{run}/log");
        self.until(async || {
            let content = self.api.get(&path).await.ok()["content"].as_str().unwrap().to_owned();
            content.contains(text).then_some(content)
        })
        .await
    }
}

// covers: S26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_runs_as_another_user_that_cannot_become_root() {
    let mut it = Fixture::start().await;
    // Root's own program, with the bit by which it would run as root.
    let tools = tempfile::tempdir().unwrap();
    let id = tools.path().join("id");
    fs::copy("/usr/bin/id", &id).unwrap();
    fs::set_permissions(tools.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&id, fs::Permissions::from_mode(0o4755)).unwrap();
    let source = format!(
        "env | sort\nid -u\n{} -u\npwd\nread line || echo no input\necho to stderr >&2\necho \"args $*\"\n",
        id.display()
    );
    let run = it.fire("shell", &source, json!({"params": "a b"})).await;
    let ended = it.run_in(run, "succeeded").await;
    assert_eq!(ended["message"], "args a b 0 1", "the last line is the result");
    let log = it.log(run, "args a b 0 1").await;
    // Behind day and time: a script has no handler that a line could name.
    let printed = |line: &&str| line.splitn(3, ' ').nth(2) == Some(&it.user.to_string());
    assert_eq!(log.lines().filter(printed).count(), 2, "neither by itself nor by a program of root's: {log}");
    assert!(log.contains("no input") && log.contains("to stderr"), "{log}");
    assert!(log.contains(&format!("CARILLON_RUN_ID={run}")), "{log}");
    assert!(!log.contains("hidden") && !log.contains("TOKEN"), "{log}");
    let home = log.lines().find_map(|line| line.split_once("HOME=")).unwrap().1;
    it.until(async || (!fs::exists(home).unwrap()).then_some(())).await;
    let all = Path::new(home).parent().unwrap();
    assert!(all.exists());
    assert_eq!(it.worker.terminate(Duration::from_secs(20)).await.code(), Some(0));
    assert!(!all.exists(), "nothing of the worker stays");
}

// covers: S26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_a_script_has_started_ends_with_it() {
    let it = Fixture::start().await;
    let source =
        "trap '' TERM\nsetsid sleep 1000 &\n(setsid sh -c 'sleep 1000; true' &)\nsleep 1000 &\nwait\nsleep 1000\n";
    let run = it.fire("shell", source, json!({})).await;
    it.until(async || it.processes().contains("sleep").then_some(())).await;
    it.api.post(&format!("/runs/{run}/kill"), json!({})).await.ok();
    it.run_in(run, "killed").await;
    it.until(async || it.processes().is_empty().then_some(())).await;

    let run = it.fire("shell", source, json!({"timeout_seconds": 1})).await;
    let ended = it.run_in(run, "failed").await;
    assert_eq!(ended["message"], "job execute timeout");
    it.until(async || it.processes().is_empty().then_some(())).await;

    let run = it.fire("shell", "setsid sleep 1000 >/dev/null 2>&1 &\n", json!({})).await;
    it.run_in(run, "succeeded").await;
    it.until(async || it.processes().is_empty().then_some(())).await;
}

// covers: S26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_worker_has_left_behind_ends_before_its_user_gets_another_script() {
    let it = Fixture::start().await;
    let mut left = Command::new("/usr/bin/sleep").arg("1000").uid(it.user).gid(it.user).spawn().unwrap();
    // It stays as a zombie, as the test is its parent.
    let source = format!("grep -q zombie /proc/{}/status && echo alone\n", left.id());
    let run = it.fire("shell", &source, json!({})).await;
    assert_eq!(it.run_in(run, "succeeded").await["message"], "alone");
    assert_eq!(left.wait().unwrap().signal(), Some(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_told_by_its_code_or_signal_and_the_last_line() {
    let it = Fixture::start().await;
    let source = "import sys\nprint(sys.argv[1:])\nprint('broken', file=sys.stderr)\nsys.exit(3)\n";
    let run = it.fire("python", source, json!({})).await;
    assert_eq!(it.run_in(run, "failed").await["message"], "script exit value(3) is failed: broken");
    assert!(it.log(run, "broken").await.contains("['', '0', '1']"));
    let run = it.fire("shell", "kill -9 $$\n", json!({})).await;
    assert_eq!(it.run_in(run, "failed").await["message"], "the script was ended by signal 9");
}

#[test]
fn wrong_settings_of_a_worker_are_named_all_at_once() {
    let admin = "http://127.0.0.1:1";
    let arguments = ["worker", "--admin", admin, "--app", APP, "--run-as", "root", "--interpreter", "perl=/bin/sh"];
    let (code, _, said) = ended(carillon(&arguments));
    assert_eq!(code, Some(2), "{said}");
    let faults =
        ["--token: is missing", "--run-as: `root` names no users", "--interpreter: `perl=/bin/sh` is not TYPE=PATH"];
    for fault in faults {
        assert!(said.contains(fault), "{fault}: {said}");
    }
}
