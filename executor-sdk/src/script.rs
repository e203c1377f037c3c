//! Runs that bring their source text: the types of scripts, and what a handler sees of one.

use std::fmt;

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScriptType {
    /// `GLUE_SHELL`
    Shell,
    /// `GLUE_PYTHON`
    Python,
    /// `GLUE_NODEJS`
    NodeJs,
    /// `GLUE_PHP`
    Php,
    /// `GLUE_POWERSHELL`
    PowerShell,
}

impl ScriptType {
    /// All types.
    pub const ALL: [Self; 5] = [Self::Shell, Self::Python, Self::NodeJs, Self::Php, Self::PowerShell];

    /// The type of a `glueType`; `None` for another text.
    pub(crate) fn from_wire(glue_type: &str) -> Option<Self> {
        let word = glue_type.strip_prefix("GLUE_")?;
        Self::ALL.into_iter().find(|kind| kind.word().to_ascii_uppercase() == word)
    }

    /// The name in lower case, such as `shell`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Python => "python",
            Self::NodeJs => "nodejs",
            Self::Php => "php",
            Self::PowerShell => "powershell",
        }
    }
}

impl fmt::Display for ScriptType {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The script of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script<'a> {
    /// Its language.
    pub kind: ScriptType,
    /// Its source text.
    pub source: &'a str,
    /// The admin's number of the last change, which grows with each; UTC epoch milliseconds in xxl-job.
    pub version: i64,
}

#[cfg(test)]
mod tests {
    use super::ScriptType;

    #[test]
    fn each_type_has_one_text_in_requests() {
        let types = ["GLUE_SHELL", "GLUE_PYTHON", "GLUE_NODEJS", "GLUE_PHP", "GLUE_POWERSHELL"];
        assert_eq!(types.map(|text| ScriptType::from_wire(text).unwrap()), ScriptType::ALL);
        for other in ["", "BEAN", "SHELL", "GLUE_", "GLUE_shell", "GLUE_GROOVY", "GLUE_PYTHON2"] {
            assert_eq!(ScriptType::from_wire(other), None, "{other}");
        }
    }
}
