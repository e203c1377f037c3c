//! The node that a fault hits: with 70 % the holder of a random shard, or faults would mostly hit those who do nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::cluster::Cluster;
use crate::cluster::admin::Admin;
use crate::random::Random;

const AT_A_HOLDER: u64 = 70;

/// A node that runs, and whether it holds a shard.
pub async fn admin(cluster: &Arc<Cluster>, random: &mut Random) -> Option<(Arc<Admin>, bool)> {
    // Both numbers are drawn even if one is not used: the next fault must not depend on the state of the cluster.
    let (wants_holder, lot) = (random.percent(AT_A_HOLDER), random.next());
    let holders = cluster.database.holders().await.unwrap_or_default();
    let holds = |admin: &Arc<Admin>| {
        let address = admin.address.to_string();
        holders.iter().any(|(_, holder)| holder.contains(&address))
    };
    let up: Vec<&Arc<Admin>> =
        cluster.admins.iter().filter(|admin| !admin.is_down_on_purpose.load(Ordering::SeqCst)).collect();
    if wants_holder && !holders.is_empty() {
        let (_, address) = &holders[lot as usize % holders.len()];
        let holder = up.iter().find(|admin| address.contains(&admin.address.to_string()));
        if let Some(holder) = holder {
            return Some((Arc::clone(holder), true));
        }
    }
    let chosen = up.get(lot as usize % up.len().max(1))?;
    Some((Arc::clone(chosen), holds(chosen)))
}
