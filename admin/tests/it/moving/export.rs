//! The file of the way back, run on tables of xxl-job.

use carillon_import::xxl_job::{Exported, ImportOptions, ImportPlan, Known, Shape, export, import};
use carillon_scheduler::{JobDraft, Parts, ScheduleDraft, ScriptDraft, ScriptKind};
use carillon_store::{Actor, Job, VisibleApps};
use foldhash::HashMap;

use super::import::{brought, jobs};
use super::tables::{NOW, XxlJob, ZONE, cron, options};
use crate::conformance::fixture::Fixture;
use crate::services::{Kind, TestDatabase, on};

fn drafts(jobs: &HashMap<i64, Job>) -> HashMap<i64, JobDraft> {
    let draft = |job: &Job| JobDraft { schedule: job.full_schedule(), ..job.draft.clone() };
    jobs.iter().map(|(id, job)| (*id, draft(job))).collect()
}

#[test]
fn what_is_exported_and_imported_again_is_the_same() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.odd_jobs(50).await;
        brought(&xxl, &fixture.store).await;
        let first = jobs(&fixture.store).await;
        // One that did not come from there, and two that it cannot hold.
        let own = fixture
            .create(&JobDraft {
                schedule: ScheduleDraft::unix_cron("5 4 * * 1-5", ZONE),
                ..JobDraft::new("billing", "It's ours", "handle")
            })
            .await;
        let chained = fixture
            .create(&JobDraft {
                schedule: ScheduleDraft::fixed_delay(9),
                ..JobDraft::new("billing", "chain", "handle")
            })
            .await;
        let workflow = serde_json::from_value(serde_json::json!({"nodes": {"only": {"job": own.id}}})).unwrap();
        let workflow = JobDraft { workflow: Some(workflow), ..JobDraft::new("billing", "graph", "") };
        let workflow = fixture.create(&workflow).await;
        let mut all: Vec<Job> = first.values().cloned().collect();
        all.sort_by_key(|job| job.id);
        all.extend([own.clone(), chained.clone(), workflow.clone()]);
        let numbers = first.iter().map(|(source, job)| (job.id, *source)).collect();
        let exported = exported(&fixture, &all, numbers).await;
        let left_out = [(chained.id, "schedule fixed_delay".to_owned()), (workflow.id, "workflow".to_owned())];
        assert_eq!(exported.left_out, left_out);
        assert_eq!(exported.jobs, first.len() + 1);

        let back = XxlJob::new(Shape::V34).await;
        for _ in 0..2 {
            back.sql(&exported.sql).await;
        }
        let elsewhere = TestDatabase::new(Kind::Sqlite).await;
        let second = Fixture::new(&elsewhere).await;
        let (plan, done) = brought(&back, &second.store).await;
        assert_eq!(done.created, first.len() + 1, "once, although it ran twice: {}", plan.report);
        let there = jobs(&second.store).await;
        let own_there = there.values().find(|job| job.draft.name == "It's ours").unwrap();
        assert_eq!(own_there.draft.schedule, cron("0 5 4 ? * 2-6"));
        for (id, draft) in drafts(&first) {
            // They arrive stopped, so nothing says that they ran, nor in which phase.
            let mut here = drafts(&there)[&id].clone();
            here.tags.clone_from(&draft.tags);
            if draft.owner.is_empty() {
                assert_eq!(here.owner, "carillon", "the console there wants an author");
                here.owner.clear();
            }
            here.schedule.anchor_at = draft.schedule.anchor_at;
            assert_eq!(here, draft, "job {id}");
        }
    });
}

async fn exported(fixture: &Fixture, jobs: &[Job], numbers: HashMap<i64, i64>) -> Exported {
    let known = Known { numbers: &numbers, stored: &HashMap::default(), sources: &HashMap::default(), zone: ZONE };
    export(&fixture.store.apps().list(&VisibleApps::All).await.unwrap(), jobs, &known)
}

#[test]
fn what_was_changed_here_goes_back_and_the_next_import_finds_both_sides_equal() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.odd_jobs(50).await;
        brought(&xxl, &fixture.store).await;
        let here = jobs(&fixture.store).await;
        let changed = &here[&1001];
        let draft =
            JobDraft { params: "changed here".into(), schedule: changed.full_schedule(), ..changed.draft.clone() };
        let definition = fixture.definition(&draft);
        fixture.store.jobs().update(changed.id, &definition, None, NOW, &Actor::cli()).await.unwrap();
        let made = fixture.create(&JobDraft::new("billing", "ours", "handle")).await;

        let origins = fixture.store.imports().origins("xxl_job").await.unwrap();
        let numbers = origins.iter().map(|origin| (origin.job_id, origin.source_id)).collect();
        let stored = origins.into_iter().map(|origin| (origin.job_id, origin.stored_digest.unwrap())).collect();
        let sources = HashMap::default();
        let known = Known { numbers: &numbers, stored: &stored, sources: &sources, zone: ZONE };
        let mut all: Vec<Job> = jobs(&fixture.store).await.into_values().collect();
        all.push(made.clone());
        let apps = fixture.store.apps().list(&VisibleApps::All).await.unwrap();
        let exported = export(&apps, &all, &known);
        assert_eq!((exported.jobs, exported.unchanged), (2, here.len() - 1), "{:?}", exported.left_out);

        xxl.sql(&exported.sql).await;
        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((done.created, done.changed, plan.report.rows("L1").len()), (0, 0, 0), "{}", plan.report);
        assert_eq!(
            (plan.kept.len(), plan.report.rows("L4").len()),
            (1, 1),
            "the job that was made here is not made twice"
        );
        // It counts as imported: the cut-over accepts it, and another export leaves it out.
        let (plan, _) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.kept.len(), plan.unchanged), (0, here.len()));
    });
}

