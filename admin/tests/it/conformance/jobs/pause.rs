//! Pauses of jobs: what is noted of them, their ends, and those that the engine makes.

use carillon_scheduler::{AlarmKind, AuditAction, JobDraft};
use carillon_store::audit::list::AuditFilter;
use carillon_store::job::change::JobChange;
use carillon_store::run::settle::finding::RunReport;
use carillon_store::{Job, PauseNote};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, draft, each};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, success};

fn until(seconds: i64) -> JobChange {
    JobChange::Pause(PauseNote { note: "deployment".into(), ends_at: Some(after(seconds)) })
}

async fn change(fixture: &Fixture, job: &Job, change: &JobChange, at: i64) -> Job {
    fixture.store.jobs().change(job.id, change, at, &actor()).await.unwrap().job
}

/// The last `failures` fires of the job have failed in a row; three are allowed.
async fn fails(fixture: &Fixture, job: &Job, failures: i32) {
    fixture.sql(&format!("UPDATE job SET pause_after_failures = 3 WHERE id = {}", job.id)).await;
    fixture.sql(&format!("DELETE FROM job_failure WHERE job_id = {}", job.id)).await;
    fixture
        .sql(&format!("INSERT INTO job_failure (job_id, failures, fire_no) VALUES ({}, {failures}, 1)", job.id))
        .await;
}

