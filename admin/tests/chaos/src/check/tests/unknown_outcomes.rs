//! The count of the rehearsal `unknown_outcomes`.

use super::*;

fn rehearsal(change: impl FnOnce(&mut History)) -> Vec<(Millis, usize)> {
    let mut history = flawless();
    history.meta.rehearsal = "unknown_outcomes".into();
    history.faults.push(fault(7_900, 9_500));
    change(&mut history);
    check(&history).unknown_outcomes.into_iter().map(|of_kill| (of_kill.at_ms, of_kill.runs)).collect()
}

#[test]
fn what_was_sent_before_the_kill_or_marked_by_another_node_after_it_is_not_in_doubt() {
    assert_eq!(rehearsal(|history| history.row(2_008).marked_at = Some(9_000)), [(-100, 0)]);
    assert_eq!(check(&flawless()).unknown_outcomes, []);
}

#[test]
fn what_was_marked_and_not_sent_is_counted_whatever_became_of_it() {
    let counted = rehearsal(|history| {
        // A stock executor cannot be asked.
        let row = history.row(1_008);
        (row.state, row.reason, row.marked_at) = (State::Unknown, Some("unknown".into()), Some(7_850));
        history.forget(1_008, &ALL);
        // One of ours was asked again.
        let row = history.row(2_008);
        (row.sends, row.marked_at) = (2, Some(18_000));
        for event in history.events.iter_mut().filter(|event| event.run == 2_008) {
            event.at += 10_000;
        }
    });
    assert_eq!(counted, [(-100, 2)]);
}

#[test]
fn an_answer_that_was_lost_with_the_node_is_another_case() {
    let counted = rehearsal(|history| {
        history.row(2_008).sends = 2;
        history.again(What::Receive, 2_008, 18_500, "e1");
    });
    assert_eq!(counted, [(-100, 0)]);
}
