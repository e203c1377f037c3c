//! Summaries of runs: each run counts once, whatever happens to it later.

use carillon_scheduler::Zone;
use carillon_store::VisibleApps;
use carillon_store::report::counts::Counts;
use carillon_store::report::read::{Report, ReportFilter, ReportGroup};

use crate::conformance::fixture::{Fixture, NOW, Row, after, each};

const DAY: i64 = 86_400_000;
const CLAIMED: i16 = 0;
const UNKNOWN: i16 = 3;
const DONE: i16 = 9;
const FAILED: i16 = 10;
const KILLED: i16 = 11;
const CANCELLED: i16 = 12;

fn filter(days: i32) -> ReportFilter {
    let to_day = i32::try_from(NOW / DAY).unwrap();
    ReportFilter { from_day: to_day - days + 1, to_day, ..ReportFilter::default() }
}

async fn report(fixture: &Fixture, group: ReportGroup) -> Report {
    fixture.store.reports().read(&filter(90), group).await.unwrap().unwrap()
}

/// Everything below this id, and what has ended since.
async fn summarize(fixture: &Fixture, before: i64) -> usize {
    let passed = fixture.store.reports().summarize_runs(before, NOW).await.unwrap();
    passed.runs + fixture.store.reports().summarize_ended(0, NOW).await.unwrap().runs
}

fn counts(succeeded: i64, failed: i64, doubtful: i64) -> Counts {
    Counts { succeeded, failed, doubtful, ..Counts::default() }
}

