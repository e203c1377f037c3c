//! What a node is given.

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::Fact;

use super::case::{Case, draft, failed};

/// The parameters of the only node that starts after these ends.
fn given(case: &mut Case, ends: &[(&str, Fact)]) -> Option<String> {
    case.step();
    for (name, fact) in ends {
        case.set(name, fact.clone());
    }
    let start = case.look().start;
    assert_eq!(start.len(), 1);
    start[0].params.clone()
}

fn success(result: &str) -> Fact {
    Fact::Succeeded { result: Some(result.to_owned()) }
}

#[test]
fn a_job_with_parameters_keeps_them_and_one_without_gets_the_results() {
    let ends = [("a", success("1")), ("b", Fact::Failed { why: "broken".to_owned() })];
    for (parents, has_own, expected) in [
        ("a", true, None),
        ("a", false, Some("1")),
        ("a b*", false, Some(r#"{"a":1,"b":null}"#)),
        ("a b!", false, Some(r#"{"a":1,"b":null}"#)),
        ("b*", false, None),
        ("a a*", false, Some("1")),
    ] {
        let mut case = Case::short(&format!("a; b; c < {parents}"));
        case.has_params[2] = has_own;
        assert_eq!(given(&mut case, &ends).as_deref(), expected, "{parents}");
    }
    // A parent whose edge is not taken gives nothing.
    let mut case = Case::short("a; b; c(any) < a b");
    case.has_params[2] = false;
    assert_eq!(given(&mut case, &ends).as_deref(), Some("1"));
}

#[test]
fn a_template_reads_results_by_name() {
    let mut draft = draft("a; b < a; c < a b*");
    draft.nodes[2].1.params = Some("{{nodes.a.result#/rows}} {{nodes.b.state}} [{{nodes.b.result}}]".to_owned());
    let ends = [("a", success(r#"{"rows": 5}"#)), ("b", Fact::Failed { why: "broken".to_owned() })];
    assert_eq!(given(&mut Case::new(&draft), &ends).as_deref(), Some("5 failed []"));
}

#[test]
fn parameters_that_cannot_be_given_fail_the_node_without_a_run() {
    let large = "x".repeat(40_000);
    for (template, result, why) in [
        ("{{nodes.a.result}}{{nodes.a.result}}", large.as_str(), "input: 80000 bytes; at most 65536 are allowed"),
        ("{{nodes.a.result#/0}}", r#"["\u0000"]"#, "input: the character NUL is not allowed"),
    ] {
        let mut draft = draft("a; b < a; next < b; alarm < b!; stopped < a alarm");
        draft.nodes[1].1.params = Some(template.to_owned());
        let mut case = Case::new(&draft);
        case.step();
        assert_eq!(case.succeed("a", result), "alarm", "the edges behind it count in the same call");
        assert_eq!((case.state("b"), case.why("b").as_str()), (NodeState::Failed, why));
        assert_eq!(case.state("next"), NodeState::UpstreamFailed);
        assert_eq!(case.succeed("alarm", ""), "stopped");
        assert_eq!(case.succeed("stopped", ""), "");
        assert_eq!(case.end(), failed(&format!("b: {why}; 1 node was not run")));
    }
}

#[test]
fn a_node_that_fails_for_its_parameters_can_stop_the_workflow() {
    let mut draft = draft("a; b(stop) < a; other < a; alarm < b!");
    draft.nodes[1].1.params = Some("{{nodes.a.result}}{{nodes.a.result}}".to_owned());
    let mut case = Case::new(&draft);
    case.step();
    assert_eq!(case.succeed("a", &"x".repeat(40_000)), "alarm");
    assert_eq!(case.why("other"), "stopped by b");
    assert_eq!(case.succeed("alarm", ""), "");
    assert!(case.end().is_some());
}

#[test]
fn a_node_that_failed_for_its_parameters_stays_failed_when_others_become_known_late() {
    let mut draft = draft("a(ignore); b < a; alarm < b!");
    draft.nodes[1].1.params = Some("{{nodes.a.result}}{{nodes.a.result}}".to_owned());
    let mut case = Case::new(&draft);
    case.step();
    assert_eq!(case.succeed("a", &"x".repeat(40_000)), "alarm");
    assert_eq!(case.succeed("a", "x"), "");
    assert_eq!(case.state("b"), NodeState::Failed);
    assert!(case.why("b").starts_with("input: 80000 bytes"), "{}", case.why("b"));
}
