//! Another number of shards, while everything else goes wrong.

use std::time::Duration;

use anyhow::{Context as _, bail};

use super::Scene;
use crate::nemesis::rest;

const NUMBERS: [&str; 5] = ["3", "5", "8", "12", "32"];
/// Another fault may be at the database meanwhile: a person would try again, too.
const TRIES: i64 = 10;
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);

pub async fn set(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "shards".into();
    let shards = *scene.random.pick(&NUMBERS).context("a number")?;
    let admin = scene.cluster.admins.first().context("no node")?.clone();
    let mut said = String::new();
    for tried in 1..=TRIES {
        let mut command = admin.command_of(&["shards", "set", shards]);
        // One that does not answer is ended: whether it has committed, the next try will say.
        let done = tokio::time::timeout(ANSWERS_WITHIN, command.output()).await;
        if let Ok(done) = done {
            let done = done?;
            if done.status.success() {
                scene.note = format!("to {shards}, after {tried} tries");
                return Ok(());
            }
            said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        }
        rest(500).await;
    }
    bail!("carillon shards set {shards}: {said}")
}
