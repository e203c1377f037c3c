//! A disk in memory, small enough to be filled: the database's data lie on it when a fault fills it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Half an hour of runs, indexes and logs take about half of it.
const SIZE: &str = "size=2500m,mode=711";
const CHUNK: usize = 1 << 20;

pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Root alone may mount.
    pub fn mount(path: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir(&path)?;
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "carillon-chaos"]).arg(&path).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "a small disk: {}", said.trim());
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Not a byte is left. Answers how many MiB that took.
    pub fn fill(&self) -> anyhow::Result<usize> {
        let mut ballast = File::create(self.ballast()).context("the ballast")?;
        let chunk = vec![0; CHUNK];
        for written in 0.. {
            if ballast.write_all(&chunk).is_err() {
                return Ok(written);
            }
        }
        Ok(0)
    }

    pub fn free(&self) {
        let _ = std::fs::remove_file(self.ballast());
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Unmounted at once, even if a process still has a file open on it.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
