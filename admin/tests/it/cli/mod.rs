//! The command line, on the real binary.

mod audit;
mod demo;
mod guide;
mod next;
mod worker;
pub mod zones;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use carillon_accounts::secret::random_secret;
use carillon_testkit::{ApiClient, Process, wait_for};
use sea_orm::ConnectionTrait as _;
use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::program::{carillon, ended};
use crate::services::runtime;

const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// `carillon … --data-dir FOLDER`, on any free port where it serves.
fn on(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = carillon(arguments);
    command.arg("--data-dir").arg(folder);
    command
}

fn serve(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = on(folder, arguments);
    command.args(["--listen", "127.0.0.1:0"]);
    command
}

fn migrated() -> TempDir {
    let folder = tempdir().unwrap();
    let (code, out, err) = ended(on(folder.path(), &["migrate"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("carillon.db has the schema of carillon"), "{out}");
    folder
}

/// Ends with code 2 and says all of these.
fn refused(command: std::process::Command, said: &[&str]) {
    let (code, _, err) = ended(command);
    assert_eq!(code, Some(2), "{err}");
    for said in said {
        assert!(err.contains(said), "{said:?} is not in {err:?}");
    }
}

#[test]
fn a_command_whose_reader_has_gone_ends_without_a_text() {
    let folder = tempdir().unwrap();
    let mut command = on(folder.path(), &["migrate"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

// covers: A11
#[test]
fn wrong_settings_are_named_with_what_would_be_right() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    refused(serve(folder, &["--listn", "x"]), &["--listn", "similar", "--listen"]);
    refused(serve(folder, &["sevre"]), &["sevre", "serve"]);
    refused(
        serve(folder, &["--in-flight", "0", "--look-ahead", "soon"]),
        &["2 settings are wrong", "--in-flight (CARILLON_IN_FLIGHT)", "500ms, 5s or 24h"],
    );
    refused(
        serve(folder, &["--database-url", "postgres://127.0.0.1/none"]),
        &["--access-token (CARILLON_ACCESS_TOKEN): it is required with PostgreSQL", "at least 16"],
    );
    refused(serve(folder, &["--admin-password", "administrator1"]), &["--admin-password", "easy to guess"]);
    let mut misspelt = serve(folder, &[]);
    misspelt.env("CARILLON_REDIS_ULR", "redis://127.0.0.1/");
    misspelt.env("CARILLON_SHARDS", "many");
    refused(
        misspelt,
        &[
            "2 settings are wrong:",
            "CARILLON_REDIS_ULR is no setting; write CARILLON_REDIS_URL",
            "--shards (CARILLON_SHARDS): ",
        ],
    );
    let mut variable = serve(folder, &[]);
    variable.env("CARILLON_SHARDS", "none");
    refused(variable, &["--shards (CARILLON_SHARDS): `none` is no whole number"]);
}

// covers: S39
#[test]
fn a_database_that_does_not_fit_is_refused() {
    let empty = tempdir().unwrap();
    refused(serve(empty.path(), &["--no-migrate"]), &["lacks the migration", "carillon migrate"]);
    let folder = migrated();
    let url = format!("sqlite://{}", folder.path().join("carillon.db").display());
    runtime().block_on(async {
        let database = sea_orm::Database::connect(url).await.unwrap();
        let future = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
        database.execute_unprepared(future).await.unwrap();
        database.close().await.unwrap();
    });
    for command in [serve(folder.path(), &[]), on(folder.path(), &["migrate"])] {
        refused(command, &["the database is newer than this program", "m9999_later"]);
    }
}

// covers: A2
#[tokio::test]
async fn a_node_starts_stops_and_keeps_what_it_made() {
    let folder = tempdir().unwrap();
    let mut node = Process::spawn(serve(folder.path(), &[]));
    let setup = node.after("  address  ").await;
    assert!(setup.starts_with("http://127.0.0.1:") && setup.ends_with("/setup"), "{setup}");
    assert!(node.after("  secret   ").await.len() >= 32);
    node.after(" serving ").await;
    refused(serve(folder.path(), &[]), &["is used by another Carillon process", "--data-dir"]);
    assert_eq!(node.terminate(ENDS_WITHIN).await.code(), Some(0));

    let token = fs::read_to_string(folder.path().join("access-token")).unwrap();
    refused(serve(folder.path(), &["--shards", "3"]), &["--shards 3 (CARILLON_SHARDS) differs from the 8 shards"]);
    let mut again = Process::spawn(serve(folder.path(), &["serve", "--log-format", "json"]));
    assert!(again.after("\"message\":\"serving\"").await.contains("listen.address"));
    let (code, out, err) = ended(on(folder.path(), &["user", "add", "anna", "--role", "admin"]));
    assert_eq!((code, out.trim().len() >= 32), (Some(0), true), "beside the node: {err}");
    for command in [&["user", "password", "anna"][..], &["user", "list"], &["shards"], &["shards", "set", "4"]] {
        let (code, _, err) = ended(on(folder.path(), command));
        assert_eq!(code, Some(0), "{command:?} beside the node: {err}");
    }
    let four = format!("{:>5}  ", 3);
    wait_for("the node holds the four shards", async || {
        let shown = ended(on(folder.path(), &["shards"])).1;
        shown.lines().count() == 5
            && shown.lines().last().is_some_and(|it| it.starts_with(&four))
            && !shown.contains("nobody")
    })
    .await;
    assert_eq!(fs::read_to_string(folder.path().join("access-token")).unwrap(), token);
    assert_eq!(again.terminate(ENDS_WITHIN).await.code(), Some(0));
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let folder = tempdir().unwrap();
    let mut command = on(folder.path(), &["migrate"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = command.env("RUST_LOG", "trace").stderr(full).stdout(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

// A minimal container has no certificates.
#[tokio::test]
async fn a_node_starts_on_a_machine_without_authorities() {
    let folder = tempdir().unwrap();
    let mut command = serve(folder.path(), &[]);
    command.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", folder.path().join("none"));
    let mut node = Process::spawn(command);
    node.after("this machine has no certificates of authorities").await;
    node.after(" serving ").await;
    assert_eq!(node.terminate(ENDS_WITHIN).await.code(), Some(0));
}

// covers: S8, W18
#[test]
fn accounts_are_made_and_mended() {
    let folder = migrated();
    let user = |arguments: &[&str]| on(folder.path(), &[&["user"], arguments].concat());
    refused(user(&["add", "anna"]), &["--role"]);
    assert_eq!(ended(user(&["add", "anna", "--role", "admin"])).0, Some(0));
    refused(user(&["remove", "anna"]), &["\"anna\" is the last administrator of all apps"]);
    assert_eq!(ended(user(&["add", "carl", "--role", "viewer"])).0, Some(0));
    refused(user(&["add", "dora", "--role", "root"]), &["--role: `root` is not a role; allowed: viewer"]);
    refused(user(&["add", "dora", "--role", "viewer", "--app", "none"]), &["--app: there is no app `none`"]);
    assert_eq!(ended(user(&["list"])).1, "anna\tenabled\tadmin of all apps\ncarl\tenabled\tviewer of all apps\n");
    assert_eq!(ended(user(&["remove", "carl"])).0, Some(0));
    refused(user(&["add", "anna", "--role", "admin"]), &["the name \"anna\" is taken already"]);
    refused(user(&["password", "bert"]), &["the user \"bert\" does not exist"]);
    let (_, first, _) = ended(user(&["password", "anna"]));
    let (_, second, _) = ended(user(&["password", "anna"]));
    assert_ne!(first, second);
    // Standard input is empty here.
    refused(user(&["password", "anna", "--password-stdin"]), &["The password has 0 characters"]);
    let nowhere = folder.path().join("elsewhere");
    refused(on(&nowhere, &["user", "add", "anna", "--role", "admin"]), &["there is no database", "--data-dir"]);
    assert!(!nowhere.exists());
}

#[test]
fn settings_stand_before_and_behind_a_command_of_a_command() {
    let folder = migrated();
    let data = ["--data-dir", folder.path().to_str().unwrap()];
    let answer = |arguments: &[&[&str]]| {
        let (code, out, err) = ended(carillon(&arguments.concat()));
        assert_eq!(code, Some(0), "{err}");
        out
    };
    answer(&[&["user"], &data, &["add", "anna", "--role", "admin"]]);
    for list in [answer(&[&["user"], &data, &["list"]]), answer(&[&["user", "list"], &data])] {
        assert_eq!(list, "anna\tenabled\tadmin of all apps\n");
    }
    for shards in [[&["shards"], &data[..], &["set", "4"]], [&["shards"], &["set", "4"], &data]] {
        refused(carillon(&shards.concat()), &["this database has no shards yet"]);
    }
}

// covers: 004-1, A11
#[tokio::test]
async fn the_demo_runs_jobs_within_twenty_seconds() {
    let token = random_secret();
    let mut demo = Process::spawn(carillon(&["demo", "--listen", "127.0.0.1:0", "--api-token", &token]));
    let console = demo.after("  console    ").await;
    assert!(demo.after("  password   ").await.len() >= 32);
    let data = demo.after("  data       ").await.replace(", removed at the end", "");
    assert!(Path::new(&data).exists());
    let api = ApiClient::new([console.trim_end_matches('/')], &token, Duration::from_secs(10));
    let begun = Instant::now();
    let runs = async || api.get("runs?state=succeeded").await.ok()["items"].as_array().unwrap().clone();
    wait_for("five runs have succeeded", async || runs().await.len() >= 5).await;
    assert!(begun.elapsed() < ENDS_WITHIN, "{:?}", begun.elapsed());
    let hello = runs().await.into_iter().find(|run| run["job"] == "Say hello").unwrap();
    let log = api.get(&format!("runs/{}/log", hello["id"])).await.ok();
    assert!(log["content"].as_str().unwrap().contains("hello, world"), "{log}");
    // The failing job of the demo is reported without a network.
    let jobs = api.get("jobs").await.ok();
    let copy = jobs["items"].as_array().unwrap().iter().find(|job| job["handler"] == "copy").unwrap();
    api.post(&format!("jobs/{}/run", copy["id"]), json!({})).await.ok();
    let states = async || api.get("alert-deliveries").await.column("state");
    wait_for("a message was sent", async || states().await.iter().any(|state| state == "sent")).await;
    let mailbox = fs::read_to_string(Path::new(&data).join("alerts.jsonl")).unwrap();
    assert!(mailbox.contains("Copy to a full disk") && mailbox.contains("no space left on /backup"), "{mailbox}");
    // The report takes 3 s of every 10 s: the end comes while it runs.
    let running = async || api.get("runs?state=running").await.column("job");
    wait_for("a report is running", async || running().await.iter().any(|job| job == "Write the report")).await;
    let before = demo.output().len();
    let ended = demo.terminate(ENDS_WITHIN).await;
    let printed = demo.output().split_off(before);
    assert_eq!(ended.code(), Some(0), "{printed}");
    assert!(!printed.contains("kind=failed"), "a run of its own: {printed}");
    assert!(!Path::new(&data).exists(), "the demo's folder is gone");
}

#[tokio::test]
async fn health_says_whether_the_node_of_these_settings_is_ready() {
    let folder = tempdir().unwrap();
    let mut node = Process::spawn(serve(folder.path(), &["--public-url", "https://console.example/carillon"]));
    let listen = node.after("listen.address=").await;
    let listen = listen.split_whitespace().next().unwrap().trim_matches('"').to_owned();
    let health = |arguments: &[&str]| {
        let mut command =
            on(folder.path(), &["health", "--listen", &listen, "--public-url", "https://console.example/carillon"]);
        command.args(arguments);
        ended(command)
    };
    let (code, out, err) = health(&[]);
    assert_eq!((code, out.lines().next()), (Some(0), Some("ready")), "{err}");
    assert_eq!(health(&["--live"]).1, "alive\n");
    refused(on(folder.path(), &["health", "--listen", "here"]), &["--listen (CARILLON_LISTEN)"]);
    assert_eq!(node.terminate(ENDS_WITHIN).await.code(), Some(0));
    let (code, _, err) = health(&[]);
    assert_eq!(code, Some(1));
    assert!(err.contains("/readyz does not answer"), "{err}");
}

#[test]
fn shells_and_manuals_get_what_the_command_line_has() {
    let (code, out, _) = ended(carillon(&["completions", "bash"]));
    assert!(code == Some(0) && out.contains("--look-ahead"));
    let folder = tempdir().unwrap();
    let mut command = carillon(&["manual"]);
    command.arg(folder.path());
    assert_eq!(ended(command).0, Some(0));
    for page in ["carillon.1", "carillon-serve.1", "carillon-user-add.1"] {
        assert!(folder.path().join(page).exists(), "{page}");
    }
}
