//! The journal's id: random, in a file beside the journal's files.
//!
//! An admin repeats a run only to the journal that it sent the run to. A folder that was lost or emptied must therefore
//! never announce an id that it had before: an id without journal files is replaced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

const NAME: &str = "id";
const DIGITS: usize = 32;

/// Reads the id, or creates one; `has_files`: the folder holds files of the journal.
pub(super) fn read_or_create(folder: &Path, has_files: bool) -> io::Result<String> {
    if has_files && let Some(id) = read(folder)? {
        return Ok(id);
    }
    let id = format!("{:032x}", rand::random::<u128>());
    // Written to a temporary file and renamed, so that a crash leaves no half of an id; synced before it is announced,
    // so that a loss of power cannot take it back.
    let temporary = folder.join("id.new");
    let mut file = File::create(&temporary)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, folder.join(NAME))?;
    File::open(folder)?.sync_all()?;
    Ok(id)
}

/// `None` if there is no file, or it does not hold an id.
fn read(folder: &Path) -> io::Result<Option<String>> {
    match fs::read(folder.join(NAME)) {
        Ok(bytes) => {
            let is_id = bytes.len() == DIGITS && bytes.iter().all(u8::is_ascii_hexdigit);
            Ok(String::from_utf8(bytes).ok().filter(|_| is_id))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_lasts_as_long_as_the_journal_files() {
        let folder = tempfile::tempdir().unwrap();
        let first = read_or_create(folder.path(), false).unwrap();
        assert_eq!(read_or_create(folder.path(), true).unwrap(), first);
        let emptied = read_or_create(folder.path(), false).unwrap();
        assert_ne!(emptied, first, "its files were deleted");
        fs::write(folder.path().join(NAME), "half").unwrap();
        assert_ne!(read_or_create(folder.path(), true).unwrap(), "half");
    }
}