#[test]
fn a_script_goes_back_with_its_source_where_it_is_asked_for() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let script = ScriptDraft::new(ScriptKind::Python, "print('日')\n", "first version");
        let draft = JobDraft { script: Some(script), ..JobDraft::new("billing", "ours", "") };
        let job = fixture.create(&draft).await;
        let all = std::slice::from_ref(&job);
        let without = exported(&fixture, all, HashMap::default()).await;
        assert_eq!(without.left_out, [(job.id, "script, without --scripts".to_owned())]);
        let sources = HashMap::from_iter([(job.id, "print('日')\n".to_owned())]);
        let none = HashMap::default();
        let known = Known { numbers: &HashMap::default(), stored: &none, sources: &sources, zone: ZONE };
        let apps = fixture.store.apps().list(&VisibleApps::All).await.unwrap();
        let with = export(&apps, all, &known);
        assert_eq!(with.changed, [(job.id, "former versions and the remark of the script".to_owned())]);

        let back = XxlJob::new(Shape::V34).await;
        back.sql(&with.sql).await;
        let elsewhere = TestDatabase::new(Kind::Sqlite).await;
        let second = Fixture::new(&elsewhere).await;
        let options = ImportOptions { scripts: true, ..options() };
        let plan = ImportPlan::make(&back.read().await, &second.store, &options).await.unwrap();
        import(&plan, &second.store, &Actor::cli(), NOW).await.unwrap();
        let there = jobs(&second.store).await.into_values().next().unwrap();
        let script = there.draft.script.unwrap();
        let source = second.store.jobs().script_source(there.id, script.version.unwrap()).await.unwrap();
        assert_eq!((script.kind, source.as_deref()), (ScriptKind::Python, Some("print('日')\n")));
    });
}

#[test]
fn two_jobs_made_here_with_one_name_and_handler_are_both_written_once_whatever_the_collation() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let own = JobDraft::new("billing", "It's ours", "handle");
        let own = [fixture.create(&own).await, fixture.create(&own).await];
        let exported = exported(&fixture, &own, HashMap::default()).await;
        assert!(exported.sql.starts_with("SET NAMES utf8mb4;\n"));
        let back = XxlJob::new(Shape::V34).await;
        for table in ["xxl_job_info", "xxl_job_group"] {
            back.sql(&format!("ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")).await;
        }
        for _ in 0..2 {
            back.sql(&exported.sql).await;
        }
        let names: Vec<String> = back.read().await.jobs.into_iter().map(|job| job.name).collect();
        assert_eq!(names, ["It's ours", "It's ours"]);
    });
}

#[test]
fn a_job_that_runs_there_goes_on_and_a_new_one_is_stopped() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&JobDraft::new("billing", "ours", "handle")).await;
        let back = XxlJob::new(Shape::V34).await;
        back.group(1, "billing", "").await;
        back.job(7, &[("trigger_last_time", &NOW.to_string())]).await;
        for number in [7, 8] {
            let jobs = std::slice::from_ref(&job);
            back.sql(&exported(&fixture, jobs, HashMap::from_iter([(job.id, number)])).await.sql).await;
        }
        let found = back.read().await.jobs;
        let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.is_running, it.last_at, it.next_at)).collect();
        assert_eq!(found, [("ours", true, NOW, NOW + 60_000), ("ours", false, 0, 0)]);
    });
}

#[test]
fn what_is_too_long_is_left_out_and_what_is_lost_is_listed() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let plain = || JobDraft::new("billing", "ours", "handle");
        let minutes: Vec<String> = (0..59).map(|minute| minute.to_string()).collect();
        let long = [
            JobDraft { schedule: ScheduleDraft::cron(format!("0 {} * * * ?", minutes.join(",")), ZONE), ..plain() },
            JobDraft { owner: "o".repeat(65), ..plain() },
            JobDraft { parts: Parts::Count(2), ..plain() },
        ];
        let child = fixture.create(&JobDraft { flag_after_seconds: 60, ..plain() }).await;
        let lossy = [
            JobDraft { schedule: ScheduleDraft::cron("0 * * * * ?", ZONE), children: vec![child.id], ..plain() },
            JobDraft { description: "d".into(), tags: vec!["from-xxl".into(), "night".into()], ..plain() },
            JobDraft { name: "n".repeat(51), ..plain() },
            JobDraft { name: "n".repeat(50), tags: vec!["from-xxl".into()], owner: "o".repeat(64), ..plain() },
        ];
        let mut all = vec![child.clone()];
        for draft in long.iter().chain(&lossy) {
            all.push(fixture.create(draft).await);
        }
        let done = exported(&fixture, &all, HashMap::from_iter([(child.id, 7)])).await;
        let at = |number: usize, text: &str| (all[number].id, text.to_owned());
        let long = ["schedule of more than 128 characters", "owner of more than 64 characters"];
        assert_eq!(done.left_out, [at(1, long[0]), at(2, long[1]), at(3, "parts")]);
        let lost = [
            at(0, "takes_result true, flag_after_seconds"),
            at(4, "clock_changes carillon, catch_up all"),
            at(5, "description, tags"),
            at(6, "name beyond 50 characters"),
        ];
        assert_eq!((done.jobs, done.changed), (5, lost.to_vec()));
    });
}
