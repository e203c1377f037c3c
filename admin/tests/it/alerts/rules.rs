//! What a rule may name, and who may change it.

use carillon_alerts::channel::ChannelKind;
use carillon_engine::manage::Error;
use carillon_scheduler::{Clock as _, JobDraft};
use carillon_store::alert::rules::{CheckedRule, NewRule};
use serde_json::{Value, json};

use super::world::World;
use crate::conformance::fixture::actor;

impl World {
    async fn save_rule(&self, more: Value) -> Result<i64, Error> {
        let mut rule = json!({"name": "r", "kinds": ["failed"]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Ok(self.alerts.create_rule(serde_json::from_value(rule).unwrap(), &actor()).await?.id)
    }
}

databases! {
    // covers: B7
    async fn a_rule_names_jobs_that_exist_in_its_app(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.engine.apps().create("shipping", None, &actor()).await.unwrap();
        let other = world.engine.jobs().create(JobDraft::new("shipping", "x", "h"), None, &actor()).await.unwrap().id;
        for (rule, wrong) in [
            (json!({"jobs": [999_999]}), Some(999_999)),
            (json!({"jobs": [world.jobs[0], other], "app": "billing"}), Some(other)),
            (json!({"jobs": [world.jobs[0], other]}), None),
        ] {
            let mut rule = rule;
            rule["channels"] = json!([channel]);
            let saved = world.save_rule(rule.clone()).await.map_err(|error| error.to_string());
            match wrong {
                Some(id) => {
                    let said = format!("jobs: there is no job {id} that the rule may be about");
                    assert_eq!(saved, Err(said), "{rule}");
                }
                None => assert!(saved.is_ok(), "{saved:?}"),
            }
        }
    }

    // covers: W15
    async fn names_of_rules_are_unique_in_an_app(db: &TestDatabase) {
        let world = World::start(db, 0).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.engine.apps().create("shipping", None, &actor()).await.unwrap();
        let saved = async |app: Value| {
            let saved = world.save_rule(json!({"name": "nightly", "app": app, "channels": [channel]})).await;
            saved.map(drop).map_err(|error| error.to_string())
        };
        for app in [json!("billing"), json!("shipping"), json!(null)] {
            assert_eq!(saved(app.clone()).await, Ok(()), "{app}");
            let again = saved(app).await.unwrap_err();
            assert!(again.contains("taken already"), "{again}");
        }
    }

    // covers: W24
    async fn a_rule_that_was_moved_meanwhile_is_not_changed(db: &TestDatabase) {
        let world = World::start(db, 0).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        let id = world.save_rule(json!({"app": "billing", "channels": [channel]})).await.unwrap();
        let rule = world.alerts.rule(id).await.unwrap();
        let checked = CheckedRule { id, app_id: rule.app_id, revision: None };
        let new = |app_id: Option<i64>, name: &str| NewRule {
            name: name.to_owned(),
            app_id,
            definition: rule.definition.clone(),
            enabled: true,
        };
        // An administrator makes it a rule for all apps between the check and the change of an editor.
        let now = || world.clock.now();
        world.store.alerts().update_rule(checked, &new(None, "moved"), now(), &actor()).await.unwrap();
        let late = world.store.alerts().update_rule(checked, &new(rule.app_id, "overwritten"), now(), &actor()).await;
        assert!(matches!(late, Err(carillon_store::Error::Changed(_))), "{late:?}");
        let late = world.store.alerts().delete_rule(checked, now(), &actor()).await;
        assert!(matches!(late, Err(carillon_store::Error::Changed(_))), "{late:?}");
        assert_eq!(world.alerts.rule(id).await.unwrap().name, "moved");
    }
}
