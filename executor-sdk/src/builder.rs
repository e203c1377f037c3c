//! The builder of an executor.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::DeclarePolicy;

use crate::declared::{JobName, Named, RegisteredJob, Workflow};
use crate::error::Error;
use crate::executor::Executor;
use crate::handler::{BoxedHandler, JobHandler};
use crate::journal::Durability;
use crate::map::{MapJob, MapReduceJob, RegisteredMapJob};
use crate::script::ScriptType;
use crate::settings::Settings;

/// Collects the settings of an executor; [`build`](Self::build) refuses wrong ones by name.
pub struct ExecutorBuilder {
    settings: Settings,
}

impl Executor {
    /// Starts with the default settings.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder { settings: Settings::default() }
    }
}

/// Methods that set one setting: `name(arguments) => setting = value`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => $($setting:ident).+ = $value:expr;)+) => {
        impl ExecutorBuilder {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $($argument: $type),*) -> Self {
                self.settings.$($setting).+ = $value;
                self
            }
        )+}
    };
}

setters! {
    /// Name of the app whose jobs this executor runs, up to 64 characters. Needed.
    app(name: impl Into<String>) => app = name.into();

    /// The access token, the same as the admin's. Needed: without one, any client that reaches the port could run jobs.
    token(token: impl Into<String>) => token = token.into();

    /// A second access token that is valid as well, for the time in which a token is replaced by another: admins may present
    /// either, and an admin that refuses `token` gets this one. Start the executors with the new token and the old one as the
    /// second, then revoke the old one. Default: none.
    second_token(token: impl Into<String>) => second_token = Some(token.into());

    /// For networks without TLS: sign requests to admins, and take signed ones only. No access token crosses the network, and a
    /// request that was recorded or changed there is refused. Needs a Carillon admin, and clocks that differ by less than a
    /// minute. With [`tls`](Self::tls) the admin's requests carry the token. Default: all requests do, as xxl-job's.
    signed() => is_signed = true;

    /// Where to listen for requests of the admin, `ip:port`; port 0 takes a free one. Default: `127.0.0.1:0`, which only
    /// an admin on the same machine reaches.
    listen(address: impl Into<String>) => listen = address.into();

    /// The address that the admin calls. Default: made from the bound one, `http://ip:port/`; for `0.0.0.0` with the
    /// address of the network interface that leads to the first admin. Set it behind NAT, in containers and behind
    /// proxies.
    advertise(address: impl Into<String>) => advertise = Some(address.into());

    /// Folder for the journal and the logs of runs; one executor at a time uses it. Default:
    /// `./carillon-executor-data/<app>`.
    data_dir(folder: impl Into<PathBuf>) => data_dir = Some(folder.into());

    /// How long running jobs may continue after the signal to stop; zero cancels them at once. Default 30 s.
    grace(grace: Duration) => grace = grace;

    /// Threads of the HTTP server, 1 … 64; jobs do not run on them. Default 1, enough for thousands of runs a second.
    workers(threads: usize) => workers = threads;

    /// Connections at once, 8 … 65536; each needs a file descriptor of the process. A source that has not shown the token gets
    /// half of them. Default 256, enough for several admins with up to 32 requests at once.
    max_connections(connections: usize) => max_connections = connections;

    /// Speak TLS, with the certificate (and those between it and its authority) and the private key in these PEM files, which
    /// are read again when they change. The certificate must be for the host of the advertised address, which then begins
    /// with `https://`. Default: plain HTTP.
    tls(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) => certificates.server = Some((cert.into(), key.into()));

    /// Take requests only from clients that show a certificate of the authority in this PEM file: the admin's
    /// `--executor-client-cert`. Needs [`tls`](Self::tls). Default: none is asked for.
    client_ca(authority: impl Into<PathBuf>) => certificates.client_ca = Some(authority.into());

    /// PEM file with the authority of the admins' certificates, for `https://` admins. Default: those that this machine
    /// trusts.
    admin_ca(authority: impl Into<PathBuf>) => certificates.admin_ca = Some(authority.into());

    /// What is shown to admins that ask for a certificate (`--executor-tls-client-ca`): PEM files with the certificate and
    /// its private key. Default: nothing.
    client_certificate(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) =>
        certificates.client = Some((cert.into(), key.into()));

    /// Days after which the logs of runs are deleted, any number; 0 keeps them. Default 30.
    log_days(days: u64) => log_days = days;

    /// MiB that the logs of all runs may take, any number; 0: no limit. Near the limit the oldest are deleted. Default 10,240.
    log_megabytes(megabytes: u64) => log_megabytes = megabytes;

    /// What an accepted run survives. Default: a crash of the machine.
    durability(durability: Durability) => durability = durability;

    /// This executor's share of jobs that are spread by weight, 1 to 100: one with 3 gets three times as many runs as one
    /// with 1. An operator's setting in the admin overrides it. Default: not announced, which counts as 1.
    weight(weight: u32) => announcement.weight = Some(weight);

    /// What becomes of differences between the declared jobs and the admin, as far as the app's setting in the admin allows it. Default:
    /// what was changed in the admin stays ([`DeclarePolicy::Adopt`]).
    declare_policy(policy: DeclarePolicy) => declared.policy = policy;

    /// The name of this build, which the admin shows beside declared jobs. Default: name and version of the packages that declare them.
    version(version: impl Into<String>) => declared.version = Some(version.into());
}

