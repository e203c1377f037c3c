//! Misspelt environment variables: unlike a misspelt flag, they would have no effect and no message.

use std::collections::BTreeSet;
use std::fmt;

use crate::config::Problem;

const PREFIX: &str = "CARILLON_";

/// What Kubernetes sets for a service that is called `carillon`, what the tests set, and what executors read.
const OF_OTHERS: [&str; 4] = ["CARILLON_PORT", "CARILLON_SERVICE_", "CARILLON_TEST_", "CARILLON_EXECUTOR_"];

/// Variables that are nearly settings, and the wrong settings: all are reported at once.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownVariable(Vec<String>);

impl UnknownVariable {
    /// With what is wrong with the settings themselves.
    pub fn with(mut self, problems: Vec<Problem>) -> Self {
        self.0.extend(problems.iter().map(ToString::to_string));
        self
    }
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [one] => f.write_str(one),
            all => write!(f, "{} settings are wrong:\n  {}", all.len(), all.join("\n  ")),
        }
    }
}

/// Refuses what is nearly a setting; warns of anything else that looks like one.
pub fn check(command: &clap::Command) -> Result<(), UnknownVariable> {
    let known = known(command);
    let found = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for variable in judge(found, &known)? {
        eprintln!("carillon: {variable} is no setting and is ignored; `carillon serve --help` lists them");
    }
    Ok(())
}

/// The variables of this command and of all below it.
fn known(command: &clap::Command) -> BTreeSet<String> {
    let below = command.get_subcommands().flat_map(known);
    let variable = |argument: &clap::Arg| Some(argument.get_env()?.to_str()?.to_owned());
    command.get_arguments().filter_map(variable).chain(below).collect()
}

/// The variables to warn of, or those that are misspelt.
fn judge(found: impl Iterator<Item = String>, known: &BTreeSet<String>) -> Result<Vec<String>, UnknownVariable> {
    let ours = |name: &String| name.starts_with(PREFIX) && !OF_OTHERS.iter().any(|other| name.starts_with(other));
    let strange: Vec<String> = found.filter(ours).filter(|name| !known.contains(name)).collect();
    let misspelt = |variable: &String| {
        let meant = known.iter().find(|name| strsim::levenshtein(name, variable) <= 2)?;
        Some(format!("{variable} is no setting; write {meant}, or remove it"))
    };
    let wrong: Vec<String> = strange.iter().filter_map(misspelt).collect();
    match wrong.is_empty() {
        true => Ok(strange),
        false => Err(UnknownVariable(wrong)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn judged(variables: &[&str]) -> Result<Vec<String>, String> {
        let known = known(&crate::cli::command_line::Cli::command());
        judge(variables.iter().map(|name| (*name).to_owned()), &known).map_err(|error| error.to_string())
    }

    #[test]
    fn a_misspelt_variable_is_refused_with_the_one_that_is_meant() {
        let said = "CARILLON_LISTN is no setting; write CARILLON_LISTEN, or remove it";
        assert_eq!(judged(&["CARILLON_LISTN"]), Err(said.to_owned()));
        assert!(judged(&["CARILLON_DATABSE_URL"]).is_err());
        let two = judged(&["CARILLON_LISTN", "CARILLON_SHARDZ"]).unwrap_err();
        assert!(two.starts_with("2 settings are wrong:\n  CARILLON_LISTN is") && two.contains("CARILLON_SHARDS"));
    }

    #[test]
    fn other_variables_are_left_alone() {
        let fine = ["PATH", "CARILLON_LISTEN", "CARILLON_PORT_8080_TCP", "CARILLON_TEST_REDIS_URL"];
        assert_eq!(judged(&fine), Ok(vec![]));
        assert_eq!(judged(&["CARILLON_COLOUR"]), Ok(vec!["CARILLON_COLOUR".to_owned()]));
    }
}
