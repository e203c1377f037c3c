//! `carillon worker`: an executor of script jobs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use carillon_executor::{Executor, ScriptType};
use carillon_worker::{Identity, Interpreters, Limits, RunnerSettings, ScriptRunner, exec_limited};
use clap::Args;

use super::arguments::InvalidInput;
use super::logging;
use super::secret_files::given_or_in_file;
use super::serve::stop_signal;
use crate::config::LogFormat;

/// The command by which the worker starts itself for each script.
const SHIM: &str = "worker-shim";

/// This program, wherever it lies: the users of scripts need not be able to reach its folder.
const PROGRAM: &str = "/proc/self/exe";

#[derive(Args)]
pub struct WorkerArgs {
    /// Address of an admin, http://host:port; may be repeated
    #[arg(long, env = "CARILLON_WORKER_ADMIN", value_name = "URL", required = true, value_delimiter = ',')]
    admin: Vec<String>,
    /// The app whose script jobs it runs
    #[arg(long, env = "CARILLON_WORKER_APP", value_name = "APP")]
    app: String,
    /// The access token of the app or of the installation
    #[arg(long, env = "CARILLON_WORKER_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with what --token would hold
    #[arg(long, env = "CARILLON_WORKER_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<String>,
    /// Where the admin reaches it
    #[arg(long, env = "CARILLON_WORKER_LISTEN", value_name = "IP:PORT", default_value = "127.0.0.1:9997")]
    listen: String,
    /// The address that it registers, behind NAT and in containers [default: that of --listen]
    #[arg(long, env = "CARILLON_WORKER_ADVERTISE", value_name = "URL")]
    advertise: Option<String>,
    /// Folder for its journal and the logs of runs
    #[arg(long, env = "CARILLON_WORKER_DATA_DIR", value_name = "DIR", default_value = "./carillon-worker-data")]
    data_dir: PathBuf,
    /// Folder for the folders of scripts, which their users must be able to reach
    #[arg(long, env = "CARILLON_WORKER_SCRIPT_DIR", value_name = "DIR", default_value = "/tmp")]
    script_dir: PathBuf,
    /// The numbers of users that run scripts, such as 64000-64015: one script each at a time; needs root
    #[arg(long, env = "CARILLON_WORKER_RUN_AS", value_name = "UID[-UID]")]
    run_as: Option<String>,
    /// Run scripts as the user of the worker: they can read what it can read, its token too
    #[arg(long, env = "CARILLON_WORKER_SAME_USER", conflicts_with = "run_as")]
    same_user: bool,
    /// Scripts at once, with --same-user
    #[arg(long, env = "CARILLON_WORKER_SLOTS", value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    slots: u32,
    /// The program for a type, such as python=/opt/python/bin/python3; may be repeated [default: that in the folders of --path]
    #[arg(long, env = "CARILLON_WORKER_INTERPRETER", value_name = "TYPE=PATH", value_delimiter = ',')]
    interpreter: Vec<String>,
    /// The PATH of scripts, where their interpreters are looked for too
    #[arg(long, env = "CARILLON_WORKER_PATH", value_name = "PATH", default_value = "/usr/local/bin:/usr/bin:/bin")]
    path: String,
    /// CPU time of each process of a script, in seconds; 0: no limit
    #[arg(long, env = "CARILLON_WORKER_CPU_SECONDS", value_name = "N", default_value_t = 0)]
    cpu_seconds: u64,
    /// Address space of each process of a script, in MiB; 0: no limit, which node and pwsh need
    #[arg(long, env = "CARILLON_WORKER_MEMORY_MIB", value_name = "N", default_value_t = 0)]
    memory_mib: u64,
    /// Size of each file that a script writes, in MiB; 0: no limit
    #[arg(long, env = "CARILLON_WORKER_FILE_MIB", value_name = "N", default_value_t = 1_024)]
    file_mib: u64,
    /// Processes and threads of a script's user; not with --same-user
    #[arg(long, env = "CARILLON_WORKER_PROCESSES", value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(8..=100_000))]
    processes: u64,
    /// Seconds that running scripts may go on after the signal to stop
    #[arg(long, env = "CARILLON_WORKER_GRACE_SECONDS", value_name = "N", default_value_t = 30)]
    grace_seconds: u64,
    /// json or text
    #[arg(long, env = "CARILLON_WORKER_LOG_FORMAT", value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    log_format: String,
}

