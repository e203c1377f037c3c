//! Why fires were skipped, in words.

use carillon_store::Misfire;

use crate::web::locale::{Language, Message};

pub fn skip_text(language: Language, misfire: &Misfire) -> Message {
    match misfire.reason.as_str() {
        "coalesced" => language.text("misfire-coalesced"),
        _ => language.text("misfire-policy").with("policy", misfire.policy.as_str()),
    }
}
