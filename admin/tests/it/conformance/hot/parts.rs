//! Static parts: what a run is split into, and what each part is given.

use carillon_scheduler::RunState::{Cancelled, Claimed};
use carillon_scheduler::{JobDraft, Parts};
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::expand::Expansion;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Job, RunParams};

use super::send::{fire, waiting, waiting_fire};
use crate::conformance::fixture::{Fixture, NOW, actor, after};
use crate::conformance::hot::outcome::settle::failure;

fn each(texts: &[&str]) -> Parts {
    Parts::Each(texts.iter().map(|&text| text.to_owned()).collect())
}

async fn split_job(fixture: &Fixture, parts: Parts) -> Job {
    let change = |draft: &mut JobDraft| (draft.parts, draft.retries) = (parts, 1);
    fixture.ticking_with("tick", change).await
}

async fn edit(fixture: &Fixture, job: &Job, change: impl FnOnce(&mut JobDraft)) -> Job {
    let mut draft = job.draft.clone();
    change(&mut draft);
    fixture.store.jobs().update(job.id, &fixture.definition(&draft), None, NOW, &actor()).await.unwrap()
}

async fn expand(fixture: &Fixture, run: &ClaimedRun) -> Vec<ClaimedRun> {
    fixture.store.runs().expand(run, &Expansion::Parts, "a").await.unwrap()
}

/// What each of these runs is given in place of its job's parameters, and whether that is its part's.
async fn given(fixture: &Fixture, runs: &[ClaimedRun]) -> Vec<Option<(String, bool)>> {
    let ids: Vec<i64> = runs.iter().map(|run| run.run_id).collect();
    let found = fixture.store.jobs().given_params(&ids).await.unwrap();
    let of = |id| found.iter().find(|(run, _)| *run == id).map(|(_, it)| (it.text.clone(), it.is_of_part));
    ids.into_iter().map(of).collect()
}

fn own(texts: &[&str]) -> Vec<Option<(String, bool)>> {
    texts.iter().map(|&text| Some((text.to_owned(), true))).collect()
}

