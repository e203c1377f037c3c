//! How a workflow ends, and what it returns.

use carillon_scheduler::workflow::{End, Fact};

use super::case::{Case, draft, failed, succeeded};

fn with_output(text: &str, output: Option<&str>) -> Case {
    let mut draft = draft(text);
    draft.output = output.map(str::to_owned);
    let mut case = Case::new(&draft);
    case.step();
    case
}

#[test]
fn the_result_is_that_of_the_last_node_or_of_the_last_nodes_by_name() {
    let mut case = with_output("a; b < a", None);
    case.succeed("a", "1");
    case.succeed("b", "plain text");
    assert_eq!(case.end(), succeeded("plain text"));

    let mut case = with_output("a; c; b; d(ignore)", None);
    case.succeed("a", r#"{"rows": 1}"#);
    case.succeed("b", "text");
    case.set("c", Fact::Succeeded { result: None });
    case.fail("d", "broken");
    assert_eq!(case.end(), succeeded(r#"{"a":{"rows": 1},"b":"text","c":null}"#));

    let mut case = with_output("a", None);
    case.set("a", Fact::Succeeded { result: None });
    assert_eq!(case.end(), Some(End::Succeeded { result: None }));
}

#[test]
fn an_output_is_a_template() {
    let mut case =
        with_output("a; b < a", Some("{{nodes.a.result#/rows}} of run {{workflow.run_id}}, b {{nodes.b.state}}"));
    case.succeed("a", r#"{"rows": 5}"#);
    case.succeed("b", "");
    assert_eq!(case.end(), succeeded("5 of run 4711, b succeeded"));
}

#[test]
fn an_output_that_cannot_be_stored_is_a_failure_and_is_not_cut() {
    let mut case = with_output("a", Some("{{nodes.a.result}}{{nodes.a.result}}"));
    case.succeed("a", &"x".repeat(40_000));
    assert_eq!(case.end(), failed("output: 80000 bytes; at most 65536 are allowed"));
    let mut case = with_output("a", Some("{{nodes.a.result#/0}}"));
    case.succeed("a", r#"["\u0000"]"#);
    assert_eq!(case.end(), failed("output: the character NUL is not allowed"));
    // No user asked for the results by name.
    let mut case = with_output("a; b", None);
    case.succeed("a", &"x".repeat(40_000));
    case.succeed("b", &"x".repeat(40_000));
    assert_eq!(case.end(), Some(End::Succeeded { result: None }));
}

#[test]
fn the_message_names_the_first_failure_and_counts_the_others() {
    let mut case = with_output("a; b; c; d < a b c", None);
    case.fail("b", "second");
    case.fail("c", "third");
    case.fail("a", "");
    assert_eq!(case.end(), failed("a: failed; 2 other nodes failed; 1 node was not run"));
    case.succeed("c", "");
    assert_eq!(case.end(), failed("a: failed; 1 other node failed; 1 node was not run"));
}
