//! The limits that jobs name.

/// What is stored of them.
pub fn names_of(limits: &str) -> Vec<String> {
    serde_json::from_str(limits).unwrap_or_default()
}
