//! What the check of a definition refuses.

use carillon_scheduler::WorkflowDraft;
use carillon_scheduler::workflow::{NodeDraft, NodeJob, limits};

use super::case::draft;

fn faults(draft: &WorkflowDraft) -> Vec<String> {
    draft.graph().err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn of_json(text: &str) -> Vec<String> {
    faults(&serde_json::from_str(text).unwrap())
}

#[test]
fn all_faults_are_named_at_once() {
    let text = r#"{"output": "{{nodes.none.result}}", "nodes": {
        "Load": {"job": 0},
        "-a": {"job": "", "after": ["none", "-a"]},
        "b": {"job": "bad app/key", "params": "{{nodes.c.result}} {{workflow.x}}", "after": [{"node": "c", "when": [{"path": "rows", "in": []}]}]},
        "c": {"job": "Key", "after": ["b", "b"]}}}"#;
    assert_eq!(
        of_json(text),
        [
            "workflow.nodes.Load: 'L' is not allowed; a name has lower case letters, digits and `-`",
            "workflow.nodes.Load.job: 0 is not allowed; 1 to 2147483647",
            "workflow.nodes.-a: a name begins and ends with a letter or a digit",
            "workflow.nodes.-a.job: names no job; write its number, its key, or `app/key`",
            "workflow.nodes.-a.after[0].node: there is no node `none`",
            "workflow.nodes.-a.after[1].node: a node cannot come after itself",
            "workflow.nodes.b.job: ' ' is not allowed; an app name has letters, digits, `-`, `_` and `.`",
            "workflow.nodes.b.params: a template cannot read `workflow.x`; allowed: workflow.params, workflow.scheduled_at, workflow.fire_key, workflow.run_id, nodes.N.result and nodes.N.state",
            "workflow.nodes.b.after[0].when[0].path: `rows` is not a path; write one such as /rows or /items/0, or an empty text",
            "workflow.nodes.b.after[0].when[0].in: needs at least one value",
            "workflow.nodes.c.job: 'K' is not allowed; a key has lower case letters, digits, `-`, `_` and `.`",
            "workflow.nodes.c.after[1].node: `b` is given twice for `success`",
            "workflow.output: the template names the node `none`, which does not exist",
            "workflow.nodes: the nodes form a circle: b -> c -> b",
        ]
    );
}

#[test]
fn a_template_reads_only_nodes_that_come_before() {
    let text = r#"{"output": "{{nodes.d.result}}", "nodes": {
        "a": {"job": 1, "params": "{{nodes.d.state}} {{nodes.d.result}} {{nodes.a.result}}"},
        "b": {"job": 1, "after": ["a"]},
        "c": {"job": 1, "after": [{"node": "b", "on": "failure"}], "params": "{{nodes.a.result}}"},
        "d": {"job": 1, "params": "{{nodes.c.result}}"}}}"#;
    assert_eq!(
        of_json(text),
        [
            "workflow.nodes.a.params: the template names the node `a`, which does not come before it",
            "workflow.nodes.a.params: the template names the node `d`, which does not come before it",
            "workflow.nodes.d.params: the template names the node `c`, which does not come before it",
        ]
    );
}

#[test]
fn each_circle_is_named_once() {
    assert_eq!(
        faults(&draft("a < c; b < a; c < b; d < e; e < d; f < a")),
        [
            "workflow.nodes: the nodes form a circle: a -> b -> c -> a",
            "workflow.nodes: the nodes form a circle: d -> e -> d"
        ]
    );
    let long: Vec<String> = (0..30).map(|node| format!("n{node} < n{}", (node + 29) % 30)).collect();
    let message = &faults(&draft(&long.join(";")))[0];
    assert!(message.ends_with("n16 -> n17 -> … -> n0"), "{message}");
}

#[test]
fn one_parent_may_have_several_edges_that_differ() {
    assert_eq!(faults(&draft("a; b < a a! a*")), Vec::<String>::new());
    let or = |tests: [&str; 2]| {
        let edge = |test: &str| format!(r#"{{"node": "a", "when": [{test}]}}"#);
        of_json(&format!(
            r#"{{"nodes": {{"a": {{"job": 1}}, "b": {{"job": 1, "after": [{}, {}]}}}}}}"#,
            edge(tests[0]),
            edge(tests[1])
        ))
    };
    let (one, other) = (r#"{"path": "/a", "eq": 1}"#, r#"{"path": "/b", "eq": 2}"#);
    assert_eq!(or([one, other]), Vec::<String>::new());
    for tests in [[one, one], [one, ""], ["", one]] {
        assert_eq!(or(tests), ["workflow.nodes.b.after[1].node: `a` is given twice for `success`"]);
    }
}

#[test]
fn limits_are_named_with_the_count() {
    assert_eq!(faults(&WorkflowDraft::default()), ["workflow.nodes: a workflow needs at least one node"]);
    let nodes = |count: usize| WorkflowDraft {
        output: None,
        nodes: (0..count).map(|node| (format!("n{node}"), NodeDraft::new(NodeJob::Id(1)))).collect(),
    };
    assert_eq!(faults(&nodes(limits::NODES)), Vec::<String>::new());
    assert_eq!(faults(&nodes(501)), ["workflow.nodes: has 501 nodes; at most 500 are allowed"]);
    let mut dense = nodes(64);
    for node in 0..64 {
        let parents: Vec<String> = (0..node).map(|parent| format!("n{parent}")).collect();
        dense.nodes[node].1.after = draft(&format!("x < {}", parents.join(" "))).nodes.remove(0).1.after;
    }
    assert_eq!(faults(&dense), ["workflow.nodes: has 2016 edges; at most 2000 are allowed"]);
    dense.nodes[63].1.after.truncate(47);
    assert_eq!(faults(&dense), Vec::<String>::new());

    let mut large = nodes(5);
    large.nodes.iter_mut().for_each(|(_, node)| node.params = Some("x".repeat(60_000)));
    assert_eq!(faults(&large), ["workflow: has 300146 bytes; at most 262144 (256 KiB) are allowed"]);
    let mut named = nodes(1);
    named.nodes[0].0 = "n".repeat(63);
    assert_eq!(faults(&named), Vec::<String>::new());
    named.nodes[0].0.push('n');
    assert!(faults(&named)[0].ends_with(": a name has 1 to 63 characters, this has 64"));
    named.nodes[0].0.clear();
    assert_eq!(faults(&named), ["workflow.nodes.: a node needs a name"]);
}

#[test]
fn a_draft_that_was_not_read_from_json_has_each_name_once() {
    let twice = draft("a; a < b; b");
    assert_eq!(faults(&twice), ["workflow.nodes.a: is given twice"]);
    assert_eq!(faults(&draft("a; a")), ["workflow.nodes.a: is given twice"]);
}
