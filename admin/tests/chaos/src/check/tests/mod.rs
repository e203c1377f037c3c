//! The checker's own test: a small history without a flaw, and for each kind of anomaly what must be flagged, and as what.

mod batches;
mod bounds;
mod counted;
mod delayed;
mod exits;
mod flows;
mod items;
mod loops;
mod pauses;
mod unclear;
mod unknown_outcomes;

use std::collections::BTreeMap;

use super::{Figure, check};
use crate::clock::Millis;
use crate::record::{
    Call, Class, Event, Fault, History, Job, Meta, MisfireRow, Op, Outcome, Phases, RunRow, Sample, Schedule, State,
    What,
};

const END: Millis = 20_000;

fn job(id: i64, retries: i32) -> Job {
    Job {
        id,
        name: format!("job {id}"),
        group: "every_2".into(),
        app: "load".into(),
        schedule: Schedule::Rate { seconds: 2, anchor: 0 },
        created_at: 0,
        retries,
        catch_up: "all".into(),
        draft: serde_json::Value::Null,
        children: vec![],
    }
}

fn run(id: i64, job: i64, at: Millis) -> RunRow {
    RunRow {
        id,
        job_id: job,
        cause: 0,
        fire_no: at,
        part: 0,
        parts: 1,
        attempt: 1,
        scheduled_at: at,
        due_at: at,
        state: State::Succeeded,
        epoch: 1,
        owner: Some("a1".into()),
        marked_at: Some(at - 100),
        sends: 1,
        address: Some("http://e3".into()),
        sent_at: Some(at),
        reason: None,
        result_code: Some(200),
        finished_at: Some(at + 50),
    }
}

fn event(what: What, run: &RunRow, at: Millis, executor: &str) -> Event {
    Event {
        what,
        at,
        executor: executor.into(),
        boot: format!("{executor}-1"),
        run: run.id,
        job: run.job_id,
        key: run.fire_key(),
        code: 200,
        ..Event::default()
    }
}

/// Job 1 at most once at a stock executor, job 2 with two retries at one of ours; ten instants each, all in order.
fn flawless() -> History {
    let mut history = History {
        meta: Meta {
            db: "postgres".into(),
            ttl_ms: 3_000,
            look_ahead_ms: 2_000,
            phases: Phases { stopped_at: END + 1_500, dumped_at: END + 30_000, ..Phases::default() },
            ..Meta::default()
        },
        jobs: vec![job(1, 0), job(2, 2)],
        ..History::default()
    };
    for executor in ["e1", "e3"] {
        history.events.push(Event { executor: executor.into(), boot: format!("{executor}-1"), ..Event::default() });
    }
    for (job, executor) in [(1, "e3"), (2, "e1")] {
        for at in (2_000..=END).step_by(2_000) {
            let row = run(job * 1_000 + at / 1_000, job, at);
            for (what, after) in
                [(What::Receive, 10), (What::Answer, 12), (What::Start, 12), (What::End, 30), (What::Acked, 40)]
            {
                history.events.push(event(what, &row, at + after, executor));
            }
            history.runs.push(row);
        }
        history.calls.push(disable(job, END + 1_500));
    }
    history.events.sort_by_key(|event| event.at);
    history
}

fn disable(job: i64, at: Millis) -> Call {
    Call {
        job,
        node: Some("a1".into()),
        op: Op::Disable,
        invoked_at: at,
        returned_at: at + 10,
        outcome: Outcome::Ok,
        run: None,
    }
}

impl History {
    fn row(&mut self, id: i64) -> &mut RunRow {
        self.runs.iter_mut().find(|run| run.id == id).unwrap()
    }

    fn forget(&mut self, run: i64, whats: &[What]) {
        self.events.retain(|event| event.run != run || !whats.contains(&event.what));
    }

    fn delay(&mut self, run: i64, by: Millis) {
        self.events.iter_mut().filter(|event| event.run == run).for_each(|event| event.at += by);
        self.events.sort_by_key(|event| event.at);
    }

