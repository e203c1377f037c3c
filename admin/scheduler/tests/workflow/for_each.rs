//! Nodes with a part for each member of a list.

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::{Fact, WorkflowDraft};

use super::case::{Case, failed};

const LIST: &str = r#"{"nodes":{
    "list":{"job":1},
    "each":{"job":2,"for_each":"{{nodes.list.result#/of}}","after":["list"]},
    "next":{"job":3,"after":["each"]},
    "always":{"job":4,"after":[{"node":"each","on":"always"},"list"]}}}"#;

#[test]
fn a_part_is_given_for_each_member_of_the_list() {
    let mut case = Case::json(LIST);
    case.step();
    case.set("list", Fact::Succeeded { result: Some(r#"{"of":["eu",7,{"a":[]}]}"#.into()) });
    let start = case.look().start;
    assert_eq!((start.len(), start[0].params.as_deref()), (1, None));
    assert_eq!(start[0].parts, ["eu", "7", "{\"a\":[]}"]);
}

#[test]
fn one_member_is_no_split_and_an_empty_list_skips_the_node() {
    let mut case = Case::json(LIST);
    case.step();
    case.set("list", Fact::Succeeded { result: Some(r#"{"of":["only"]}"#.into()) });
    let start = case.look().start;
    assert_eq!((start[0].params.as_deref(), start[0].parts.len()), (Some("only"), 0));

    let mut case = Case::json(LIST);
    case.step();
    assert_eq!(case.succeed("list", r#"{"of":[]}"#), "always", "which comes after the list too");
    assert_eq!((case.state("each"), case.why("each").as_str()), (NodeState::Skipped, "its list is empty"));
    assert_eq!(case.state("next"), NodeState::Skipped);
    // A node behind it has started, and the reason stays.
    assert_eq!((case.step(), case.why("each")), (String::new(), "its list is empty".to_owned()));
}

#[test]
fn what_is_no_list_fails_the_node() {
    let mut case = Case::json(LIST);
    case.step();
    assert_eq!(case.succeed("list", r#"{"of":"eu"}"#), "always");
    let why = "input: `for_each` gave no JSON list, but “eu”";
    assert_eq!((case.state("each"), case.why("each").as_str()), (NodeState::Failed, why));
    assert_eq!(case.state("always"), NodeState::Running);
    assert!(case.end().is_none());
    case.succeed("always", "");
    assert_eq!(case.end(), failed("each: input: `for_each` gave no JSON list, but “eu”; 1 node was not run"));
}

#[test]
fn it_stands_alone_and_reads_only_what_comes_before() {
    let draft: WorkflowDraft = serde_json::from_str(
        r#"{"nodes":{"a":{"job":1,"for_each":"{{nodes.b.result}}","params":"x"},"b":{"job":1,"for_each":"{{nodes.c.result}}"}}}"#,
    )
    .unwrap();
    let faults: Vec<String> = draft.graph().unwrap_err().iter().map(ToString::to_string).collect();
    assert!(
        faults.iter().any(|fault| fault.starts_with("workflow.nodes.a.for_each: cannot stand beside `params`")),
        "{faults:?}"
    );
    let unknown = "workflow.nodes.b.for_each: the template names the node `c`, which does not exist";
    assert!(faults.iter().any(|fault| fault == unknown), "{faults:?}");
}
