//! One node and one file.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::Scene;
use crate::nemesis::rest;

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let admin = scene.cluster.admins.first().context("no node")?.clone();
    scene.target.clone_from(&admin.name);
    scene.held = true;
    match name {
        "sqlite_kill" => {
            let exit = admin.kill("kill -9").await;
            scene.cluster.exits().extend(exit);
            rest(500).await;
            admin.start().await
        }
        "sqlite_full" => {
            admin.arm("disk_full");
            rest(3_000).await;
            admin.disarm("disk_full");
            Ok(())
        }
        _ => {
            let mut second = admin.command();
            second.env("CARILLON_LISTEN", "127.0.0.1:0");
            let ended = tokio::time::timeout(Duration::from_secs(10), second.output()).await;
            let ended = ended.context("a second process on the same file went on")??;
            ensure!(!ended.status.success(), "a second process on the same file ended well");
            scene.note = String::from_utf8_lossy(&ended.stderr).lines().last().unwrap_or_default().to_owned();
            Ok(())
        }
    }
}
