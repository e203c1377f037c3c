//! The executor: opens its parts, connects them, and executes runs until the shutdown.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use carillon_listener::{ConnectionLimiter, Limits, ServeOptions, Tls};
use carillon_protocol::{DeclaredJob, Registration, headers};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admin::{AdminClient, Credentials, Heartbeats, Identity, Outbox, OutboxMessage};
use crate::error::Error;
use crate::handler::BoxedHandler;
use crate::job_log::JobLogs;
use crate::journal::DataDir;
use crate::journal::{Journal, JournaledRun};
use crate::lane::Lanes;
use crate::loops::Loops;
use crate::map::ItemClient;
use crate::run::{RecoveredRuns, SeenRuns};
use crate::server::own_thread::{EndSignals, OwnThread};
use crate::server::{Admission, Endpoints, RequestCheck, serve};
use crate::settings::Settings;
use crate::shutdown::RunningExecutor;

/// Longer than admins keep idle connections: one that closes just as an admin uses it again looks like a lost answer.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// An executor: registers with the admins, executes the runs that they send, reports the results.
pub struct Executor {
    settings: Settings,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    handle: ExecutorHandle,
    data_dir: DataDir,
    admins: Arc<AdminClient>,
    seen_runs: Arc<SeenRuns>,
    journal: Journal,
    logs: JobLogs,
    recovered: RecoveredRuns,
    outbox: mpsc::UnboundedSender<OutboxMessage>,
    outbox_messages: mpsc::UnboundedReceiver<OutboxMessage>,
    journaled: mpsc::UnboundedReceiver<Vec<JournaledRun>>,
    registered: watch::Sender<bool>,
}

/// Reads the state of an executor, also while it runs; cheap to clone.
///
/// ```
/// use carillon_executor::{Error, Executor};
///
/// async fn run_and_announce(executor: Executor) -> Result<(), Error> {
///     let handle = executor.handle();
///     tokio::spawn(async move {
///         handle.registered().await;
///         println!("{} takes runs", handle.address());
///     });
///     executor.run(std::future::pending()).await
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ExecutorHandle {
    bound: SocketAddr,
    address: String,
    boot_id: String,
    registered: watch::Receiver<bool>,
}

impl ExecutorHandle {
    /// The address that the executor listens on, with the port that the system chose.
    pub fn local_addr(&self) -> SocketAddr {
        self.bound
    }

    /// The address that admins call.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A random id, new for each executor that is built.
    pub fn boot_id(&self) -> &str {
        &self.boot_id
    }

    /// Waits until an admin has accepted the registration. Also returns when the executor has ended.
    pub async fn registered(&self) {
        let mut registered = self.registered.clone();
        let _ = registered.wait_for(|registered| *registered).await;
    }
}

impl Executor {
    /// A handle to the executor; take it before [`run`](Self::run).
    pub fn handle(&self) -> ExecutorHandle {
        self.handle.clone()
    }

    /// The jobs that the program declares, sorted by key.
    pub fn declared(&self) -> &[DeclaredJob] {
        &self.settings.program.jobs
    }

    pub(crate) fn open(mut settings: Settings) -> Result<Self, Error> {
        let (listener, bound) = settings.bind()?;
        let address = settings.advertised(bound)?;
        let default = || Path::new("carillon-executor-data").join(&settings.app);
        let data_dir = DataDir::lock(settings.data_dir.clone().unwrap_or_else(default))?;
        let boot_id = format!("{:032x}", rand::random::<u128>());
        let bases = std::mem::take(&mut settings.admins);
        let mut announced = settings.announcement.headers()?;
        announced.extend(settings.program.digest.clone().map(|digest| (headers::DECLARED, digest)));
        let logs = JobLogs::new(&data_dir.path("logs"), settings.log_megabytes.saturating_mul(1 << 20))?;
        let (outbox, outbox_messages) = mpsc::unbounded_channel();
        let (accepted, journaled) = mpsc::unbounded_channel();
        let results = outbox.clone();
        let deliver = move |items| drop(results.send(OutboxMessage::Results(items)));
        let (journal, recovered) = Journal::open(&data_dir.path("journal"), settings.durability, accepted, deliver)?;
        let mut capabilities =
            [headers::CAPABILITY_IDEM, headers::CAPABILITY_BATCH, headers::CAPABILITY_LOOP].join(",");
        if settings.takes_signed_requests() {
            capabilities = format!("{capabilities},{}", headers::CAPABILITY_SIGNED);
        }
        for kind in settings.scripts.keys() {
            capabilities = format!("{capabilities},{}{kind}", headers::CAPABILITY_SCRIPT);
        }
        let admins = AdminClient::new(
            bases,
            Credentials::new(settings.tokens(), settings.is_signed)?,
            &settings.app,
            Identity { boot_id: &boot_id, journal_id: journal.id(), capabilities: &capabilities },
            &announced,
            &settings.certificates,
        )?;
        let tls = settings.certificates.server()?;
        let seen_runs = Arc::new(SeenRuns::default());
        seen_runs.restore(&recovered);
        let registered = watch::Sender::new(false);
        settings.program.log();
        Ok(Self {
            handle: ExecutorHandle { bound, address, boot_id, registered: registered.subscribe() },
            settings,
            listener,
            tls,
            data_dir,
            admins: Arc::new(admins),
            seen_runs,
            journal,
            logs,
            recovered,
            outbox,
            outbox_messages,
            journaled,
            registered,
        })
    }