databases! {
    // covers: G9
    async fn a_run_of_an_unknown_state_keeps_no_other_out(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut last = 0;
        for (second, state) in [(0, DONE), (1, 77), (2, FAILED)] {
            last = fixture.run(&job, Row { fire_no: after(second), state, ..Row::default() }).await;
        }
        assert_eq!(summarize(&fixture, last + 1).await, 2);
        assert_eq!(fixture.store.reports().summarized_to().await.unwrap(), last, "what is deleted by its age goes on too");
        assert_eq!(fixture.store.take_unreadable().len(), 1);
    }

    // covers: G7
    async fn the_last_failures_of_a_job_are_kept_across_restarts(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut ids = vec![];
        for second in 0..130 {
            let state = if second % 10 == 9 { DONE } else { FAILED };
            ids.push(fixture.run(&job, Row { fire_no: after(second), state, ..Row::default() }).await);
        }
        summarize(&fixture, ids[60]).await;
        summarize(&fixture, ids[129] + 1).await;
        let last = async |count: usize| {
            let mut last: Vec<i64> = fixture.store.reports().last_failures(&[(job.id, count)].into()).await.unwrap().into_iter().collect();
            last.sort_unstable();
            last
        };
        assert_eq!(last(3).await, [ids[126], ids[127], ids[128]]);
        assert_eq!(last(0).await, [0i64; 0]);
        assert_eq!(last(1_000).await.len(), 100, "the others are not one of the last of any rule");
        // One that was open when the walk passed it.
        let open = fixture.run(&job, Row { fire_no: after(200), state: CLAIMED, ..Row::default() }).await;
        summarize(&fixture, open + 1).await;
        fixture.sql(&format!("UPDATE run SET state = 10, finished_at = {NOW} WHERE id = {open}")).await;
        summarize(&fixture, open + 1).await;
        assert_eq!(last(2).await, [ids[128], open]);
    }

    async fn each_run_counts_once_on_the_day_of_its_instant(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (one, two) = (fixture.create(&each("* * * * * ?")).await, fixture.create(&each("* * * * * ?")).await);
        let yesterday = after(-86_400);
        let rows = [(&one, 0, DONE), (&one, 1, FAILED), (&one, 2, CLAIMED), (&one, 3, KILLED), (&two, 0, DONE), (&two, 1, CANCELLED)];
        for (job, second, state) in rows {
            fixture.run(job, Row { fire_no: yesterday + second * 1000, state, ..Row::default() }).await;
        }
        let today = fixture.run(&one, Row { fire_no: after(0), state: DONE, ..Row::default() }).await;
        // Older than any report.
        fixture.run(&two, Row { fire_no: after(-91 * 86_400), state: DONE, ..Row::default() }).await;
        fixture.sql("UPDATE run SET sent_at = due_at + 100, finished_at = due_at + 1100 WHERE state IN (9, 10, 11)").await;
        fixture.sql(&format!("UPDATE run SET finished_at = due_at + 60100 WHERE id = {today}")).await;
        // The cursor stops before an id that may still be inserted.
        assert_eq!(summarize(&fixture, today).await, 6);
        assert_eq!(report(&fixture, ReportGroup::Day).await.lines.len(), 1);
        assert_eq!(summarize(&fixture, today + 2).await, 2);
        assert_eq!(summarize(&fixture, today + 2).await, 0, "each once");
        assert_eq!(fixture.store.reports().summarized_to().await.unwrap(), today + 1);
        let days = report(&fixture, ReportGroup::Day).await;
        let all: Vec<Counts> = days.lines.iter().map(|line| line.counts).collect();
        let first = Counts { killed: 1, cancelled: 1, ..counts(2, 1, 0) };
        assert_eq!(all, [first, counts(1, 0, 0)]);
        assert_eq!((days.lines[0].key, days.total.counts.all()), (yesterday / DAY, 6));
        // Within 6 %.
        let near = |found: Option<i64>, ms: i64| assert!((found.unwrap() - ms).abs() * 100 <= ms * 6, "{found:?} for {ms}");
        near(days.lines[0].duration_p50, 1000);
        near(days.lines[0].lateness_p95, 100);
        near(days.lines[1].duration_p50, 60_000);
        near(days.total.duration_p95, 60_000);
        let jobs = report(&fixture, ReportGroup::Job).await;
        let all: Vec<(i64, i64)> = jobs.lines.iter().map(|line| (line.key, line.counts.all())).collect();
        assert_eq!(all, [(one.id, 4), (two.id, 2)]);
        assert_eq!(jobs.lines[0].name.as_deref(), Some("tick"));
        let apps = report(&fixture, ReportGroup::App).await;
        assert_eq!((apps.lines[0].name.as_deref(), apps.lines[0].counts), (Some("billing"), apps.total.counts));
        let of_job = ReportFilter { job_id: Some(two.id), ..filter(90) };
        let of_job = fixture.store.reports().read(&of_job, ReportGroup::Day).await.unwrap().unwrap();
        assert_eq!(of_job.total.counts, Counts { cancelled: 1, ..counts(1, 0, 0) });
        let hidden = ReportFilter { apps: VisibleApps::Only(vec![fixture.app.id + 1]), ..filter(90) };
        assert_eq!(fixture.store.reports().read(&hidden, ReportGroup::Job).await.unwrap().unwrap().lines, []);
        let hours = fixture.store.reports().hourly_counts(0, &VisibleApps::All).await.unwrap();
        assert_eq!(hours.iter().map(|(_, counts)| counts.all()).sum::<i64>(), 6);
        assert_eq!(hours[0].0, i32::try_from(yesterday / 3_600_000).unwrap());
    }

    // covers: B12
    async fn a_day_is_one_of_the_zone_of_the_reports(db: &TestDatabase) {
        let zone: Zone = "Asia/Shanghai".parse().unwrap();
        let fixture = Fixture::counting_days_of(db, zone).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        // 16:00 UTC is midnight in Shanghai.
        let midnight = NOW.div_euclid(DAY) * DAY - 8 * 3_600_000;
        let mut last = 0;
        for instant in [midnight - 1000, midnight, midnight + 1000] {
            last = fixture.run(&job, Row { fire_no: instant, state: DONE, ..Row::default() }).await;
        }
        assert_eq!(summarize(&fixture, last + 1).await, 3);
        let days = report(&fixture, ReportGroup::Day).await;
        let all: Vec<(i64, i64)> = days.lines.iter().map(|line| (line.key, line.counts.all())).collect();
        let day = i64::from(fixture.store.report_day(midnight));
        assert_eq!(all, [(day - 1, 1), (day, 2)]);
        assert_eq!(day, NOW.div_euclid(DAY), "the evening in UTC is the next day there");
    }

    async fn a_run_that_ends_behind_the_cursor_counts_then_and_a_doubtful_one_until_then(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut ids = vec![];
        for (second, state) in [(0, CLAIMED), (1, UNKNOWN), (2, 2), (3, DONE)] {
            ids.push(fixture.run(&job, Row { fire_no: after(second), state, ..Row::default() }).await);
        }
        let end = ids[3] + 1;
        summarize(&fixture, end).await;
        assert_eq!(report(&fixture, ReportGroup::App).await.total.counts, counts(1, 0, 1));
        assert_eq!(fixture.count("report_open", "1 = 1").await, 3);
        fixture.sql(&format!("UPDATE run SET state = {FAILED}, sent_at = due_at, finished_at = due_at + 9 WHERE id = {}", ids[0])).await;
        fixture.sql(&format!("UPDATE run SET state = {DONE}, sent_at = due_at, finished_at = due_at + 9 WHERE id = {}", ids[1])).await;
        fixture.sql(&format!("UPDATE run SET state = 4, sent_at = due_at WHERE id = {}", ids[2])).await;
        assert_eq!(summarize(&fixture, end).await, 3);
        assert_eq!(report(&fixture, ReportGroup::Job).await.total.counts, counts(2, 1, 1));
        assert_eq!(summarize(&fixture, end).await, 0);
        fixture.sql(&format!("UPDATE run SET state = {FAILED} WHERE id = {}", ids[2])).await;
        assert_eq!(summarize(&fixture, end).await, 1);
        assert_eq!(report(&fixture, ReportGroup::Day).await.total.counts, counts(2, 2, 0));
        assert_eq!(fixture.count("report_open", "1 = 1").await, 0);
    }

    async fn the_wait_for_an_outcome_that_was_not_known_is_no_duration(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let id = fixture.run(&job, Row { fire_no: after(0), state: UNKNOWN, ..Row::default() }).await;
        fixture.sql("UPDATE run SET sent_at = due_at").await;
        summarize(&fixture, id + 1).await;
        // Six hours later a person says how it ended.
        fixture.sql(&format!("UPDATE run SET state = {DONE}, finished_at = due_at + 21600000")).await;
        assert_eq!(summarize(&fixture, id + 1).await, 1);
        let total = report(&fixture, ReportGroup::Job).await.total;
        assert_eq!((total.counts, total.duration_p95, total.lateness_p95), (counts(1, 0, 0), None, Some(0)));
    }

    async fn a_run_is_not_deleted_before_it_counts_and_what_is_counted_stays(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let id = fixture.run(&job, Row { fire_no: after(0), state: CLAIMED, ..Row::default() }).await;
        summarize(&fixture, id + 1).await;
        fixture.sql(&format!("UPDATE run SET state = {DONE}")).await;
        assert_eq!(fixture.store.retention().prune_runs(&[id], 0).await.unwrap(), 0, "it has ended and does not count yet");
        summarize(&fixture, id + 1).await;
        assert_eq!(fixture.store.retention().prune_runs(&[id], 0).await.unwrap(), 1);
        assert_eq!(report(&fixture, ReportGroup::Day).await.total.counts, counts(1, 0, 0));
        // Ninety-one days later no report reaches it.
        fixture.store.retention().prune_rest(0, NOW + 89 * DAY).await.unwrap();
        assert_eq!(fixture.count("report_day", "1 = 1").await, 2);
        fixture.store.retention().prune_rest(0, NOW + 90 * DAY).await.unwrap();
        assert_eq!(fixture.count("report_day", "1 = 1").await + fixture.count("report_hour", "1 = 1").await, 0);
    }

    async fn two_nodes_that_count_at_once_count_each_run_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let mut last = 0;
        for second in 0..50 {
            let state = if second % 2 == 0 { DONE } else { CLAIMED };
            last = fixture.run(&job, Row { fire_no: after(second), state, ..Row::default() }).await;
        }
        let both = || async { tokio::join!(fixture.store.reports().summarize_runs(last + 1, NOW), fixture.store.reports().summarize_runs(last + 1, NOW)) };
        let (one, two) = both().await;
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        fixture.sql(&format!("UPDATE run SET state = {DONE}")).await;
        let (one, two) = tokio::join!(fixture.store.reports().summarize_ended(0, NOW), fixture.store.reports().summarize_ended(0, NOW));
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        assert_eq!(report(&fixture, ReportGroup::Job).await.total.counts, counts(50, 0, 0));
    }
}
