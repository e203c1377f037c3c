//! Jobs are planned again after a change of the time zone data.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ScheduleDraft, zone_data};

use crate::flow::node::{START, on_node};

#[test]
fn r040_jobs_of_changed_zones_are_planned_anew_once() {
    on_node(async |node| {
        let in_vancouver = |draft: &mut carillon_scheduler::JobDraft| {
            draft.schedule = ScheduleDraft::cron("0 0 9 * * ?", "America/Vancouver");
        };
        let job = node.job(in_vancouver).await;
        let next = async || node.store.jobs().get(job.id).await.unwrap().unwrap().next_fire_at;
        let plan_by_other_data = "UPDATE job_clock SET next_fire_at = next_fire_at + 3600000";
        node.renew_leases().await;
        node.store.calendars().set_planned_zone_data("2019c").await.unwrap();
        node.sql(plan_by_other_data).await;
        // A node that has the other data plans its jobs by it until it ends.
        let peer = format!(
            "INSERT INTO node (id, address, version, seen_at) VALUES ('old', 'x', '0.1.0, tzdata 2019c', {START})"
        );
        node.sql(&peer).await;
        let step = async || node.services.zone_follower.step().await.did;
        assert_eq!((step().await, step().await, next().await), (1, 0, job.next_fire_at));
        let planned = async || node.store.calendars().planned_zone_data().await.unwrap().unwrap();
        assert_eq!(planned().await, "2019c");
        node.sql(plan_by_other_data).await;
        node.sql("UPDATE node SET address = '' WHERE id = 'old'").await;
        assert_eq!((step().await, step().await, next().await), (1, 0, job.next_fire_at));
        assert_eq!(planned().await, zone_data().edition());
    });
}

#[test]
fn r040_data_that_differs_under_the_same_version_is_other_data() {
    on_node(async |node| {
        let in_vancouver = ScheduleDraft::cron("0 0 9 * * ?", "America/Vancouver");
        let job = node.job(|draft| draft.schedule = in_vancouver).await;
        node.renew_leases().await;
        node.sql("UPDATE job_clock SET next_fire_at = next_fire_at + 3600000").await;
        let version = zone_data().version();
        for planned_with in [version.to_owned(), format!("{version}-00000000")] {
            node.store.calendars().set_planned_zone_data(&planned_with).await.unwrap();
        }
        assert_eq!(node.services.zone_follower.step().await.did, 1);
        assert_eq!(node.store.jobs().get(job.id).await.unwrap().unwrap().next_fire_at, job.next_fire_at);
        let planned = node.store.calendars().planned_zone_data().await.unwrap();
        assert_eq!(planned.as_deref(), Some(zone_data().edition()));
    });
}
