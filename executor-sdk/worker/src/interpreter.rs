//! The programs that run scripts.

use std::env;
use std::path::{Path, PathBuf};

use carillon_executor::ScriptType;
use rustix::fs::{Access, access};

/// An interpreter for each type of script that this machine can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreters(Vec<(ScriptType, PathBuf)>);

/// In the order of preference.
const fn names(kind: ScriptType) -> &'static [&'static str] {
    match kind {
        ScriptType::Shell => &["bash", "sh"],
        ScriptType::Python => &["python3"],
        ScriptType::NodeJs => &["node", "nodejs"],
        ScriptType::Php => &["php"],
        ScriptType::PowerShell => &["pwsh"],
    }
}

/// The ending of a script's file. PowerShell refuses others.
pub const fn suffix(kind: ScriptType) -> &'static str {
    match kind {
        ScriptType::Shell => "sh",
        ScriptType::Python => "py",
        ScriptType::NodeJs => "js",
        ScriptType::Php => "php",
        ScriptType::PowerShell => "ps1",
    }
}

impl Interpreters {
    /// Those in the folders of `path`, and in place of them those that are given.
    ///
    /// # Errors
    /// A given one is no program.
    pub fn find(path: &str, given: &[(ScriptType, PathBuf)]) -> Result<Self, String> {
        if let Some((kind, path)) = given.iter().find(|(_, path)| !is_program(path)) {
            return Err(format!("{}: {} is no program that can be executed", kind.word(), path.display()));
        }
        let found = ScriptType::ALL.into_iter().filter_map(|kind| {
            let given = given.iter().find(|(other, _)| *other == kind).map(|(_, path)| path.clone());
            Some((kind, given.or_else(|| names(kind).iter().find_map(|name| in_path(path, name)))?))
        });
        Ok(Self(found.collect()))
    }

    /// The types that have one.
    pub fn types(&self) -> impl Iterator<Item = ScriptType> {
        self.0.iter().map(|(kind, _)| *kind)
    }

    pub(crate) fn of(&self, kind: ScriptType) -> Option<&Path> {
        self.0.iter().find(|(other, _)| *other == kind).map(|(_, path)| path.as_path())
    }
}

fn in_path(folders: &str, name: &str) -> Option<PathBuf> {
    env::split_paths(folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_program_goes_first_and_one_that_is_none_is_named() {
        let sh = PathBuf::from("/bin/sh");
        let found = Interpreters::find("", &[(ScriptType::Python, sh.clone())]).unwrap();
        assert_eq!(found.types().collect::<Vec<_>>(), [ScriptType::Python]);
        assert_eq!(found.of(ScriptType::Python), Some(sh.as_path()));
        let wrong = Interpreters::find("", &[(ScriptType::Php, "/etc/passwd".into())]).unwrap_err();
        assert_eq!(wrong, "php: /etc/passwd is no program that can be executed");
        assert!(Interpreters::find("/usr/bin:/bin", &[]).unwrap().of(ScriptType::Shell).is_some());
    }
}
