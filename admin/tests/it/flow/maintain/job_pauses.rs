//! Pauses of jobs begin and end by themselves.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, MisfirePolicy, ScheduleDraft};
use carillon_store::PauseNote;
use carillon_store::alarm::alarms::AlarmFilter;

use crate::conformance::fixture::actor;
use crate::flow::node::with_registered_executor;

#[test]
fn after_its_end_a_pause_is_made_up_for_as_the_misfire_policy_says() {
    with_registered_executor(async |node, executor| {
        let rate = |misfire| {
            move |draft: &mut JobDraft| {
                draft.schedule = ScheduleDraft::fixed_rate(10);
                draft.misfire_threshold_seconds = 1;
                draft.misfire = misfire;
            }
        };
        let once = node.job(rate(MisfirePolicy::FireOnce)).await;
        let skip = node.job(rate(MisfirePolicy::Skip)).await;
        node.advance(1_000).await;
        let ends_at = Some(node.clock.now() + 65_000);
        for job in [&once, &skip] {
            node.engine.jobs().pause(job.id, PauseNote { note: "release".into(), ends_at }, &actor()).await.unwrap();
        }
        let before = executor.runs().len();
        for _ in 0..6 {
            node.advance(10_000).await;
            assert_eq!(node.services.pause_refresher.step().await.did, 0);
        }
        assert_eq!(executor.runs().len(), before);
        node.advance(8_000).await;
        assert_eq!(node.services.pause_refresher.step().await.did, 2);
        node.round().await;
        node.advance(100).await;
        let sent = executor.runs().len() - before;
        assert_eq!(sent, 1, "one fire makes up for all, or none does");
        assert!(!node.misfires(&skip).await.is_empty(), "what is left out is on record");
    });
}

#[test]
fn a_job_whose_fires_fail_in_a_row_is_paused_with_an_alarm() {
    with_registered_executor(async |node, _| {
        let job = node.job(|draft: &mut JobDraft| draft.pause_after_failures = 2).await;
        for (code, paused) in [(500, 0), (200, 0), (500, 0), (500, 1)] {
            let run = node.fire(&job).await;
            node.round().await;
            node.callback(&[(run, code, "no luck")]).await;
            assert_eq!(node.services.pause_refresher.step().await.did, paused, "after {code}");
        }
        let paused = node.store.job(job.id).await.unwrap().unwrap();
        assert!(!paused.draft.enabled);
        assert_eq!(paused.pause.map(|pause| pause.author), Some("carillon".to_owned()));
        let alarms =
            node.store.alarms(&AlarmFilter { open: Some(true), limit: 9, ..AlarmFilter::default() }).await.unwrap();
        assert_eq!(
            alarms.items.iter().map(|row| row.alarm.text.as_str()).collect::<Vec<_>>(),
            ["2 fires in a row have failed"]
        );
        node.engine.jobs().resume(job.id, &actor()).await.unwrap();
        assert_eq!(node.services.pause_refresher.step().await.did, 0, "it begins to count anew");
    });
}
