use carillon_scheduler::Outcome;

use super::*;

fn failure(run_id: i64, bytes: usize) -> RunReport {
    RunReport {
        run_id,
        event: RunEvent::Reported(Outcome::Failed),
        code: None,
        message: Some("x".repeat(bytes)),
        reason: None,
        sent_at: None,
        received_at: None,
        reporter: None,
        not_before: None,
    }
}

fn success(run_id: i64) -> RunReport {
    RunReport { event: RunEvent::Reported(Outcome::Succeeded), ..failure(run_id, 0) }
}

#[test]
fn a_success_does_not_wait_behind_failures() {
    let queue = OutcomeQueue::default();
    ended(&queue, 1);
    drop(queue.enqueue(vec![success(2), failure(3, 1)]).unwrap());
    drop(queue.enqueue(vec![success(4)]).unwrap());
    let runs = |lane| {
        let taken = queue.take_reports(lane, Duration::ZERO);
        let reports = taken.iter().flat_map(|pending| &pending.reports);
        reports.map(|report| report.run_id).collect::<Vec<_>>()
    };
    assert_eq!(runs(Lane::Successes), [4]);
    assert_eq!(runs(Lane::Others), [1, 2, 3]);
    assert!(queue.is_empty());
}

// covers: F17
#[tokio::test]
async fn what_waits_is_bounded_by_its_bytes() {
    let queue = OutcomeQueue::default();
    for run_id in 0..1024 {
        queue.enqueue_internal(failure(run_id, 64 << 10));
    }
    assert!(queue.report(vec![failure(1, 1)]).await.is_err());
    assert!(!queue.take_reports(Lane::Others, Duration::ZERO).is_empty());
    let waiting = queue.report(vec![failure(1, 1)]);
    tokio::select! {
        biased;
        refused = waiting => panic!("there is room: {refused:?}"),
        () = std::future::ready(()) => {}
    }
}

// covers: G4
#[test]
fn results_that_are_held_up_leave_half_of_the_places_to_the_others() {
    let queue = OutcomeQueue::default();
    let mut parked = 0;
    for list in 0..80 {
        let runs = (list * 250..(list + 1) * 250).map(|run_id| failure(run_id, 1));
        let Ok(answer) = queue.enqueue(runs.collect()) else {
            panic!("list {list} finds no room");
        };
        for mut pending in queue.take_reports(Lane::Others, Duration::ZERO) {
            let reports = std::mem::take(&mut pending.reports);
            queue.park(pending, reports, Duration::ZERO);
        }
        parked += usize::from(
            answer.into_iter().all(|mut it| matches!(it.try_recv(), Err(oneshot::error::TryRecvError::Empty))),
        );
    }
    assert_eq!(parked, 40, "the other lists stay with their executors");
    assert_eq!(queue.work.lock().count, REPORTS_WAITING / 2);
}

/// A request that has sent this report, and ended before the answer.
fn ended(queue: &OutcomeQueue, run_id: i64) {
    drop(queue.enqueue(vec![failure(run_id, 1)]).unwrap());
}

#[test]
fn a_report_whose_request_has_ended_is_kept() {
    let queue = OutcomeQueue::default();
    ended(&queue, 1);
    let taken = queue.take_reports(Lane::Others, Duration::ZERO);
    assert_eq!(taken[0].reports[0].run_id, 1);
    assert!(queue.is_empty());
}

// covers: F19
#[test]
fn a_run_is_held_until_its_outcome_is_written() {
    let queue = OutcomeQueue::default();
    queue.accepted(AcceptedRun::sent(1, 0), Duration::ZERO);
    queue.enqueue_internal(failure(2, 1));
    let (due, reports) = (queue.take_accepted(Duration::ZERO), queue.take_reports(Lane::Others, Duration::ZERO));
    assert!(queue.holds(1) && queue.holds(2), "while they are written");
    // The write failed: it waits again.
    queue.accepted(AcceptedRun::sent(1, 0), Duration::ZERO);
    drop((due, reports));
    assert!(queue.holds(1) && !queue.holds(2));
    let mut reports = [failure(1, 1)];
    queue.take_accepted_of(&mut reports);
    assert!(!queue.holds(1) && reports[0].sent_at == Some(0));
}

// covers: F17
#[test]
fn a_repeated_report_waits_with_the_first_and_takes_no_room() {
    let queue = OutcomeQueue::default();
    ended(&queue, 1);
    ended(&queue, 1);
    let mut second = queue.enqueue(vec![failure(1, 1), failure(2, 1)]).unwrap();
    assert_eq!(queue.work.lock().count, 2, "one report of each run");
    let mut taken = queue.take_reports(Lane::Others, Duration::ZERO);
    assert_eq!(taken[0].replies.len(), 1, "of requests that wait");
    taken[0].reply(true);
    assert!(matches!(second[0].try_recv(), Ok(Ok(()))));
    assert!(second[1].try_recv().is_err(), "its other report waits");
}

// covers: F17
#[test]
fn a_report_that_is_repeated_while_it_is_written_waits_as_its_repetition() {
    let queue = OutcomeQueue::default();
    let mut first = queue.enqueue(vec![failure(1, 1)]).unwrap();
    let pending = queue.take_reports(Lane::Others, Duration::ZERO).pop().unwrap();
    ended(&queue, 1);
    let reports = pending.reports.clone();
    queue.park(pending, reports, Duration::ZERO);
    assert_eq!(queue.work.lock().count, 1);
    let mut taken = queue.take_reports(Lane::Others, Duration::ZERO);
    taken[0].reply(true);
    assert!(matches!(first[0].try_recv(), Ok(Ok(()))));
}

#[test]
fn what_was_parked_waits_longer_each_time() {
    let queue = OutcomeQueue::default();
    queue.enqueue_internal(failure(1, 1));
    let mut now = Duration::ZERO;
    for pause in [40, 80, 160] {
        let pending = queue.take_reports(Lane::Others, now).pop().unwrap();
        let reports = pending.reports.clone();
        queue.park(pending, reports, now);
        now += Duration::from_millis(pause - 1);
        assert!(queue.take_reports(Lane::Others, now).is_empty());
        now += Duration::from_millis(1);
    }
    assert_eq!(queue.take_reports(Lane::Others, now).len(), 1);
}
