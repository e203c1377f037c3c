//! What users of other products report as defects, each as a case.

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::Fact;

use super::case::{Case, failed, succeeded};

const CLOSE_DAY: &str = r#"{"nodes": {
    "extract": {"job": "extract-orders"},
    "check": {"job": "check-orders", "after": ["extract"]},
    "load": {"job": "load-orders", "after": [{"node": "check", "when": [{"path": "/rows", "gt": 0}]}]},
    "empty": {"job": "note-empty-day", "after": [{"node": "check", "when": [{"path": "/rows", "eq": 0}]}]},
    "report": {"job": "report", "after": ["load", "empty"]},
    "alarm": {"job": "page-ops", "after": [{"node": "load", "on": "failure"}], "if_failed": "ignore"},
    "cleanup": {"job": "drop-temp", "after": [{"node": "report", "on": "always"}]}}}"#;

/// A join behind two branches of which one is taken (xxl-job 79, StackStorm 216, DolphinScheduler 18131).
#[test]
fn branch_and_join() {
    for (rows, taken, other, why) in [
        (r#"{"rows": 5}"#, "load", "empty", "branch not taken: /rows is 5"),
        (r#"{"rows": 0}"#, "empty", "load", "branch not taken: /rows is 0"),
    ] {
        let mut case = Case::json(CLOSE_DAY);
        assert_eq!(case.step(), "extract");
        assert_eq!(case.succeed("extract", ""), "check");
        assert_eq!(case.succeed("check", rows), taken);
        assert_eq!((case.state(other), case.why(other)), (NodeState::Skipped, why.to_owned()));
        assert_eq!((case.state("report"), case.why("report")), (NodeState::Waiting, format!("waits for {taken}")));
        assert_eq!(case.succeed(taken, ""), "report");
        assert_eq!(case.succeed("report", ""), "cleanup");
        assert_eq!(case.end(), None);
        assert_eq!(case.succeed("cleanup", ""), "");
        assert_eq!(case.state("alarm"), NodeState::Skipped);
        assert_eq!(case.end(), succeeded(r#"{"cleanup":""}"#));
    }
    let mut case = Case::json(CLOSE_DAY);
    case.step();
    case.succeed("extract", "");
    assert_eq!(case.succeed("check", "{}"), "");
    assert_eq!(case.why("load"), "branch not taken: /rows is missing");
    assert_eq!(case.state("report"), NodeState::Skipped);
}

/// A failed branch does not stop another one, and the run ends when both have ended (PowerJob 446, 478, 447).
#[test]
fn unrelated_failure() {
    let mut case = Case::short("a; b < a; c; d < c; both < b d; alone < d");
    assert_eq!(case.step(), "a c");
    assert_eq!(case.fail("a", "no space"), "");
    assert_eq!((case.state("b"), case.state("both")), (NodeState::UpstreamFailed, NodeState::Waiting));
    assert_eq!(case.end(), None);
    assert_eq!(case.succeed("c", ""), "d");
    assert_eq!(case.succeed("d", ""), "alone");
    assert_eq!((case.state("both"), case.why("both").as_str()), (NodeState::UpstreamFailed, "not run because of b"));
    assert_eq!(case.end(), None);
    assert_eq!(case.succeed("alone", ""), "");
    assert_eq!(case.end(), failed("a: no space; 2 nodes were not run"));
}

/// A cleanup that succeeds last does not turn a failed run green (Airflow).
#[test]
fn cleanup_leaf() {
    let mut case = Case::short("a; b; work < a b; cleanup < work*");
    case.step();
    assert_eq!(case.fail("a", "broken"), "");
    assert_eq!(case.state("cleanup"), NodeState::Waiting, "b still uses what it would drop");
    assert_eq!(case.succeed("b", ""), "cleanup");
    assert_eq!(case.succeed("cleanup", "done"), "");
    assert_eq!(case.end(), failed("a: broken; 1 node was not run"));
}

/// A skipped parent does not skip what has another reason to run (GitHub Actions: runner 2566, docs 28762).
#[test]
fn skipped_parent() {
    let mut case = Case::short("a; b; only-a < a; join < a b; also < join");
    case.step();
    case.set("a", Fact::Skipped);
    assert_eq!(case.step(), "");
    assert_eq!(
        (case.state("only-a"), case.why("only-a").as_str()),
        (NodeState::Skipped, "branch not taken: a was skipped")
    );
    assert_eq!(case.succeed("b", "7"), "join");
    assert_eq!(case.succeed("join", "8"), "also");
    assert_eq!(case.succeed("also", "9"), "");
    assert_eq!(case.end(), succeeded(r#"{"also":9}"#));
}

/// Results have the names of their nodes, so a join loses none, in any order of the ends (StackStorm 112).
#[test]
fn no_shared_context() {
    let orders = [["left", "right"], ["right", "left"]];
    let given = orders.map(|order| {
        let mut case = Case::short("left; right; join < left right");
        case.has_params[2] = false;
        case.step();
        case.set(order[0], Fact::Succeeded { result: Some(format!(r#"{{"key": "{}"}}"#, order[0])) });
        assert_eq!(case.step(), "");
        case.set(order[1], Fact::Succeeded { result: Some(format!(r#"{{"key": "{}"}}"#, order[1])) });
        case.look().start[0].params.clone().unwrap()
    });
    assert_eq!(given[0], r#"{"left":{"key": "left"},"right":{"key": "right"}}"#);
    assert_eq!(given[0], given[1]);
}

/// A handled failure stays a failure; only `ignore` makes it none (Argo 6834, PowerJob 513).
#[test]
fn failed_branch_is_not_green() {
    let mut case = Case::short("load; alarm < load!; next < load");
    case.step();
    assert_eq!(case.fail("load", "no rows"), "alarm");
    assert_eq!(case.succeed("alarm", ""), "");
    assert_eq!(case.end(), failed("load: no rows; 1 node was not run"));

    let mut case = Case::short("load(ignore); alarm < load!; next < load");
    case.step();
    assert_eq!(case.fail("load", "no rows"), "alarm next");
    case.succeed("alarm", "");
    case.succeed("next", "1");
    assert_eq!(case.end(), succeeded(r#"{"alarm":"","next":1}"#));
}

/// Evidence that comes late starts a node only if nothing behind it has started.
#[test]
fn too_late() {
    let text = "load; report < load; mail < report; cleanup < report*";
    let mut case = Case::short(text);
    case.step();
    assert_eq!(case.fail("load", "unknown"), "cleanup");
    assert_eq!(case.succeed("load", "5"), "");
    assert_eq!(case.state("report"), NodeState::UpstreamFailed);
    assert_eq!(case.why("report"), "too late: a node after it has started");
    assert_eq!(case.state("mail"), NodeState::UpstreamFailed);
    // The same while a further attempt of the parent runs: what is recorded does not get lost.
    case.set("load", Fact::Open);
    assert_eq!(case.step(), "");
    assert_eq!(case.state("report"), NodeState::UpstreamFailed);
    assert_eq!(case.succeed("load", "5"), "");
    assert_eq!(case.why("report"), "too late: a node after it has started");
    // It should have run, and has not.
    case.succeed("cleanup", "");
    let message = "report: too late: a node after it has started; 2 nodes were not run";
    assert_eq!(case.end(), failed(message));

    let mut case = Case::short("load; report(ignore) < load; cleanup < report*");
    case.step();
    assert_eq!(case.fail("load", "unknown"), "cleanup");
    case.succeed("load", "5");
    case.succeed("cleanup", "done");
    assert_eq!((case.state("report"), case.end()), (NodeState::UpstreamFailed, succeeded("done")));

    let mut case = Case::short("load; report < load; mail < report");
    case.step();
    assert_eq!(case.fail("load", "unknown"), "");
    assert_eq!(case.state("mail"), NodeState::UpstreamFailed);
    assert_eq!(case.succeed("load", "5"), "report");
}

/// A node that waits is not too late because its child needs only one of its parents.
#[test]
fn a_branch_goes_on_behind_a_join_of_any() {
    let mut case = Case::short("fast; slow; second < slow; first(any) < fast second");
    assert_eq!(case.step(), "fast slow");
    assert_eq!(case.succeed("fast", ""), "first");
    assert_eq!(case.succeed("slow", ""), "second");
}
