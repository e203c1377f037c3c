//! The program as a user without any rights, where nothing but the data folder can be written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use carillon_testkit::{Program, ProgramSettings};
use serde_json::json;

use crate::faults::load::{Load, every_second};
use crate::program::ended;

/// The user id of `nobody` on Debian.
const USER: u32 = 65_534;

/// In mounts of its own: the data folder stays as it is, all other file systems become read-only. The program is seen at a place
/// that the user can reach.
const SCRIPT: &str = r#"#!/bin/sh
set -e
if [ "$CONFINED" != yes ]; then
    export CONFINED=yes
    exec unshare --mount -- "$0" "$@"
fi
mount --bind DATA DATA
mount --bind PROGRAM SEEN
for place in $(cut -d ' ' -f 2 /proc/self/mounts); do
    case $place in
        DATA | /proc* | /sys*) ;;
        *) mount -o remount,bind,ro "$place" ;;
    esac
done
cd /
exec setpriv --reuid USER --regid USER --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- SEEN "$@"
"#;

/// Where it lives: the folder for its data, and the script that starts it.
struct Confined {
    data: PathBuf,
    script: PathBuf,
    _folder: tempfile::TempDir,
}

impl Confined {
    fn new() -> Self {
        let user = fs::metadata("/proc/self").unwrap().uid();
        assert_eq!(user, 0, "run this test as root: it makes mounts, and starts the program as another user");
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let (data, script, seen) = (place("data"), place("start"), place("carillon"));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(&data).unwrap();
        chown(&data, Some(USER), Some(USER)).unwrap();
        fs::write(&seen, "").unwrap();
        let mut text = SCRIPT.replace("USER", &USER.to_string());
        for (word, path) in [("DATA", &*data), ("SEEN", &*seen), ("PROGRAM", Path::new(env!("CARGO_BIN_EXE_carillon")))]
        {
            text = text.replace(word, path.to_str().unwrap());
        }
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Self { data, script, _folder: folder }
    }
}

fn proc(node: &Program, file: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{file}", node.pid())).unwrap()
}

/// The places of mounts that can be written, but for those of the kernel.
fn writable(node: &Program) -> Vec<String> {
    let mounts = proc(node, "mountinfo");
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    // A later mount hides an earlier one at the same place.
    let places: BTreeMap<&str, &str> = fields.map(|fields| (fields[4], fields[5])).collect();
    let written = places.into_iter().filter(|(_, options)| options.split(',').any(|option| option == "rw"));
    let places = written.map(|(place, _)| place.to_owned());
    places.filter(|place| !place.starts_with("/proc") && !place.starts_with("/sys")).collect()
}

// covers: S39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_without_rights_and_one_writable_folder_are_enough() {
    let confined = Confined::new();
    let mut setup = ProgramSettings::new(&confined.script, &confined.data);
    let node = setup.start().await;
    let status = proc(&node, "status");
    let user = format!("Uid:\t{USER}\t{USER}\t{USER}\t{USER}");
    for line in [&*user, "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(status.lines().any(|found| found == line), "{line}: {status}");
    }
    assert_eq!(writable(&node), [confined.data.to_str().unwrap()]);

    let load = Load::start(&setup, &[&node], 2, vec![every_second(&json!({})); 50]).await;
    load.until_received(3 * 50).await;
    // Large statements: SQLite would keep what it needs to undo one of them in a file outside.
    let rare = every_second(&json!({"schedule": {"kind": "cron", "expression": "0 0 3 1 1 ?"}}));
    for _ in 0..4 {
        load.api.create_jobs(vec![rare.clone(); 1000]).await;
    }
    let mut reshard = Command::new(&confined.script);
    reshard.args(["shards", "set", "3"]).env("CARILLON_DATA_DIR", &confined.data);
    let (code, said, complaint) = ended(reshard);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(said.starts_with("3 shards instead of 8"), "{said}");
    let before = load.received();
    load.until_received(before + 3 * 50).await;
    assert_eq!([node.log("disk I/O"), node.log("ead-only")].concat(), [""; 0]);
    assert_eq!(node.terminate(Duration::from_secs(15)).await.code(), Some(0));

    let _again = setup.start().await;
    let before = load.received();
    load.until_received(before + 50).await;
    for entry in fs::read_dir(&confined.data).unwrap() {
        let entry = entry.unwrap();
        let (owner, mode) = (entry.metadata().unwrap().uid(), entry.metadata().unwrap().mode() & 0o77);
        assert_eq!((owner, mode), (USER, 0), "{}", entry.path().display());
    }
}
