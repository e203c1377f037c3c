//! Nodes that end by themselves (at a failpoint, or because they must) are started again, as any supervisor would.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Cluster;
use super::admin::Admin;
use super::process::describe;
use crate::clock::now;

const LOOK: Duration = Duration::from_millis(100);
/// Long enough for peers to notice, shorter than a lease.
pub const PAUSE: Duration = Duration::from_millis(1_500);

/// Looks after all nodes until it is dropped.
pub async fn supervise(cluster: Arc<Cluster>) {
    loop {
        for admin in &cluster.admins {
            look_after(&cluster, admin).await;
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn look_after(cluster: &Arc<Cluster>, admin: &Arc<Admin>) {
    if admin.is_given_up.swap(false, Ordering::SeqCst) {
        // Otherwise the rest of the run would have a node less.
        start_after(Duration::ZERO, admin);
        return;
    }
    if admin.is_down_on_purpose.load(Ordering::SeqCst) {
        return;
    }
    let Ok(mut slot) = admin.process.try_lock() else {
        return;
    };
    let Some(status) = slot.as_mut().and_then(|process| process.ended()) else {
        return;
    };
    slot.take();
    admin.wire.refuse();
    drop(slot);
    // SIGABRT is how a failpoint ends a node.
    let how = describe(Some(status));
    let why = if how == "signal 6" { "failpoint" } else { "by itself" };
    cluster.exits().push(admin.exit(now(), how, why));
    admin.is_down_on_purpose.store(true, Ordering::SeqCst);
    start_after(PAUSE, admin);
}

fn start_after(pause: Duration, admin: &Arc<Admin>) {
    let admin = admin.clone();
    tokio::spawn(async move {
        tokio::time::sleep(pause).await;
        if let Err(error) = admin.start().await {
            eprintln!("{error:#}");
        }
    });
}
