//! Only what the set owns is deleted, and not much at once.

use serde_json::json;
use tempfile::tempdir;

use super::{file, line, printed, refused};
use crate::api::client::{api, job};

// covers: J7
#[test]
fn prune_deletes_only_what_the_set_owns() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let all: String = (0..12).map(|number| line(&format!("j{number}"), "")).collect();
        let parent = line("parent", ", children: [child]");
        let path = file(folder.path(), &[all.clone(), parent, line("child", "")].concat());
        printed(api, 0, &["apply", &path]).await;
        for (key, set) in [("own", ""), ("theirs", "other")] {
            api.post("/jobs", job(json!({"key": key, "set": set}))).await.ok();
        }
        let path = file(folder.path(), &all);
        let done = printed(api, 0, &["apply", &path]).await;
        assert!(
            done.ends_with("still there without --prune: billing/child, billing/parent\n")
                || done.contains("billing/parent"),
            "{done}"
        );
        let said = refused(api, &["apply", &path, "--prune"]).await;
        assert!(
            said.contains(
                "2 of 14 jobs of the set would be deleted, and the limit is 1; if that is right, add --prune-limit 2"
            ),
            "{said}"
        );
        let planned = printed(api, 2, &["apply", &path, "--prune", "--prune-limit", "2", "--dry-run"]).await;
        assert!(planned.contains("- billing/parent: Job parent\n- billing/child: Job child\n"), "{planned}");
        let done = printed(api, 0, &["apply", &path, "--prune", "--prune-limit", "2"]).await;
        assert!(done.ends_with("0 created, 0 changed, 2 deleted, 12 unchanged\n"), "{done}");
        let left: Vec<_> = api.get("/jobs").await.column("key");
        assert_eq!(left.len(), 14);
        assert!(left.contains(&json!("own")) && left.contains(&json!("theirs")) && !left.contains(&json!("child")));
    });
}