    /// It was never sent.
    fn give_up(&mut self, run: i64, at: Millis) {
        self.forget(run, &ALL);
        let row = self.row(run);
        (row.state, row.sends, row.reason) = (State::Failed, 0, Some("no_executor".into()));
        (row.marked_at, row.sent_at, row.finished_at) = (None, None, Some(at));
    }

    fn again(&mut self, what: What, run: i64, at: Millis, executor: &str) {
        let row = self.row(run).clone();
        self.events.push(event(what, &row, at, executor));
    }
}

const ALL: [What; 5] = [What::Receive, What::Answer, What::Start, What::End, What::Acked];

fn flagged(change: impl FnOnce(&mut History)) -> Vec<Figure> {
    let mut history = flawless();
    change(&mut history);
    let findings = check(&history);
    Figure::ALL.into_iter().filter(|figure| findings.count(*figure) > 0).collect()
}

#[track_caller]
fn assert_flagged(expected: &[Figure], change: impl FnOnce(&mut History)) {
    assert_eq!(flagged(change), expected);
}

#[test]
fn a_flawless_history_is_flawless() {
    assert_flagged(&[], |_| ());
    let findings = check(&flawless());
    assert_eq!(findings.totals["expected"], 20);
    assert_eq!(findings.totals["recorded"], 20);
    assert_eq!((findings.times.quiet.count, findings.times.quiet.max_ms), (18, 10));
}

#[test]
fn instants_that_are_missing_doubled_or_made_up() {
    assert_flagged(&[Figure::MissedUnrecorded, Figure::Missed], |history| {
        history.runs.retain(|run| run.id != 1_008);
        history.events.retain(|event| event.run != 1_008);
    });
    assert_flagged(&[Figure::RecordedTwice, Figure::Extra], |history| {
        history.misfires.push(range(1, 8_000, 8_000, 1));
    });
    assert_flagged(&[Figure::Phantom], |history| {
        let mut row = run(9, 1, 7_000);
        (row.state, row.sends, row.reason) = (State::Cancelled, 0, Some("misfire".into()));
        history.runs.push(row);
    });
    assert_flagged(&[Figure::Phantom], |history| {
        history.runs.retain(|run| run.id != 2_008 && run.id != 2_010);
        history.events.retain(|event| event.run != 2_008 && event.run != 2_010);
        history.misfires.push(range(2, 8_000, 10_000, 3));
    });
}

fn range(job: i64, from_at: Millis, to_at: Millis, count: i64) -> MisfireRow {
    MisfireRow { job_id: job, from_at, to_at, count, reason: "misfire".into() }
}

#[test]
fn ranges_and_rows_that_were_taken_back_are_no_anomaly() {
    assert_flagged(&[], |history| {
        history.runs.retain(|run| run.id != 2_008 && run.id != 2_010);
        history.events.retain(|event| event.run != 2_008 && event.run != 2_010);
        history.misfires.push(range(2, 8_000, 10_000, 2));
        let mut ahead = run(9, 1, END + 6_000);
        (ahead.state, ahead.sends, ahead.reason) = (State::Cancelled, 0, Some("disabled".into()));
        ahead.marked_at = None;
        history.runs.push(ahead);
    });
}

#[test]
fn deliveries_that_are_lost_or_one_too_many() {
    assert_flagged(&[Figure::SilentLoss, Figure::PhantomResult, Figure::Missed], |history| {
        history.forget(1_008, &ALL);
    });
    assert_flagged(&[Figure::AmoDuplicate, Figure::UndeclaredSend, Figure::Extra], |history| {
        history.again(What::Receive, 1_008, 8_200, "e3");
    });
    assert_flagged(&[Figure::AmoDuplicate], |history| {
        history.row(1_008).sends = 2;
        history.again(What::Receive, 1_008, 8_200, "e3");
    });
    assert_flagged(&[Figure::AloExcess], |history| {
        history.row(2_008).sends = 2;
        history.again(What::Receive, 2_008, 8_200, "e3");
    });
    assert_flagged(&[Figure::StartedTwice], |history| {
        history.again(What::Start, 2_008, 8_200, "e1");
    });
    assert_flagged(&[Figure::OrphanReceipt], |history| {
        let row = run(9, 2, 8_000);
        history.events.push(event(What::Receive, &row, 8_000, "e1"));
    });
}

