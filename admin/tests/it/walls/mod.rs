//! The import walls of the server, checked on its sources.
//!
//! `rules.rs` holds the table: which room may name which crate and which other room. To add a room, add its line there.

mod names;
mod rules;
mod secrets;
mod tree;

use rules::breaches;
use tree::Source;

#[test]
fn every_room_keeps_its_walls() {
    let sources = tree::admin();
    assert!(sources.iter().any(|source| source.path == "lib.rs"), "no sources were found");
    let all: Vec<String> = sources.iter().flat_map(breaches).collect();
    assert!(all.is_empty(), "\n{}\n", all.join("\n"));
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    let all: Vec<String> = tree::repository(&["rs"]).iter().filter_map(|file| rules::empty_name(&file.path)).collect();
    assert!(all.is_empty(), "\n{}\n", all.join("\n"));
}

#[test]
fn no_file_holds_a_known_secret() {
    let all: Vec<String> = tree::repository(&[]).iter().flat_map(secrets::found).collect();
    assert!(all.is_empty(), "\n{}\n", all.join("\n"));
}

/// Each rule can fail: `path` and a text that breaks it, and what is said.
mod proofs {
    use super::*;

    fn breach(path: &str, text: &str) -> String {
        let found = breaches(&Source::new(path, text));
        assert_eq!(found.len(), 1, "{path}: {text}: {found:?}");
        found.into_iter().next().unwrap()
    }

    fn fine(path: &str, text: &str) {
        assert_eq!(breaches(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    }

    #[test]
    fn the_four_walls() {
        for (path, text, stays_in) in [
            ("pipeline/scan.rs", "use sea_orm::EntityTrait;", "store"),
            ("lease/mod.rs", "use ::redis::Client;", "lease/redis"),
            ("executor/mod.rs", "fn f() -> actix_web::Result<()> { todo!() }", "web"),
            ("pipeline/alarm.rs", "#[derive(askama::Template)] struct T;", "web"),
            ("web/api/runs.rs", "fn f() { tokio::spawn(async { reqwest::get(\"/\").await }); }", "alarm, executor"),
            ("executor/mod.rs", "use lettre as mail;", "alarm"),
            ("executor/mod.rs", "extern crate lettre;", "alarm"),
            ("web/mod.rs", "fn f(_: impl ::redis::ToRedisArgs) {}", "lease/redis"),
            ("lib.rs", "use carillon_executor::Executor;", "cli"),
            ("pipeline/dispatch.rs", "pub use {carillon_protocol::TriggerParam};", "executor, web"),
            ("store/mod.rs", "fn f() -> anyhow::Result<()> { Ok(()) }", "cli, main.rs, main_failpoints.rs"),
        ] {
            let said = breach(path, text);
            assert!(said.starts_with(&format!("admin/src/{path}:1: ")), "{said}");
            assert!(said.ends_with(&format!("is named only in {stays_in}")), "{said}");
        }
    }

    #[test]
    fn who_may_import_whom() {
        for (path, text, room) in [
            ("pipeline/scan.rs", "use crate::web::State;", "web"),
            ("store/claim.rs", "use crate::lease::Leases;", "lease"),
            ("store/mod.rs", "use super::executor::ExecutorClient;", "executor"),
            ("store/claim.rs", "use super::super::alarm;", "alarm"),
            ("lease/mod.rs", "use crate::{store::Store};", "store"),
            ("executor/mod.rs", "fn f(_: &crate::alarm::Email) {}", "alarm"),
            ("alarm/mod.rs", "mod tests { use super::super::store::Store; }", "store"),
            ("web/mod.rs", "use crate::lease;", "lease"),
            ("runtime.rs", "use crate::pipeline::Pipeline;", "pipeline"),
        ] {
            let said = breach(path, text);
            assert!(said.contains(&format!("must not know `{room}`")), "{said}");
        }
        assert!(breach("ledger/mod.rs", "").contains("`ledger` is no room"));
    }

    #[test]
    fn what_is_allowed_is_not_taken_for_a_breach() {
        fine("store/claim.rs", "use sea_orm::{ConnectionTrait, Value}; use super::Result; use crate::store::Error;");
        fine("lease/redis.rs", "use redis::aio::ConnectionManager;");
        fine("lease/redis/connect.rs", "use redis::Client;");
        fine("lease/mod.rs", "mod redis; pub use self::redis::RedisLeases; fn f(redis: u8) { let _ = redis + 1; }");
        fine("store/executor.rs", "// sea_orm in web/\n/// use crate::web;\nconst T: &str = \"use crate::web\";");
        fine("store/mod.rs", "pub mod executor; pub mod shard; fn f() { executor::register(); shard::fence(); }");
        fine("lib.rs", "pub mod web; use crate::web::State; use store::Store;");
        fine("pipeline/scan.rs", "use crate::{lease, store::{self, Store}};");
        fine("store/claim.rs", "mod tests { use super::super::Store; }");
        fine("cli/demo.rs", "use carillon_executor::Executor; use carillon_admin::web::State; use anyhow::Result;");
    }

    #[test]
    fn the_systems_time_is_read_in_the_clock_alone() {
        for text in ["fn f() { std::time::SystemTime::now(); }", "use chrono::Utc; fn f() { Utc::now(); }"] {
            assert!(breach("store/mod.rs", text).contains("take `now` from the Clock"));
        }
        fine("store/mod.rs", "fn f(at: std::time::Instant) { Instant::now(); }");
    }

    #[test]
    fn empty_names() {
        for path in ["a/utils.rs", "a/util/b.rs", "common/mod.rs", "lease_manager.rs", "helpers.rs", "core.rs"] {
            assert!(rules::empty_name(path).is_some(), "{path}");
        }
        for path in ["admin/src/cli/user.rs", "static/console.js", "admin/scheduler/src/score.rs"] {
            assert_eq!(rules::empty_name(path), None);
        }
    }

    #[test]
    fn known_secrets() {
        let known = ["default", "token"].join("_");
        let said = secrets::found(&Source::new("README.md", &format!("first\n--access-token={known}\n")));
        assert_eq!(said, [format!("README.md:2: `{known}` is a secret that everybody knows")]);
        let number = ["123", "456"].concat();
        assert_eq!(secrets::found(&Source::new("seed.sql", &format!("('admin', '{number}')"))).len(), 1);
        assert!(secrets::found(&Source::new("a.rs", &format!("let at = 17{number}789;"))).is_empty());
    }
}
