//! The executor: what belongs together from start to stop.

use std::fs::{self, File, TryLockError};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::Registration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::admin_client::{AdminClient, Identity};
use crate::intake::Intake;
use crate::job_log::JobLogs;
use crate::journal::{Journal, Recovered, Written};
use crate::lane::Lanes;
use crate::ledger::Ledger;
use crate::outbox::{Mail, Outbox};
use crate::registration::Beats;
use crate::server::{self, Endpoints};
use crate::working::Working;
use crate::{Error, ExecutorBuilder, wall_clock};

/// A worker's side of Carillon: registers with the admins, runs what they send, reports the results.
pub struct Executor {
    settings: ExecutorBuilder,
    listener: TcpListener,
    handle: ExecutorHandle,
    lock: File,
    admins: Arc<AdminClient>,
    ledger: Arc<Ledger>,
    journal: Journal,
    logs: JobLogs,
    recovered: Recovered,
    outbox: mpsc::UnboundedSender<Mail>,
    mail: mpsc::UnboundedReceiver<Mail>,
    accepted: mpsc::UnboundedReceiver<Vec<Written>>,
    registered: watch::Sender<bool>,
}

/// What others may ask of an executor, also while it runs.
#[derive(Clone, Debug)]
pub struct ExecutorHandle {
    bound: SocketAddr,
    address: String,
    boot_id: String,
    registered: watch::Receiver<bool>,
}

impl ExecutorHandle {
    /// The address it listens on, with the port that the system chose.
    pub fn local_addr(&self) -> SocketAddr {
        self.bound
    }

    /// The address that the admins are told.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Random, new for each executor that is built.
    pub fn boot_id(&self) -> &str {
        &self.boot_id
    }

    /// Waits until an admin has taken the registration. Also returns when the executor has ended.
    pub async fn registered(&self) {
        let mut registered = self.registered.clone();
        let _ = registered.wait_for(|registered| *registered).await;
    }
}

impl Executor {
    /// An executor's settings.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder::new()
    }

    /// What others may ask of it; to be taken before [`run`](Self::run).
    pub fn handle(&self) -> ExecutorHandle {
        self.handle.clone()
    }

    pub(crate) fn open(
        mut settings: ExecutorBuilder,
        listener: TcpListener,
        bound: SocketAddr,
        address: String,
    ) -> Result<Self, Error> {
        let default = || Path::new("carillon-executor-data").join(&settings.app);
        let data = settings.data_dir.clone().unwrap_or_else(default);
        let boot_id = format!("{:032x}", rand::random::<u128>());
        let bases = std::mem::take(&mut settings.admins);
        let said = settings.said.headers()?;
        settings.handlers()?;
        make_private(&data)?;
        let lock = lock(&data)?;
        let logs = data.join("logs");
        let logs = JobLogs::new(&logs).map_err(|source| Error::data(logs, source))?;
        let (outbox, mail) = mpsc::unbounded_channel();
        let (starter, accepted) = mpsc::unbounded_channel();
        let (journal, recovered) = Journal::open(&data.join("journal"), settings.durability, starter, outbox.clone())?;
        let admins = AdminClient::new(
            bases,
            &settings.token,
            &settings.app,
            Identity { boot_id: &boot_id, journal_id: &recovered.journal_id },
            &said,
        )?;
        let ledger = Arc::new(Ledger::default());
        ledger.restore(&recovered);
        let registered = watch::Sender::new(false);
        Ok(Self {
            handle: ExecutorHandle { bound, address, boot_id, registered: registered.subscribe() },
            settings,
            listener,
            lock,
            admins: Arc::new(admins),
            ledger,
            journal,
            logs,
            recovered,
            outbox,
            mail,
            accepted,
            registered,
        })
    }

    /// Registers, and runs what the admins send, until `shutdown` is ready; then stops in order: says good-bye,
    /// refuses new runs, lets running ones finish within the grace, reports the others "interrupted", and delivers
    /// results. What cannot be delivered stays in the journal for the next start.
    ///
    /// A future that is dropped before its end stops nothing in order, like a crash: everything of it ends at once.
    ///
    /// # Errors
    /// The HTTP server cannot start or ends by itself.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let grace = self.settings.grace;
        let mut working = self.start()?;
        tokio::select! {
            () = shutdown => {}
            ended = &mut working.server => {
                let ended = ended.map_err(std::io::Error::other).and_then(|ended| ended);
                return ended.map_err(Error::Server);
            }
        }
        working.stop(grace).await;
        Ok(())
    }

    fn start(self) -> Result<Working, Error> {
        let handlers = self.settings.handlers()?;
        let lanes =
            Arc::new(Lanes::new(Arc::clone(&self.ledger), self.journal.clone(), self.logs.clone(), Handle::current()));
        let endpoints = Endpoints {
            token: self.settings.token_check(),
            boot_id: self.handle.boot_id.clone(),
            journal_id: self.recovered.journal_id.clone(),
            intake: Intake {
                handlers,
                lanes: Arc::clone(&lanes),
                ledger: Arc::clone(&self.ledger),
                journal: self.journal.clone(),
                outbox: self.outbox.clone(),
            },
            ledger: Arc::clone(&self.ledger),
            logs: self.logs.clone(),
        };
        let server = server::serve(self.listener, Arc::new(endpoints), self.settings.workers).map_err(Error::Server)?;
        let server_handle = server.handle();
        let reachable = Arc::new(Notify::new());
        let beats = Arc::new(Beats {
            admins: Arc::clone(&self.admins),
            registration: Registration::executor(&self.settings.app, &self.handle.address),
            registered: self.registered,
            reachable: Arc::clone(&reachable),
            leaving: CancellationToken::new(),
        });
        let outbox = Outbox {
            admins: self.admins,
            ledger: self.ledger,
            journal: self.journal.clone(),
            mail: self.mail,
            reachable,
        };
        let server = tokio::spawn(server);
        let mut tasks = JoinSet::new();
        tasks.spawn(outbox.work(self.recovered.unreported));
        tasks.spawn(Arc::clone(&lanes).start(self.accepted));
        tasks.spawn(prune_hourly(self.logs, self.settings.log_days));
        let beating = tokio::spawn(Arc::clone(&beats).work());
        Ok(Working {
            server,
            server_handle,
            beats,
            beating,
            lanes,
            journal: self.journal,
            outbox: self.outbox,
            _tasks: tasks,
            lock: self.lock,
        })
    }
}

/// Deletes old logs at the start and every hour; never, for 0 days.
async fn prune_hourly(logs: JobLogs, days: u64) {
    if days == 0 {
        return;
    }
    loop {
        let folder = logs.clone();
        let pruned = tokio::task::spawn_blocking(move || folder.prune(wall_clock::now(), days)).await;
        if let Ok(Err(error)) = pruned {
            tracing::warn!(%error, "old logs cannot be deleted");
        }
        sleep(Duration::from_secs(3600)).await;
    }
}

/// The data folder: parameters and results in it are nobody else's business.
fn make_private(folder: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| Error::data(folder, source))
}

/// Takes the folder for this process alone.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(|source| Error::data(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::DataInUse(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(Error::data(path, source)),
    }
}
