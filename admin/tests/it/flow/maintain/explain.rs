//! The story of one instant: of every verdict one.

use std::sync::Arc;

use carillon_inspect::audit::GapReason;
use carillon_inspect::explain::{Explanation, VERDICTS, Verdict, explain};
use carillon_locale::Language;
use carillon_scheduler::{Clock as _, JobDraft, ManualClock, MisfirePolicy, ScheduleDraft};
use carillon_store::{Job, VisibleApps};
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};

async fn told(node: &Node, job: &Job, second: i64) -> Explanation {
    let (at, now) = (START + second * 1000, node.clock.now());
    let found = explain(&node.store, job.id, at, now, &VisibleApps::All).await.unwrap();
    let found = found.unwrap();
    assert!(VERDICTS.contains(&found.verdict.as_str()));
    found
}

fn says(found: &Explanation, words: &[&str]) {
    let story = found.sentences(Language::English).join("\n");
    for word in words {
        assert!(story.contains(word), "{word:?} is not in:\n{story}");
    }
}

databases! {
    async fn a_run_is_told_from_its_definition_to_its_end(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |draft| draft.name = "Settle".into()).await;
        node.round().await;
        node.advance(9_000).await;
        let ahead = told(&node, &job, 10).await;
        assert_eq!(ahead.verdict, Verdict::Recorded);
        says(&ahead, &["It is claimed."]);
        node.advance(1_000).await;
        let id = node.runs(&job).await[0].id;
        node.callback(&[(id, 200, "settled 12")]).await;
        let found = told(&node, &job, 10).await;
        assert_eq!((found.verdict, found.runs.len(), found.revision), (Verdict::Recorded, 1, Some(1)));
        assert!(found.nearby.is_instant && found.nearby.after == Some(START + 20_000));
        says(&found, &[
            "is an instant of job 1 `Settle`, and it has a run.",
            "In force then: version 1, since 2025-10-09T08:53:20Z (create by ",
            &format!("Run {id}: held by node "),
            "; in shard 1.",
            &format!("Chosen: {}, the only candidate", executor.address),
            &format!("sent once to {}, ", executor.address),
            "ms after it was due.",
            "succeeded at ",
            "settled 12",
        ]);
        let none = told(&node, &job, 13).await;
        assert_eq!(none.verdict, Verdict::NoInstant);
        says(&none, &["is no instant of", "the instant before it is 2025-10-09T08:53:30Z, the one after it 2025-10-09T08:53:40Z."]);
        let later = told(&node, &job, 300).await;
        assert_eq!(later.verdict, Verdict::Missing(GapReason::NotPlanned));
        says(&later, &["will be an instant of", "not planned yet"]);
        assert_eq!(told(&node, &job, -10).await.verdict, Verdict::BeforeJob);
        // Its runs outlive it.
        node.store.jobs().delete(job.id, node.clock.now(), &actor()).await.unwrap();
        let gone = told(&node, &job, 10).await;
        assert_eq!((gone.verdict, gone.job.as_deref()), (Verdict::Recorded, None));
        assert!(explain(&node.store, job.id, START + 5_000, START, &VisibleApps::All).await.unwrap().is_none());
    }

    async fn what_did_not_run_says_why(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let job = node.every(10, |draft| draft.misfire = MisfirePolicy::Skip).await;
        node.clock.advance(std::time::Duration::from_secs(180));
        node.round().await;
        let skipped = told(&node, &job, 60).await;
        assert_eq!(skipped.verdict, Verdict::Skipped);
        says(&skipped, &["that was skipped", "11 skipped instants", "policy skip", "under epoch 1"]);
        let now = node.clock.now();
        node.store.jobs().set_enabled(job.id, false, now, &actor()).await.unwrap();
        node.clock.advance(std::time::Duration::from_secs(60));
        let disabled = told(&node, &job, 210).await;
        assert_eq!(disabled.verdict, Verdict::Missing(GapReason::Disabled));
        says(&disabled, &["version 2", "(disable by ", "paused then"]);
    }

    async fn what_is_no_instant_says_what_excludes_it(db: &TestDatabase) {
        let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
        let calendar = r#"{"name": "bank", "days": ["2025-10-10"]}"#;
        node.store.calendars().create(&serde_json::from_str(calendar).unwrap(), START, &actor()).await.unwrap();
        let schedule = serde_json::json!({"kind": "cron", "expression": "0 0 12 * * ?", "calendars": ["bank"], "end_at": "2025-10-12T00:00:00Z"});
        let mut draft = JobDraft::new("orders", "Noon", "noon");
        draft.schedule = serde_json::from_value(schedule).unwrap();
        let calendars = node.store.calendars().named(&["bank".to_owned()]).await.unwrap();
        let around = carillon_store::DefinitionContext::new(&node.app, &calendars);
        let definition = carillon_store::Definition::check_in(around, &draft, START).unwrap();
        let job = node.store.jobs().create(vec![definition], START, &actor(), None).await.unwrap().remove(0);
        let noon = |day: i64| (1_760_011_200_000 - START) / 1000 + day * 86_400;
        assert_eq!(told(&node, &job, noon(0)).await.verdict, Verdict::Missing(GapReason::NotPlanned));
        let excluded = told(&node, &job, noon(1)).await;
        assert_eq!((excluded.verdict, &excluded.nearby.excluded_by[..]), (Verdict::Excluded, &["bank".to_owned()][..]));
        says(&excluded, &["Its day is excluded by bank."]);
        assert_eq!(told(&node, &job, noon(4)).await.verdict, Verdict::Invalid);
        let delay = node.job(|draft| draft.schedule = ScheduleDraft::fixed_delay(60)).await;
        assert_eq!(told(&node, &delay, 30).await.verdict, Verdict::FixedDelay);
    }
}
