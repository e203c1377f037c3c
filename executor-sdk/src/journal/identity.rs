//! Which journal this is: a random id beside its files.
//!
//! An admin sends a run again only to the journal that it was sent to. A folder that was lost, or emptied, must therefore
//! never answer with an id that it had before: an id without journal files is replaced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

const NAME: &str = "id";
const DIGITS: usize = 32;

/// Reads the id, or makes one; `has_files`: the folder holds files of the journal.
pub(super) fn of(folder: &Path, has_files: bool) -> io::Result<String> {
    if has_files && let Some(id) = read(folder)? {
        return Ok(id);
    }
    let id = format!("{:032x}", rand::random::<u128>());
    // Written beside it and renamed, so that a crash leaves no half of an id; synced, so that none is announced that a
    // loss of power could take back.
    let beside = folder.join("id.new");
    let mut file = File::create(&beside)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, folder.join(NAME))?;
    File::open(folder)?.sync_all()?;
    Ok(id)
}

/// None: there is none, or something else stands in the file.
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
    fn an_id_stays_as_long_as_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let first = of(folder.path(), false).unwrap();
        assert_eq!(of(folder.path(), true).unwrap(), first);
        let emptied = of(folder.path(), false).unwrap();
        assert_ne!(emptied, first, "its files were deleted");
        fs::write(folder.path().join(NAME), "half").unwrap();
        assert_ne!(of(folder.path(), true).unwrap(), "half");
    }
}
