//! A database of each shape, with a thousand jobs and every odd value.

use carillon_import::xxl_job::{ImportOptions, ImportPlan, Imported, Shape, import};
use carillon_scheduler::{JobDraft, MisfirePolicy};
use carillon_store::{Actor, Job, Store};
use foldhash::HashMap;

use super::tables::{NOW, SHAPES, XxlJob, options};
use crate::conformance::fixture::Fixture;
use crate::services::{Kind, TestDatabase, on};

pub async fn brought(xxl: &XxlJob, store: &Store) -> (ImportPlan, Imported) {
    let plan = ImportPlan::make(&xxl.read().await, store, &options()).await.unwrap();
    let done = import(&plan, store, &Actor::cli(), NOW).await.unwrap();
    (plan, done)
}

/// By the numbers there.
pub async fn jobs(store: &Store) -> HashMap<i64, Job> {
    let mut jobs = HashMap::default();
    for origin in store.imports().origins("xxl_job").await.unwrap() {
        jobs.extend(store.jobs().get(origin.job_id).await.unwrap().map(|job| (origin.source_id, job)));
    }
    jobs
}

databases! {
    async fn a_thousand_jobs_with_every_odd_value_arrive_and_a_second_import_changes_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.odd_jobs(1000).await;
        let (plan, done) = brought(&xxl, &fixture.store).await;
        let expected = [
            ("A1", vec!["a@example.org b@example.org"]),
            ("B1", vec!["job 104"]),
            ("B2", vec!["job 114"]),
            ("C1", vec!["job 207"]),
            ("C2", vec!["job 205"]),
            ("C3", vec!["job 206"]),
            ("F1", vec!["job 202"]),
            ("F2", vec!["job 203"]),
            ("G1", vec!["job 107"]),
            ("G2", vec!["job 108"]),
            ("H1", vec!["job 102"]),
            ("J1", vec!["job 117"]),
            ("J2", vec!["job 112"]),
            ("K1", vec!["job 109"; 4]),
            ("K2", vec!["job 111"]),
            ("K3", vec!["job 110"]),
            ("K4", vec!["job 111"]),
            ("M2", vec!["job 209"]),
            ("N1", vec!["job 101"]),
            ("R1", vec!["job 103"]),
            ("R3", vec!["app orders"]),
            ("S1", vec!["job 204"]),
            ("T1", vec!["job 105"]),
            ("X1", vec!["app 订单"]),
            ("X2", vec!["app orders"]),
            ("Y1", vec!["job 105"]),
        ];
        let found: Vec<_> = plan.report.findings().map(|(code, _)| (code, plan.report.rows(code))).filter(|(code, _)| *code != "M1").collect();
        assert_eq!(found, expected);
        // Of 28 odd ones five are left there.
        assert_eq!(done, Imported { apps: 1, created: 1023, next_run_id: 100_012_346, ..Imported::default() });
        let jobs_here = jobs(&fixture.store).await;
        assert!(jobs_here.iter().all(|(id, job)| *id == job.id && !job.draft.enabled), "the numbers are kept");
        let job = &jobs_here[&109];
        assert_eq!((job.draft.children.as_slice(), job.draft.takes_result), (&[100][..], false));
        assert_eq!(jobs_here[&208].draft.misfire, MisfirePolicy::FireOnce);
        let rate = jobs_here[&201].schedule().unwrap();
        assert_eq!(rate.next_after(NOW), Some(1_760_000_062_000), "in its phase");
        assert_eq!(fixture.store.apps().by_name("orders").await.unwrap().unwrap().title, "The orders");

        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.new.len(), plan.changed.len(), plan.unchanged), (0, 0, 1023));
        assert_eq!(done, Imported { next_run_id: 100_012_346, ..Imported::default() });
        assert!(jobs(&fixture.store).await == jobs_here);
    }

    async fn what_has_changed_there_comes_and_what_was_changed_here_stays(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V32).await;
        xxl.odd_jobs(5).await;
        brought(&xxl, &fixture.store).await;
        let before = jobs(&fixture.store).await;
        // Enabled and deleted by people here; renamed here, and changed there.
        fixture.store.jobs().set_enabled(before[&100].id, true, NOW, &Actor::cli()).await.unwrap();
        fixture.store.jobs().delete(before[&1000].id, NOW, &Actor::cli()).await.unwrap();
        let renamed = JobDraft { name: "Ours".into(), ..before[&1001].draft.clone() };
        let billing = fixture.store.apps().by_name("billing").await.unwrap().unwrap();
        let definition = carillon_store::Definition::check(&billing, &renamed, NOW).unwrap();
        fixture.store.jobs().update(before[&1001].id, &definition, None, NOW, &Actor::cli()).await.unwrap();
        for id in [100, 1001, 1002] {
            xxl.sql(&format!("UPDATE xxl_job_info SET executor_param = 'new' WHERE id = {id}")).await;
        }
        xxl.sql("DELETE FROM xxl_job_info WHERE id = 1003").await;
        xxl.sql("UPDATE xxl_job_info SET child_jobid = '1002' WHERE id = 1004").await;
        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((done.created, done.changed), (0, 3));
        assert_eq!((plan.report.rows("L1"), plan.report.rows("L2"), plan.report.rows("L3")), (vec!["job 1001"], vec!["job 1003"], vec!["job 1000"]));
        let keeping = ImportOptions { keep_here: true, ..options() };
        let plan = ImportPlan::make(&xxl.read().await, &fixture.store, &keeping).await.unwrap();
        let kept: Vec<i64> = plan.kept.iter().map(|kept| kept.job_id).collect();
        assert_eq!((kept, plan.report.rows("L1").len()), (vec![jobs(&fixture.store).await[&1001].id], 0));
        let after = jobs(&fixture.store).await;
        assert_eq!((after[&100].draft.params.as_str(), after[&100].draft.enabled), ("new", true));
        assert_eq!((after[&1001].draft.params.as_str(), after[&1001].draft.name.as_str()), ("p", "Ours"));
        assert_eq!((after[&1002].draft.params.as_str(), after[&1004].draft.children.as_slice()), ("new", &[1002][..]));
        let (plan, _) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.new.len(), plan.changed.len()), (0, 0));
    }

    async fn chains_arrive_whatever_the_order_of_their_numbers_and_turn_round(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(1, "orders", "").await;
        xxl.group(4, "billing", "").await;
        for id in 1..=620 {
            let child = if id == 3 { "'590'" } else if id == 620 { "'11,12'" } else { "''" };
            let group = if id == 12 { "4" } else { "1" };
            xxl.job(id, &[("child_jobid", child), ("job_group", group)]).await;
        }
        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((done.created, done.refused.rows("J1").len()), (620, 0));
        let here = jobs(&fixture.store).await;
        let child = |parent: i64, place: usize| here[&parent].draft.children.get(place).copied();
        assert_eq!((child(3, 0), child(620, 1)), (Some(here[&590].id), Some(here[&12].id)));
        // A child of another app is started, as there.
        assert_eq!(plan.report.rows("K5"), ["job 620"]);
        let links = fixture.store.jobs().child_links(&[here[&620].id]).await.unwrap();
        assert!(links.len() == 2 && links.iter().all(|link| link.is_started), "{links:?}");
        // The chain turns round, and a child is deleted here.
        fixture.store.jobs().delete(here[&11].id, NOW, &Actor::cli()).await.unwrap();
        for (id, child) in [(3, "''"), (590, "'3'"), (1, "'11,2'")] {
            xxl.sql(&format!("UPDATE xxl_job_info SET child_jobid = {child} WHERE id = {id}")).await;
        }
        let (_, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((done.changed, done.refused.rows("K1"), done.refused.rows("K6").len()), (3, vec!["job 1"], 0));
        let here = jobs(&fixture.store).await;
        assert_eq!((here[&3].draft.children.len(), &here[&590].draft.children[..], &here[&1].draft.children[..]), (0, &[here[&3].id][..], &[here[&2].id][..]));
        let (plan, _) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.new.len(), plan.changed.len()), (0, 0));
    }

    async fn an_import_that_ended_in_the_middle_goes_on_with_the_same_numbers(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // Its number is taken, so the numbers up to it cannot be kept.
        let taken = fixture.create(&JobDraft::new("billing", "ours", "handle")).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(4, "billing", "").await;
        for id in [1, 2, 500, 501] {
            xxl.job(id, &[("job_group", "4")]).await;
        }
        let plan = ImportPlan::make(&xxl.read().await, &fixture.store, &options()).await.unwrap();
        assert_eq!(plan.report.rows("I1"), ["job 1", "job 2"]);
        import(&plan, &fixture.store, &Actor::cli(), NOW).await.unwrap();
        let first = jobs(&fixture.store).await;
        assert!([500, 501].iter().all(|id| first[id].id == *id), "kept");
        assert!([1, 2].iter().all(|id| first[id].id > 501 && first[id].id != taken.id), "new ones");
        // As if it had ended between the numbers and the jobs, and between a job and the note that it is stored.
        fixture.store.jobs().delete(first[&1].id, NOW, &Actor::cli()).await.unwrap();
        fixture.sql("UPDATE import_origin SET stored_digest = NULL WHERE source_id IN (1, 2)").await;
        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.new.len(), done.created, done.changed, plan.unchanged), (1, 1, 1, 2));
        let numbers = |jobs: &HashMap<i64, Job>| [1, 2, 500, 501].map(|id| jobs[&id].id);
        assert_eq!(numbers(&jobs(&fixture.store).await), numbers(&first));
        let (plan, _) = brought(&xxl, &fixture.store).await;
        assert_eq!(plan.unchanged, 4);
    }
}