impl WorkerArgs {
    /// All that is wrong, at once.
    fn runner(&self) -> Result<(String, RunnerSettings), InvalidInput> {
        let mut problems = vec![];
        let mut note = |flag: &str, text: String| problems.push(format!("--{flag}: {text}"));
        let token = given_or_in_file("token-file", self.token.as_deref(), self.token_file.as_deref());
        let token = token.map_err(|problem| note("token-file", problem.message));
        if token == Ok(None) {
            note("token", "is missing; give the access token of the app, or --token-file".to_owned());
        }
        let identity = self.identity().map_err(|text| note("run-as", text));
        let interpreters = self.interpreters().map_err(|text| note("interpreter", text));
        let (Ok(Some(token)), Ok(identity), Ok(interpreters)) = (token, identity, interpreters) else {
            return Err(InvalidInput(problems.join("\n")));
        };
        let limits = Limits {
            cpu_seconds: Some(self.cpu_seconds).filter(|limit| *limit > 0),
            memory_bytes: Some(self.memory_mib << 20).filter(|limit| *limit > 0),
            file_bytes: Some(self.file_mib << 20).filter(|limit| *limit > 0),
            files: Some(1_024),
            processes: Some(self.processes).filter(|_| !self.same_user),
        };
        let (path, folder) = (self.path.clone(), self.script_dir.clone());
        let shim = [PROGRAM, SHIM].map(OsString::from).to_vec();
        Ok((token, RunnerSettings { interpreters, identity, limits, path, shim, folder }))
    }

    fn identity(&self) -> Result<Identity, String> {
        let identity = match &self.run_as {
            Some(text) => text.parse().map_err(|error: carillon_worker::WrongIdentity| error.to_string())?,
            None if self.same_user => Identity::Same(self.slots),
            None => {
                return Err("say as whom scripts run: --run-as 64000-64015 if root starts the worker, or --same-user"
                    .to_owned());
            }
        };
        identity.check().map_err(|error| error.to_string())?;
        Ok(identity)
    }

    fn interpreters(&self) -> Result<Interpreters, String> {
        let parse = |text: &String| {
            let kind = text.split_once('=').and_then(|(name, path)| {
                Some((ScriptType::ALL.into_iter().find(|kind| kind.word() == name)?, PathBuf::from(path)))
            });
            kind.ok_or_else(|| {
                format!("`{text}` is not TYPE=PATH; types are shell, python, nodejs, php and powershell")
            })
        };
        let given = self.interpreter.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let found = Interpreters::find(&self.path, &given)?;
        if found.types().next().is_none() {
            return Err("no interpreter was found in the folders of --path; name one, such as shell=/bin/sh".to_owned());
        }
        Ok(found)
    }
}

pub async fn run(args: WorkerArgs) -> anyhow::Result<()> {
    let (token, settings) = args.runner()?;
    let format = if args.log_format == "json" { LogFormat::Json } else { LogFormat::Text };
    logging::start(format, "info");
    let types: BTreeSet<&str> = settings.interpreters.types().map(ScriptType::word).collect();
    tracing::info!(
        app.name = args.app,
        "scripts of these types are run: {}",
        types.into_iter().collect::<Vec<_>>().join(", ")
    );
    let kinds: Vec<ScriptType> = settings.interpreters.types().collect();
    let runner = ScriptRunner::new(settings)
        .map_err(|error| InvalidInput(format!("--script-dir: {}: {error}", args.script_dir.display())))?;
    let folder = runner.folder().to_owned();
    let mut builder = Executor::builder()
        .app(&args.app)
        .token(token)
        .listen(&args.listen)
        .data_dir(&args.data_dir)
        .grace(Duration::from_secs(args.grace_seconds))
        .scripts(kinds, runner);
    for admin in &args.admin {
        builder = builder.admin(admin);
    }
    if let Some(address) = &args.advertise {
        builder = builder.advertise(address);
    }
    let executor = builder.build().map_err(|error| {
        let _ = std::fs::remove_dir_all(&folder);
        InvalidInput(error.to_string())
    })?;
    tracing::info!(executor.address = executor.handle().address(), "the worker takes runs");
    let ended = executor.run(stop_signal()?.cancelled_owned()).await;
    // Scripts that did not end within the grace have been killed.
    let _ = std::fs::remove_dir_all(folder);
    Ok(ended?)
}

/// If the worker has started this process for a script: becomes its interpreter. Before the command line is read, while there is one
/// thread.
pub fn shim() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (SHIM, rest) = (arguments.first()?.to_str()?, &arguments[1..]) else { return None };
    let Err(error) = exec_limited(rest);
    eprintln!("the script was not started: {error}");
    // As a shell says it.
    Some(ExitCode::from(126))
}
