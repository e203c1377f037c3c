//! What a node is given, and what a workflow returns.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::limits::TEXT_BYTES;
use crate::time::Millis;
use crate::zone::Zone;

/// What templates read of the workflow's run.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowInput<'a> {
    /// Its parameters.
    pub params: &'a str,
    /// Its instant, UTC ms.
    pub scheduled_at: Millis,
    /// The zone of its job's schedule.
    pub zone: Zone,
    /// Its fire key.
    pub fire_key: &'a str,
    /// Its number.
    pub run_id: i64,
}

/// Results as one JSON object by name: JSON as it is written, another text as a text, no result as `null`.
pub(super) fn by_name<'a>(results: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let members: BTreeMap<&str, Box<RawValue>> = results.map(|(name, result)| (name, as_json(result))).collect();
    // Texts as members cannot fail.
    serde_json::to_string(&members).unwrap_or_default()
}

fn as_json(result: Option<&str>) -> Box<RawValue> {
    let value = result.and_then(|text| serde_json::from_str::<Box<RawValue>>(text).ok());
    value.or_else(|| serde_json::value::to_raw_value(&result).ok()).unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// Checks a filled text. Nothing is cut: a shorter text would be another one.
///
/// # Errors
/// Says which limit is exceeded.
pub(super) fn check_filled(text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES {
        return Err(format!("{} bytes; at most {TEXT_BYTES} are allowed", text.len()));
    }
    // A path into a result may lead to one, and PostgreSQL cannot store it.
    if text.contains('\0') {
        return Err("the character NUL is not allowed".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_as_they_were_written() {
        let results = [("b", Some("[1.50, 12345678901234567890123]")), ("a", Some("no \"JSON\"")), ("c", None)];
        assert_eq!(by_name(results.into_iter()), r#"{"a":"no \"JSON\"","b":[1.50, 12345678901234567890123],"c":null}"#);
    }
}
