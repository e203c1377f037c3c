//! One run of a script, from its folder to its result.

use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use carillon_executor::{JobContext, JobError, JobHandler, Outcome, Script};
use rustix::process::{Pid, getpid};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::interpreter::{Interpreters, suffix};
use crate::output::{LastLine, copy};
use crate::process_tree::ProcessTree;
use crate::shim::Limits;
use crate::slots::{Identity, Slot, Slots};

/// How a worker runs scripts.
#[derive(Clone, Debug)]
pub struct RunnerSettings {
    /// The programs of the types.
    pub interpreters: Interpreters,
    /// As whom, and how many at once.
    pub identity: Identity,
    /// What each may use.
    pub limits: Limits,
    /// The PATH of scripts.
    pub path: String,
    /// This program and its arguments up to those of [`exec_limited`](crate::exec_limited).
    pub shim: Vec<OsString>,
    /// Where the folders of runs are made; users of scripts must be able to pass through it.
    pub folder: PathBuf,
}

/// The handler of script runs.
pub struct ScriptRunner {
    settings: RunnerSettings,
    slots: Slots,
    /// All folders of runs.
    root: PathBuf,
}

/// How long a script has after SIGTERM. The executor gives a handler 5 s in all.
const TERM_GRACE: Duration = Duration::from_secs(4);
/// How long the streams of a script are read after everything that could write has ended.
const DRAIN: Duration = Duration::from_secs(2);

impl ScriptRunner {
    /// # Errors
    /// The folder cannot be made.
    pub fn new(settings: RunnerSettings) -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("carillon-worker-").tempdir_in(&settings.folder)?;
        fs::set_permissions(root.path(), Permissions::from_mode(0o711))?;
        // The executor's threads may outlive its end, so that the folder would stay.
        Ok(Self { slots: Slots::new(settings.identity), settings, root: root.keep() })
    }

    /// The folder that all folders of runs are in; to be removed when the executor has ended.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    async fn run_script(&self, ctx: &JobContext, script: Script<'_>) -> Result<Outcome, JobError> {
        let interpreter = self.settings.interpreters.of(script.kind);
        let interpreter =
            interpreter.ok_or_else(|| JobError::new(format!("no interpreter for {}", script.kind.word())))?;
        let slot = cleared(self.slots.take().await).await?;
        if ctx.is_cancelled() {
            return Err(JobError::new("the script was not started"));
        }
        let folder = RunFolder::make(&self.root, ctx.run_id(), slot.user)?;
        let file = folder.write(script)?;
        let command = self.command(ctx, interpreter, &file, &folder.path, &slot);
        let mut started = Started::new(command, Place { folder, slot })?;
        let last = [LastLine::default(), LastLine::default()];
        let readers = started.read(ctx, &last);
        let status = started.wait(ctx).await?;
        // Whatever the script has left behind ends with it; then nothing can write any more.
        started.end().await;
        let _ = tokio::time::timeout(DRAIN, async {
            for reader in readers {
                let _ = reader.await;
            }
        })
        .await;
        let [out, err] = last.map(|line| line.get());
        result(status, out, err)
    }

    /// The shim, as the user of the slot, with nothing of the worker's environment.
    fn command(&self, ctx: &JobContext, interpreter: &Path, file: &Path, folder: &Path, slot: &Slot) -> Command {
        let RunnerSettings { shim, limits, path, .. } = &self.settings;
        let mut command = Command::new(&shim[0]);
        command
            .args(&shim[1..])
            .arg(getpid().as_raw_pid().to_string())
            .args(limits.arguments())
            .args([interpreter, file])
            .args([ctx.params(), &ctx.broadcast_index().to_string(), &ctx.broadcast_total().to_string()])
            .current_dir(folder)
            .env_clear()
            .envs([("PATH", path.as_str()), ("LANG", "C.UTF-8"), ("TZ", "UTC")])
            .env("HOME", folder)
            .env("CARILLON_RUN_ID", ctx.run_id().to_string())
            .env("CARILLON_JOB_ID", ctx.job_id().to_string())
            .env("CARILLON_ATTEMPT", ctx.attempt().to_string())
            .env("CARILLON_SHARD", ctx.broadcast_index().to_string())
            .env("CARILLON_TOTAL", ctx.broadcast_total().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = slot.user {
            // Without further groups: the standard library drops them with the user.
            command.uid(user).gid(user);
        }
        command
    }
}

