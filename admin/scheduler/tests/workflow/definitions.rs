//! Definitions as JSON, back and forth.

use carillon_scheduler::WorkflowDraft;
use carillon_scheduler::workflow::{AfterDraft, IfFailed, Join, NodeDraft, NodeJob, NodeState, On, Test};
use serde_json::json;

fn wrong(text: &str) -> String {
    let error = serde_json::from_str::<WorkflowDraft>(text).unwrap_err().to_string();
    error.split(" at line ").next().unwrap().to_owned()
}

#[test]
fn a_definition_keeps_its_order_and_its_short_forms() {
    let text = concat!(
        r#"{"output":"{{nodes.zeta.result}}","nodes":{"#,
        r#""zeta":{"job":17,"params":"{{workflow.params}}"},"#,
        r#""beta":{"job":"extract-orders","after":["zeta"]},"#,
        r#""alpha":{"job":"other/key","after":["beta",{"node":"zeta","on":"always","when":[{"path":"/a","eq":null},"#,
        r#"{"path":"","in":[1,"b"]},{"path":"/b","lt":"x"},{"path":"/c","ge":1.5},{"path":"/d","exists":false}]}],"#,
        r#""join":"any","if_failed":"stop"}}}"#,
    );
    let draft: WorkflowDraft = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&draft).unwrap(), text);
    let names: Vec<&str> = draft.nodes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["zeta", "beta", "alpha"]);
    let alpha = &draft.nodes[2].1;
    assert_eq!((alpha.join, alpha.if_failed, alpha.after[1].on), (Join::Any, IfFailed::Stop, On::Always));
    assert_eq!(alpha.job.app_and_key(), Some((Some("other"), "key")));
    assert_eq!(draft.nodes[1].1.job.app_and_key(), Some((None, "extract-orders")));
    assert_eq!(draft.nodes[0].1.job.app_and_key(), None);
}

#[test]
fn a_long_form_with_defaults_becomes_the_short_one() {
    let long = r#"{"nodes":{"a":{"job":1,"after":[],"join":"all","if_failed":"fail"},"b":{"job":1,"after":[{"node":"a","on":"success","when":[]}]}}}"#;
    let draft: WorkflowDraft = serde_json::from_str(long).unwrap();
    assert_eq!(
        serde_json::to_value(&draft).unwrap(),
        json!({"nodes": {"a": {"job": 1}, "b": {"job": 1, "after": ["a"]}}})
    );
    let (mut b, a) = (NodeDraft::new(NodeJob::Id(1)), NodeDraft::new(NodeJob::Id(1)));
    b.after = vec![AfterDraft::new("a")];
    assert_eq!(draft.nodes, [("a".to_owned(), a), ("b".to_owned(), b)]);
}

#[test]
fn what_is_no_definition_is_named() {
    for (text, error) in [
        (r#"{"nodes":{"a":{"job":1},"a":{"job":2}}}"#, "the node `a` is given twice"),
        (r#"{"nodes":{},"edges":[]}"#, "unknown field `edges`, expected `output` or `nodes`"),
        (r#"{"nodes":[]}"#, "invalid type: sequence, expected the nodes as an object, by name"),
        (
            r#"{"nodes":{"a":{"job":1.5}}}"#,
            "invalid type: floating point `1.5`, expected a job's number, its key or `app/key`",
        ),
        (
            r#"{"nodes":{"a":{"job":1,"after":[7]}}}"#,
            "invalid type: integer `7`, expected the name of a node, or an object with `node`",
        ),
        (r#"{"nodes":{"a":{"job":1,"join":"some"}}}"#, "`some` is not a join; allowed: all, any"),
        (
            r#"{"nodes":{"a":{"job":1,"if_failed":"x"}}}"#,
            "`x` is not a reaction to a failure; allowed: fail, ignore, stop",
        ),
        (
            r#"{"nodes":{"a":{"job":1,"after":[{"node":"b","on":"x"}]}}}"#,
            "`x` is not a kind of edge; allowed: success, failure, always",
        ),
    ] {
        assert_eq!(wrong(text), error);
    }
}

#[test]
fn a_test_has_one_operator_with_an_operand_of_its_kind() {
    let wrong = |text: &str| serde_json::from_str::<Test>(text).unwrap_err().to_string();
    let one = "a test has exactly one of eq, ne, lt, le, gt, ge, in and exists";
    for text in [r#"{"path":"/a"}"#, r#"{"path":"/a","eq":1,"ne":2}"#] {
        assert!(wrong(text).starts_with(one), "{}", wrong(text));
    }
    assert!(wrong(r#"{"path":"/a","lt":true}"#).starts_with("a number or a text"));
    assert!(wrong(r#"{"path":"/a","in":1}"#).starts_with("invalid type: integer `1`, expected a sequence"));
    assert!(wrong(r#"{"path":"/a","like":1}"#).starts_with("unknown field `like`"));
    assert!(wrong(r#"{"eq":1}"#).starts_with("missing field `path`"));
}

#[test]
fn codes_of_states_are_stored_and_do_not_change() {
    let codes: Vec<(i16, &str)> = NodeState::ALL.iter().map(|state| (state.code(), state.as_str())).collect();
    let expected = ["waiting", "held", "running", "succeeded", "failed", "skipped", "upstream_failed", "cancelled"];
    assert_eq!(codes, (0..8).zip(expected).collect::<Vec<_>>());
}
