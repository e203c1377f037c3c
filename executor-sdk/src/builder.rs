//! The builder of an executor.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::executor::Executor;
use crate::handler::JobHandler;
use crate::journal::Durability;
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

impl ExecutorBuilder {
    /// Base address of an admin, with its context path if it has one: `http://host:8080` or
    /// `http://host:8080/xxl-job-admin`. Call it once for each admin; the first that accepts is enough. At least one.
    #[must_use]
    pub fn admin(mut self, address: impl Into<String>) -> Self {
        self.settings.admins.push(address.into());
        self
    }

    /// Name of the app whose jobs this executor runs, up to 64 characters. Needed.
    #[must_use]
    pub fn app(mut self, name: impl Into<String>) -> Self {
        self.settings.app = name.into();
        self
    }

    /// The access token, the same as the admin's. Needed: without one, any client that reaches the port could run jobs.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = token.into();
        self
    }

    /// A second access token that is valid as well, for the time in which a token is replaced by another: admins may present
    /// either, and an admin that refuses `token` gets this one. Start the executors with the new token and the old one as the
    /// second, then revoke the old one. Default: none.
    #[must_use]
    pub fn second_token(mut self, token: impl Into<String>) -> Self {
        self.settings.second_token = Some(token.into());
        self
    }

    /// For networks without TLS: sign requests to admins, and take signed ones only. No access token crosses the network, and a
    /// request that was recorded or changed there is refused. Needs a Carillon admin, and clocks that differ by less than a
    /// minute. With [`tls`](Self::tls) the admin's requests carry the token. Default: all requests do, as xxl-job's.
    #[must_use]
    pub fn signed(mut self) -> Self {
        self.settings.is_signed = true;
        self
    }

    /// Where to listen for requests of the admin, `ip:port`; port 0 takes a free one. Default: `127.0.0.1:0`, which only
    /// an admin on the same machine reaches.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.settings.listen = address.into();
        self
    }

    /// The address that the admin calls. Default: made from the bound one, `http://ip:port/`; for `0.0.0.0` with the
    /// address of the network interface that leads to the first admin. Set it behind NAT, in containers and behind
    /// proxies.
    #[must_use]
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.settings.advertise = Some(address.into());
        self
    }

    /// Folder for the journal and the logs of runs; one executor at a time uses it. Default:
    /// `./carillon-executor-data/<app>`.
    #[must_use]
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.data_dir = Some(folder.into());
        self
    }

    /// How long running jobs may continue after the signal to stop; zero cancels them at once. Default 30 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Threads of the HTTP server, 1 … 64; jobs do not run on them. Default 1, enough for thousands of runs a second.
    #[must_use]
    pub fn workers(mut self, threads: usize) -> Self {
        self.settings.workers = threads;
        self
    }

    /// Connections at once, 8 … 65536; each needs a file descriptor of the process. A source that has not shown the token gets
    /// half of them. Default 256, enough for several admins with up to 32 requests at once.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.max_connections = connections;
        self
    }

    /// Speak TLS, with the certificate (and those between it and its authority) and the private key in these PEM files, which
    /// are read again when they change. The certificate must be for the host of the advertised address, which then begins
    /// with `https://`. Default: plain HTTP.
    #[must_use]
    pub fn tls(mut self, cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.settings.certificates.server = Some((cert.into(), key.into()));
        self
    }

    /// Take requests only from clients that show a certificate of the authority in this PEM file: the admin's
    /// `--executor-client-cert`. Needs [`tls`](Self::tls). Default: none is asked for.
    #[must_use]
    pub fn client_ca(mut self, authority: impl Into<PathBuf>) -> Self {
        self.settings.certificates.client_ca = Some(authority.into());
        self
    }

    /// PEM file with the authority of the admins' certificates, for `https://` admins. Default: those that this machine
    /// trusts.
    #[must_use]
    pub fn admin_ca(mut self, authority: impl Into<PathBuf>) -> Self {
        self.settings.certificates.admin_ca = Some(authority.into());
        self
    }

    /// What is shown to admins that ask for a certificate (`--executor-tls-client-ca`): PEM files with the certificate and
    /// its private key. Default: nothing.
    #[must_use]
    pub fn client_certificate(mut self, cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.settings.certificates.client = Some((cert.into(), key.into()));
        self
    }

    /// Days after which the logs of runs are deleted, any number; 0 keeps them. Default 30.
    #[must_use]
    pub fn log_days(mut self, days: u64) -> Self {
        self.settings.log_days = days;
        self
    }

    /// MiB that the logs of all runs may take, any number; 0: no limit. Near the limit the oldest are deleted. Default 10,240.
    #[must_use]
    pub fn log_megabytes(mut self, megabytes: u64) -> Self {
        self.settings.log_megabytes = megabytes;
        self
    }

    /// What an accepted run survives. Default: a crash of the machine.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.settings.durability = durability;
        self
    }

    /// This executor's share of jobs that are spread by weight, 1 to 100: one with 3 gets three times as many runs as one
    /// with 1. An operator's setting in the admin overrides it. Default: not announced, which counts as 1.
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.settings.announcement.weight = Some(weight);
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

    /// A handler and the name that jobs use for it. At least one; each name once.
    #[must_use]
    pub fn job(mut self, name: impl Into<String>, handler: impl JobHandler) -> Self {
        self.settings.jobs.push((name.into(), Arc::new(handler)));
        self
    }

    /// Checks the settings, binds the address and opens the journal. It needs no tokio runtime.
    ///
    /// # Errors
    /// A setting that is missing or wrong, an address that is taken, a data folder that is in use or not writable.
    pub fn build(self) -> Result<Executor, Error> {
        self.settings.check()?;
        Executor::open(self.settings)
    }
}