/// The slot, once its user has no processes: a worker that was killed may have left some, and these could read what the script has.
async fn cleared(slot: Slot) -> Result<Slot, JobError> {
    let Some(user) = slot.user else { return Ok(slot) };
    let slot = tokio::task::spawn_blocking(move || match ProcessTree::of_user(user).kill() {
        true => Some(slot),
        false => {
            slot.retire();
            None
        }
    });
    slot.await.ok().flatten().ok_or_else(|| JobError::new(format!("processes of the user {user} do not end")))
}

impl JobHandler for ScriptRunner {
    async fn run(&self, ctx: JobContext) -> Result<Outcome, JobError> {
        match ctx.script() {
            Some(script) => self.run_script(&ctx, script).await,
            None => Err(JobError::new("this executor runs scripts alone")),
        }
    }
}

/// The last line of the standard output is the result of a success; of a failure, that of the standard error.
fn result(status: ExitStatus, out: String, err: String) -> Result<Outcome, JobError> {
    let told = if err.is_empty() { &out } else { &err };
    let told = if told.is_empty() { String::new() } else { format!(": {told}") };
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Some(out).filter(|line| !line.is_empty()).into()),
        // xxl-job's words.
        (Some(code), _) => Err(JobError::new(format!("script exit value({code}) is failed{told}"))),
        (None, signal) => {
            Err(JobError::new(format!("the script was ended by signal {}{told}", signal.unwrap_or_default())))
        }
    }
}

/// The home and working folder of one run, which belongs to its user; removed with all that is in it.
struct RunFolder {
    path: PathBuf,
    user: Option<u32>,
}

impl RunFolder {
    fn make(root: &Path, run_id: i64, user: Option<u32>) -> io::Result<Self> {
        let folder = Self { path: root.join(run_id.to_string()), user };
        fs::create_dir(&folder.path)?;
        fs::set_permissions(&folder.path, Permissions::from_mode(0o700))?;
        chown(&folder.path, user, user)?;
        Ok(folder)
    }

    fn write(&self, script: Script<'_>) -> io::Result<PathBuf> {
        let path = self.path.join(format!("script.{}", suffix(script.kind)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path)?;
        file.write_all(script.source.as_bytes())?;
        chown(&path, self.user, self.user)?;
        Ok(path)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(file.path = %self.path.display(), error.message = %error, "the folder of a run cannot be removed");
        }
    }
}

/// What a run has for itself. The folder is removed before the place is free for another run.
struct Place {
    folder: RunFolder,
    slot: Slot,
}

impl Place {
    /// Ends what runs there, and leaves it.
    fn leave(self, tree: ProcessTree) {
        let Self { folder, slot } = self;
        let has_ended = tree.kill();
        drop(folder);
        if !has_ended {
            slot.retire();
        }
    }
}

/// A script that runs. All of its processes end with this value, also where the executor drops the run.
struct Started {
    child: Child,
    tree: ProcessTree,
    /// None: it was left.
    place: Option<Place>,
}

impl Started {
    fn new(mut command: Command, place: Place) -> io::Result<Self> {
        let child = command.spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leader = id.ok_or_else(|| io::Error::other("the script has ended before it was seen"))?;
        let tree = ProcessTree { leader, user: place.slot.user };
        Ok(Self { child, tree, place: Some(place) })
    }

    fn read(&mut self, ctx: &JobContext, last: &[LastLine; 2]) -> Vec<JoinHandle<()>> {
        let out = self.child.stdout.take().map(|stream| tokio::spawn(copy(stream, ctx.clone(), last[0].clone())));
        let err = self.child.stderr.take().map(|stream| tokio::spawn(copy(stream, ctx.clone(), last[1].clone())));
        out.into_iter().chain(err).collect()
    }

    /// Waits for the end; asks the script to end when the run is cancelled, and ends it when it does not.
    async fn wait(&mut self, ctx: &JobContext) -> io::Result<ExitStatus> {
        tokio::select! {
            status = self.child.wait() => return status,
            () = ctx.cancelled() => self.tree.terminate(),
        }
        match tokio::time::timeout(TERM_GRACE, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                self.tree.kill_group();
                self.child.wait().await
            }
        }
    }

    /// Ends all processes of the script, and waits until they have ended.
    async fn end(mut self) {
        if let Some(leaving) = self.leave() {
            let _ = leaving.await;
        }
    }

    /// Off the threads that the runs of others need.
    fn leave(&mut self) -> Option<JoinHandle<()>> {
        let (place, tree) = (self.place.take()?, self.tree);
        Some(tokio::task::spawn_blocking(move || place.leave(tree)))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.leave();
    }
}
