//! The time zone data of a process, on the real binary.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_testkit::{ApiClient, Process, wait_for};
use serde_json::json;
use tempfile::{TempDir, tempdir};

use super::{ENDS_WITHIN, refused, serve};
use crate::program::{carillon, ended};

/// A zone that is always these hours ahead of UTC, in the format TZif.
fn always(hours: i32) -> Vec<u8> {
    let mut part = b"TZif2".to_vec();
    part.extend([0; 15]);
    for count in [0u32, 0, 0, 0, 1, 4] {
        part.extend(count.to_be_bytes());
    }
    part.extend((hours * 3_600).to_be_bytes());
    part.extend([0, 0]);
    part.extend(b"LMT\0");
    [&part[..], &part[..], format!("\n<ABC>{}\n", -hours).as_bytes()].concat()
}

/// A folder in which Vancouver is three hours ahead of UTC.
pub fn other_data() -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("America")).unwrap();
    fs::write(folder.path().join("America/Vancouver"), always(3)).unwrap();
    fs::write(folder.path().join("tzdata.zi"), "# version 2019c\n").unwrap();
    folder
}

fn with_data(mut command: Command, folder: &Path) -> Command {
    command.env("CARILLON_ZONEINFO", folder);
    command
}

fn next(zone: &str) -> Command {
    carillon(&["next", "--cron", "0 0 9 * * ?", "--timezone", zone, "--from", "2026-11-25T00:00:00Z", "--count", "1"])
}

#[test]
fn r040_the_newest_zones_are_those_of_each_subcommand() {
    for (case, zone, fire) in [
        ("R040a", "America/Vancouver", "2026-11-25T09:00:00-07:00"),
        ("R040b", "America/Winnipeg", "2026-11-25T09:00:00-05:00"),
        ("R040e", "America/Havana", "2026-11-25T09:00:00-04:00"),
    ] {
        assert_eq!(ended(next(zone)).1.trim(), fire, "{case}");
    }
}

#[test]
fn the_version_of_the_zones_is_shown_and_a_folder_can_be_set() {
    let (code, said, _) = ended(carillon(&["--version"]));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((code, lines.len(), lines[0]), (Some(0), 2, concat!("carillon ", env!("CARGO_PKG_VERSION"))));
    assert!(lines[1] >= "tzdata 2026f (" && lines[1].ends_with(')'), "{said}");

    let folder = other_data();
    let version = ended(with_data(carillon(&["-V"]), folder.path())).1;
    assert!(version.ends_with(&format!("\ntzdata 2019c ({})\n", folder.path().display())), "{version}");
    assert_eq!(ended(with_data(next("America/Vancouver"), folder.path())).1.trim(), "2026-11-25T09:00:00+03:00");
    let mut by_flag = next("America/Vancouver");
    by_flag.arg("--zoneinfo").arg(folder.path());
    assert_eq!(ended(by_flag).1.trim(), "2026-11-25T09:00:00+03:00");
}

#[test]
fn a_folder_without_zones_is_refused_with_the_other_wrong_settings() {
    let folder = tempdir().unwrap();
    let wrong = with_data(serve(folder.path(), &["--shards", "none"]), Path::new("/nowhere"));
    let said = ["2 settings are wrong:", "--zoneinfo (CARILLON_ZONEINFO): /nowhere cannot be read", "--shards"];
    refused(wrong, &said);
    let empty = tempdir().unwrap();
    refused(with_data(next("UTC"), empty.path()), &["holds no time zones", "/usr/share/zoneinfo"]);
}

/// A node of this data folder; the address of its API.
async fn node(folder: &Path, token: &str, data: Option<&Path>) -> (Process, ApiClient) {
    let command = serve(folder, &["--api-token", token, "--log-format", "json"]);
    let command = match data {
        Some(data) => with_data(command, data),
        None => command,
    };
    let node = Process::spawn(command);
    let line = node.after("\"message\":\"serving\"").await;
    let address = line.split("\"listen.address\":\"").nth(1).and_then(|it| it.split('"').next()).unwrap().to_owned();
    (node, ApiClient::new([format!("http://{address}")], token, Duration::from_secs(10)))
}

#[tokio::test]
async fn r040_after_an_update_of_the_zones_jobs_are_planned_anew() {
    let (folder, data, token) = (tempdir().unwrap(), other_data(), random_secret());
    let (mut node_before, api) = node(folder.path(), &token, Some(data.path())).await;
    api.post("apps", json!({"name": "orders", "title": "Orders"})).await.ok();
    let job = json!({
        "app": "orders", "name": "close", "handler": "close",
        "schedule": {"kind": "cron", "expression": "0 0 9 1 1 ?", "timezone": "America/Vancouver"},
    });
    let made = api.post("jobs", job).await.ok();
    let address = format!("jobs/{}", made["id"]);
    let next = made["next_fire_at"].as_str().unwrap();
    assert!(next.ends_with("-01-01T06:00:00Z") || next.ends_with("-01-01T06:00:00.000Z"), "{next}");
    assert_eq!(node_before.terminate(ENDS_WITHIN).await.code(), Some(0));

    let (mut node_after, api) = node(folder.path(), &token, None).await;
    wait_for("the job has its fire by the new data", async || {
        let next = api.get(&address).await.ok()["next_fire_at"].as_str().unwrap_or_default().to_owned();
        next.contains("-01-01T16:00:00") || next.contains("-01-01T17:00:00")
    })
    .await;
    assert_eq!(node_after.terminate(ENDS_WITHIN).await.code(), Some(0));
}
