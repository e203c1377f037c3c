//! The processes of a script: with a user of its own, all processes of that user; otherwise, all processes of its session.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// By what the processes of a run are found.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTree {
    /// The first process; it leads a group and a session.
    pub leader: Pid,
    /// The user that nothing else runs as; `None`: only the session tells them, and a process that has left it goes on.
    pub user: Option<u32>,
}

/// After this time a tree that makes processes faster than they end is left to its limits.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at the processes: a killed one takes a moment to end.
const PAUSE: Duration = Duration::from_millis(2);

impl ProcessTree {
    /// All processes of a user that has no script now; the leader stands for none of them.
    pub fn of_user(user: u32) -> Self {
        Self { leader: getpid(), user: Some(user) }
    }

    /// Asks the group to end.
    pub fn terminate(self) {
        let _ = kill_process_group(self.leader, Signal::TERM);
    }

    /// Ends the group at once, without the processes that have left it.
    pub fn kill_group(self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Ends all of them; blocks until they have ended, at most ten seconds. Answers whether they have.
    pub fn kill(self) -> bool {
        let started = Instant::now();
        loop {
            let found = self.processes();
            if found.is_empty() {
                return true;
            }
            if started.elapsed() > PATIENCE {
                tracing::warn!(
                    process.id = self.leader.as_raw_pid(),
                    "the script makes processes faster than they end"
                );
                return false;
            }
            found.into_iter().for_each(|process| _ = kill_process(process, Signal::KILL));
            thread::sleep(PAUSE);
        }
    }

    /// Those that have not ended.
    fn processes(self) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else { return vec![] };
        let ids = entries.flatten().filter_map(|entry| {
            let id = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let is_own = match self.user {
                Some(user) => entry.metadata().ok()?.uid() == user,
                None => true,
            };
            is_own.then_some(id)
        });
        ids.filter(|id| self.is_alive_member(*id)).collect()
    }

    /// `/proc/ID/stat`: id, (name), state, parent, group, session. The name may hold brackets.
    fn is_alive_member(self, id: Pid) -> bool {
        let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_pid())) else { return false };
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let is_alive = !matches!(fields.first(), None | Some(&("Z" | "X")));
        let session = fields.get(3).and_then(|text| text.parse::<i32>().ok());
        is_alive && (self.user.is_some() || session == Some(self.leader.as_raw_pid()))
    }
}