#[test]
fn an_executor_of_ours_may_be_asked_again_and_a_refusal_is_no_delivery() {
    assert_flagged(&[], |history| {
        history.row(2_008).sends = 2;
        history.again(What::Receive, 2_008, 8_200, "e1");
    });
    assert_flagged(&[], |history| {
        history.row(1_008).sends = 2;
        history.again(What::Receive, 1_008, 8_200, "e3");
        history.again(What::Answer, 1_008, 8_201, "e3");
        history.events.last_mut().unwrap().code = 500;
        // Without its key: what the matching makes of refusals is not asked here.
        let count = history.events.len();
        history.events[count - 2].key.clear();
    });
}

#[test]
fn times_before_the_instant_and_after_the_bound() {
    let received = |late: Millis| {
        move |history: &mut History| {
            let of_run = history.events.iter_mut().find(|event| event.run == 2_008);
            of_run.unwrap().at = 8_000 + late;
        }
    };
    assert_flagged(&[Figure::Early], received(-100));
    assert_flagged(&[Figure::Late], received(1_500));
    assert_flagged(&[], |history| {
        received(1_500)(history);
        history.faults.push(fault(7_000, 9_000));
    });
    assert_flagged(&[Figure::Late], |history| {
        received(7_000)(history);
        history.faults.push(fault(7_000, 9_000));
    });
    // Its mark was out when its sender was paused, for 6 s: until then no other node may send it.
    assert_flagged(&[], |history| {
        received(7_000)(history);
        history.faults.push(fault(7_900, 13_900));
    });
    assert_flagged(&[Figure::Late], |history| {
        received(7_000)(history);
        history.faults.push(fault(6_900, 12_900));
    });
}

fn fault(from: Millis, to: Millis) -> Fault {
    Fault {
        name: "admin_kill".into(),
        class: Class::Holder,
        target: "a1".into(),
        from,
        to,
        note: String::new(),
        failed: false,
        held: true,
    }
}

#[test]
fn results_that_were_acknowledged_or_never_taken() {
    assert_flagged(&[Figure::CbLost], |history| history.row(1_008).state = State::Lost);
    assert_flagged(&[Figure::CbLost], |history| history.row(1_008).state = State::Failed);
    assert_flagged(&[Figure::CbMissing], |history| history.forget(1_008, &[What::Acked]));
    assert_flagged(&[], |history| {
        history.forget(1_008, &[What::Acked]);
        history.events.push(Event { at: 9_000, executor: "e3".into(), boot: "e3-2".into(), ..Event::default() });
    });
}

#[test]
fn attempts_and_rows_that_are_still_open() {
    assert_flagged(&[Figure::AttemptGap], |history| {
        let mut third = history.row(2_008).clone();
        (third.id, third.attempt, third.state) = (9, 3, State::Cancelled);
        (third.sends, third.marked_at) = (0, None);
        history.runs.push(third);
    });
    assert_flagged(&[Figure::RetryMissing], |history| {
        history.forget(2_008, &[What::Acked, What::End]);
        history.row(2_008).state = State::Failed;
    });
    // Unless its job was disabled when it failed: that is not retried.
    let ended = flawless().row(2_008).finished_at.unwrap();
    let disabled_before = |enabled_at: Option<Millis>| {
        move |history: &mut History| {
            history.forget(2_008, &[What::Acked, What::End]);
            history.row(2_008).state = State::Failed;
            let job = history.row(2_008).job_id;
            history.calls.push(disable(job, ended - 40));
            history.calls.extend(enabled_at.map(|at| Call { op: Op::Enable, ..disable(job, at) }));
        }
    };
    let flags = |change| flagged(change).contains(&Figure::RetryMissing);
    assert!(!flags(disabled_before(None)));
    assert!(!flags(disabled_before(Some(ended - 5))), "perhaps too late");
    assert!(flags(disabled_before(Some(ended - 20))));
    assert_flagged(&[Figure::Stuck], |history| {
        history.forget(2_008, &[What::Acked, What::End]);
        history.row(2_008).state = State::Sending;
    });
}

