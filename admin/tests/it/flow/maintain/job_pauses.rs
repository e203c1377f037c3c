//! The engine pauses jobs whose fires fail.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::JobDraft;
use carillon_store::alarm::alarms::AlarmFilter;

use crate::conformance::fixture::actor;
use crate::flow::node::with_registered_executor;

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
        let paused = node.store.jobs().get(job.id).await.unwrap().unwrap();
        assert!(!paused.draft.enabled);
        assert_eq!(paused.pause.map(|pause| pause.author), Some("carillon".to_owned()));
        let alarms = node
            .store
            .alarms()
            .list(&AlarmFilter { open: Some(true), limit: 9, ..AlarmFilter::default() })
            .await
            .unwrap();
        assert_eq!(
            alarms.items.iter().map(|row| row.alarm.text.as_str()).collect::<Vec<_>>(),
            ["2 fires in a row have failed"]
        );
        node.engine.jobs().resume(job.id, &actor()).await.unwrap();
        assert_eq!(node.services.pause_refresher.step().await.did, 0, "it begins to count anew");
    });
}
