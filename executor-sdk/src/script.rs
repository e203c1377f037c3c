//! Scripts that an admin sends with their source. Off by default: see [`ExecutorBuilder::scripts`](crate::ExecutorBuilder::scripts).

use carillon_protocol::RunRequest;

/// The language of a script. The protocol also has Groovy, which Java executors compile, and Python 2: neither is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptType {
    /// `GLUE_SHELL`.
    Shell,
    /// `GLUE_PYTHON`.
    Python,
    /// `GLUE_NODEJS`.
    NodeJs,
    /// `GLUE_PHP`.
    Php,
    /// `GLUE_POWERSHELL`.
    PowerShell,
}

impl ScriptType {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Shell, Self::Python, Self::NodeJs, Self::Php, Self::PowerShell];

    /// `shell`, `python`, `nodejs`, `php` or `powershell`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Python => "python",
            Self::NodeJs => "nodejs",
            Self::Php => "php",
            Self::PowerShell => "powershell",
        }
    }

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

    /// That of a `glueType`, or `None`.
    pub fn from_glue_type(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.glue_type() == text)
    }
}

/// The script of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script<'r> {
    /// Its language.
    pub kind: ScriptType,
    /// Its text.
    pub source: &'r str,
    /// The admin's number of this version, UTC ms; greater for each later version of the job.
    pub version: i64,
}

impl<'r> Script<'r> {
    pub(crate) fn of(request: &'r RunRequest) -> Option<Self> {
        let kind = ScriptType::from_glue_type(&request.glue_type)?;
        Some(Self { kind, source: &request.glue_source, version: request.glue_updatetime })
    }
}
