//! Labels: `key=value` pairs that executors announce and jobs require.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What is wrong with a list of labels, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LabelError(String);

/// Labels, each key once. Written as `key=value,key2=value2`, in the order of the keys; `""` is no label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// Maximum number of labels of one executor or job.
    const MAX: usize = 16;
    /// Maximum number of characters of a key, and of a value.
    const MAX_CHARS: usize = 63;
    /// Maximum number of characters of the whole text.
    const MAX_TEXT: usize = 255;

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it contains each label of `wanted`, with the same value.
    pub fn has_all(&self, wanted: &Self) -> bool {
        wanted.0.iter().all(|(key, value)| self.0.get(key) == Some(value))
    }
}

impl FromStr for Labels {
    type Err = LabelError;

    /// Blanks around keys, values and commas are ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut labels = BTreeMap::new();
        if text.trim().is_empty() {
            return Ok(Self(labels));
        }
        for pair in text.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(LabelError(format!(
                    "`{}` is no label; write key=value, several with commas between",
                    pair.trim()
                )));
            };
            let (key, value) = (checked("key", key)?, checked("value", value)?);
            if labels.insert(key.clone(), value).is_some() {
                return Err(LabelError(format!("the key `{key}` is there twice")));
            }
        }
        if labels.len() > Self::MAX {
            let count = labels.len();
            return Err(LabelError(format!("{count} labels; at most {} are allowed", Self::MAX)));
        }
        let labels = Self(labels);
        let count = labels.to_string().len();
        if count > Self::MAX_TEXT {
            return Err(LabelError(format!("{count} characters; at most {} are allowed", Self::MAX_TEXT)));
        }
        Ok(labels)
    }
}

fn checked(what: &str, text: &str) -> Result<String, LabelError> {
    let text = text.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if !(1..=Labels::MAX_CHARS).contains(&text.chars().count()) {
        let max = Labels::MAX_CHARS;
        return Err(LabelError(format!("the {what} `{text}` must have 1 to {max} characters")));
    }
    if let Some(wrong) = text.chars().find(|&c| !allowed(c)) {
        return Err(LabelError(format!(
            "{wrong:?} is not allowed in the {what} `{text}`; letters, digits, `-`, `_`, `.` and `/` are"
        )));
    }
    Ok(text.to_owned())
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{key}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        text.parse().unwrap()
    }

    #[test]
    fn an_executor_matches_if_it_has_all_labels() {
        let executor = labels(" zone = eu-1 ,gpu=yes");
        assert_eq!(executor.to_string(), "gpu=yes,zone=eu-1");
        for (wanted, fits) in
            [("", true), ("gpu=yes", true), ("zone=eu-1,gpu=yes", true), ("gpu=no", false), ("disk=ssd", false)]
        {
            assert_eq!(executor.has_all(&labels(wanted)), fits, "{wanted}");
        }
        assert!(!labels("").has_all(&labels("gpu=yes")));
    }

    #[test]
    fn the_error_names_the_problem() {
        let error = |text: &str| text.parse::<Labels>().unwrap_err().to_string();
        assert_eq!(error("gpu"), "`gpu` is no label; write key=value, several with commas between");
        assert_eq!(error("a=b,"), "`` is no label; write key=value, several with commas between");
        assert_eq!(error("=b"), "the key `` must have 1 to 63 characters");
        assert_eq!(error("a="), "the value `` must have 1 to 63 characters");
        assert_eq!(error("a=b,a=c"), "the key `a` is there twice");
        assert_eq!(error("a=b c"), "' ' is not allowed in the value `b c`; letters, digits, `-`, `_`, `.` and `/` are");
        let many: Vec<String> = (0..17).map(|n| format!("k{n}=v")).collect();
        assert_eq!(error(&many.join(",")), "17 labels; at most 16 are allowed");
    }
}
