//! The key for secrets that the database keeps: given, or on SQLite made once and kept in a file beside the access token, so that
//! every channel, tokens of apps and second factors work on the first day.

use std::path::Path;

use carillon_accounts::secret_keys::SecretKeys;

use crate::config::access_token::kept_or_made;
use crate::config::database::Database;
use crate::config::problem::Problem;

const SETTING: &str = "secret-key-file";
const FILE: &str = "secret-key";

/// The given keys, and the kept one behind them: what it has encrypted stays readable when a key is given later. Without a given key,
/// on SQLite, the kept one, which is made at the first start. Nodes that share a database would each make their own: they have none.
///
/// # Errors
/// The file cannot be read or written, holds no key, or others may read it.
pub fn find(given: SecretKeys, database: &Database, data_dir: &Path) -> Result<SecretKeys, Problem> {
    let file = data_dir.join(FILE);
    if database.is_shared() || !given.is_empty() && !file.exists() {
        return Ok(given);
    }
    let wrong = |error: String| {
        Problem::new(SETTING, format!("{}: {error}; mend the file, or give the key as a setting", file.display()))
    };
    let kept = kept_or_made(&file).map_err(|error| wrong(error.to_string()))?;
    Ok(given.followed_by(SecretKeys::parse(&kept).map_err(wrong)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use carillon_accounts::secret::random_secret;

    use super::*;

    // covers: B8
    #[test]
    fn on_sqlite_a_key_is_made_once_and_stays_beside_one_that_is_given_later() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("not/yet/there");
        let database = Database::in_folder(&data);
        let made = find(SecretKeys::default(), &database, &data).unwrap();
        let sealed = made.seal("here", "secret").unwrap();
        assert!(find(SecretKeys::default(), &database, &data).unwrap() == made);
        let given = SecretKeys::parse(&random_secret()).unwrap();
        let both = find(given.clone(), &database, &data).unwrap();
        assert_eq!(both.open("here", &sealed).as_deref(), Some("secret"));
        assert_eq!(given.open("here", &both.seal("here", "later").unwrap()).as_deref(), Some("later"));
        fs::write(data.join(FILE), "no key").unwrap();
        let problem = find(given.clone(), &database, &data).err().unwrap().to_string();
        assert!(problem.contains("secret-key: key 1 is not 32 bytes"), "{problem}");
        let empty = tempfile::tempdir().unwrap();
        assert!(find(given.clone(), &Database::in_folder(empty.path()), empty.path()).unwrap() == given);
        let shared = Database::parse("postgres://h/d").unwrap();
        assert!(find(SecretKeys::default(), &shared, empty.path()).unwrap().is_empty());
        assert!(!empty.path().join(FILE).exists());
    }
}
