//! Secrets in what comes back: an executor that was sent a secret may repeat it in a result, or in the log of a run.

use std::collections::{BTreeMap, BTreeSet};

use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::job::http::{masked, masked_cut};
use carillon_scheduler::job::secret_params::secrets_in;
use carillon_store as store;
use carillon_store::Store;
use carillon_store::db::sql::text::{CUT, before_cut};
use carillon_store::run::settle::finding::RunReport;
use foldhash::{HashMap, HashMapExt as _};

use crate::executor::secrets::{OpenedSecrets, hidden, open_secrets};

/// The shortest text that may have a secret.
const LEAST_BYTES: usize = 8;

/// The reports without the secrets that the parameters of their runs name, or have named. Without secrets in any app this is one small question for
/// all of them, and none if they have no texts.
///
/// # Errors
/// The database does not answer: then they must not be stored.
pub async fn hide_in_reports(store: &Store, keys: &SecretKeys, reports: &mut [RunReport]) -> store::Result<()> {
    let text_of = |report: &RunReport| report.message.as_ref().is_some_and(|text| text.len() >= LEAST_BYTES);
    let ids: Vec<i64> = reports.iter().filter(|report| text_of(report)).map(|report| report.run_id).collect();
    if ids.is_empty() || !store.apps().has_secrets().await? {
        return Ok(());
    }
    let secrets = hidden_of(store, keys, &ids).await?;
    for report in reports {
        let is_own = report.code.is_none() && report.reporter.is_none();
        if let (Some(secrets), Some(text)) = (secrets.get(&report.run_id), &mut report.message) {
            *text = match before_cut(text) {
                // In words of the server, which name the secret that nothing can decrypt.
                None if is_own => masked(text, &secrets.values),
                Some(kept) => secrets.hide(kept, |kept, hidden| format!("{}{CUT}", masked_cut(kept, hidden))),
                None => secrets.hide(text, masked),
            };
        }
    }
    Ok(())
}

/// The same in other texts of a run's executor, none of which is cut.
///
/// # Errors
/// The database does not answer: then they must not be stored or shown.
pub async fn hide_in_texts(
    store: &Store,
    keys: &SecretKeys,
    run_id: i64,
    texts: impl Iterator<Item = &mut String>,
) -> store::Result<()> {
    let texts: Vec<&mut String> = texts.filter(|text| text.len() >= LEAST_BYTES).collect();
    if texts.is_empty() || !store.apps().has_secrets().await? {
        return Ok(());
    }
    if let Some(secrets) = hidden_of(store, keys, &[run_id]).await?.get(&run_id) {
        texts.into_iter().for_each(|text| *text = secrets.hide(text, masked));
    }
    Ok(())
}

/// What must not be shown of the secrets that a run may have been sent.
#[derive(Default)]
struct HiddenSecrets {
    values: Vec<String>,
    /// The name of one that cannot be decrypted here, so it cannot be found in a text either.
    unreadable: Option<String>,
}

impl HiddenSecrets {
    fn add(&mut self, names: &BTreeSet<&str>, secrets: &OpenedSecrets) {
        let named = secrets.values.iter().filter(|(name, _)| names.contains(name.as_str()));
        self.values.extend(hidden(named.map(|(_, value)| value)));
        let unreadable = secrets.unreadable.iter().find(|name| names.contains(name.as_str()));
        self.unreadable = self.unreadable.take().or_else(|| unreadable.cloned());
    }

    /// The text as it may be shown.
    fn hide(&self, text: &str, mask: impl FnOnce(&str, &[String]) -> String) -> String {
        match &self.unreadable {
            Some(name) => format!("not shown: no key of this node decrypts the secret {name}"),
            None => mask(text, &self.values),
        }
    }
}

/// By run, those of which the parameters have named secrets.
async fn hidden_of(store: &Store, keys: &SecretKeys, run_ids: &[i64]) -> store::Result<HashMap<i64, HiddenSecrets>> {
    let texts = store.runs().naming_texts(run_ids).await?;
    let mut by_app: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
    for naming in &texts {
        for app_id in naming.app_ids {
            by_app.entry(app_id).or_default().extend(secrets_in(&naming.text));
        }
    }
    let mut opened = BTreeMap::new();
    for (app_id, names) in by_app.iter().filter(|(_, names)| !names.is_empty()) {
        opened.insert(*app_id, open_secrets(store, keys, *app_id, names).await?);
    }
    let mut found: HashMap<i64, HiddenSecrets> = HashMap::new();
    for naming in &texts {
        let names = secrets_in(&naming.text);
        let apps: BTreeSet<i64> = naming.app_ids.into_iter().collect();
        let secrets = found.entry(naming.run_id).or_default();
        apps.iter().filter_map(|app_id| opened.get(app_id)).for_each(|opened| secrets.add(&names, opened));
    }
    Ok(found)
}
