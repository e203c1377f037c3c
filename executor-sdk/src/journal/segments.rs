//! The journal's files: `<data>/journal/<number>.log`, written in turn and deleted from the oldest on.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::identity;
use super::past::Past;
use super::record::Record;
use super::{Durability, Recovered};
use crate::Error;
use crate::ledger::MEMORY;

/// When files are begun and deleted.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// A new file is begun after so many bytes.
    bytes: u64,
    /// Files stay so long after their last line.
    memory: Duration,
    /// More files than this are not kept, however young.
    files: usize,
}

/// 64 files of 4 MiB hold about a million runs.
pub(super) const LIMITS: Limits = Limits { bytes: 4 << 20, memory: MEMORY, files: 64 };
/// A write that takes longer is reported: the admin gives up waiting for an answer after 3 s.
const SLOW_WRITE: Duration = Duration::from_secs(1);

pub(super) struct Segments {
    folder: PathBuf,
    durability: Durability,
    limits: Limits,
    file: File,
    number: u64,
    length: u64,
    /// Earlier files, oldest first, with the moment of their last line.
    closed: VecDeque<(u64, Instant)>,
    /// Runs whose results no admin has.
    open: HashSet<i64>,
}

impl Segments {
    /// Reads the earlier files and begins a new one with what still matters of them, so that any number of restarts
    /// leaves one file. A crash in between leaves both, which reads the same.
    pub(super) fn open(folder: &Path, durability: Durability, limits: Limits) -> Result<(Self, Recovered), Error> {
        let fail = |source| Error::data(folder, source);
        fs::create_dir_all(folder).map_err(fail)?;
        let numbers = numbers(folder).map_err(fail)?;
        let journal_id = identity::of(folder, !numbers.is_empty()).map_err(fail)?;
        let mut past = Past::default();
        for &number in &numbers {
            past.read(&path(folder, number)).map_err(fail)?;
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let mut segments = Self {
            folder: folder.to_owned(),
            durability,
            limits,
            file: create(folder, number).map_err(fail)?,
            number,
            length: 0,
            closed: VecDeque::new(),
            open: HashSet::new(),
        };
        let (mut recovered, lines) = past.close();
        recovered.journal_id = journal_id;
        let open = recovered.unreported.iter().map(|item| item.log_id);
        segments.open.extend(open);
        segments.append(&lines, true).map_err(fail)?;
        for old in numbers {
            fs::remove_file(path(folder, old)).map_err(fail)?;
        }
        Ok((segments, recovered))
    }

    pub(super) fn opened(&mut self, log_id: i64) {
        self.open.insert(log_id);
    }

    pub(super) fn settled(&mut self, ids: impl Iterator<Item = i64>) {
        for id in ids {
            self.open.remove(&id);
        }
    }

    /// Writes whole lines; after an error the file ends as before.
    pub(super) fn append(&mut self, lines: &str, sync: bool) -> io::Result<()> {
        let begun = Instant::now();
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| {
            if sync && self.durability == Durability::Machine {
                self.file.sync_data()?;
            }
            Ok(())
        });
        match written {
            Ok(()) => self.length += lines.len() as u64,
            Err(_) => self.file.set_len(self.length)?,
        }
        if begun.elapsed() > SLOW_WRITE {
            tracing::warn!(took = ?begun.elapsed(), "the disk is slow: runs wait for the journal");
        }
        written
    }

    /// Begins a new file when this one is long, and drops old ones. A failure is tried again after the next write.
    pub(super) fn rotate(&mut self) {
        if self.length < self.limits.bytes {
            return;
        }
        if let Err(error) = self.begin_next().and_then(|()| self.drop_old()) {
            tracing::warn!(%error, "the executor's journal keeps an old file");
        }
    }

    fn begin_next(&mut self) -> io::Result<()> {
        self.file = create(&self.folder, self.number + 1)?;
        self.closed.push_back((self.number, Instant::now()));
        self.number += 1;
        self.length = 0;
        Ok(())
    }

    /// Deletes files that are older than the executor's memory; lines of runs still open are carried forward.
    fn drop_old(&mut self) -> io::Result<()> {
        while let Some(&(number, at)) = self.closed.front() {
            if at.elapsed() < self.limits.memory && self.closed.len() < self.limits.files {
                break;
            }
            let old = path(&self.folder, number);
            let lines = self.still_open(&fs::read_to_string(&old)?);
            self.append(&lines, true)?;
            fs::remove_file(&old)?;
            self.closed.pop_front();
        }
        Ok(())
    }

    fn still_open(&self, text: &str) -> String {
        let mut lines = String::new();
        for record in text.lines().filter_map(Record::parse) {
            if record.log_id().is_some_and(|id| self.open.contains(&id)) {
                record.write(&mut lines);
            }
        }
        lines
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.log"))
}

/// The numbers of the files that are there, ascending.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        numbers.extend(number.and_then(|digits| digits.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A new file, whose name is safe in the folder before anything is written to it.
fn create(folder: &Path, number: u64) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create_new(true).open(path(folder, number))?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Limits = Limits { bytes: 100, memory: Duration::ZERO, files: 64 };

    fn open(folder: &Path) -> (Segments, Recovered) {
        Segments::open(folder, Durability::Process, TINY).unwrap()
    }

    fn unreported(folder: &Path) -> Vec<(i64, i32)> {
        let recovered = open(folder).1;
        let items = recovered.unreported.iter();
        items.map(|item| (item.log_id, item.code)).collect()
    }

    #[test]
    fn old_files_go_and_what_is_open_is_carried_on() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        segments.opened(1);
        segments.append("A 1 5 1 -\n", true).unwrap();
        segments.opened(2);
        segments.append("A 2 5 1 -\nR 2 200 \"kept\"\n", true).unwrap();
        for id in 3..1000 {
            segments.opened(id);
            let lines = format!("A {id} 5 1 -\nR {id} 200 null\nK {id}\n");
            segments.settled(std::iter::once(id));
            segments.append(&lines, true).unwrap();
            segments.rotate();
        }
        let files = numbers(folder.path()).unwrap();
        assert!(files.len() <= 2 && files[0] > 50, "{files:?}");
        assert_eq!(unreported(folder.path()), [(1, 500), (2, 200)]);
        let read_again = open(folder.path()).1;
        assert_eq!(read_again.unreported[1].message.as_deref(), Some("kept"));
        assert_eq!(read_again.unreported[1].log_date_time, 5);
    }

    #[test]
    fn a_result_that_overtook_its_run_and_a_second_one_are_understood() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        let lines = "R 1 500 \"killed\"\nA 1 5 2 9:0:1:0\nR 1 200 null\nA 2 5 1 -\nK 2 3\n";
        segments.append(lines, true).unwrap();
        assert_eq!(unreported(folder.path()), [(1, 500)]);
        assert_eq!(open(folder.path()).1.attempts, [(1, "9:0:1:0".to_owned(), 2)]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        segments.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        for _ in 0..2 {
            assert!(segments.append("A 1 5 1 -\n", true).is_err());
        }
        assert_eq!(segments.length, 0);
    }
}
