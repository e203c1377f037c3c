use std::path::PathBuf;
use std::sync::Arc;

use carillon_accounts::policy::Object;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::Engine;
use carillon_engine::manage::Error;
use carillon_engine::outgoing::Connector;
use carillon_engine::runtime::run;
use carillon_store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channel::{PlainHttp, Sender};
use crate::deliverer::AlertDeliverer;
use crate::message::Links;
use crate::router::AlertRouter;

/// The alerts of a node: the services, and what people and programs may ask for.
pub struct Alerts {
    pub(crate) engine: Arc<Engine>,
    pub(crate) keys: SecretKeys,
    pub(crate) sends: Arc<Notify>,
    pub(crate) plain: PlainHttp,
    pub router: Arc<AlertRouter>,
    pub deliverer: Arc<AlertDeliverer>,
}

impl Alerts {
    /// `folder`: where the channel `file` writes; `connector`: opens the connections to channels; `links`: where messages lead.
    ///
    /// # Errors
    /// The database cannot be read, or no TLS is at hand.
    pub async fn new(
        engine: Arc<Engine>,
        keys: SecretKeys,
        folder: PathBuf,
        connector: Connector,
        links: Links,
    ) -> Result<Self, Error> {
        let allows_loopback = connector.allows_loopback();
        let cluster = engine.cx.store.leases().cluster().await?;
        let sender = Sender::new(cluster, folder, connector).map_err(Error::Executor)?;
        let (sends, sender) = (Arc::new(Notify::new()), Arc::new(sender));
        let router = Arc::new(AlertRouter::new(engine.clone(), sends.clone(), links));
        let deliverer = Arc::new(AlertDeliverer::new(engine.clone(), sender, keys.clone(), sends.clone()));
        let plain = if allows_loopback { PlainHttp::OnLoopback } else { PlainHttp::Nowhere };
        Ok(Self { engine, keys, sends, plain, router, deliverer })
    }

    /// Starts the services.
    pub fn run(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        let list = &self.engine.cx.tasks;
        run(&self.router, list, tasks, stop, fatal);
        run(&self.deliverer, list, tasks, stop, fatal);
        // What is being sent when the node stops gets its answer recorded.
        let (deliverer, stop) = (self.deliverer.clone(), stop.clone());
        tasks.spawn(async move {
            stop.cancelled().await;
            deliverer.drain().await;
        });
    }

    pub(crate) fn store(&self) -> &Store {
        &self.engine.cx.store
    }

    pub(crate) fn now(&self) -> i64 {
        self.engine.cx.clock.now()
    }
}

/// What an app's rules and alerts, or those of all apps, belong to.
pub(crate) fn object_of(app_id: Option<i64>) -> Object {
    app_id.map_or(Object::Installation, Object::App)
}
