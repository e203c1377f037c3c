//! The data folder: one executor at a time uses it.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;

use crate::error::Error;

/// The data folder, locked for this executor until it is dropped.
pub(crate) struct DataDir {
    folder: PathBuf,
    lock: File,
}

impl DataDir {
    /// Creates the folder, which only its owner may read (it holds parameters and results), and locks it.
    pub(crate) fn lock(folder: PathBuf) -> Result<Self, Error> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|source| Error::data(&folder, source))?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(|source| Error::data(&path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, lock }),
            Err(TryLockError::WouldBlock) => Err(Error::DataInUse(folder)),
            Err(TryLockError::Error(source)) => Err(Error::data(path, source)),
        }
    }

    /// The path of a file or folder in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that was just forked may still hold the descriptor.
        let _ = self.lock.unlock();
    }
}
