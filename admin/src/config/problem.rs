//! A setting that cannot be used, in words that say how to mend it.

use std::fmt;

/// One setting that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The flag without dashes, such as `listen`; the environment variable's name follows from it.
    pub setting: &'static str,
    /// What is wrong and what would be right. Never holds a secret.
    pub message: String,
}

impl Problem {
    /// A problem with the setting `setting`, such as `listen`.
    pub fn new(setting: &'static str, message: impl Into<String>) -> Self {
        Self { setting, message: message.into() }
    }

    /// The environment variable that sets the same thing.
    pub fn variable(&self) -> String {
        variable(self.setting)
    }
}

/// `data-dir` -> `CARILLON_DATA_DIR`.
fn variable(setting: &str) -> String {
    format!("CARILLON_{}", setting.replace('-', "_").to_uppercase())
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{} ({}): {}", self.setting, self.variable(), self.message)
    }
}

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// All of them, at least one.
    pub problems: Vec<Problem>,
}

impl Error {
    /// `Ok` without problems.
    ///
    /// # Errors
    /// The problems, if there are any.
    pub fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// One line for one problem; more are counted and listed.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = &self.problems[..] {
            return write!(f, "{problem}");
        }
        write!(f, "{} settings are wrong:", self.problems.len())?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
