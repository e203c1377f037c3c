//! Into how many parts each fire of a job is split, and what each of them is given.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::limits::{PARAMS_BYTES, PARTS, check_params};
use crate::checks::check_number;

/// The parts of a fire. In JSON a number, or a list of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Parts {
    /// This many parts, each with the parameters of the fire; 1: the fire is not split.
    Count(i32),
    /// One part for each text, which is the parameters of that part.
    Each(Vec<String>),
}

impl Default for Parts {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Parts {
    /// How many parts there are.
    pub fn count(&self) -> i32 {
        match self {
            Self::Count(count) => *count,
            Self::Each(texts) => i32::try_from(texts.len()).unwrap_or(i32::MAX),
        }
    }

    /// The parameters of each part. None: all parts have those of the fire.
    pub fn texts(&self) -> Option<&[String]> {
        match self {
            Self::Count(_) => None,
            Self::Each(texts) => Some(texts),
        }
    }

    /// Whether each fire is one run.
    pub fn is_one(&self) -> bool {
        *self == Self::Count(1)
    }

    /// Checks the number of parts, or each text of the list.
    ///
    /// # Errors
    /// Says which limit is exceeded, and in which text.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Count(count) => check_number((*count).into(), &PARTS, ""),
            Self::Each(texts) => check_texts(texts),
        }
    }
}

fn check_texts(texts: &[String]) -> Result<(), String> {
    let (least, most) = (2, PARTS.end());
    if !(least..=PARTS.end().unsigned_abs() as usize).contains(&texts.len()) {
        return Err(format!("has {} texts; a list has {least} to {most}", texts.len()));
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    if bytes > PARAMS_BYTES {
        return Err(format!("has {bytes} bytes in all; at most {PARAMS_BYTES} (64 KiB) are allowed"));
    }
    for (part, text) in texts.iter().enumerate() {
        check_params(text).map_err(|message| format!("text {}: {message}", part + 1))?;
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartsVisitor)
    }
}

/// In place of `untagged`, whose errors name neither the member nor what is expected.
struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of parts or a list of texts")
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Parts, E> {
        Ok(Parts::Count(i32::try_from(count).unwrap_or(if count < 0 { i32::MIN } else { i32::MAX })))
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Parts, E> {
        Ok(Parts::Count(i32::try_from(count).unwrap_or(i32::MAX)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parts, A::Error> {
        let mut texts = vec![];
        while let Some(text) = list.next_element()? {
            texts.push(text);
        }
        Ok(Parts::Each(texts))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn each(texts: &[&str]) -> Parts {
        Parts::Each(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn parts_are_a_number_or_a_list() {
        for (parts, json) in [(Parts::Count(16), json!(16)), (each(&["eu", "us"]), json!(["eu", "us"]))] {
            assert_eq!(json!(parts), json);
            assert_eq!(serde_json::from_value::<Parts>(json).unwrap(), parts);
        }
        for (json, why) in [
            (json!("16"), "invalid type: string \"16\", expected a number of parts or a list of texts"),
            (json!(1.5), "invalid type: floating point `1.5`, expected a number of parts or a list of texts"),
            (json!(["eu", 2]), "invalid type: integer `2`, expected a string"),
        ] {
            assert_eq!(serde_json::from_value::<Parts>(json).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn what_is_too_much_or_too_little_is_named() {
        for parts in [Parts::Count(1), Parts::Count(1_000), each(&["", "{{part}}"])] {
            assert_eq!(parts.check(), Ok(()));
        }
        assert!(serde_json::from_value::<Parts>(json!(i64::MAX)).unwrap().check().is_err());
        let long = "x".repeat(40_000);
        let many: Vec<&str> = vec!["x"; 1_001];
        for (parts, why) in [
            (Parts::Count(0), "0 is not allowed; 1 to 1000"),
            (Parts::Count(1_001), "1001 is not allowed; 1 to 1000"),
            (each(&["eu"]), "has 1 texts; a list has 2 to 1000"),
            (each(&many), "has 1001 texts; a list has 2 to 1000"),
            (each(&[&long, &long]), "has 80000 bytes in all; at most 65536 (64 KiB) are allowed"),
            (each(&["a", "{{scheduled_at|%Q}}"]), "text 2: `%Q` is no format; write one such as %Y-%m-%d, `s` or `ms`"),
        ] {
            assert_eq!(parts.check(), Err(why.to_owned()));
        }
    }
}
