//! What requests of executors leave in the audit, and names that only a database takes for those of an app.

use carillon_accounts::secret::{hash, random_secret};
use carillon_scheduler::AuditAction;
use carillon_store::app::executor_tokens::NewExecutorToken;
use carillon_store::audit::list::AuditRow;
use carillon_testkit::{RecordingExecutor, wait_for};
use serde_json::{Value, json};

use crate::conformance::fixture::actor;
use crate::flow::executor_tokens::World;
use crate::flow::node::START;
use crate::services::{Kind, on};

fn detail(entry: &AuditRow) -> Value {
    serde_json::from_str(&entry.detail).unwrap()
}

databases! {
    // covers: V3, S17
    async fn a_name_with_a_blank_at_its_end_deregisters_no_executor(db: &TestDatabase) {
        let world = World::start(db).await;
        let global = world.node.config.access_token.clone();
        let executor = RecordingExecutor::start().await;
        assert_eq!(world.register("registry", &world.payroll_token, "payroll", &executor).await["code"], 200);
        world.node.engine.app_tokens().set_own_tokens_only(world.payroll.id, true, &actor()).await.unwrap();
        for token in [&global, &world.orders_token, &world.payroll_token] {
            for app in ["payroll ", "payroll  ", " payroll"] {
                let answer = world.register("registryRemove", token, app, &executor).await;
                let text = answer["msg"].as_str().unwrap_or_default();
                assert!(answer["code"] == 500 && text.starts_with("registryKey (the app name): "), "{app:?} {answer}");
            }
        }
        assert_eq!(world.register("registryRemove", &global, "payroll", &executor).await["code"], 500);
        assert_eq!(world.node.store.apps().executors().await.unwrap().len(), 1, "it is registered still");
    }
}

// covers: V10, S37
#[test]
fn what_an_executor_is_denied_is_in_the_audit() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let executor = RecordingExecutor::start().await;
        let id = world.node.store.apps().executor_tokens_of(world.node.app.id).await.unwrap()[0].id;
        for path in ["registry", "registryRemove"] {
            assert_eq!(world.register(path, &world.orders_token, "payroll", &executor).await["code"], 500);
        }
        let denied = world.audit(AuditAction::Deny).await;
        assert_eq!(denied.len(), 2, "{denied:?}");
        for (entry, path) in denied.iter().zip(["/api/registryRemove", "/api/registry"]) {
            let of =
                (entry.object.as_str(), entry.object_id, entry.app_id, entry.actor.as_str(), entry.source.as_str());
            assert_eq!(of, ("executor_token", id, Some(world.node.app.id), "executor", "127.0.0.1"));
            let reason = "the token does not count for this app";
            assert_eq!(detail(entry), json!({"method": "POST", "path": path, "reason": reason, "app": "payroll"}));
        }
        // An executor with a wrong token tries again and again.
        for _ in 0..5 {
            let answer = world.register("registry", "no token of anybody", "payroll", &executor).await;
            assert_eq!(answer["msg"], "The access token is wrong.");
        }
        let denied = world.audit(AuditAction::Deny).await;
        assert_eq!(denied.len(), 3, "one row in a minute: {denied:?}");
        assert_eq!((denied[0].actor.as_str(), denied[0].object.as_str()), ("unknown", "path"));
        assert_eq!(detail(&denied[0])["reason"], "not a valid token");
    });
}

// covers: S17, S37
#[test]
fn each_path_notes_the_use_of_a_token_also_of_the_one_of_all_apps() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let executor = RecordingExecutor::start().await;
        let (store, global) = (&world.node.store, world.node.config.access_token.clone());
        for _ in 0..3 {
            assert_eq!(world.post("callback", &global, &[], &json!([])).await["code"], 200);
            assert_eq!(world.post("callback", &world.payroll_token, &[], &json!([])).await["code"], 200);
            world.register("registryRemove", &world.orders_token, "orders", &executor).await;
        }
        // Results do not wait for the row longer than a moment.
        let is_noted = async || world.audit(AuditAction::UseToken).await.len() == 3;
        wait_for("the uses are noted", is_noted).await;
        let mut tokens = vec![(0, None)];
        for app in [world.node.app.id, world.payroll.id] {
            let is_used = async || store.apps().executor_tokens_of(app).await.unwrap()[0].used_at.is_some();
            wait_for("the last use", is_used).await;
            let token = store.apps().executor_tokens_of(app).await.unwrap().remove(0);
            assert_eq!((token.used_at, token.used_from.as_deref()), (Some(START), Some("127.0.0.1")));
            tokens.push((token.id, Some(app)));
        }
        let used = world.audit(AuditAction::UseToken).await;
        let mut used: Vec<_> = used.iter().map(|entry| (entry.object_id, entry.app_id)).collect();
        used.sort_unstable();
        tokens.sort_unstable();
        assert_eq!(used, tokens, "each once");
    });
}

// covers: S17
#[test]
fn a_token_that_another_node_has_made_is_refused_by_no_node() {
    on(Kind::Postgres, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        // As another node writes it: this one has not read it yet.
        let token = random_secret();
        let (tokens, before) =
            (node.engine.executor_tokens(), node.store.apps().executor_tokens_of(node.app.id).await.unwrap());
        let sealed = tokens.keys().seal(&format!("executor_token {} {}", node.app.id, hash(&token)), &token).unwrap();
        let new =
            NewExecutorToken { name: "two", token_hash: &hash(&token), sealed: &sealed, now: START, expires_at: None };
        node.store.apps().create_executor_token(&node.app, &new, &actor()).await.unwrap();
        assert_eq!(before.len(), 1);
        assert!(tokens.identify(token.as_bytes(), START).is_none());
        assert_eq!(world.post("callback", &token, &[], &json!([])).await["code"], 200);
        assert!(tokens.identify(token.as_bytes(), START).is_some());
        assert!(node.metrics().contains("carillon_wrong_access_tokens_total 0"));
        // What looks like a token and is none is looked for at a rate.
        for _ in 0..30 {
            let wrong = random_secret();
            assert_eq!(world.post("callback", &wrong, &[], &json!([])).await["msg"], "The access token is wrong.");
        }
        assert!(node.metrics().contains("carillon_wrong_access_tokens_total 30"));
    });
}
