//! The wall clock of the machine is set while a node on SQLite runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carillon_testkit::{now_ms, wait_for};
use serde_json::json;

use super::load::{APP, Load, every_second};
use crate::program::{carillon, ended, settings};

const HOUR: i64 = 3600;

/// libfaketime of Debian; the tests' machines have it, see the README of this crate.
fn library() -> PathBuf {
    let folder = |machine| format!("/usr/lib/{machine}-linux-gnu/faketime/libfaketime.so.1");
    let found = ["x86_64", "aarch64"].map(folder).map(PathBuf::from);
    let found = found.into_iter().find(|path| path.exists());
    found.expect("libfaketime: install the package `faketime`")
}

/// The wall clock of a process, but not its monotonic one, follows a file.
fn faked(file: &Path) -> [(&'static str, PathBuf); 5] {
    [
        ("LD_PRELOAD", library()),
        ("FAKETIME_TIMESTAMP_FILE", file.to_owned()),
        ("FAKETIME_NO_CACHE", "1".into()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("DONT_FAKE_MONOTONIC", "1".into()),
    ]
}

// covers: F1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_on_sqlite_follows_a_clock_that_is_set_an_hour_ahead_and_then_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clock");
    let set = |seconds: i64| std::fs::write(&file, format!("{seconds:+}\n")).unwrap();
    set(0);
    let mut setup = settings(folder.path());
    for (name, value) in faked(&file) {
        setup = setup.env(name, value);
    }
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 1, vec![every_second(&json!({}))]).await;
    load.until_received(3).await;
    set(HOUR);
    let latest = || {
        let receipts = load.receipts();
        receipts.iter().map(|it| it.scheduled_at).max().unwrap()
    };
    let before = latest();
    // Three readings, a second apart, and the way of a run. The limit is for machines that do much else.
    let limit = Instant::now() + Duration::from_secs(30);
    while latest() < before + (HOUR - 10) * 1000 {
        assert!(Instant::now() < limit, "the runs are those of the old time");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let received = load.received();
    load.until_received(received + 3).await;
    // About 3600 s: a reading on a busy machine is some milliseconds late.
    assert_eq!(node.log("has jumped by 3").len(), 1);

    let mut audit = carillon(&["audit", "--since", "2h"]);
    audit.env("CARILLON_DATA_DIR", &setup.folder);
    audit.envs(faked(&file));
    let (code, out, err) = ended(audit);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains(" 0 instants unexplained"), "{out}");

    // Back again: nothing that was recorded is repeated, and a new job is scheduled by the right time.
    set(0);
    wait_for("the step back is followed", async || !node.log("has jumped by -3").is_empty()).await;
    let before = now_ms();
    let new = every_second(&json!({"name": "made after the clock was put right"}));
    let new = load.api.create_jobs(vec![new]).await.remove(0);
    load.until_received(load.received() + 3).await;
    let key = format!("{}:", new.id);
    let (of_new, of_old): (Vec<_>, Vec<_>) = load.receipts().into_iter().partition(|it| it.fire_key.starts_with(&key));
    assert!(of_new.iter().all(|it| it.scheduled_at < before + 60_000));
    let mut keys: Vec<_> = of_old.iter().map(|it| &it.fire_key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), of_old.len(), "no instant twice, app {APP}");
    assert!(of_new.len() >= 3);
}
