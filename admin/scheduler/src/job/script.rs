//! The script of a job: what an executor runs in place of a handler.

use serde::{Deserialize, Serialize};

use super::limits::{REMARK_CHARS, SCRIPT_BYTES};
use crate::checks::check_line;
use crate::field_error::FieldError;
use crate::job::digest::hex_digest;
use crate::time::Millis;
use crate::words::words;

words! {
    /// The language of a script.
    pub enum ScriptKind: "script type" {
        /// `bash`.
        Shell = 0 "shell",
        /// `python3`.
        Python = 1 "python",
        /// `node`.
        NodeJs = 2 "nodejs",
        /// `php`.
        Php = 3 "php",
        /// `pwsh`.
        PowerShell = 4 "powershell",
    }
}

impl ScriptKind {
    /// The protocol's `glueType`.
    pub const fn glue_type(self) -> &'static str {
        match self {
            Self::Shell => "GLUE_SHELL",
            Self::Python => "GLUE_PYTHON",
            Self::NodeJs => "GLUE_NODEJS",
            Self::Php => "GLUE_PHP",
            Self::PowerShell => "GLUE_POWERSHELL",
        }
    }

    /// What an executor announces that runs scripts of this type.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Shell => "script:shell",
            Self::Python => "script:python",
            Self::NodeJs => "script:nodejs",
            Self::Php => "script:php",
            Self::PowerShell => "script:powershell",
        }
    }
}

/// A script as a request gives it, and as a stored job names it: then without its source, which is kept by version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a script as an object")]
pub struct ScriptDraft {
    /// The language.
    #[serde(rename = "type")]
    pub kind: ScriptKind,
    /// The text, at most 256 KiB. None: the text of `version`; without a version, the one that the job has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What is new in it: 4 to 100 characters, required if the source changes.
    #[serde(default)]
    pub remark: String,
    /// The number of the stored version, `glueUpdatetime` on the wire: milliseconds, greater than those before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Millis>,
    /// The digest of the stored source, in hexadecimal digits. Ignored in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The size of the stored source. Ignored in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
}

impl ScriptDraft {
    /// A new source.
    pub fn new(kind: ScriptKind, source: impl Into<String>, remark: impl Into<String>) -> Self {
        Self { kind, source: Some(source.into()), remark: remark.into(), version: None, sha256: None, bytes: None }
    }

    /// Checks the source.
    ///
    /// # Errors
    /// Says which limit is exceeded.
    pub fn check(&self) -> Result<(), String> {
        self.source.as_deref().map_or(Ok(()), check_source)
    }

    /// Checks what does not depend on the script that the job has.
    pub(super) fn validate(&self) -> Vec<FieldError> {
        let source = self.check();
        let remark = check_line(&self.remark, 0..=*REMARK_CHARS.end());
        let error = |field: &str, result: Result<(), String>| Some(FieldError::new(field, result.err()?));
        error("script.source", source).into_iter().chain(error("script.remark", remark)).collect()
    }

    /// Checks the remark of a source that changes.
    ///
    /// # Errors
    /// It has fewer than 4 characters.
    pub fn check_remark(&self) -> Result<(), FieldError> {
        match self.remark.trim().chars().count() {
            count if count < *REMARK_CHARS.start() => {
                let message = "has {count} characters; a new source needs 4 to 100 characters on what has changed";
                Err(FieldError::new("script.remark", message.replace("{count}", &count.to_string())))
            }
            _ => Ok(()),
        }
    }

    /// The source as it is stored: a shell would take a CR for a part of the line.
    pub fn stored_source(&self) -> Option<String> {
        let source = self.source.as_ref()?;
        Some(if self.kind == ScriptKind::Shell { source.replace('\r', "") } else { source.clone() })
    }

    /// The digest of the source as it is stored.
    pub fn source_digest(&self) -> Option<String> {
        self.stored_source().map(|source| Self::digest(&source))
    }

    /// The digest of a stored source, by which a stored job names it: SHA-256 in hexadecimal digits.
    pub fn digest(source: &str) -> String {
        hex_digest(source)
    }
}

fn check_source(source: &str) -> Result<(), String> {
    match source.len() {
        size if size > SCRIPT_BYTES => Err(format!("has {size} bytes; at most {SCRIPT_BYTES} are allowed")),
        _ if source.trim().is_empty() => Err("must not be empty".to_owned()),
        _ if source.contains('\0') => Err("must not contain NUL".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(source: &str, remark: &str) -> Vec<String> {
        let script = ScriptDraft::new(ScriptKind::Shell, source, remark);
        script.validate().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_digest_is_that_of_the_source_as_it_is_stored() {
        let digest = |kind, source: &str| ScriptDraft::new(kind, source, "").source_digest().unwrap();
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(ScriptKind::Shell, "a\rbc"), of_abc);
        assert_ne!(digest(ScriptKind::Python, "a\rbc"), of_abc);
        assert_eq!(ScriptDraft::digest("abc"), of_abc);
    }

    #[test]
    fn a_source_has_a_size_and_no_nul() {
        assert!(wrong("echo 1", "first version").is_empty());
        assert_eq!(wrong(" \n", ""), ["script.source: must not be empty"]);
        assert_eq!(wrong("echo \0", ""), ["script.source: must not contain NUL"]);
        let long = "x".repeat(SCRIPT_BYTES + 1);
        assert_eq!(wrong(&long, ""), ["script.source: has 262145 bytes; at most 262144 are allowed"]);
        assert_eq!(wrong("x", &"r".repeat(101)), ["script.remark: has 101 characters; at most 100 are allowed"]);
        let short = ScriptDraft::new(ScriptKind::Shell, "x", " new ").check_remark().unwrap_err();
        assert_eq!(
            short.to_string(),
            "script.remark: has 3 characters; a new source needs 4 to 100 characters on what has changed"
        );
    }

    #[test]
    fn a_shell_script_is_stored_without_cr_and_others_as_they_are() {
        let stored = |kind| ScriptDraft::new(kind, "a\r\nb\r", "").stored_source().unwrap();
        assert_eq!(stored(ScriptKind::Shell), "a\nb");
        assert_eq!(stored(ScriptKind::PowerShell), "a\r\nb\r");
    }

    #[test]
    fn a_script_without_a_source_names_a_version() {
        let script: ScriptDraft = serde_json::from_value(json!({"type": "nodejs", "version": 7})).unwrap();
        assert_eq!((script.kind, script.version, script.source), (ScriptKind::NodeJs, Some(7), None));
        let unknown = serde_json::from_value::<ScriptDraft>(json!({"type": "groovy"})).unwrap_err().to_string();
        assert_eq!(unknown, "`groovy` is not a script type; allowed: shell, python, nodejs, php, powershell");
    }
}
