use carillon_scheduler::{Cause, JobDraft, RunState};
use carillon_store::run::view::filter::SEARCHED_RUN_IDS;
use carillon_store::{Error, RunFilter, RunSort, VisibleApps, sentence};

use crate::conformance::fixture::{Fixture, Row, after, draft};

fn filter() -> RunFilter {
    RunFilter { limit: 100, ..RunFilter::default() }
}

/// Ids 1 to 12: each state twice over, and more; odd ones of job a, even ones of job b.
async fn fill(fixture: &Fixture) -> (i64, i64) {
    let a = fixture.create(&draft("a")).await;
    let b = fixture.create(&JobDraft { name: "b".into(), ..draft("b") }).await;
    for id in 1..=12 {
        let state = RunState::ALL[(id as usize - 1) % RunState::ALL.len()].code();
        let cause = if id <= 6 { Cause::Schedule } else { Cause::Api }.code();
        let job = if id % 2 == 1 { &a } else { &b };
        fixture.run(job, Row { id, state, cause, fire_no: after(id), ..Row::default() }).await;
    }
    (a.id, b.id)
}

databases! {
    async fn runs_come_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let (mut after, mut seen, mut pages) = (None, vec![], 0);
        loop {
            let page = fixture.store.runs().list(&RunFilter { limit: 5, after, ..filter() }).await.unwrap();
            seen.extend(page.items.iter().map(|run| run.id));
            pages += 1;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!((seen, pages), ((1..=12).rev().collect::<Vec<_>>(), 3));
        let exact = fixture.store.runs().list(&RunFilter { limit: 12, ..filter() }).await.unwrap();
        assert_eq!(exact.next, None, "a full last page has no next one");
    }

    async fn a_selection_over_too_many_ids_is_refused_and_leaves_none_out(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("a")).await;
        for id in [1, 5_500_000] {
            fixture.run(&job, Row { id, state: RunState::Failed.code(), fire_no: after(id), ..Row::default() }).await;
        }
        let failed = RunFilter { states: vec![RunState::Failed], ..filter() };
        assert_eq!(fixture.store.runs().ids_of(&failed, 1).await.unwrap(), [5_500_000]);
        let refused = fixture.store.runs().ids_of(&failed, 2).await;
        assert!(matches!(&refused, Err(Error::Refused(wrong)) if wrong.field == "from"), "{refused:?}");
    }

    async fn runs_are_filtered_by_every_member_of_the_filter(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (a, _) = fill(&fixture).await;
        let found = async |filter: RunFilter| {
            let page = fixture.store.runs().list(&filter).await.unwrap();
            let (counts, _) = fixture.store.runs().count_by_state(&filter).await.unwrap();
            assert_eq!(counts.iter().map(|(_, count)| *count as usize).sum::<usize>(), page.items.len());
            page.items.iter().map(|run| run.id).collect::<Vec<_>>()
        };
        assert_eq!(found(RunFilter { job_id: Some(a), ..filter() }).await, [11, 9, 7, 5, 3, 1]);
        assert_eq!(found(RunFilter { app: Some("billing".into()), ..filter() }).await.len(), 12);
        assert_eq!(found(RunFilter { app: Some("Billing".into()), ..filter() }).await, [0i64; 0]);
        assert_eq!(found(RunFilter { cause: Some(Cause::Schedule), ..filter() }).await, [6, 5, 4, 3, 2, 1]);
        let open = vec![RunState::Running, RunState::Claimed];
        assert_eq!(found(RunFilter { states: open, ..filter() }).await, [12, 10, 3, 1]);
        let mixed = vec![RunState::Running, RunState::Failed];
        assert_eq!(found(RunFilter { states: mixed, ..filter() }).await, [12, 7, 3]);
        let range = RunFilter { from: Some(after(3)), to: Some(after(5)), ..filter() };
        assert_eq!(found(range).await, [4, 3], "the end is left out");
    }

    async fn a_filter_looks_at_a_part_of_the_ids_for_each_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let a = fixture.create(&draft("a")).await;
        let b = fixture.create(&draft("b")).await;
        let newest = 3 * SEARCHED_RUN_IDS;
        for (at, (job, id)) in (0..).zip([(&a, 1), (&a, 2), (&b, SEARCHED_RUN_IDS), (&a, newest - 5), (&b, newest)]) {
            fixture.run(job, Row { id, fire_no: after(at), ..Row::default() }).await;
        }
        let of_a = RunFilter { job_id: Some(a.id), limit: 1, ..filter() };
        let (mut after, mut pages) = (None, vec![]);
        loop {
            let page = fixture.store.runs().list(&RunFilter { after, ..of_a.clone() }).await.unwrap();
            pages.push(page.items.iter().map(|run| run.id).collect::<Vec<_>>());
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        // The first page ends with the ids looked at, not with its run.
        assert_eq!(pages, [vec![newest - 5], vec![], vec![2], vec![1]]);
        let open = RunFilter { states: vec![RunState::Claimed], ..of_a };
        assert_eq!(fixture.store.runs().list(&open).await.unwrap().next, Some(newest - 5), "open runs have an index");
    }

    async fn a_page_that_cannot_be_is_the_first_one_or_empty(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let count = async |sort, after| {
            let page = fixture.store.runs().list(&RunFilter { sort, after: Some(after), limit: 5, ..filter() }).await.unwrap();
            page.items.len()
        };
        for sort in [RunSort::Time, RunSort::Duration, RunSort::Lateness] {
            assert_eq!((count(sort, -1).await, count(sort, i64::MIN).await, count(sort, i64::MAX).await), (5, 5, 0));
        }
        let text = RunFilter { text: Some("a".into()), after: Some(i64::MIN), ..filter() };
        assert_eq!(fixture.store.runs().list(&text).await.unwrap().items, []);
    }

    async fn states_are_counted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let (counts, more) = fixture.store.runs().count_by_state(&filter()).await.unwrap();
        assert_eq!(counts.len(), RunState::ALL.len());
        assert_eq!((counts[0], counts[5], more), ((RunState::Claimed, 2), (RunState::Succeeded, 1), false));
    }

    async fn a_fire_shows_its_parts_and_attempts(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("a")).await;
        let first = fixture.run(&job, Row { state: RunState::Failed.code(), reason: Some("refused"), ..Row::default() }).await;
        let second = fixture.run(&job, Row { attempt: 2, due_at: after(5), ..Row::default() }).await;
        fixture.run(&job, Row { fire_no: after(1), ..Row::default() }).await;
        let run = fixture.store.runs().get(second).await.unwrap().unwrap();
        let fire = fixture.store.runs().fire_runs(&run, &VisibleApps::All).await.unwrap();
        let ids: Vec<_> = fire.iter().map(|run| run.id).collect();
        let others = VisibleApps::Only(vec![fixture.app.id + 1]);
        assert!(fixture.store.runs().fire_runs(&run, &others).await.unwrap().is_empty());
        assert!(fixture.store.runs().runs_of_instant(run.job_id, run.fire_no, &others).await.unwrap().is_empty());
        assert_eq!(ids, [first, second]);
        let failed = fixture.store.runs().get(first).await.unwrap().unwrap();
        assert_eq!(Some(failed.message().as_str()), sentence("refused"));
        assert_eq!(run.message(), "");
    }

    async fn what_was_given_by_hand_comes_with_the_single_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("a")).await;
        let id = fixture.run(&job, Row { cause: Cause::Manual.code(), ..Row::default() }).await;
        fixture.sql(&format!("INSERT INTO run_input (run_id, params, address) VALUES ({id}, '', 'http://h:1')")).await;
        fixture.sql(&format!("UPDATE run SET result_msg = 'done', reason = 'result', result_code = 200 WHERE id = {id}")).await;
        let run = fixture.store.runs().get(id).await.unwrap().unwrap();
        assert_eq!((run.params.as_deref(), run.bound_address.as_deref()), (Some(""), Some("http://h:1")));
        assert_eq!((run.message(), run.result_code), ("done".to_owned(), Some(200)));
        assert_eq!(fixture.store.runs().get(id + 1).await.unwrap(), None);
    }
}