impl ExecutorBuilder {
    /// Base address of an admin, with its context path if it has one: `http://host:8080` or
    /// `http://host:8080/xxl-job-admin`. Call it once for each admin; the first that accepts is enough. At least one.
    #[must_use]
    pub fn admin(mut self, address: impl Into<String>) -> Self {
        self.settings.admins.push(address.into());
        self
    }

    /// A property of this executor, such as `zone` = `eu-1`; jobs may require executors with certain labels.
    /// Key and value have 1 to 63 letters, digits, `-`, `_`, `.` and `/`; at most 16 labels, each key once. An
    /// operator's setting in the admin overrides them.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.announcement.labels.push((key.into(), value.into()));
        self
    }

    /// A handler and the name that jobs use for it, or the [`Declaration`](crate::Declaration) of its job; each name once. At least one job:
    /// here, by the attribute [`job`](macro@crate::job), [`map`](Self::map), [`map_reduce`](Self::map_reduce) or [`scripts`](Self::scripts).
    #[must_use]
    pub fn job(self, name: impl Into<JobName>, handler: impl JobHandler) -> Self {
        self.registered(name.into(), RegisteredJob::Handler(Arc::new(handler)))
    }

    fn registered(mut self, JobName(name): JobName, job: RegisteredJob) -> Self {
        match name {
            Named::Handler(name) => self.settings.jobs.push((name, job)),
            Named::Declared(declaration) => self.settings.declared.jobs.push((*declaration, job)),
        }
        self
    }

    /// Declares a workflow of jobs of the app.
    #[must_use]
    pub fn workflow(mut self, workflow: Workflow) -> Self {
        self.settings.declared.workflows.push(workflow);
        self
    }

    /// A job that divides its work into items, which the admin delivers to the executors of the app; each name once. Needs a Carillon
    /// admin.
    #[must_use]
    pub fn map(self, name: impl Into<JobName>, job: impl MapJob) -> Self {
        self.registered(name.into(), RegisteredJob::Map(RegisteredMapJob::new(job)))
    }

    /// The same, with a last run that reads the results of the items.
    #[must_use]
    pub fn map_reduce(self, name: impl Into<JobName>, job: impl MapReduceJob) -> Self {
        self.registered(name.into(), RegisteredJob::Map(RegisteredMapJob::with_reduce(job)))
    }

    /// Takes scripts of these types and announces them to the admin; the handler finds the script of its run in
    /// [`JobContext::script`](crate::JobContext::script) and has to isolate it. Default: scripts are refused.
    #[must_use]
    pub fn scripts(mut self, types: impl IntoIterator<Item = ScriptType>, handler: impl JobHandler) -> Self {
        let handler: Arc<dyn BoxedHandler> = Arc::new(handler);
        self.settings.scripts = types.into_iter().map(|kind| (kind, Arc::clone(&handler))).collect();
        self
    }

    /// Checks the settings, binds the address and opens the journal. It needs no tokio runtime.
    ///
    /// # Errors
    /// A setting that is missing or wrong, an address that is taken, a data folder that is in use or not writable.
    pub fn build(mut self) -> Result<Executor, Error> {
        self.settings.add_declared()?;
        self.settings.check()?;
        Executor::open(self.settings)
    }
}