#[test]
fn children_that_are_missing_doubled_or_made_up() {
    let family = |births: &'static [i64]| {
        move |history: &mut History| {
            history.jobs[1].children = vec![3];
            history.jobs.push(Job { schedule: Schedule::None, ..job(3, 0) });
            let parents: Vec<i64> = history.runs.iter().filter(|run| run.job_id == 2).map(|run| run.id).collect();
            let missing = |parent: &i64| !births.contains(&-parent) && *parent > 0;
            for parent in parents.into_iter().chain(births.iter().copied()).filter(missing) {
                let mut child = run(100_000 + history.runs.len() as i64, 3, 30_000);
                (child.cause, child.fire_no) = (3, parent);
                let receipt = event(What::Receive, &child, 30_000, "e1");
                history.runs.push(child);
                history.events.push(receipt);
            }
        }
    };
    assert_flagged(&[], family(&[]));
    assert_flagged(&[Figure::ChildMissing], family(&[-2_008]));
    let twice = [Figure::AmoDuplicate, Figure::AttemptGap, Figure::ChildTwice];
    assert_flagged(&twice, family(&[2_008]));
    assert_flagged(&[Figure::Phantom], family(&[77]));
}

#[test]
fn edits_and_leaving_executors() {
    assert_flagged(&[Figure::MarkedAfterDisable], |history| {
        history.row(1_020).marked_at = Some(END + 1_600);
    });
    assert_flagged(&[Figure::SentAfterLeave], |history| {
        history.events.insert(
            2,
            Event {
                what: What::Deregistered,
                at: 9_000,
                executor: "e3".into(),
                boot: "e3-1".into(),
                ..Event::default()
            },
        );
        history.events.sort_by_key(|event| event.at);
        for run in history.runs.iter_mut().filter(|run| run.job_id == 1) {
            run.sent_at = (run.id == 1_016).then_some(16_000);
        }
    });
}

#[test]
fn memory_that_grows_in_a_long_run() {
    let long = |last_mib: u64| {
        move |history: &mut History| {
            history.meta.seconds = 1_800;
            history.meta.phases.faults_to = history.meta.phases.faults_from + 1_800_000;
            let sample = |second: u64| Sample {
                at: history.meta.phases.faults_from + second as Millis * 1_000,
                process: "a1".into(),
                rss_kib: 1024 * if second < 1_200 { 60 } else { last_mib },
                descriptors: 100,
                metrics: BTreeMap::new(),
            };
            history.samples = (0..1_800).map(sample).collect();
        }
    };
    assert_flagged(&[], long(100));
    assert_flagged(&[Figure::Growth], long(120));
}

#[test]
fn a_limit_that_was_exceeded_is_seen() {
    let sample = |at_work: f64, without: f64| Sample {
        at: 5_000,
        process: crate::samples::LIMITS.into(),
        rss_kib: 0,
        descriptors: 0,
        metrics: [(crate::samples::AT_WORK.into(), at_work), (crate::samples::WITHOUT_SLOT.into(), without)].into(),
    };
    assert_flagged(&[], |history| history.samples.push(sample(2.0, 0.0)));
    assert_flagged(&[Figure::LimitExceeded], |history| history.samples.push(sample(3.0, 0.0)));
    assert_flagged(&[Figure::LimitExceeded], |history| history.samples.push(sample(1.0, 1.0)));
}
