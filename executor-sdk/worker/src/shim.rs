//! What happens between the worker and the interpreter: the worker starts this program again as the user of the run, and that process
//! limits itself and becomes the interpreter. It has one thread, and nothing of the worker but its arguments.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, Signal, getppid, setrlimit, setsid, umask};

/// What a script may use. Numbers of processes count for its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Seconds of CPU time of each process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of address space of each process.
    pub memory_bytes: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_bytes: Option<u64>,
    /// Files that each process has open.
    pub files: Option<u64>,
    /// Processes and threads of the user.
    pub processes: Option<u64>,
}

impl Limits {
    /// As arguments of the shim, which [`exec_limited`] takes.
    pub(crate) fn arguments(self) -> [String; 5] {
        [self.cpu_seconds, self.memory_bytes, self.file_bytes, self.files, self.processes]
            .map(|limit| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string()))
    }

    fn set(texts: &[OsString]) -> io::Result<()> {
        let resources = [Resource::Cpu, Resource::As, Resource::Fsize, Resource::Nofile, Resource::Nproc];
        for (resource, text) in resources.into_iter().zip(texts) {
            let limit = text.to_str().filter(|text| *text != "-").and_then(|text| text.parse().ok());
            if limit.is_some() {
                setrlimit(resource, Rlimit { current: limit, maximum: limit })?;
            }
        }
        // No copy of a script's memory is left on the disk.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        Ok(())
    }
}

/// Limits this process and becomes the interpreter. `arguments`: the id of the worker's process, five limits, the interpreter and its
/// arguments.
///
/// # Errors
/// A limit cannot be set, or the interpreter cannot be started.
pub fn exec_limited(arguments: &[OsString]) -> io::Result<std::convert::Infallible> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "the worker starts this command, not a person");
    let [worker, limits @ ..] = arguments else { return Err(wrong()) };
    let Some((limits, [interpreter, rest @ ..])) = limits.split_at_checked(5) else { return Err(wrong()) };
    let worker: i32 = worker.to_str().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
    // The group and session by which everything that the script starts is found.
    setsid()?;
    umask(Mode::from_raw_mode(0o077));
    Limits::set(limits)?;
    forbid_new_rights()?;
    end_with_worker(worker)?;
    Err(Command::new(interpreter).args(rest).exec())
}

/// No program that it starts gets other rights: neither sudo, nor a file with the set-user-id bit.
#[cfg(target_os = "linux")]
fn forbid_new_rights() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}

#[cfg(not(target_os = "linux"))]
fn forbid_new_rights() -> io::Result<()> {
    Ok(())
}

/// The kernel ends this process when the worker's thread ends that has started it. The thread may have ended already.
#[cfg(target_os = "linux")]
fn end_with_worker(worker: i32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match getppid().map(rustix::process::Pid::as_raw_pid) {
        Some(parent) if parent == worker => Ok(()),
        _ => Err(io::Error::other("the worker has ended")),
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_worker(_: i32) -> io::Result<()> {
    Ok(())
}