databases! {
    async fn a_pause_has_a_note_an_end_and_an_author_and_is_gone_when_it_is_resumed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        assert_eq!(job.pause, None);
        let paused = change(&fixture, &job, &until(60), NOW).await;
        let pause = paused.pause.clone().unwrap();
        assert_eq!((pause.note.as_str(), pause.author, pause.paused_at), ("deployment", actor().name, NOW));
        assert_eq!(pause.ends_at, Some(after(60)));
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap(), Some(paused.clone()));
        let again = change(&fixture, &job, &JobChange::Pause(PauseNote::default()), NOW + 1).await;
        assert_eq!(again, paused, "without a note nothing changes");
        let other = PauseNote { note: "longer".into(), ends_at: None };
        let noted = change(&fixture, &job, &JobChange::Pause(other), NOW + 2).await;
        assert_eq!(noted.pause.unwrap().note, "longer");
        let resumed = change(&fixture, &job, &JobChange::Enable, after(5)).await;
        assert_eq!((resumed.pause, resumed.next_fire_at), (None, Some(after(6))), "from now on");
        assert_eq!(fixture.count("job_pause", "1 = 1").await, 0);
        let filter = AuditFilter { actions: vec![AuditAction::Disable], limit: 9, ..AuditFilter::default() };
        let lines = fixture.store.audit().list(&filter).await.unwrap().items;
        assert_eq!(lines.len(), 2);
        assert!(lines[1].detail.to_string().contains("deployment"), "{:?}", lines[1].detail);
    }

    async fn at_its_end_a_job_goes_on_where_it_was_paused(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(3)).await;
        change(&fixture, &job, &until(60), NOW).await;
        assert_eq!(fixture.store.jobs().ended_pauses(after(59)).await.unwrap(), [0_i64; 0]);
        assert_eq!(fixture.store.jobs().ended_pauses(after(60)).await.unwrap(), [job.id]);
        let early = fixture.store.jobs().change(job.id, &JobChange::EndOfPause, after(59), &actor()).await.unwrap();
        assert!(!early.is_changed && !early.job.draft.enabled);
        let ended = fixture.store.jobs().change(job.id, &JobChange::EndOfPause, after(60), &actor()).await.unwrap();
        assert!(ended.is_changed && ended.job.draft.enabled);
        assert_eq!(ended.job.next_fire_at, Some(after(3)), "the misfire policy decides over the rest");
        assert_eq!(fixture.store.jobs().ended_pauses(after(99)).await.unwrap(), [0_i64; 0]);
    }

    async fn a_short_pause_leaves_no_instant_without_a_record(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1), after(2), after(3), after(4)], after(5)).await;
        change(&fixture, &job, &until(2), NOW).await;
        assert_eq!(fixture.story(&job).await, "", "they are planned again");
        let ended = change(&fixture, &job, &JobChange::EndOfPause, after(2)).await;
        assert_eq!(ended.next_fire_at, Some(after(1)), "what was claimed ahead is left to the misfire policy too");

        // The end is noted when they are cancelled already.
        let job = fixture.every_second(&[after(1), after(2), after(3), after(4)], after(5)).await;
        change(&fixture, &job, &JobChange::Pause(PauseNote::default()), NOW).await;
        change(&fixture, &job, &until(2), NOW + 1).await;
        let ended = change(&fixture, &job, &JobChange::EndOfPause, after(2)).await;
        assert_eq!(fixture.story(&job).await, "1:cancelled(disabled) 2:cancelled(disabled)");
        assert_eq!(ended.next_fire_at, Some(after(3)));
    }

    async fn what_was_overdue_when_it_was_paused_is_recorded_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(-2)).await;
        change(&fixture, &job, &until(60), NOW).await;
        let recorded = "-2:cancelled(disabled) -1:cancelled(disabled) 0:cancelled(disabled)";
        assert_eq!(fixture.story(&job).await, recorded);
        let ended = change(&fixture, &job, &JobChange::EndOfPause, after(60)).await;
        assert_eq!(ended.next_fire_at, Some(after(1)));
    }

    async fn a_schedule_that_is_changed_in_a_pause_begins_with_the_change(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(3)).await;
        change(&fixture, &job, &until(60), NOW).await;
        let other = JobDraft { enabled: false, ..each("*/2 * * * * ?") };
        fixture.store.jobs().update(job.id, &fixture.definition(&other), None, after(30), &actor()).await.unwrap();
        let renamed = JobDraft { name: "another".into(), ..other };
        fixture.store.jobs().update(job.id, &fixture.definition(&renamed), None, after(40), &actor()).await.unwrap();
        let ended = change(&fixture, &job, &JobChange::EndOfPause, after(60)).await;
        assert_eq!(ended.next_fire_at, Some(after(32)));
    }

    async fn a_pause_with_an_end_gives_back_the_fires_that_it_takes_away(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let mut draft = each("* * * * * ?");
        draft.schedule.max_fires = Some(3);
        let job = fixture.create(&draft).await;
        fixture.run(&job, Row { fire_no: after(1), ..Row::default() }).await;
        fixture.set_cursor(&job, after(2)).await;
        fixture.sql("UPDATE job SET fires_left = 2").await;
        assert_eq!(change(&fixture, &job, &until(60), NOW).await.fires_left, Some(3));
        assert_eq!(fixture.count("run", "1 = 1").await, 0);
    }

    // covers: G2
    async fn each_change_gives_back_the_fires_that_it_takes_away(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let mut draft = each("* * * * * ?");
        draft.schedule.max_fires = Some(3);
        // The two last fires are recorded and not due: none is left, and the job has no cursor.
        let used_up = async || {
            let job = fixture.create(&draft).await;
            for second in [1, 2] {
                fixture.run(&job, Row { fire_no: after(second), ..Row::default() }).await;
            }
            fixture.sql(&format!("DELETE FROM job_clock WHERE job_id = {}", job.id)).await;
            fixture.sql(&format!("UPDATE job SET fires_left = 0 WHERE id = {}", job.id)).await;
            job
        };
        let goes_on = |job: &Job| assert_eq!((job.fires_left, job.next_fire_at), (Some(2), Some(after(1))));

        let job = used_up().await;
        let other_name = JobDraft { name: "another".into(), ..draft.clone() };
        goes_on(&store.jobs().update(job.id, &fixture.definition(&other_name), None, NOW, &actor()).await.unwrap());

        let job = used_up().await;
        change(&fixture, &job, &JobChange::Pause(PauseNote::default()), NOW).await;
        goes_on(&change(&fixture, &job, &JobChange::Enable, NOW + 100).await);

        let job = used_up().await;
        let off = JobDraft { enabled: false, ..draft.clone() };
        store.jobs().update(job.id, &fixture.definition(&off), None, NOW, &actor()).await.unwrap();
        goes_on(&store.jobs().update(job.id, &fixture.definition(&draft), None, NOW + 100, &actor()).await.unwrap());

        let job = used_up().await;
        fails(&fixture, &job, 3).await;
        change(&fixture, &job, &JobChange::PauseFailing, NOW).await;
        goes_on(&change(&fixture, &job, &JobChange::Enable, NOW + 100).await);

        // One that is due meanwhile keeps its record, and is counted.
        let job = used_up().await;
        change(&fixture, &job, &JobChange::Pause(PauseNote::default()), NOW).await;
        let late = change(&fixture, &job, &JobChange::Enable, after(1)).await;
        assert_eq!((late.fires_left, late.next_fire_at), (Some(1), Some(after(2))));
        assert_eq!(fixture.story(&job).await, "1:cancelled(disabled)");

        // Another schedule has all its own fires, and no more.
        let job = used_up().await;
        let mut each_other = JobDraft { enabled: false, ..each("*/2 * * * * ?") };
        each_other.schedule.max_fires = Some(5);
        store.jobs().update(job.id, &fixture.definition(&each_other), None, NOW, &actor()).await.unwrap();
        let enabled = change(&fixture, &job, &JobChange::Enable, NOW + 100).await;
        assert_eq!((enabled.fires_left, enabled.next_fire_at), (Some(5), Some(after(2))));
    }

    async fn where_the_engine_stopped_is_not_forgotten_when_an_end_is_noted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(3)).await;
        let stopped = format!("enabled = FALSE, paused_reason = 'broken', resume_from_at = {}", after(3));
        fixture.sql(&format!("UPDATE job SET {stopped} WHERE id = {}", job.id)).await;
        fixture.sql("DELETE FROM job_clock").await;
        change(&fixture, &job, &until(60), NOW).await;
        let ended = change(&fixture, &job, &JobChange::EndOfPause, after(60)).await;
        assert_eq!((ended.next_fire_at, ended.paused_reason), (Some(after(3)), None));
    }

    async fn a_change_without_effect_records_nothing_of_what_is_due(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(3)).await;
        // It is paused after three failures in a row, and one was counted when its row was locked.
        fails(&fixture, &job, 1).await;
        for none in [JobChange::Enable, JobChange::EndOfPause, JobChange::Calendars, JobChange::PauseFailing] {
            let unchanged = fixture.store.jobs().change(job.id, &none, after(9), &actor()).await.unwrap();
            assert!(!unchanged.is_changed && unchanged.job.next_fire_at == Some(after(3)), "{none:?}");
        }
        assert_eq!(fixture.count("run", "1 = 1").await, 0, "its cursor has not passed them");
        // A change that has one does, and the two go together.
        fails(&fixture, &job, 3).await;
        let paused = change(&fixture, &job, &JobChange::PauseFailing, after(9)).await;
        assert_eq!((paused.next_fire_at, fixture.count("run", "1 = 1").await), (None, 7));
        let again = fixture.store.jobs().change(job.id, &JobChange::PauseFailing, after(20), &actor()).await.unwrap();
        assert!(!again.is_changed);
        assert_eq!(fixture.count("run", "1 = 1").await, 7);
    }

    async fn saved_as_paused_a_job_says_by_whom_and_deleted_it_leaves_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let off = fixture.definition(&JobDraft { enabled: false, ..job.draft.clone() });
        let off = fixture.store.jobs().update(job.id, &off, None, NOW, &actor()).await.unwrap();
        assert_eq!(off.pause.as_ref().map(|pause| pause.author.clone()), Some(actor().name));
        let on = fixture.definition(&job.draft);
        assert_eq!(fixture.store.jobs().update(job.id, &on, None, NOW, &actor()).await.unwrap().pause, None);
        change(&fixture, &job, &until(60), NOW).await;
        change(&fixture, &job, &JobChange::Delete, NOW).await;
        assert_eq!(fixture.count("job_pause", "1 = 1").await, 0);
    }

    async fn failures_in_a_row_are_counted_by_fire_and_a_success_forgets_them(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { pause_after_failures: 2, ..draft("shaky") }).await;
        let plain = fixture.create(&draft("plain")).await;
        let settle = async |job: &Job, fire: i64, attempt: i32, report: fn(i64) -> RunReport| {
            let id = fixture.run(job, Row { fire_no: after(fire), attempt, state: 2, ..Row::default() }).await;
            fixture.sql(&format!("UPDATE run SET follow = (SELECT follow FROM job WHERE id = {}) WHERE id = {id}", job.id)).await;
            fixture.store.runs().settle(&[report(id)], &FOLLOW_UP).await.unwrap();
        };
        settle(&job, 1, 1, failure).await;
        settle(&job, 1, 2, failure).await;
        settle(&plain, 1, 1, failure).await;
        assert_eq!(fixture.store.jobs().failing_too_often().await.unwrap(), [0_i64; 0], "two runs of one fire");
        settle(&job, 2, 1, success).await;
        settle(&job, 3, 1, failure).await;
        assert_eq!(fixture.store.jobs().failing_too_often().await.unwrap(), [0_i64; 0]);
        settle(&job, 4, 1, failure).await;
        assert_eq!(fixture.store.jobs().failing_too_often().await.unwrap(), [job.id]);

        let paused = fixture.store.jobs().change(job.id, &JobChange::PauseFailing, NOW, &actor()).await.unwrap();
        let pause = paused.job.pause.clone().unwrap();
        assert_eq!((pause.author.as_str(), pause.note.as_str()), ("carillon", "2 fires in a row have failed"));
        assert_eq!(paused.alarm.map(|alarm| alarm.kind), Some(AlarmKind::Paused));
        assert_eq!(paused.job.paused_reason.as_deref(), Some("2 fires in a row have failed"));
        assert_eq!(fixture.store.jobs().failing_too_often().await.unwrap(), [0_i64; 0], "it is paused");
        let resumed = change(&fixture, &job, &JobChange::Enable, NOW).await;
        assert_eq!((resumed.paused_reason, fixture.store.jobs().failing_too_often().await.unwrap()), (None, vec![]));
    }

    // covers: G15
    async fn a_success_before_the_pause_after_failures_leaves_the_job_enabled(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft { pause_after_failures: 2, ..draft("shaky") }).await;
        let settle = async |fire: i64, report: fn(i64) -> RunReport| {
            let id = fixture.run(&job, Row { fire_no: after(fire), state: 2, ..Row::default() }).await;
            fixture.sql(&format!("UPDATE run SET follow = 256 WHERE id = {id}")).await;
            fixture.store.runs().settle(&[report(id)], &FOLLOW_UP).await.unwrap();
        };
        settle(1, failure).await;
        settle(2, failure).await;
        assert_eq!(fixture.store.jobs().failing_too_often().await.unwrap(), [job.id]);
        settle(3, success).await;
        let looked = fixture.store.jobs().change(job.id, &JobChange::PauseFailing, NOW, &actor()).await.unwrap();
        assert!(!looked.is_changed && looked.job.draft.enabled && looked.alarm.is_none(), "{looked:?}");
    }

    async fn many_jobs_are_changed_in_slices_and_one_that_is_refused_holds_up_no_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let mut ids = vec![];
        for index in 0..60 {
            ids.push(fixture.create(&draft(&format!("job {index}"))).await.id);
        }
        fixture.sql(&format!("UPDATE job SET schedule_text = 'broken', enabled = FALSE WHERE id = {}", ids[7])).await;
        let pauses: Vec<_> = ids.iter().chain(&[987_654]).map(|id| (*id, JobChange::Pause(PauseNote::default()))).collect();
        let done = fixture.store.jobs().change_each(&pauses, NOW, &actor()).await.unwrap();
        let refused: Vec<i64> = done.iter().filter(|(_, done)| done.is_err()).map(|(id, _)| *id).collect();
        assert_eq!((done.len(), refused), (61, vec![987_654]));
        let resumes: Vec<_> = ids.iter().map(|id| (*id, JobChange::Enable)).collect();
        let done = fixture.store.jobs().change_each(&resumes, NOW, &actor()).await.unwrap();
        let refused: Vec<i64> = done.iter().filter(|(_, done)| done.is_err()).map(|(id, _)| *id).collect();
        assert_eq!(refused, [ids[7]]);
        assert_eq!(fixture.count("job", "enabled = TRUE").await, 59);
        assert_eq!(fixture.count("audit", "action = 'enable'").await, 59, "an entry for each");
    }
}
