//! Why fires were skipped, in words.

use carillon_store::Misfire;

pub fn skip_text(misfire: &Misfire) -> String {
    match misfire.reason.as_str() {
        "coalesced" => "catch-up: only the latest of several late fires runs".to_owned(),
        _ => format!("misfire policy: {}", misfire.policy.as_str().replace('_', " ")),
    }
}
