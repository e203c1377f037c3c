//! Redis: killed, emptied, paused, or two of them.

use anyhow::Context as _;

use super::Scene;
use crate::cluster::redis::tell;
use crate::nemesis::rest;

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let cluster = scene.cluster.clone();
    let redis = cluster.redis.as_ref().context("no Redis")?;
    scene.target = "redis".into();
    match name {
        "redis_kill" => {
            let mut redis = redis.lock().await;
            redis.kill().await;
            rest(2_000).await;
            redis.restart().await
        }
        "redis_flush" => tell(&*redis.lock().await, &["FLUSHALL"]).await,
        "redis_pause" => {
            let redis = redis.lock().await;
            redis.process.signal("STOP").await;
            rest(5_000).await;
            redis.process.signal("CONT").await;
            Ok(())
        }
        _ => {
            let other = cluster.other_redis.as_ref().context("no second Redis")?;
            let address = other.lock().await.address();
            tell(&*other.lock().await, &["FLUSHALL"]).await?;
            let admin = scene.target_node().await?;
            let wire = admin.ways.redis.as_ref().context("no wire")?;
            let home = wire.target();
            wire.lead_to(address);
            rest(6_000).await;
            wire.lead_to(home);
            Ok(())
        }
    }
}
