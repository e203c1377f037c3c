//! Declared jobs.

use carillon_protocol::{Declaration, DeclarePolicy, DeclaredJob, parse_declaration};
use serde_json::json;

#[test]
fn a_declaration_has_the_members_that_the_code_names() {
    let job = DeclaredJob {
        key: "close-day".to_owned(),
        was: Some("close".to_owned()),
        file: "src/jobs.rs".to_owned(),
        line: 12,
        members: json!({"handler": "close-day", "retries": 2}).as_object().cloned().unwrap(),
    };
    let declaration =
        Declaration { build: "billing 4.2.1".to_owned(), policy: DeclarePolicy::Enforce, jobs: vec![job] };
    let text = r#"{"build":"billing 4.2.1","policy":"enforce","jobs":[{"key":"close-day","was":"close","file":"src/jobs.rs","line":12,"members":{"handler":"close-day","retries":2}}]}"#;
    assert_eq!(serde_json::to_string(&declaration).unwrap(), text);
    assert_eq!(parse_declaration(text.as_bytes()), Ok(declaration));
}

#[test]
fn members_of_later_versions_are_passed_over_and_the_policy_may_be_left_out() {
    let text = r#"{"build":"1","jobs":[{"key":"a","file":"a.rs","line":1,"members":{},"colour":"red"}],"more":1}"#;
    let read = parse_declaration(text.as_bytes()).unwrap();
    assert_eq!((read.policy, read.jobs[0].was.as_ref()), (DeclarePolicy::Adopt, None));
    assert!(parse_declaration(b"[]").unwrap_err().starts_with("the declaration cannot be read: "));
    assert!(parse_declaration(br#"{"build":"1","policy":"always","jobs":[]}"#).is_err());
}
