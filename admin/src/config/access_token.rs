//! The token that executors and this server show each other: given, or on SQLite made once and kept in a file.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use carillon_accounts::secret::random_secret;

use crate::config::database::Database;
use crate::config::problem::Problem;

const SETTING: &str = "access-token";
const FILE: &str = "access-token";

/// The access token in use, and where it is kept when it was not given.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The token itself.
    pub token: String,
    /// Its file in the data folder; `None` when it was given as a setting.
    pub file: Option<PathBuf>,
}

impl AccessToken {
    /// Takes the given token; without one, on SQLite, the one kept in `data_dir`, which is made at the first start.
    ///
    /// A given token is taken as it is, an empty one too: [`Config::validate`](crate::config::Config::validate) refuses that.
    ///
    /// # Errors
    ///
    /// No token given for a database that several nodes share: each of them would make its own. Or a file that cannot
    /// be read or written, or that others may read.
    pub fn find(given: Option<String>, database: &Database, data_dir: &Path) -> Result<Self, Problem> {
        if let Some(token) = given {
            return Ok(Self { token, file: None });
        }
        if database.is_shared() {
            return Err(Problem::new(
                SETTING,
                format!(
                    "it is required with {}, the same on every node; write at least 16 printable ASCII characters, such as \
                     the output of `openssl rand -hex 24`",
                    database.product()
                ),
            ));
        }
        let file = data_dir.join(FILE);
        let token = kept_or_made(&file).map_err(|error| {
            Problem::new(SETTING, format!("{}: {error}; mend the file, or give the token as a setting", file.display()))
        })?;
        Ok(Self { token, file: Some(file) })
    }
}

/// A secret in a file that its owner alone may read; made if there is none.
pub(super) fn kept_or_made(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => {
            let mode = fs::metadata(file)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(io::Error::other(format!("others may read it (mode {mode:03o}); run `chmod 600` on it")));
            }
            let token = text.trim();
            if token.is_empty() {
                return Err(io::Error::other("it is empty; remove it and a new one is made"));
            }
            Ok(token.to_owned())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(file),
        Err(error) => Err(error),
    }
}

/// Written under another name first: a crash in the middle must not leave an empty token behind.
fn make(file: &Path) -> io::Result<String> {
    if let Some(folder) = file.parent() {
        // The folder is for this node alone. A folder that exists keeps its mode.
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let token = random_secret();
    let unfinished = file.with_extension("new");
    let _ = fs::remove_file(&unfinished);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    writeln!(out, "{token}")?;
    out.sync_all()?;
    fs::rename(&unfinished, file)?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(given: Option<&str>, folder: &Path) -> Result<AccessToken, Problem> {
        AccessToken::find(given.map(ToOwned::to_owned), &Database::in_folder(folder), folder)
    }

    #[test]
    fn a_secret_can_be_the_value_of_an_option() {
        assert!((0..2000).all(|_| !random_secret().starts_with('-')));
    }

    #[test]
    fn on_sqlite_it_is_made_once_and_only_the_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("not/yet/there");
        let first = find(None, &data).unwrap();
        let file = first.file.clone().unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(first.token.len() >= 32);
        assert!(find(None, &data).unwrap() == first, "the second start finds the same");
        let given = random_secret();
        let used = find(Some(&given), &data).unwrap();
        assert!(used.token == given && used.file.is_none(), "a given token goes before the kept one");
    }

    #[test]
    fn a_file_that_others_may_read_or_an_empty_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = find(None, folder.path()).unwrap().file.unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let problem = find(None, folder.path()).err().unwrap().to_string();
        assert!(problem.contains("others may read it (mode 644)"), "{problem}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file, "\n").unwrap();
        let problem = find(None, folder.path()).err().unwrap().to_string();
        assert!(problem.contains("it is empty"), "{problem}");
    }

    #[test]
    fn a_shared_database_needs_a_given_token() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::parse("postgres://h/d").unwrap();
        let problem = AccessToken::find(None, &database, folder.path()).err().unwrap().to_string();
        assert!(
            problem.starts_with("--access-token (CARILLON_ACCESS_TOKEN): it is required with PostgreSQL"),
            "{problem}"
        );
        assert!(!folder.path().join(FILE).exists());
    }
}
