//! Secrets of apps as requests need them: opened when a request is made, and masked in what comes back.

use std::collections::{BTreeMap, BTreeSet};

use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::Cause;
use carillon_scheduler::job::http::masked;
use carillon_scheduler::job::secret_params::{fill_with_secrets, secrets_in};
use carillon_store as store;
use carillon_store::Store;
use carillon_store::job::job_row::{GivenParams, Params};
use carillon_store::run::adopt::ClaimedRun;

use crate::executor::outcome::Outcome;
use crate::executor::request::placeholder_values;
use crate::job_cache::CachedJob;

/// A shorter line of a secret cannot be told from other words of a log.
const LEAST_LINE_BYTES: usize = 8;

/// What encrypts the secret of an app.
pub fn seal_context(app_id: i64, name: &str) -> String {
    format!("secret {app_id} {name}")
}

/// Those of the secrets of an app that were asked for.
#[derive(Default)]
pub struct OpenedSecrets {
    pub values: BTreeMap<String, String>,
    /// None of the keys of this node decrypts these.
    pub unreadable: BTreeSet<String>,
}

/// # Errors
/// The database does not answer.
pub async fn open_secrets(
    store: &Store,
    keys: &SecretKeys,
    app_id: i64,
    names: &BTreeSet<&str>,
) -> store::Result<OpenedSecrets> {
    let mut opened = OpenedSecrets::default();
    for (name, sealed) in store.apps().sealed_secrets(app_id).await? {
        if !names.contains(name.as_str()) {
            continue;
        }
        match keys.open(&seal_context(app_id, &name), &sealed) {
            Some(value) => _ = opened.values.insert(name, value),
            None => _ = opened.unreadable.insert(name),
        }
    }
    Ok(opened)
}

/// The names of the secrets that a run's parameters need: those that its job was saved with, also where a run repeats them. What is given with a run,
/// the result of another run and items name none.
pub fn named_secrets<'a>(run: &ClaimedRun, job: &'a CachedJob, given: Option<&'a GivenParams>) -> BTreeSet<&'a str> {
    saved_params(run, job, given).map(secrets_in).unwrap_or_default()
}

fn saved_params<'a>(run: &ClaimedRun, job: &'a CachedJob, given: Option<&'a GivenParams>) -> Option<&'a str> {
    if job.http.is_some() || job.is_workflow() {
        return None;
    }
    match (given, &job.stored.params) {
        (Some(given), _) => {
            let is_result = matches!(run.cause, Cause::Child | Cause::Node | Cause::Item);
            (given.repeats_saved && !given.is_of_part && !is_result).then_some(given.text.as_str())
        }
        (None, Params::Here(text)) => Some(text),
        (None, Params::Apart | Params::TooLong) => None,
    }
}

/// Parameters with secrets in them: they leave with the request of a run, and are kept nowhere.
pub struct SecretParams {
    pub text: String,
    /// What must not be shown.
    hidden: Vec<String>,
}

impl SecretParams {
    /// # Errors
    /// Which secret is missing, or cannot be decrypted.
    pub fn new(
        run: &ClaimedRun,
        job: &CachedJob,
        given: Option<&GivenParams>,
        secrets: &OpenedSecrets,
    ) -> Result<Self, String> {
        let params = saved_params(run, job, given).unwrap_or_default();
        let missing = |name: String| match secrets.unreadable.contains(&name) {
            true => format!("no key of this node decrypts the secret {name}; the run was not sent"),
            false => format!("the secret {name} is not set; the run was not sent"),
        };
        let text = fill_with_secrets(params, &placeholder_values(run, job.zone()), &secrets.values).map_err(missing)?;
        let names = secrets_in(params);
        let named = secrets.values.iter().filter(|(name, _)| names.contains(name.as_str()));
        Ok(Self { text, hidden: hidden(named.map(|(_, value)| value)) })
    }

    /// What an executor has answered, without the secrets that it was sent.
    pub fn masked(&self, outcome: Outcome) -> Outcome {
        let mask = |text: String| masked(&text, &self.hidden);
        match outcome {
            Outcome::Accepted => Outcome::Accepted,
            Outcome::Refused { code, message } => Outcome::Refused { code, message: mask(message) },
            Outcome::NotSent { why } => Outcome::NotSent { why: mask(why) },
            Outcome::Withheld { why } => Outcome::Withheld { why: mask(why) },
            Outcome::Unknown { why } => Outcome::Unknown { why: mask(why) },
        }
    }
}

/// What must not be shown of these secrets: logs have the lines of a longer one apart.
pub fn hidden<'a>(secrets: impl Iterator<Item = &'a String>) -> Vec<String> {
    let forms = |secret: &'a String| {
        let lines = secret.lines().map(str::trim).filter(|line| line.len() >= LEAST_LINE_BYTES && *line != secret);
        std::iter::once(secret.clone()).chain(lines.map(str::to_owned)).collect::<Vec<_>>()
    };
    secrets.flat_map(forms).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn the_lines_of_a_secret_are_hidden_too() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nx\n-----END KEY-----\n".to_owned();
        let hidden = hidden([&key, &"s3cret-word".to_owned()].into_iter());
        let lines = ["-----BEGIN KEY-----", "MIIEvQIBADANBg", "-----END KEY-----"];
        assert_eq!(hidden, [&[key.as_str()][..], &lines, &["s3cret-word"]].concat());
        assert_eq!(masked("  MIIEvQIBADANBg\n  x\n", &hidden), "  ***\n  x\n");
    }
}
