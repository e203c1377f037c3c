//! What users do to a run that is open: hold, release, skip, mark, kill; and `if_failed: stop`.

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::{End, Fact, Stop};

use super::case::{Case, failed, succeeded};

#[test]
fn a_held_run_starts_nothing_until_it_is_released() {
    let mut case = Case::short("a; b < a");
    case.step();
    case.is_held = true;
    assert_eq!(case.succeed("a", ""), "");
    assert_eq!((case.state("b"), case.why("b").as_str()), (NodeState::Held, "the workflow is held"));
    assert_eq!(case.end(), None);
    case.is_held = false;
    assert_eq!(case.step(), "b");
}

#[test]
fn a_kill_cancels_what_has_not_started_and_ends_when_nothing_runs() {
    let text = "a; b < a; c < b; d; skipped < d!";
    for (stop, end) in [
        (Stop::Killed, End::Killed),
        (
            Stop::TimedOut,
            End::TimedOut { message: "the time of the workflow was over; 2 nodes were not run".to_owned() },
        ),
    ] {
        let mut case = Case::short(text);
        case.step();
        case.succeed("d", "");
        case.stop = Some(stop);
        assert_eq!(case.step(), "");
        assert_eq!((case.state("b"), case.state("c")), (NodeState::Cancelled, NodeState::Cancelled));
        assert_eq!(case.state("skipped"), NodeState::Skipped);
        assert_eq!(case.end(), None, "a still runs");
        assert_eq!(case.succeed("a", ""), "");
        assert_eq!(case.end(), Some(end));
    }
    let mut case = Case::short(text);
    case.stop = Some(Stop::Killed);
    assert_eq!((case.step(), case.end()), (String::new(), Some(End::Killed)));
    assert_eq!(case.why("a"), "the workflow was killed");
}

#[test]
fn a_node_that_stops_the_workflow_lets_handlers_and_cleanups_run() {
    let mut case = Case::short("load(stop); side; next < side; last < next; alarm < load!; cleanup < last*");
    assert_eq!(case.step(), "load side");
    assert_eq!(case.fail("load", "broken"), "alarm");
    assert_eq!(case.state("next"), NodeState::Waiting);
    // `last` is not run because of `next`, so what follows it in any case starts.
    assert_eq!(case.succeed("side", ""), "cleanup");
    assert_eq!((case.state("next"), case.why("next").as_str()), (NodeState::UpstreamFailed, "stopped by load"));
    case.succeed("alarm", "");
    case.succeed("cleanup", "");
    assert_eq!(case.end(), failed("load: broken; 2 nodes were not run"));
}

#[test]
fn what_runs_when_the_workflow_is_stopped_goes_on() {
    let mut case = Case::short("load(stop); side; next < side");
    case.step();
    assert_eq!(case.succeed("side", ""), "next");
    assert_eq!(case.fail("load", "broken"), "");
    assert_eq!(case.state("next"), NodeState::Running);
    assert_eq!(case.succeed("next", ""), "");
    assert_eq!(case.end(), failed("load: broken"));
}

#[test]
fn marks_are_facts() {
    let mut case = Case::short("a; b < a; c < a!");
    case.step();
    assert_eq!(case.fail("a", "broken"), "c");
    // Marked as succeeded by hand: the run of the node stays as it is.
    assert_eq!(case.succeed("a", "7"), "b");
    assert_eq!(case.state("c"), NodeState::Running);
    case.succeed("c", "8");
    case.succeed("b", "9");
    assert_eq!(case.end(), succeeded(r#"{"b":9,"c":8}"#));

    let mut case = Case::short("a; b < a; c < b");
    case.step();
    case.set("b", Fact::Skipped);
    assert_eq!(case.step(), "");
    assert_eq!((case.why("b").as_str(), case.state("c")), ("skipped by hand", NodeState::Skipped));
}

#[test]
fn a_node_with_a_run_is_never_started_again() {
    let mut case = Case::short("a; b < a");
    case.step();
    case.succeed("a", "");
    let node = case.node("b");
    case.facts[node] = Fact::NotStarted;
    assert_eq!(case.look().start, []);
    assert_eq!(case.state("b"), NodeState::Running);
}