    /// Registers and executes runs until `shutdown` completes. Then stops in order: deregisters, refuses new runs, lets
    /// running ones finish within the grace, reports the others as "interrupted", and delivers the results. Results that
    /// cannot be delivered stay in the journal for the next start.
    ///
    /// Handlers run in the tokio runtime that polls this future, which needs time enabled. Everything else has threads of its
    /// own, so handlers that block the runtime delay runs, time limits and kills, but no heartbeat, no result and no stop.
    ///
    /// Dropping the future before its end acts like a crash: all runs and tasks of the executor end at once.
    ///
    /// # Errors
    /// The HTTP server or a thread cannot start, or ends on its own.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let handlers = Handle::current();
        OwnThread::start(|signals| self.work(handlers, signals))?.work_until(shutdown).await
    }

    /// Executes runs until a signal to end; handlers run in `handlers`.
    async fn work(self, handlers: Handle, signals: EndSignals) -> Result<(), Error> {
        let grace = self.settings.grace;
        let mut running = self.start(handlers)?;
        let ended = tokio::select! {
            biased;
            () = signals.abort.cancelled() => Ok(()),
            ended = running.work_until_stopped(&signals.stop, grace) => ended.map_err(Error::Server),
        };
        running.end().await;
        ended
    }

    fn start(mut self, handlers: Handle) -> Result<RunningExecutor, Error> {
        if self.settings.token.len() < 16 {
            tracing::warn!("the access token is shorter than 16 characters");
        }
        let lanes = Arc::new(Lanes::new(
            Arc::clone(&self.seen_runs),
            self.journal.clone(),
            self.logs.clone(),
            handlers.clone(),
        ));
        let items = ItemClient::new(Arc::clone(&self.admins), Handle::current());
        let by_name = Arc::new(self.settings.handlers(&items));
        let loops = Arc::new(Loops::new(Arc::clone(&by_name), handlers));
        let endpoints = self.endpoints(by_name, Arc::clone(&lanes), Arc::clone(&loops));
        if let Some(tls) = &self.tls {
            tls.watch();
        }
        let options = ServeOptions {
            limiter: ConnectionLimiter::start(Limits {
                // Admins open many connections before the first request is answered.
                most_of_unknown: self.settings.max_connections / 2,
                most_of_known: self.settings.max_connections,
                ..Limits::of(self.settings.max_connections)
            }),
            tls: self.tls,
            workers: self.settings.workers,
            head_within: Duration::from_secs(5),
            keep_alive: KEEP_ALIVE,
            stop_within: 1,
        };
        let server = serve(self.listener, options, Arc::new(endpoints)).map_err(Error::Server)?;
        let server_handle = server.handle();
        let reachable = Arc::new(Notify::new());
        let heartbeats = Arc::new(Heartbeats {
            admins: Arc::clone(&self.admins),
            registration: Registration::executor(&self.settings.app, &self.handle.address),
            registered: self.registered,
            reachable: Arc::clone(&reachable),
            declaration: std::mem::take(&mut self.settings.program.body),
            stop: CancellationToken::new(),
        });
        let renewing = Arc::clone(&loops).renew_always(Arc::clone(&self.admins));
        let outbox = Outbox {
            admins: self.admins,
            seen_runs: self.seen_runs,
            journal: self.journal.clone(),
            messages: self.outbox_messages,
            registered: heartbeats.registered.subscribe(),
            reachable,
        };
        let server = tokio::spawn(server);
        let mut tasks = JoinSet::new();
        tasks.spawn(outbox.run(self.recovered.unreported));
        tasks.spawn(renewing);
        tasks.spawn(Arc::clone(&lanes).start_journaled(self.journaled));
        tasks.spawn(self.logs.prune_always(self.settings.log_days));
        let heartbeat_task = tokio::spawn(Arc::clone(&heartbeats).run());
        Ok(RunningExecutor {
            server,
            server_handle,
            heartbeats,
            heartbeat_task,
            lanes,
            loops,
            journal: self.journal,
            outbox: self.outbox,
            _tasks: tasks,
            _data_dir: self.data_dir,
        })
    }

    fn endpoints(
        &self,
        handlers: Arc<HashMap<String, Arc<dyn BoxedHandler>>>,
        lanes: Arc<Lanes>,
        loops: Arc<Loops>,
    ) -> Endpoints {
        Endpoints {
            check: RequestCheck::new(
                self.settings.tokens(),
                self.settings.takes_signed_requests(),
                &self.handle.address,
            ),
            boot_id: self.handle.boot_id.clone(),
            journal_id: self.journal.id().to_owned(),
            admission: Admission {
                handlers,
                scripts: self.settings.scripts.clone(),
                lanes,
                seen_runs: Arc::clone(&self.seen_runs),
                journal: self.journal.clone(),
                outbox: self.outbox.clone(),
            },
            logs: self.logs.clone(),
            loops,
        }
    }
}
