//! `for_each`: the list from which a node gets its parts.

use serde_json::value::RawValue;

use super::input::check_filled;
use super::value_path::text_of;
use crate::job::parts::Parts;

/// What a node is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// Its parameters. None: those of its job.
    Params(Option<String>),
    /// A part for each text, which is the parameters of that part: two at least.
    Parts(Vec<String>),
    /// A list without a member: there is nothing to do.
    Nothing,
}

/// Reads a filled `for_each`. A text of the list is given as it is, another value as JSON.
///
/// # Errors
/// It is no list, or a member or the whole list is too long.
pub(super) fn read_list(text: &str) -> Result<Given, String> {
    let Ok(members) = serde_json::from_str::<Vec<Box<RawValue>>>(text) else {
        let begin: String = text.chars().take(64).collect();
        return Err(format!("`for_each` gave no JSON list, but “{begin}”"));
    };
    let mut texts: Vec<String> = members.iter().map(|member| text_of(member)).collect();
    match texts.len() {
        0 => Ok(Given::Nothing),
        1 => {
            let only = texts.pop();
            only.iter().try_for_each(|text| check_filled(text)).map(|()| Given::Params(only))
        }
        _ => {
            let parts = Parts::Each(texts);
            parts.check().map_err(|what| format!("the list of `for_each` {what}"))?;
            Ok(Given::Parts(parts.texts().unwrap_or_default().to_vec()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_given_as_it_is_and_any_other_value_as_json() {
        let texts = |list: &str| match read_list(list).unwrap() {
            Given::Parts(texts) => texts,
            other => panic!("{other:?}"),
        };
        assert_eq!(texts(r#"["a \"b\"", 1.50, {"x":[1]}, null]"#), ["a \"b\"", "1.50", "{\"x\":[1]}", "null"]);
        assert_eq!(read_list(" [ \"only\" ] "), Ok(Given::Params(Some("only".to_owned()))));
        assert_eq!(read_list("[]"), Ok(Given::Nothing));
    }

    #[test]
    fn what_is_no_list_or_too_long_is_refused() {
        for text in ["", "{}", "\"a\"", "[1", "7"] {
            let what = read_list(text).unwrap_err();
            assert_eq!(what, format!("`for_each` gave no JSON list, but “{text}”"));
        }
        let many = format!("[{}]", vec!["1"; 1_001].join(","));
        assert_eq!(read_list(&many).unwrap_err(), "the list of `for_each` has 1001 texts; a list has 2 to 1000");
        let long = "x".repeat(40_000);
        let what = read_list(&format!("[\"{long}\",\"{long}\"]")).unwrap_err();
        assert!(what.starts_with("the list of `for_each` has 80000 bytes in all"), "{what}");
        assert_eq!(read_list("[\"\\u0000\"]").unwrap_err(), "the character NUL is not allowed");
    }
}