databases! {
    async fn a_run_becomes_its_parts_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = split_job(&fixture, Parts::Count(16)).await;
        let run = waiting(&fixture, &job, Some("by hand")).await;
        let stale = ClaimedRun { epoch: run.epoch - 1, ..run.clone() };
        assert_eq!(expand(&fixture, &stale).await, [], "another epoch");
        let parts = expand(&fixture, &run).await;
        let rows = fixture.rows_where("1 = 1").await;
        assert_eq!((parts.len(), rows.len()), (16, 16));
        for ((part, row), index) in parts.iter().zip(&rows).zip(0..) {
            assert_eq!((part.run_id, part.part, part.parts, &part.bound_to), (row.id, index, 16, &None));
            assert_eq!((row.part, row.parts, row.address.as_ref(), row.state()), (index, 16, None, Claimed));
            assert_eq!((row.fire_no, row.attempt, row.due_at, row.epoch), (run.fire_no, 1, run.due_at, run.epoch));
        }
        assert_eq!(given(&fixture, &parts).await, vec![Some(("by hand".to_owned(), false)); 16]);
        let mut found = fixture.store.runs().waiting(job.shard, run.epoch, after(5), 20).await.unwrap();
        found.sort_by_key(|run| run.part);
        assert_eq!(found, parts, "found again by a scan exactly as they are known here");
        assert_eq!(expand(&fixture, &run).await, [], "the answer to the commit may have been lost");
        assert_eq!(fixture.count("run", "1 = 1").await, 16);
    }

    async fn each_part_has_the_text_of_its_list_and_a_retry_keeps_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = split_job(&fixture, each(&["eu", "", "日次 'x'\n"])).await;
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap().unwrap().draft.parts, job.draft.parts);
        let run = waiting(&fixture, &job, None).await;
        // As a fire of the schedule, with which nothing is given.
        fixture.sql("UPDATE run SET cause = 0").await;
        let run = ClaimedRun { cause: carillon_scheduler::Cause::Schedule, ..run };
        let parts = expand(&fixture, &run).await;
        assert_eq!(given(&fixture, &parts).await, own(&["eu", "", "日次 'x'\n"]));
        let third = fixture.store.runs().get(parts[2].run_id).await.unwrap().unwrap();
        assert_eq!(fixture.store.runs().params_of(&third).await.unwrap(), RunParams::OfPart("日次 'x'\n".into()));
        fixture.sql("UPDATE run SET state = 2").await;
        fixture.settle(&[failure(third.id)]).await;
        let again = fixture.rows_where("attempt = 2").await;
        assert_eq!((again.len(), again[0].part, again[0].parts), (1, 2, 3), "the failed part alone");
        let again = ClaimedRun { run_id: again[0].id, ..parts[2].clone() };
        assert_eq!(given(&fixture, &[again]).await, own(&["日次 'x'\n"]));
        let whole = fixture.store.runs().parts_to_repeat(&third).await.unwrap();
        assert_eq!(whole.as_ref(), Some(&job.draft.parts), "a rerun repeats the fire");
    }

    async fn what_is_asked_for_with_a_fire_goes_before_the_job(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = split_job(&fixture, each(&["eu", "us"])).await;
        let ask = |parts: Option<Parts>, params: Option<&str>| NewTrigger {
            parts,
            params: params.map(str::to_owned),
            address: Some("http://x:1/".into()),
            ..fire(&job)
        };
        let run = waiting_fire(&fixture, &job, &ask(Some(each(&["a", "b", "c"])), None)).await;
        assert_eq!(run.asked_parts, Some(3));
        let parts = expand(&fixture, &run).await;
        assert_eq!(given(&fixture, &parts).await, own(&["a", "b", "c"]));
        assert!(parts.iter().all(|part| part.bound_to.as_deref() == Some("http://x:1/")), "{parts:?}");
        let first = fixture.store.runs().get(run.run_id).await.unwrap().unwrap();
        assert_eq!(fixture.store.runs().parts_to_repeat(&first).await.unwrap(), Some(each(&["a", "b", "c"])));
        fixture.sql("DELETE FROM run").await;
        // Parameters for all, in place of the texts of the list.
        let run = waiting_fire(&fixture, &job, &ask(None, Some("same"))).await;
        let parts = expand(&fixture, &run).await;
        assert_eq!(given(&fixture, &parts).await, vec![Some(("same".to_owned(), false)); 2]);
        fixture.sql("DELETE FROM run").await;
        let run = waiting_fire(&fixture, &job, &ask(Some(Parts::Count(3)), Some("same"))).await;
        let parts = expand(&fixture, &run).await;
        assert_eq!(given(&fixture, &parts).await, vec![Some(("same".to_owned(), false)); 3]);
        assert_eq!(fixture.count("audit", "detail LIKE '%\"parts\":[\"a\",\"b\",\"c\"]%'").await, 1);
    }

    async fn a_childs_list_goes_before_the_result_of_its_parent(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (parts, expected) in [
            (each(&["eu", "us"]), own(&["eu", "us"])),
            (Parts::Count(2), vec![Some(("result".to_owned(), false)); 2]),
        ] {
            let job = split_job(&fixture, parts).await;
            let run = waiting(&fixture, &job, Some("result")).await;
            fixture.sql("UPDATE run SET cause = 3").await;
            let run = ClaimedRun { cause: carillon_scheduler::Cause::Child, ..run };
            let parts = expand(&fixture, &run).await;
            assert_eq!(given(&fixture, &parts).await, expected);
            fixture.sql("DELETE FROM run").await;
        }
    }

    async fn an_edit_changes_later_fires_and_a_deletion_leaves_no_list(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = split_job(&fixture, each(&["eu", "us"])).await;
        let run = waiting(&fixture, &job, None).await;
        let parts = expand(&fixture, &run).await;
        let edited = edit(&fixture, &job, |draft| draft.parts = each(&["eu", "us", "ap"])).await;
        assert_eq!(given(&fixture, &parts).await, own(&["eu", "us"]), "what is expanded stays");
        fixture.sql("DELETE FROM run").await;
        let run = waiting(&fixture, &edited, None).await;
        assert_eq!(given(&fixture, &expand(&fixture, &run).await).await, own(&["eu", "us", "ap"]));
        fixture.sql("DELETE FROM run").await;
        let run = waiting(&fixture, &edited, None).await;
        let edited = edit(&fixture, &edited, |draft| draft.parts = Parts::default()).await;
        assert_eq!(expand(&fixture, &run).await, [], "it is not split any more");
        assert_eq!((fixture.count("job_part", "1 = 1").await, fixture.count("run", "parts = 1").await), (0, 1));
        // History: each change is on record, and the former list can be had again.
        let revisions = fixture.store.jobs().revisions(&edited, None).await.unwrap();
        assert_eq!(revisions[0].before["parts"], serde_json::json!(["eu", "us", "ap"]));
        let former = fixture.store.jobs().former_draft(&edited, &revisions[1]).await.unwrap();
        assert_eq!(former.parts, each(&["eu", "us", "ap"]));
        let edited = edit(&fixture, &edited, |draft| draft.parts = each(&["eu", "us"])).await;
        fixture.store.jobs().delete(edited.id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("job_part", "1 = 1").await, 0);
        assert_eq!(fixture.rows_where("1 = 1").await[0].state(), Cancelled);
        assert_eq!(expand(&fixture, &run).await, [], "its job is gone");
    }

    // covers: 001-16
    async fn a_long_list_is_in_the_audit_by_its_beginning_and_can_be_had_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let long = Parts::Each(vec!["secret ä".repeat(60); 100]);
        let job = split_job(&fixture, long.clone()).await;
        let read = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!(read.draft.parts, long);
        let short = edit(&fixture, &job, |draft| draft.name = "other".into()).await;
        let revisions = fixture.store.jobs().revisions(&short, None).await.unwrap();
        let former = fixture.store.jobs().former_draft(&short, &revisions[1]).await.unwrap();
        assert_eq!(former.parts, long, "the job has it still");
        let short = edit(&fixture, &short, |draft| draft.parts = Parts::Count(2)).await;
        let revisions = fixture.store.jobs().revisions(&short, None).await.unwrap();
        let text = revisions[0].before["parts"][0].as_str().unwrap().to_owned();
        assert!(text.contains("… (100 texts, 54000 bytes, SHA-256 ") && text.len() < 200, "{text}");
        let former = fixture.store.jobs().former_draft(&short, &revisions[1]).await.unwrap();
        assert_eq!(former.parts, long, "it was kept when it was replaced");
        fixture.sql("DELETE FROM job_part_history").await;
        let other = edit(&fixture, &short, |draft| draft.parts = Parts::Each(vec!["secret é".repeat(60); 100])).await;
        let revisions = fixture.store.jobs().revisions(&other, None).await.unwrap();
        let refused = fixture.store.jobs().former_draft(&other, &revisions[2]).await.unwrap_err().to_string();
        assert_eq!(refused, "parts: only the beginning of this former list of parts is kept");
    }
}
