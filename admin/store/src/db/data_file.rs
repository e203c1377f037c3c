//! The files of a SQLite database: one process at a time, and for their owner alone.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Hashes of passwords and parameters of jobs are in it.
const OWNER_ONLY: u32 = 0o600;

/// Makes the folder and the file where they are missing, and takes the lock. A second process would keep a ring of its own over
/// the same runs.
pub fn lock(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        private_folder(folder).map_err(|error| cannot("make the data folder", folder, &error))?;
    }
    let lock_path = path.with_extension("lock");
    let lock = private_file(&lock_path)?;
    lock.try_lock().map_err(|_| {
        Error::Settings(format!(
            "{} is used by another Carillon process; stop that one, or give this one another --data-dir",
            path.display()
        ))
    })?;
    private_file(path)?;
    // SQLite gives those that it makes the mode of the database. These are there after a crash.
    for suffix in ["-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        let beside = PathBuf::from(beside);
        if beside.exists() {
            private_file(&beside)?;
        }
    }
    Ok(lock)
}

/// A folder that is there keeps its mode.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens the file, or makes it; what others may do with it is taken away.
fn private_file(path: &Path) -> Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(OWNER_ONLY)
        .open(path)
        .map_err(|error| cannot("open", path, &error))?;
    let mode = file.metadata().map_err(|error| cannot("look at", path, &error))?.permissions().mode();
    if mode & 0o077 != 0
        && let Err(error) = file.set_permissions(Permissions::from_mode(OWNER_ONLY))
    {
        tracing::warn!(
            file.path = %path.display(), %error,
            "others can read this file of the database, and its mode could not be changed; run chmod 600"
        );
    }
    Ok(file)
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::Settings(format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    // covers: V12.4
    #[test]
    fn new_files_and_old_ones_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("carillon.db");
        let old = folder.path().join("carillon.db-wal");
        std::fs::write(&old, "").unwrap();
        std::fs::set_permissions(&old, Permissions::from_mode(0o644)).unwrap();
        let _lock = lock(&path).unwrap();
        for file in [&path, &old, &folder.path().join("carillon.lock")] {
            assert_eq!(mode(file), 0o600, "{}", file.display());
        }
    }
}
