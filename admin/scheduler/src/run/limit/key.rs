use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The key of a limit that has none.
pub const NO_KEY: i64 = 0;

/// Which slots of a limit a run needs one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotKey {
    /// The limit.
    pub limit_id: i64,
    /// A digest of the value of its key, or [`NO_KEY`].
    pub key: i64,
}

/// A digest of what these parameters have at a path; the path is empty where the limit has no key. A number and a text with the same
/// digits are one value. Parameters that are no JSON, or have nothing there, share one value, the empty text.
pub fn slot_key(path: &str, params: &str) -> i64 {
    if path.is_empty() {
        return NO_KEY;
    }
    let found = serde_json::from_str::<Value>(params).ok();
    let found = found.as_ref().and_then(|value| path.split('.').try_fold(value, member));
    let text = match found {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let digest = Sha256::digest(text.as_bytes());
    let first = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    match first.cast_signed() {
        NO_KEY => 1,
        key => key,
    }
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Array(list) => list.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_value_at_its_path() {
        let key = |params: &str| slot_key("customer.ids.0", params);
        let seven = key(r#"{"customer":{"ids":[7, 8]}}"#);
        assert_eq!(key(r#"{"customer":{"ids":["7"]},"more":1}"#), seven);
        assert_ne!(key(r#"{"customer":{"ids":[8]}}"#), seven);
        let none = key("");
        assert_ne!(none, seven);
        for params in ["plain text", "{}", r#"{"customer":null}"#, r#"{"customer":{"ids":[null]}}"#, "[1]"] {
            assert_eq!(key(params), none, "{params}");
        }
        assert_eq!(slot_key("", r#"{"customer":1}"#), NO_KEY);
        assert_ne!(none, NO_KEY);
    }
}
