//! Slots of limits: taken with the mark, freed with the end of a run or with the mark.

use carillon_scheduler::RunState::{Claimed, Running, Sending};
use carillon_scheduler::run::limit::NO_KEY;
use carillon_scheduler::{LimitDraft, RunEvent, RunReason, SlotKey};
use carillon_store::app::limits::take::{LimitedMark, LimitedMarks};
use carillon_store::run::settle::finding::{AcceptedRun, SettleContext};
use carillon_store::run::unmark::Unsent;
use carillon_store::{Job, LimitRule, VisibleApps};
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use super::mark::mark;
use super::outcome::settle::{found, success};
use crate::conformance::fixture::{Fixture, NOW, Row, actor, after};

impl Fixture {
    async fn limit(&self, name: &str, max: i32) -> LimitRule {
        self.store.limits().create(&LimitDraft::new(name, max), None, NOW, &actor()).await.unwrap()
    }

    async fn mark_limited(&self, ids: &[i64], slots: &[SlotKey], token: i64) -> LimitedMarks {
        let marks: Vec<_> = ids.iter().map(|id| LimitedMark { mark: mark(*id), slots }).collect();
        self.store.limits().mark_limited(&marks, token, "a", NOW).await.unwrap()
    }

    /// Limit, slot and run of each slot that is taken.
    async fn slots(&self) -> Vec<(i64, i32, i64)> {
        let rows = self.rows("SELECT limit_id, slot, run_id FROM limit_slot ORDER BY limit_id, slot_key, slot").await;
        let slot = |row: &sea_orm::QueryResult| {
            let cell = |at| row.try_get_by_index::<i64>(at).unwrap();
            (cell(0), row.try_get_by_index::<i32>(1).unwrap(), cell(2))
        };
        rows.iter().map(slot).collect()
    }

    async fn limited_runs(&self, job: &Job, count: i64) -> Vec<i64> {
        let mut ids = vec![];
        for n in 0..count {
            let id = 5_000 + job.id * 100 + n;
            ids.push(self.run(job, Row { id, fire_no: after(id), ..Row::default() }).await);
        }
        ids
    }
}

fn key_of(rule: &LimitRule) -> SlotKey {
    SlotKey { limit_id: rule.id, key: NO_KEY }
}

