//! A share of a core for a process: a control group, of version 2 or 1.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// In microseconds. Shorter than the usual 100 ms: a node that waits for its next period is late by as much.
const PERIOD: u64 = 20_000;

/// Removed with this value, when its processes have gone.
pub struct CpuLimit {
    group: PathBuf,
}

impl CpuLimit {
    /// # Errors
    /// Why there can be none on this machine.
    pub fn new(number: usize, cores: f64) -> Result<Self, String> {
        let quota = (cores * PERIOD as f64) as u64;
        if quota < 1000 {
            return Err("use 0.05 of a core or more".to_owned());
        }
        let is_version_2 = Path::new(ROOT).join("cgroup.controllers").exists();
        let root = if is_version_2 { PathBuf::from(ROOT) } else { Path::new(ROOT).join("cpu") };
        let group = root.join(format!("carillon-bench-{}-{number}", std::process::id()));
        fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
        let limit = Self { group };
        match is_version_2 {
            true => limit.write("cpu.max", &format!("{quota} {PERIOD}"))?,
            false => {
                limit.write("cpu.cfs_period_us", &PERIOD.to_string())?;
                limit.write("cpu.cfs_quota_us", &quota.to_string())?;
            }
        }
        Ok(limit)
    }

    /// With all its threads.
    pub fn add(&self, process: u32) {
        self.write("cgroup.procs", &process.to_string()).unwrap();
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let file = self.group.join(file);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.group) {
            eprintln!("{}: {error}", self.group.display());
        }
    }
}
