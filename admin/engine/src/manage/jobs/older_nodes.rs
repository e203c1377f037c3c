//! Live nodes of earlier versions, which could not send what a job is saved with.

use crate::engine::Engine;
use crate::manage::error::Error;
use crate::settings::ms;

/// The address of a live node that does not know a feature.
pub(super) async fn node_without(engine: &Engine, feature: &str) -> Result<Option<String>, Error> {
    let since = engine.cx.clock.now() - ms(engine.cx.settings.lease_ttl);
    let live = engine.cx.store.leases().live_nodes(since).await?;
    Ok(live.into_iter().find(|node| !node.knows(feature)).map(|node| node.address))
}