#[test]
fn an_import_that_ended_between_a_change_and_its_children_is_finished() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(4, "billing", "").await;
        for id in [1, 2, 3] {
            xxl.job(id, &[("job_group", "4"), ("child_jobid", if id == 1 { "'2'" } else { "''" })]).await;
        }
        brought(&xxl, &fixture.store).await;
        xxl.sql("UPDATE xxl_job_info SET executor_param = 'new', child_jobid = '3' WHERE id = 1").await;
        // As the import has stored it before it looks at children.
        let here = jobs(&fixture.store).await.remove(&1).unwrap();
        let draft = JobDraft { params: "new".into(), children: vec![], ..here.draft };
        let billing = fixture.store.apps().by_name("billing").await.unwrap().unwrap();
        let definition = carillon_store::Definition::check(&billing, &draft, NOW).unwrap();
        fixture.store.jobs().update(here.id, &definition, None, NOW, &Actor::cli()).await.unwrap();
        let (plan, done) = brought(&xxl, &fixture.store).await;
        assert_eq!((plan.report.rows("L1"), done.changed), (vec![], 1));
        assert_eq!(jobs(&fixture.store).await[&1].draft.children, [3]);
        assert_eq!(brought(&xxl, &fixture.store).await.0.unchanged, 3);
    });
}

