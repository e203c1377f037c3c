//! The comparison of three: the base (what the mechanism wrote last), the code, and the job as it is now.

use carillon_protocol::DeclarePolicy;
use carillon_scheduler::Millis;
use carillon_store::DeclaredState;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A member that is not as the code says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub member: String,
    pub code: Value,
    pub here: Value,
    /// When it was found, UTC ms.
    pub since: Millis,
}

/// What is compared: members of one job, as the server keeps them.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub base: &'a Map<String, Value>,
    /// Only the members that the code names.
    pub code: &'a Map<String, Value>,
    pub now: &'a Map<String, Value>,
}

/// What follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The members that are written, with their values.
    pub write: Map<String, Value>,
    /// The base after that.
    pub base: Map<String, Value>,
    /// The members that stay different.
    pub findings: Vec<Finding>,
    pub state: DeclaredState,
}

/// Compares each member that the code names. `may_write`: the app's setting allows changes.
pub fn compare(policy: DeclarePolicy, may_write: bool, sides: Sides<'_>, at: Millis) -> Comparison {
    let Sides { base, code, now } = sides;
    let mut comparison =
        Comparison { write: Map::new(), base: base.clone(), findings: vec![], state: DeclaredState::Applied };
    for (member, wanted) in code {
        let here = now.get(member).cloned().unwrap_or_default();
        if *wanted == here {
            comparison.base.insert(member.clone(), here);
            continue;
        }
        let is_untouched = base.get(member) == Some(&here);
        let is_written = is_untouched || policy == DeclarePolicy::Enforce;
        if is_written && may_write {
            comparison.write.insert(member.clone(), wanted.clone());
            comparison.base.insert(member.clone(), wanted.clone());
            continue;
        }
        let state = match (is_written, policy) {
            (true, _) => DeclaredState::Pending,
            (false, DeclarePolicy::Warn) => DeclaredState::Drift,
            (false, _) => DeclaredState::Overridden,
        };
        // What would be written is what a person decides about.
        if comparison.state != DeclaredState::Pending {
            comparison.state = state;
        }
        comparison.findings.push(Finding { member: member.clone(), code: wanted.clone(), here, since: at });
    }
    comparison
}

#[cfg(test)]
mod tests {
    use carillon_protocol::DeclarePolicy::{Adopt, Enforce, Warn};
    use carillon_store::DeclaredState::{Applied, Drift, Overridden, Pending};
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    /// The state, whether the code was written, and the base after it.
    fn outcome(policy: DeclarePolicy, may_write: bool, base: i64, code: i64, now: i64) -> (DeclaredState, bool, i64) {
        let member = |value: i64| map(json!({"retries": value}));
        let (base, code, now) = (member(base), member(code), member(now));
        let sides = Sides { base: &base, code: &code, now: &now };
        let comparison = compare(policy, may_write, sides, 7);
        assert_eq!(comparison.findings.is_empty(), comparison.state == Applied);
        let base = comparison.base["retries"].as_i64().unwrap_or_default();
        (comparison.state, !comparison.write.is_empty(), base)
    }

    #[test]
    fn each_row_of_the_table() {
        for policy in [Warn, Adopt, Enforce] {
            assert_eq!(outcome(policy, true, 1, 1, 1), (Applied, false, 1), "nothing differs");
            assert_eq!(outcome(policy, true, 1, 2, 1), (Applied, true, 2), "a deployment");
            assert_eq!(outcome(policy, true, 1, 2, 2), (Applied, false, 2), "both were changed alike");
        }
        // Edited here.
        assert_eq!(outcome(Warn, true, 1, 1, 3), (Drift, false, 1));
        assert_eq!(outcome(Adopt, true, 1, 1, 3), (Overridden, false, 1));
        assert_eq!(outcome(Enforce, true, 1, 1, 3), (Applied, true, 1));
        // All three differ.
        assert_eq!(outcome(Warn, true, 1, 2, 3), (Drift, false, 1));
        assert_eq!(outcome(Adopt, true, 1, 2, 3), (Overridden, false, 1));
        assert_eq!(outcome(Enforce, true, 1, 2, 3), (Applied, true, 2));
    }

    #[test]
    fn nothing_is_written_under_the_setting_report() {
        for policy in [Warn, Adopt, Enforce] {
            assert_eq!(outcome(policy, false, 1, 2, 1), (Pending, false, 1));
        }
        assert_eq!(outcome(Warn, false, 1, 1, 3), (Drift, false, 1));
        assert_eq!(outcome(Adopt, false, 1, 1, 3), (Overridden, false, 1));
        assert_eq!(outcome(Enforce, false, 1, 1, 3), (Pending, false, 1));
    }

    #[test]
    fn members_that_the_code_does_not_name_are_left_alone() {
        let (base, now) = (map(json!({"owner": "a", "retries": 1})), map(json!({"owner": "b", "retries": 1})));
        let code = map(json!({"retries": 2}));
        let comparison = compare(Enforce, true, Sides { base: &base, code: &code, now: &now }, 7);
        assert_eq!(Value::from(comparison.write), json!({"retries": 2}));
        assert_eq!(Value::from(comparison.base), json!({"owner": "a", "retries": 2}));
    }

    #[test]
    fn a_member_that_is_named_for_the_first_time_is_a_deployment_unless_it_was_changed_here() {
        let (base, code) = (map(json!({"retries": 0})), map(json!({"retries": 3})));
        let state = |now: i64| {
            let now = map(json!({"retries": now}));
            compare(Adopt, true, Sides { base: &base, code: &code, now: &now }, 7).state
        };
        assert_eq!((state(0), state(5)), (Applied, Overridden));
    }
}