databases! {
    async fn a_mark_takes_slots_in_the_order_of_its_list_as_far_as_there_are_any(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 4).await;
        let rule = fixture.limit("db-export", 2).await;
        let order = [ids[2], ids[0], ids[1]];
        let done = fixture.mark_limited(&order, &[key_of(&rule)], 7).await;
        assert_eq!((done.won, done.without_slot), ([ids[0], ids[2]].into_iter().collect(), [ids[1]].into_iter().collect()));
        assert_eq!(fixture.slots().await, [(rule.id, 0, ids[2]), (rule.id, 1, ids[0])]);
        let row = fixture.row(ids[0]).await;
        assert_eq!((row.state(), row.mark_token, row.sends), (Sending, Some(7), 1));
        assert_eq!(fixture.row(ids[1]).await.state(), Claimed);
        let full = fixture.mark_limited(&ids[3..], &[key_of(&rule)], 8).await;
        assert_eq!((full.won.len(), full.without_slot.len()), (0, 1));
        assert_eq!(fixture.store.limits().taken(&[key_of(&rule)]).await.unwrap(), [(key_of(&rule), 2)]);
    }

    async fn what_is_not_won_takes_no_slot_and_another_mark_keeps_its_own(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 3).await;
        let rule = fixture.limit("db-export", 5).await;
        fixture.sql(&format!("UPDATE run SET epoch = 2 WHERE id = {}", ids[1])).await;
        let done = fixture.mark_limited(&ids, &[key_of(&rule)], 7).await;
        assert_eq!(done.won, [ids[0], ids[2]].into_iter().collect());
        assert_eq!(done.without_slot.len(), 0);
        assert_eq!(fixture.slots().await.len(), 2);
        assert_eq!(fixture.mark_limited(&ids, &[key_of(&rule)], 8).await.won.len(), 0, "they are marked");
        assert_eq!(fixture.slots().await.len(), 2);
    }

    async fn all_limits_or_none(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 3).await;
        let (wide, narrow) = (fixture.limit("wide", 5).await, fixture.limit("narrow", 1).await);
        let both = [key_of(&wide), key_of(&narrow)];
        let only = [key_of(&wide)];
        let marks = [
            LimitedMark { mark: mark(ids[0]), slots: &both },
            LimitedMark { mark: mark(ids[1]), slots: &both },
            LimitedMark { mark: mark(ids[2]), slots: &only },
        ];
        let done = fixture.store.limits().mark_limited(&marks, 7, "a", NOW).await.unwrap();
        assert_eq!((done.won, done.without_slot), ([ids[0], ids[2]].into_iter().collect(), [ids[1]].into_iter().collect()));
        assert_eq!(fixture.slots().await, [(wide.id, 0, ids[0]), (wide.id, 1, ids[2]), (narrow.id, 0, ids[0])]);
    }

    async fn each_value_of_a_key_has_slots_of_its_own(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 3).await;
        let rule = fixture.limit("customer", 1).await;
        let keys = [i64::MIN, 5, 5].map(|key| [SlotKey { limit_id: rule.id, key }]);
        let marks: Vec<_> = ids.iter().zip(&keys).map(|(id, slots)| LimitedMark { mark: mark(*id), slots }).collect();
        let done = fixture.store.limits().mark_limited(&marks, 7, "a", NOW).await.unwrap();
        assert_eq!((done.won.len(), done.without_slot), (2, [ids[2]].into_iter().collect()));
    }

    async fn a_limit_that_is_made_smaller_is_kept_from_then_on(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 8).await;
        let rule = fixture.limit("db-export", 4).await;
        let key = [key_of(&rule)];
        assert_eq!(fixture.mark_limited(&ids[..4], &key, 7).await.won.len(), 4);
        let smaller = LimitDraft::new("db-export", 2);
        fixture.store.limits().update(rule.id, &smaller, Some(1), NOW, &actor()).await.unwrap();
        // The runs with the first and the last number end: two are at work, one of them beyond the limit.
        fixture.settle(&[success(ids[0]), success(ids[3])]).await;
        assert_eq!(fixture.mark_limited(&ids[4..], &key, 8).await.won.len(), 0);
        fixture.settle(&[success(ids[1])]).await;
        assert_eq!(fixture.mark_limited(&ids[4..], &key, 9).await.won.len(), 1);
        assert_eq!(fixture.slots().await.len(), 2);
    }

    async fn every_end_of_a_run_frees_its_slots(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 5).await;
        let rule = fixture.limit("db-export", 5).await;
        fixture.mark_limited(&ids, &[key_of(&rule)], 7).await;
        fixture.store.runs().accept_runs(&[0, 1, 2].map(|place: usize| AcceptedRun::sent(ids[place], NOW))).await.unwrap();
        let settled = fixture.settle(&[
            success(ids[0]),
            found(ids[1], RunEvent::ExecutorGone, RunReason::Lost),
            found(ids[3], RunEvent::Unresolved, RunReason::Unknown),
        ]).await;
        let mut freed = settled.freed.clone();
        freed.sort_unstable();
        assert_eq!(freed, [ids[0], ids[1], ids[3]]);
        let left: Vec<i64> = fixture.slots().await.iter().map(|slot| slot.2).collect();
        assert_eq!(left, [ids[2], ids[4]]);
        // What becomes known later has nothing to free.
        assert_eq!(fixture.settle(&[success(ids[1])]).await.freed, [0; 0]);
        assert_eq!(fixture.row(ids[2]).await.state(), Running);
    }

    async fn runs_without_a_slot_are_settled_as_before(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Running, Sending]).await;
        let context = SettleContext { now: NOW, jitter: 0.0, restored: false };
        let (one, two) = (success(ids[0]), success(ids[1]));
        let done = fixture.store.runs().settle_successes(&[&one, &two], context.now).await.unwrap();
        assert_eq!(done.len(), 2);
    }

    async fn a_mark_that_is_taken_back_frees_the_slots(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 2).await;
        let rule = fixture.limit("db-export", 2).await;
        let key = [key_of(&rule)];
        fixture.mark_limited(&ids, &key, 7).await;
        let back = |token| [Unsent { run_id: ids[0], token, bound: false }];
        let other = fixture.store.runs().unmark(&back(8), NOW).await.unwrap();
        assert_eq!((other.done, other.freed, fixture.slots().await.len()), (0, 0, 2), "another mark");
        let done = fixture.store.runs().unmark(&back(7), NOW).await.unwrap();
        assert_eq!((done.done, done.freed), (1, 1));
        assert_eq!(fixture.slots().await, [(rule.id, 1, ids[1])]);
        assert_eq!(fixture.mark_limited(&ids[..1], &key, 9).await.won.len(), 1);
        assert_eq!(fixture.slots().await.len(), 2);
        // A run whose job names no limit any more is marked without a slot.
        fixture.store.runs().unmark(&back(9), NOW).await.unwrap();
        fixture.store.runs().mark(&[mark(ids[0])], 10, "a", NOW).await.unwrap();
        assert_eq!(fixture.settle(&[success(ids[0])]).await.freed, [0; 0]);
    }

    async fn many_nodes_never_take_more_than_there_are(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 40).await;
        let rule = fixture.limit("db-export", 7).await;
        let slots = [key_of(&rule)];
        let nodes = ids.chunks(5).zip(1..).map(|(ids, token)| {
            let (store, ids) = (fixture.store.clone(), ids.to_vec());
            tokio::spawn(async move {
                let mut marks: Vec<_> = ids.iter().map(|id| LimitedMark { mark: mark(*id), slots: &slots }).collect();
                let (mut won, mut tokens) = (0, (token..).step_by(8));
                // One that meets another at the limit comes again, with what it has not won yet and a token of its own.
                while store.limits().taken(&slots).await.unwrap().first().is_none_or(|(_, taken)| *taken < 7) {
                    let token = tokens.next().unwrap();
                    let done = store.limits().mark_limited(&marks, token, "a", NOW).await.unwrap();
                    marks.retain(|it| !done.won.contains(&it.mark.run_id));
                    won += done.won.len();
                }
                won
            })
        });
        let won: usize = join_all(nodes).await.into_iter().map(Result::unwrap).sum();
        assert_eq!((won, fixture.slots().await.len()), (7, 7));
        assert_eq!(fixture.count("run", "state = 1").await, 7);
    }

    // covers: F7
    async fn what_another_session_holds_delays_no_other_limit_and_no_other_run(db: &TestDatabase) {
        // SQLite locks its whole file, for one statement.
        if db.kind() == Kind::Sqlite {
            return;
        }
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 4).await;
        let (one, other) = (fixture.limit("one", 1).await, fixture.limit("other", 2).await);
        let (of_one, of_other) = ([key_of(&one)], [key_of(&other)]);
        let marks: Vec<_> = ids
            .iter()
            .zip([&of_one, &of_other, &of_other, &of_other])
            .map(|(id, slots)| LimitedMark { mark: mark(*id), slots })
            .collect();
        let session = fixture.raw.begin().await.unwrap();
        let lock = format!("SELECT id FROM limit_rule WHERE id = {} FOR UPDATE", one.id);
        session.execute_unprepared(&lock).await.unwrap();
        let lock = format!("SELECT id FROM run WHERE id = {} FOR UPDATE", ids[1]);
        session.execute_unprepared(&lock).await.unwrap();
        let done = fixture.store.limits().mark_limited(&marks, 7, "a", NOW).await.unwrap();
        assert_eq!(done.won, [ids[2], ids[3]].into_iter().collect());
        assert_eq!(done.without_slot, [ids[0]].into_iter().collect());
        assert_eq!(done.held_up, [ids[1]].into_iter().collect());
        assert_eq!(fixture.store.limits().note_waiting(&ids[..2]).await.unwrap(), [ids[0]]);
        session.rollback().await.unwrap();
        let done = fixture.store.limits().mark_limited(&marks[..1], 8, "a", NOW).await.unwrap();
        assert_eq!(done.won, [ids[0]].into_iter().collect());
    }

    async fn many_jobs_hold_their_limits_by_one_statement_and_a_missing_one_has_its_place(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.limit("one", 1).await;
        fixture.limit("two", 1).await;
        let definition = |names: &[&str]| {
            let mut draft = carillon_scheduler::JobDraft::new("billing", "n", "h");
            draft.limits = names.iter().map(|name| (*name).to_owned()).collect();
            fixture.definition(&draft)
        };
        let good = vec![definition(&["two"]), definition(&[]), definition(&["one", "two"])];
        assert_eq!(fixture.store.jobs().create(good, NOW, &actor(), None).await.unwrap().len(), 3);
        let wrong = vec![definition(&["two"]), definition(&["one", "three"])];
        let refused = fixture.store.jobs().create(wrong, NOW, &actor(), None).await.unwrap_err();
        let carillon_store::Error::Refused(fault) = &refused else { panic!("{refused}") };
        assert_eq!(fault.field, "[1].limits");
        assert!(fault.message.contains("there is no limit \"three\""), "{refused}");
    }

    async fn the_audit_frees_what_no_run_at_work_has(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.limited_runs(&job, 4).await;
        let rule = fixture.limit("db-export", 4).await;
        fixture.mark_limited(&ids, &[key_of(&rule)], 7).await;
        assert_eq!(fixture.store.limits().free_stale().await.unwrap(), []);
        // Behind the back of the store, as an older version or a person would do it.
        fixture.sql(&format!("UPDATE run SET state = 10 WHERE id = {}", ids[0])).await;
        fixture.sql(&format!("DELETE FROM run WHERE id = {}", ids[1])).await;
        fixture.sql(&format!("UPDATE run SET state = 2, follow = 32 WHERE id = {}", ids[2])).await;
        let mut freed: Vec<_> = fixture.store.limits().free_stale().await.unwrap();
        freed.sort_unstable_by_key(|slot| slot.run_id);
        let freed: Vec<_> = freed.iter().map(|slot| (slot.run_id, slot.limit.as_deref())).collect();
        assert_eq!(freed, [(ids[0], Some("db-export")), (ids[1], Some("db-export")), (ids[2], Some("db-export"))]);
        assert_eq!(fixture.slots().await, [(rule.id, 3, ids[3])]);
        assert_eq!(fixture.store.limits().free_stale().await.unwrap(), []);
    }

    async fn a_limit_that_jobs_name_stays_and_one_without_takes_its_slots_with_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let rule = fixture.limit("db-export", 4).await;
        let mut draft = carillon_scheduler::JobDraft::new("billing", "n", "h");
        draft.limits = vec!["db-export".into()];
        let job = fixture.create(&draft).await;
        let users = fixture.store.limits().users(&rule).await.unwrap();
        assert_eq!(users, [(job.id, "n".to_owned())]);
        let refused = fixture.store.limits().delete(rule.id, NOW, &actor()).await.unwrap_err();
        assert!(refused.to_string().contains("is used by jobs"), "{refused}");
        let ids = fixture.limited_runs(&job, 1).await;
        fixture.mark_limited(&ids, &[key_of(&rule)], 7).await;
        fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        fixture.store.limits().delete(rule.id, NOW, &actor()).await.unwrap();
        assert_eq!((fixture.count("limit_rule", "1 = 1").await, fixture.slots().await.len()), (0, 0));
        draft.limits = vec!["db-export".into()];
        let definition = fixture.definition(&draft);
        let missing = fixture.store.jobs().create(vec![definition], NOW, &actor(), None).await.unwrap_err();
        assert!(missing.to_string().contains("there is no limit"), "{missing}");
    }

    async fn names_are_taken_within_an_app(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let draft = LimitDraft::new("db-export", 1);
        let of_app = Some(fixture.app.id);
        let own = fixture.store.limits().create(&draft, of_app, NOW, &actor()).await.unwrap();
        fixture.store.limits().create(&draft, None, NOW, &actor()).await.unwrap();
        let taken = fixture.store.limits().create(&draft, of_app, NOW, &actor()).await.unwrap_err();
        assert!(taken.to_string().ends_with("is taken already"), "{taken}");
        let changed = LimitDraft { max: 9, key: "customer.id".into(), ..draft };
        let stale = fixture.store.limits().update(own.id, &changed, Some(7), NOW, &actor()).await.unwrap_err();
        assert!(matches!(stale, carillon_store::Error::Changed(_)), "{stale}");
        let now = fixture.store.limits().update(own.id, &changed, Some(1), NOW + 1, &actor()).await.unwrap();
        assert_eq!((now.max_runs, now.key_path.as_str(), now.version, now.updated_at), (9, "customer.id", 2, NOW + 1));
        assert_eq!(fixture.store.limits().get(own.id).await.unwrap(), Some(now));
    }

    async fn what_waits_has_a_place_in_its_line(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let rule = fixture.limit("db-export", 1).await;
        let mut draft = carillon_scheduler::JobDraft::new("billing", "n", "h");
        draft.limits = vec!["db-export".into()];
        let job = fixture.create(&draft).await;
        draft.priority = 3_600;
        let urgent = fixture.create(&draft).await;
        let (ids, first) = (fixture.limited_runs(&job, 3).await, fixture.limited_runs(&urgent, 1).await);
        fixture.mark_limited(&ids[..1], &[key_of(&rule)], 7).await;
        fixture.store.limits().note_waiting(&[ids[1], ids[2], first[0], ids[0]]).await.unwrap();
        let waiting = fixture.store.limits().waiting(&rule).await.unwrap();
        assert_eq!(waiting.iter().map(|run| run.run_id).collect::<Vec<_>>(), [first[0], ids[1], ids[2]]);
        let asked = [ids[0], ids[1], ids[2]];
        let places = fixture.store.limits().places_of(&asked, &VisibleApps::All).await.unwrap();
        let of = |id: i64| -> Vec<_> {
            let places = places.get(&id).into_iter().flatten();
            places.map(|it| (it.rule.name.as_str(), it.place, it.taken, it.holders.clone())).collect()
        };
        assert_eq!(of(ids[2]), [("db-export", 3, 1, vec![ids[0]])]);
        assert_eq!(of(ids[1]), [("db-export", 2, 1, vec![ids[0]])]);
        assert_eq!(of(ids[0]).len(), 0, "it has its slot");
        // Of runs of other apps only the number is shown.
        let unseen = fixture.store.limits().places_of(&ids[2..], &VisibleApps::Only(vec![])).await.unwrap();
        let place = &unseen[&ids[2]][0];
        assert_eq!((place.taken, place.holders.len(), place.is_full()), (1, 0, true));
        // Its job needs no limit any more.
        fixture.store.limits().clear_notes(&ids[2..]).await.unwrap();
        assert_eq!(fixture.store.limits().waiting(&rule).await.unwrap().len(), 2);
    }
}