#[test]
fn each_shape_of_the_tables_is_told_and_read() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        for shape in SHAPES {
            let xxl = XxlJob::new(shape).await;
            xxl.odd_jobs(3).await;
            let source = xxl.read().await;
            assert_eq!(source.shape, shape);
            assert_eq!(source.last_log_id, 12_345);
            let plan = ImportPlan::make(&source, &fixture.store, &options()).await.unwrap();
            assert_eq!(plan.zone.agree, plan.zone.of, "{shape:?}");
            let expected = if shape == Shape::V22 { 16 } else { 26 };
            assert_eq!(plan.new.len(), expected, "{shape:?}");
            assert_eq!(plan.new[0].draft.schedule, plan.new[1].draft.schedule, "each minute");
        }
    });
}

#[test]
fn accounts_come_without_passwords_and_those_that_cannot_are_named() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.odd_jobs(0).await;
        let options = carillon_import::xxl_job::ImportOptions { users: true, ..options() };
        let plan = ImportPlan::make(&xxl.read().await, &fixture.store, &options).await.unwrap();
        import(&plan, &fixture.store, &Actor::cli(), NOW).await.unwrap();
        assert_eq!(plan.report.rows("U1"), ["user cli", "user eve"]);
        let accounts = fixture.store.people().accounts().await.unwrap();
        let grants: HashMap<&str, usize> =
            accounts.iter().map(|it| (it.name.as_str(), it.grants.iter().count())).collect();
        assert_eq!(grants, HashMap::from_iter([("root", 1), ("bob", 2)]));
        let again = ImportPlan::make(&xxl.read().await, &fixture.store, &options).await.unwrap();
        assert_eq!(again.users, []);
    });
}

#[test]
fn script_jobs_come_with_their_sources_where_they_are_asked_for() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(1, "shop", "").await;
        let script = [("glue_type", "'GLUE_SHELL'"), ("glue_source", "'echo 1\\r\\n'"), ("glue_remark", "'first'")];
        xxl.job(7, &script).await;
        xxl.job(8, &[("glue_type", "'GLUE_PHP'"), ("glue_source", "' '")]).await;
        let options = ImportOptions { scripts: true, ..options() };
        let plan = ImportPlan::make(&xxl.read().await, &fixture.store, &options).await.unwrap();
        import(&plan, &fixture.store, &Actor::cli(), NOW).await.unwrap();
        assert_eq!((plan.report.rows("G2"), plan.report.rows("G3")), (vec![], vec!["job 8"]));
        let job = fixture.store.jobs().get(7).await.unwrap().unwrap();
        let script = job.draft.script.unwrap();
        assert_eq!((script.kind.as_str(), script.remark.as_str()), ("shell", "from xxl-job: first"));
        let source = fixture.store.jobs().script_source(7, script.version.unwrap()).await.unwrap();
        assert_eq!(source.as_deref(), Some("echo 1\n"));

        let again = ImportPlan::make(&xxl.read().await, &fixture.store, &options).await.unwrap();
        assert_eq!((again.new.len(), again.changed.len(), again.unchanged), (0, 0, 1));
        xxl.sql("UPDATE xxl_job_info SET glue_source = 'echo 2' WHERE id = 7").await;
        let again = ImportPlan::make(&xxl.read().await, &fixture.store, &options).await.unwrap();
        import(&again, &fixture.store, &Actor::cli(), NOW).await.unwrap();
        let next = fixture.store.jobs().get(7).await.unwrap().unwrap().draft.script.unwrap().version.unwrap();
        assert!(next > script.version.unwrap());
        assert_eq!(fixture.store.jobs().script_source(7, next).await.unwrap().as_deref(), Some("echo 2"));
    });
}
